//! Columns of matrices as slices: every matrix of the library is a plain column-major `Mat`, one
//! column a channel or a source.

use faer::{MatMut, MatRef};

/// Column k as a slice.
///
/// # Panics
/// When the values of a column do not lie side by side.
#[inline]
pub fn col<'a>(matrix: MatRef<'a, f64>, k: usize) -> &'a [f64] {
    matrix
        .col(k)
        .try_as_col_major()
        .expect("column-major")
        .as_slice()
}

/// Column k as a mutable slice.
///
/// # Panics
/// When the values of a column do not lie side by side.
#[inline]
pub fn col_mut<'a>(matrix: MatMut<'a, f64>, k: usize) -> &'a mut [f64] {
    matrix
        .col_mut(k)
        .try_as_col_major_mut()
        .expect("column-major")
        .as_slice_mut()
}
