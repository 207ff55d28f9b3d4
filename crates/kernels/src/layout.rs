//! Where each named parameter of a branch network lies in its flat parameter vector.
//!
//! One layout serves the engines, initialisation, checkpoints and the comparison with PyTorch, so a
//! tensor has one name everywhere. Weight matrices are stored (inputs × outputs), row-major: y =
//! x·W + b.

use crate::shape::NetworkShape;
use std::ops::Range;

/// How a tensor is initialised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// Independent normal values with this standard deviation.
    Normal(f64),
    /// All zero.
    Zero,
    /// All one.
    One,
}

/// One named tensor of a branch.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorSpec {
    /// Its name, such as `layers.0.attention.w_qkv`.
    pub name: String,
    /// Its shape, one or two dimensions.
    pub shape: Vec<usize>,
    /// Its place in the flat parameter vector.
    pub range: Range<usize>,
    /// How it starts.
    pub init: Init,
}

/// Places of the tensors of one encoder layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerLayout {
    /// Gain of the norm before attention (d).
    pub norm1_gain: Range<usize>,
    /// Bias of the norm before attention (d).
    pub norm1_bias: Range<usize>,
    /// Queries, keys and values side by side (d × 3d).
    pub w_qkv: Range<usize>,
    /// Their biases (3d).
    pub b_qkv: Range<usize>,
    /// Output projection of attention (d × d).
    pub w_o: Range<usize>,
    /// Its bias (d).
    pub b_o: Range<usize>,
    /// Gain of the norm before the feed-forward block (d).
    pub norm2_gain: Range<usize>,
    /// Bias of the norm before the feed-forward block (d).
    pub norm2_bias: Range<usize>,
    /// First feed-forward matrix (d × f).
    pub w_1: Range<usize>,
    /// Its bias (f).
    pub b_1: Range<usize>,
    /// Second feed-forward matrix (f × d).
    pub w_2: Range<usize>,
    /// Its bias (d).
    pub b_2: Range<usize>,
}

/// Places of all tensors of one branch.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Patch embedding W^in (P × d).
    pub w_in: Range<usize>,
    /// Its bias (d).
    pub b_in: Range<usize>,
    /// Learned mask token (d).
    pub mask_token: Range<usize>,
    /// Encoder layers, first to last.
    pub layers: Vec<LayerLayout>,
    /// Gain of the final norm (d).
    pub norm_gain: Range<usize>,
    /// Bias of the final norm (d).
    pub norm_bias: Range<usize>,
    /// Patch prediction W^out (d × P).
    pub w_out: Range<usize>,
    /// Its bias (P).
    pub b_out: Range<usize>,
    tensors: Vec<TensorSpec>,
}

impl Layout {
    /// The layout of a branch that reads patches of `patch` samples.
    pub fn new(patch: usize, network: &NetworkShape) -> Layout {
        let (d, f) = (network.d_model, network.d_ffn());
        let mut tensors: Vec<TensorSpec> = Vec::new();
        let mut add = |name: String, shape: &[usize], init: Init| -> Range<usize> {
            let start = tensors.last().map_or(0, |t: &TensorSpec| t.range.end);
            let range = start..start + shape.iter().product::<usize>();
            tensors.push(TensorSpec {
                name,
                shape: shape.to_vec(),
                range: range.clone(),
                init,
            });
            range
        };
        // Fan-in scaling keeps activations at unit variance whatever the patch size.
        let fan_in = |inputs: usize| Init::Normal(1.0 / (inputs as f64).sqrt());
        let w_in = add("embed.w_in".into(), &[patch, d], fan_in(patch));
        let b_in = add("embed.b_in".into(), &[d], Init::Zero);
        let mask_token = add("embed.mask_token".into(), &[d], Init::Normal(0.02));
        let layers = (0..network.n_layers)
            .map(|l| {
                let mut tensor = |name: &str, shape: &[usize], init| {
                    add(format!("layers.{l}.{name}"), shape, init)
                };
                LayerLayout {
                    norm1_gain: tensor("norm1.gain", &[d], Init::One),
                    norm1_bias: tensor("norm1.bias", &[d], Init::Zero),
                    w_qkv: tensor("attention.w_qkv", &[d, 3 * d], fan_in(d)),
                    b_qkv: tensor("attention.b_qkv", &[3 * d], Init::Zero),
                    w_o: tensor("attention.w_o", &[d, d], fan_in(d)),
                    b_o: tensor("attention.b_o", &[d], Init::Zero),
                    norm2_gain: tensor("norm2.gain", &[d], Init::One),
                    norm2_bias: tensor("norm2.bias", &[d], Init::Zero),
                    w_1: tensor("ffn.w_1", &[d, f], fan_in(d)),
                    b_1: tensor("ffn.b_1", &[f], Init::Zero),
                    w_2: tensor("ffn.w_2", &[f, d], fan_in(f)),
                    b_2: tensor("ffn.b_2", &[d], Init::Zero),
                }
            })
            .collect();
        let norm_gain = add("norm.gain".into(), &[d], Init::One);
        let norm_bias = add("norm.bias".into(), &[d], Init::Zero);
        let w_out = add("head.w_out".into(), &[d, patch], fan_in(d));
        let b_out = add("head.b_out".into(), &[patch], Init::Zero);
        Layout {
            w_in,
            b_in,
            mask_token,
            layers,
            norm_gain,
            norm_bias,
            w_out,
            b_out,
            tensors,
        }
    }

    /// All tensors, in the order of the flat vector.
    pub fn tensors(&self) -> &[TensorSpec] {
        &self.tensors
    }

    /// Length of the flat parameter vector.
    pub fn len(&self) -> usize {
        self.b_out.end
    }

    /// A branch always has parameters.
    pub fn is_empty(&self) -> bool {
        false
    }
}
