//! Permutations in place: what follows a source when it moves to another branch.

use faer::Mat;
use strt_signal::columns::col_mut;

/// Column k takes the place of column `order[k]`, without a second matrix.
pub(crate) fn permute_columns(matrix: &mut Mat<f64>, order: &[usize]) {
    permute(order, |k, from| {
        if k != from {
            let (left, right) = matrix.as_mut().split_at_col_mut(from);
            col_mut(left, k).swap_with_slice(col_mut(right, 0));
        }
    });
}

/// Brings every `order[k]` to place k by swaps of a place with a later one (or itself).
pub(crate) fn permute(order: &[usize], mut swap: impl FnMut(usize, usize)) {
    for k in 0..order.len() {
        // What place order[k] had may have been swapped away already, to where the next place came
        // from.
        let mut from = order[k];
        while from < k {
            from = order[from];
        }
        swap(k, from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permuted_columns_are_where_the_order_says() {
        let orders = [
            [0, 1, 2, 3],
            [3, 2, 1, 0],
            [1, 2, 3, 0],
            [2, 0, 3, 1],
            [1, 0, 3, 2],
        ];
        for order in orders {
            let mut matrix = Mat::from_fn(3, 4, |i, k| (10 * k + i) as f64);
            permute_columns(&mut matrix, &order);
            let expected = Mat::from_fn(3, 4, |i, k| (10 * order[k] + i) as f64);
            assert_eq!(matrix, expected, "{order:?}");
        }
    }
}
