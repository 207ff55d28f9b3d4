//! The header of a BrainVision recording (`.vhdr`): where the numbers are, how they are written,
//! and what the channels are.
//!
//! Read as the «BrainVision Core Data Format 1.0» of Brain Products and the older versions of its
//! manual say. Refused: frequencies in place of samples, and binary files with headers or gaps of
//! their own.

use super::sections::{Entry, Sections, numbered};
use crate::error::{Error, Result};
use crate::read::numbers::{Endian, Number, Order};
use crate::read::source::damaged;
use std::path::Path;

const COMMON: &str = "Common Infos";
const BINARY: &str = "Binary Infos";
const ASCII: &str = "ASCII Infos";

/// Metres from the middle of the head to an electrode on a sphere of radius 1: a head of 9.5 cm, as
/// MNE has it.
const HEAD_RADIUS: f64 = 0.095;

/// What the header says.
#[derive(Debug)]
pub(super) struct Header {
    pub data_file: String,
    pub marker_file: Option<String>,
    pub coding: Coding,
    pub order: Order,
    /// Samples per second.
    pub rate: f64,
    /// Samples of a channel, where the header says.
    pub n_samples: Option<usize>,
    /// Samples of a segment, where the recording is cut into such.
    pub segment: Option<usize>,
    pub signals: Vec<Signal>,
    /// V-Amp recordings have one more channel in the file than the header names.
    pub has_unnamed: bool,
}

/// How the numbers are written.
#[derive(Debug)]
pub(super) enum Coding {
    Binary {
        number: Number,
        endian: Endian,
        /// Bytes before the numbers.
        offset: u64,
    },
    Ascii(Ascii),
}

/// How numbers are written as text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ascii {
    pub decimal_comma: bool,
    pub skip_lines: usize,
    pub skip_columns: usize,
}

/// One channel.
#[derive(Debug)]
pub(super) struct Signal {
    pub name: String,
    /// Units of one step of the numbers in the file.
    pub resolution: f64,
    pub unit: String,
    pub position: Option<[f64; 3]>,
}

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Header> {
    let sections = Sections::parse(bytes);
    let common = |key: &str| sections.get(COMMON, key);
    let required = |key: &str| {
        common(key).ok_or_else(|| damaged(path, format!("[{COMMON}] {key}"), "an entry", "none"))
    };
    if let Some(entry) = common("DataType").filter(|entry| !is(entry, "TIMEDOMAIN")) {
        return Err(Error::content(
            path,
            place(entry, "DataType"),
            "TIMEDOMAIN",
            format!("`{}`", entry.value),
            "export the recording itself, not its spectrum",
        ));
    }
    let interval = required("SamplingInterval")?;
    let microseconds: f64 = number(path, interval, "SamplingInterval")?;
    let rate = 1e6 / microseconds;
    if !(rate.is_finite() && rate > 0.0) {
        let found = format!("`{}`", interval.value);
        let expected = "microseconds above 0";
        return Err(damaged(
            path,
            place(interval, "SamplingInterval"),
            expected,
            found,
        ));
    }
    let order = match common("DataOrientation") {
        None => Order::Interleaved,
        Some(entry) if is(entry, "MULTIPLEXED") => Order::Interleaved,
        Some(entry) if is(entry, "VECTORIZED") => Order::Planar,
        Some(entry) => {
            return Err(unknown(
                path,
                entry,
                "DataOrientation",
                "MULTIPLEXED or VECTORIZED",
            ));
        }
    };
    let coding = match common("DataFormat") {
        None => binary(path, &sections)?,
        Some(entry) if is(entry, "BINARY") => binary(path, &sections)?,
        Some(entry) if is(entry, "ASCII") => Coding::Ascii(ascii(path, &sections)?),
        Some(entry) => return Err(unknown(path, entry, "DataFormat", "BINARY or ASCII")),
    };
    let n_samples = match common("DataPoints") {
        // Recorders that cannot know it yet write 0.
        Some(entry) => Some(number(path, entry, "DataPoints")?).filter(|&points| points > 0),
        None => None,
    };
    let segment = match common("SegmentDataPoints") {
        Some(entry) => Some(number(path, entry, "SegmentDataPoints")?).filter(|&points| points > 0),
        None => None,
    };
    let n_channels = required("NumberOfChannels")?;
    let n_channels = number(path, n_channels, "NumberOfChannels")?;
    Ok(Header {
        data_file: required("DataFile")?.value.clone(),
        marker_file: common("MarkerFile").map(|entry| entry.value.clone()),
        coding,
        order,
        rate,
        n_samples,
        segment,
        signals: signals(path, &sections, n_channels)?,
        has_unnamed: sections.title.contains("V-Amp"),
    })
}

