//! The latent source matrix S (T×K) and its coordinates.
//!
//! ```text
//! direct: S is the parameter
//! fiber:  S = Zw·A + E      Zw whitened principal components (T×K), A (K×K), E (T×K) free once unlocked
//! neural: S = Zw·A + tanh(Zw·U + b)·V, with U, b and V ([`super::bend`]) free once unlocked
//! ```
//!
//! The first two span every S; only the path of the optimiser differs. In fiber coordinates one
//! entry of A moves a whole source along the exact-reconstruction fiber of an affine mixer. In
//! neural ones a source is a smooth map of the channels, so it has a volume, and new channels have
//! sources without any optimisation.

use crate::model::bend;
use faer::Mat;
use strt_signal::columns::col_mut;

/// Parameters of the source matrix.
#[derive(Clone, Debug)]
pub enum SourceParameters {
    /// S itself.
    Direct {
        /// S (T×K).
        s: Mat<f64>,
    },
    /// S = Zw·A + E.
    Fiber {
        /// A (K×K).
        a: Mat<f64>,
        /// E (T×K); absent while it is 0 and locked.
        e: Option<Mat<f64>>,
    },
    /// S = Zw·A + tanh(Zw·U + b)·V.
    Neural {
        /// A (K×K).
        a: Mat<f64>,
        /// [Uᵀ | b | V] (h×(2K+1)).
        bend: Mat<f64>,
    },
}

impl SourceParameters {
    /// A, and what is free besides it: S itself, E, or the bend.
    pub(crate) fn parts(&self) -> (Option<&Mat<f64>>, Option<&Mat<f64>>) {
        match self {
            SourceParameters::Direct { s } => (None, Some(s)),
            SourceParameters::Fiber { a, e } => (Some(a), e.as_ref()),
            SourceParameters::Neural { a, bend } => (Some(a), Some(bend)),
        }
    }

    /// The same, to be changed.
    pub(crate) fn parts_mut(&mut self) -> (Option<&mut Mat<f64>>, Option<&mut Mat<f64>>) {
        match self {
            SourceParameters::Direct { s } => (None, Some(s)),
            SourceParameters::Fiber { a, e } => (Some(a), e.as_mut()),
            SourceParameters::Neural { a, bend } => (Some(a), Some(bend)),
        }
    }

    /// Source k becomes what source `order[k]` was.
    pub fn permute(&mut self, order: &[usize]) {
        if let SourceParameters::Neural { a, bend } = self {
            permute_columns(a, order);
            bend::permute(bend, order);
            return;
        }
        let (a, e) = self.parts_mut();
        a.into_iter()
            .chain(e)
            .for_each(|matrix| permute_columns(matrix, order));
    }
}

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
    fn permuted_sources_take_their_bend_along() {
        let a = Mat::from_fn(3, 3, |i, k| (10 * k + i) as f64);
        let bend = Mat::from_fn(2, 7, |i, c| (10 * c + i) as f64);
        let mut sources = SourceParameters::Neural { a, bend };
        sources.permute(&[2, 0, 1]);
        let (Some(a), Some(bend)) = sources.parts() else {
            panic!("a matrix and a bend")
        };
        assert_eq!([a[(0, 0)], a[(0, 1)], a[(0, 2)]], [20.0, 0.0, 10.0]);
        let first: Vec<f64> = (0..7).map(|c| bend[(0, c)]).collect();
        assert_eq!(first, [0.0, 10.0, 20.0, 30.0, 60.0, 40.0, 50.0]);
    }

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
