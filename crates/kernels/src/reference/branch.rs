//! One branch network: window → patches → tokens → L pre-norm encoder layers → predicted patches →
//! energy.
//!
//! Written over all N patches with B^mask as a matrix, exactly as the paper prints it. The CPU
//! engine computes the same thing over the valid patches only.

use super::attention::Attention;
use super::{gelu, layernorm, linear, masked_loss, patch};
use crate::layout::LayerLayout;
use crate::{BranchSet, Job, Judge, Layout, NetworkShape, Outcome, ScaleShape};

/// A branch of fixed size: everything but parameters and data.
pub struct Branch<'a> {
    /// Network sizes.
    pub network: &'a NetworkShape,
    /// Patch grid.
    pub scale: &'a ScaleShape,
    /// Where the parameters lie.
    pub layout: &'a Layout,
    /// Positional encodings, row-major, at least N + shift rows.
    pub positions: &'a [f64],
    /// The set that it belongs to, for the blocks of its errors.
    pub branches: &'a BranchSet,
}

/// What the backward pass of one layer needs.
struct LayerTape {
    input: Vec<f64>,   // N×d
    normed1: Vec<f64>, // N×d
    qkv: Vec<f64>,     // N×3d
    weights: Vec<f64>, // H×N×N
    mixed: Vec<f64>,   // N×d
    middle: Vec<f64>,  // N×d, after the attention residual
    normed2: Vec<f64>, // N×d
    hidden: Vec<f64>,  // N×f, before GELU
    active: Vec<f64>,  // N×f, after GELU
}

impl Branch<'_> {
    fn attention<'b>(&self, slope: f64, bias: &'b [f64]) -> Attention<'b> {
        Attention {
            n: self.scale.n_patches,
            n_heads: self.network.n_heads,
            d_head: self.network.d_head(),
            slope,
            bias,
        }
    }

    /// B^mask (N×N): −∞ where patch j is invalid or, in causal attention, later than i.
    fn mask_bias(&self, tokens: &[u32]) -> Vec<f64> {
        let n = self.scale.n_patches;
        let mut bias = vec![f64::NEG_INFINITY; n * n];
        for i in 0..n {
            for &j in tokens {
                if !self.network.causal || j as usize <= i {
                    bias[i * n + j as usize] = 0.0;
                }
            }
        }
        bias
    }

    /// Errors and gradients of one job, as [`Engine::evaluate`](crate::Engine::evaluate) says;
    /// ∂g/∂parameters is added into `d_parameters`.
    pub fn evaluate(
        &self,
        parameters: &[f64],
        job: &Job,
        slope: f64,
        judge: Judge<'_>,
        d_parameters: &mut [f64],
    ) -> Outcome {
        let (n, d) = (self.scale.n_patches, self.network.d_model);
        let layout = self.layout;
        let bias = self.mask_bias(&job.tokens);
        let attention = self.attention(slope, &bias);
        let masked: Vec<usize> = job
            .masked
            .iter()
            .map(|&i| job.tokens[i as usize] as usize)
            .collect();

        // Forward.
        let patches = patch::forward(&job.window, self.scale);
        let mut x = linear::forward(
            &patches,
            &parameters[layout.w_in.clone()],
            &parameters[layout.b_in.clone()],
        );
        for (value, position) in x.iter_mut().zip(&self.positions[job.shift * d..][..n * d]) {
            *value += position;
        }
        for &i in &masked {
            let row = &mut x[i * d..][..d];
            row.copy_from_slice(&parameters[layout.mask_token.clone()]);
            if self.network.mask_position {
                let position = &self.positions[(job.shift + i) * d..][..d];
                row.iter_mut().zip(position).for_each(|(x, p)| *x += p);
            }
        }
        let mut tapes = Vec::with_capacity(layout.layers.len());
        for layer in &layout.layers {
            let (tape, output) = layer_forward(parameters, layer, &attention, x);
            tapes.push(tape);
            x = output;
        }
        let normed = layernorm::forward(
            &x,
            &parameters[layout.norm_gain.clone()],
            &parameters[layout.norm_bias.clone()],
        );
        let predicted = linear::forward(
            &normed,
            &parameters[layout.w_out.clone()],
            &parameters[layout.b_out.clone()],
        );
        let block_of: Vec<usize> = masked
            .iter()
            .map(|&i| self.branches.block_of(i, self.scale))
            .collect();
        let mut errors =
            masked_loss::forward(&predicted, &patches, &masked, &block_of, self.scale.patch);
        judge(&mut errors);

        // Backward.
        let mut d_patches = vec![0.0; patches.len()];
        let mut d_predicted = vec![0.0; predicted.len()];
        masked_loss::backward(
            &predicted,
            &patches,
            &masked,
            &errors,
            self.scale.patch,
            &mut d_predicted,
            &mut d_patches,
        );
        let mut d_normed = vec![0.0; normed.len()];
        let [d_w, d_b] = two(d_parameters, &layout.w_out, &layout.b_out);
        linear::backward(
            &normed,
            &parameters[layout.w_out.clone()],
            &d_predicted,
            &mut d_normed,
            d_w,
            d_b,
        );
        let mut d_x = vec![0.0; x.len()];
        let [d_gain, d_bias] = two(d_parameters, &layout.norm_gain, &layout.norm_bias);
        layernorm::backward(
            &x,
            &parameters[layout.norm_gain.clone()],
            &d_normed,
            &mut d_x,
            d_gain,
            d_bias,
        );
        let mut d_slope = 0.0;
        for (layer, tape) in layout.layers.iter().zip(&tapes).rev() {
            d_slope += layer_backward(parameters, layer, &attention, tape, &mut d_x, d_parameters);
        }
        for &i in &masked {
            let token = &mut d_parameters[layout.mask_token.clone()];
            for (slot, d) in token.iter_mut().zip(&mut d_x[i * d..][..d]) {
                *slot += std::mem::take(d); // the embedded patch was replaced: nothing flows to it
            }
        }
        let [d_w, d_b] = two(d_parameters, &layout.w_in, &layout.b_in);
        linear::backward(
            &patches,
            &parameters[layout.w_in.clone()],
            &d_x,
            &mut d_patches,
            d_w,
            d_b,
        );
        let mut d_window = vec![0.0; job.window.len()];
        patch::backward(&d_patches, self.scale, &mut d_window);
        Outcome {
            errors,
            d_window,
            d_slope,
        }
    }
}

