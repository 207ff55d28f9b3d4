//! What a run works on: a recording and perhaps its true sources, read from files or taken from
//! memory.
//!
//! In: a [`Source`], a [`Truth`] and the [`ReadOptions`] that are kept with a run, so that a
//! resumed one reads the same. Out: `Data`. The watcher is told what was read; nothing is written
//! here.

use crate::error::{Error, Result};
use crate::order::{Order, Source, Truth};
use crate::results::count::CountSummary;
use crate::results::summary::Input;
use crate::watcher::{Event, Watcher};
use std::borrow::Cow;
use std::path::Path;
use strt_io::{NoteKind, Opened, ReadOptions, inspect, join, read_recording};
use strt_score::Reference;
use strtransformer::config::MixerKind;
use strtransformer::preprocess::{ChannelScalingOptions, SourceCount};
use strtransformer::{Config, Recording};

/// A recording, what is known of it, and its true sources where there are any.
pub(crate) struct Data<'a> {
    pub recording: Recording,
    pub input: Input,
    /// What to know about the input.
    pub warnings: Vec<String>,
    pub reference: Option<Cow<'a, Reference>>,
    /// Where the true sources came from.
    pub reference_name: String,
}

impl<'a> Data<'a> {
    /// Reads what is not in memory.
    pub fn read<W: Watcher + ?Sized>(
        source: Source<'a>,
        reading: &ReadOptions,
        truth: Option<Truth<'a>>,
        watcher: &mut W,
    ) -> Result<Data<'a>> {
        let (recording, input, warnings) = match source {
            Source::Memory { recording, input } => (recording.clone(), input.clone(), Vec::new()),
            Source::File(path) => {
                let opened = read(path, reading, watcher)?;
                let input = Input::of_file(path, reading, &opened);
                let warnings = warnings(&opened).collect();
                (opened.recording, input, warnings)
            }
            Source::Together(paths) => {
                let mut files = Vec::with_capacity(paths.len());
                for path in paths {
                    files.push((path.clone(), read(path, reading, watcher)?));
                }
                let joined = join(files)?;
                let input = Input::of_files(reading, &joined);
                let warnings = warnings(&joined.opened).collect();
                (joined.opened.recording, input, warnings)
            }
        };
        let (reference, reference_name) = match truth {
            None => (None, String::new()),
            Some(Truth::File(path)) => {
                let opened = open_reference(path, reading, &recording)?;
                watcher.event(Event::ReadReference(path, &opened));
                let reference = reference(path, &opened, &recording)?;
                let name = absolute(path).display().to_string();
                (Some(Cow::Owned(reference)), name)
            }
            Some(Truth::Memory { reference, name }) => {
                let (expected, found) = (recording.n_samples(), reference.n_samples());
                if expected != found {
                    return Err(Error::ReferenceLength {
                        path: name.into(),
                        expected,
                        found,
                    });
                }
                (Some(Cow::Borrowed(reference)), name.into())
            }
        };
        Ok(Data {
            recording,
            input,
            warnings,
            reference,
            reference_name,
        })
    }

    /// The configuration of an order for this recording, and how the number of sources was found,
    /// when it was not given.
    pub fn configured<W: Watcher + ?Sized>(
        &self,
        order: &Order<'_>,
        watcher: &mut W,
    ) -> Result<(Config, Option<CountSummary>)> {
        let mut config = order.config.clone();
        let Some(method) = order.estimate_sources else {
            return Ok((config, None));
        };
        let options = ChannelScalingOptions {
            center: config.preprocess.center,
            scale: config.preprocess.scale,
        };
        let count = SourceCount::estimate(&self.recording, options, method)
            .map_err(Error::of_run(&self.input.path))?;
        let mut count = CountSummary::from(&count);
        if config.mixer.kind != MixerKind::Affine {
            count.warn_of_bends();
        }
        watcher.event(Event::Counted(&count));
        config.n_sources = count.n_sources;
        Ok((config, Some(count)))
    }
}

