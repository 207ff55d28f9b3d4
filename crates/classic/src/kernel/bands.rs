//! Bands of frequencies: which of them a spectrum that is smooth is judged by, and the power of
//! components in each.
//!
//! ```text
//! M_b = n/(n_valid·n_b) · Σ_{j in b} c_j·c_jᵀ        c_j = Σ_t √(2/n)·cos(πj(t+½)/n)·z_t
//! ```
//!
//! c is the cosine transform of a piece of the recording: it continues the piece as its mirror
//! image, so that a slow source, which does not end where it began, leaks far less into other
//! frequencies than with a Fourier transform. Lowest frequencies are bands of their own, since
//! there slow sources differ; higher ones are as wide as a fixed share of their frequency. In: how
//! long a recording is, or its samples. Out: bands, or M_b. Missing samples are zeros; the factor
//! in front makes up for them on average.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use realfft::num_complex::Complex;
use realfft::{RealFftPlanner, RealToComplex};
use std::f64::consts::PI;
use std::sync::Arc;
use strt_signal::columns::col;
use strt_signal::rows::RowsView;

use super::form::Lengths;

/// Frequencies from the lowest on that are bands of their own.
const SINGLE: usize = 10;
/// The end of a wider band over its beginning.
const RATIO: f64 = 1.2;
/// Groups of frequencies at most of which the quietest is sought: the lowest of very many estimates
/// is far too low.
const MOST_GROUPS: usize = 32;

/// Bands of the frequencies j = 0 … L−1, in half cycles per L samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Bands {
    /// L: the length of a typical piece.
    length: usize,
    /// The first frequency of every band, then L.
    edges: Vec<usize>,
}

impl Bands {
    /// For a recording of these lengths. One piece has no frequency 0: its mean is not judged.
    pub fn new(lengths: Lengths) -> Bands {
        let length = lengths.piece.max(2);
        let alone = lengths.piece >= lengths.samples;
        let mut edges = vec![usize::from(alone)];
        while edges[edges.len() - 1] < length {
            let last = edges[edges.len() - 1];
            let wide = (last as f64 * RATIO) as usize;
            let next = if edges.len() <= SINGLE { 0 } else { wide };
            edges.push(next.max(last + 1).min(length));
        }
        Bands { length, edges }
    }

    /// Number B of bands.
    pub fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// Whether there are none. There always are.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The band of frequency j of `n` samples; `None` for a frequency that is not judged.
    fn of(&self, j: usize, n: usize) -> Option<usize> {
        let nearest = (j * self.length + n / 2) / n;
        let after = self.edges.partition_point(|&edge| edge <= nearest);
        (after > 0).then(|| (after - 1).min(self.len() - 1))
    }

    /// Where on the axis of frequencies each band is: the root of its frequency, on which spectra
    /// of slow sources and of lines change about equally fast.
    pub fn positions(&self) -> Vec<f64> {
        let position = |edges: &[usize]| ((edges[0] * (edges[1] - 1)) as f64).sqrt().sqrt();
        self.edges.windows(2).map(position).collect()
    }

    /// M_b of components (T×K, 0 in missing rows), one below the other in place of `stacked`; gives
    /// the share of the frequencies that each band has.
    pub(super) fn powers(
        &self,
        components: MatRef<'_, f64>,
        rows: RowsView<'_>,
        mut stacked: MatMut<'_, f64>,
    ) -> Vec<f64> {
        let k = components.ncols();
        let mut counts = vec![0usize; self.len()];
        stacked.fill(0.0);
        let mut cosine = Cosine::default();
        let mut coefficients = Mat::<f64>::zeros(0, k);
        for piece in rows.pieces() {
            let n = piece.len();
            if coefficients.nrows() != n {
                coefficients = Mat::zeros(n, k);
            }
            for j in 0..k {
                let samples = &col(components, j)[piece.clone()];
                cosine.transform(samples, coefficients.col_as_slice_mut(j));
            }
            let mut first = 0;
            while first < n {
                let band = self.of(first, n);
                let end = (first..n).find(|&j| self.of(j, n) != band).unwrap_or(n);
                if let Some(band) = band {
                    counts[band] += end - first;
                    let part = coefficients.as_ref().subrows(first, end - first);
                    matmul(
                        stacked.as_mut().subrows_mut(band * k, k),
                        Accum::Add,
                        part.transpose(),
                        part,
                        1.0,
                        Par::Seq,
                    );
                }
                first = end;
            }
        }
        let scale = rows.n_samples() as f64 / rows.n_valid().max(1) as f64;
        for (band, &count) in counts.iter().enumerate() {
            let factor = scale / count.max(1) as f64;
            let mut own = stacked.as_mut().subrows_mut(band * k, k);
            own *= faer::Scale(factor);
        }
        let all = counts.iter().sum::<usize>().max(1) as f64;
        counts.iter().map(|&n| n as f64 / all).collect()
    }
}

