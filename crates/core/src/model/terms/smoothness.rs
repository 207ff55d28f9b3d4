//! L_smooth = ‖D_o S‖²_F / ((T−o)K), o ∈ {1, 2}: first or second differences.
//!
//! Differences that touch a missing sample are left out of the sum and of the count T−o.

use crate::model::sources::Rows;
use crate::model::standardize::{col, col_mut};
use faer::{MatMut, MatRef};

/// Value; adds weight · ∂L_smooth/∂S to `d_s`.
pub(crate) fn evaluate(
    s: MatRef<'_, f64>,
    rows: &Rows,
    order: usize,
    weight: f64,
    mut d_s: MatMut<'_, f64>,
) -> f64 {
    // D_1 and D_2 as stencils on s_t, s_{t+1}, (s_{t+2}).
    let stencil: &[f64] = if order == 1 {
        &[-1.0, 1.0]
    } else {
        &[1.0, -2.0, 1.0]
    };
    let usable = |t: &usize| (0..=order).all(|o| rows.is_valid(t + o));
    let starts = || (0..s.nrows().saturating_sub(order)).filter(usable);
    let count = (starts().count() * s.ncols()) as f64;
    if count == 0.0 {
        return 0.0;
    }
    let mut value = 0.0;
    for k in 0..s.ncols() {
        let (column, d_column) = (col(s, k), col_mut(d_s.as_mut(), k));
        for t in starts() {
            let difference: f64 = stencil.iter().zip(&column[t..]).map(|(c, v)| c * v).sum();
            value += difference * difference / count;
            for (o, c) in stencil.iter().enumerate() {
                d_column[t + o] += weight * 2.0 * c * difference / count;
            }
        }
    }
    value
}
