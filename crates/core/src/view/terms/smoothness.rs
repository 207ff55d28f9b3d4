//! L_smooth = ‖D_o S‖²_F / ((T−o)K), o ∈ {1, 2}: first or second differences.
//!
//! Differences that touch a missing sample are left out of the sum and of the count T−o.

use faer::{MatMut, MatRef};
use strt_signal::columns::{col, col_mut};
use strt_signal::rows::RowsView;

/// Value; adds weight · ∂L_smooth/∂S to `d_s`.
pub(crate) fn evaluate(
    s: MatRef<'_, f64>,
    rows: RowsView<'_>,
    order: usize,
    weight: f64,
    d_s: MatMut<'_, f64>,
) -> f64 {
    // D_1 and D_2 as stencils on s_t, s_{t+1}, (s_{t+2}).
    if order == 1 {
        differences([-1.0, 1.0], s, rows, weight, d_s)
    } else {
        differences([1.0, -2.0, 1.0], s, rows, weight, d_s)
    }
}

fn differences<const N: usize>(
    stencil: [f64; N],
    s: MatRef<'_, f64>,
    rows: RowsView<'_>,
    weight: f64,
    mut d_s: MatMut<'_, f64>,
) -> f64 {
    let usable = |t: usize| (0..N).all(|o| rows.is_valid(t + o));
    let n_starts = (s.nrows() + 1).saturating_sub(N);
    let count = (0..n_starts).filter(|&t| usable(t)).count() * s.ncols();
    if count == 0 {
        return 0.0;
    }
    let (share, mut value) = (1.0 / count as f64, 0.0);
    for k in 0..s.ncols() {
        let (column, d_column) = (col(s, k), col_mut(d_s.as_mut(), k));
        for (t, samples) in column.windows(N).enumerate() {
            if !usable(t) {
                continue;
            }
            let difference: f64 = (0..N).map(|o| stencil[o] * samples[o]).sum();
            value += difference * difference;
            let d = 2.0 * weight * share * difference;
            for o in 0..N {
                d_column[t + o] += stencil[o] * d;
            }
        }
    }
    share * value
}
