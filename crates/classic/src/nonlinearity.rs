//! The nonlinearities of FastICA: g = G′ and g′ for three contrasts G.
//!
//! ```text
//! logcosh: G = ln cosh u      g = tanh u          g′ = 1 − tanh² u
//! exp:     G = −exp(−u²/2)    g = u·exp(−u²/2)    g′ = (1 − u²)·exp(−u²/2)
//! cube:    G = u⁴/4           g = u³              g′ = 3u²
//! ```
//!
//! logcosh is all-purpose; exp is robust, for very super-Gaussian sources; cube, the kurtosis, is
//! fast and sensitive to outliers.
//!
//! Hyvärinen, *Fast and robust fixed-point algorithms for independent component analysis*, IEEE
//! Trans. Neural Networks 10(3), 1999.

use strt_signal::elementary::{exp_negative, tanh_and_decay};

/// Which contrast measures non-Gaussianity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nonlinearity {
    /// g = tanh u.
    LogCosh,
    /// g = u·exp(−u²/2).
    Exp,
    /// g = u³.
    Cube,
}

impl Nonlinearity {
    /// All three.
    pub const ALL: [Nonlinearity; 3] =
        [Nonlinearity::LogCosh, Nonlinearity::Exp, Nonlinearity::Cube];

    /// Replaces every u by g(u) and gives the sum of g′(u). One loop for each contrast, so that
    /// each vectorises.
    pub(super) fn apply(self, values: &mut [f64]) -> f64 {
        match self {
            Nonlinearity::LogCosh => sweep(values, |u| Nonlinearity::LogCosh.value_and_slope(u)),
            Nonlinearity::Exp => sweep(values, |u| Nonlinearity::Exp.value_and_slope(u)),
            Nonlinearity::Cube => sweep(values, |u| Nonlinearity::Cube.value_and_slope(u)),
        }
    }

    /// (g(u), g′(u)).
    #[inline(always)]
    fn value_and_slope(self, u: f64) -> (f64, f64) {
        match self {
            Nonlinearity::LogCosh => {
                let (tanh, _) = tanh_and_decay(u);
                (tanh, 1.0 - tanh * tanh)
            }
            Nonlinearity::Exp => {
                let bell = exp_negative(-0.5 * u * u);
                (u * bell, (1.0 - u * u) * bell)
            }
            Nonlinearity::Cube => (u * u * u, 3.0 * u * u),
        }
    }
}

/// Replaces every u by its value and gives the sum of the slopes, added up in eight partial sums.
#[inline(always)]
pub(super) fn sweep(values: &mut [f64], value_and_slope: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut sums = [0.0; 8];
    let (chunks, rest) = values.as_chunks_mut::<8>();
    for chunk in chunks {
        for (u, sum) in chunk.iter_mut().zip(&mut sums) {
            let (value, slope) = value_and_slope(*u);
            *u = value;
            *sum += slope;
        }
    }
    for (u, sum) in rest.iter_mut().zip(&mut sums) {
        let (value, slope) = value_and_slope(*u);
        *u = value;
        *sum += slope;
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_the_derivatives() {
        for nonlinearity in Nonlinearity::ALL {
            for u in [-2.3, -0.4, 0.0, 0.7, 3.1] {
                let h = 1e-6;
                let value = |u| nonlinearity.value_and_slope(u).0;
                let numeric = (value(u + h) - value(u - h)) / (2.0 * h);
                let slope = nonlinearity.value_and_slope(u).1;
                assert!(
                    (numeric - slope).abs() < 1e-7,
                    "{nonlinearity:?} at {u}: {slope} against {numeric}"
                );
            }
        }
    }
}
