//! XDF of the lab streaming layer: several streams in one file.
//!
//! In: a file, and the name of a stream where several could be meant. Out: the numbers of one
//! stream with a sampling rate; texts of other streams (markers) as events. Time stamps are brought
//! to the recorder's clock and freed of jitter as `pyxdf` does by default; what lies in a break is
//! missing. The rate is the one that the stream names, and events are told in samples of the
//! stream, so that they stay with what was recorded then. Refused: streams without a rate.
//!
//! Written by hand: the crate `xdf` (0.1.2) holds the whole file in memory, takes offsets of clocks
//! from the nearest two comparisons without regard to outliers or resets, and knows no breaks.

mod chunks;
mod stream;
mod timing;

use super::assemble::shortened;
use super::numbers::Endian;
use super::selection::not_among;
use super::source::{Source, damaged};
use super::table::{Channel, Contents, Reader, Table, Variable};
use super::{Event, ReadOptions};
use crate::error::{Error, Result};
use chunks::Chunks;
use std::path::Path;
use stream::{Stream, Values, stamp};
use timing::{Stretch, stretches, synchronise};

/// Breaks may be missing at most so many times what is recorded.
const MOST_GAPS: f64 = 64.0;
/// Rates by header and by time stamps that differ by more than this share deserve a warning.
const RATE_DIFFERS: f64 = 0.1;

/// An XDF file.
pub(crate) struct XdfReader {
    source: Source,
    streams: Vec<Stream>,
    /// The stream that is read, and where its samples go.
    chosen: Option<(usize, Vec<Placed>)>,
    contents: Contents,
}

/// Samples without a break, and the row of the first.
#[derive(Clone, Copy, Debug)]
struct Placed {
    stretch: Stretch,
    row: usize,
}

impl XdfReader {
    pub fn open(mut source: Source, options: &ReadOptions) -> Result<Self> {
        let path = source.path().to_owned();
        let mut contents = Contents::default();
        let mut streams = read_streams(&mut source, &mut contents)?;
        for stream in &mut streams {
            synchronise(&mut stream.stamps, &stream.offsets);
        }
        let names = names(&streams);
        for (stream, name) in streams.iter().zip(&names) {
            if matches!(stream.values, Values::Numbers(_)) && !stream.stamps.is_empty() {
                contents.variables.push(Variable {
                    name: name.clone(),
                    shape: vec![stream.stamps.len(), stream.n_channels],
                });
            }
        }
        let at = choose(&path, &streams, &names, options)?;
        let mut reader = Self {
            source,
            streams,
            chosen: None,
            contents,
        };
        match at {
            Some(at) => reader.take(at, &names[at])?,
            None => reader.contents.undecided = true,
        }
        Ok(reader)
    }

    /// Describes the chosen stream and the events beside it.
    fn take(&mut self, at: usize, name: &str) -> Result<()> {
        let stream = &self.streams[at];
        let rate = stream.rate;
        let found = stretches(&stream.stamps, rate);
        let (placed, n_samples) = place(self.source.path(), &found, rate, &mut self.contents)?;
        let has_labels = stream.labels.len() == stream.n_channels;
        for channel in 0..stream.n_channels {
            let label = has_labels.then(|| stream.labels[channel].clone());
            let (name, unit) = label.unwrap_or((format!("ch{}", channel + 1), None));
            self.contents.channels.push(Channel {
                name,
                unit,
                rate: Some(rate),
                n_samples,
                left_out: None,
                position: None,
            });
        }
        self.contents
            .detected(format!("stream `{name}`, {rate} Hz by its header"));
        let spans: f64 = found.iter().map(|stretch| stretch.to - stretch.from).sum();
        let steps: usize = found
            .iter()
            .map(|stretch| stretch.end - stretch.first - 1)
            .sum();
        let measured = steps as f64 / spans;
        if measured.is_finite() && (measured - rate).abs() > RATE_DIFFERS * rate {
            self.contents.warn(format!(
                "its time stamps give {measured:.4} Hz; `rate` sets another"
            ));
        }
        self.contents.events = events(&self.streams, &placed, rate);
        if !self.contents.events.is_empty() {
            let count = self.contents.events.len();
            self.contents.detected(match count {
                1 => "1 marker of other streams is an event".into(),
                _ => format!("{count} markers of other streams are events"),
            });
        }
        self.chosen = Some((at, placed));
        Ok(())
    }
}

