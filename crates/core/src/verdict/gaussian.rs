//! What Gaussian models that have not seen a fold say of it: both forms of the kernel energy, held
//! out.
//!
//! **Spectrum.** The kernel energy g(m) is an entropy; its tangent at the moments of the other
//! folds is the cross-entropy of this fold under their spectrum. With d_i = ∂g/∂m there and M the
//! moments of the fold,
//!
//! ```text
//! L = n·Σ_l (d_i − d_j)(l)·[ s²·(M_jj − M_ii)(l) + 2cs·M_ij(l) ]
//! ```
//!
//! The window is short and widely spaced in part: what is learned from three quarters of a short
//! recording must be little, and slow sources differ at long lags.
//!
//! **Variance.** The variance of a block of samples is predicted by its two neighbours.

use super::evidence::{COSINE, Testimony, pairs, sines};
use super::judged::Judged;
use faer::Mat;
use strt_classic::kernel::{Form, Moments, SourceEnergy};

/// Folds of a recording.
const FOLDS: usize = 4;
/// Samples that the spectrum judges together …
const WINDOW: usize = 6;
/// … and how far apart they are, where a fold and a typical piece have twice their span.
const DILATIONS: [usize; 5] = [1, 4, 16, 64, 256];
/// Noise that is added to every sample, in units of the source's variance.
const RIDGE: f64 = 0.03;
/// Samples of variance 1 that a prediction of the variance counts beside those of the neighbours.
const PRIOR: f64 = 24.0;

/// The spectrum of a fold of which so many samples are contiguous.
fn form(n_samples: usize) -> Form {
    let window = WINDOW.min(n_samples / 2).max(2);
    let fits = |d: &usize| *d == 1 || 2 * (window - 1) * d <= n_samples;
    Form {
        segments: 1,
        window,
        dilations: DILATIONS.into_iter().filter(fits).collect(),
        ridge: RIDGE,
        bands: None,
    }
}

/// Moments of all pairs of sources, by segment and lag.
pub(super) struct PairMoments {
    values: Mat<f64>,
    n_lags: usize,
    n_sources: usize,
    n: Vec<f64>, // samples of each segment
}

impl PairMoments {
    pub fn new(judged: &Judged, form: &Form) -> PairMoments {
        let forms = std::slice::from_ref(form);
        let moments = Moments::new(judged.values.as_ref(), judged.rows.view(), forms);
        let k = judged.n_sources();
        let mut values = Mat::zeros(moments.len() * k, k);
        moments.times(Mat::<f64>::identity(k, k).as_ref(), &mut values);
        let n_valid = moments.n_valid() as f64;
        PairMoments {
            values,
            n_lags: moments.len() / form.segments,
            n_sources: k,
            n: moments.shares()[0].iter().map(|w| w * n_valid).collect(),
        }
    }

    pub fn at(&self, segment: usize, lag: usize, i: usize, j: usize) -> f64 {
        self.values[((segment * self.n_lags + lag) * self.n_sources + i, j)]
    }

    /// By which the moments of source i change when the pair is turned; those of j change by as
    /// much the other way.
    fn turned(&self, segment: usize, lag: usize, (i, j): (usize, usize), sine: f64) -> f64 {
        let at = |i, j| self.at(segment, lag, i, j);
        sine * sine * (at(j, j) - at(i, i)) + 2.0 * COSINE * sine * at(i, j)
    }
}

/// What spectra of the other folds say of each fold.
pub(super) fn spectrum(judged: &Judged) -> Testimony {
    let (t, k) = (judged.n_samples(), judged.n_sources());
    let folds = FOLDS;
    let one = form((t / folds).min(judged.pieces().typical()));
    let form = Form {
        segments: folds,
        ..one.clone()
    };
    let moments = PairMoments::new(judged, &form);
    let (n_lags, n_all) = (moments.n_lags, moments.n.iter().sum::<f64>());
    let mut energy = SourceEnergy::new(std::slice::from_ref(&one), &[vec![1.0]], t);
    let white = 0.5 * one.ridge.ln_1p();
    let mut testimony = Testimony::new(k, folds);
    let mut slopes = Mat::<f64>::zeros(n_lags, k);
    for fold in 0..folds {
        let n = moments.n[fold];
        if n == 0.0 || n == n_all {
            continue; // nothing to judge, or nothing to judge it by
        }
        for source in 0..k {
            let others = (0..folds).filter(|&s| s != fold);
            let learned = (0..n_lags).map(|lag| {
                let part = |s: usize| moments.n[s] * moments.at(s, lag, source, source);
                others.clone().map(part).sum::<f64>() / (n_all - n)
            });
            let learned: Vec<f64> = learned.collect();
            let slope = slopes.col_as_slice_mut(source);
            let entropy = energy.evaluate(&learned, slope);
            let tangent: f64 = (0..n_lags)
                .map(|lag| slope[lag] * moments.at(fold, lag, source, source))
                .sum();
            testimony.add_gain(source, fold, n * (white - entropy - tangent));
        }
        for (i, j) in pairs(k) {
            for (sign, sine) in sines().into_iter().enumerate() {
                let nats: f64 = (0..n_lags)
                    .map(|lag| {
                        let slope = slopes[(lag, i)] - slopes[(lag, j)];
                        slope * moments.turned(fold, lag, (i, j), sine)
                    })
                    .sum();
                testimony.add_pair((i, j), sign, fold, n * nats);
            }
        }
    }
    testimony
}

/// What the variances of its neighbours say of each block.
pub(super) fn variance(judged: &Judged) -> Testimony {
    let (t, k) = (judged.n_samples(), judged.n_sources());
    let folds = FOLDS;
    let form = Form::variance(t);
    let (blocks, ridge) = (form.segments, form.ridge);
    let moments = PairMoments::new(judged, &form);
    let mut testimony = Testimony::new(k, folds);
    let mut predicted = vec![0.0; k];
    for block in 0..blocks {
        let (fold, n) = (block * folds / blocks, moments.n[block]);
        let neighbours = [
            block.checked_sub(1),
            Some(block + 1).filter(|&b| b < blocks),
        ];
        for (source, slot) in predicted.iter_mut().enumerate() {
            let (mut sum, mut count) = (PRIOR, PRIOR);
            for b in neighbours.into_iter().flatten() {
                sum += moments.n[b] * moments.at(b, 0, source, source);
                count += moments.n[b];
            }
            *slot = sum / count + ridge;
            let own = moments.at(block, 0, source, source) + ridge;
            let steady = ridge.ln_1p() + own / (1.0 + ridge);
            let gain = 0.5 * (steady - slot.ln() - own / *slot);
            testimony.add_gain(source, fold, n * gain);
        }
        for (i, j) in pairs(k) {
            let slope = 0.5 * (1.0 / predicted[i] - 1.0 / predicted[j]);
            for (sign, sine) in sines().into_iter().enumerate() {
                let nats = slope * moments.turned(block, 0, (i, j), sine);
                testimony.add_pair((i, j), sign, fold, n * nats);
            }
        }
    }
    testimony
}
