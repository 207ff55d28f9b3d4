//! The header of an EDF or BDF file: text in fields of fixed width.

use crate::error::{Error, Result};
use crate::read::Format;
use crate::read::source::{Source, damaged};
use std::path::Path;

/// What the header says.
#[derive(Debug)]
pub(super) struct Header {
    /// Number of data records; `None` when the recorder did not fill it in.
    pub n_records: Option<u64>,
    /// Seconds of one record.
    pub duration: f64,
    /// The records need not follow each other (EDF+D).
    pub discontinuous: bool,
    pub signals: Vec<Signal>,
}

/// One signal, in the order of the file.
#[derive(Debug)]
pub(super) struct Signal {
    pub label: String,
    pub unit: String,
    pub physical: [f64; 2],
    pub digital: [f64; 2],
    pub per_record: usize,
}

impl Signal {
    pub fn is_annotations(&self) -> bool {
        self.label == "EDF Annotations" || self.label == "BDF Annotations"
    }

    /// Physical units of one digital step.
    pub fn gain(&self) -> f64 {
        let ([low, high], [from, to]) = (self.physical, self.digital);
        (high - low) / (to - from)
    }

    /// The physical value of a digital number.
    pub fn meaning(&self, digital: f64) -> f64 {
        (digital - self.digital[0]) * self.gain() + self.physical[0]
    }
}

/// Bytes of the header: one block for the file and one for each signal.
pub(super) fn size(n_signals: usize) -> u64 {
    256 * (n_signals as u64 + 1)
}

pub(super) fn read(source: &mut Source, format: Format) -> Result<Header> {
    let path = source.path().to_owned();
    let fixed = source.bytes(0, 256, "header")?;
    let n_signals: usize = number(&path, &fixed[252..256], "header, number of signals")?;
    if n_signals == 0 {
        return Err(Error::content(
            &path,
            "header, number of signals",
            "at least 1",
            "0",
            "the file holds no signals; check that this is the file that was meant",
        ));
    }
    let claimed: u64 = number(&path, &fixed[184..192], "header, bytes of the header")?;
    if claimed != size(n_signals) {
        let expected = format!("{} for {n_signals} signals", size(n_signals));
        return Err(damaged(
            &path,
            "header, bytes of the header",
            expected,
            claimed.to_string(),
        ));
    }
    let n_records: i64 = number(&path, &fixed[236..244], "header, number of records")?;
    let duration: f64 = number(&path, &fixed[244..252], "header, duration of a record")?;
    if !(duration.is_finite() && duration >= 0.0) {
        let found = duration.to_string();
        return Err(damaged(
            &path,
            "header, duration of a record",
            "seconds from 0",
            found,
        ));
    }
    let plus = text(&fixed[192..236]);
    let kind = if format == Format::Bdf {
        "BDF+D"
    } else {
        "EDF+D"
    };
    let rest = source.bytes(256, 256 * n_signals as u64, "header of the signals")?;
    Ok(Header {
        n_records: u64::try_from(n_records).ok(),
        duration,
        discontinuous: plus.starts_with(kind),
        signals: signals(&path, &rest, n_signals)?,
    })
}

/// The fields lie one after the other, each for all signals.
fn signals(path: &Path, bytes: &[u8], n_signals: usize) -> Result<Vec<Signal>> {
    let field = |before: usize, width: usize, signal: usize| {
        let start = before * n_signals + width * signal;
        &bytes[start..start + width]
    };
    (0..n_signals)
        .map(|signal| {
            let label = text(field(0, 16, signal));
            let place = |what: &str| format!("header, signal {} (`{label}`), {what}", signal + 1);
            let of = |before, what: &str| number(path, field(before, 8, signal), &place(what));
            let per_record: i64 =
                number(path, field(216, 8, signal), &place("samples per record"))?;
            let unit = text(field(96, 8, signal));
            // Annotations have limits, too, but nothing depends on them.
            let is_annotations = label.ends_with(" Annotations");
            let (physical, digital) = if is_annotations {
                ([0.0, 1.0], [0.0, 1.0])
            } else {
                (
                    [of(104, "physical minimum")?, of(112, "physical maximum")?],
                    [of(120, "digital minimum")?, of(128, "digital maximum")?],
                )
            };
            Ok(Signal {
                per_record: usize::try_from(per_record).map_err(|_| {
                    damaged(
                        path,
                        place("samples per record"),
                        "a number from 0",
                        per_record.to_string(),
                    )
                })?,
                label,
                unit,
                physical,
                digital,
            })
        })
        .collect()
}

/// A field without the spaces that fill it. Not all writers keep to ASCII.
fn text(bytes: &[u8]) -> String {
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    text.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0')
        .to_string()
}

fn number<T: std::str::FromStr>(path: &Path, bytes: &[u8], place: &str) -> Result<T> {
    let text = text(bytes);
    text.parse()
        .map_err(|_| damaged(path, place, "a number", format!("`{text}`")))
}
