//! Locality-biased multi-head attention:
//!
//! ```text
//! logit_ij = ⟨q_i, κ_j⟩/√d_h − α|i−j| + B_ij      A = softmax_j(logit)      o_i = Σ_j A_ij v_j
//! ```
//!
//! B is 0 where attention is allowed and −∞ where it is not (causal order, invalid patches). A row
//! that may attend to nothing gets weights 0.

/// Sizes and biases that the forward and the backward pass share.
pub struct Attention<'a> {
    /// Number of patches N.
    pub n: usize,
    /// Heads H.
    pub n_heads: usize,
    /// Width of one head d_h.
    pub d_head: usize,
    /// Locality slope α.
    pub slope: f64,
    /// B^mask (N×N).
    pub bias: &'a [f64],
}

impl Attention<'_> {
    fn distance(i: usize, j: usize) -> f64 {
        i.abs_diff(j) as f64
    }

    /// Element c of head h of the query (part 0), key (1) or value (2) of patch i, in qkv (N×3d).
    fn at(&self, part: usize, i: usize, h: usize, c: usize) -> usize {
        let d = self.n_heads * self.d_head;
        i * 3 * d + part * d + h * self.d_head + c
    }

    /// qkv (N×3d) → outputs (N×d) and weights A (H×N×N).
    pub fn forward(&self, qkv: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (n, d) = (self.n, self.n_heads * self.d_head);
        let (mut out, mut weights) = (vec![0.0; n * d], vec![0.0; self.n_heads * n * n]);
        for h in 0..self.n_heads {
            for i in 0..n {
                let row = &mut weights[(h * n + i) * n..][..n];
                for j in 0..n {
                    let dot: f64 = (0..self.d_head)
                        .map(|c| qkv[self.at(0, i, h, c)] * qkv[self.at(1, j, h, c)])
                        .sum();
                    row[j] = dot / (self.d_head as f64).sqrt() - self.slope * Self::distance(i, j)
                        + self.bias[i * n + j];
                }
                let peak = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                if peak == f64::NEG_INFINITY {
                    row.fill(0.0);
                    continue;
                }
                row.iter_mut().for_each(|w| *w = (*w - peak).exp());
                let total: f64 = row.iter().sum();
                row.iter_mut().for_each(|w| *w /= total);
                for j in 0..n {
                    for c in 0..self.d_head {
                        out[i * d + h * self.d_head + c] += row[j] * qkv[self.at(2, j, h, c)];
                    }
                }
            }
        }
        (out, weights)
    }

    /// With d_A_ij = ⟨d_o_i, v_j⟩ and d_logit = A∘(d_A − Σ_j A d_A): accumulates d_qkv, returns
    /// ∂/∂α.
    pub fn backward(&self, qkv: &[f64], weights: &[f64], d_out: &[f64], d_qkv: &mut [f64]) -> f64 {
        let (n, d) = (self.n, self.n_heads * self.d_head);
        let scale = 1.0 / (self.d_head as f64).sqrt();
        let mut d_slope = 0.0;
        for h in 0..self.n_heads {
            for i in 0..n {
                let row = &weights[(h * n + i) * n..][..n];
                let d_o = &d_out[i * d + h * self.d_head..][..self.d_head];
                let d_weight: Vec<f64> = (0..n)
                    .map(|j| {
                        (0..self.d_head)
                            .map(|c| d_o[c] * qkv[self.at(2, j, h, c)])
                            .sum()
                    })
                    .collect();
                let mean: f64 = (0..n).map(|j| row[j] * d_weight[j]).sum();
                for j in 0..n {
                    let d_logit = row[j] * (d_weight[j] - mean);
                    d_slope -= d_logit * Self::distance(i, j);
                    for c in 0..self.d_head {
                        d_qkv[self.at(0, i, h, c)] += scale * d_logit * qkv[self.at(1, j, h, c)];
                        d_qkv[self.at(1, j, h, c)] += scale * d_logit * qkv[self.at(0, i, h, c)];
                        d_qkv[self.at(2, j, h, c)] += row[j] * d_o[c];
                    }
                }
            }
        }
        d_slope
    }
}
