//! A bend of neural coordinates: what a layer adds to a linear map of its inputs, as a smooth map
//! of them.
//!
//! ```text
//! S = X·A + τ·V        τ = tanh(X·U + 1·bᵀ)        U (K×h), b (h), V (h×K)
//! ```
//!
//! V starts at 0, so the sources start linear. The parameters lie in one matrix [Uᵀ | b | V]
//! (h×(2K+1)): one group of the optimiser, one tensor of a file. X are the whitened components Zw,
//! or what the bend before puts out ([`super::layers`]).
//!
//! A source that is a function of the channels, and not free in every sample, has a volume: the
//! change of variables from components to sources that a likelihood asks for ([`Bend::volume`]).

use crate::linalg::lu::Lu;
use crate::linalg::permute::permute_columns;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use strt_signal::columns::{col, col_mut};
use strt_signal::elementary::tanh_in_place;
use strt_signal::rows::RowsView;

/// Spread of U at the start: most units are bent by components of variance 1, few are saturated.
const WEIGHT_SPREAD: f64 = 0.7;
/// Spread of b at the start: units that bend at different places.
const BIAS_SPREAD: f64 = 0.5;
/// Parts that the rows are shared out in.
const PARTS: usize = 4;
/// Rows whose Jacobians are held at once.
const ROWS: usize = 256;
/// ln ε for one source; ε keeps ln(d² + ε) finite where the map folds, and d is a product over all
/// sources.
const LOG_EPSILON: f64 = -2.0 * std::f64::consts::LN_10;
/// A step looks at so many rows that K³ times their number is about this, …
const MOST_WORK: usize = 1 << 21;
/// … but at least at this many.
const LEAST_ROWS: usize = 64;

/// Parameters of this shape of a bend that does nothing yet.
pub(crate) fn start(shape: (usize, usize), rng: &mut dyn Rng) -> Mat<f64> {
    let mut bend = Mat::zeros(shape.0, shape.1);
    let n_sources = shape.1 / 2;
    for c in 0..=n_sources {
        let spread = if c < n_sources {
            WEIGHT_SPREAD
        } else {
            BIAS_SPREAD
        };
        for value in col_mut(bend.as_mut(), c) {
            let x: f64 = StandardNormal.sample(rng);
            *value = spread * x;
        }
    }
    bend
}

/// Source k takes the bend (or its moments) that source `order[k]` has.
pub(crate) fn permute(bend: &mut Mat<f64>, order: &[usize]) {
    let k = order.len();
    let whole: Vec<usize> = (0..=k).chain(order.iter().map(|j| k + 1 + j)).collect();
    permute_columns(bend, &whole);
}

/// Input k is what input `order[k]` was.
pub(crate) fn permute_inputs(bend: &mut Mat<f64>, order: &[usize]) {
    let k = order.len();
    let whole: Vec<usize> = order.iter().copied().chain(k..bend.ncols()).collect();
    permute_columns(bend, &whole);
}

/// The bend with R⁻¹·U in place of U, for inputs X·R in place of X.
pub(crate) fn inputs_turned(bend: &Mat<f64>, inverse: MatRef<'_, f64>) -> Mat<f64> {
    let mut turned = bend.clone();
    let u = parts(bend).0 * inverse.transpose();
    turned.subcols_mut(0, inverse.ncols()).copy_from(u);
    turned
}

/// The bend with V·R in place of V.
pub(crate) fn turned(bend: &Mat<f64>, r: &Mat<f64>) -> Mat<f64> {
    let mut turned = bend.clone();
    let v = parts(bend).2 * r;
    turned.subcols_mut(r.nrows() + 1, r.ncols()).copy_from(v);
    turned
}

/// Uᵀ (h×K), b (h) and V (h×K) of the parameters.
fn parts(bend: &Mat<f64>) -> (MatRef<'_, f64>, &[f64], MatRef<'_, f64>) {
    let k = bend.ncols() / 2;
    let whole = bend.as_ref();
    (whole.subcols(0, k), col(whole, k), whole.subcols(k + 1, k))
}

