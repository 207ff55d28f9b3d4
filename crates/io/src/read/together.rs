//! Several files as one recording of several pieces.
//!
//! In: recordings that were read one by one, each prepared on its own. Out: one recording, the
//! files end to end, that knows where each of them begins; windows, covariances and filters stay
//! within a piece. Channels are those of the first file and are found in the others by name, in any
//! order.
//!
//! What does not fit together is refused, with the file and what it lacks: other channels, another
//! rate, another unit. Deliberately absent: converting units, and any guess which channel of one
//! file is which of another.

use super::assemble::{recording, shortened};
use super::events::Event;
use super::options::{Note, Opened};
use crate::error::{Error, Result};
use faer::Mat;
use std::ops::Range;
use std::path::{Path, PathBuf};
use strtransformer::Recording;

/// Rates that differ by less are one rate: over an hour they drift apart by 4 ms.
const SAME_RATE: f64 = 1e-6;

/// Several files as one recording.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The recording of all files, with the notes, events and missing values of all of them.
    pub opened: Opened,
    /// The files in order.
    pub pieces: Vec<Piece>,
}

/// One file of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The file.
    pub path: PathBuf,
    /// Its samples in the recording of all.
    pub rows: Range<usize>,
    /// [`Recording::fingerprint`] of what was read of it, channels in the order of the first file.
    pub fingerprint: u64,
}

/// Lays recordings end to end.
///
/// ```
/// use strt_io::{ReadOptions, join, read_recording};
///
/// let folder = tempfile::tempdir()?;
/// let mut files = Vec::new();
/// for (name, text) in [("a.csv", "Fz,Cz\n1,2\n3,4\n"), ("b.csv", "Cz,Fz\n6,5\n")] {
///     let path = folder.path().join(name);
///     std::fs::write(&path, text)?;
///     let opened = read_recording(&path, &ReadOptions::default())?;
///     files.push((path, opened));
/// }
/// let joined = join(files)?;
/// assert_eq!(joined.opened.recording.observations()[(2, 0)], 5.0);
/// assert_eq!(joined.pieces[1].rows, 2..3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Without a file, and when channels, rates or units do not fit together.
pub fn join(files: Vec<(PathBuf, Opened)>) -> Result<Joined> {
    let Some((first_path, first)) = files.first() else {
        return Err(Error::kind(
            Path::new("recording"),
            "at least one file",
            "none",
            "name the files that are to be read together",
        ));
    };
    let names = first.recording.channel_names().to_vec();
    let rate = first.recording.sampling_rate();
    let mut notes = Vec::new();
    let mut orders = Vec::with_capacity(files.len());
    for (path, opened) in &files {
        let order = order(first_path, &names, path, &opened.recording)?;
        check_rate(first_path, rate, path, &opened.recording)?;
        check_units((first_path, first), (path, opened), &order, &mut notes)?;
        if order.iter().copied().ne(0..names.len()) {
            let text = format!("channels are in another order than in {}", name(first_path));
            notes.push(of_file(path, Note::detected(text)));
        }
        orders.push(order);
    }
    let ordered = |(path, opened): &(PathBuf, Opened), order: &[usize]| {
        let there = &opened.recording;
        if order.iter().copied().eq(0..names.len()) {
            return Ok(there.clone());
        }
        let values = there.observations();
        let picked = Mat::from_fn(values.nrows(), order.len(), |t, c| values[(t, order[c])]);
        there
            .with_channels(picked, names.clone())
            .map_err(Error::refused(path))
    };
    let parts = files.iter().zip(&orders);
    let parts = parts.map(|(file, order)| ordered(file, order));
    let parts = parts.collect::<Result<Vec<Recording>>>()?;

    let mut rows = 0..0;
    let mut pieces = Vec::with_capacity(files.len());
    for ((path, _), part) in files.iter().zip(&parts) {
        rows = rows.end..rows.end + part.n_samples();
        pieces.push(Piece {
            path: path.clone(),
            rows: rows.clone(),
            fingerprint: part.fingerprint(),
        });
    }
    let opened = together(&files, &orders, &pieces, notes);
    // A file of trials has pieces of its own.
    let lengths = parts.iter().flat_map(|part| part.pieces().lengths());
    let lengths: Vec<usize> = lengths.collect();
    let joined = recording(first_path, end_to_end(&parts, rows.end), names, rate)?;
    let joined = joined.with_pieces(&lengths);
    Ok(Joined {
        opened: Opened {
            recording: joined.map_err(Error::refused(first_path))?,
            ..opened
        },
        pieces,
    })
}

/// The values of all parts, one below the other.
fn end_to_end(parts: &[Recording], n_samples: usize) -> Mat<f64> {
    let mut values = Mat::zeros(n_samples, parts[0].n_channels());
    let mut start = 0;
    for part in parts {
        let there = part.observations();
        let mut rows = values.subrows_mut(start, there.nrows());
        rows.copy_from(there);
        start += there.nrows();
    }
    values
}

