//! The ordered multi-scale controller: raw gaps η → ordered centers, scale weights and locality
//! slopes.
//!
//! ```text
//! δ_j = softplus(η_j) + ε              u_k = Σ_{j<k} δ_j / Σ_j δ_j
//! c_k = a_min + (a_max − a_min) u_k
//! π_kr = softmax_r(−τ(a_r − c_k)²)     ā_k = Σ_r π_kr a_r,  P̄_k = exp(ā_k)
//! α_k = exp[ln α_max + (ln α_min − ln α_max) u_k]
//! ```
//!
//! All gaps are positive, so 0 < u_1 < … < u_K < 1: the order of the branches is fixed, their
//! scales are learned.

use crate::config;

/// Constants of the controller: patch scales and the settings of its section in the configuration.
#[derive(Clone, Debug)]
pub struct Controller {
    log_patch: Vec<f64>, // a_r, ascending
    n_sources: usize,
    settings: config::Controller,
}

/// What the controller says for one η.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerState {
    /// u_k in (0, 1).
    pub order: Vec<f64>,
    /// c_k, the log-scale centers.
    pub centers: Vec<f64>,
    /// α_k, the locality slopes.
    pub slopes: Vec<f64>,
    /// π_kr, row-major (K×R).
    pub scale_weights: Vec<f64>,
    /// P̄_k, the expected patch sizes in samples.
    pub expected_patch: Vec<f64>,
}

/// ∂J/∂(what the controller says).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerGradient {
    /// ∂J/∂π_kr, row-major (K×R).
    pub scale_weights: Vec<f64>,
    /// ∂J/∂c_k.
    pub centers: Vec<f64>,
    /// ∂J/∂α_k.
    pub slopes: Vec<f64>,
}

impl ControllerGradient {
    /// Zeros for K sources at R scales.
    pub(crate) fn new(n_sources: usize, n_scales: usize) -> ControllerGradient {
        ControllerGradient {
            scale_weights: vec![0.0; n_sources * n_scales],
            centers: vec![0.0; n_sources],
            slopes: vec![0.0; n_sources],
        }
    }

    /// Back to zeros.
    pub(crate) fn clear(&mut self) {
        for part in [&mut self.scale_weights, &mut self.centers, &mut self.slopes] {
            part.fill(0.0);
        }
    }
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Controller {
    /// A controller for K sources over these patch sizes (ascending).
    pub fn new(
        n_sources: usize,
        patch_sizes: &[usize],
        settings: &config::Controller,
    ) -> Controller {
        let log_patch = patch_sizes.iter().map(|&p| (p as f64).ln()).collect();
        Controller {
            log_patch,
            n_sources,
            settings: settings.clone(),
        }
    }

    /// Raw gaps at the start, K + 1 zeros: equally spaced centers.
    pub fn initial_gaps(&self) -> Vec<f64> {
        vec![0.0; self.n_sources + 1]
    }

    /// a_max − a_min.
    fn log_range(&self) -> f64 {
        self.log_patch[self.log_patch.len() - 1] - self.log_patch[0]
    }

    /// Δ_c: the distance of neighbouring centers below which the gap penalty acts.
    pub fn gap_target(&self) -> f64 {
        self.settings.gap_target * self.log_range() / (self.n_sources as f64 + 1.0)
    }

    fn gaps(&self, raw_gaps: &[f64]) -> impl Iterator<Item = f64> {
        raw_gaps
            .iter()
            .map(|&eta| softplus(eta) + self.settings.gap_floor)
    }

    /// η → everything else. Reuses the vectors of `state`.
    pub fn forward(&self, raw_gaps: &[f64], state: &mut ControllerState) {
        let (n_scales, total) = (self.log_patch.len(), self.gaps(raw_gaps).sum::<f64>());
        let vectors = [
            &mut state.order,
            &mut state.centers,
            &mut state.slopes,
            &mut state.scale_weights,
            &mut state.expected_patch,
        ];
        vectors.into_iter().for_each(Vec::clear);
        let (log_max, log_min) = (self.settings.slope_max.ln(), self.settings.slope_min.ln());
        let mut sum = 0.0;
        for gap in self.gaps(raw_gaps).take(self.n_sources) {
            sum += gap;
            let u = sum / total;
            let center = self.log_patch[0] + self.log_range() * u;
            state.order.push(u);
            state.centers.push(center);
            state.slopes.push((log_max + (log_min - log_max) * u).exp());
            let logit = |a: f64| -self.settings.sharpness * (a - center) * (a - center);
            let peak = self
                .log_patch
                .iter()
                .map(|&a| logit(a))
                .fold(f64::NEG_INFINITY, f64::max);
            let norm: f64 = self
                .log_patch
                .iter()
                .map(|&a| (logit(a) - peak).exp())
                .sum();
            state.scale_weights.extend(
                self.log_patch
                    .iter()
                    .map(|&a| (logit(a) - peak).exp() / norm),
            );
            let weights = &state.scale_weights[state.scale_weights.len() - n_scales..];
            let mean: f64 = weights
                .iter()
                .zip(&self.log_patch)
                .map(|(w, a)| w * a)
                .sum();
            state.expected_patch.push(mean.exp());
        }
    }

    /// Accumulates ∂J/∂η from the gradient in what the controller says.
    pub fn backward(
        &self,
        raw_gaps: &[f64],
        state: &ControllerState,
        d_state: &ControllerGradient,
        d_raw_gaps: &mut [f64],
    ) {
        let n_scales = self.log_patch.len();
        let total: f64 = self.gaps(raw_gaps).sum();
        let log_slope_range = self.settings.slope_min.ln() - self.settings.slope_max.ln();
        for k in 0..self.n_sources {
            let weights = &state.scale_weights[k * n_scales..][..n_scales];
            let d_weights = &d_state.scale_weights[k * n_scales..][..n_scales];
            let mean: f64 = weights.iter().zip(d_weights).map(|(w, d)| w * d).sum();
            // ∂logit_kr/∂c_k = 2τ(a_r − c_k)
            let d_center = d_state.centers[k]
                + (0..n_scales)
                    .map(|r| {
                        let offset = self.log_patch[r] - state.centers[k];
                        weights[r] * (d_weights[r] - mean) * 2.0 * self.settings.sharpness * offset
                    })
                    .sum::<f64>();
            let d_order =
                d_center * self.log_range() + d_state.slopes[k] * state.slopes[k] * log_slope_range;
            // ∂u_k/∂δ_j = ([j < k] − u_k)/Σδ
            for (j, d) in d_raw_gaps.iter_mut().enumerate() {
                let before = if j <= k { 1.0 } else { 0.0 };
                *d += d_order * (before - state.order[k]) / total * sigmoid(raw_gaps[j]);
            }
        }
    }
}
