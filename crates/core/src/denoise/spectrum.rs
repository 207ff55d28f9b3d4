//! The spectrum of a source under white noise: its autocovariance over a window of lags.
//!
//! In: unmixed sources (T×K, NaN in missing rows), their pieces, and the variance of the noise in
//! each. Out: [`Covariances`]: the mean of each source and c_k(0), …, c_k(M), from which a power
//! spectrum is made on any circle of samples ([`super::circle`]). No model is fitted and no order
//! chosen.
//!
//! ```text
//! c(h) = w(h/M) · (r(h) − N·[h = 0])      r(h) = (T − h)/T · mean over pairs of x_t·x_{t+h}
//! ```
//!
//! The window w is Parzen's, whose transform is nowhere negative: lines of sines are widened to
//! about 2/M and leak nothing below 0. A source is forgotten after M samples, so the conditional
//! mean in a longer gap returns to the mean of the source.

use faer::MatRef;
use rayon::prelude::*;
use std::ops::Range;
use strt_signal::columns::col;
use strt_signal::pieces::Pieces;
use strt_signal::preprocess::observations::centred_product;
use strt_signal::rows::Rows;

/// Longest window of lags. Twice this many samples is the longest gap that is told apart from an
/// endless one.
const MOST_LAGS: usize = 512;
/// A window covers this share of the samples at most: its spectrum then has a relative variance of
/// about an eighth.
const SHARE_OF_SAMPLES: usize = 4;
/// … and of a typical piece no more than this one.
const SHARE_OF_A_PIECE: usize = 2;
/// Few lags are better than none in a very short recording.
const FEWEST_LAGS: usize = 4;

/// Mean and autocovariance of every source, without the noise.
pub(super) struct Covariances {
    /// Means of the sources.
    pub mean: Vec<f64>,
    /// c_k(0), …, c_k(M), source by source.
    pub lags: Vec<Vec<f64>>,
    /// Variance of each source with its noise.
    pub variance: Vec<f64>,
}

impl Covariances {
    /// Of `sources` in these pieces, whose noise has the variances `noise`; at most `most_lags`
    /// lags.
    pub fn of(
        sources: MatRef<'_, f64>,
        pieces: &Pieces,
        noise: &[f64],
        most_lags: usize,
    ) -> Covariances {
        let (t, k) = sources.shape();
        let missing: Vec<bool> = (0..t).map(|t| sources[(t, 0)].is_nan()).collect();
        let rows = Rows::new(&missing).with_pieces(pieces);
        let n_lags = (rows.n_valid() / SHARE_OF_SAMPLES)
            .min(pieces.typical() / SHARE_OF_A_PIECE)
            .min(MOST_LAGS.min(most_lags))
            .max(FEWEST_LAGS)
            .min(pieces.longest().saturating_sub(1));
        let pairs = pairs(&rows, n_lags);
        let found: Vec<(f64, Vec<f64>)> = (0..k)
            .into_par_iter()
            .map(|k| autocovariance(col(sources, k), &rows, &pairs))
            .collect();
        let (mean, mut lags): (Vec<f64>, Vec<Vec<f64>>) = found.into_iter().unzip();
        let variance = lags.iter().map(|lags| lags[0]).collect();
        let sources = lags.iter_mut().zip(noise);
        sources.for_each(|(lags, &noise)| without_noise(lags, noise));
        Covariances {
            mean,
            lags,
            variance,
        }
    }

    /// Takes the lags of the same sources with their gaps filled. Their variance stays: what is
    /// filled in varies less than what was there.
    pub fn take_filled(
        &mut self,
        filled: MatRef<'_, f64>,
        pieces: &Pieces,
        noise: &[f64],
        most_lags: usize,
    ) {
        let rows = Rows::all(filled.nrows()).with_pieces(pieces);
        let pairs = pairs(&rows, most_lags);
        let columns = 0..self.lags.len();
        self.lags = columns
            .into_par_iter()
            .map(|k| {
                let (_, mut lags) = autocovariance(col(filled, k), &rows, &pairs);
                let loss = self.variance[k] / lags[0].max(f64::MIN_POSITIVE);
                lags.iter_mut().for_each(|c| *c *= loss);
                without_noise(&mut lags, noise[k]);
                lags
            })
            .collect();
    }

    /// M.
    pub fn n_lags(&self) -> usize {
        self.lags.first().map_or(0, |lags| lags.len() - 1)
    }
}

