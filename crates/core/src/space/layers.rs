//! Bends one after the other: the map of neural coordinates.
//!
//! ```text
//! X₁ = Zw·A + bend₁(Zw)        X_l = X_{l−1} + bend_l(X_{l−1})        S = X_L
//! ```
//!
//! One layer of tanh units undoes a bent channel; what several layers have mixed takes a second
//! one. The later layers need no matrix of their own: A and the first V are before them, the next V
//! behind. The volume is the product of those of the layers. In: components, parameters. Out: the
//! sources, the volume, gradients. How many bends there are is up to the caller, from call to call.
//! The layers themselves are in [`super::bend`].

use super::bend::{self, Bend};
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use strt_signal::rows::RowsView;

/// S += all bends, for any number of rows of Zw and S = Zw·A.
pub(crate) fn add(bends: &[Mat<f64>], z: MatRef<'_, f64>, mut s: MatMut<'_, f64>) {
    for (layer, bend) in bends.iter().enumerate() {
        let mut hidden = Mat::zeros(z.nrows(), bend.nrows());
        if layer == 0 {
            bend::add(bend, z, hidden.as_mut(), s.as_mut());
        } else {
            let input = s.to_owned();
            bend::add(bend, input.as_ref(), hidden.as_mut(), s.as_mut());
        }
    }
}

/// S for any number of rows of Zw.
pub(crate) fn map_rows(
    a: &Mat<f64>,
    bends: &[Mat<f64>],
    z: MatRef<'_, f64>,
    mut s: MatMut<'_, f64>,
) {
    matmul(s.as_mut(), Accum::Replace, z, a, 1.0, Par::Seq);
    add(bends, z, s);
}

/// Source k takes what source `order[k]` has, in a bend or in its moments.
pub(crate) fn permute(bend: &mut Mat<f64>, layer: usize, order: &[usize]) {
    bend::permute(bend, order);
    if layer > 0 {
        bend::permute_inputs(bend, order);
    }
}

/// The bends for S·R.
pub(crate) fn turned(bends: &[Mat<f64>], r: &Mat<f64>) -> Vec<Mat<f64>> {
    let inverse = r.partial_piv_lu().inverse();
    let turn = |(layer, bend): (usize, &Mat<f64>)| {
        let turned = bend::turned(bend, r);
        match layer {
            0 => turned,
            _ => bend::inputs_turned(&turned, inverse.as_ref()),
        }
    };
    bends.iter().enumerate().map(turn).collect()
}

/// All bends over n rows, forward and backward, with their workspace.
pub(crate) struct Layers {
    first: Bend,
    later: Vec<Later>,
    d: Mat<f64>,        // ∂J/∂X_l (n×K), where there are several layers
    identity: Mat<f64>, // the linear part of every later layer
    d_identity: Mat<f64>,
}

struct Later {
    bend: Bend,
    input: Mat<f64>, // X_{l−1} (n×K)
}

impl Layers {
    pub fn new(n_rows: usize, n_sources: usize, hidden: usize, n_layers: usize) -> Layers {
        let later = |_| Later {
            bend: Bend::new(n_rows, n_sources, hidden),
            input: Mat::zeros(n_rows, n_sources),
        };
        Layers {
            first: Bend::new(n_rows, n_sources, hidden),
            later: (1..n_layers).map(later).collect(),
            d: Mat::zeros(if n_layers > 1 { n_rows } else { 0 }, n_sources),
            identity: Mat::identity(n_sources, n_sources),
            d_identity: Mat::zeros(n_sources, n_sources),
        }
    }

    /// S += all bends, of S = Zw·A.
    pub fn forward(&mut self, bends: &[Mat<f64>], z: MatRef<'_, f64>, mut s: MatMut<'_, f64>) {
        self.first.forward(&bends[0], z, s.as_mut());
        for (layer, bend) in self.later.iter_mut().zip(&bends[1..]) {
            layer.input.copy_from(s.as_ref());
            layer.bend.forward(bend, layer.input.as_ref(), s.as_mut());
        }
    }

    /// Minus the log-volume of the whole map, and the gradients of [`Bend::volume`].
    pub fn volume(
        &mut self,
        (a, bends): (&Mat<f64>, &[Mat<f64>]),
        divisors: impl Iterator<Item = f64>,
        rows: RowsView<'_>,
        phase: f64,
        weight: f64,
        (d_a, d_bends): (&mut Mat<f64>, &mut [Mat<f64>]),
    ) -> (f64, f64) {
        let d = (d_a, &mut d_bends[0]);
        let (mut value, d_log_divisor) =
            self.first
                .volume((a, &bends[0]), divisors, rows, phase, weight, d);
        let parameters = bends[1..].iter().zip(&mut d_bends[1..]);
        for (layer, (bend, d_bend)) in self.later.iter_mut().zip(parameters) {
            let map = (&self.identity, bend);
            let d = (&mut self.d_identity, d_bend);
            let none = std::iter::empty();
            value += layer.bend.volume(map, none, rows, phase, weight, d).0;
        }
        (value, d_log_divisor)
    }

    /// Adds the gradients in the bends, through `d_s` = ∂J/∂S and of the volume; gives ∂J/∂X₁.
    pub fn backward<'a>(
        &'a mut self,
        bends: &[Mat<f64>],
        z: MatRef<'_, f64>,
        d_s: MatRef<'a, f64>,
        d_bends: &mut [Mat<f64>],
    ) -> MatRef<'a, f64> {
        if bends.len() == 1 {
            self.first.backward(&bends[0], z, d_s, &mut d_bends[0]);
            return d_s;
        }
        let d = &mut self.d;
        d.copy_from(d_s);
        for l in (1..bends.len()).rev() {
            let (layer, bend) = (&mut self.later[l - 1], &bends[l]);
            let d_bend = &mut d_bends[l];
            let input = layer.input.as_ref();
            layer.bend.backward(bend, input, d.as_ref(), d_bend);
            layer.bend.add_input_gradient(bend, d.as_mut());
        }
        let d = d.as_ref();
        self.first.backward(&bends[0], z, d, &mut d_bends[0]);
        d
    }
}
