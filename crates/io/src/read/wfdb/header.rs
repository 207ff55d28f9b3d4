//! The header of a WFDB record: a line for the record, and a line for each signal or, in a record
//! of several segments, for each of these.
//!
//! Read as <https://physionet.org/physiotools/wag/header-5.htm> says.

use super::samples::Coding;
use crate::error::{Error, Result};
use crate::read::source::damaged;
use std::path::Path;

/// Samples per second of a record that does not say.
const DEFAULT_RATE: f64 = 250.0;
/// Numbers per physical unit of a signal that does not say.
const DEFAULT_GAIN: f64 = 200.0;

/// What a header describes.
#[derive(Debug)]
pub(super) enum Described {
    Signals(Header),
    Segments(Segments),
}

/// A record of several segments.
#[derive(Debug)]
pub(super) struct Segments {
    pub rate: f64,
    pub n_frames: Option<usize>,
    pub list: Vec<Segment>,
}

/// One segment line.
#[derive(Debug)]
pub(super) struct Segment {
    /// The record that it is; `None` for a time without any signal.
    pub name: Option<String>,
    pub n_frames: usize,
}

/// The record line and the signals.
#[derive(Debug)]
pub(super) struct Header {
    pub rate: f64,
    /// Frames of the record; `None` when the length of the files decides.
    pub n_frames: Option<usize>,
    pub signals: Vec<Signal>,
}

/// One signal line.
#[derive(Debug)]
pub(super) struct Signal {
    /// `None` for a signal of a layout, which has no samples of its own.
    pub file: Option<String>,
    pub coding: Coding,
    /// Samples in every frame.
    pub per_frame: usize,
    /// Frames by which the signal lies late in its file.
    pub skew: usize,
    /// Bytes before the samples; in a FLAC stream samples before the first.
    pub offset: u64,
    /// The number before the first difference of format 8.
    pub initial: i64,
    pub gain: f64,
    pub baseline: f64,
    pub unit: String,
    /// Whether the header gives a gain.
    pub calibrated: bool,
    pub name: String,
}

pub(super) fn parse(path: &Path, text: &str) -> Result<Described> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let (number, record) = lines
        .next()
        .ok_or_else(|| damaged(path, "line 1", "the line of the record", "none"))?;
    let mut fields = record.split_whitespace();
    let name = fields.next().unwrap_or_default();
    let place = |what: &str| format!("line {number}, {what}");
    let count: usize = whole(
        path,
        &place("number of signals"),
        fields.next().unwrap_or_default(),
    )?;
    let rate = match fields.next() {
        None => DEFAULT_RATE,
        // 360/24(2) is 360 frames per second and a counter of its own.
        Some(field) => {
            let text = field.split(['/', '(']).next().unwrap_or_default();
            match text.parse::<f64>() {
                Ok(rate) if rate.is_finite() && rate > 0.0 => rate,
                _ => {
                    return Err(damaged(
                        path,
                        place("rate"),
                        "a number above 0",
                        format!("`{field}`"),
                    ));
                }
            }
        }
    };
    let n_frames = match fields.next() {
        None => None,
        Some(field) => {
            Some(whole(path, &place("number of samples"), field)?).filter(|&n_frames| n_frames > 0)
        }
    };
    if let Some((_, n_segments)) = name.split_once('/') {
        let n_segments: usize = whole(path, &place("number of segments"), n_segments)?;
        let mut list = Vec::new();
        for (number, line) in lines.take(n_segments) {
            list.push(segment(path, number, line)?);
        }
        complete(path, "segment", number, n_segments, list.len())?;
        return Ok(Described::Segments(Segments {
            rate,
            n_frames,
            list,
        }));
    }
    let mut signals = Vec::new();
    for (number, line) in lines.take(count) {
        signals.push(signal(path, number, line, signals.len() + 1)?);
    }
    complete(path, "signal", number, count, signals.len())?;
    Ok(Described::Signals(Header {
        rate,
        n_frames,
        signals,
    }))
}

/// Whether there are as many lines as the line of the record says, and any at all.
fn complete(path: &Path, what: &str, line: usize, claimed: usize, found: usize) -> Result<()> {
    if found == claimed && found > 0 {
        return Ok(());
    }
    let expected = match claimed {
        0 => format!("at least one {what}"),
        _ => format!("{claimed} {what}s, as line {line} says"),
    };
    Err(damaged(
        path,
        format!("{what} lines"),
        expected,
        found.to_string(),
    ))
}

