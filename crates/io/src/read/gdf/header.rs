//! The header of a GDF file: binary fields of fixed width, for the file and for each signal.
//!
//! Read as A. Schlögl, «GDF, a general dataformat for biosignals» (arXiv:cs/0608052), describes the
//! versions 1.x and 2.x; from 2.21 on the duration of a record is one real number, as BioSig writes
//! it. Patients, filters, impedances and places of electrodes are not read: their units differ from
//! writer to writer.

use super::sample::Sample;
use crate::error::{Error, Result};
use crate::read::source::{Source, damaged};

/// What the header says.
#[derive(Debug)]
pub(super) struct Header {
    pub version: f64,
    /// Bytes before the records.
    pub size: u64,
    /// Number of data records; `None` when the recorder did not fill it in.
    pub n_records: Option<u64>,
    /// Seconds of one record; 0 where they are not known.
    pub duration: f64,
    pub signals: Vec<Signal>,
}

/// One signal, in the order of the file.
#[derive(Debug)]
pub(super) struct Signal {
    pub label: String,
    pub unit: Option<String>,
    pub physical: [f64; 2],
    pub digital: [f64; 2],
    pub per_record: usize,
    pub sample: Sample,
}

impl Signal {
    /// The physical value of a digital number.
    pub fn meaning(&self, digital: f64) -> f64 {
        let ([low, high], [from, to]) = (self.physical, self.digital);
        (digital - from) * ((high - low) / (to - from)) + low
    }
}

/// Bytes at places of known width.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&self.0[at..at + N]);
        array
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    fn i64(&self, at: usize) -> i64 {
        i64::from_le_bytes(self.array(at))
    }

    fn f64(&self, at: usize) -> f64 {
        f64::from_le_bytes(self.array(at))
    }

    /// Without what fills it; Latin-1.
    fn text(&self, at: usize, width: usize) -> String {
        let bytes = self.0[at..at + width].iter().take_while(|&&byte| byte != 0);
        let text: String = bytes.map(|&byte| char::from(byte)).collect();
        text.trim().to_string()
    }
}

pub(super) fn read(source: &mut Source) -> Result<Header> {
    let path = source.path().to_owned();
    let bytes = source.bytes(0, 256, "header")?;
    let fields = Fields(&bytes);
    let text = fields.text(4, 4);
    let version: f64 = match text.parse() {
        Ok(version) if (1.0..3.0).contains(&version) => version,
        _ => {
            return Err(Error::content(
                &path,
                "header, version",
                "1.x or 2.x",
                format!("`{text}`"),
                "convert the file with BioSig's `save2gdf`, or to EDF",
            ));
        }
    };
    // 1.90 to 1.99 are drafts of 2.
    let is_second = version >= 1.9;
    let (size, n_signals) = match is_second {
        true => (256 * u64::from(fields.u16(184)), u64::from(fields.u16(252))),
        false => (
            fields.i64(184).try_into().unwrap_or(0),
            u64::from(fields.u32(252)),
        ),
    };
    let least = 256 * (n_signals + 1);
    if n_signals == 0 || size < least {
        let (expected, found) = match n_signals {
            0 => ("at least one signal".to_string(), "none".to_string()),
            _ => (
                format!("{least} bytes or more for {n_signals} signals"),
                size.to_string(),
            ),
        };
        return Err(damaged(&path, "header", expected, found));
    }
    source.require(0, size, "header of the signals")?;
    let rest = source.bytes(256, 256 * n_signals, "header of the signals")?;
    let rest = Fields(&rest);
    let mut signals = Vec::with_capacity(n_signals as usize);
    for signal in 0..n_signals as usize {
        let label = rest.text(16 * signal, 16);
        let number = signal + 1;
        let place = format!("header, signal {number} (`{label}`)");
        let code = rest.u32(CODE * n_signals as usize + 4 * signal);
        let sample = Sample::of_code(code).ok_or_else(|| {
            Error::content(
                &path,
                place,
                "whole numbers of 8 to 64 bits or real numbers of 32 or 64",
                format!("type {code}"),
                "convert the file with BioSig's `save2gdf`",
            )
        })?;
        let eight = |before: usize| before * n_signals as usize + 8 * signal;
        let digital = |before: usize| match is_second {
            true => rest.f64(eight(before)),
            false => rest.i64(eight(before)) as f64,
        };
        signals.push(Signal {
            label: if label.is_empty() {
                format!("ch{number}")
            } else {
                label
            },
            unit: match is_second {
                true => unit(rest.u16(102 * n_signals as usize + 2 * signal)),
                false => Some(rest.text(eight(96), 8)).filter(|unit| !unit.is_empty()),
            },
            physical: [rest.f64(eight(104)), rest.f64(eight(112))],
            digital: [digital(120), digital(128)],
            per_record: rest.u32(PER_RECORD * n_signals as usize + 4 * signal) as usize,
            sample,
        });
    }
    Ok(Header {
        version,
        size,
        n_records: u64::try_from(fields.i64(236)).ok(),
        duration: duration(&fields, version),
        signals,
    })
}

/// Where the samples of a record and the type of the numbers are, in bytes times signals.
const PER_RECORD: usize = 216;
const CODE: usize = 220;

/// Seconds of a record: a fraction of whole numbers, or one real number. A fraction of whole
/// numbers is no real number that could be meant.
fn duration(fields: &Fields<'_>, version: f64) -> f64 {
    let real = fields.f64(244);
    if version > 2.205 && (1e-9..1e9).contains(&real) {
        return real;
    }
    match (fields.u32(244), fields.u32(248)) {
        (_, 0) => 0.0,
        (seconds, parts) => f64::from(seconds) / f64::from(parts),
    }
}

/// Codes of ISO/IEEE 11073-10101: a unit, and a power of ten in the last five bits.
fn unit(code: u16) -> Option<String> {
    let unit = match code & !31 {
        544 => "%",
        1280 => "m",
        2176 => "s",
        2496 => "Hz",
        3872 => "mmHg",
        4256 => "V",
        4288 => "Ω",
        6048 => "°C",
        _ => return None,
    };
    let prefix = match code & 31 {
        0 => "",
        3 => "k",
        4 => "M",
        18 => "m",
        19 => "µ",
        20 => "n",
        21 => "p",
        _ => return None,
    };
    Some(format!("{prefix}{unit}"))
}