/// The least variance that the K components have in any direction and at any frequencies, in
/// groups of `least` of them and more: white noise cannot have more. `variances` are those of the
/// components before they were made white.
pub(super) fn quietest(
    components: MatRef<'_, f64>,
    rows: RowsView<'_>,
    variances: &[f64],
    least: usize,
) -> f64 {
    let k = components.ncols();
    let n = rows.n_samples();
    let groups = (n / least.max(1)).clamp(1, MOST_GROUPS);
    let edges = (0..=groups).map(|g| if g == 0 { 1 } else { g * n / groups });
    let groups = Bands {
        length: n,
        edges: edges.collect(),
    };
    let mut stacked = Mat::zeros(groups.len() * k, k);
    let shares = groups.powers(components, rows, stacked.as_mut());
    let mut lowest = f64::INFINITY;
    for (group, share) in shares.iter().enumerate() {
        // Pieces of few samples have no frequency near the lowest.
        if share * (n as f64) < k as f64 {
            continue;
        }
        let own = stacked.as_ref().subrows(group * k, k);
        let scaled = Mat::from_fn(k, k, |i, j| {
            own[(i, j)] * (variances[i] * variances[j]).sqrt()
        });
        let Ok(values) = scaled.self_adjoint_eigenvalues(faer::Side::Lower) else {
            continue;
        };
        lowest = values.into_iter().fold(lowest, f64::min);
    }
    if lowest.is_finite() {
        lowest.max(0.0)
    } else {
        0.0
    }
}

/// The orthonormal cosine transform (DCT-II) of any length, by a real Fourier transform of the same
/// length (J. Makhoul, *A fast cosine transform in one and two dimensions*, IEEE Trans. ASSP 28(1),
/// 1980).
#[derive(Default)]
struct Cosine {
    plan: Option<Arc<dyn RealToComplex<f64>>>,
    folded: Vec<f64>,
    spectrum: Vec<Complex<f64>>,
    scratch: Vec<Complex<f64>>,
    turns: Vec<Complex<f64>>, // √(2/n)·exp(−iπj/2n)
}

impl Cosine {
    fn prepare(&mut self, n: usize) -> Arc<dyn RealToComplex<f64>> {
        if let Some(plan) = self.plan.as_ref().filter(|plan| plan.len() == n) {
            return plan.clone();
        }
        let plan = RealFftPlanner::new().plan_fft_forward(n);
        self.folded = plan.make_input_vec();
        self.spectrum = plan.make_output_vec();
        self.scratch = plan.make_scratch_vec();
        let scale = (2.0 / n as f64).sqrt();
        let turn = |j: usize| Complex::from_polar(scale, -PI * j as f64 / (2 * n) as f64);
        self.turns = (0..=n / 2).map(turn).collect();
        self.plan = Some(plan.clone());
        plan
    }

