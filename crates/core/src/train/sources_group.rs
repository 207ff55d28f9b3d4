//! The optimiser of the free sources, S or E: Adam where every step reaches all of them, its sparse form otherwise.

use super::adam_group::AdamGroup;
use super::checkpoint::Moments;
use super::sparse_adam::SparseAdam;
use crate::{Error, Result};

/// State of the optimiser of S or E.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SourcesGroup {
    /// Of a recording that is evaluated whole; without rows when no source is free.
    Dense(AdamGroup),
    /// Of a recording that is trained in blocks.
    Sparse(SparseAdam),
}

impl SourcesGroup {
    /// For T×K free sources.
    pub fn new(is_long: bool, n_samples: usize, n_sources: usize) -> SourcesGroup {
        if is_long && n_samples > 0 {
            SourcesGroup::Sparse(SparseAdam::new(n_samples, n_sources))
        } else {
            SourcesGroup::Dense(AdamGroup::new(n_samples, n_sources))
        }
    }

    /// (T, K).
    pub fn shape(&self) -> (usize, usize) {
        match self {
            SourcesGroup::Dense(group) => group.first.shape(),
            SourcesGroup::Sparse(group) => group.shape(),
        }
    }

    /// Source k becomes what source `order[k]` was.
    pub fn permute_columns(&mut self, order: &[usize]) {
        match self {
            SourcesGroup::Dense(group) => group.permute_columns(order),
            SourcesGroup::Sparse(group) => group.permute_columns(order),
        }
    }

    /// For a checkpoint.
    pub fn to_moments(&self) -> Moments {
        match self {
            SourcesGroup::Dense(group) => Moments::from(group),
            SourcesGroup::Sparse(group) => group.to_moments(),
        }
    }

    /// Back from a checkpoint of the same shape.
    pub fn restore(&mut self, moments: &Moments) -> Result<()> {
        match self {
            SourcesGroup::Dense(group) => *group = moments.to_group(),
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
