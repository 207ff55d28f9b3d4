//! EEGLAB's `.set` files: a MATLAB file with a structure `EEG` (or its fields as variables), and
//! the numbers inside it or in a `.fdt` file beside it.
//!
//! Epochs are pieces of one recording, laid end to end. Events and places of electrodes are read
//! (`scene.rs`), earlier decompositions are not.

mod scene;

use super::array::MOST_CHANNELS;
use super::matlab::{MatlabReader, Numeric, Store, Value, Workspace};
use super::numbers::{Block, Endian, Number, Order};
use super::rewrite::{Replacement, Units, in_place, same_file, write_file};
use super::sniff::is_mat5;
use super::source::{Source, damaged, failed};
use super::table::{Contents, Reader, Table};
use super::{Note, ReadOptions};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// Opens a `.set` file in either of MATLAB's formats.
pub(crate) fn open(mut source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    let workspace = if is_mat5(&source.head(128)?) {
        super::mat5::load(source)?
    } else {
        load_hdf5(source)?
    };
    match options.variable {
        Some(_) => super::matlab::open(workspace, options),
        None => of_workspace(workspace),
    }
}

#[cfg(feature = "hdf5")]
use super::hdf5::load as load_hdf5;

#[cfg(not(feature = "hdf5"))]
fn load_hdf5(source: Source) -> Result<Workspace> {
    Err(Error::NotBuilt {
        path: source.path().to_owned(),
        format: super::Format::Hdf5.name(),
        feature: "hdf5",
    })
}

/// Reads the recording that a workspace holds.
pub(crate) fn of_workspace(mut workspace: Workspace) -> Result<Box<dyn Reader>> {
    let path = workspace.path.clone();
    let fields = match workspace
        .variables
        .iter()
        .position(|(name, _)| name == "EEG")
    {
        Some(at) => workspace.variables.swap_remove(at).1,
        None => Value::Struct(vec![std::mem::take(&mut workspace.variables)]),
    };
    let place = |name: &str| format!("EEG.{name}");
    let scalar = |name: &str| match fields.field(name) {
        Some(Value::Numeric(Numeric {
            scalar: Some(value),
            ..
        })) => Ok(*value),
        _ => Err(damaged(
            &path,
            place(name),
            "a number, as in every EEGLAB data set",
            "none",
        )),
    };
    let count = |name: &str| match scalar(name)? {
        value if value.fract() == 0.0 && (0.0..=2f64.powi(53)).contains(&value) => {
            Ok(value as usize)
        }
        value => Err(damaged(
            &path,
            place(name),
            "a whole number from 0",
            value.to_string(),
        )),
    };
    let (n_channels, n_points) = (count("nbchan")?, count("pnts")?);
    let n_trials = match fields.field("trials") {
        Some(_) => count("trials")?.max(1),
        None => 1,
    };
    let rate = scalar("srate")?;
    let n_samples = n_points.saturating_mul(n_trials);
    let mut block = Block {
        number: Number::F32,
        endian: Endian::Little,
        order: Order::Interleaved,
        n_samples,
        n_channels,
    };
    if !(1..MOST_CHANNELS).contains(&n_channels) || n_samples == 0 {
        let found = format!("{n_channels} channels, {n_samples} samples");
        let expected = format!(
            "1 to {} channels and at least one sample",
            MOST_CHANNELS - 1
        );
        return Err(damaged(&path, "EEG", expected, found));
    }
    let mut contents = Contents::plain(n_samples, n_channels, Some(rate));
    if let Some(labels) = labels(fields.field("chanlocs"), n_channels) {
        for (channel, label) in contents.channels.iter_mut().zip(labels) {
            channel.name = label;
        }
    } else {
        contents.warn("no channel labels in EEG.chanlocs: the channels are numbered");
    }
    let positions = scene::positions(fields.field("chanlocs"));
    for (channel, position) in contents.channels.iter_mut().zip(positions) {
        channel.position = position;
    }
    let n_placed = contents
        .channels
        .iter()
        .filter(|c| c.position.is_some())
        .count();
    if n_placed > 0 {
        contents.detected(format!("positions of {n_placed} electrodes"));
    }
    contents.events = scene::events(fields.field("event"), rate);
    if !contents.events.is_empty() {
        contents.detected(format!("{} events", contents.events.len()));
    }
    if n_trials > 1 {
        contents.trial = Some(n_points);
        contents.detected(format!(
            "{n_trials} epochs of {n_points} samples are pieces of one recording"
        ));
    }
    match fields.field("data") {
        Some(Value::Numeric(numeric)) => {
            let expected = n_channels.checked_mul(n_samples);
            if numeric.array.n_values() != expected
                || numeric.array.shape.first() != Some(&n_channels)
            {
                return Err(damaged(
                    &path,
                    "EEG.data",
                    format!("{n_channels} channels × {n_points} samples × {n_trials} epochs"),
                    format!("shape {:?}", numeric.array.shape),
                ));
            }
            (block.number, block.endian) = (numeric.array.number, numeric.array.endian);
            contents.detected("the numbers are in the .set file");
            let chosen = Some((numeric.id, block));
            Ok(Box::new(MatlabReader::new(
                workspace.store,
                chosen,
                contents,
            )))
        }
        Some(Value::Text(name)) => {
            let source = separate(&path, name, &mut contents)?;
            let what =
                format!("{n_channels} channels × {n_samples} samples, as the .set file says");
            source.require(0, block.size().unwrap_or(u64::MAX), &what)?;
            let store = Box::new(FdtStore {
                source,
                set: path,
                named: own_name(name).into(),
            });
            Ok(Box::new(MatlabReader::new(
                store,
                Some((0, block)),
                contents,
            )))
        }
        _ => Err(damaged(
            &path,
            "EEG.data",
            "numbers, or the name of a file that holds them",
            "neither",
        )),
    }
}

