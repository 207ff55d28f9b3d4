//! The optimiser of the free part of the sources, S, E or the bend: Adam where every step reaches
//! all of it, its sparse form otherwise.

use super::adam_group::AdamGroup;
use super::checkpoint::Moments;
use super::sparse_adam::SparseAdam;
use crate::model::bend;
use crate::model::sources::SourceParameters;
use crate::{Error, Result};

/// State of the optimiser of S, E or the bend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SourcesGroup {
    /// Of a recording that is evaluated whole; without rows when no source is free.
    Dense(AdamGroup),
    /// Of a recording that is trained in blocks.
    Sparse(SparseAdam),
    /// Of the bend of neural coordinates, however long the recording is.
    Bend(AdamGroup),
}

impl SourcesGroup {
    /// For the free part of these sources, of a recording that is trained in blocks or not; without
    /// rows when nothing but A ever moves.
    pub fn new(
        is_long: bool,
        sources: &SourceParameters,
        n_sources: usize,
        is_free: bool,
    ) -> SourcesGroup {
        let (rows, columns) = match sources.parts().1 {
            Some(free) if is_free => free.shape(),
            Some(free) => (0, free.ncols()),
            None => (0, n_sources),
        };
        match sources {
            SourceParameters::Neural { .. } => SourcesGroup::Bend(AdamGroup::new(rows, columns)),
            _ if is_long && rows > 0 => SourcesGroup::Sparse(SparseAdam::new(rows, columns)),
            _ => SourcesGroup::Dense(AdamGroup::new(rows, columns)),
        }
    }

    /// Rows and columns of what moves.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            SourcesGroup::Dense(group) | SourcesGroup::Bend(group) => group.first.shape(),
            SourcesGroup::Sparse(group) => group.shape(),
        }
    }

    /// Source k becomes what source `order[k]` was.
    pub fn permute_columns(&mut self, order: &[usize]) {
        match self {
            SourcesGroup::Dense(group) => group.permute_columns(order),
            SourcesGroup::Sparse(group) => group.permute_columns(order),
            SourcesGroup::Bend(group) => {
                bend::permute(&mut group.first, order);
                bend::permute(&mut group.second, order);
            }
        }
    }

    /// For a checkpoint.
    pub fn to_moments(&self) -> Moments {
        match self {
            SourcesGroup::Dense(group) | SourcesGroup::Bend(group) => Moments::from(group),
            SourcesGroup::Sparse(group) => group.to_moments(),
        }
    }

    /// Back from a checkpoint of the same shape.
    pub fn restore(&mut self, moments: &Moments) -> Result<()> {
        match self {
            SourcesGroup::Dense(group) | SourcesGroup::Bend(group) => *group = moments.to_group(),
            SourcesGroup::Sparse(group) => {
                *group = SparseAdam::from_moments(moments).ok_or_else(|| {
                    Error::State(
                        "the checkpoint's Adam state of the free sources is not one of a recording trained in blocks"
                            .into(),
                    )
                })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn both_moments_of_a_bend_are_permuted() {
        let mut group = AdamGroup::new(1, 5);
        group.first = Mat::from_fn(1, 5, |_, c| c as f64);
        group.second = Mat::from_fn(1, 5, |_, c| 10.0 * c as f64);
        let mut group = SourcesGroup::Bend(group);
        group.permute_columns(&[1, 0]);
        let moments = group.to_moments();
        let row = |m: &Mat<f64>| (0..5).map(|c| m[(0, c)]).collect::<Vec<f64>>();
        assert_eq!(row(&moments.first), [0.0, 1.0, 2.0, 4.0, 3.0]);
        assert_eq!(row(&moments.second), [0.0, 10.0, 20.0, 40.0, 30.0]);
    }
}
