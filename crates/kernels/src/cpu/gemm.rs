//! Products of small matrices, C = A·B or C += A·B, with a bias added on the way.
//!
//! One register tile of C (rows × two vectors) is held while A's elements are broadcast against
//! rows of B. The matrices of a branch are a few dozen wide, so B stays in the first-level cache
//! and nothing is packed. A is read with two strides, so that the same kernel serves x·W and
//! xᵀ·d_y. Any size is allowed, down to one.

use super::simd::Simd;

/// A (M×K): element (m, k) is `values[m * row + k * column]`.
#[derive(Clone, Copy)]
pub struct Left<'a> {
    /// The elements.
    pub values: &'a [f32],
    /// Distance between rows.
    pub row: usize,
    /// Distance between columns.
    pub column: usize,
}

impl<'a> Left<'a> {
    /// A row-major matrix with `width` columns.
    pub fn rows(values: &'a [f32], width: usize) -> Left<'a> {
        Left {
            values,
            row: width,
            column: 1,
        }
    }

    /// The transpose of a row-major matrix with `width` columns.
    pub fn transposed(values: &'a [f32], width: usize) -> Left<'a> {
        Left {
            values,
            row: 1,
            column: width,
        }
    }
}

/// B (K×N), row-major: element (k, n) is `values[k * stride + n]`.
#[derive(Clone, Copy)]
pub struct Right<'a> {
    /// The elements.
    pub values: &'a [f32],
    /// Distance between rows.
    pub stride: usize,
}

/// C (M×N), row-major: element (m, n) is `values[m * stride + n]`.
pub struct Target<'a> {
    /// The elements.
    pub values: &'a mut [f32],
    /// Distance between rows.
    pub stride: usize,
    /// Whether the product is added to what is there (C += A·B) or replaces it.
    pub accumulate: bool,
    /// Added to every row (N).
    pub bias: Option<&'a [f32]>,
}

/// M, K and N.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of A, rows of B.
    pub k: usize,
    /// Columns of B and C.
    pub n: usize,
}

/// C = A·B + bias, or C += A·B + bias.
pub fn multiply<S: Simd>(simd: S, sizes: Sizes, a: Left, b: Right, c: Target) {
    let Sizes { m, k, n } = sizes;
    if m == 0 || n == 0 {
        return;
    }
    assert!(
        k == 0 || (m - 1) * a.row + (k - 1) * a.column < a.values.len(),
        "A is too short"
    );
    assert!(
        k == 0 || (k - 1) * b.stride + n <= b.values.len(),
        "B is too short"
    );
    assert!((m - 1) * c.stride + n <= c.values.len(), "C is too short");
    assert!(
        c.bias.is_none_or(|bias| bias.len() >= n),
        "bias is too short"
    );
    simd.run(
        #[inline(always)]
        || {
            let tiles = Tiles {
                simd,
                m,
                k,
                a: a.values.as_ptr(),
                a_row: a.row,
                a_column: a.column,
                b: b.values.as_ptr(),
                b_stride: b.stride,
                c: c.values.as_mut_ptr(),
                c_stride: c.stride,
                accumulate: c.accumulate,
                bias: c.bias.map_or(std::ptr::null(), |bias| bias.as_ptr()),
            };
            // SAFETY: the assertions above cover every element with row < m, inner index < k and
            // column < n.
            unsafe { tiles.all_columns(n) }
        },
    )
}

/// The product in terms of pointers; valid for M rows of A and C, K inner indices and the columns
/// asked for.
struct Tiles<S> {
    simd: S,
    m: usize,
    k: usize,
    a: *const f32,
    a_row: usize,
    a_column: usize,
    b: *const f32,
    b_stride: usize,
    c: *mut f32,
    c_stride: usize,
    accumulate: bool,
    bias: *const f32, // null: none
}

impl<S: Simd> Tiles<S> {
    #[inline(always)]
    unsafe fn all_columns(&self, n: usize) {
        let mut column = 0;
        // SAFETY: columns stay below n.
        unsafe {
            while n - column >= 2 * S::LANES {
                self.all_rows::<2, true>(column, S::LANES);
                column += 2 * S::LANES;
            }
            match n - column {
                0 => {}
                rest if rest == S::LANES => self.all_rows::<1, true>(column, S::LANES),
                rest if rest < S::LANES => self.all_rows::<1, false>(column, rest),
                rest => self.all_rows::<2, false>(column, rest - S::LANES),
            }
        }
    }

    /// `VECTORS` vectors of columns from `column` on; the last one has `last` lanes in use (all of
    /// them if `FULL`).
    #[inline(always)]
    unsafe fn all_rows<const VECTORS: usize, const FULL: bool>(&self, column: usize, last: usize) {
        let mut row = 0;
        // SAFETY: rows stay below m.
        unsafe {
            if S::TILE_ROWS == 8 {
                while self.m - row >= 8 {
                    self.tile::<8, VECTORS, FULL>(row, column, last);
                    row += 8;
                }
            }
            while self.m - row >= 4 {
                self.tile::<4, VECTORS, FULL>(row, column, last);
                row += 4;
            }
            if self.m - row >= 2 {
                self.tile::<2, VECTORS, FULL>(row, column, last);
                row += 2;
            }
            if self.m - row == 1 {
                self.tile::<1, VECTORS, FULL>(row, column, last);
            }
        }
    }

    #[inline(always)]
    unsafe fn load<const VECTORS: usize, const FULL: bool>(
        &self,
        from: *const f32,
        v: usize,
        last: usize,
    ) -> S::V {
        // SAFETY: the caller's contract.
        unsafe {
            if FULL || v + 1 < VECTORS {
                self.simd.load(from.add(v * S::LANES))
            } else {
                self.simd.load_first(from.add(v * S::LANES), last)
            }
        }
    }

    #[inline(always)]
    unsafe fn tile<const ROWS: usize, const VECTORS: usize, const FULL: bool>(
        &self,
        row: usize,
        column: usize,
        last: usize,
    ) {
        let simd = self.simd;
        let mut sums = [[simd.zero(); VECTORS]; ROWS];
        // SAFETY: row + ROWS ≤ m and the columns are inside n, so every access is inside A, B, C
        // and the bias.
        unsafe {
            if !self.bias.is_null() {
                for v in 0..VECTORS {
                    let bias = self.load::<VECTORS, FULL>(self.bias.add(column), v, last);
                    for r in 0..ROWS {
                        sums[r][v] = bias;
                    }
                }
            }
            let a = self.a.add(row * self.a_row);
            for k in 0..self.k {
                let b = self.b.add(k * self.b_stride + column);
                let mut right = [simd.zero(); VECTORS];
                for v in 0..VECTORS {
                    right[v] = self.load::<VECTORS, FULL>(b, v, last);
                }
                for r in 0..ROWS {
                    let left = simd.splat(*a.add(r * self.a_row + k * self.a_column));
                    for v in 0..VECTORS {
                        sums[r][v] = simd.mul_add(left, right[v], sums[r][v]);
                    }
                }
            }
            for r in 0..ROWS {
                let c = self.c.add((row + r) * self.c_stride + column);
                for v in 0..VECTORS {
                    let mut value = sums[r][v];
                    if self.accumulate {
                        value = simd.add(value, self.load::<VECTORS, FULL>(c, v, last));
                    }
                    if FULL || v + 1 < VECTORS {
                        simd.store(c.add(v * S::LANES), value);
                    } else {
                        simd.store_first(c.add(v * S::LANES), last, value);
                    }
                }
            }
        }
    }
}
