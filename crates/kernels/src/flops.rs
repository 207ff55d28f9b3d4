//! How much arithmetic one step needs: [`Flops`], counted by rules that do not depend on how an
//! engine computes.
//!
//! One addition, subtraction, multiplication, division, square root, maximum or rounding of one
//! number is one operation; a fused product is two. Only what the result needs is counted:
//!
//! * the last layer's queries, attention, feed-forward block and the prediction at masked tokens
//!   only; the patch embedding at visible tokens only;
//! * attention for the pairs of a query and a key inside the band that the engine chose: no unused
//!   vector lanes, no rounding of the band to whole groups of keys, no hidden future in causal
//!   attention;
//! * nothing twice. Logits that the backward pass computes again, sums of partial gradients,
//!   transposes, copies and the choice of the band are the engine's own affair.
//!
//! Per number of the kind named:
//!
//! | operation | forward | backward |
//! |---|---|---|
//! | linear map I→O, per row | 2IO + O | 4IO + O |
//! | attention, per pair and head | 4d_h + 5 + [`EXPONENTIAL`] | 8d_h + 4 |
//! | attention, per query and head | d_h + 1 | 3d_h |
//! | layer norm, per element | 7 | 12 |
//! | GELU with its slope, per element | 23 + [`EXPONENTIAL`] | 1 |
//! | residual or positional encoding, per element | 1 | 1 |
//! | energy, per element | 4 | |
//! | Adam, per parameter | | 15 |
//!
//! A pair's forward 5 are i−j, its absolute value, the product with the slope (2) and the softmax
//! sum; its backward 4 the subtraction of the mean, the product with the weight and the slope's
//! gradient (2).

use crate::{Layout, NetworkShape, ScaleShape};

/// Operations of one exponential: fraction, integer part, and a polynomial of degree five by
/// Horner's rule.
pub const EXPONENTIAL: u64 = 12;

/// Operations of one step (one evaluation and one update), by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flops {
    /// Linear maps: projections, feed-forward blocks, embedding and prediction, with all their
    /// gradients.
    pub matrices: u64,
    /// Attention between projections.
    pub attention: u64,
    /// Norms, GELU, residuals, positional encodings, energies.
    pub elementary: u64,
    /// The update.
    pub adam: u64,
}

/// What one job's arithmetic depends on besides the shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobSize {
    /// Tokens N.
    pub tokens: u64,
    /// Masked tokens.
    pub masked: u64,
    /// Pairs of a query and a key inside the band, summed over heads and layers.
    pub pairs: u64,
}

impl Flops {
    /// All kinds together.
    pub fn total(&self) -> u64 {
        self.matrices + self.attention + self.elementary + self.adam
    }

    /// Adds forward and backward pass of one job.
    pub fn add_job(&mut self, network: &NetworkShape, scale: &ScaleShape, size: JobSize) {
        let [d, f, p] = [network.d_model, network.d_ffn(), scale.patch].map(|x| x as u64);
        let (heads, d_head) = (network.n_heads as u64, network.d_head() as u64);
        let JobSize {
            tokens,
            masked,
            pairs,
        } = size;
        let visible = tokens - masked;
        let norm = |rows: u64| 19 * rows * d;
        self.matrices += linear(visible, p, d) + linear(masked, d, p);
        // Positional encodings, mask token, final norm, energy.
        self.elementary += tokens * d + masked * d + norm(masked) + 4 * masked * p;
        for l in 0..network.n_layers {
            let asking = if l + 1 == network.n_layers {
                masked
            } else {
                tokens
            };
            self.matrices += linear(tokens, d, 2 * d) + 2 * linear(asking, d, d);
            self.matrices += linear(asking, d, f) + linear(asking, f, d);
            self.attention += asking * heads * (4 * d_head + 1);
            self.elementary += norm(tokens) + norm(asking) + 4 * asking * d;
            self.elementary += asking * f * (24 + EXPONENTIAL);
        }
        self.attention += pairs * (12 * d_head + 9 + EXPONENTIAL);
    }

    /// Adds one update of a branch.
    pub fn add_update(&mut self, layout: &Layout) {
        self.adam += 15 * layout.len() as u64;
    }
}

/// A linear map of `rows` rows, with the gradients of its input, its matrix and its bias.
fn linear(rows: u64, inputs: u64, outputs: u64) -> u64 {
    rows * (6 * inputs * outputs + 2 * outputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_network_by_hand() {
        let network = NetworkShape {
            d_model: 2,
            n_heads: 1,
            n_layers: 1,
            ffn_ratio: 1,
            causal: false,
            mask_position: true,
        };
        let scale = ScaleShape {
            patch: 3,
            stride: 3,
            n_patches: 2,
        };
        let mut flops = Flops::default();
        let size = JobSize {
            tokens: 2,
            masked: 1,
            pairs: 2,
        };
        flops.add_job(&network, &scale, size);
        // Embedding 3→2 and prediction 2→3 of one token each; keys and values 2→4 of two tokens;
        // queries, output and two feed-forward maps 2→2 of one.
        let expected = (6 * 6 + 4) + (6 * 6 + 6) + 2 * (6 * 8 + 8) + 4 * (6 * 4 + 4);
        assert_eq!(flops.matrices, expected);
        assert_eq!(flops.attention, 2 * (12 * 2 + 9 + 12) + (4 * 2 + 1));
        let norms = 19 * (2 + 4 + 2);
        assert_eq!(flops.elementary, (4 + 2 + 12) + norms + 4 * 2 + 2 * 36);
        assert_eq!(flops.adam, 0);
    }
}
