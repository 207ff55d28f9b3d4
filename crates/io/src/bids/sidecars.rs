//! What the files beside a recording say about it.
//!
//! | file | what is taken from it |
//! |---|---|
//! | `…_channels.tsv` | `type`: which channels are signals; `status`: which are bad; `units` |
//! | `…_events.tsv` | events, in place of those of the recording |
//! | `…_electrodes.tsv` | positions, of EEG, where `…_coordsystem.json` says which way they point |
//! | `…_eeg.json` | `SamplingFrequency`, compared; `PowerLineFrequency`, told |
//!
//! A file applies to a recording that has all its entities, from the folder of the recording up to
//! that of the dataset; the nearest one with most entities is taken (the inheritance principle).
//! Every decision is noted. Channels that are left out can still be asked for by name.

use super::name::BidsName;
use super::tsv::{self, Tsv};
use crate::error::{Error, Result};
use crate::read::{Contents, Event, shortened};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Types of channels that are what a recording is made for.
const SIGNALS: [&str; 7] = [
    "EEG",
    "ECOG",
    "SEEG",
    "DBS",
    "MEGMAG",
    "MEGGRADAXIAL",
    "MEGGRADPLANAR",
];
/// The beginning of the types of near-infrared signals.
const NIRS: &str = "NIRS";

const NO_SIGNAL: &str = "channels.tsv gives it a type of its own";
const BAD: &str = "its status in channels.tsv is bad";

/// Changes what a file holds to what its dataset says.
pub(crate) fn apply(path: &Path, contents: &mut Contents) -> Result<()> {
    let name = path.file_name().map(|name| name.to_string_lossy());
    let name = name.and_then(|name| BidsName::parse(&name));
    let Some(name) = name.filter(|name| name.get("sub").is_some()) else {
        return Err(Error::request(
            path,
            "bids",
            "a name such as sub-01_task-rest_eeg.edf",
            "another name",
            "read the file without --bids",
        ));
    };
    let find = |suffix: &str, extension: &str| sidecar(path, &name, suffix, extension);
    if let Some(table) = find("channels", ".tsv") {
        channels(&table, contents)?;
    }
    if let Some(table) = find("events", ".tsv") {
        events(&table, contents)?;
    }
    if let Some(table) = find("electrodes", ".tsv").filter(|_| name.suffix() == "eeg") {
        electrodes(&table, find("coordsystem", ".json").as_deref(), contents)?;
    }
    if let Some(file) = find(name.suffix(), ".json") {
        description(&file, contents)?;
    }
    Ok(())
}

/// The file that says it, where there is one.
fn sidecar(path: &Path, of: &BidsName, suffix: &str, extension: &str) -> Option<PathBuf> {
    folders(path).into_iter().find_map(|folder| {
        let entries = std::fs::read_dir(folder).ok()?;
        let mut found: Vec<(usize, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let name = BidsName::parse(&entry.file_name().to_string_lossy())?;
                let is_it =
                    name.suffix() == suffix && name.extension() == extension && name.applies_to(of);
                is_it.then(|| (name.n_entities(), entry.path()))
            })
            .collect();
        found.sort();
        found.pop().map(|(_, path)| path)
    })
}

/// The folder of a recording and those above it, up to that of the dataset.
fn folders(path: &Path) -> Vec<PathBuf> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut folders = Vec::new();
    for folder in path.ancestors().skip(1) {
        folders.push(folder.to_owned());
        let name = folder.file_name().map(|name| name.to_string_lossy());
        let is_inside = name.is_some_and(|name| {
            name.starts_with("sub-")
                || name.starts_with("ses-")
                || super::dataset::DATA_TYPES.contains(&name.as_ref())
        });
        if !is_inside {
            break;
        }
    }
    folders
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn channels(path: &Path, contents: &mut Contents) -> Result<()> {
    let table = Tsv::read(path, "name")?;
    let rows = |name: &str| {
        let mut rows = table.rows().iter();
        rows.find(|row| table.get(row, "name") == Some(name))
    };
    let (mut unknown, mut units) = (Vec::new(), Vec::new());
    for channel in &mut contents.channels {
        let Some(row) = rows(&channel.name) else {
            // What the file itself leaves out need not be in the table.
            if channel.left_out.is_none() {
                unknown.push(format!("`{}`", channel.name));
            }
            continue;
        };
        let kind = table.get(row, "type").map(str::to_uppercase);
        let is_signal =
            kind.is_none_or(|kind| SIGNALS.contains(&kind.as_str()) || kind.starts_with(NIRS));
        let is_bad = table
            .get(row, "status")
            .is_some_and(|s| s.eq_ignore_ascii_case("bad"));
        channel.left_out = channel
            .left_out
            .or((!is_signal).then_some(NO_SIGNAL))
            .or(is_bad.then_some(BAD));
        if let Some(unit) = table.get(row, "units") {
            match &channel.unit {
                None => channel.unit = Some(unit.into()),
                Some(own) if !crate::read::is_same_unit(own, unit) => {
                    units.push(format!("`{}` ({own}, there {unit})", channel.name));
                }
                Some(_) => {}
            }
        }
    }
    let table = file_name(path);
    if !unknown.is_empty() {
        let unknown = shortened(&unknown);
        contents.warn(format!(
            "{table} does not list {unknown}: they are taken as they are"
        ));
    }
    if !units.is_empty() {
        let units = shortened(&units);
        contents.warn(format!(
            "{table} gives other units than the file, which are kept: {units}"
        ));
    }
    Ok(())
}

