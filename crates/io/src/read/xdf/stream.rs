//! One stream of an XDF file: what its header says, and where its samples are.
//!
//! In: the XML of the header, and chunks of samples. Out: names, rate, time stamps, texts of
//! markers. Numbers are not decoded here; each sample is only checked to lie inside its chunk.

use super::chunks::length;
use crate::error::{Error, Result};
use crate::read::numbers::Number;
use crate::read::source::damaged;
use roxmltree::{Document, Node};
use std::path::Path;

/// What a stream carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Numbers(Number),
    Texts,
}

/// One stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub id: u32,
    pub name: String,
    pub values: Values,
    pub n_channels: usize,
    /// Samples per second by the header; 0 for a stream without a rate.
    pub rate: f64,
    /// Names and units of the channels, where the header has them for all.
    pub labels: Vec<(String, Option<String>)>,
    /// When each sample was taken, by the clock of the sender.
    pub stamps: Vec<f64>,
    /// When clocks were compared, and how far the sender's was behind.
    pub offsets: Vec<(f64, f64)>,
    /// Chunks of samples: where, how long, and the first sample.
    pub runs: Vec<Run>,
    /// Of markers, one a sample.
    pub texts: Vec<String>,
}

/// Samples that lie beside each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub at: u64,
    pub size: u64,
    pub first: usize,
}

impl Stream {
    pub fn parse(path: &Path, id: u32, xml: &[u8]) -> Result<Self> {
        let place = format!("header of stream {id}");
        let text = String::from_utf8_lossy(xml);
        let document = Document::parse(&text)
            .map_err(|error| damaged(path, &place, "XML", error.to_string()))?;
        let info = document.root_element();
        let required = |name: &str| {
            child_text(info, name)
                .ok_or_else(|| damaged(path, &place, format!("an element `{name}`"), "none"))
        };
        let number = |name: &str| -> Result<f64> {
            let text = required(name)?;
            match text.parse() {
                Ok(number) if f64::is_finite(number) && number >= 0.0 => Ok(number),
                _ => {
                    let expected = format!("a number from 0 as `{name}`");
                    Err(damaged(path, &place, expected, format!("`{text}`")))
                }
            }
        };
        let format = required("channel_format")?;
        let values = match format.as_str() {
            "int8" => Values::Numbers(Number::I8),
            "int16" => Values::Numbers(Number::I16),
            "int32" => Values::Numbers(Number::I32),
            "int64" => Values::Numbers(Number::I64),
            "float32" => Values::Numbers(Number::F32),
            "double64" => Values::Numbers(Number::F64),
            "string" => Values::Texts,
            other => {
                return Err(Error::content(
                    path,
                    place,
                    "a channel_format of the description, such as float32",
                    format!("`{other}`"),
                    "record the stream anew",
                ));
            }
        };
        let n_channels = number("channel_count")?;
        if n_channels.fract() != 0.0 || !(1.0..=1e6).contains(&n_channels) {
            let found = n_channels.to_string();
            return Err(damaged(
                path,
                place,
                "a channel_count from 1 to 1000000",
                found,
            ));
        }
        Ok(Self {
            id,
            name: child_text(info, "name").unwrap_or_else(|| format!("stream {id}")),
            values,
            n_channels: n_channels as usize,
            rate: number("nominal_srate")?,
            labels: labels(info),
            stamps: Vec::new(),
            offsets: Vec::new(),
            runs: Vec::new(),
            texts: Vec::new(),
        })
    }

    /// Takes a chunk of samples into account; `bytes` are its contents behind the id.
    pub fn take(&mut self, path: &Path, at: u64, bytes: &[u8]) -> Result<()> {
        let place = || format!("samples at byte {at}");
        let wrong = || {
            let expected = "samples that fill their chunk";
            damaged(path, place(), expected, "fewer or more bytes")
        };
        let mut rest = bytes;
        let Ok(Some(count)) = length(&mut rest) else {
            return Err(wrong());
        };
        let first = self.stamps.len();
        let begin = at + (bytes.len() - rest.len()) as u64;
        let size = rest.len() as u64;
        for _ in 0..count {
            let stamp = stamp(&mut rest).ok_or_else(wrong)?;
            match self.values {
                Values::Numbers(number) => {
                    let size = number.size() * self.n_channels;
                    rest = rest.get(size..).ok_or_else(wrong)?;
                }
                Values::Texts => {
                    let texts = self.markers(&mut rest).ok_or_else(wrong)?;
                    self.texts.push(texts);
                }
            }
            let step = if self.rate > 0.0 {
                1.0 / self.rate
            } else {
                0.0
            };
            let last = self.stamps.last().copied().unwrap_or(0.0);
            self.stamps.push(stamp.unwrap_or(last + step));
        }
        if !rest.is_empty() {
            return Err(wrong());
        }
        self.runs.push(Run {
            at: begin,
            size,
            first,
        });
        Ok(())
    }

    /// The texts of one sample, joined.
    fn markers(&self, bytes: &mut &[u8]) -> Option<String> {
        let mut texts = Vec::new();
        for _ in 0..self.n_channels {
            let size = length(bytes).ok()??;
            let (text, rest) = bytes.split_at_checked(usize::try_from(size).ok()?)?;
            *bytes = rest;
            if !text.is_empty() {
                texts.push(String::from_utf8_lossy(text).into_owned());
            }
        }
        Some(texts.join(" "))
    }
}

/// The time stamp of a sample, where it has its own.
#[allow(clippy::option_option)] // whether there are bytes, and whether they hold a stamp
pub(super) fn stamp(bytes: &mut &[u8]) -> Option<Option<f64>> {
    let (&width, rest) = bytes.split_first()?;
    if width == 0 {
        *bytes = rest;
        return Some(None);
    }
    let (number, rest) = rest.split_first_chunk::<8>()?;
    *bytes = rest;
    Some(Some(f64::from_le_bytes(*number)))
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|child| child.has_tag_name(name))
}

fn child_text(node: Node<'_, '_>, name: &str) -> Option<String> {
    let text = node
        .children()
        .find(|child| child.has_tag_name(name))?
        .text()?
        .trim();
    (!text.is_empty()).then(|| text.to_string())
}

/// `desc/channels/channel/label` and `unit`, as the lab streaming layer advises.
fn labels(info: Node<'_, '_>) -> Vec<(String, Option<String>)> {
    let channels = child(info, "desc").and_then(|desc| child(desc, "channels"));
    let Some(channels) = channels else {
        return Vec::new();
    };
    let label = |channel: Node<'_, '_>| {
        let unit = child_text(channel, "unit").map(|unit| match unit.as_str() {
            "microvolts" | "microvolt" | "uV" => "µV".to_string(),
            "millivolts" | "millivolt" => "mV".to_string(),
            "volts" | "volt" => "V".to_string(),
            _ => unit,
        });
        Some((child_text(channel, "label")?, unit))
    };
    let found: Option<Vec<_>> = channels
        .children()
        .filter(|node| node.has_tag_name("channel"))
        .map(label)
        .collect();
    found.unwrap_or_default()
}
