//! SNIRF: near-infrared spectroscopy in HDF5 (<https://github.com/fNIRS/snirf>, versions 1.0 and
//! 1.1).
//!
//! A channel is a column of `dataTimeSeries`, with the name `S1_D1 760` (source, detector,
//! wavelength in nm) or `S1_D1 HbO` for processed data; stimuli become events. A file with several
//! blocks of data has them as variables `nirs1.data1`, …. Not read: auxiliary signals, which have
//! times of their own, and positions, whose axes the format leaves open.

use super::array::choose;
use super::events::Event;
use super::hdf5::{self, File, Member};
use super::numbers::{Block, Order};
use super::source::{Source, damaged};
use super::table::{Channel, Contents, Reader, Table, Variable};
use super::time::{self, Axis};
use super::{Note, ReadOptions};
use crate::error::{Error, Result};
use hdf5_reader::Dataset;
use hdf5_reader::group::Group;

/// The number of a processed type of data, whose label says what it is.
const PROCESSED: f64 = 99999.0;

/// A SNIRF file.
struct SnirfReader {
    file: File,
    /// What is read; `None` when nothing was chosen.
    chosen: Option<(Dataset, Block)>,
    contents: Contents,
}

pub(crate) fn open(source: Source, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    let file = File::open(source)?;
    let blocks = blocks(&file)?;
    let variables: Vec<Variable> = blocks
        .iter()
        .map(|block| Variable {
            name: block.name.clone(),
            shape: hdf5::shape(&block.series).unwrap_or_default(),
        })
        .collect();
    let chosen = choose(file.path(), options, &variables, |_| true)?;
    let Some(chosen) = chosen else {
        let contents = Contents {
            variables,
            undecided: true,
            ..Contents::default()
        };
        return Ok(Box::new(SnirfReader {
            file,
            chosen: None,
            contents,
        }));
    };
    let found = &blocks[chosen];
    let (block, mut contents) = described(&file, found)?;
    contents.variables = variables;
    let series = found.series.clone();
    Ok(Box::new(SnirfReader {
        file,
        chosen: Some((series, block)),
        contents,
    }))
}

/// One block of data, and the recording that it belongs to.
struct DataBlock {
    name: String,
    nirs: Group,
    data: Group,
    series: Dataset,
}

/// All blocks of data of a file, in the order of their numbers.
fn blocks(file: &File) -> Result<Vec<DataBlock>> {
    let mut found = Vec::new();
    for (nirs_name, nirs) in numbered(file, &file.root()?, "nirs")? {
        for (data_name, data) in numbered(file, &nirs, "data")? {
            let name = format!("{nirs_name}.{data_name}");
            let place = format!("{name}.dataTimeSeries");
            let series = data.dataset("dataTimeSeries").map_err(file.wrong(place))?;
            found.push(DataBlock {
                name,
                nirs: nirs.clone(),
                data,
                series,
            });
        }
    }
    if found.is_empty() {
        return Err(Error::content(
            file.path(),
            "groups",
            "a group `nirs` with a group `data1`, as in every SNIRF file",
            "none",
            "rename it to end in .h5 to read its arrays",
        ));
    }
    Ok(found)
}

/// Groups of a name and a number, in the order of the numbers; the name alone comes first.
fn numbered(file: &File, group: &Group, name: &str) -> Result<Vec<(String, Group)>> {
    let mut found = Vec::new();
    for (own, member) in file.members(group)? {
        if let (Some(rest), Member::Group(group)) = (own.strip_prefix(name), member)
            && let Some(number) = if rest.is_empty() {
                Some(0)
            } else {
                rest.parse::<u32>().ok()
            }
        {
            found.push((number, (own.clone(), group)));
        }
    }
    found.sort_by_key(|(number, _)| *number);
    Ok(found.into_iter().map(|(_, found)| found).collect())
}