/// τ = tanh(X·U + 1·bᵀ) (n×h) for any number of rows of X.
fn activate(bend: &Mat<f64>, z: MatRef<'_, f64>, mut hidden: MatMut<'_, f64>) {
    let (u, b, _) = parts(bend);
    matmul(
        hidden.as_mut(),
        Accum::Replace,
        z,
        u.transpose(),
        1.0,
        Par::Seq,
    );
    for (j, &bias) in b.iter().enumerate() {
        tanh_in_place(col_mut(hidden.as_mut(), j), bias);
    }
}

/// S += τ·V for any number of rows of X; `hidden` (n×h) is left holding τ.
pub(super) fn add(
    bend: &Mat<f64>,
    z: MatRef<'_, f64>,
    mut hidden: MatMut<'_, f64>,
    s: MatMut<'_, f64>,
) {
    activate(bend, z, hidden.as_mut());
    matmul(s, Accum::Add, hidden.as_ref(), parts(bend).2, 1.0, Par::Seq);
}

/// The bend over n rows, forward and backward, with its workspace.
pub(crate) struct Bend {
    parts: Vec<Part>,
    stride: usize,      // the volume is taken over every stride-th row
    products: Mat<f64>, // U_ij·V_jk (h×K²), entry (i, k) in column i·K + k
}

/// Rows first, first + stride, …
#[derive(Clone, Copy)]
struct Every {
    first: usize,
    stride: usize,
}

impl Every {
    /// The first of them from row `start` on, counted from there.
    fn after(self, start: usize) -> usize {
        match start.checked_sub(self.first) {
            None => self.first - start,
            Some(past) => past.next_multiple_of(self.stride) - past,
        }
    }
}

/// Some consecutive rows, which one thread works on. How rows are shared out does not depend on the
/// threads.
struct Part {
    first: usize,
    hidden: Mat<f64>,   // τ (n×h)
    d_hidden: Mat<f64>, // what the volume asks of τ, then ∂J/∂(X·U + b) (n×h)
    slopes: Mat<f64>,   // 1 − τ² of some rows (ROWS×h)
    d_slopes: Mat<f64>, // (ROWS×h)
    /// ∂s/∂x of some rows, then the gradient in it (ROWS×K²), entry (i, k) in column i·K + k.
    jacobians: Mat<f64>,
    d_a: Mat<f64>,        // K×K
    d_products: Mat<f64>, // h×K²
    d_bend: Mat<f64>,     // h×(2K+1)
    lu: Lu,
    value: f64,
    moved: f64,
}

impl Bend {
    pub fn new(n_rows: usize, n_sources: usize, hidden: usize) -> Bend {
        let len = n_rows.div_ceil(PARTS);
        let starts = (0..n_rows).step_by(len);
        let work = n_sources.saturating_pow(3).saturating_mul(n_rows);
        Bend {
            stride: (work / MOST_WORK).clamp(1, (n_rows / LEAST_ROWS).max(1)),
            parts: starts
                .map(|first| Part::new(first, len.min(n_rows - first), n_sources, hidden))
                .collect(),
            products: Mat::zeros(hidden, n_sources * n_sources),
        }
    }

    /// S += τ·V.
    pub fn forward(&mut self, bend: &Mat<f64>, z: MatRef<'_, f64>, mut s: MatMut<'_, f64>) {
        self.parts.par_iter_mut().for_each(|part| {
            part.d_hidden.fill(0.0);
            activate(
                bend,
                z.subrows(part.first, part.len()),
                part.hidden.as_mut(),
            );
        });
        for part in &self.parts {
            let s = s.as_mut().subrows_mut(part.first, part.len());
            matmul(s, Accum::Add, &part.hidden, parts(bend).2, 1.0, Par::Seq);
        }
    }

