//! Which samples of a recording can be used, and stretches of them.
//!
//! In: one flag a sample. Out: [`Rows`] of the whole recording, or a borrowed [`RowsView`] of a
//! stretch. Both only answer and zero; no values live here.

use std::sync::Arc;

/// Which rows (samples) of a recording are usable. A sample with a missing value in any channel is
/// not.
#[derive(Clone, Debug)]
pub struct Rows {
    n_samples: usize,
    n_valid: usize,
    missing: Option<Arc<[bool]>>,
}

impl Rows {
    /// Rows of a recording; `missing[t]` marks the unusable ones.
    pub fn new(missing: &[bool]) -> Rows {
        let n_missing = missing.iter().filter(|&&m| m).count();
        Rows {
            n_samples: missing.len(),
            n_valid: missing.len() - n_missing,
            missing: (n_missing > 0).then(|| missing.into()),
        }
    }

    /// The first n of these rows, to be read into by [`Rows::read_stretch`].
    pub fn block(&self, n: usize) -> Rows {
        let missing = self.missing.as_ref().map(|missing| missing[..n].into());
        let mut rows = Rows {
            n_samples: n,
            n_valid: n,
            missing,
        };
        rows.n_valid = rows.view().n_valid();
        rows
    }

    /// T rows, all usable.
    pub fn all(n_samples: usize) -> Rows {
        Rows {
            n_samples,
            n_valid: n_samples,
            missing: None,
        }
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
            n,
        }
    }

    /// Becomes the rows first.. of `whole`, as many as there are here.
    pub fn read_stretch(&mut self, whole: &Rows, first: usize) {
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
    n: usize,
}

impl RowsView<'_> {
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
