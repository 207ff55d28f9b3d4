//! The built-in mixer: a multilayer perceptron with a linear output layer; without hidden layers,
//! the affine map.
//!
//! ```text
//! h_0 = s,   h_l = σ(h_{l−1}·W_l + b_l),   φ = [s?, h_L, 1],   ŷ = φ·W
//! ```
//!
//! θ holds W_1, b_1, …, W_L, b_L and then W; every matrix is column-major. s is part of φ when
//! there is a skip or no hidden layer.

use super::{LinearHead, Mixer};
use crate::config::Activation;
use faer::linalg::matmul::matmul;
use faer::{Accum, ColRef, MatMut, MatRef, Par};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::ops::Range;
use strt_signal::elementary::tanh_in_place;
use strt_signal::random::{Stream, rng};

const LEAK: f64 = 0.1;
/// Spread of the hidden biases at the start: units that bend at different places.
const BIAS_SPREAD: f64 = 0.5;

/// Values that one thread works on at a time.
const SHARE: usize = 1 << 14;

impl Activation {
    /// active = σ(pre), shared out among the threads of a run. Elsewhere no threads are started.
    fn values(self, pre: &[f64], active: &mut [f64]) {
        active.copy_from_slice(pre);
        let apply = |values: &mut [f64]| match self {
            Activation::Tanh => tanh_in_place(values, 0.0),
            Activation::Gelu => values
                .iter_mut()
                .for_each(|x| *x *= 0.5 * (1.0 + libm::erf(*x * std::f64::consts::FRAC_1_SQRT_2))),
            Activation::LeakyRelu => values.iter_mut().for_each(|x| *x = x.max(LEAK * *x)),
        };
        match rayon::current_thread_index() {
            Some(_) if active.len() > SHARE => active.par_chunks_mut(SHARE).for_each(apply),
            _ => apply(active),
        }
    }

    /// Derivative at x, where `y` is the value.
    fn derivative(self, x: f64, y: f64) -> f64 {
        match self {
            Activation::Tanh => 1.0 - y * y,
            Activation::Gelu => {
                let cdf = 0.5 * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2));
                cdf + x * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
            }
            Activation::LeakyRelu => {
                if x > 0.0 {
                    1.0
                } else {
                    LEAK
                }
            }
        }
    }
}

/// An affine map or a multilayer perceptron with an optional linear skip.
#[derive(Clone, Debug, PartialEq)]
pub struct MlpMixer {
    n_sources: usize,
    n_channels: usize,
    hidden: Vec<usize>,
    activation: Activation,
    skip: bool,
    parameters: Vec<f64>,
}

impl MlpMixer {
    /// ŷ = s·W + b, all zero.
    pub fn affine(n_sources: usize, n_channels: usize) -> MlpMixer {
        MlpMixer::new(n_sources, n_channels, &[], Activation::Tanh, true)
    }

    /// A perceptron with these hidden sizes, all parameters zero; see [`Mixer::initialize`].
    pub fn new(
        n_sources: usize,
        n_channels: usize,
        hidden: &[usize],
        activation: Activation,
        skip: bool,
    ) -> MlpMixer {
        let skip = skip || hidden.is_empty();
        let mut mixer = MlpMixer {
            n_sources,
            n_channels,
            hidden: hidden.to_vec(),
            activation,
            skip,
            parameters: Vec::new(),
        };
        mixer.parameters = vec![0.0; mixer.head().end];
        mixer
    }

    /// Whether there is no hidden layer.
    pub fn is_affine(&self) -> bool {
        self.hidden.is_empty()
    }

    /// Element (feature, channel) of W. Feature k < K is source k when there is a skip; the last
    /// one is the offset.
    pub fn head_weight(&self, feature: usize, channel: usize) -> f64 {
        self.parameters[self.head().start + channel * self.n_features() + feature]
    }

    fn skip_width(&self) -> usize {
        if self.skip { self.n_sources } else { 0 }
    }

    /// (inputs, outputs, place of W_l, place of b_l) of every hidden layer.
    fn layers(&self) -> impl Iterator<Item = (usize, usize, Range<usize>, Range<usize>)> {
        let mut start = 0;
        let mut inputs = self.n_sources;
        self.hidden.iter().map(move |&outputs| {
            let weights = start..start + inputs * outputs;
            let biases = weights.end..weights.end + outputs;
            start = biases.end;
            let layer = (inputs, outputs, weights, biases);
            inputs = outputs;
            layer
        })
    }

    /// Scratch holds, for each hidden layer, pre-activations (rows×h), activations (rows×h) and
    /// their gradient.
    fn scratch_len(&self, rows: usize) -> usize {
        3 * rows * self.hidden.iter().sum::<usize>()
    }
}

impl LinearHead for MlpMixer {
    fn n_features(&self) -> usize {
        self.skip_width() + self.hidden.last().copied().unwrap_or(0) + 1
    }