/// All streams, without their numbers.
fn read_streams(source: &mut Source, contents: &mut Contents) -> Result<Vec<Stream>> {
    const STREAM_HEADER: u16 = 2;
    const SAMPLES: u16 = 3;
    const CLOCK_OFFSET: u16 = 4;
    let path = source.path().to_owned();
    let mut streams: Vec<Stream> = Vec::new();
    let mut chunks = Chunks::new();
    while let Some(chunk) = chunks.next(source)? {
        if ![STREAM_HEADER, SAMPLES, CLOCK_OFFSET].contains(&chunk.tag) {
            continue;
        }
        let place = format!("chunk at byte {}", chunk.at);
        let bytes = source.bytes(chunk.at, chunk.size, &place)?;
        let Some((id, rest)) = bytes.split_first_chunk::<4>() else {
            return Err(damaged(
                &path,
                place,
                "the number of a stream",
                "too few bytes",
            ));
        };
        let id = u32::from_le_bytes(*id);
        if chunk.tag == STREAM_HEADER {
            if streams.iter().any(|stream| stream.id == id) {
                return Err(damaged(
                    &path,
                    place,
                    "one header a stream",
                    format!("two of {id}"),
                ));
            }
            streams.push(Stream::parse(&path, id, rest)?);
            continue;
        }
        let Some(stream) = streams.iter_mut().find(|stream| stream.id == id) else {
            let expected = "a stream whose header came before";
            return Err(damaged(&path, place, expected, format!("stream {id}")));
        };
        if chunk.tag == SAMPLES {
            stream.take(&path, chunk.at + 4, rest)?;
        } else if let Some((time, rest)) = rest.split_first_chunk::<8>()
            && let Some((offset, _)) = rest.split_first_chunk::<8>()
        {
            let pair = (f64::from_le_bytes(*time), f64::from_le_bytes(*offset));
            if pair.0.is_finite() && pair.1.is_finite() {
                stream.offsets.push(pair);
            }
        }
    }
    if let Some(at) = chunks.broken_off {
        contents.warn(format!(
            "the file ends inside the chunk at byte {at}: what comes before is read"
        ));
    }
    Ok(streams)
}

/// Names of the streams; with their number where another has the same.
fn names(streams: &[Stream]) -> Vec<String> {
    let is_shared = |name: &str| streams.iter().filter(|stream| stream.name == name).count() > 1;
    let name = |stream: &Stream| match is_shared(&stream.name) {
        true => format!("{}#{}", stream.name, stream.id),
        false => stream.name.clone(),
    };
    streams.iter().map(name).collect()
}

/// The stream that is meant; `None` where several could be.
fn choose(
    path: &Path,
    streams: &[Stream],
    names: &[String],
    options: &ReadOptions,
) -> Result<Option<usize>> {
    let is_numeric =
        |stream: &Stream| matches!(stream.values, Values::Numbers(_)) && !stream.stamps.is_empty();
    let is_regular = |stream: &Stream| is_numeric(stream) && stream.rate > 0.0;
    if let Some(asked) = &options.variable {
        let numeric = (0..streams.len()).filter(|&at| is_numeric(&streams[at]));
        let names_of_numeric: Vec<&str> = numeric.map(|at| names[at].as_str()).collect();
        let Some(at) = names.iter().position(|name| name == asked) else {
            return Err(not_among(path, "variable", asked, &names_of_numeric));
        };
        if is_regular(&streams[at]) {
            return Ok(Some(at));
        }
        let found = match (streams[at].values, streams[at].stamps.is_empty()) {
            (Values::Texts, _) => "one of texts, which are events",
            (_, true) => "one without samples",
            _ => "one whose samples come at any time",
        };
        return Err(Error::request(
            path,
            "variable",
            "a stream of numbers with a sampling rate",
            format!("`{asked}`, {found}"),
            "name another stream",
        ));
    }
    let regular: Vec<usize> = (0..streams.len())
        .filter(|&at| is_regular(&streams[at]))
        .collect();
    match regular[..] {
        [at] => Ok(Some(at)),
        [] => Err(Error::content(
            path,
            "streams",
            "a stream of numbers with a sampling rate",
            match names.is_empty() {
                true => "no stream".to_string(),
                false => format!("streams without both: {}", shortened(names)),
            },
            "check that this is the file that was meant",
        )),
        _ => Ok(None),
    }
}