/// The labels of all channels, if every one has one.
fn labels(locations: Option<&Value>, n_channels: usize) -> Option<Vec<String>> {
    let Some(Value::Struct(elements)) = locations else {
        return None;
    };
    let label = |fields: &Vec<(String, Value)>| {
        fields.iter().find_map(|(name, value)| match value {
            Value::Text(label) if name == "labels" => Some(label.trim().to_string()),
            _ => None,
        })
    };
    let labels: Option<Vec<String>> = elements.iter().map(label).collect();
    labels.filter(|labels| labels.len() == n_channels)
}

/// The file that holds the numbers. Data sets are renamed outside EEGLAB, so the name of the `.set`
/// file counts as well.
fn separate(path: &Path, name: &str, contents: &mut Contents) -> Result<Source> {
    let own_name = own_name(name);
    let named = path.with_file_name(own_name);
    let like_set = path.with_extension("fdt");
    let is_renamed = (own_name.is_empty() || !named.is_file()) && like_set.is_file();
    let chosen = if is_renamed { &like_set } else { &named };
    if own_name.is_empty() || !chosen.is_file() {
        return Err(Error::content(
            path,
            "EEG.data",
            format!("a file `{own_name}` beside it, which holds the numbers"),
            "no such file",
            "copy it to the same directory",
        ));
    }
    if chosen == &like_set && like_set != named {
        contents.warn(format!(
            "`{own_name}` is not there: the .fdt file of the same name as the .set file is read"
        ));
    } else {
        contents.detected(format!("the numbers are in `{own_name}`"));
    }
    Source::open(chosen)
}

/// A name without the folders before it, of any system.
fn own_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// A `.fdt` file: 32-bit numbers, all channels of a sample together.
struct FdtStore {
    source: Source,
    /// The `.set` file that names it, …
    set: PathBuf,
    /// … so.
    named: String,
}

impl FdtStore {
    /// The `.set` file with another name for its numbers. EEGLAB, MNE and this program read the
    /// file that is named where it is there: a copy beside the recording that went on naming the
    /// recording's own would be the recording once more.
    fn naming(&self, numbers: &Path, out: &Path) -> Result<Vec<u8>> {
        let mut set = Source::open(&self.set)?;
        let length = set.length();
        let bytes = set.bytes(0, length, "data set")?;
        let name = numbers.file_name().unwrap_or_default().to_string_lossy();
        if name == self.named {
            return Ok(bytes);
        }
        if let Some(renamed) = super::mat5::with_text(&bytes, &["data", "datfile"], &name) {
            return Ok(renamed);
        }
        let named = out.with_file_name(&self.named);
        if named.is_file() && !same_file(&named, numbers) {
            return Err(Error::kind(
                out,
                format!("a folder without `{}`", self.named),
                "that file, which the copy would name as its numbers",
                "choose another folder, or another format such as .npy",
            ));
        }
        Ok(bytes)
    }
}

impl Store for FdtStore {
    /// Two files: the `.set` file, naming the other, and its numbers under the same name with
    /// `.fdt`.
    fn rewrite(
        &mut self,
        _id: usize,
        block: &Block,
        new: &Replacement<'_>,
        out: &Path,
    ) -> Result<Option<Vec<Note>>> {
        let numbers = out.with_extension("fdt");
        if numbers == out || same_file(&numbers, self.source.path()) {
            return Err(Error::kind(
                &numbers,
                "another file than the recording, for the numbers of the .set file",
                "one of its own",
                "choose another name",
            ));
        }
        let set = self.naming(&numbers, out)?;
        let plain = |_| Units::PLAIN;
        let mut notes = in_place(&mut self.source, (0, block), new, &plain, &numbers)?;
        let written = write_file(out, |file| {
            file.write_all(&set).map_err(Error::writing(out))
        });
        if let Err(error) = written {
            // Numbers without their description are half a data set.
            let _ = std::fs::remove_file(&numbers);
            return Err(error);
        }
        notes.push(Note::detected(format!(
            "the numbers are in {}",
            numbers.display()
        )));
        Ok(Some(notes))
    }

    fn fill(&mut self, _id: usize, block: &Block, table: &mut Table) -> Result<()> {
        let path = self.source.path().to_owned();
        let mut input = self.source.stream(0)?;
        block
            .fill(&mut input, table, |_, value| value)
            .map_err(|error| failed(&path, error, "numbers"))
    }
}