fn events(path: &Path, contents: &mut Contents) -> Result<()> {
    let table = Tsv::read(path, "onset")?;
    let mut events = Vec::new();
    let mut nowhere = 0;
    for row in table.rows() {
        let Some(onset) = table.number(row, "onset")? else {
            nowhere += 1;
            continue;
        };
        let name = table
            .get(row, "trial_type")
            .or_else(|| table.get(row, "value"));
        let duration = table.number(row, "duration")?.unwrap_or(0.0);
        if duration < 0.0 {
            return Err(table.wrong(row, "duration", "seconds from 0, or n/a"));
        }
        events.push(Event {
            onset,
            duration,
            name: name.unwrap_or("event").into(),
        });
    }
    let name = file_name(path);
    if nowhere > 0 {
        contents.warn(format!(
            "{name}: events without an onset are left out: {nowhere}"
        ));
    }
    let text = match contents.events.len() {
        0 => format!("events from {name}: {}", events.len()),
        own => format!(
            "events from {name}: {}, in place of {own} of the file",
            events.len()
        ),
    };
    contents.detected(text);
    contents.events = events;
    Ok(())
}

/// `…_coordsystem.json`, as far as it is used.
#[derive(Deserialize)]
struct CoordinateSystem {
    #[serde(rename = "EEGCoordinateSystem")]
    system: Option<String>,
    #[serde(rename = "EEGCoordinateUnits")]
    units: Option<String>,
}

impl CoordinateSystem {
    /// Metres to the right, to the front and up of coordinates; `None` where that is not known.
    fn turned(&self, [x, y, z]: [f64; 3]) -> Option<[f64; 3]> {
        let scale = match self.units.as_deref()? {
            "m" => 1.0,
            "cm" => 1e-2,
            "mm" => 1e-3,
            _ => return None,
        };
        let turned = match self.system.as_deref()? {
            "CapTrak" | "ElektaNeuromag" | "ACPC" | "ScanRAS" => [x, y, z],
            system if system.starts_with("MNI") || system.starts_with("fsaverage") => [x, y, z],
            // The first axis to the front, the second to the left.
            "CTF" | "4DBti" | "KitYokogawa" | "EEGLAB" => [-y, x, z],
            _ => return None,
        };
        Some(turned.map(|value| value * scale))
    }
}

fn electrodes(path: &Path, system: Option<&Path>, contents: &mut Contents) -> Result<()> {
    let name = file_name(path);
    let Some(system) = system else {
        contents.warn(format!(
            "{name} is not used: no coordsystem.json says how it is meant"
        ));
        return Ok(());
    };
    let system: CoordinateSystem = json(system)?;
    let table = Tsv::read(path, "name")?;
    let mut taken = 0;
    for row in table.rows() {
        let at = |axis| table.number(row, axis);
        let (Some(x), Some(y), Some(z)) = (at("x")?, at("y")?, at("z")?) else {
            continue;
        };
        let Some(position) = system.turned([x, y, z]) else {
            contents.warn(format!(
                "{name} is not used: nothing is known of the coordinates {} in {}",
                system.system.as_deref().unwrap_or("n/a"),
                system.units.as_deref().unwrap_or("n/a")
            ));
            return Ok(());
        };
        let mut channels = contents.channels.iter_mut();
        let of_row = |channel: &&mut _| is_called(channel, table.get(row, "name"));
        if let Some(channel) = channels.find(of_row) {
            channel.position = Some(position);
            taken += 1;
        }
    }
    contents.detected(format!("positions of {taken} electrodes from {name}"));
    Ok(())
}

fn is_called(channel: &crate::read::Channel, name: Option<&str>) -> bool {
    Some(channel.name.as_str()) == name
}

/// `…_eeg.json`, as far as it is used.
#[derive(Deserialize)]
struct Description {
    #[serde(rename = "SamplingFrequency")]
    rate: Option<serde_json::Value>,
    #[serde(rename = "PowerLineFrequency")]
    line: Option<serde_json::Value>,
}

fn description(path: &Path, contents: &mut Contents) -> Result<()> {
    let name = file_name(path);
    let said: Description = json(path)?;
    // `n/a` is allowed in place of either.
    let rate = said.rate.and_then(|rate| rate.as_f64());
    let rates = contents.channels.iter().filter(|c| c.left_out.is_none());
    let own = rates.filter_map(|channel| channel.rate).reduce(f64::max);
    if let (Some(rate), Some(own)) = (rate, own)
        && (rate - own).abs() > 1e-3 * own
    {
        contents.warn(format!(
            "{name} gives a rate of {rate} Hz; the file has {own} Hz, which is kept"
        ));
    }
    if let Some(line) = said.line.and_then(|line| line.as_f64()) {
        contents.detected(format!(
            "{name}: line frequency {line} Hz, which `notch` {line} takes out"
        ));
    }
    Ok(())
}

fn json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T> {
    let text = tsv::text(path)?;
    serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
        Error::content(
            path,
            format!("line {}, column {}", error.line(), error.column()),
            "JSON as BIDS has it",
            error.to_string(),
            "correct it, or read the recording without --bids",
        )
    })
}