    /// The separation of sources that are a map of the components: minus the log-volume that the
    /// map gives to them,
    ///
    /// ```text
    /// L = −1/T Σ_t ln(d_t² + ε)                     d_t = det J_t / Π_k (σ_k + ε)
    /// J_t = ∂s_t/∂z_t = A + U·diag(1 − τ_t²)·V
    /// ```
    ///
    /// Without a bend this is −ln det C, whatever A is. Where there are many sources the mean is
    /// over every n-th sample only, `phase` (in [0, 1)) says from which on. Adds weight · the
    /// gradient in A and in the parameters, keeps what τ is asked for until [`Bend::backward`], and
    /// returns L and weight · ∂L/∂ln(σ_k + ε), the same for every k.
    pub fn volume(
        &mut self,
        (a, bend): (&Mat<f64>, &Mat<f64>),
        divisors: impl Iterator<Item = f64>,
        rows: RowsView<'_>,
        phase: f64,
        weight: f64,
        (d_a, d_bend): (&mut Mat<f64>, &mut Mat<f64>),
    ) -> (f64, f64) {
        let every = Every {
            first: (phase * self.stride as f64) as usize,
            stride: self.stride,
        };
        let k = a.ncols();
        let (u, _, v) = parts(bend);
        for (i, j) in entries(k) {
            let products = col_mut(self.products.as_mut(), i * k + j).iter_mut();
            for (product, (u, v)) in products.zip(col(u, i).iter().zip(col(v, j))) {
                *product = u * v;
            }
        }
        let n = self.parts.iter().map(Part::len).sum();
        let looked_at = (every.first..n).step_by(every.stride);
        let n_valid = looked_at.filter(|&t| rows.is_valid(t)).count().max(1) as f64;
        let log_gauge: f64 = divisors.map(f64::ln).sum();
        let products = &self.products;
        self.parts
            .par_iter_mut()
            .for_each(|part| part.volume(a, products, log_gauge, rows, every, weight / n_valid));
        let (mut value, mut moved) = (0.0, 0.0);
        for part in &self.parts {
            (value, moved) = (value + part.value, moved + part.moved);
            *d_a += &part.d_a;
            for (i, j) in entries(k) {
                for (unit, d) in col(part.d_products.as_ref(), i * k + j).iter().enumerate() {
                    d_bend[(unit, i)] += d * v[(unit, j)];
                    d_bend[(unit, k + 1 + j)] += d * u[(unit, i)];
                }
            }
        }
        (value / n_valid, weight / n_valid * moved)
    }

    /// Adds the gradient in the parameters: of J through `d_s` = ∂J/∂S, 0 in missing rows, and of
    /// the volume through τ.
    pub fn backward(
        &mut self,
        bend: &Mat<f64>,
        z: MatRef<'_, f64>,
        d_s: MatRef<'_, f64>,
        d_bend: &mut Mat<f64>,
    ) {
        self.parts.par_iter_mut().for_each(|part| {
            let (first, len) = (part.first, part.len());
            part.backward(bend, z.subrows(first, len), d_s.subrows(first, len));
        });
        self.parts.iter().for_each(|part| *d_bend += &part.d_bend);
    }

    /// Adds the gradient in X that τ has, once [`Bend::backward`] has gone through it.
    pub fn add_input_gradient(&self, bend: &Mat<f64>, mut d_x: MatMut<'_, f64>) {
        let u = parts(bend).0;
        for part in &self.parts {
            let own = d_x.as_mut().subrows_mut(part.first, part.len());
            matmul(own, Accum::Add, &part.d_hidden, u, 1.0, Par::Seq);
        }
    }
}

impl Part {
    fn new(first: usize, len: usize, n_sources: usize, hidden: usize) -> Part {
        let (rows, square) = (ROWS.min(len), n_sources * n_sources);
        Part {
            first,
            hidden: Mat::zeros(len, hidden),
            d_hidden: Mat::zeros(len, hidden),
            slopes: Mat::zeros(rows, hidden),
            d_slopes: Mat::zeros(rows, hidden),
            jacobians: Mat::zeros(rows, square),
            d_a: Mat::zeros(n_sources, n_sources),
            d_products: Mat::zeros(hidden, square),
            d_bend: Mat::zeros(hidden, 2 * n_sources + 1),
            lu: Lu::new(n_sources),
            value: 0.0,
            moved: 0.0,
        }
    }