fn is(entry: &Entry, word: &str) -> bool {
    entry.value.eq_ignore_ascii_case(word)
}

fn place(entry: &Entry, key: &str) -> String {
    format!("line {}, {key}", entry.line)
}

fn unknown(path: &Path, entry: &Entry, key: &str, expected: &str) -> Error {
    Error::content(
        path,
        place(entry, key),
        expected,
        format!("`{}`", entry.value),
        "export the recording anew, with such an entry",
    )
}

fn number<T: std::str::FromStr>(path: &Path, entry: &Entry, key: &str) -> Result<T> {
    entry.value.parse().map_err(|_| {
        damaged(
            path,
            place(entry, key),
            "a number",
            format!("`{}`", entry.value),
        )
    })
}

fn binary(path: &Path, sections: &Sections) -> Result<Coding> {
    let numbers = match sections.get(BINARY, "BinaryFormat") {
        None => Number::I16,
        Some(entry) => match entry.value.to_uppercase().as_str() {
            "INT_16" => Number::I16,
            "UINT_16" => Number::U16,
            "INT_32" => Number::I32,
            "IEEE_FLOAT_32" => Number::F32,
            "IEEE_FLOAT_64" => Number::F64,
            _ => {
                let expected = "INT_16, UINT_16, INT_32, IEEE_FLOAT_32 or IEEE_FLOAT_64";
                return Err(unknown(path, entry, "BinaryFormat", expected));
            }
        },
    };
    for key in ["ChannelOffset", "SegmentHeaderSize", "TrailerSize"] {
        if let Some(entry) = sections.get(BINARY, key).filter(|entry| entry.value != "0") {
            return Err(unknown(path, entry, key, "0: nothing between the numbers"));
        }
    }
    let big = sections.get(BINARY, "UseBigEndianOrder");
    Ok(Coding::Binary {
        number: numbers,
        endian: if big.is_some_and(|entry| is(entry, "YES")) {
            Endian::Big
        } else {
            Endian::Little
        },
        offset: match sections.get(BINARY, "DataOffset") {
            Some(entry) => number(path, entry, "DataOffset")?,
            None => 0,
        },
    })
}

fn ascii(path: &Path, sections: &Sections) -> Result<Ascii> {
    let decimal_comma = match sections.get(ASCII, "DecimalSymbol") {
        None => false,
        Some(entry) if entry.value == "." => false,
        Some(entry) if entry.value == "," => true,
        Some(entry) => return Err(unknown(path, entry, "DecimalSymbol", "a point or a comma")),
    };
    let count = |key: &str| match sections.get(ASCII, key) {
        Some(entry) => number(path, entry, key),
        None => Ok(0),
    };
    Ok(Ascii {
        decimal_comma,
        skip_lines: count("SkipLines")?,
        skip_columns: count("SkipColumns")?,
    })
}

/// The channels, each of which must be named.
fn signals(path: &Path, sections: &Sections, n_channels: usize) -> Result<Vec<Signal>> {
    let mut found: Vec<(usize, Signal)> = Vec::new();
    for entry in sections.entries("Channel Infos") {
        let Some((channel, fields)) = numbered(entry, "ch") else {
            continue;
        };
        let field = |at: usize| {
            fields
                .get(at)
                .map(String::as_str)
                .filter(|text| !text.is_empty())
        };
        let resolution = match field(2) {
            None => 1.0,
            Some(text) => match text.parse() {
                Ok(resolution) if f64::is_finite(resolution) && resolution != 0.0 => resolution,
                _ => {
                    let place = format!("line {}, resolution", entry.line);
                    return Err(damaged(
                        path,
                        place,
                        "a number other than 0",
                        format!("`{text}`"),
                    ));
                }
            },
        };
        found.push((
            channel,
            Signal {
                name: field(0).map_or(format!("ch{channel}"), String::from),
                resolution,
                // UTF-8 that was taken for Latin-1 has one letter more.
                unit: field(3).unwrap_or("µV").replace('Â', ""),
                position: None,
            },
        ));
    }
    found.sort_by_key(|(channel, _)| *channel);
    found.dedup_by_key(|(channel, _)| *channel);
    found.retain(|(channel, _)| (1..=n_channels).contains(channel));
    if n_channels == 0 || found.len() < n_channels {
        let expected = match n_channels {
            0 => "at least one channel".to_string(),
            _ => format!("an entry for each of the {n_channels} channels"),
        };
        let named = format!("{} entries", found.len());
        return Err(damaged(path, "[Channel Infos]", expected, named));
    }
    for entry in sections.entries("Coordinates") {
        if let Some((channel, fields)) = numbered(entry, "ch")
            && let Some((_, signal)) = found.iter_mut().find(|(own, _)| *own == channel)
        {
            signal.position = position(path, entry, &fields)?;
        }
    }
    Ok(found.into_iter().map(|(_, signal)| signal).collect())
}