fn layer_forward(
    parameters: &[f64],
    layer: &LayerLayout,
    attention: &Attention,
    input: Vec<f64>,
) -> (LayerTape, Vec<f64>) {
    let get = |range: &std::ops::Range<usize>| &parameters[range.clone()];
    let add = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x + y).collect::<Vec<f64>>();
    let normed1 = layernorm::forward(&input, get(&layer.norm1_gain), get(&layer.norm1_bias));
    let qkv = linear::forward(&normed1, get(&layer.w_qkv), get(&layer.b_qkv));
    let (mixed, weights) = attention.forward(&qkv);
    let middle = add(
        &input,
        &linear::forward(&mixed, get(&layer.w_o), get(&layer.b_o)),
    );
    let normed2 = layernorm::forward(&middle, get(&layer.norm2_gain), get(&layer.norm2_bias));
    let hidden = linear::forward(&normed2, get(&layer.w_1), get(&layer.b_1));
    let active = gelu::forward(&hidden);
    let output = add(
        &middle,
        &linear::forward(&active, get(&layer.w_2), get(&layer.b_2)),
    );
    (
        LayerTape {
            input,
            normed1,
            qkv,
            weights,
            mixed,
            middle,
            normed2,
            hidden,
            active,
        },
        output,
    )
}

/// Turns `d_x` from the gradient of the layer's output into that of its input; returns ∂/∂α.
fn layer_backward(
    parameters: &[f64],
    layer: &LayerLayout,
    attention: &Attention,
    tape: &LayerTape,
    d_x: &mut [f64],
    d_parameters: &mut [f64],
) -> f64 {
    let get = |range: &std::ops::Range<usize>| &parameters[range.clone()];
    let mut d_active = vec![0.0; tape.active.len()];
    let [d_w, d_b] = two(d_parameters, &layer.w_2, &layer.b_2);
    linear::backward(&tape.active, get(&layer.w_2), d_x, &mut d_active, d_w, d_b);
    let mut d_hidden = vec![0.0; tape.hidden.len()];
    gelu::backward(&tape.hidden, &d_active, &mut d_hidden);
    let mut d_normed2 = vec![0.0; tape.normed2.len()];
    let [d_w, d_b] = two(d_parameters, &layer.w_1, &layer.b_1);
    linear::backward(
        &tape.normed2,
        get(&layer.w_1),
        &d_hidden,
        &mut d_normed2,
        d_w,
        d_b,
    );
    let [d_gain, d_bias] = two(d_parameters, &layer.norm2_gain, &layer.norm2_bias);
    layernorm::backward(
        &tape.middle,
        get(&layer.norm2_gain),
        &d_normed2,
        d_x,
        d_gain,
        d_bias,
    );

    let mut d_mixed = vec![0.0; tape.mixed.len()];
    let [d_w, d_b] = two(d_parameters, &layer.w_o, &layer.b_o);
    linear::backward(&tape.mixed, get(&layer.w_o), d_x, &mut d_mixed, d_w, d_b);
    let mut d_qkv = vec![0.0; tape.qkv.len()];
    let d_slope = attention.backward(&tape.qkv, &tape.weights, &d_mixed, &mut d_qkv);
    let mut d_normed1 = vec![0.0; tape.normed1.len()];
    let [d_w, d_b] = two(d_parameters, &layer.w_qkv, &layer.b_qkv);
    linear::backward(
        &tape.normed1,
        get(&layer.w_qkv),
        &d_qkv,
        &mut d_normed1,
        d_w,
        d_b,
    );
    let [d_gain, d_bias] = two(d_parameters, &layer.norm1_gain, &layer.norm1_bias);
    layernorm::backward(
        &tape.input,
        get(&layer.norm1_gain),
        &d_normed1,
        d_x,
        d_gain,
        d_bias,
    );
    d_slope
}

/// Two disjoint parts of the gradient vector at once.
fn two<'a>(
    values: &'a mut [f64],
    first: &std::ops::Range<usize>,
    second: &std::ops::Range<usize>,
) -> [&'a mut [f64]; 2] {
    values
        .get_disjoint_mut([first.clone(), second.clone()])
        .expect("tensors of a layout do not overlap")
}
