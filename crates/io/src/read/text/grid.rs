//! Which number of a recording a cell of a text holds.

use std::ops::Range;

/// Where samples and channels are in a text. Rows are counted from the first row of the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Grid {
    /// A row a sample; for every column its channel.
    Columns(Vec<Option<usize>>),
    /// A row a channel from row `first` on, and the samples in these columns.
    Lines { first: usize, samples: Range<usize> },
}

impl Grid {
    /// The sample and the channel of a cell; `None` where it is neither.
    pub fn place(&self, row: usize, column: usize) -> Option<(usize, usize)> {
        match self {
            Self::Columns(channels) => Some((row, (*channels.get(column)?)?)),
            Self::Lines { first, samples } => {
                let is_inside = row >= *first && samples.contains(&column);
                is_inside.then(|| (column - samples.start, row - first))
            }
        }
    }

    /// Rows that hold any of the samples; all, where a row is a channel.
    pub fn rows(&self, samples: Range<usize>) -> Range<usize> {
        match self {
            Self::Columns(_) => samples,
            Self::Lines { .. } => 0..usize::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_samples_and_channels() {
        let columns = Grid::Columns(vec![None, Some(0), Some(1)]);
        assert_eq!(columns.place(5, 0), None);
        assert_eq!(columns.place(5, 2), Some((5, 1)));
        assert_eq!(columns.place(5, 3), None);
        assert_eq!(columns.rows(2..4), 2..4);
        let lines = Grid::Lines {
            first: 1,
            samples: 1..4,
        };
        assert_eq!(lines.place(0, 1), None);
        assert_eq!(lines.place(2, 0), None);
        assert_eq!(lines.place(2, 3), Some((2, 1)));
        assert_eq!(lines.place(2, 4), None);
    }
}
