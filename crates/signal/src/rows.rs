//! Which samples of a recording can be used, which of them are contiguous, and stretches of them.
//!
//! In: one flag a sample, and [`Pieces`]. Out: [`Rows`] of the whole recording or of a block of it,
//! or a borrowed [`RowsView`] of a stretch. All only answer and zero; no values live here. Whoever
//! reads several samples together asks [`Rows::pieces`] or [`RowsView::pieces`] first.

use std::ops::Range;
use std::sync::Arc;

use crate::pieces::Pieces;
use crate::recording::Recording;

/// Which rows (samples) of a recording are usable. A sample with a missing value in any channel is
/// not.
#[derive(Clone, Debug)]
pub struct Rows {
    n_samples: usize,
    n_valid: usize,
    missing: Option<Arc<[bool]>>,
    /// Of the whole recording, of which these rows may be a block, …
    pieces: Option<Pieces>,
    /// … that begins with this sample. `None` and 0 where everything is one piece.
    first: usize,
}

impl Rows {
    /// Rows of a recording.
    pub fn of(recording: &Recording) -> Rows {
        let rows = match recording.missing() {
            Some(missing) => Rows::new(missing),
            None => Rows::all(recording.n_samples()),
        };
        rows.with_pieces(recording.pieces())
    }

    /// Rows of one piece; `missing[t]` marks the unusable ones.
    pub fn new(missing: &[bool]) -> Rows {
        let n_missing = missing.iter().filter(|&&m| m).count();
        Rows {
            n_valid: missing.len() - n_missing,
            missing: (n_missing > 0).then(|| missing.into()),
            ..Rows::all(missing.len())
        }
    }

    /// T rows of one piece, all usable.
    pub fn all(n_samples: usize) -> Rows {
        Rows {
            n_samples,
            n_valid: n_samples,
            missing: None,
            pieces: None,
            first: 0,
        }
    }

    /// These rows, contiguous within these pieces only.
    pub fn with_pieces(mut self, pieces: &Pieces) -> Rows {
        debug_assert_eq!(self.n_samples, pieces.n_samples());
        self.pieces = (!pieces.is_whole()).then(|| pieces.clone());
        self
    }

    /// The first n of these rows, to be read into by [`Rows::read_stretch`].
    pub fn block(&self, n: usize) -> Rows {
        let missing = self.missing.as_ref().map(|missing| missing[..n].into());
        let mut rows = Rows {
            n_samples: n,
            n_valid: n,
            missing,
            pieces: self.pieces.clone(),
            first: self.first,
        };
        rows.n_valid = rows.view().n_valid();
        rows
    }

    /// T.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// Number of usable rows.
    pub fn n_valid(&self) -> usize {
        self.n_valid
    }

    /// Whether row t is usable.
    #[inline]
    pub fn is_valid(&self, t: usize) -> bool {
        self.missing.as_ref().is_none_or(|m| !m[t])
    }

    /// The missing flags, when there are any.
    pub fn missing(&self) -> Option<&[bool]> {
        self.missing.as_deref()
    }

    /// Contiguous rows, piece by piece, missing ones included.
    pub fn pieces(&self) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
        self.view().pieces()
    }

    /// The pieces that these rows are made of.
    pub fn to_pieces(&self) -> Pieces {
        self.view().to_pieces()
    }

    /// Calls `f` for every usable row, ascending.
    pub fn for_each_valid(&self, mut f: impl FnMut(usize)) {
        match &self.missing {
            None => (0..self.n_samples).for_each(f),
            Some(missing) => (0..self.n_samples)
                .filter(|&t| !missing[t])
                .for_each(&mut f),
        }
    }

    /// Sets the missing rows of a column to 0.
    pub fn zero_missing(&self, column: &mut [f64]) {
        self.zero_missing_from(0, column);
    }

    /// Sets the missing rows of a stretch of a column to 0; it begins at row `first`.
    pub fn zero_missing_from(&self, first: usize, column: &mut [f64]) {
        self.stretch(first, column.len())
            .zero_missing_from(0, column);
    }

    /// Rows first..first + n.
    pub fn stretch(&self, first: usize, n: usize) -> RowsView<'_> {
        RowsView {
            missing: self.missing.as_ref().map(|m| &m[first..first + n]),
            pieces: self.pieces.as_ref(),
            first: self.first + first,
            n,
        }
    }

    /// Becomes the rows first.. of `whole`, as many as there are here.
    pub fn read_stretch(&mut self, whole: &Rows, first: usize) {
        self.first = whole.first + first;
        let Some(missing) = &whole.missing else {
            return;
        };
        let here = self.missing.as_mut().and_then(Arc::get_mut);
        let here = here.expect("rows that are read again and again belong to one owner");
        here.copy_from_slice(&missing[first..first + self.n_samples]);
        self.n_valid = self.view().n_valid();
    }

    /// All rows.
    pub fn view(&self) -> RowsView<'_> {
        self.stretch(0, self.n_samples)
    }
}