/// What is known of all files, beside their numbers.
fn together(
    files: &[(PathBuf, Opened)],
    orders: &[Vec<usize>],
    pieces: &[Piece],
    mut notes: Vec<Note>,
) -> Opened {
    let first = &files[0].1;
    let n_channels = first.recording.n_channels();
    let mut all = Opened {
        missing: vec![0; n_channels],
        events: Vec::new(),
        first_sample: 0,
        ..first.clone()
    };
    for (((path, opened), order), piece) in files.iter().zip(orders).zip(pieces) {
        for (channel, &there) in order.iter().enumerate() {
            all.missing[channel] += opened.missing[there];
            all.positions[channel] = all.positions[channel].or(opened.positions[there]);
            let unit = &mut all.units[channel];
            *unit = unit.take().or_else(|| opened.units[there].clone());
        }
        if let Some(rate) = first.recording.sampling_rate() {
            all.events
                .extend(shifted(&opened.events, &piece.rows, rate));
        }
        // Re-read with one decision for all, or each file with its own.
        all.layout = all.layout.filter(|layout| {
            let other = opened.layout;
            other.is_some_and(|other| other.transposed == layout.transposed)
        });
        notes.extend(opened.notes.iter().cloned().map(|note| of_file(path, note)));
    }
    all.notes = notes;
    all
}

/// Events of a file as events of all, cut where the file ends.
fn shifted<'a>(
    events: &'a [Event],
    rows: &'a Range<usize>,
    rate: f64,
) -> impl Iterator<Item = Event> + 'a {
    let (start, seconds) = (rows.start as f64 / rate, rows.len() as f64 / rate);
    events.iter().map(move |event| {
        let onset = event.onset.max(0.0);
        let end = (event.onset + event.duration).min(seconds);
        Event {
            onset: start + onset,
            duration: (end - onset).max(0.0),
            name: event.name.clone(),
        }
    })
}

/// Which channel of a file each of the first file is.
fn order(
    first_path: &Path,
    names: &[String],
    path: &Path,
    recording: &Recording,
) -> Result<Vec<usize>> {
    let found = recording.channel_names();
    let missing: Vec<String> = without(names, found);
    let extra: Vec<String> = without(found, names);
    if missing.is_empty() && extra.is_empty() {
        let place = |name: &String| found.iter().position(|other| other == name);
        return Ok(names.iter().filter_map(place).collect());
    }
    let mut differences = Vec::new();
    if !missing.is_empty() {
        differences.push(format!("without {}", shortened(&missing)));
    }
    if !extra.is_empty() {
        differences.push(format!("with {} besides", shortened(&extra)));
    }
    Err(Error::content(
        path,
        "channels",
        format!("the {} of {}", names.len(), first_path.display()),
        format!("{} {}", found.len(), differences.join(" and ")),
        "take channels that all files have with --channels or --exclude, or all of these with \
         --common-channels",
    ))
}

/// The names of `these` that are not among `others`, in quotes.
fn without(these: &[String], others: &[String]) -> Vec<String> {
    let left = these.iter().filter(|name| !others.contains(name));
    left.map(|name| format!("`{name}`")).collect()
}

fn check_rate(
    first_path: &Path,
    rate: Option<f64>,
    path: &Path,
    recording: &Recording,
) -> Result<()> {
    let found = recording.sampling_rate();
    let is_same = match (rate, found) {
        (Some(a), Some(b)) => (a - b).abs() <= SAME_RATE * a,
        (a, b) => a == b,
    };
    if is_same {
        return Ok(());
    }
    let text = |rate: Option<f64>| rate.map_or("no rate".into(), |rate| format!("{rate} Hz"));
    let remedy = if rate.is_some() && found.is_some() {
        "bring all files to one rate with --resample"
    } else {
        "give the rate of all files with --rate"
    };
    Err(Error::content(
        path,
        "sampling rate",
        format!("{}, that of {}", text(rate), first_path.display()),
        text(found),
        remedy,
    ))
}

/// Refuses a channel in another unit; one without a unit is taken, with a warning.
fn check_units(
    (first_path, first): (&Path, &Opened),
    (path, opened): (&Path, &Opened),
    order: &[usize],
    notes: &mut Vec<Note>,
) -> Result<()> {
    let mut unknown = Vec::new();
    for (channel, &there) in order.iter().enumerate() {
        let name = &first.recording.channel_names()[channel];
        match (&first.units[channel], &opened.units[there]) {
            (Some(expected), Some(found)) if !is_same_unit(expected, found) => {
                return Err(Error::content(
                    path,
                    format!("channel `{name}`"),
                    format!("the unit {expected}, as in {}", first_path.display()),
                    format!("the unit {found}"),
                    "leave the channel out with --exclude, or convert one of the files",
                ));
            }
            (Some(_), None) | (None, Some(_)) => unknown.push(format!("`{name}`")),
            _ => {}
        }
    }
    if !unknown.is_empty() {
        let (channels, other) = (shortened(&unknown), self::name(first_path));
        let text = format!(
            "only one of this file and {other} names a unit of {channels}: they are taken to be of \
             the same"
        );
        notes.push(of_file(path, Note::warning(text)));
    }
    Ok(())
}

