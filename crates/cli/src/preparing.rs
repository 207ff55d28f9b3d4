//! How a run has prepared its recording, for another recording and for the file itself.
//!
//! `strt transform` and `strt clean` prepare what they read as the run did; `strt clean` needs the
//! recording as it is in the file, too. How sources are taken out of that is `strt-runs`'s
//! business.

use crate::failure::Outcome;
use faer::{Mat, MatRef};
use std::path::Path;
use strt_io::{BadSegments, Opened, Prepare, ReadOptions, Rereference, inspect, read_recording};
use strt_runs::results::summary::Input;
use strtransformer::{Recording, Separation};

/// Options to read another recording and prepare it as that of a run was, unless `own` says
/// otherwise. Bad segments that were listed are those of the recording of the run, and are left
/// out.
pub fn as_the_run_did(
    input: &Input,
    model: &Separation,
    path: &Path,
    own: ReadOptions,
) -> Outcome<ReadOptions> {
    let mut there = input.options.prepare.clone();
    if !matches!(there.bad_segments, Some(BadSegments::Annotations)) {
        there.bad_segments = None;
    }
    if there.is_nothing() {
        return Ok(own);
    }
    let mut options = ReadOptions {
        prepare: own.prepare.clone().or(there),
        ..own
    };
    // A reference is told by all channels that were read, so they must be those of the run.
    let mut needed = model.channel_names().to_vec();
    if let Some(Rereference::Channel(name)) = &options.prepare.rereference {
        needed.push(name.clone());
    }
    let found = inspect(path, &options)?.channels;
    let has = |name: &String| found.iter().any(|channel| channel.name == *name);
    if options.channels.is_none() && needed.iter().all(has) {
        options.channels = Some(needed.iter().map(String::as_str).collect());
        options.prepare.exclude = None;
    }
    Ok(options)
}

/// A recording as its file has it and as the run saw it.
pub struct Both {
    /// Without the preparation, where its channels make one matrix; else why they do not.
    pub plain: strt_io::Result<Opened>,
    pub prepared: Opened,
}

impl Both {
    /// Whether numbers or missing samples of a recording depend on how it was prepared.
    pub fn differ(prepare: &Prepare) -> bool {
        let all_channels = Prepare {
            exclude: None,
            ..prepare.clone()
        };
        !all_channels.is_nothing()
    }

    pub fn read(path: &Path, options: &ReadOptions) -> Outcome<Both> {
        let plain = read_recording(path, &without_preparation(options));
        let prepared = match &plain {
            Ok(plain) => plain.clone().prepare(path, &options.prepare)?,
            Err(_) => read_recording(path, options)?,
        };
        Ok(Both { plain, prepared })
    }
}

/// What gives the numbers that are in the file.
pub fn without_preparation(options: &ReadOptions) -> ReadOptions {
    ReadOptions {
        prepare: Prepare {
            exclude: options.prepare.exclude.clone(),
            ..Prepare::default()
        },
        ..options.clone()
    }
}

/// The channels of the model out of all channels of a file.
pub fn of_the_model(
    all: MatRef<'_, f64>,
    plain: &Recording,
    names: &[String],
) -> Outcome<Recording> {
    let place = |name: &String| plain.channel_names().iter().position(|other| other == name);
    let places: Vec<usize> = names.iter().filter_map(place).collect();
    let picked = Mat::from_fn(all.nrows(), places.len(), |t, c| all[(t, places[c])]);
    Ok(plain.with_channels(picked, names.to_vec())?)
}
