//! Which way round a matrix lies in a file that does not say: are its rows samples, or channels?
//!
//! In: the shape, what the caller asks for, and what stands beside the matrix (a list of times or
//! of names). Out: the decision with the note that says it. A list that has the length of one side
//! only decides; otherwise the longer side is time, because sources can only be told apart where
//! there are many more samples than channels. Formats that know their layout (EDF, WAV, EEGLAB, …)
//! do not come here, and no number of the matrix is looked at.

use super::Note;

/// The longer side is plainly time when it is so many times the other.
pub(super) const CLEAR: usize = 4;
/// With a shorter side below this there is nothing to separate whichever way it lies: the note of
/// the decision is enough.
const WORTH_A_WARNING: usize = 8;

/// How a matrix lies in a file that does not say (text, NPY, NPZ, MATLAB, HDF5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Rows and columns as they are in the file.
    pub shape: (usize, usize),
    /// Rows are channels and columns are samples.
    pub transposed: bool,
}

impl Layout {
    /// Samples and channels.
    pub fn samples_and_channels(&self) -> (usize, usize) {
        let (rows, columns) = self.shape;
        if self.transposed {
            (columns, rows)
        } else {
            (rows, columns)
        }
    }

    /// The side that is time, in words.
    pub(crate) fn time(&self) -> &'static str {
        if self.transposed { "columns" } else { "rows" }
    }
}

/// What stands beside a matrix: a list of one side's length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A list of times: its name, and how many there are.
    #[cfg_attr(not(any(feature = "npz", feature = "mat")), allow(dead_code))]
    Times(String, usize),
    /// A list of channels: its name, and how many there are.
    Names(String, usize),
}

impl Evidence {
    /// Whether rows are channels, and why; `None` where both sides or neither have the length.
    fn decides(&self, (rows, columns): (usize, usize)) -> Option<(bool, String)> {
        if rows == columns {
            return None;
        }
        let transposed = match self {
            Self::Times(_, length) => !side(*length, rows, columns)?,
            Self::Names(_, length) => side(*length, rows, columns)?,
        };
        Some((transposed, self.told()))
    }

    /// What it says, in words.
    pub fn told(&self) -> String {
        match self {
            Self::Times(name, length) => format!("`{name}` holds {length} times"),
            Self::Names(name, 1) => format!("`{name}` names one channel"),
            Self::Names(name, length) => format!("`{name}` names {length} channels"),
        }
    }
}

/// Whether rows (else columns) have this length.
fn side(length: usize, rows: usize, columns: usize) -> Option<bool> {
    match (length == rows, length == columns) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Decides how a matrix lies. The note begins with `what`, such as `of F64`.
pub(crate) fn decide(
    shape: (usize, usize),
    asked: Option<bool>,
    evidence: &[Evidence],
    what: &str,
) -> (Layout, Note) {
    let (rows, columns) = shape;
    let told = |transposed: bool, why: &str| {
        let layout = Layout { shape, transposed };
        let (samples, channels) = layout.samples_and_channels();
        let time = layout.time();
        let text =
            format!("{samples} samples × {channels} channels{what}; {time} are samples{why}");
        (layout, Note::detected(text))
    };
    if let Some(transposed) = asked {
        return told(transposed, "");
    }
    if let Some((transposed, why)) = evidence.iter().find_map(|found| found.decides(shape)) {
        return told(transposed, &format!(", as {why}"));
    }
    let (short, long) = (rows.min(columns), rows.max(columns));
    let transposed = columns > rows;
    if long >= short.saturating_mul(CLEAR) || short < WORTH_A_WARNING {
        let why = if transposed {
            ", as there are more of them than rows (--transpose=no takes the rows)"
        } else {
            ""
        };
        return told(transposed, why);
    }
    let other = if transposed {
        "--transpose=no"
    } else {
        "--transpose"
    };
    let (layout, note) = told(transposed, "");
    let text = format!(
        "{}, but {rows} × {columns} can be meant either way: check it, {other} reads it the other \
         way round",
        note.text
    );
    (layout, Note::warning(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        shape: (usize, usize),
        asked: Option<bool>,
        evidence: &[Evidence],
        transposed: bool,
        note: &str,
    ) {
        let (layout, found) = decide(shape, asked, evidence, "");
        assert_eq!(layout.transposed, transposed, "{shape:?}");
        assert_eq!(found.to_string(), note, "{shape:?}");
    }

    #[test]
    fn the_longer_side_is_time() {
        check(
            (8, 94_000),
            None,
            &[],
            true,
            "94000 samples × 8 channels; columns are samples, as there are more of them than rows \
             (--transpose=no takes the rows)",
        );
        check(
            (94_000, 8),
            None,
            &[],
            false,
            "94000 samples × 8 channels; rows are samples",
        );
        check(
            (306, 1000),
            None,
            &[],
            true,
            "warning: 1000 samples × 306 channels; columns are samples, but 306 × 1000 can be \
             meant either way: check it, --transpose=no reads it the other way round",
        );
        check(
            (64, 64),
            None,
            &[],
            false,
            "warning: 64 samples × 64 channels; rows are samples, but 64 × 64 can be meant either \
             way: check it, --transpose reads it the other way round",
        );
        check(
            (3, 2),
            None,
            &[],
            false,
            "3 samples × 2 channels; rows are samples",
        );
    }

    #[test]
    fn what_is_asked_goes_before_lists_and_lists_before_the_shape() {
        let times = Evidence::Times("t".into(), 100);
        let names = Evidence::Names("labels".into(), 300);
        let note = "300 samples × 100 channels; columns are samples";
        check((100, 300), Some(true), &[], true, note);
        let note = "100 samples × 300 channels; rows are samples";
        check((100, 300), Some(false), &[], false, note);
        let note = "100 samples × 300 channels; rows are samples, as `t` holds 100 times";
        check((100, 300), None, std::slice::from_ref(&times), false, note);
        let note = "100 samples × 300 channels; rows are samples, as `labels` names 300 channels";
        check((100, 300), None, &[names], false, note);
        // A list of another length says nothing, nor does one where both sides have it.
        let note = "5000 samples × 3 channels; rows are samples";
        check((5000, 3), None, &[times], false, note);
    }
}