/// `record_0001 3000`, or `~ 3000` for a gap.
fn segment(path: &Path, number: usize, line: &str) -> Result<Segment> {
    let mut fields = line.split_whitespace();
    let name = fields.next().unwrap_or_default();
    let place = format!("line {number}, samples of the segment");
    let n_frames = whole(path, &place, fields.next().unwrap_or_default())?;
    let name = match name {
        "~" => None,
        name => Some(beside(path, &format!("line {number}, segment"), name)?),
    };
    Ok(Segment { name, n_frames })
}

/// A name without a folder.
fn beside(path: &Path, place: &str, name: &str) -> Result<String> {
    if name.contains(['/', '\\']) || name == "-" || name == "." || name == ".." {
        return Err(Error::content(
            path,
            place,
            "the name of a file beside the header",
            format!("`{name}`"),
            "put the file beside the header and name it there",
        ));
    }
    Ok(name.to_string())
}

/// `record.dat 212x4:2+512 200(1024)/mV 11 1024 995 -22131 0 MLII`
fn signal(path: &Path, number: usize, line: &str, position: usize) -> Result<Signal> {
    let place = |what: &str| format!("line {number}, {what}");
    let mut rest = line;
    let mut next = || {
        let (field, others) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = others.trim_start();
        field
    };
    let file = match next() {
        "~" => None,
        name => Some(beside(path, &place("file"), name)?),
    };
    let field = next();
    let digits = field.bytes().take_while(u8::is_ascii_digit).count();
    let (code, mut modifiers) = field.split_at(digits);
    let coding =
        Coding::from_code(code).filter(|&coding| (coding == Coding::None) == file.is_none());
    let coding = coding.ok_or_else(|| {
        Error::content(
            path,
            place("format"),
            Coding::KNOWN,
            format!("`{field}`"),
            "convert the record with `xform`",
        )
    })?;
    let (mut per_frame, mut skew, mut offset) = (1, 0, 0);
    while let Some(sign) = modifiers.chars().next() {
        let digits = modifiers[sign.len_utf8()..]
            .bytes()
            .take_while(u8::is_ascii_digit)
            .count();
        let end = sign.len_utf8() + digits;
        let value = &modifiers[sign.len_utf8()..end];
        match sign {
            'x' => per_frame = whole(path, &place("samples per frame"), value)?,
            ':' => skew = whole(path, &place("skew"), value)?,
            '+' => offset = whole(path, &place("byte offset"), value)?,
            _ => {
                return Err(damaged(
                    path,
                    place("format"),
                    "x, : or + and a number",
                    format!("`{field}`"),
                ));
            }
        }
        modifiers = &modifiers[end..];
    }
    if per_frame == 0 {
        return Err(damaged(path, place("samples per frame"), "at least 1", "0"));
    }
    let gain_field = next();
    let (_resolution, zero) = (next(), next());
    let (initial, _checksum, _block) = (next(), next(), next());
    let description = rest.trim();

    let (numbers, unit) = gain_field.split_once('/').unwrap_or((gain_field, "mV"));
    let (gain, baseline) = match numbers.split_once('(') {
        Some((gain, baseline)) => (gain, Some(baseline.trim_end_matches(')'))),
        None => (numbers, None),
    };
    let real = |what: &str, text: &str| match (text.is_empty(), text.parse::<f64>()) {
        (true, _) => Ok(0.0),
        (_, Ok(value)) if value.is_finite() => Ok(value),
        _ => Err(damaged(path, place(what), "a number", format!("`{text}`"))),
    };
    let gain = real("gain", gain)?;
    Ok(Signal {
        file,
        coding,
        per_frame,
        skew,
        offset,
        gain: if gain == 0.0 { DEFAULT_GAIN } else { gain },
        baseline: real("baseline", baseline.unwrap_or(zero))?,
        initial: if initial.is_empty() {
            real("zero", zero)? as i64
        } else {
            whole(path, &place("first sample"), initial)?
        },
        unit: unit.to_string(),
        calibrated: gain != 0.0,
        name: if description.is_empty() {
            format!("ch{position}")
        } else {
            description.to_string()
        },
    })
}

fn whole<T: std::str::FromStr>(path: &Path, place: &str, text: &str) -> Result<T> {
    text.parse()
        .map_err(|_| damaged(path, place, "a whole number", format!("`{text}`")))
}