    fn head(&self) -> Range<usize> {
        let start = self
            .layers()
            .last()
            .map_or(0, |(_, _, _, biases)| biases.end);
        start..start + self.n_features() * self.n_channels
    }

    fn features(
        &self,
        sources: MatRef<'_, f64>,
        mut features: MatMut<'_, f64>,
        scratch: &mut Vec<f64>,
    ) {
        let (rows, skip) = (sources.nrows(), self.skip_width());
        features
            .as_mut()
            .subcols_mut(0, skip)
            .copy_from(sources.subcols(0, skip));
        scratch.resize(self.scratch_len(rows), 0.0);
        let mut rest = &mut scratch[..];
        let mut input = sources;
        for (inputs, outputs, weights, biases) in self.layers() {
            let (layer, tail) = rest.split_at_mut(3 * rows * outputs);
            rest = tail;
            let (pre, layer) = layer.split_at_mut(rows * outputs);
            let active = &mut layer[..rows * outputs];
            let w = MatRef::from_column_major_slice(&self.parameters[weights], inputs, outputs);
            for (column, &bias) in pre.chunks_exact_mut(rows).zip(&self.parameters[biases]) {
                column.fill(bias);
            }
            matmul(
                MatMut::from_column_major_slice_mut(pre, rows, outputs),
                Accum::Add,
                input,
                w,
                1.0,
                Par::Seq,
            );
            self.activation.values(pre, active);
            input = MatRef::from_column_major_slice(active, rows, outputs);
        }
        if let Some(&width) = self.hidden.last() {
            features.as_mut().subcols_mut(skip, width).copy_from(input);
        }
        features.col_mut(self.n_features() - 1).fill(1.0);
    }

    fn features_backward(
        &self,
        sources: MatRef<'_, f64>,
        d_features: MatRef<'_, f64>,
        mut d_sources: MatMut<'_, f64>,
        d_parameters: &mut [f64],
        scratch: &mut Vec<f64>,
    ) {
        let (rows, skip) = (sources.nrows(), self.skip_width());
        if self.skip {
            d_sources.copy_from(d_features.subcols(0, skip));
        } else {
            d_sources.fill(0.0);
        }
        // From the last hidden layer to the first; `offset` is where its block of scratch ends.
        let mut offset = self.scratch_len(rows);
        let n_layers = self.hidden.len();
        for l in (0..n_layers).rev() {
            let (inputs, outputs, weights, biases) = self.layers().nth(l).expect("l < L");
            let start = offset - 3 * rows * outputs;
            let (before, block) = scratch.split_at_mut(start);
            let (pre, block) = block.split_at_mut(rows * outputs);
            let (active, block) = block.split_at_mut(rows * outputs);
            let d_hidden = &mut block[..rows * outputs];
            if l + 1 == n_layers {
                MatMut::from_column_major_slice_mut(d_hidden, rows, outputs)
                    .copy_from(d_features.subcols(skip, outputs));
            }
            for ((d, &x), &y) in d_hidden.iter_mut().zip(&*pre).zip(&*active) {
                *d *= self.activation.derivative(x, y);
            }
            for (slot, column) in d_parameters[biases]
                .iter_mut()
                .zip(d_hidden.chunks_exact(rows))
            {
                *slot += column.iter().sum::<f64>();
            }
            let d_hidden = MatRef::from_column_major_slice(&*d_hidden, rows, outputs);
            let w =
                MatRef::from_column_major_slice(&self.parameters[weights.clone()], inputs, outputs);
            let d_w =
                MatMut::from_column_major_slice_mut(&mut d_parameters[weights], inputs, outputs);
            if l == 0 {
                matmul(
                    d_w,
                    Accum::Add,
                    sources.transpose(),
                    d_hidden,
                    1.0,
                    Par::Seq,
                );
                matmul(
                    d_sources.as_mut(),
                    Accum::Add,
                    d_hidden,
                    w.transpose(),
                    1.0,
                    Par::Seq,
                );
            } else {
                let previous = &mut before[start - 2 * rows * inputs..];
                let (active, d_active) = previous.split_at_mut(rows * inputs);
                let active = MatRef::from_column_major_slice(&*active, rows, inputs);
                matmul(d_w, Accum::Add, active.transpose(), d_hidden, 1.0, Par::Seq);
                let d_active = MatMut::from_column_major_slice_mut(d_active, rows, inputs);
                matmul(
                    d_active,
                    Accum::Replace,
                    d_hidden,
                    w.transpose(),
                    1.0,
                    Par::Seq,
                );
            }
            offset = start;
        }
    }
}

impl Mixer for MlpMixer {
    fn n_sources(&self) -> usize {
        self.n_sources
    }

    fn n_channels(&self) -> usize {
        self.n_channels
    }

    fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut [f64] {
        &mut self.parameters
    }

