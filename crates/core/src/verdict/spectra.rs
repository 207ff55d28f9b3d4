//! How exactly two sources can be told apart by their spectra, and how far they are correlated by
//! chance.
//!
//! Of two sources that have nothing in common, of spectra P and as long as the recording (n
//! samples), the product has the mean 0 and the variance
//!
//! ```text
//! Var(ρ) = 1/n · Σ_l r_i(l)·r_j(l) = 1/n · mean_ω P_i·P_j            (M. S. Bartlett 1935)
//! ```
//!
//! Slow sources have few independent samples, which shows in it. The kernel energy of a pair turned
//! by θ is n·(H·θ² + 2G·θ), with d = ∂g/∂m, δ = d_i − d_j, H = Σ δ(l)·(M_jj − M_ii)(l) and
//! G = Σ δ(l)·M_ij(l), which is 0 on average. So its minimum is at −G/H, and the angle has the
//! variance
//!
//! ```text
//! Var(θ) = Var(G)/H² = 1/n · mean_ω P_i·P_j·D² / H²,      D(ω) = Σ_l δ(l)·cos(ω·l)
//! ```
//!
//! whatever samples the energy counts more than once. Curvature that is there by chance counts as
//! if it was not: whether there is any to speak of is asked elsewhere (`twins.rs`, `gaussian.rs`).

use super::gaussian::PairMoments;
use super::judged::Judged;
use realfft::RealFftPlanner;
use strt_classic::kernel::{Form, SourceEnergy};
use strt_signal::columns::col;

/// Longer recordings are cut into stretches of so many samples, whose spectra are averaged: nothing
/// that matters here is slower.
pub(super) const STRETCH: usize = 1 << 15;

/// Spectra of all sources, and what the kernel energy makes of them.
pub(super) struct Spectra {
    n: f64,                // samples that are there
    power: Vec<Vec<f64>>,  // of every source, at the frequencies 0 to π
    slopes: Vec<Vec<f64>>, // ∂g/∂m of every source, transformed likewise
    moments: PairMoments,
    raw_slopes: Vec<Vec<f64>>, // ∂g/∂m, by lag
}

impl Spectra {
    pub fn new(judged: &Judged) -> Spectra {
        let (t, k) = (judged.n_samples(), judged.n_sources());
        let length = (2 * t.min(STRETCH)).next_power_of_two();
        let form = Form::spectrum(&judged.pieces());
        let moments = PairMoments::new(judged, &form);
        let mut energy = SourceEnergy::new(std::slice::from_ref(&form), &[vec![1.0]], t);
        let lags = form.lags();
        let mut raw_slopes = Vec::with_capacity(k);
        for source in 0..k {
            let own: Vec<f64> = (0..lags.len())
                .map(|lag| moments.at(0, lag, source, source))
                .collect();
            let mut slope = vec![0.0; lags.len()];
            energy.evaluate(&own, &mut slope);
            raw_slopes.push(slope);
        }
        let n = judged.rows.n_valid() as f64;
        Spectra {
            n,
            power: (0..k)
                .map(|source| power(judged, source, length, n))
                .collect(),
            slopes: raw_slopes
                .iter()
                .map(|slope| cosines(slope, &lags, length))
                .collect(),
            moments,
            raw_slopes,
        }
    }

    /// The variance of the angle by which each of two sources that have nothing in common is turned
    /// towards the other because they are correlated by chance: separation takes the correlation
    /// away, half from each.
    pub fn chance(&self, i: usize, j: usize) -> f64 {
        0.25 * self.mean(i, j, |_| 1.0) / self.n
    }

    /// The variance of the angle at which the kernel energy of the pair has its minimum; infinite
    /// where it has none.
    pub fn angle(&self, i: usize, j: usize) -> f64 {
        let slope = |lag: usize| self.raw_slopes[i][lag] - self.raw_slopes[j][lag];
        let differ = |lag: usize| self.moments.at(0, lag, j, j) - self.moments.at(0, lag, i, i);
        let lags = 0..self.raw_slopes[i].len();
        let curvature: f64 = lags.map(|lag| slope(lag) * differ(lag)).sum();
        if curvature.is_nan() || curvature <= 0.0 {
            return f64::INFINITY;
        }
        let square = |w: usize| (self.slopes[i][w] - self.slopes[j][w]).powi(2);
        self.mean(i, j, square) / (self.n * curvature * curvature)
    }

    /// The mean over all frequencies of P_i·P_j times a factor.
    fn mean(&self, i: usize, j: usize, factor: impl Fn(usize) -> f64) -> f64 {
        let (x, y) = (&self.power[i], &self.power[j]);
        let last = x.len() - 1;
        // 0 and π occur once on the circle, all others twice.
        let at = |w: usize| x[w] * y[w] * factor(w);
        let between: f64 = (1..last).map(at).sum();
        (at(0) + 2.0 * between + at(last)) / (2 * last) as f64
    }
}

/// |Σ_t x_t·exp(−iωt)|²/n of a source, summed over stretches of its pieces.
pub(super) fn power(judged: &Judged, source: usize, length: usize, n: f64) -> Vec<f64> {
    let values = col(judged.values.as_ref(), source);
    let transform = RealFftPlanner::<f64>::new().plan_fft_forward(length);
    let (mut input, mut output) = (transform.make_input_vec(), transform.make_output_vec());
    let mut power = vec![0.0; output.len()];
    let pieces = judged.rows.view().pieces();
    for stretch in pieces.flat_map(|piece| values[piece].chunks(STRETCH)) {
        input.fill(0.0);
        input[..stretch.len()].copy_from_slice(stretch);
        transform
            .process(&mut input, &mut output)
            .expect("buffers of the transform's own length");
        let squares = output.iter().map(|value| value.norm_sqr() / n);
        power.iter_mut().zip(squares).for_each(|(p, s)| *p += s);
    }
    power
}

/// Σ_l δ(l)·cos(ω·l) at the frequencies of transforms of this length.
fn cosines(slope: &[f64], lags: &[usize], length: usize) -> Vec<f64> {
    let transform = RealFftPlanner::<f64>::new().plan_fft_forward(length);
    let (mut input, mut output) = (transform.make_input_vec(), transform.make_output_vec());
    for (value, &lag) in slope.iter().zip(lags) {
        input[lag] += 0.5 * value;
        input[(length - lag) % length] += 0.5 * value;
    }
    transform
        .process(&mut input, &mut output)
        .expect("buffers of the transform's own length");
    output.iter().map(|value| value.re).collect()
}