/// Whether two units are spelled alike; micro has three spellings.
pub(crate) fn is_same_unit(a: &str, b: &str) -> bool {
    let plain = |unit: &str| unit.trim().replace(['µ', 'μ'], "u");
    plain(a) == plain(b)
}

fn of_file(path: &Path, note: Note) -> Note {
    Note {
        text: format!("{}: {}", name(path), note.text),
        ..note
    }
}

/// The name of a file without its folder.
fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, ReadOptions, read_recording};

    fn file(name: &str, channels: &str, n_samples: usize, rate: Option<f64>) -> (PathBuf, Opened) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let n_channels = channels.split(',').count();
        let row = |t: usize| {
            let cells: Vec<String> = (0..n_channels)
                .map(|c| format!("{}", 10 * t + c + 1))
                .collect();
            cells.join(",")
        };
        let rows: Vec<String> = (0..n_samples).map(row).collect();
        std::fs::write(&path, format!("{channels}\n{}\n", rows.join("\n"))).unwrap();
        let options = ReadOptions {
            rate,
            transpose: Some(false),
            ..ReadOptions::default()
        };
        (name.into(), read_recording(&path, &options).unwrap())
    }

    fn refused(files: Vec<(PathBuf, Opened)>, parts: &[&str]) {
        let message = join(files).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "\"{message}\" lacks \"{part}\"");
        }
    }

    #[test]
    fn channels_are_found_by_name_and_events_are_shifted_and_cut() {
        let mut files = vec![
            file("a.csv", "x,y", 10, Some(10.0)),
            file("b.csv", "y,x", 20, Some(10.0)),
        ];
        let event = |onset: f64, duration: f64| Event {
            onset,
            duration,
            name: "e".into(),
        };
        files[0].1.events = vec![event(0.5, 3.0)];
        files[1].1.events = vec![event(-1.0, 1.5), event(1.0, 0.0)];
        let joined = join(files).unwrap();
        let recording = &joined.opened.recording;
        assert_eq!((recording.n_samples(), recording.n_channels()), (30, 2));
        assert_eq!(recording.observations()[(10, 0)], 2.0);
        assert_eq!(recording.observations()[(29, 1)], 191.0);
        assert!(recording.pieces().ranges().eq([0..10, 10..30]));
        let events = &joined.opened.events;
        let events: Vec<(f64, f64)> = events.iter().map(|e| (e.onset, e.duration)).collect();
        assert_eq!(events, [(0.5, 0.5), (1.0, 0.5), (2.0, 0.0)]);
        let notes: Vec<String> = joined.opened.notes.iter().map(|n| n.text.clone()).collect();
        assert!(notes.contains(&"b.csv: channels are in another order than in a.csv".into()));
        assert_eq!(joined.opened.format, Format::Text);
    }

    #[test]
    fn what_does_not_fit_is_refused_by_file_and_channel() {
        let a = || file("a.csv", "x,y,z", 10, Some(10.0));
        refused(
            vec![a(), file("b.csv", "x,y,w", 10, Some(10.0))],
            &[
                "b.csv: channels",
                "3 of a.csv",
                "without `z`",
                "with `w`",
                "--common-channels",
            ],
        );
        refused(
            vec![a(), file("b.csv", "x,y,z", 10, Some(20.0))],
            &["b.csv", "10 Hz, that of a.csv", "20 Hz", "--resample"],
        );
        refused(
            vec![a(), file("b.csv", "x,y,z", 10, None)],
            &["b.csv", "no rate", "--rate"],
        );
        let (mut volts, mut other) = (a(), file("b.csv", "x,y,z", 10, Some(10.0)));
        volts.1.units = vec![Some("µV".into()), Some("µV".into()), None];
        other.1.units = vec![Some("uV".into()), Some("mV".into()), None];
        refused(
            vec![volts.clone(), other.clone()],
            &["b.csv: channel `y`", "µV, as in a.csv", "mV", "--exclude"],
        );
        other.1.units = vec![Some("uV".into()), None, None];
        let notes = join(vec![volts, other]).unwrap().opened.notes;
        assert!(notes.iter().any(|note| note.text.contains("a unit of `y`")));
        refused(Vec::new(), &["at least one file"]);
    }
}
