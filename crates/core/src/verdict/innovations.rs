//! What innovations that are not Gaussian say: the density that those of a source had in three
//! quarters of the recording, asked about the quarter that is left out.
//!
//! ```text
//! L = Σ_t [ q(e'_t/σ) − q(e_t/σ) ]        q = −ln p + ln of the Gaussian density
//! ```
//!
//! summed over both sources of a pair, with e the innovations of what was found and e' those of the
//! pair turned by ±θ₀, under the predictors, deviations σ and densities p that the other quarters
//! have. What a Gaussian says is taken off: of spectra others speak, with more care. A source whose
//! innovations are Gaussian, as far as the other quarters tell, has q = 0.

use super::evidence::{COSINE, Testimony, sines};
use super::judged::Judged;
use std::ops::Range;
use strt_classic::kernel::{Density, Innovations, reach};
use strt_signal::columns::col;

/// Folds of a recording.
const FOLDS: usize = 4;
/// Samples that a predictor reads together, itself included.
const WINDOW: usize = 12;

/// A source as the folds beside one have it.
struct Learned {
    innovations: Innovations,
    deviation: f64,
    density: Option<Density>,
}

/// What innovations say of these pairs i < j.
pub(super) fn testimony(judged: &Judged, wanted: &[(usize, usize)]) -> Testimony {
    let (t, k) = (judged.n_samples(), judged.n_sources());
    let mut testimony = Testimony::new(k, FOLDS);
    let reach = reach(judged.rows.view());
    for fold in 0..FOLDS {
        let held = fold * t / FOLDS..(fold + 1) * t / FOLDS;
        let learn = |source: usize| Learned::new(judged, source, &held, &reach);
        let mut learned: Vec<Option<Learned>> = (0..k).map(learn).collect();
        let held_reach = &reach[held.clone()];
        let mut nats = |source: usize, samples: &[f64]| match &mut learned[source] {
            Some(learned) => learned.nats(samples, held_reach),
            None => 0.0,
        };
        let values = |source: usize| &col(judged.values.as_ref(), source)[held.clone()];
        let own: Vec<f64> = (0..k).map(|source| nats(source, values(source))).collect();
        for (source, own) in own.iter().enumerate() {
            testimony.add_gain(source, fold, -own);
        }
        for &(i, j) in wanted {
            for (sign, sine) in sines().into_iter().enumerate() {
                let turned = |one: &[f64], other: &[f64], sine: f64| -> Vec<f64> {
                    let both = one.iter().zip(other);
                    both.map(|(x, y)| COSINE * x + sine * y).collect()
                };
                let first = nats(i, &turned(values(i), values(j), sine));
                let second = nats(j, &turned(values(j), values(i), -sine));
                let preferred = first + second - own[i] - own[j];
                testimony.add_pair((i, j), sign, fold, preferred);
            }
        }
    }
    testimony
}

impl Learned {
    /// From all samples but those of `held`; `None` where there are too few.
    fn new(judged: &Judged, source: usize, held: &Range<usize>, reach: &[u32]) -> Option<Learned> {
        let values = col(judged.values.as_ref(), source);
        let parts = [0..held.start, held.end..values.len()];
        let n: usize = parts.iter().map(|part| part.len()).sum();
        let mut samples = Vec::with_capacity(n);
        let mut contiguous = Vec::with_capacity(n);
        for part in parts {
            let first = part.start;
            samples.extend_from_slice(&values[part.clone()]);
            let within = |t: usize| reach[t].min((t - first + 1) as u32);
            contiguous.extend(part.map(within));
        }
        let moments: Vec<f64> = (0..WINDOW)
            .map(|lag| {
                let there = (lag..n).filter(|&t| contiguous[t] as usize > lag);
                there.map(|t| samples[t] * samples[t - lag]).sum::<f64>() / n as f64
            })
            .collect();
        if moments[0].is_nan() || moments[0] <= 0.0 {
            return None;
        }
        let mut innovations = Innovations::new(WINDOW, n);
        innovations.predict(&moments, n);
        innovations.read(&samples, &contiguous);
        let density = innovations.beyond_chance(&Density::ALL);
        Some(Learned {
            deviation: innovations.deviation(),
            density: density.map(|(density, _)| density),
            innovations,
        })
    }

    /// Σ_t q.
    fn nats(&mut self, samples: &[f64], reach: &[u32]) -> f64 {
        let Some(density) = self.density else {
            return 0.0;
        };
        // The first samples of a fold have their past outside of it.
        let within = |(t, &reach): (usize, &u32)| reach.min(t as u32 + 1);
        let reach: Vec<u32> = reach.iter().enumerate().map(within).collect();
        self.innovations.read(samples, &reach);
        self.innovations.beyond_gaussian(density, self.deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use std::f64::consts::FRAC_1_SQRT_2;
    use strt_signal::rows::Rows;
    use strt_synth::{ProblemSpec, SourceKind};

    fn sources(kind: SourceKind) -> Mat<f64> {
        let spec = ProblemSpec {
            kind,
            ..ProblemSpec::default()
        };
        spec.generate().unwrap().sources
    }

    fn evidence(values: Mat<f64>) -> [f64; 3] {
        let rows = Rows::all(values.nrows());
        let said = testimony(&Judged { values, rows }, &[(0, 1), (0, 2), (1, 2)]);
        [said.of_pair(0, 1), said.of_pair(0, 2), said.of_pair(1, 2)]
    }

    #[test]
    fn sources_are_told_from_mixtures_of_them_and_gaussian_ones_from_nothing() {
        for kind in [SourceKind::Independent, SourceKind::LaplaceAr] {
            let found = sources(kind);
            let told = evidence(found.clone());
            assert!(told.iter().all(|&nats| nats > 4.0), "{kind}: {told:?}");
            // Sum and difference of the first two.
            let mut mixed = found.clone();
            for t in 0..found.nrows() {
                let (a, b) = (found[(t, 0)], found[(t, 1)]);
                mixed[(t, 0)] = FRAC_1_SQRT_2 * (a + b);
                mixed[(t, 1)] = FRAC_1_SQRT_2 * (a - b);
            }
            let [pair, ..] = evidence(mixed);
            assert!(pair < 4.0, "{kind}: {pair}");
        }
        assert_eq!(evidence(sources(SourceKind::Ar)), [0.0; 3]);
    }
}
