//! One separation from beginning to end: started in a new folder, or resumed in the one it was left
//! in.
//!
//! ```text
//! Order ──► Asked ──begin──► Work ──finish──► Contents, finished
//!                             ▲  └──────────► Contents, unfinished
//!               Unfinished ───┘ resume              │
//!                    ▲──────────────────────────────┘
//! ```
//!
//! In: an [`Order`] and the name of a folder, or the folder of an unfinished run. Out: that folder,
//! complete or fit to be resumed, and its [`Contents`]. The folder appears when it is complete; see
//! [`crate::folder`]. What is shown on the way is the watcher's business.

use crate::caller::Caller;
use crate::command::command_text;
use crate::contents::{self, Contents};
use crate::data::Data;
use crate::error::{Error, Result};
use crate::folder::{self, Kind, Place, Planned, Working, inspect};
use crate::order::{Order, ResumeOptions};
use crate::results::Results;
use crate::results::count::CountSummary;
use crate::results::summary::{Summary, source_names};
use crate::results::together;
use crate::same;
use crate::training::{Trained, Training};
use crate::unfinished::{self, Progress, Request, Unfinished};
use crate::watcher::{Event, Watcher};
use faer::Mat;
use std::path::{Path, PathBuf};
use std::time::Duration;
use strt_io::Signals;
use strtransformer::config::Plan;
use strtransformer::{Config, Recording, Separation};

/// What [`ensure`] has done.
pub enum Ensured {
    /// The run was made, or taken up where it was left.
    Made(Box<Contents>),
    /// It had been made before.
    There(Box<Contents>),
}

/// Makes a run in the folder `target`, which must not exist or may be replaced.
///
/// # Errors
/// Whatever is refused or fails. It leaves nothing behind, or [`Error::Kept`] says from where the
/// run can be resumed.
pub fn start<W: Watcher + ?Sized>(
    order: &Order<'_>,
    target: &Path,
    watcher: &mut W,
) -> Result<Contents> {
    let planned = planned(order, target)?;
    planned.must_be_writable()?;
    Asked::read(order, watcher)?.begin(planned, watcher)
}

/// Continues the unfinished run that `given` names: its folder, with or without `.partial`.
///
/// # Errors
/// As [`start`]; also when there is no such run, when its recording is not found, or is not the one
/// it was started with.
pub fn resume<W: Watcher + ?Sized>(
    given: &Path,
    options: &ResumeOptions<'_>,
    watcher: &mut W,
) -> Result<Contents> {
    let from = folder::unfinished(given);
    let mut unfinished = Unfinished::load(&from)?;
    let planned = Planned::resumed(&from, unfinished.request.overwrite.into())?;
    unfinished.request.relocate(options)?;
    let request = unfinished.request.clone();
    let (source, reference) = request.data(options, given)?;
    let data = Data::read(source, &request.reading, reference, watcher)?;
    take_up(unfinished, &from, options, &data, planned, watcher)
}

/// Makes sure that the run that is asked for is in the folder `target`: one that was made is
/// loaded, one that was left unfinished is resumed, one that does not exist is made. Of several
/// that ask for it at once, one makes it; the others get [`Error::Busy`] until it is there.
///
/// # Errors
/// As [`start`] and [`resume`]; [`Error::Different`] when the folder holds another run, unless the
/// order may replace it.
pub fn ensure<W: Watcher + ?Sized>(
    order: &Order<'_>,
    target: &Path,
    watcher: &mut W,
) -> Result<Ensured> {
    let mut looks = LOOKS;
    loop {
        looks -= 1;
        let (seen, outcome) = match inspect(target) {
            Ok(place) => {
                let outcome = ensure_from(&place, order, target, watcher);
                (Some(place), outcome)
            }
            Err(error) => (None, Err(error)),
        };
        match outcome {
            Err(error) if looks > 0 && has_changed(&error, seen.as_ref(), target) => {}
            outcome => return outcome,
        }
    }
}

/// How often a folder is looked at again that others change between the look and the lock.
const LOOKS: usize = 10;