    fn len(&self) -> usize {
        self.hidden.nrows()
    }

    /// −Σ_t ln(d_t² + ε) and Σ_t ∂ln(d_t² + ε)/∂ln|d_t| of those of these rows that are looked at,
    /// and `per_row` times the gradient of the former.
    fn volume(
        &mut self,
        a: &Mat<f64>,
        products: &Mat<f64>,
        log_gauge: f64,
        rows: RowsView<'_>,
        every: Every,
        per_row: f64,
    ) {
        let k = a.ncols();
        self.d_a.fill(0.0);
        self.d_products.fill(0.0);
        (self.value, self.moved) = (0.0, 0.0);
        let floor = LOG_EPSILON * k as f64;
        for first in (every.after(self.first)..self.len()).step_by(ROWS * every.stride) {
            let len = ROWS.min((self.len() - first).div_ceil(every.stride));
            self.read_jacobians(a, products, first, every.stride, len);
            for t in 0..len {
                let mut row = self.jacobians.as_mut().row_mut(t);
                let (log, share) = if rows.is_valid(self.first + first + t * every.stride) {
                    guarded_log(2.0 * (self.lu.factor(|e| row[e]) - log_gauge), floor)
                } else {
                    (0.0, 0.0)
                };
                self.value -= log;
                self.moved += 2.0 * share;
                // ∂ ln|det J|/∂J = J⁻ᵀ; a singular J has none, and share 0.
                if share > 0.0 {
                    self.lu.invert();
                    let factor = -2.0 * share * per_row;
                    (0..k * k).for_each(|e| row[e] = factor * self.lu.inverse[e % k * k + e / k]);
                } else {
                    row.fill(0.0);
                }
            }
            self.add_jacobian_gradients(products, first, every.stride, len);
        }
    }

    /// J_t of `len` rows, every `stride`-th from `first` on.
    fn read_jacobians(
        &mut self,
        a: &Mat<f64>,
        products: &Mat<f64>,
        first: usize,
        stride: usize,
        len: usize,
    ) {
        let k = a.ncols();
        let mut slopes = self.slopes.as_mut().subrows_mut(0, len);
        let mut jacobians = self.jacobians.as_mut().subrows_mut(0, len);
        for j in 0..slopes.ncols() {
            let hidden = col(self.hidden.as_ref(), j)[first..].iter().step_by(stride);
            for (slope, tau) in col_mut(slopes.as_mut(), j).iter_mut().zip(hidden) {
                *slope = 1.0 - tau * tau;
            }
        }
        for (i, j) in entries(k) {
            col_mut(jacobians.as_mut(), i * k + j).fill(a[(i, j)]);
        }
        matmul(
            jacobians,
            Accum::Add,
            slopes.as_ref(),
            products,
            1.0,
            Par::Seq,
        );
    }

    /// From the gradient in J_t to those in A, in U_ij·V_jk and in τ.
    fn add_jacobian_gradients(
        &mut self,
        products: &Mat<f64>,
        first: usize,
        stride: usize,
        len: usize,
    ) {
        let k = self.d_a.ncols();
        let d_jacobians = self.jacobians.as_ref().subrows(0, len);
        for (i, j) in entries(k) {
            self.d_a[(i, j)] += col(d_jacobians, i * k + j).iter().sum::<f64>();
        }
        matmul(
            &mut self.d_products,
            Accum::Add,
            self.slopes.as_ref().subrows(0, len).transpose(),
            d_jacobians,
            1.0,
            Par::Seq,
        );
        let mut d_slopes = self.d_slopes.as_mut().subrows_mut(0, len);
        matmul(
            d_slopes.as_mut(),
            Accum::Replace,
            d_jacobians,
            products.transpose(),
            1.0,
            Par::Seq,
        );
        for j in 0..d_slopes.ncols() {
            let hidden = col(self.hidden.as_ref(), j)[first..].iter().step_by(stride);
            let d_hidden = col_mut(self.d_hidden.as_mut(), j)[first..]
                .iter_mut()
                .step_by(stride);
            let d_slopes = col(d_slopes.as_ref(), j);
            for ((d, tau), d_slope) in d_hidden.zip(hidden).zip(d_slopes) {
                *d -= 2.0 * tau * d_slope;
            }
        }
    }

