//! y = x·W + b for a block of rows, and its three gradients.
//!
//! W may be a range of columns of a wider matrix (queries, keys and values lie side by side), hence
//! the strides.

use super::gemm::{Left, Right, Sizes, Target, multiply};
use super::simd::{Lanes, MAX_LANES, Simd};

/// A weight matrix (I×O) with its transpose and bias.
#[derive(Clone, Copy)]
pub struct Linear<'a> {
    /// Inputs I.
    pub n_in: usize,
    /// Outputs O.
    pub n_out: usize,
    /// W, row-major with rows `stride` apart.
    pub w: &'a [f32],
    /// Distance between the rows of W and of d_W.
    pub stride: usize,
    /// Wᵀ (O×I), row-major and dense.
    pub w_transposed: &'a [f32],
    /// b (O).
    pub b: &'a [f32],
}

impl Linear<'_> {
    /// x (M×I) → y (M×O), overwritten, or added to if `accumulate` (the residual).
    pub fn forward<S: Simd>(&self, simd: S, m: usize, x: &[f32], y: &mut [f32], accumulate: bool) {
        multiply(
            simd,
            Sizes {
                m,
                k: self.n_in,
                n: self.n_out,
            },
            Left::rows(x, self.n_in),
            Right {
                values: self.w,
                stride: self.stride,
            },
            Target {
                values: y,
                stride: self.n_out,
                accumulate,
                bias: Some(self.b),
            },
        );
    }

    /// d_y (M×O) → d_x = d_y·Wᵀ (M×I), overwritten, or added to if `accumulate`.
    pub fn backward_input<S: Simd>(
        &self,
        simd: S,
        m: usize,
        d_y: &[f32],
        d_x: &mut [f32],
        accumulate: bool,
    ) {
        multiply(
            simd,
            Sizes {
                m,
                k: self.n_out,
                n: self.n_in,
            },
            Left::rows(d_y, self.n_out),
            Right {
                values: self.w_transposed,
                stride: self.n_in,
            },
            Target {
                values: d_x,
                stride: self.n_in,
                accumulate,
                bias: None,
            },
        );
    }

    /// x (M×I), d_y (M×O) → d_W = xᵀ·d_y and d_b = Σ_rows d_y, overwritten, or added to if
    /// `accumulate`.
    pub fn backward_weights<S: Simd>(
        &self,
        simd: S,
        m: usize,
        x: &[f32],
        d_y: &[f32],
        d_w: &mut [f32],
        d_b: &mut [f32],
        accumulate: bool,
    ) {
        multiply(
            simd,
            Sizes {
                m: self.n_in,
                k: m,
                n: self.n_out,
            },
            Left::transposed(x, self.n_in),
            Right {
                values: d_y,
                stride: self.n_out,
            },
            Target {
                values: d_w,
                stride: self.stride,
                accumulate,
                bias: None,
            },
        );
        column_sums(simd, m, d_y, d_b, accumulate);
    }
}

/// y (M×O) → Σ_rows y, overwritten, or added to if `accumulate`.
pub fn column_sums<S: Simd>(simd: S, m: usize, y: &[f32], sums: &mut [f32], accumulate: bool) {
    let width = sums.len();
    simd.run(
        #[inline(always)]
        || {
            simd.for_each_vector(
                width,
                #[inline(always)]
                |at, lanes| {
                    // Four sums, so that additions need not wait for each other.
                    let mut totals = [simd.zero(); 4];
                    let whole = m / 4 * 4;
                    for first in (0..whole).step_by(4) {
                        for i in 0..4 {
                            totals[i] =
                                simd.add(totals[i], simd.get(y, (first + i) * width + at, lanes));
                        }
                    }
                    for i in whole..m {
                        totals[0] = simd.add(totals[0], simd.get(y, i * width + at, lanes));
                    }
                    let mut total = simd.add(
                        simd.add(totals[0], totals[1]),
                        simd.add(totals[2], totals[3]),
                    );
                    if accumulate {
                        total = simd.add(total, simd.get(sums, at, lanes));
                    }
                    simd.put(sums, at, lanes, total);
                },
            );
        },
    )
}

/// w (I×O), row-major → w_transposed (O×I).
pub fn transpose<S: Simd>(simd: S, w: &[f32], n_out: usize, w_transposed: &mut [f32]) {
    let n_in = w.len() / n_out;
    simd.run(
        #[inline(always)]
        || {
            let mut tile = [simd.zero(); MAX_LANES];
            for i in (0..n_in).step_by(S::LANES) {
                let rows = S::LANES.min(n_in - i);
                for o in (0..n_out).step_by(S::LANES) {
                    let columns = S::LANES.min(n_out - o);
                    for r in 0..rows {
                        tile[r] = simd.get(w, (i + r) * n_out + o, Lanes(columns));
                    }
                    simd.transpose(&mut tile);
                    for c in 0..columns {
                        simd.put(w_transposed, (o + c) * n_in + i, Lanes(rows), tile[c]);
                    }
                }
            }
        },
    )
}