/// Whether somebody else has begun, finished or moved a run between a look at its folder and the
/// lock.
fn has_changed(error: &Error, seen: Option<&Place>, target: &Path) -> bool {
    let may_come_of_it = matches!(
        error,
        Error::Exists { .. }
            | Error::Unfinished { .. }
            | Error::NotUnfinished { .. }
            | Error::TwoUnfinished { .. }
            | Error::Occupied { .. }
            | Error::NotARun { .. }
            | Error::Damaged { .. }
            | Error::Table { .. }
            | Error::File { .. }
            | Error::Io(_)
    );
    may_come_of_it && inspect(target).ok().as_ref() != seen
}

fn ensure_from<W: Watcher + ?Sized>(
    place: &Place,
    order: &Order<'_>,
    target: &Path,
    watcher: &mut W,
) -> Result<Ensured> {
    let made = |contents| Ensured::Made(Box::new(contents));
    match place {
        Place::Absent => {
            // What is there by the time the folder is locked is not replaced unseen.
            let order = Order {
                overwrite: false,
                ..order.clone()
            };
            start(&order, target, watcher).map(made)
        }
        Place::Unfinished(from) => {
            let asked = Asked::read(order, watcher)?;
            let mut unfinished = Unfinished::load(from)?;
            if let Some(how) = asked.differs_from_unfinished(&unfinished)? {
                return asked.replace(from.clone(), how, target, watcher).map(made);
            }
            let planned = Planned::resumed(from, unfinished.request.overwrite.into())?;
            let options = order.resume_options();
            unfinished.request.relocate(&options)?;
            take_up(unfinished, from, &options, &asked.data, planned, watcher).map(made)
        }
        Place::Finished(folder) => {
            let asked = Asked::read(order, watcher)?;
            let contents = contents::load(folder)?;
            let there = contents.summary.input.together.as_ref();
            let other_files = together::differ(there, asked.data.input.together.as_ref());
            let differs = match other_files {
                None => asked.differs_from_trained(&contents.separation)?,
                other_files => other_files,
            };
            match differs {
                None => Ok(Ensured::There(Box::new(contents))),
                Some(how) => asked
                    .replace(folder.clone(), how, target, watcher)
                    .map(made),
            }
        }
    }
}

/// The folder of a new run; nothing is changed yet.
fn planned(order: &Order<'_>, target: &Path) -> Result<Planned> {
    let planned = Planned::new(target, Kind::Run, order.overwrite.into())?;
    planned.must_not_hold(order.files())?;
    Ok(planned)
}

/// An order with what it works on.
struct Asked<'a> {
    order: &'a Order<'a>,
    data: Data<'a>,
    config: Config,
    source_count: Option<CountSummary>,
}

