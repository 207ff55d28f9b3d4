//! Pieces of a recording: stretches of samples that follow each other in the matrix, but not in
//! time.
//!
//! In: lengths. Out: [`Pieces`], which says what is contiguous. Files laid end to end and trials of
//! an experiment are pieces; a whole recording is one. Nothing that reads two samples together (a
//! lagged product, a window, a filter) may read them from two pieces.
//!
//! Deliberately absent: values, and which samples are missing ([`crate::rows`]).

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};

/// Where the pieces of a recording begin and end. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// 0, where every later piece begins, and T.
    bounds: Arc<[usize]>,
    longest: usize,
    typical: usize,
}

impl Pieces {
    /// One piece of T samples.
    pub fn whole(n_samples: usize) -> Pieces {
        Pieces {
            bounds: Arc::new([0, n_samples]),
            longest: n_samples,
            typical: n_samples,
        }
    }

    /// Pieces of these lengths, in order, which together are T samples.
    ///
    /// # Errors
    /// When a length is 0, or the lengths do not add up to T.
    pub fn new(lengths: &[usize], n_samples: usize) -> Result<Pieces> {
        if let Some(piece) = lengths.iter().position(|&length| length == 0) {
            return Err(Error::EmptyPiece { piece });
        }
        let end = |start: &mut usize, length: &usize| {
            *start = start.checked_add(*length)?;
            Some(*start)
        };
        let ends: Vec<usize> = lengths.iter().scan(0, end).collect();
        if ends.len() != lengths.len() || ends.last() != Some(&n_samples) {
            return Err(Error::PieceLengths {
                n_pieces: lengths.len(),
                total: lengths
                    .iter()
                    .fold(0, |sum, &length| sum.saturating_add(length)),
                n_samples,
            });
        }
        Ok(Pieces {
            bounds: std::iter::once(0).chain(ends).collect(),
            longest: lengths.iter().copied().max().unwrap_or(0),
            typical: typical(lengths, n_samples),
        })
    }

    /// Number of pieces.
    pub fn count(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Number of samples T of all pieces together.
    pub fn n_samples(&self) -> usize {
        self.bounds[self.count()]
    }

    /// Whether there is only one piece.
    pub fn is_whole(&self) -> bool {
        self.count() == 1
    }

    /// Samples of the longest piece.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The length that half of all samples have around them: they are in pieces at least as long.
    /// What is judged together (windows, lags) is chosen by it, so that a few long or short pieces
    /// among many others decide nothing.
    pub fn typical(&self) -> usize {
        self.typical
    }

    /// The samples of every piece, in order.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> + Clone + '_ {
        self.bounds.windows(2).map(|bounds| bounds[0]..bounds[1])
    }

    /// Samples of every piece, in order.
    pub fn lengths(&self) -> impl ExactSizeIterator<Item = usize> + Clone + '_ {
        self.ranges().map(|piece| piece.len())
    }

    /// The samples of the piece that has sample t.
    ///
    /// # Panics
    /// When there is no sample t.
    pub fn at(&self, t: usize) -> Range<usize> {
        let after = self.bounds.partition_point(|&bound| bound <= t);
        self.bounds[after - 1]..self.bounds[after]
    }

    /// The parts of all pieces that are among these samples, in order.
    pub fn within(&self, samples: Range<usize>) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
        let first = self
            .bounds
            .partition_point(|&bound| bound <= samples.start)
            .saturating_sub(1);
        self.bounds[first..]
            .windows(2)
            .take_while({
                let end = samples.end;
                move |bounds| bounds[0] < end
            })
            .map(move |bounds| bounds[0].max(samples.start)..bounds[1].min(samples.end))
            .filter(|part| !part.is_empty())
    }

    /// The pieces that `samples` is made of, counted from its beginning.
    pub fn cut(&self, samples: Range<usize>) -> Pieces {
        let lengths: Vec<usize> = self
            .within(samples.clone())
            .map(|part| part.len())
            .collect();
        match lengths.as_slice() {
            [] | [_] => Pieces::whole(samples.len()),
            several => Pieces::new(several, samples.len()).expect("parts of pieces fill a stretch"),
        }
    }
}

fn typical(lengths: &[usize], n_samples: usize) -> usize {
    let mut longest_first = lengths.to_vec();
    longest_first.sort_unstable_by(|a, b| b.cmp(a));
    let mut covered = 0;
    let reaches_half = |length: &usize| {
        covered += length;
        2 * covered >= n_samples
    };
    longest_first.into_iter().find(reaches_half).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_say_what_is_contiguous() {
        let pieces = Pieces::new(&[3, 1, 4], 8).unwrap();
        assert_eq!((pieces.count(), pieces.n_samples()), (3, 8));
        assert_eq!(pieces.longest(), 4);
        assert!(!pieces.is_whole() && Pieces::whole(8).is_whole());
        assert!(pieces.ranges().eq([0..3, 3..4, 4..8]));
        let at: Vec<_> = (0..8).map(|t| pieces.at(t).start).collect();
        assert_eq!(at, [0, 0, 0, 3, 4, 4, 4, 4]);
        assert!(pieces.within(2..6).eq([2..3, 3..4, 4..6]));
        assert!(pieces.within(4..5).eq(std::iter::once(4..5)));
        assert!(pieces.within(3..3).eq([]));
        assert!(pieces.cut(1..4).ranges().eq([0..2, 2..3]));
        assert_eq!(pieces.cut(5..8), Pieces::whole(3));
        assert_eq!(Pieces::new(&[8], 8).unwrap(), Pieces::whole(8));
    }

    #[test]
    fn few_pieces_of_another_length_do_not_change_what_is_typical() {
        let typical = |lengths: &[usize]| {
            let total = lengths.iter().sum();
            Pieces::new(lengths, total).unwrap().typical()
        };
        assert_eq!(typical(&[8; 500]), 8);
        assert_eq!(typical(&[&[8; 500][..], &[1000]].concat()), 8);
        assert_eq!(typical(&[&[100; 40][..], &[1; 300]].concat()), 100);
        assert_eq!(Pieces::whole(7).typical(), 7);
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        let refused = |lengths: &[usize], part: &str| {
            let message = Pieces::new(lengths, 8).unwrap_err().to_string();
            assert!(message.contains(part), "\"{message}\" lacks \"{part}\"");
        };
        refused(&[3, 4], "2 pieces of together 7 samples");
        refused(&[], "0 pieces of together 0 samples");
        refused(&[8, 1], "8 samples");
        refused(&[8, 0], "piece 1 (counted from 0)");
        refused(&[usize::MAX, 9], "together");
    }
}
