//! Held-out log-likelihood ratios, fold by fold, and how much they count for.
//!
//! A recording is cut into folds. A model of the sources that has not seen a fold says by how many
//! nats it prefers, there, what was found to something else: a pair of sources to the pair turned
//! by ±θ₀, or a source to white noise of its variance.
//!
//! ```text
//! evidence = min( Σ_f L_f,  2·(Σ_f L_f − max_f L_f) )
//! ```
//!
//! What one fold alone says counts for nothing: of sources that nothing tells apart, one stretch
//! looks different by chance now and then.

use std::f64::consts::FRAC_PI_4;

/// cos θ₀: a source turned by more has a |correlation| of less than 0.95 with what it was.
pub(super) const COSINE: f64 = 0.95;

/// θ₀ in radians.
pub(super) fn angle() -> f64 {
    COSINE.acos()
}

/// sin ±θ₀.
pub(super) fn sines() -> [f64; 2] {
    let sine = (1.0 - COSINE * COSINE).sqrt();
    [sine, -sine]
}

/// What one kind of model says of all pairs and sources, in nats by fold.
#[derive(Clone, Debug)]
pub(super) struct Testimony {
    n_sources: usize,
    pairs: Vec<[Vec<f64>; 2]>, // i < j, for both signs of θ
    gains: Vec<Vec<f64>>,      // against white noise, by source
}

impl Testimony {
    /// All silent.
    pub fn new(n_sources: usize, n_folds: usize) -> Testimony {
        let silent = vec![0.0; n_folds];
        let n_pairs = n_sources * n_sources.saturating_sub(1) / 2;
        Testimony {
            n_sources,
            pairs: vec![[silent.clone(), silent.clone()]; n_pairs],
            gains: vec![silent; n_sources],
        }
    }

    /// Adds nats in favour of the pair i < j over the one turned by the angle of `sines()[sign]`.
    pub fn add_pair(&mut self, (i, j): (usize, usize), sign: usize, fold: usize, nats: f64) {
        let place = place(self.n_sources, i, j);
        self.pairs[place][sign][fold] += nats;
    }

    /// Adds nats in favour of a source over white noise.
    pub fn add_gain(&mut self, source: usize, fold: usize, nats: f64) {
        self.gains[source][fold] += nats;
    }

    /// Evidence for a pair: that against the angle that speaks less for it.
    pub fn of_pair(&self, i: usize, j: usize) -> f64 {
        let [one, other] = &self.pairs[place(self.n_sources, i, j)];
        evidence(one).min(evidence(other))
    }

    /// The angle between the halves of the recording on a pair, as [`apart`] has it.
    pub fn apart(&self, i: usize, j: usize) -> f64 {
        let [plus, minus] = &self.pairs[place(self.n_sources, i, j)];
        apart(plus, minus)
    }

    /// Evidence for a source against white noise.
    pub fn of_source(&self, source: usize) -> f64 {
        evidence(&self.gains[source])
    }
}

/// What the nats of all folds count for.
pub(super) fn evidence(folds: &[f64]) -> f64 {
    let total: f64 = folds.iter().sum();
    if total.is_nan() {
        return 0.0; // a model without a value says nothing
    }
    let most = folds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    total.min(2.0 * (total - most))
}

/// The angle at which samples have a pair that they prefer to the one turned by θ₀ and by −θ₀ by so
/// many nats: where the parabola through both is least, half a right angle at most.
pub(super) fn shift(plus: f64, minus: f64) -> f64 {
    if plus + minus > 0.0 {
        let shift = 0.5 * angle() * (minus - plus) / (plus + minus);
        shift.clamp(-FRAC_PI_4, FRAC_PI_4)
    } else {
        FRAC_PI_4
    }
}

/// The larger of the angles at which each half of the recording has a pair whose model has learned
/// from the other half; one half's folds come first.
pub(super) fn apart(plus: &[f64], minus: &[f64]) -> f64 {
    let half = plus.len() / 2;
    let sum = |folds: &[f64]| folds.iter().sum::<f64>();
    let first = shift(sum(&plus[..half]), sum(&minus[..half]));
    let second = shift(sum(&plus[half..]), sum(&minus[half..]));
    first.abs().max(second.abs())
}

/// Where the pair i, j stands among [`pairs`], whichever of them comes first.
pub(super) fn place(n: usize, i: usize, j: usize) -> usize {
    let (i, j) = (i.min(j), i.max(j));
    i * n - i * (i + 1) / 2 + j - i - 1
}

/// Pairs of `n` sources.
pub(super) fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_a_place_of_its_own() {
        let places: Vec<usize> = pairs(7).map(|(i, j)| place(7, i, j)).collect();
        assert_eq!(places, (0..21).collect::<Vec<usize>>());
        assert_eq!(place(7, 5, 2), place(7, 2, 5));
    }

    #[test]
    fn what_one_fold_says_counts_for_nothing() {
        assert_eq!(evidence(&[5.0, 5.0, 5.0, 5.0]), 20.0);
        assert_eq!(evidence(&[20.0, 1.0, 0.0, 0.0]), 2.0);
        assert_eq!(evidence(&[-3.0, 1.0, 1.0]), -4.0);
        assert_eq!(evidence(&[f64::NAN, 1.0]), 0.0);
    }

    #[test]
    fn halves_that_have_a_pair_elsewhere_are_apart() {
        assert_eq!(shift(8.0, 8.0), 0.0);
        assert!((shift(4.0, 12.0) - 0.25 * angle()).abs() < 1e-12);
        assert_eq!(shift(-1.0, 0.5), FRAC_PI_4);
        let folds = ([4.0, 4.0, 2.0, 2.0], [4.0, 4.0, 6.0, 6.0]);
        assert!((apart(&folds.0, &folds.1) - 0.25 * angle()).abs() < 1e-12);
    }

    #[test]
    fn the_sign_that_speaks_against_a_pair_decides() {
        let mut testimony = Testimony::new(2, 2);
        for fold in 0..2 {
            testimony.add_pair((0, 1), 0, fold, 4.0);
            testimony.add_pair((0, 1), 1, fold, -1.0);
        }
        assert_eq!(testimony.of_pair(0, 1), -2.0);
        testimony.add_pair((0, 1), 1, 0, 9.0);
        assert_eq!(testimony.of_pair(0, 1), -2.0, "one fold alone");
    }
}
