//! The nonlinearities of EFICA: one for the symmetric search and, for every source, the one that
//! suits its distribution.
//!
//! ```text
//! all-purpose   G = u²/(1 + |u|)   g = u·(2 + |u|)/(1 + |u|)²   g′ = 2/(1 + |u|)³
//! flat(α)                          g = u·|u|^(α−2)              g′ = (α − 1)·|u|^(α−2)
//! peaked(b)                        g = u/(1 + b·|u|)²           g′ = (1 − b·|u|)/(1 + b·|u|)³
//! ```
//!
//! flat(α) is the score of a generalised Gaussian density ∝ exp(−c·|u|^α); peaked(b) is near that
//! of sharp ones with long tails, and bounded. Both rational functions cost one division in place
//! of tanh and exp.
//!
//! Z. Koldovský, P. Tichavský and E. Oja, *Efficient variant of algorithm FastICA for independent
//! component analysis attaining the Cramér–Rao lower bound*, IEEE Trans. Neural Networks 17(5),
//! 2006; P. Tichavský, Z. Koldovský and E. Oja, *Speed and accuracy enhancement of linear ICA
//! techniques using rational nonlinear functions*, ICA 2007.

use std::f64::consts::PI;

use crate::nonlinearity::sweep;

/// E[G(ν)] of a standard normal ν, G that of the all-purpose score.
const GAUSSIAN_CONTRAST: f64 = 0.412_755_100_339;
/// A fourth moment below this is that of a generalised Gaussian with α > 3, …
const FLAT_BELOW: f64 = 2.4184;
/// … above this of one with α < 1.5.
const PEAKED_ABOVE: f64 = 3.762;
/// The fourth moment of a uniform source, α = ∞.
const UNIFORM: f64 = 1.8;
/// α at most.
const FLATTEST: u32 = 15;
/// Where E[1/(1 + u²)] is above this, the source is more peaked than Laplace.
const SHARP_ABOVE: f64 = 0.7149;
/// ζ(3), in the expansion of the fourth moment around α = ∞.
const ZETA_3: f64 = 1.202_056_903_16;

/// A nonlinearity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Score {
    /// For sources of any distribution.
    AllPurpose,
    /// For sub-Gaussian sources: α, from 3.
    Flat(u32),
    /// For super-Gaussian sources: b.
    Peaked(f64),
}

/// E[u·g(u)], E[g′(u)] and E[g(u)²] of a source u of variance 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) product: f64,
    pub(super) slope: f64,
    pub(super) square: f64,
}

impl Moments {
    /// Of `score` at the source.
    pub(super) fn of(score: Score, source: &[f64]) -> Moments {
        let mut values = source.to_vec();
        let n = source.len() as f64;
        let slope = score.apply(&mut values) / n;
        let dot = |other: &[f64]| values.iter().zip(other).map(|(a, b)| a * b).sum::<f64>() / n;
        Moments {
            product: dot(source),
            slope,
            square: dot(&values),
        }
    }

    /// T times the variance of an entry of the gain matrix when the source is found alone:
    /// (E[g²] − E[ug]²) / (E[ug] − E[g′])².
    pub(super) fn variance(&self) -> f64 {
        let signal = (self.product - self.slope).powi(2).max(f64::MIN_POSITIVE);
        ((self.square - self.product * self.product).max(0.0) / signal).min(f64::MAX)
    }
}

impl Score {
    /// The one that suits a source of variance 1, by its fourth moment; `None` when the source is
    /// so close to Gaussian that the all-purpose score is as good.
    pub(super) fn suiting(source: &[f64]) -> Option<Score> {
        let n = source.len() as f64;
        let fourth = source.iter().map(|u| u * u * u * u).sum::<f64>() / n;
        if fourth > PEAKED_ABOVE {
            let sharp = source.iter().map(|u| 1.0 / (1.0 + u * u)).sum::<f64>() / n;
            return Some(Score::Peaked(if sharp > SHARP_ABOVE { 6.0 } else { 4.0 }));
        }
        if fourth >= FLAT_BELOW {
            return None;
        }
        let alpha = shape(fourth);
        (alpha >= 3.0).then_some(Score::Flat((alpha.ceil() as u32).min(FLATTEST)))
    }

    /// Replaces every u by g(u) and gives the sum of g′(u).
    pub(super) fn apply(self, values: &mut [f64]) -> f64 {
        match self {
            Score::AllPurpose => sweep(values, all_purpose),
            Score::Flat(alpha) => sweep(values, |u| flat(u, alpha)),
            Score::Peaked(b) => sweep(values, |u| peaked(u, b)),
        }
    }
}

/// (E[G(u)] − E[G(ν)])² for the all-purpose G: how far the values, of variance 1, are from
/// Gaussian.
pub(super) fn contrast(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    let sum: f64 = values.map(|u| u * u / (1.0 + u.abs())).sum();
    (sum / n - GAUSSIAN_CONTRAST).powi(2)
}