/// What a block holds.
fn described(file: &File, found: &DataBlock) -> Result<(Block, Contents)> {
    let place = format!("{}.dataTimeSeries", found.name);
    let shape = hdf5::shape(&found.series).unwrap_or_default();
    let (n_samples, n_channels) = match shape[..] {
        [n_samples, n_channels] if n_samples > 0 && n_channels > 0 => (n_samples, n_channels),
        _ => {
            let expected = "samples × channels";
            return Err(damaged(file.path(), place, expected, format!("{shape:?}")));
        }
    };
    let (number, endian) = hdf5::number(found.series.dtype())
        .map_err(|what| damaged(file.path(), &place, "numbers", what))?;
    let n_values = n_samples.checked_mul(n_channels);
    if !n_values.is_some_and(|n| hdf5::is_held(file, &found.series, n, number.size())) {
        let expected = "an array that the file can hold";
        return Err(damaged(file.path(), place, expected, format!("{shape:?}")));
    }
    let mut contents = Contents::default();
    let (start, rate) = times(file, found, n_samples, &mut contents)?;
    let names = names(file, found, n_channels)?;
    for (name, unit) in names {
        contents.channels.push(Channel {
            name,
            unit,
            rate,
            n_samples,
            ..Channel::default()
        });
    }
    contents.events = events(file, &found.nirs, start)?;
    let n_auxiliary = numbered(file, &found.nirs, "aux")?.len();
    if n_auxiliary > 0 {
        contents.detected(format!("{n_auxiliary} auxiliary signals are not read"));
    }
    let block = Block {
        number,
        endian,
        order: Order::Interleaved,
        n_samples,
        n_channels,
    };
    Ok((block, contents))
}

/// The time of the first sample, and the rate: all times are given, or the first and the step.
fn times(
    file: &File,
    found: &DataBlock,
    n_samples: usize,
    contents: &mut Contents,
) -> Result<(f64, Option<f64>)> {
    let place = format!("{}.time", found.name);
    let dataset = found.data.dataset("time").map_err(file.wrong(&place))?;
    let count = dataset.num_elements().unwrap_or(0) as usize;
    let is_whole = count == n_samples;
    if !is_whole && count != 2 {
        let expected = format!("{n_samples} times, or the first and the step");
        return Err(damaged(file.path(), place, expected, count.to_string()));
    }
    let unit = match text(&found.nirs, "metaDataTags/TimeUnit").as_deref() {
        Some("ms") => 1e-3,
        Some("us" | "µs") => 1e-6,
        _ => 1.0,
    };
    let mut times = hdf5::small(file, &dataset, count)?;
    times.iter_mut().for_each(|time| *time *= unit);
    let start = times.first().copied().filter(|start| start.is_finite());
    if is_whole && count > 2 {
        if let Axis::Time(rate, note) = time::in_seconds("time", &times) {
            contents.notes.push(note);
            return Ok((start.unwrap_or(0.0), rate));
        }
        return Ok((start.unwrap_or(0.0), None));
    }
    // Two samples are told from the first and the step by what the numbers are.
    let step = match times[..] {
        [first, second] if is_whole => second - first,
        [_, step] => step,
        _ => f64::NAN,
    };
    let rate = Some(1.0 / step).filter(|rate| rate.is_finite() && *rate > 0.0);
    match rate {
        Some(rate) => contents.detected(format!("`time` gives the first sample and {rate} Hz")),
        None => contents.notes.push(Note::warning("`time` gives no rate")),
    }
    Ok((start.unwrap_or(0.0), rate))
}