/// Reads one file and tells of it.
fn read<W: Watcher + ?Sized>(
    path: &Path,
    reading: &ReadOptions,
    watcher: &mut W,
) -> Result<Opened> {
    watcher.event(Event::Reading(path));
    let mut opened = read_recording(path, reading)?;
    opened.notes.extend(opened.disturbances());
    watcher.event(Event::Read(path, &opened));
    Ok(opened)
}

/// Reads the file of true sources of a recording that was read with `options`: of the same samples,
/// or of the whole file of which a span was taken. A matrix that has the samples of the recording
/// on one side only lies that way round.
///
/// # Errors
/// What reading it met with.
pub fn open_reference(
    path: &Path,
    options: &ReadOptions,
    recording: &Recording,
) -> strt_io::Result<Opened> {
    let own = ReadOptions::default();
    let found = read_with_side(path, &own, None, |samples, _| {
        samples == recording.n_samples()
    })?;
    let whole = options.start.is_none() && options.stop.is_none();
    if whole || found.recording.n_samples() == recording.n_samples() {
        return Ok(found);
    }
    let same_span = ReadOptions {
        rate: recording.sampling_rate(),
        start: options.start,
        stop: options.stop,
        ..ReadOptions::default()
    };
    read_recording(path, &same_span)
}

/// Reads a recording of which more is known than its file says. Where the decision about its layout
/// does not fit (`fits(samples, channels)`) and the other one does, the other one is taken; of a
/// square matrix, which fits both ways, the one that is `usual`. What the options ask for stays.
///
/// # Errors
/// What reading it met with.
pub fn read_with_side(
    path: &Path,
    options: &ReadOptions,
    usual: Option<bool>,
    fits: impl Fn(usize, usize) -> bool,
) -> strt_io::Result<Opened> {
    let opened = read_recording(path, options);
    if options.transpose.is_some() {
        return opened;
    }
    // A matrix on its side may be refused for its many channels.
    let layout = match &opened {
        Ok(opened) => opened.layout,
        Err(_) => inspect(path, options)?.layout,
    };
    let Some(layout) = layout else {
        return opened;
    };
    let (samples, channels) = match &opened {
        Ok(opened) => (opened.recording.n_samples(), opened.recording.n_channels()),
        Err(_) => layout.samples_and_channels(),
    };
    let is_square = layout.shape.0 == layout.shape.1;
    let is_unusual = usual.is_some_and(|usual| usual != layout.transposed);
    if fits(samples, channels) && !(is_square && is_unusual) {
        return opened;
    }
    let turned = ReadOptions {
        transpose: Some(!layout.transposed),
        ..options.clone()
    };
    match read_recording(path, &turned) {
        Ok(other) if fits(other.recording.n_samples(), other.recording.n_channels()) => Ok(other),
        _ => opened,
    }
}

/// The true sources in a file that [`open_reference`] opened.
///
/// # Errors
/// When they are not of the samples of the recording, or cannot be true sources.
pub fn reference(path: &Path, opened: &Opened, recording: &Recording) -> Result<Reference> {
    let sources = opened.recording.observations();
    if sources.nrows() != recording.n_samples() {
        return Err(Error::ReferenceLength {
            path: path.to_owned(),
            expected: recording.n_samples(),
            found: sources.nrows(),
        });
    }
    Reference::new(sources.to_owned()).map_err(|source| Error::RefusedReference {
        path: path.to_owned(),
        source,
    })
}

/// The notes that deserve attention.
fn warnings(opened: &Opened) -> impl Iterator<Item = String> + '_ {
    let notes = opened.notes.iter();
    notes
        .filter(|note| note.kind == NoteKind::Warning)
        .map(|note| note.text.clone())
}

/// The path from anywhere, so that a run can be resumed in another folder.
pub(crate) fn absolute(path: &Path) -> std::path::PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