/// A stretch of [`Rows`], counted from its beginning.
#[derive(Clone, Copy, Debug)]
pub struct RowsView<'a> {
    missing: Option<&'a [bool]>,
    pieces: Option<&'a Pieces>,
    first: usize,
    n: usize,
}

impl<'a> RowsView<'a> {
    /// n rows of one piece, with one flag each where any is missing.
    ///
    /// # Panics
    /// When there are more or fewer flags than rows.
    pub fn new(n: usize, missing: Option<&'a [bool]>) -> RowsView<'a> {
        assert!(missing.is_none_or(|missing| missing.len() == n));
        RowsView {
            missing,
            pieces: None,
            first: 0,
            n,
        }
    }

    /// Number of rows.
    pub fn n_samples(&self) -> usize {
        self.n
    }

    /// Number of usable rows; counts them.
    pub fn n_valid(&self) -> usize {
        let missing = self
            .missing
            .map_or(0, |m| m.iter().filter(|&&gone| gone).count());
        self.n - missing
    }

    /// Whether row t is usable.
    #[inline]
    pub fn is_valid(&self, t: usize) -> bool {
        self.missing.is_none_or(|m| !m[t])
    }

    /// The missing flags, when there are any.
    pub fn missing(&self) -> Option<&'a [bool]> {
        self.missing
    }

    /// Contiguous rows, piece by piece, missing ones included.
    pub fn pieces(&self) -> impl Iterator<Item = Range<usize>> + Clone + use<'a> {
        self.pieces_within(0..self.n)
    }

    /// The parts of all pieces that are among these rows.
    pub fn pieces_within(
        &self,
        rows: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + Clone + use<'a> {
        let first = self.first;
        let whole = self.pieces.is_none().then_some(rows.clone());
        let samples = first + rows.start..first + rows.end;
        let several = self.pieces.map(|pieces| pieces.within(samples));
        let of_several = several
            .into_iter()
            .flatten()
            .map(move |part| part.start - first..part.end - first);
        whole.into_iter().chain(of_several)
    }

    /// The pieces that these rows are made of.
    pub fn to_pieces(&self) -> Pieces {
        match self.pieces {
            None => Pieces::whole(self.n),
            Some(pieces) => pieces.cut(self.first..self.first + self.n),
        }
    }

    /// These rows.
    pub fn part(&self, rows: Range<usize>) -> RowsView<'a> {
        RowsView {
            missing: self.missing.map(|missing| &missing[rows.clone()]),
            pieces: self.pieces,
            first: self.first + rows.start,
            n: rows.len(),
        }
    }

    /// Sets the missing rows of a stretch that begins at row `first` to 0.
    pub fn zero_missing_from(&self, first: usize, column: &mut [f64]) {
        if let Some(missing) = self.missing {
            for (value, &gone) in column.iter_mut().zip(&missing[first..]) {
                if gone {
                    *value = 0.0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_and_blocks_know_where_pieces_end() {
        let missing = [false, true, false, false, false, false, false, true];
        let rows = Rows::new(&missing).with_pieces(&Pieces::new(&[3, 1, 4], 8).unwrap());
        assert!(rows.pieces().eq([0..3, 3..4, 4..8]));
        let stretch = rows.stretch(2, 4);
        assert!(stretch.pieces().eq([0..1, 1..2, 2..4]));
        assert!(stretch.part(1..3).pieces().eq([0..1, 1..2]));
        assert!(stretch.pieces_within(2..4).eq(std::iter::once(2..4)));
        assert_eq!((stretch.n_valid(), stretch.n_samples()), (4, 4));
        let mut block = rows.block(4);
        assert!(block.pieces().eq([0..3, 3..4]));
        block.read_stretch(&rows, 4);
        assert!(block.pieces().eq(std::iter::once(0..4)));
        assert_eq!((block.n_valid(), block.to_pieces()), (3, Pieces::whole(4)));
        assert!(Rows::all(5).pieces().eq(std::iter::once(0..5)));
        assert!(
            Rows::all(5)
                .stretch(1, 3)
                .pieces()
                .eq(std::iter::once(0..3))
        );
    }
}
