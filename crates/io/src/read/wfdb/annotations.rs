//! Annotations of a WFDB record, in a file beside its header, such as the beats in `100.atr`.
//!
//! In: the header's path and rate. Out: events in seconds, named by the code of the annotation and
//! its text where it has one. Read as <https://physionet.org/physiotools/wag/annot-5.htm> says:
//! words of 16 bits, the upper six a code and the lower ten the time since the annotation before.
//! Files of the AHA format are not read.

use crate::error::Result;
use crate::read::events::Event;
use crate::read::source::{Source, damaged};
use std::path::{Path, PathBuf};

/// Endings by which annotation files are known, the first one that is there counts: reference
/// annotations before those that programs made.
const ENDINGS: [&str; 6] = ["atr", "ari", "ecg", "qrs", "st", "apn"];
/// The longest file that is read; a day of beats takes less than a megabyte.
const LONGEST: u64 = 1 << 26;
/// What stands before the unit of time in the text of a first annotation.
const RESOLUTION: &str = "## time resolution:";

/// Codes that are no annotations.
const SKIP: u16 = 59;
const NUMBER: u16 = 60;
const SUBTYPE: u16 = 61;
const CHANNEL: u16 = 62;
const TEXT: u16 = 63;

/// The file beside a header, where there is one.
pub(super) fn beside(header: &Path) -> Option<PathBuf> {
    let candidates = ENDINGS.iter().map(|ending| header.with_extension(ending));
    candidates.into_iter().find(|path| path.is_file())
}

/// Its annotations.
pub(super) fn read(path: &Path, rate: f64) -> Result<Vec<Event>> {
    let length = std::fs::metadata(path).map_or(0, |file| file.len());
    if length == 0 {
        return Ok(Vec::new()); // nothing was annotated
    }
    let mut source = Source::open(path)?;
    if source.length() > LONGEST {
        let found = format!("{} bytes", source.length());
        return Err(damaged(
            path,
            "file",
            format!("at most {LONGEST} bytes"),
            found,
        ));
    }
    let bytes = source.head(LONGEST)?;
    parse(path, &bytes, rate)
}

fn parse(path: &Path, bytes: &[u8], rate: f64) -> Result<Vec<Event>> {
    let mut at = 0;
    let mut time: i64 = 0;
    let mut rate = rate;
    let mut found: Vec<(i64, String)> = Vec::new();
    let cut = |at: usize| {
        damaged(
            path,
            format!("byte {at}"),
            "the end of the annotations",
            "none",
        )
    };
    loop {
        let word = word(bytes, at).ok_or_else(|| cut(at))?;
        let (code, value) = (word >> 10, word & 0x3FF);
        at += 2;
        match code {
            0 if value == 0 => break,
            SKIP => {
                let high = self::word(bytes, at).ok_or_else(|| cut(at))?;
                let low = self::word(bytes, at + 2).ok_or_else(|| cut(at))?;
                time += i64::from((u32::from(high) << 16 | u32::from(low)) as i32);
                at += 4;
            }
            NUMBER | SUBTYPE | CHANNEL => {}
            TEXT => {
                let end = at + usize::from(value);
                let text = bytes.get(at..end).ok_or_else(|| cut(at))?;
                let text = String::from_utf8_lossy(text);
                let text =
                    text.trim_matches(|letter: char| letter == '\0' || letter.is_whitespace());
                at = end + usize::from(value % 2);
                if let Some(unit) = text.strip_prefix(RESOLUTION) {
                    rate = unit
                        .trim()
                        .parse()
                        .ok()
                        .filter(|r: &f64| r.is_finite() && *r > 0.0)
                        .ok_or_else(|| {
                            let place = "time resolution".to_string();
                            damaged(
                                path,
                                place,
                                "a number above 0",
                                format!("`{}`", unit.trim()),
                            )
                        })?;
                    found.pop();
                } else if let Some((_, name)) = found.last_mut().filter(|_| !text.is_empty()) {
                    name.push(' ');
                    name.push_str(text);
                }
            }
            _ => {
                time += i64::from(value);
                found.push((time, name(code)));
            }
        }
    }
    let event = |(time, name): (i64, String)| Event {
        onset: time as f64 / rate,
        duration: 0.0,
        name,
    };
    Ok(found.into_iter().map(event).collect())
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes([pair[0], pair[1]]))
}

/// The sign by which PhysioNet writes a code, or its number.
fn name(code: u16) -> String {
    const SIGNS: [&str; 42] = [
        " ", "N", "L", "R", "a", "V", "F", "J", "A", "S", "E", "j", "/", "Q", "~", "", "|", "",
        "s", "T", "*", "D", "\"", "=", "p", "B", "^", "t", "+", "u", "?", "!", "[", "]", "e", "n",
        "@", "x", "f", "(", ")", "r",
    ];
    match SIGNS.get(usize::from(code)).map(|sign| sign.trim()) {
        Some("") | None => format!("code {code}"),
        Some(sign) => sign.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn annotation(code: u16, value: u16) -> u16 {
        code << 10 | value
    }

    #[test]
    fn beats_texts_and_long_pauses() {
        let mut bytes = words(&[annotation(28, 18), annotation(TEXT, 3)]);
        bytes.extend(b"(N\0\0"); // padded to an even length
        bytes.extend(words(&[
            annotation(1, 59),
            annotation(CHANNEL, 1),
            annotation(SKIP, 0),
            1,
            0x86A0, // 100 000 in two words, the upper one first
            annotation(5, 23),
            annotation(45, 1),
            0,
        ]));
        let found = parse(Path::new("100.atr"), &bytes, 100.0).unwrap();
        let expected = [
            (0.18, "+ (N"),
            (0.77, "N"),
            (1001.0, "V"),
            (1001.01, "code 45"),
        ];
        assert_eq!(found.len(), 4);
        for (event, (onset, name)) in found.iter().zip(expected) {
            assert!(
                (event.onset - onset).abs() < 1e-9 && event.name == name,
                "{event:?}"
            );
        }
    }

    #[test]
    fn a_unit_of_time_of_its_own() {
        let mut bytes = words(&[annotation(22, 0), annotation(TEXT, 24)]);
        bytes.extend(b"## time resolution: 1000");
        bytes.extend(words(&[annotation(1, 500), 0]));
        let found = parse(Path::new("a.qrs"), &bytes, 250.0).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].onset, 0.5);
    }

    #[test]
    fn what_breaks_off_is_refused_with_its_place() {
        let whole = words(&[
            annotation(1, 59),
            annotation(SKIP, 0),
            0,
            7,
            annotation(1, 2),
        ]);
        for end in 0..whole.len() {
            let error = parse(Path::new("x.atr"), &whole[..end], 100.0)
                .unwrap_err()
                .to_string();
            assert!(error.contains("x.atr") && error.contains("byte"), "{error}");
        }
    }
}