/// Name and unit of every channel.
fn names(
    file: &File,
    found: &DataBlock,
    n_channels: usize,
) -> Result<Vec<(String, Option<String>)>> {
    let lists = numbered(file, &found.data, "measurementList")?;
    if lists.len() != n_channels {
        return Err(damaged(
            file.path(),
            format!("{}.measurementList", found.name),
            format!("{n_channels}, one a channel"),
            lists.len().to_string(),
        ));
    }
    let probe = found.nirs.group("probe").ok();
    let labels = |name: &str| {
        let dataset = probe.as_ref()?.dataset(name).ok()?;
        dataset.read_strings().ok()
    };
    let (sources, detectors) = (labels("sourceLabels"), labels("detectorLabels"));
    let wavelengths = match probe
        .as_ref()
        .and_then(|probe| probe.dataset("wavelengths").ok())
    {
        Some(dataset) => {
            let count = dataset.num_elements().unwrap_or(0).min(1 << 12) as usize;
            hdf5::small(file, &dataset, count)?
        }
        None => Vec::new(),
    };
    let mut names = Vec::new();
    for (own, list) in lists {
        let number = |field: &str| -> Result<Option<f64>> {
            match list.dataset(field) {
                Ok(dataset) if dataset.num_elements().is_ok_and(|count| count == 1) => {
                    Ok(hdf5::small(file, &dataset, 1)?.first().copied())
                }
                _ => Ok(None),
            }
        };
        let index = |field: &str| -> Result<usize> {
            match number(field)? {
                Some(index) if index.fract() == 0.0 && (1.0..1e6).contains(&index) => {
                    Ok(index as usize)
                }
                other => Err(damaged(
                    file.path(),
                    format!("{}.{own}.{field}", found.name),
                    "a whole number from 1",
                    other.map_or("none".into(), |index| index.to_string()),
                )),
            }
        };
        let label = |letter: char, labels: &Option<Vec<String>>, index: usize| {
            let own = labels.as_ref().and_then(|labels| labels.get(index - 1));
            own.filter(|label| !label.is_empty())
                .cloned()
                .unwrap_or_else(|| format!("{letter}{index}"))
        };
        let source = label('S', &sources, index("sourceIndex")?);
        let detector = label('D', &detectors, index("detectorIndex")?);
        let what = if number("dataType")? == Some(PROCESSED) {
            text(&list, "dataTypeLabel").unwrap_or_else(|| "processed".into())
        } else {
            let index = index("wavelengthIndex")?;
            match wavelengths.get(index - 1) {
                Some(wavelength) => wavelength.to_string(),
                None => format!("wavelength {index}"),
            }
        };
        let unit = text(&list, "dataUnit").filter(|unit| !unit.is_empty());
        names.push((format!("{source}_{detector} {what}"), unit));
    }
    Ok(names)
}

/// The text of a dataset, by its path in a group.
fn text(group: &Group, path: &str) -> Option<String> {
    match path.split_once('/') {
        Some((first, rest)) => text(&group.group(first).ok()?, rest),
        None => {
            let texts = group.dataset(path).ok()?.read_strings().ok()?;
            texts.into_iter().next()
        }
    }
}

/// Stimuli: onset, duration and value in every row of `data`.
fn events(file: &File, nirs: &Group, start: f64) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    for (own, stimulus) in numbered(file, nirs, "stim")? {
        let name = text(&stimulus, "name").unwrap_or_else(|| own.clone());
        let Ok(dataset) = stimulus.dataset("data") else {
            continue;
        };
        let shape = hdf5::shape(&dataset).unwrap_or_default();
        let n_values = shape.iter().try_fold(1usize, |n, &m| n.checked_mul(m));
        let (Some(n_values), &[_, n_columns]) = (n_values, &shape[..]) else {
            continue;
        };
        let size = hdf5::number(dataset.dtype()).map_or(usize::MAX, |(number, _)| number.size());
        if n_columns < 2 || !hdf5::is_held(file, &dataset, n_values, size) {
            continue;
        }
        let values = hdf5::small(file, &dataset, n_values)?;
        for row in values.chunks_exact(n_columns) {
            if row[0].is_finite() && row[1].is_finite() {
                events.push(Event {
                    onset: row[0] - start,
                    duration: row[1].max(0.0),
                    name: name.clone(),
                });
            }
        }
    }
    events.sort_by(|a, b| a.onset.total_cmp(&b.onset));
    Ok(events)
}

impl Reader for SnirfReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        match &self.chosen {
            Some((series, block)) => hdf5::fill_table(&self.file, series, block, table),
            None => Ok(()),
        }
    }
}
