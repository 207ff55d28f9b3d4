//! The covariances that sources were drawn with, where they are Gaussian and stationary: what a
//! limit of separation can be computed from.
//!
//! In: a specification. Out: the autocovariance of each source as the generator's parameters have
//! it, not as it is found in samples. Deliberately absent: kinds that are not Gaussian processes.

use crate::sources::{ar_pole, length_scale};
use crate::{ProblemSpec, SourceKind};

impl ProblemSpec {
    /// Autocovariances at lags 0 … `n_lags` − 1 of every source, in units of its variance; `None`
    /// where the sources are not stationary Gaussian processes.
    ///
    /// Squared-exponential processes have exp(−l²/(2ℓ²)) at lag l (`gp`, `gpclose`), autoregressive
    /// ones pole^l (`ar`).
    pub fn autocovariances(&self, n_lags: usize) -> Option<Vec<Vec<f64>>> {
        let n_sources = self.n_sources;
        let of = |source: usize| -> Option<Vec<f64>> {
            if self.kind == SourceKind::Ar {
                let pole = ar_pole(source, n_sources);
                return Some((0..n_lags).map(|lag| libm::pow(pole, lag as f64)).collect());
            }
            let scale = length_scale(self.kind, source, n_sources)?;
            let lags = (0..n_lags).map(|lag| lag as f64 / scale);
            Some(lags.map(|lag| libm::exp(-0.5 * lag * lag)).collect())
        };
        (0..n_sources).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strt_signal::moments::standardize_columns;

    #[test]
    fn they_are_those_of_the_samples() {
        for (kind, n_sources) in [
            (SourceKind::Gp, 2),
            (SourceKind::GpClose, 3),
            (SourceKind::Ar, 4),
        ] {
            let spec = ProblemSpec {
                kind,
                n_sources,
                n_samples: 200_000,
                ..ProblemSpec::default()
            };
            let expected = spec.autocovariances(60).unwrap();
            let sources = standardize_columns(crate::sources::generate(&spec).as_ref());
            for (source, expected) in expected.iter().enumerate() {
                let column = sources.col_as_slice(source);
                for lag in [0, 1, 5, 20, 59] {
                    let pairs = column.iter().zip(&column[lag..]);
                    let found = pairs.map(|(early, late)| early * late).sum::<f64>()
                        / (column.len() - lag) as f64;
                    let difference = (found - expected[lag]).abs();
                    assert!(
                        difference < 0.06,
                        "{kind} {source}, lag {lag}: {difference}"
                    );
                }
            }
        }
        for kind in [
            SourceKind::Sines,
            SourceKind::Lorenz,
            SourceKind::Nonstationary,
        ] {
            let spec = ProblemSpec {
                kind,
                ..ProblemSpec::default()
            };
            assert!(spec.autocovariances(10).is_none(), "{kind}");
        }
    }
}
