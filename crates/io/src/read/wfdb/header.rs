//! The header of a WFDB record: a line for the record and a line for each signal.
//!
//! Read as <https://physionet.org/physiotools/wag/header-5.htm> says. Refused: records of several
//! segments.

use super::samples::Coding;
use crate::error::{Error, Result};
use crate::read::source::damaged;
use std::path::Path;

/// Samples per second of a record that does not say.
const DEFAULT_RATE: f64 = 250.0;
/// Numbers per physical unit of a signal that does not say.
const DEFAULT_GAIN: f64 = 200.0;

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
    pub file: String,
    pub coding: Coding,
    /// Samples in every frame.
    pub per_frame: usize,
    /// Frames by which the signal lies late in its file.
    pub skew: usize,
    /// Bytes before the samples.
    pub offset: u64,
    pub gain: f64,
    pub baseline: f64,
    pub unit: String,
    /// Whether the header gives a gain.
    pub calibrated: bool,
    pub name: String,
}

pub(super) fn parse(path: &Path, text: &str) -> Result<Header> {
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
    if name.contains('/') {
        return Err(Error::content(
            path,
            format!("line {number}"),
            "a record of one segment",
            format!("`{name}`, a record of several segments"),
            "read its segments one by one",
        ));
    }
    let place = |what: &str| format!("line {number}, {what}");
    let n_signals: usize = whole(
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
    let mut signals = Vec::new();
    for (number, line) in lines.take(n_signals) {
        signals.push(signal(path, number, line, signals.len() + 1)?);
    }
    if signals.len() < n_signals || n_signals == 0 {
        let expected = match n_signals {
            0 => "at least one signal".to_string(),
            _ => format!("{n_signals} signals, as line {number} says"),
        };
        return Err(damaged(
            path,
            "signal lines",
            expected,
            signals.len().to_string(),
        ));
    }
    Ok(Header {
        rate,
        n_frames,
        signals,
    })
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
    let file = next().to_string();
    if file.contains(['/', '\\']) || file == "~" || file == "-" {
        return Err(Error::content(
            path,
            place("file"),
            "the name of a file beside the header",
            format!("`{file}`"),
            "put the signal file beside the header and name it there",
        ));
    }
    let field = next();
    let digits = field.bytes().take_while(u8::is_ascii_digit).count();
    let (code, mut modifiers) = field.split_at(digits);
    let coding = Coding::from_code(code).ok_or_else(|| {
        Error::content(
            path,
            place("format"),
            "16, 24, 32, 61, 80, 160 or 212",
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
    let (_initial, _checksum, _block) = (next(), next(), next());
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