/// r(0), …, r(M) → c(0), …, c(M).
fn without_noise(lags: &mut [f64], noise: f64) {
    lags[0] = (lags[0] - noise).max(0.0);
    let end = lags.len() as f64;
    let window = (0..).map(|h| parzen(f64::from(h) / end));
    lags.iter_mut().zip(window).for_each(|(c, w)| *c *= w);
}

/// Parzen's window: 1 at 0, 0 from 1 on.
fn parzen(u: f64) -> f64 {
    if u <= 0.5 {
        1.0 - 6.0 * u * u * (1.0 - u)
    } else {
        2.0 * (1.0 - u).max(0.0).powi(3)
    }
}

/// Number of pairs (t, t + h) of one piece of which neither sample is missing, for h = 0, …, M.
fn pairs(rows: &Rows, n_lags: usize) -> Vec<usize> {
    let count = |h: usize| {
        let long_enough = rows.pieces().filter(|piece| piece.len() > h);
        let of_piece = |piece: Range<usize>| match rows.missing() {
            None => piece.len() - h,
            Some(gone) => {
                let gone = &gone[piece];
                let pairs = gone.iter().zip(&gone[h..]);
                pairs.filter(|&(&early, &late)| !early && !late).count()
            }
        };
        long_enough.map(of_piece).sum()
    };
    (0..=n_lags).map(count).collect()
}

/// Mean of a source, and r(0), …, r(M) over the pairs that are there.
fn autocovariance(source: &[f64], rows: &Rows, pairs: &[usize]) -> (f64, Vec<f64>) {
    let mut sum = 0.0;
    rows.for_each_valid(|t| sum += source[t]);
    let mean = sum / rows.n_valid() as f64;
    let mut centred: Vec<f64> = source.iter().map(|value| value - mean).collect();
    rows.zero_missing(&mut centred);
    let n_samples = source.len() as f64;
    let lags = pairs.iter().enumerate().map(|(h, &n_pairs)| {
        if n_pairs == 0 {
            return 0.0;
        }
        let long_enough = rows.pieces().filter(|piece| piece.len() > h);
        let products: f64 = long_enough
            .map(|piece| {
                let (early, late) = (piece.start..piece.end - h, piece.start + h..piece.end);
                centred_product(&centred[early], 0.0, &centred[late])
            })
            .sum();
        products / n_pairs as f64 * (n_samples - h as f64) / n_samples
    });
    (mean, lags.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    /// A cosine of variance ½ has r(h) = ½ cos(ωh); noise is taken from r(0) alone, and missing
    /// samples do not lower anything.
    #[test]
    fn a_cosine_with_gaps_has_its_autocovariance() {
        let omega = 0.3;
        let sources = Mat::from_fn(6000, 1, |t, _| {
            if t % 7 == 3 {
                f64::NAN
            } else {
                5.0 + (omega * t as f64).cos()
            }
        });
        let whole = Pieces::whole(6000);
        let found = Covariances::of(sources.as_ref(), &whole, &[0.1], usize::MAX);
        assert_eq!(found.n_lags(), MOST_LAGS);
        assert!((found.mean[0] - 5.0).abs() < 1e-3 && (found.variance[0] - 0.5).abs() < 1e-3);
        assert!((found.lags[0][0] - 0.4).abs() < 2e-3);
        for h in 1..MOST_LAGS {
            let window = parzen(h as f64 / (MOST_LAGS + 1) as f64) * (1.0 - h as f64 / 6000.0);
            let expected = 0.5 * window * (omega * h as f64).cos();
            assert!((found.lags[0][h] - expected).abs() < 2e-3, "lag {h}");
        }
    }

    /// Of complete sources the lags are the transform of a spectrum that is nowhere negative.
    #[test]
    fn complete_sources_have_a_spectrum() {
        let sources = Mat::from_fn(403, 1, |t, _| ((t * t) as f64 * 0.7).sin());
        let whole = Pieces::whole(403);
        let found = Covariances::of(sources.as_ref(), &whole, &[0.0], usize::MAX);
        for i in 0..=500 {
            let omega = std::f64::consts::PI * f64::from(i) / 500.0;
            let lags = found.lags[0].iter().enumerate().skip(1);
            let sum: f64 = lags.map(|(h, c)| 2.0 * c * (omega * h as f64).cos()).sum();
            assert!(found.lags[0][0] + sum > -1e-9, "{omega}");
        }
    }

    #[test]
    fn the_window_falls_from_one_to_zero() {
        let values: Vec<f64> = (0..=20).map(|i| parzen(f64::from(i) / 20.0)).collect();
        assert!(values[0] == 1.0 && values[20] == 0.0 && values[10] == 0.25);
        assert!(values.windows(2).all(|pair| pair[0] > pair[1]));
    }
}