    fn transform(&mut self, samples: &[f64], coefficients: &mut [f64]) {
        let n = samples.len();
        let plan = self.prepare(n);
        for (t, &value) in samples.iter().enumerate() {
            let at = if t % 2 == 0 { t / 2 } else { n - 1 - t / 2 };
            self.folded[at] = value;
        }
        plan.process_with_scratch(&mut self.folded, &mut self.spectrum, &mut self.scratch)
            .expect("buffers of the plan's lengths");
        for (j, (value, turn)) in self.spectrum.iter().zip(&self.turns).enumerate() {
            let turned = value * turn;
            coefficients[j] = turned.re;
            if j > 0 {
                coefficients[n - j] = if 2 * j == n { turned.re } else { -turned.im };
            }
        }
        coefficients[0] *= 0.5f64.sqrt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strt_signal::pieces::Pieces;
    use strt_signal::rows::Rows;

    #[test]
    fn the_transform_is_that_of_its_definition() {
        let mut cosine = Cosine::default();
        for n in [1, 2, 3, 7, 8, 97, 100] {
            let samples: Vec<f64> = (0..n).map(|t| ((t * t) as f64 * 0.31).sin()).collect();
            let mut found = vec![0.0; n];
            cosine.transform(&samples, &mut found);
            for (j, &found) in found.iter().enumerate() {
                let wave = |t: usize| (PI * j as f64 * (t as f64 + 0.5) / n as f64).cos();
                let sum: f64 = (0..n).map(|t| samples[t] * wave(t)).sum();
                let scale = if j == 0 { 1.0 } else { 2.0 };
                let expected = sum * (scale / n as f64).sqrt();
                assert!((found - expected).abs() < 1e-12, "{n} {j}");
            }
        }
    }

    #[test]
    fn bands_cover_every_frequency_once_and_grow() {
        for (piece, samples) in [(1000, 1000), (8, 4000), (9, 9)] {
            let bands = Bands::new(Lengths { samples, piece });
            let first = usize::from(piece == samples);
            assert_eq!(bands.edges[0], first);
            assert!(bands.edges.windows(2).all(|e| e[0] < e[1]));
            assert_eq!(bands.edges[bands.len()], bands.length);
            let positions = bands.positions();
            assert!(positions.windows(2).all(|p| p[0] < p[1]), "{positions:?}");
        }
        let lengths = Lengths::from(1000);
        assert_eq!(Bands::new(lengths).len(), 36);
    }

    #[test]
    fn powers_of_all_bands_are_the_variance_and_pieces_are_averaged() {
        let (n, k) = (700, 3);
        let mut z = Mat::from_fn(n, k, |t, k| ((t * (k + 2)) as f64 * 0.7).sin() + 0.2);
        for j in 0..k {
            let mean = z.col(j).sum() / n as f64;
            z.col_as_slice_mut(j).iter_mut().for_each(|v| *v -= mean);
        }
        let whole = Rows::all(n);
        let pieces = Pieces::new(&[300, 150, 250], n).unwrap();
        for rows in [whole.clone(), whole.with_pieces(&pieces)] {
            let bands = Bands::new(Lengths::from(&rows.to_pieces()));
            let mut stacked = Mat::zeros(bands.len() * k, k);
            let shares = bands.powers(z.as_ref(), rows.view(), stacked.as_mut());
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            // One piece has no mean and one frequency less.
            let frequencies = if rows.to_pieces().ranges().count() == 1 {
                n - 1
            } else {
                n
            };
            let mut sum = Mat::<f64>::zeros(k, k);
            for (b, share) in shares.iter().enumerate() {
                sum += faer::Scale(share * frequencies as f64) * stacked.subrows(b * k, k);
            }
            assert!((&sum - z.transpose() * &z).norm_max() < 1e-9);
        }
    }

    #[test]
    fn white_noise_under_slow_sources_is_as_loud_as_the_quietest_frequencies() {
        let n = 2000;
        let mut state = 1u64;
        let mut noise = || {
            // Sums of twelve uniform values are nearly Gaussian, of variance 1.
            let mut uniform = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 11) as f64 / (1u64 << 53) as f64
            };
            (0..12).map(|_| uniform()).sum::<f64>() - 6.0
        };
        let slow = |t: usize, k: usize| (t as f64 * 0.02 * (k + 1) as f64).sin();
        let z = Mat::from_fn(n, 2, |t, k| slow(t, k) + 0.1 * noise());
        let rows = Rows::all(n);
        let found = quietest(z.as_ref(), rows.view(), &[1.0, 1.0], 20);
        assert!((0.004..0.01).contains(&found), "{found}");
        let louder = quietest(z.as_ref(), rows.view(), &[4.0, 4.0], 20);
        assert!((louder - 4.0 * found).abs() < 1e-9);
    }
}