/// Gives every stretch its rows: samples of a break are missing. Time that goes back, as after a
/// clock was set anew, leaves no gap.
fn place(
    path: &Path,
    found: &[Stretch],
    rate: f64,
    contents: &mut Contents,
) -> Result<(Vec<Placed>, usize)> {
    let mut placed: Vec<Placed> = Vec::new();
    let (mut row, mut n_joined) = (0, 0);
    for (at, &stretch) in found.iter().enumerate() {
        if at > 0 {
            let gap = ((stretch.from - found[at - 1].to) * rate).round() - 1.0;
            if gap > 0.0 {
                let held = found.last().map_or(0, |last| last.end) as f64;
                if row as f64 + gap > MOST_GAPS * held {
                    return Err(Error::content(
                        path,
                        "time stamps",
                        format!("breaks of at most {MOST_GAPS} times what is recorded"),
                        format!("one of {} s", gap / rate),
                        "cut the file into its continuous parts",
                    ));
                }
                row += gap as usize;
            } else {
                n_joined += 1;
            }
        }
        placed.push(Placed { stretch, row });
        row += stretch.end - stretch.first;
    }
    if found.len() > 1 {
        let times = match found.len() - 1 {
            1 => "once".into(),
            n => format!("{n} times"),
        };
        contents.warn(format!(
            "the stream breaks off {times}: samples in between are missing"
        ));
    }
    if n_joined > 0 {
        contents.warn(format!(
            "time goes back {n_joined} times: the parts are joined end to end"
        ));
    }
    Ok((placed, row))
}

/// Texts of all streams at their places among the samples.
fn events(streams: &[Stream], placed: &[Placed], rate: f64) -> Vec<Event> {
    let row_of = |time: f64| {
        let before = placed
            .iter()
            .rev()
            .find(|placed| placed.stretch.from <= time);
        let Placed { stretch, row } = before.or(placed.first()).copied()?;
        let last = (stretch.end - stretch.first - 1) as f64;
        let inside = match time <= stretch.to && stretch.to > stretch.from {
            true => (time - stretch.from) / (stretch.to - stretch.from) * last,
            false => last + (time - stretch.to) * rate,
        };
        Some(row as f64 + inside).filter(|row| row.is_finite())
    };
    let mut events = Vec::new();
    for stream in streams {
        for (text, &time) in stream.texts.iter().zip(&stream.stamps) {
            if let Some(row) = row_of(time) {
                events.push(Event {
                    onset: row / rate,
                    duration: 0.0,
                    name: text.clone(),
                });
            }
        }
    }
    events.sort_by(|a, b| a.onset.total_cmp(&b.onset));
    events
}

impl Reader for XdfReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        let path = self.source.path().to_owned();
        let Some((at, placed)) = &self.chosen else {
            return Ok(());
        };
        let stream = &self.streams[*at];
        let Values::Numbers(number) = stream.values else {
            return Ok(());
        };
        let (size, decode) = (number.size(), number.decoder(Endian::Little));
        let frame = size * stream.n_channels;
        let mut current = 0;
        for run in &stream.runs {
            let place = format!("samples at byte {}", run.at);
            let bytes = self.source.bytes(run.at, run.size, &place)?;
            let (mut rest, mut sample) = (&bytes[..], run.first);
            while !rest.is_empty() {
                let changed = || damaged(&path, &place, "what was counted", "other bytes");
                while sample >= placed.get(current).ok_or_else(changed)?.stretch.end {
                    current += 1;
                }
                stamp(&mut rest).ok_or_else(changed)?;
                let (values, others) = rest.split_at_checked(frame).ok_or_else(changed)?;
                rest = others;
                let Placed { stretch, row } = placed[current];
                for (channel, value) in values.chunks_exact(size).enumerate() {
                    table.set(row + sample - stretch.first, channel, decode(value));
                }
                sample += 1;
            }
        }
        Ok(())
    }
}
