//! Channels of several rates brought to one, where that is asked for (`resample`).
//!
//! In: a reader, and channels of it that differ in rate. Out: one matrix at the rate that was asked
//! for or, for `max`, at the highest of them. The channels of each rate are read and resampled by
//! themselves, before anything else is done with them.

use super::ReadOptions;
use super::assemble::{Wanted, shortened, window};
use super::prepare::Resample;
use super::table::{Contents, Reader, Table};
use crate::error::{Error, Result};
use faer::Mat;
use std::path::Path;
use strtransformer::prepare::resample;

/// The channels of one rate, as places in the list of the chosen ones.
struct Group {
    rate: f64,
    n_samples: usize,
    places: Vec<usize>,
}

/// Channels of one rate that had several.
pub(super) struct Joined {
    pub values: Mat<f64>,
    pub wanted: Wanted,
    /// What was done, one piece of a sentence each.
    pub steps: Vec<String>,
}

/// Reads channels of several rates; `None` where they have one, or it is not asked for.
pub(super) fn read(
    path: &Path,
    reader: &mut dyn Reader,
    contents: &Contents,
    chosen: &[usize],
    options: &ReadOptions,
) -> Result<Option<Joined>> {
    let Some(asked) = options.prepare.resample else {
        return Ok(None);
    };
    let Some(groups) = groups(contents, chosen) else {
        return Ok(None);
    };
    if let Some(rate) = options.rate {
        return Err(Error::request(
            path,
            "rate",
            "none beside channels of several rates",
            format!("{rate} Hz"),
            "leave it out, or choose channels of one rate",
        ));
    }
    let to = match asked {
        Resample::To(rate) => rate,
        Resample::Highest => groups.iter().map(|group| group.rate).fold(0.0, f64::max),
    };
    let (mut parts, mut steps) = (Vec::new(), Vec::new());
    for group in &groups {
        let rows = window(path, group.n_samples, Some(group.rate), options)?;
        let channels: Vec<usize> = group.places.iter().map(|&place| chosen[place]).collect();
        let mut table = Table::new(path, rows, contents.channels.len(), &channels)?;
        reader.read(&mut table)?;
        let values = table.into_values();
        let resampled = resample(values.as_ref(), group.rate, to).map_err(Error::refused(path))?;
        if resampled
            .col_iter()
            .any(|column| column.iter().all(|value| value.is_nan()))
        {
            let names = named(contents, &channels);
            return Err(Error::request(
                path,
                "resample",
                "stretches without missing values that are longer than half the filter, 51 samples \
                 of the lower rate",
                format!(
                    "none in {names}, {} samples at {} Hz",
                    values.nrows(),
                    group.rate
                ),
                "take a longer span, leave such channels out with --exclude, or take those of one \
                 rate",
            ));
        }
        parts.push(resampled);
        if group.rate != to {
            let names = named(contents, &channels);
            steps.push(format!("{names} resampled from {} to {to} Hz", group.rate));
        }
    }
    // Of one span, to less than a sample of the slowest.
    let n = parts.iter().map(Mat::nrows).min().unwrap_or(0);
    let mut values = Mat::zeros(n, chosen.len());
    for (group, part) in groups.iter().zip(&parts) {
        for (column, &place) in group.places.iter().enumerate() {
            values
                .col_mut(place)
                .copy_from(part.col(column).subrows(0, n));
        }
    }
    let start = window(path, usize::MAX, Some(to), options)?.start;
    let wanted = Wanted {
        chosen: chosen.to_vec(),
        rows: start..start + n,
        rate: Some(to),
    };
    Ok(Some(Joined {
        values,
        wanted,
        steps,
    }))
}

/// Names of channels, as many as fit into a message.
fn named(contents: &Contents, channels: &[usize]) -> String {
    let name = |&channel: &usize| contents.channels[channel].name.as_str();
    shortened(&channels.iter().map(name).collect::<Vec<_>>())
}

/// The rates of the chosen channels, when there are several and all are known.
fn groups(contents: &Contents, chosen: &[usize]) -> Option<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for (place, &channel) in chosen.iter().enumerate() {
        let channel = &contents.channels[channel];
        let (rate, n_samples) = (channel.rate?, channel.n_samples);
        let same = |group: &&mut Group| (group.rate, group.n_samples) == (rate, n_samples);
        match groups.iter_mut().find(same) {
            Some(group) => group.places.push(place),
            None => groups.push(Group {
                rate,
                n_samples,
                places: vec![place],
            }),
        }
    }
    let rates = groups.windows(2).any(|pair| pair[0].rate != pair[1].rate);
    rates.then_some(groups)
}