    /// The gradient in the parameters of these rows.
    fn backward(&mut self, bend: &Mat<f64>, z: MatRef<'_, f64>, d_s: MatRef<'_, f64>) {
        let k = z.ncols();
        let (d_inner, d_v) = self.d_bend.as_mut().split_at_col_mut(k + 1);
        let (d_u, mut d_b) = d_inner.split_at_col_mut(k);
        matmul(
            d_v,
            Accum::Replace,
            self.hidden.transpose(),
            d_s,
            1.0,
            Par::Seq,
        );
        matmul(
            &mut self.d_hidden,
            Accum::Add,
            d_s,
            parts(bend).2.transpose(),
            1.0,
            Par::Seq,
        );
        for (j, d_bias) in col_mut(d_b.as_mut(), 0).iter_mut().enumerate() {
            let hidden = col(self.hidden.as_ref(), j);
            let d_hidden = col_mut(self.d_hidden.as_mut(), j);
            for (d, tau) in d_hidden.iter_mut().zip(hidden) {
                *d *= 1.0 - tau * tau;
            }
            *d_bias = d_hidden.iter().sum::<f64>();
        }
        matmul(
            d_u,
            Accum::Replace,
            self.d_hidden.transpose(),
            z,
            1.0,
            Par::Seq,
        );
    }
}

/// All (i, j) of a K×K matrix.
fn entries(k: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..k).flat_map(move |i| (0..k).map(move |j| (i, j)))
}

/// ln(eˣ + ε) and its derivative eˣ/(eˣ + ε) for ln ε = `floor`, without overflow; x = −∞ is a map
/// that folds.
fn guarded_log(x: f64, floor: f64) -> (f64, f64) {
    if x > floor {
        let rest = (floor - x).exp();
        (x + rest.ln_1p(), 1.0 / (1.0 + rest))
    } else {
        let rest = (x - floor).exp();
        (floor + rest.ln_1p(), rest / (1.0 + rest))
    }
}

#[cfg(test)]
mod tests {
    use super::super::ComponentMap;
    use super::*;
    use strt_signal::random::{Stream, rng};
    use strt_signal::rows::Rows;

    #[test]
    fn the_guarded_log_has_its_derivative_everywhere() {
        let floor = 3.0 * LOG_EPSILON;
        for x in [-1e3, -40.0, -14.0, -13.8, -13.0, -1.0, 0.0, 3.0, 500.0] {
            let (value, slope) = guarded_log(x, floor);
            let h = 1e-5;
            let numeric = (guarded_log(x + h, floor).0 - guarded_log(x - h, floor).0) / (2.0 * h);
            assert!(
                (slope - numeric).abs() < 1e-8,
                "{x}: {slope} against {numeric}"
            );
            assert!(value >= x.max(floor) - 1e-12, "{x}");
        }
        assert_eq!(guarded_log(f64::NEG_INFINITY, floor), (floor, 0.0));
    }

    #[test]
    fn a_turned_map_has_turned_sources() {
        let mut rng = rng(4, Stream::Check);
        let mut random = |rows, columns| {
            Mat::<f64>::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
        };
        let (z, r) = (random(9, 3), random(3, 3));
        let map = ComponentMap {
            linear: random(3, 3),
            bends: vec![random(4, 7), random(2, 7), random(3, 7)],
        };
        let expected = map.apply(z.as_ref()) * &r;
        let error = (map.turned(&r).apply(z.as_ref()) - expected).norm_max();
        assert!(error < 1e-12, "{error}");
    }