impl<'a> Asked<'a> {
    fn read<W: Watcher + ?Sized>(order: &'a Order<'a>, watcher: &mut W) -> Result<Asked<'a>> {
        let data = Data::read(order.source, &order.reading, order.reference, watcher)?;
        let (config, source_count) = data.configured(order, watcher)?;
        Ok(Asked {
            order,
            data,
            config,
            source_count,
        })
    }

    fn plan(&self) -> Result<Plan> {
        let checked = self.config.check(&self.data.recording);
        checked.map_err(Error::of_run(&self.data.input.path))
    }

    fn differs_from_unfinished(&self, there: &Unfinished) -> Result<Option<String>> {
        let recording = &self.data.recording;
        let now = self.data.input.together.as_ref();
        if let Some(how) = together::differ(there.request.together.as_ref(), now) {
            return Ok(Some(how));
        }
        let differs = match &there.progress {
            Progress::Begun(config) => {
                let begun = config.check(recording);
                let begun = begun.map_err(Error::of_run(&self.data.input.path))?;
                same::config(begun.config(), self.plan()?.config())
                    .or_else(|| other_recording(&there.request, recording))
            }
            Progress::Running(state) => {
                let checkpoint = &state.running[0];
                same::config(&checkpoint.config, self.plan()?.config())
                    .or_else(|| same::fingerprint(checkpoint.fingerprint, recording))
            }
            Progress::Trained(separation) => self.differs_from_trained(separation)?,
        };
        let scored = there.request.reference.is_some();
        Ok(differs.or_else(|| same::scoring(scored, self.data.reference.is_some())))
    }

    fn differs_from_trained(&self, separation: &Separation) -> Result<Option<String>> {
        Ok(same::config(separation.config(), self.plan()?.config())
            .or_else(|| same::recording(separation, &self.data.recording)))
    }

    /// Makes the run where another one is, if that may be replaced.
    fn replace<W: Watcher + ?Sized>(
        self,
        folder: PathBuf,
        how: String,
        target: &Path,
        watcher: &mut W,
    ) -> Result<Contents> {
        if !self.order.overwrite {
            return Err(Error::Different { folder, how });
        }
        let planned = planned(self.order, target)?;
        self.begin(planned, watcher)
    }

    /// Makes the run from its first step on.
    fn begin<W: Watcher + ?Sized>(self, planned: Planned, watcher: &mut W) -> Result<Contents> {
        let Asked {
            order,
            data,
            config,
            source_count,
        } = &self;
        let reference = data.reference.as_deref();
        let training = Training::new(&data.recording, reference, config, order.log_every)
            .map_err(Error::of_run(&data.input.path))?;
        self.check_formats(planned.target())?;
        let work = Work {
            request: Request::new(order, data, config, source_count.clone())?,
            folder: planned.begin()?,
            data,
            training: Stage::Training(Box::new(training)),
            autosave: order.autosave,
            caller: order.caller,
        };
        work.finish(watcher)
    }

    /// Whether the sources will fit into the files that were asked for: better now than after the
    /// training.
    fn check_formats(&self, target: &Path) -> Result {
        let (recording, n_sources) = (&self.data.recording, self.config.n_sources);
        let names = source_names(n_sources);
        let signals = Signals {
            values: recording.observations().subcols(0, n_sources),
            names: &names,
            rate: recording.sampling_rate(),
        };
        // Sources are missing where any channel is, perhaps not one of the first.
        let gap = Mat::from_fn(1, n_sources, |_, _| f64::NAN);
        let mut channels = recording.observations().col_iter();
        let has_gaps = channels.any(|channel| channel.iter().any(|value| value.is_nan()));
        for format in &self.order.formats {
            format.check(target, "sources", &signals)?;
            if has_gaps {
                let values = gap.as_ref();
                format.check(target, "sources", &Signals { values, ..signals })?;
            }
        }
        Ok(())
    }
}

/// Makes an unfinished run from where it was left.
fn take_up<W: Watcher + ?Sized>(
    mut unfinished: Unfinished,
    from: &Path,
    options: &ResumeOptions<'_>,
    data: &Data<'_>,
    planned: Planned,
    watcher: &mut W,
) -> Result<Contents> {
    if let Some(threads) = options.threads {
        unfinished.set_threads(threads);
    }
    let Unfinished {
        request,
        progress,
        log,
    } = unfinished;
    let (recording, reference) = (&data.recording, data.reference.as_deref());
    let every = request.log_every;
    let steps_done = log.steps;
    // The file that has changed can be named only here.
    let now = data.input.together.as_ref();
    if let Some(how) = together::differ(request.together.as_ref(), now) {
        return Err(Error::OtherRecording {
            folder: from.to_owned(),
            how,
        });
    }
    let training = match progress {
        Progress::Begun(config) => {
            refuse_other_recording(&request, recording, from)?;
            Training::new(recording, reference, &config, every)
                .map(|training| Stage::Training(Box::new(training)))
        }
        Progress::Running(state) => Training::resume(recording, reference, *state, log, every)
            .map(|training| Stage::Training(Box::new(training))),
        Progress::Trained(separation) => {
            refuse_other_recording(&request, recording, from)?;
            Ok(Stage::Trained(Box::new(Trained {
                separation: *separation,
                log,
                state: None,
            })))
        }
    };
    let training = training.map_err(Error::of_run(from.display()))?;
    let folder = planned.take_over(from)?;
    watcher.event(Event::Resumed { steps_done });
    let work = Work {
        folder,
        request,
        data,
        training,
        autosave: options.autosave,
        caller: options.caller,
    };
    work.finish(watcher)
}