/// Radius in mm (1 for a sphere), inclination from the vertex and angle from the right, in degrees
/// → metres to the right, to the front and up. Radius 0 stands for an unknown place.
fn position(path: &Path, entry: &Entry, fields: &[String]) -> Result<Option<[f64; 3]>> {
    let numbers: Vec<f64> = fields
        .iter()
        .filter_map(|field| field.parse().ok())
        .collect();
    let ([radius, theta, phi], true) = (
        *numbers.first_chunk::<3>().unwrap_or(&[f64::NAN; 3]),
        numbers.len() == fields.len() && numbers.iter().all(|number| number.is_finite()),
    ) else {
        return Err(damaged(
            path,
            format!("line {}, coordinates", entry.line),
            "radius, theta and phi",
            format!("`{}`", entry.value),
        ));
    };
    if radius <= 0.0 {
        return Ok(None);
    }
    let metres = if radius == 1.0 {
        HEAD_RADIUS
    } else {
        radius / 1e3
    };
    let (theta, phi) = (theta.to_radians(), phi.to_radians());
    Ok(Some([
        metres * theta.sin() * phi.cos(),
        metres * theta.sin() * phi.sin(),
        metres * theta.cos(),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Brain Vision Data Exchange Header File Version 1.0\n[Common Infos]\n\
        DataFile=a.eeg\nMarkerFile=a.vmrk\nDataFormat=BINARY\nDataOrientation=VECTORIZED\n\
        NumberOfChannels=2\nSamplingInterval=4000\nDataPoints=10\n[Binary Infos]\n\
        BinaryFormat=INT_16\nUseBigEndianOrder=YES\n[Channel Infos]\nCh1=Fz,,0.5,µV\nCh2=Cz\n\
        [Coordinates]\nCh1=1,90,90\nCh2=0,0,0\n";

    #[test]
    fn all_that_a_header_says() {
        let header = parse(Path::new("a.vhdr"), TEXT.as_bytes()).unwrap();
        assert_eq!(
            (header.rate, header.n_samples, header.order),
            (250.0, Some(10), Order::Planar)
        );
        let Coding::Binary { number, endian, .. } = header.coding else {
            panic!("{:?}", header.coding);
        };
        assert_eq!((number, endian), (Number::I16, Endian::Big));
        let [first, second] = &header.signals[..] else {
            panic!("{:?}", header.signals);
        };
        assert_eq!((first.resolution, first.unit.as_str()), (0.5, "µV"));
        assert_eq!((second.resolution, second.unit.as_str()), (1.0, "µV"));
        let [right, front, up] = first.position.unwrap();
        assert!(right.abs() < 1e-12 && (front - HEAD_RADIUS).abs() < 1e-12 && up.abs() < 1e-12);
        assert_eq!(second.position, None);
    }

    #[test]
    fn what_does_not_hold_is_named() {
        let check = |from: &str, to: &str, expected: &str| {
            assert!(TEXT.contains(from), "{from}");
            let error = parse(Path::new("a.vhdr"), TEXT.replace(from, to).as_bytes()).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
        };
        check(
            "Interval=4000",
            "Interval=0",
            "a.vhdr: line 8, SamplingInterval: expected micro",
        );
        check(
            "=INT_16",
            "=INT_17",
            "a.vhdr: line 11, BinaryFormat: expected INT_16, UINT_16",
        );
        check(
            "Channels=2",
            "Channels=3",
            "a.vhdr: [Channel Infos]: expected an entry for each",
        );
        check(
            "DataFile=a.eeg",
            "",
            "a.vhdr: [Common Infos] DataFile: expected an entry, found",
        );
        check(
            "1,90,90",
            "1,x,90",
            "a.vhdr: line 17, coordinates: expected radius, theta and phi",
        );
        check(
            ",0.5,",
            ",0,",
            "a.vhdr: line 14, resolution: expected a number other than 0",
        );
    }
}
