//! Which part of the recording the steps look at, and how it is drawn.
//!
//! In: the samples that are there, and the energy, which must find windows where a step looks. Out:
//! an [`Excerpt`] per step. Draws come in the order of their use, from the one generator of the
//! step.

use super::Excerpt;
use crate::energy::Energy;
use crate::{Error, Result};
use rand::{Rng, RngExt};
use std::ops::Range;
use strt_signal::rows::Rows;

/// What there is to choose from.
#[derive(Clone, Debug)]
pub(crate) enum Excerpts {
    /// All of the recording in every step.
    Whole {
        /// T.
        n_samples: usize,
    },
    /// Windows anywhere, and two blocks that stand for what is not followed by moments.
    WindowsAndBlocks {
        /// T.
        n_samples: usize,
        /// First samples of the blocks.
        starts: Vec<usize>,
    },
    /// One block and nothing else, windows included.
    OneBlock {
        /// Samples of a block.
        len: usize,
        /// First samples of the blocks.
        starts: Vec<usize>,
    },
}

impl Excerpts {
    /// Blocks of `len` samples beside the windows. Blocks of which less than half is there are left
    /// out, unless all are like that: then the fullest one is taken.
    pub fn windows_and_blocks(rows: &Rows, len: usize) -> Excerpts {
        let all = block_starts(rows.n_samples(), len, len);
        let mut starts = at_least_half_there(rows, len, &all);
        if starts.is_empty() {
            let there = |first: &usize| rows.stretch(*first, len).n_valid();
            starts = all.into_iter().max_by_key(there).into_iter().collect();
        }
        Excerpts::WindowsAndBlocks {
            n_samples: rows.n_samples(),
            starts,
        }
    }

    /// Blocks of `len` samples, half of each shared with the next, in which the energy finds its
    /// windows; of those, the ones of which at least half is there are preferred.
    ///
    /// # Errors
    /// When the energy finds its windows in none of them.
    pub fn one_block(rows: &Rows, len: usize, energy: &dyn Energy) -> Result<Excerpts> {
        let mut refusal = None;
        let mut usable = block_starts(rows.n_samples(), len, len / 2);
        usable.retain(|&first| {
            let accepted = energy.accepts(&(first..first + len));
            accepted.map_err(|error| refusal = Some(error)).is_ok()
        });
        if usable.is_empty() {
            return Err(refusal.unwrap_or(Error::NoWindow {
                patch: len,
                block: Some(len),
            }));
        }
        let full = at_least_half_there(rows, len, &usable);
        Ok(Excerpts::OneBlock {
            len,
            starts: if full.is_empty() { usable } else { full },
        })
    }

    /// Draws what a step looks at, the windows of the energy included.
    pub fn draw(&self, energy: &mut dyn Energy, rng: &mut dyn Rng) -> Excerpt {
        let blocks = match self {
            Excerpts::Whole { n_samples } => {
                energy.sample(&(0..*n_samples), rng);
                [0; 2]
            }
            Excerpts::WindowsAndBlocks { n_samples, starts } => {
                energy.sample(&(0..*n_samples), rng);
                two_of(starts, rng)
            }
            Excerpts::OneBlock { len, starts } => {
                let blocks = two_of(starts, rng);
                let samples: Range<usize> = blocks[0]..blocks[0] + len;
                energy.sample(&samples, rng);
                blocks
            }
        };
        Excerpt {
            blocks,
            phase: rng.random(),
        }
    }
}

fn two_of(starts: &[usize], rng: &mut dyn Rng) -> [usize; 2] {
    [(); 2].map(|()| starts[rng.random_range(0..starts.len())])
}

/// First samples of blocks that begin `step` apart; the last one ends with the recording.
fn block_starts(n_samples: usize, len: usize, step: usize) -> Vec<usize> {
    let last = n_samples - len;
    (0..last).step_by(step.max(1)).chain([last]).collect()
}

fn at_least_half_there(rows: &Rows, len: usize, starts: &[usize]) -> Vec<usize> {
    let there = |&first: &usize| 2 * rows.stretch(first, len).n_valid() >= len;
    starts.iter().copied().filter(there).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_there_once_and_the_last_ends_with_the_recording() {
        for (n_samples, len, step, expected) in [
            (240, 80, 80, vec![0, 80, 160]),
            (250, 80, 80, vec![0, 80, 160, 170]),
            (240, 80, 40, vec![0, 40, 80, 120, 160]),
            (251, 80, 40, vec![0, 40, 80, 120, 160, 171]),
            (80, 80, 40, vec![0]),
            (5, 4, 0, vec![0, 1]),
        ] {
            assert_eq!(block_starts(n_samples, len, step), expected);
        }
    }
}