    fn initialize(&mut self, seed: u64) {
        let mut rng = rng(seed, Stream::Mixer);
        let mut normal = |scale: f64| {
            let x: f64 = StandardNormal.sample(&mut rng);
            scale * x
        };
        let mut values = vec![0.0; self.parameters.len()];
        for (l, (inputs, _, weights, biases)) in self.layers().enumerate() {
            // The first layer sees K unit-variance sources and must reach its bends; later ones
            // keep the variance.
            let scale = if l == 0 {
                1.0
            } else {
                1.0 / (inputs as f64).sqrt()
            };
            values[weights].fill_with(|| normal(scale));
            values[biases].fill_with(|| normal(BIAS_SPREAD));
        }
        let scale = 1.0 / (self.n_features() as f64).sqrt();
        values[self.head()].fill_with(|| normal(scale));
        self.parameters = values;
    }

    fn forward(
        &self,
        sources: MatRef<'_, f64>,
        observations: MatMut<'_, f64>,
        scratch: &mut Vec<f64>,
    ) {
        let (rows, n_features) = (sources.nrows(), self.n_features());
        let mut features = faer::Mat::zeros(rows, n_features);
        self.features(sources, features.as_mut(), scratch);
        let w = MatRef::from_column_major_slice(
            &self.parameters[self.head()],
            n_features,
            self.n_channels,
        );
        matmul(
            observations,
            Accum::Replace,
            features.as_ref(),
            w,
            1.0,
            Par::Seq,
        );
    }

    fn backward(
        &self,
        sources: MatRef<'_, f64>,
        d_observations: MatRef<'_, f64>,
        d_sources: MatMut<'_, f64>,
        d_parameters: &mut [f64],
        scratch: &mut Vec<f64>,
    ) {
        let (rows, n_features) = (sources.nrows(), self.n_features());
        let mut features = faer::Mat::zeros(rows, n_features);
        self.features(sources, features.as_mut(), scratch);
        let w = MatRef::from_column_major_slice(
            &self.parameters[self.head()],
            n_features,
            self.n_channels,
        );
        let d_w = MatMut::from_column_major_slice_mut(
            &mut d_parameters[self.head()],
            n_features,
            self.n_channels,
        );
        matmul(
            d_w,
            Accum::Add,
            features.transpose(),
            d_observations,
            1.0,
            Par::Seq,
        );
        let d_features = d_observations * w.transpose();
        self.features_backward(
            sources,
            d_features.as_ref(),
            d_sources,
            d_parameters,
            scratch,
        );
    }

    fn clone_box(&self) -> Box<dyn Mixer> {
        Box::new(self.clone())
    }

    fn linear_head(&self) -> Option<&dyn LinearHead> {
        Some(self)
    }

    fn permute_sources(&self, order: &[usize], values: &mut [f64]) -> bool {
        let mut reorder = |first: usize, stride: usize, columns: usize| {
            for c in 0..columns {
                let column = &mut values[first + c * stride..][..order.len()];
                let old = column.to_vec();
                order
                    .iter()
                    .zip(column)
                    .for_each(|(&k, slot)| *slot = old[k]);
            }
        };
        if let Some((inputs, outputs, weights, _)) = self.layers().next() {
            reorder(weights.start, inputs, outputs);
        }
        if self.skip {
            reorder(self.head().start, self.n_features(), self.n_channels);
        }
        true
    }

    fn turn_sources(&mut self, b: MatRef<'_, f64>) -> bool {
        let k = self.n_sources;
        let first = self.layers().next();
        let hidden = first.map(|(_, outputs, weights, _)| (weights.start, k, outputs));
        let skip = (self.head().start, self.n_features(), self.n_channels);
        let skip = self.skip.then_some(skip);
        for (first, stride, columns) in hidden.into_iter().chain(skip) {
            for c in 0..columns {
                let column = &mut self.parameters[first + c * stride..][..k];
                let turned = b * ColRef::from_slice(column);
                column
                    .iter_mut()
                    .zip(turned.iter())
                    .for_each(|(to, from)| *to = *from);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn a_turned_mixer_makes_of_s_what_the_other_makes_of_s_times_b() {
        let b = Mat::from_fn(3, 3, |i, j| (1.0 + 2.0 * i as f64 - j as f64).sin());
        let s = Mat::from_fn(7, 3, |t, k| (0.3 * t as f64 + 1.7 * k as f64).cos());
        for (hidden, skip) in [(vec![], true), (vec![5], false), (vec![5, 4], true)] {
            let mut mixer = MlpMixer::new(3, 4, &hidden, Activation::Tanh, skip);
            mixer.initialize(1);
            let made = |mixer: &MlpMixer, s: &Mat<f64>| {
                let mut y = Mat::zeros(7, 4);
                mixer.forward(s.as_ref(), y.as_mut(), &mut Vec::new());
                y
            };
            let expected = made(&mixer, &(&s * &b));
            assert!(mixer.turn_sources(b.as_ref()));
            let error = (made(&mixer, &s) - expected).norm_max();
            assert!(error < 1e-12, "{hidden:?}, skip {skip}: {error}");
        }
    }
}
