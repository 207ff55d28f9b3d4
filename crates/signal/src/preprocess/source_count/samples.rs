//! The samples that are judged: whitened, and cut into blocks.
//!
//! In: scaled channels. Out: [`Samples`]: all independent directions of the channels with variance
//! 1, and the blocks that are compared, halved and drawn again. Of a long recording 32 stretches,
//! evenly spread, are taken, so that time and memory have a bound.

use super::super::Whitening;
use super::super::observations::Observations;
use super::mdl::rank;
use crate::columns::col;
use crate::pieces::Pieces;
use crate::{Recording, Result};
use faer::{Mat, MatRef};
use std::ops::Range;

/// Parts of the recording whose variances are compared.
pub(super) const PARTS: usize = 8;
/// Blocks in a part.
const BLOCKS_A_PART: usize = 4;
/// Blocks in all.
pub(super) const BLOCKS: usize = PARTS * BLOCKS_A_PART;
/// Samples that are judged at most, at up to 64 channels; with more channels fewer, but never less
/// than the second number.
const MOST_SAMPLES: usize = 1 << 17;
const LEAST_OF_MANY: usize = 1 << 14;
/// Without so many complete samples, and so many a direction, chance looks like structure.
const LEAST_SAMPLES: usize = 64;
const LEAST_A_DIRECTION: usize = 5;

/// One block: its rows.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub rows: Range<usize>,
}

impl Block {
    /// The blocks of a part.
    pub fn of_part(part: usize) -> Range<usize> {
        part * BLOCKS_A_PART..(part + 1) * BLOCKS_A_PART
    }

    /// Rows of the block that have a row `lag` later in the same piece, piece by piece.
    pub fn pairs(&self, lag: usize, pieces: &Pieces) -> impl Iterator<Item = Range<usize>> {
        let parts = pieces.within(self.rows.clone());
        parts.filter_map(move |part| {
            let end = part.end.min(pieces.at(part.start).end.saturating_sub(lag));
            (part.start < end).then_some(part.start..end)
        })
    }
}

/// Whitened samples in blocks.
pub(super) struct Samples {
    /// N × p; rows of missing samples are 0.
    pub values: Mat<f64>,
    pub valid: Vec<bool>,
    pub blocks: Vec<Block>,
    /// Which rows are contiguous: what the recording has of it, and what was read in one go.
    pub pieces: Pieces,
}

impl Samples {
    /// Of the recording behind `observations`.
    pub fn new(observations: &Observations, recording: &Recording) -> Result<Samples> {
        let (blocks, sources) = layout(recording.n_samples(), observations.n_channels());
        let n = blocks.last().map_or(0, |block| block.rows.end);
        let mut channels = Mat::zeros(n, observations.n_channels());
        let mut valid = vec![true; n];
        let mut lengths = Vec::new();
        for (rows, first) in sources {
            let read = recording.pieces().within(first..first + rows.len());
            lengths.extend(read.map(|part| part.len()));
            let into = channels.as_mut().subrows_mut(rows.start, rows.len());
            observations.read(first, into);
            for (i, row) in rows.enumerate() {
                valid[row] = observations.rows().is_valid(first + i);
            }
        }
        // Whitening leaves out what is NaN; read samples are 0 where they are missing.
        for row in (0..n).filter(|&row| !valid[row]) {
            channels.row_mut(row).fill(f64::NAN);
        }
        let names = recording.channel_names();
        let variances = Whitening::fit(channels.as_ref(), 1, names)?;
        let rank = rank(variances.eigenvalues());
        let whitening = Whitening::fit(channels.as_ref(), rank, names)?;
        Ok(Samples {
            values: whitening.transform(channels.as_ref())?,
            valid,
            blocks,
            pieces: Pieces::new(&lengths, n)?,
        })
    }

    /// p, the number of independent directions.
    pub fn n_directions(&self) -> usize {
        self.values.ncols()
    }

    /// Number of complete samples.
    pub fn n_valid(&self) -> usize {
        self.valid.iter().filter(|&&valid| valid).count()
    }