/// α of the generalised Gaussian with this fourth moment, from the first terms of its expansion
/// around the uniform distribution.
fn shape(fourth: f64) -> f64 {
    if fourth <= UNIFORM {
        return f64::from(FLATTEST);
    }
    let excess = 5.0 * fourth - 9.0;
    1.0 / ((excess / (6.0 * PI * PI)).sqrt() + 3.0 * ZETA_3 * excess / PI.powi(4))
}

#[inline(always)]
fn all_purpose(u: f64) -> (f64, f64) {
    let inverse = 1.0 / (1.0 + u.abs());
    let square = inverse * inverse;
    (u * (2.0 + u.abs()) * square, 2.0 * square * inverse)
}

#[inline(always)]
fn flat(u: f64, alpha: u32) -> (f64, f64) {
    let power = (0..alpha - 2).fold(1.0, |power, _| power * u.abs());
    (u * power, f64::from(alpha - 1) * power)
}

#[inline(always)]
fn peaked(u: f64, b: f64) -> (f64, f64) {
    let size = b * u.abs();
    let inverse = 1.0 / (1.0 + size);
    let square = inverse * inverse;
    (u * square, (1.0 - size) * square * inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_the_derivatives() {
        for score in [
            Score::AllPurpose,
            Score::Flat(3),
            Score::Flat(7),
            Score::Peaked(4.0),
        ] {
            for u in [-2.3, -0.4, 0.7, 1.1] {
                let (h, value) = (1e-6, |u: f64| {
                    let mut values = [u];
                    score.apply(&mut values);
                    values[0]
                });
                let numeric = (value(u + h) - value(u - h)) / (2.0 * h);
                let slope = score.apply(&mut [u]);
                assert!(
                    (numeric - slope).abs() < 1e-6 * (1.0 + slope.abs()),
                    "{score:?} at {u}"
                );
            }
        }
    }

    #[test]
    fn the_contrast_is_the_integral_of_its_score_and_0_for_a_gaussian() {
        let of = |u: f64| u * u / (1.0 + u.abs());
        for u in [-1.3, 0.2, 2.0] {
            let numeric = (of(u + 1e-6) - of(u - 1e-6)) / 2e-6;
            assert!((numeric - all_purpose(u).0).abs() < 1e-8);
        }
        // The integral over the normal density, by the trapezoidal rule.
        let density = |u: f64| (-0.5 * u * u).exp() / (2.0 * PI).sqrt();
        let mean: f64 = (-12_000..=12_000)
            .map(|i| f64::from(i) * 1e-3)
            .map(|u| 1e-3 * of(u) * density(u))
            .sum();
        assert!((mean - GAUSSIAN_CONTRAST).abs() < 1e-6, "{mean}");
    }

    #[test]
    fn distributions_get_the_score_that_suits_them() {
        // Quantiles of densities with known shape.
        let n = 20_000;
        let quantile = |inverse: &dyn Fn(f64) -> f64| -> Vec<f64> {
            let values: Vec<f64> = (0..n)
                .map(|i| inverse((i as f64 + 0.5) / n as f64))
                .collect();
            let power = values.iter().map(|u| u * u).sum::<f64>() / n as f64;
            values.iter().map(|u| u / power.sqrt()).collect()
        };
        let uniform = quantile(&|p| p - 0.5);
        assert_eq!(Score::suiting(&uniform), Some(Score::Flat(FLATTEST)));
        let laplace = |p: f64| (p - 0.5).signum() * -(1.0 - 2.0 * (p - 0.5).abs()).ln();
        assert_eq!(
            Score::suiting(&quantile(&laplace)),
            Some(Score::Peaked(4.0))
        );
        let sharp = quantile(&|p| laplace(p).powi(3));
        assert_eq!(Score::suiting(&sharp), Some(Score::Peaked(6.0)));
        // Logistic: mildly super-Gaussian, fourth moment 4.2; a triangle: 2.4.
        assert_eq!(
            Score::suiting(&quantile(&|p| (p / (1.0 - p)).ln())),
            Some(Score::Peaked(4.0))
        );
        assert!((shape(UNIFORM + 1e-9) > 1e3) && (shape(2.4184) - 3.0).abs() < 0.1);
        // A sum of three uniforms has the fourth moment 2.6, closer to Gaussian.
        let nearly: Vec<f64> = (0..30)
            .flat_map(|i| (0..30).flat_map(move |j| (0..30).map(move |k| i + j + k)))
            .map(|sum| (f64::from(sum) - 43.5) / 15.0)
            .collect();
        assert_eq!(Score::suiting(&nearly), None);
    }

    #[test]
    fn the_right_score_has_the_smaller_variance() {
        let n = 20_000;
        let uniform: Vec<f64> = (0..n)
            .map(|i| 3f64.sqrt() * (2.0 * (f64::from(i) + 0.5) / f64::from(n) - 1.0))
            .collect();
        let variance = |score| Moments::of(score, &uniform).variance();
        assert!(variance(Score::Flat(15)) < 0.5 * variance(Score::Flat(4)));
        assert!(variance(Score::Flat(4)) < variance(Score::AllPurpose));
        assert!(variance(Score::AllPurpose) < variance(Score::Peaked(4.0)));
    }
}