/// How the recording differs from that of a run that has no checkpoint.
fn other_recording(request: &Request, recording: &Recording) -> Option<String> {
    let there = u64::from_str_radix(request.fingerprint.as_deref()?, 16).ok()?;
    same::fingerprint(there, recording)
}

fn refuse_other_recording(request: &Request, recording: &Recording, from: &Path) -> Result {
    match other_recording(request, recording) {
        None => Ok(()),
        Some(how) => Err(Error::OtherRecording {
            folder: from.to_owned(),
            how,
        }),
    }
}

/// What is left to be done.
enum Stage<'a> {
    /// Everything.
    Training(Box<Training<'a>>),
    /// The results.
    Trained(Box<Trained>),
}

/// A run in the folder it works in, ready to be trained.
struct Work<'a> {
    folder: Working,
    request: Request,
    data: &'a Data<'a>,
    training: Stage<'a>,
    autosave: Duration,
    caller: &'static Caller,
}

impl Work<'_> {
    /// Trains and writes. What fails leaves either nothing or a run that can be resumed.
    fn finish<W: Watcher + ?Sized>(self, watcher: &mut W) -> Result<Contents> {
        let Work {
            folder,
            request,
            data,
            training,
            autosave,
            caller,
        } = self;
        let path = folder.path();
        let train_and_write = || -> Result<(Trained, Summary)> {
            let trained = match training {
                Stage::Trained(trained) => *trained,
                Stage::Training(training) => {
                    request.save(path)?;
                    let trained = training.run(watcher, autosave, |state, log| {
                        unfinished::save(path, &request, state, log)
                    })?;
                    keep(path, &request, &trained)?;
                    trained
                }
            };
            watcher.event(Event::Writing);
            let summary = results(data, &request, &trained, caller).write(path)?;
            if trained.state.is_none() {
                unfinished::remove_state(path)?;
            }
            watcher.event(Event::Written);
            Ok((trained, summary))
        };
        let (trained, summary) = match train_and_write() {
            Ok(done) => done,
            Err(error) => return Err(folder.give_up(error)),
        };
        let unfinished = trained.state.is_some();
        // A finished result is worth more than an unfinished one.
        let place = if !unfinished {
            folder.publish_finished()?
        } else if folder.replaces() {
            folder.keep_unfinished()?
        } else {
            folder.publish()?
        };
        Ok(Contents {
            place,
            summary,
            separation: trained.separation,
            log: trained.log,
            unfinished,
        })
    }
}

/// Keeps what training came to: whatever happens while results are made, the run can be resumed.
fn keep(path: &Path, request: &Request, trained: &Trained) -> Result {
    let log = &trained.log;
    if let Some(state) = &trained.state {
        return unfinished::save(path, request, state, log);
    }
    // On a full disk this fails, and the results may still fit.
    let _ = unfinished::record_end(path, request, log, trained.separation.config());
    Ok(())
}

fn results<'a>(
    data: &'a Data<'_>,
    request: &'a Request,
    trained: &'a Trained,
    caller: &'static Caller,
) -> Results<'a> {
    let reference = data.reference.as_deref();
    Results {
        recording: &data.recording,
        separation: &trained.separation,
        log: &trained.log,
        input: data.input.clone(),
        input_warnings: data.warnings.clone(),
        command: command_text(&request.command),
        reference: reference.map(|reference| (data.reference_name.clone(), reference)),
        source_count: request.source_count.as_ref(),
        formats: &request.formats,
        figures: request.figures,
        // What is to be resumed is not judged yet.
        verdicts: request.verdicts.filter(|_| trained.state.is_none()),
        caller,
    }
}