    /// Whether they are enough to tell structure from chance.
    pub fn suffice(&self) -> bool {
        self.n_valid() >= LEAST_SAMPLES.max(LEAST_A_DIRECTION * self.n_directions())
    }

    /// Number of complete samples of a range of rows with another complete one `lag` later.
    pub fn n_pairs(&self, rows: Range<usize>, lag: usize) -> usize {
        rows.filter(|&row| self.valid[row] && self.valid[row + lag])
            .count()
    }

    /// The rows of the first or the second half of the blocks.
    pub fn half(&self, second: bool) -> Range<usize> {
        let middle = self.blocks[BLOCKS / 2].rows.start;
        if second {
            middle..self.values.nrows()
        } else {
            0..middle
        }
    }

    /// The component along a direction.
    pub fn along(&self, direction: MatRef<'_, f64>) -> Vec<f64> {
        let component = &self.values * direction;
        col(component.as_ref(), 0).to_vec()
    }
}

/// The blocks, and which rows are read from where.
fn layout(n_samples: usize, n_channels: usize) -> (Vec<Block>, Vec<(Range<usize>, usize)>) {
    let budget = (MOST_SAMPLES * 64 * 64) / (n_channels * n_channels).max(1);
    let most = budget.clamp(LEAST_OF_MANY, MOST_SAMPLES);
    let whole = n_samples <= most;
    let n = n_samples.min(most);
    let rows = |b: usize| b * n / BLOCKS..(b + 1) * n / BLOCKS;
    let block = |b: usize| Block { rows: rows(b) };
    let read = if whole {
        vec![(0..n, 0)]
    } else {
        let gap = |b: usize| b * (n_samples - n) / (BLOCKS - 1);
        let first = |b: usize| rows(b).start + gap(b);
        (0..BLOCKS).map(|b| (rows(b), first(b))).collect()
    };
    ((0..BLOCKS).map(block).collect(), read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_recording_is_read_in_stretches_from_beginning_to_end() {
        let (blocks, read) = layout(1_000_000, 8);
        assert_eq!(read.len(), BLOCKS);
        assert_eq!(read[0].1, 0);
        let (rows, first) = &read[BLOCKS - 1];
        assert_eq!(first + rows.len(), 1_000_000);
        assert!(
            read.windows(2)
                .all(|pair| pair[0].1 + pair[0].0.len() < pair[1].1)
        );
        assert_eq!(blocks[BLOCKS - 1].rows.end, MOST_SAMPLES);
        let lengths = vec![MOST_SAMPLES / BLOCKS; BLOCKS];
        let pieces = Pieces::new(&lengths, MOST_SAMPLES).unwrap();
        let rows = &blocks[3].rows;
        assert!(
            blocks[3]
                .pairs(2, &pieces)
                .eq(std::iter::once(rows.start..rows.end - 2))
        );
    }

    #[test]
    fn a_short_one_is_read_whole_and_its_blocks_are_neighbours() {
        let (blocks, read) = layout(1000, 8);
        assert_eq!(read, [(0..1000, 0)]);
        let whole = Pieces::whole(1000);
        assert!(blocks[3].pairs(2, &whole).eq([blocks[3].rows.clone()]));
        assert!(
            blocks[BLOCKS - 1]
                .pairs(2, &whole)
                .all(|rows| rows.end == 998)
        );
    }

    #[test]
    fn pairs_lie_in_one_piece() {
        let (blocks, _) = layout(64, 2);
        let pieces = Pieces::new(&[3, 61], 64).unwrap();
        // Rows 2 and 3 of the second block belong to two pieces.
        assert_eq!(blocks[1].rows, 2..4);
        assert!(blocks[1].pairs(1, &pieces).eq(std::iter::once(3..4)));
        assert!(blocks[0].pairs(2, &pieces).eq(std::iter::once(0..1)));
        assert_eq!(blocks[BLOCKS - 1].pairs(2, &pieces).count(), 0);
    }
}