    /// The gradient where only some rows are looked at, those of two parts and a missing one among
    /// them.
    #[test]
    fn the_volume_of_some_rows_has_its_gradient() {
        let mut rng = rng(3, Stream::Check);
        let mut random = |rows, columns| {
            Mat::<f64>::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
        };
        let (mut a, parameters, z) = (random(2, 2), random(3, 5), random(20, 2));
        (0..2).for_each(|k| a[(k, k)] += 5.0); // far from a fold, where differences are rough
        let mut missing = [false; 20];
        missing[7] = true;
        let rows = Rows::new(&missing);
        let value = |a: &Mat<f64>, parameters: &Mat<f64>, phase: f64| {
            let mut bend = Bend::new(20, 2, 3);
            bend.stride = 3;
            let (mut d_a, mut d_bend) = (Mat::zeros(2, 2), Mat::zeros(3, 5));
            bend.forward(parameters, z.as_ref(), Mat::zeros(20, 2).as_mut());
            let divisors = [1.3, 0.7].into_iter();
            let d = (&mut d_a, &mut d_bend);
            let (value, _) = bend.volume((a, parameters), divisors, rows.view(), phase, 0.6, d);
            bend.backward(
                parameters,
                z.as_ref(),
                Mat::zeros(20, 2).as_ref(),
                &mut d_bend,
            );
            (0.6 * value, d_a, d_bend)
        };
        let whole = value(&a, &parameters, 0.0).0;
        assert!(
            value(&a, &parameters, 0.5).0 != whole,
            "another phase, other rows"
        );
        for phase in [0.0, 0.4, 0.9] {
            let (_, d_a, d_bend) = value(&a, &parameters, phase);
            for (shape, analytic, is_a) in [((2, 2), d_a, true), ((3, 5), d_bend, false)] {
                for (i, j) in (0..shape.0).flat_map(|i| (0..shape.1).map(move |j| (i, j))) {
                    let at = |offset: f64| {
                        let (mut a, mut parameters) = (a.clone(), parameters.clone());
                        if is_a {
                            a[(i, j)] += offset;
                        } else {
                            parameters[(i, j)] += offset;
                        }
                        value(&a, &parameters, phase).0
                    };
                    let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
                    let error = (analytic[(i, j)] - numeric).abs();
                    assert!(
                        error < 1e-7 * (1.0 + numeric.abs()),
                        "{is_a} ({i}, {j}): {error:.1e}"
                    );
                }
            }
        }
    }

    /// Over all phases every row is looked at once, whatever part it lies in.
    #[test]
    fn every_row_has_its_turn() {
        for (n, stride) in [(10, 1), (10, 3), (11, 4), (5, 7)] {
            let mut seen = vec![0; n];
            for (first, start) in (0..stride).flat_map(|first| [(first, 0), (first, 4)]) {
                let every = Every { first, stride };
                let end = if start == 0 { 4 } else { n };
                for t in (start + every.after(start)..end).step_by(stride) {
                    seen[t] += 1;
                }
            }
            assert_eq!(seen, vec![1; n], "{n} rows, every {stride}");
        }
    }

    #[test]
    fn a_permuted_bend_bends_permuted_sources() {
        let mut rng = rng(2, Stream::Check);
        let mut random = |rows, columns| {
            Mat::<f64>::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
        };
        let (bend, z) = (random(5, 9), random(7, 4));
        let order = [2, 0, 3, 1];
        let bent = |bend: &Mat<f64>| {
            let (mut hidden, mut s) = (Mat::zeros(7, 5), Mat::zeros(7, 4));
            add(bend, z.as_ref(), hidden.as_mut(), s.as_mut());
            s
        };
        let mut permuted = bend.clone();
        permute(&mut permuted, &order);
        let (before, after) = (bent(&bend), bent(&permuted));
        for k in 0..4 {
            assert_eq!(col(after.as_ref(), k), col(before.as_ref(), order[k]));
        }
    }
}
