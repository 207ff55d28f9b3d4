//! L_smooth = ‖D_o S‖²_F / ((T−o)K), o ∈ {1, 2}: first or second differences.
//!
//! Differences that touch a missing sample, or samples of two pieces, are left out of the sum and
//! of the count T−o.

use faer::{MatMut, MatRef};
use std::ops::Range;
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
    let usable = |t: &usize| (0..N).all(|o| rows.is_valid(*t + o));
    let starts = |piece: Range<usize>| piece.start..(piece.end + 1).saturating_sub(N);
    let starts = rows.pieces().flat_map(starts).filter(usable);
    let count = starts.clone().count() * s.ncols();
    if count == 0 {
        return 0.0;
    }
    let (share, mut value) = (1.0 / count as f64, 0.0);
    for k in 0..s.ncols() {
        let (column, d_column) = (col(s, k), col_mut(d_s.as_mut(), k));
        for t in starts.clone() {
            let samples = &column[t..t + N];
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

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use strt_signal::pieces::Pieces;
    use strt_signal::rows::Rows;

    #[test]
    fn a_jump_between_two_pieces_is_no_difference() {
        let lengths = [6, 1, 2, 11];
        let pieces = Pieces::new(&lengths, 20).unwrap();
        // Straight lines of one slope, each from a level of its own.
        let s = Mat::from_fn(20, 1, |t, _| {
            let piece = pieces.at(t);
            50.0 * (piece.start % 5) as f64 + 0.5 * (t - piece.start) as f64
        });
        let rows = Rows::all(20).with_pieces(&pieces);
        for (order, slope) in [(1, 0.25), (2, 0.0)] {
            let mut d_s = Mat::zeros(20, 1);
            let value = evaluate(s.as_ref(), rows.view(), order, 1.0, d_s.as_mut());
            assert!((value - slope).abs() < 1e-12, "order {order}: {value}");
            let across = evaluate(s.as_ref(), Rows::all(20).view(), order, 1.0, d_s.as_mut());
            assert!(across > 10.0);
        }
    }
}
