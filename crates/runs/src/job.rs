//! One separation from beginning to end: started in a new folder, or resumed in the one it was left
//! in.
//!
//! In: an [`Order`] and the name of a folder, or the folder of an unfinished run. Out: that folder,
//! complete or fit to be resumed, and [`Written`]. The folder appears when it is complete; see
//! [`crate::folder`]. What is shown on the way is the watcher's business.

use crate::command::command_text;
use crate::error::{Error, Result};
use crate::finished::{self, Loaded, Place};
use crate::folder::{Folder, Kind};
use crate::order::{Again, Material, Order, Source, Truth};
use crate::results::Results;
use crate::results::summary::{CountSummary, Summary, source_names};
use crate::run::{Ended, Log, Run};
use crate::same;
use crate::state::{self, Kept, Request};
use crate::watcher::{Event, Watcher};
use crate::words::Words;
use std::path::{Path, PathBuf};
use std::time::Duration;
use strt_io::{Signals, check_signals};
use strtransformer::config::Plan;
use strtransformer::train::StopReason;
use strtransformer::{Config, Separation};

/// What a run has left.
pub struct Written {
    /// The summary in its folder.
    pub summary: Summary,
    /// The result, of an interrupted run as it stands.
    pub separation: Separation,
    /// History and scores.
    pub log: Log,
    /// The folder; that of an interrupted run is `DIR.partial` where `DIR` holds a finished result.
    pub place: PathBuf,
    /// Whether the watcher ended it: then it can be resumed.
    pub interrupted: bool,
}

impl Written {
    /// Why the training ended.
    pub fn stop(&self) -> StopReason {
        self.separation.stop_reason()
    }
}

/// What [`ensure`] has done.
pub enum Ensured {
    /// The run was made, or taken up where it was left.
    Made(Box<Written>),
    /// It had been made before.
    There(Box<Loaded>),
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
) -> Result<Written> {
    let folder = planned(order, target)?;
    let material = Material::read(order.source, &order.reading, order.reference, watcher)?;
    let (config, count) = material.configured(order, watcher)?;
    begin(order, &material, &config, count, folder, watcher)
}

/// Continues the unfinished run that `given` names: its folder, with or without `.partial`.
///
/// # Errors
/// As [`start`]; also when there is no such run, when its recording is not found, or is not the one
/// it was started with.
pub fn resume<W: Watcher + ?Sized>(
    given: &Path,
    again: &Again<'_>,
    watcher: &mut W,
) -> Result<Written> {
    let from = Folder::unfinished(given);
    let mut kept = state::load(&from)?;
    let folder = Folder::resumed(&from, kept.request.overwrite.into())?;
    kept.request.give_again(again)?;
    let request = kept.request.clone();
    let (source, reference) = request.data(again, given)?;
    let material = Material::read(source, &request.reading, reference, watcher)?;
    go_on(kept, &from, again, &material, folder, watcher)
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
        let (seen, outcome) = match finished::inspect(target) {
            Ok(place) => {
                let outcome = ensure_from(&place, order, target, watcher);
                (Some(place), outcome)
            }
            Err(error) => (None, Err(error)),
        };
        match outcome {
            Err(error) if looks > 0 && has_moved_on(&error, seen.as_ref(), target) => {}
            outcome => return outcome,
        }
    }
}

/// How often a folder is looked at again that others change between the look and the lock.
const LOOKS: usize = 10;

/// Whether somebody else has begun, finished or moved a run between a look at its folder and the
/// lock.
fn has_moved_on(error: &Error, seen: Option<&Place>, target: &Path) -> bool {
    let may_come_of_it = matches!(
        error,
        Error::Exists { .. }
            | Error::Unfinished { .. }
            | Error::NotUnfinished { .. }
            | Error::TwoUnfinished { .. }
            | Error::Occupied { .. }
            | Error::NotARun { .. }
            | Error::File { .. }
            | Error::Io(_)
    );
    may_come_of_it && finished::inspect(target).ok().as_ref() != seen
}

fn ensure_from<W: Watcher + ?Sized>(
    place: &Place,
    order: &Order<'_>,
    target: &Path,
    watcher: &mut W,
) -> Result<Ensured> {
    let made = |written| Ensured::Made(Box::new(written));
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
            let mut kept = state::load(from)?;
            let Some(how) = asked.differs_from_unfinished(&kept) else {
                let folder = Folder::resumed(from, kept.request.overwrite.into())?;
                let again = order.again();
                kept.request.give_again(&again)?;
                return go_on(kept, from, &again, &asked.material, folder, watcher).map(made);
            };
            asked
                .instead_of(from.clone(), how, target, watcher)
                .map(made)
        }
        Place::Finished(folder) => {
            let asked = Asked::read(order, watcher)?;
            let loaded = finished::load(folder)?;
            match asked.differs_from_finished(&loaded) {
                None => Ok(Ensured::There(Box::new(loaded))),
                Some(how) => asked
                    .instead_of(folder.clone(), how, target, watcher)
                    .map(made),
            }
        }
    }
}

/// An order with what it works on, to be compared with a run on disk.
struct Asked<'a> {
    order: &'a Order<'a>,
    material: Material<'a>,
    config: Config,
    source_count: Option<CountSummary>,
    plan: Plan,
}

impl<'a> Asked<'a> {
    fn read<W: Watcher + ?Sized>(order: &'a Order<'a>, watcher: &mut W) -> Result<Asked<'a>> {
        let material = Material::read(order.source, &order.reading, order.reference, watcher)?;
        let (config, source_count) = material.configured(order, watcher)?;
        let plan = config
            .check(&material.recording)
            .map_err(Error::of_run(&material.input.path))?;
        Ok(Asked {
            order,
            material,
            config,
            source_count,
            plan,
        })
    }

    fn differs_from_unfinished(&self, kept: &Kept) -> Option<String> {
        let scored = kept.request.reference.is_some() || kept.request.reference_in_memory;
        same::config(&kept.state.current.config, self.plan.config())
            .or_else(|| same::fingerprint(&kept.state.current, &self.material.recording))
            .or_else(|| same::scoring(scored, self.material.reference.is_some()))
    }

    fn differs_from_finished(&self, loaded: &Loaded) -> Option<String> {
        same::config(loaded.separation.config(), self.plan.config())
            .or_else(|| same::recording(&loaded.separation, &self.material.recording))
    }

    /// Makes the run where another one is, if that may be replaced.
    fn instead_of<W: Watcher + ?Sized>(
        self,
        folder: PathBuf,
        how: String,
        target: &Path,
        watcher: &mut W,
    ) -> Result<Written> {
        if !self.order.overwrite {
            return Err(Error::Different { folder, how });
        }
        let folder = planned(self.order, target)?;
        begin(
            self.order,
            &self.material,
            &self.config,
            self.source_count,
            folder,
            watcher,
        )
    }
}

/// The folder of a new run; nothing is changed yet.
fn planned(order: &Order<'_>, target: &Path) -> Result<Folder> {
    let folder = Folder::plan(target, Kind::Run, order.overwrite.into())?;
    folder.must_not_hold(order.files())?;
    Ok(folder)
}

fn begin<W: Watcher + ?Sized>(
    order: &Order<'_>,
    material: &Material<'_>,
    config: &Config,
    source_count: Option<CountSummary>,
    mut folder: Folder,
    watcher: &mut W,
) -> Result<Written> {
    let log_every = order.log_every.max(1);
    let run = Run::new(
        &material.recording,
        material.reference.as_deref(),
        config,
        log_every,
    )
    .map_err(Error::of_run(&material.input.path))?;
    check_formats(order, material, config.n_sources, folder.target())?;
    let (mut input, mut reference, mut reference_in_memory) = (None, None, false);
    if let Source::File(path) = order.source {
        input = Some(absolute(path)?);
    }
    match order.reference {
        Some(Truth::File(path)) => reference = Some(absolute(path)?),
        Some(Truth::Memory { .. }) => reference_in_memory = true,
        None => {}
    }
    let request = Request {
        command: order.command.clone(),
        input,
        reading: material.input.options.clone(),
        reference,
        reference_in_memory,
        overwrite: order.overwrite,
        formats: order.formats.clone(),
        log_every,
        source_count,
        seconds: 0.0,
        steps: 0,
    };
    folder.begin()?;
    let job = Job {
        material,
        request: &request,
        reference: order.reference,
        autosave: order.autosave,
        words: order.words,
    };
    job.finish(run, folder, watcher)
}

fn go_on<W: Watcher + ?Sized>(
    mut kept: Kept,
    from: &Path,
    again: &Again<'_>,
    material: &Material<'_>,
    mut folder: Folder,
    watcher: &mut W,
) -> Result<Written> {
    if let Some(threads) = again.threads {
        kept.state.current.config.threads = threads; // never changes a result
    }
    let run = Run::resume(
        &material.recording,
        material.reference.as_deref(),
        kept.state,
        kept.log,
        kept.request.log_every,
    )
    .map_err(Error::of_run(from.display()))?;
    folder.take_over(from)?;
    watcher.event(Event::Resumed {
        steps_done: run.steps_done(),
    });
    let job = Job {
        material,
        request: &kept.request,
        reference: again.reference,
        autosave: again.autosave,
        words: again.words,
    };
    job.finish(run, folder, watcher)
}

/// A run that is ready to be trained: what it works on and what was asked for.
struct Job<'a> {
    material: &'a Material<'a>,
    request: &'a Request,
    reference: Option<Truth<'a>>,
    autosave: Duration,
    words: &'static Words,
}

impl Job<'_> {
    /// Trains and writes. What fails leaves either nothing or a run that can be resumed.
    fn finish<W: Watcher + ?Sized>(
        self,
        run: Run<'_>,
        folder: Folder,
        watcher: &mut W,
    ) -> Result<Written> {
        let (ended, summary) = match self.train_and_write(run, folder.working(), watcher) {
            Ok(done) => done,
            Err(error) => return Err(folder.give_up(error)),
        };
        let interrupted = ended.state.is_some();
        // A finished result is worth more than an unfinished one.
        let place = match interrupted && folder.replaces() {
            true => folder.keep_unfinished()?,
            false => {
                let target = folder.target().to_owned();
                folder.publish()?;
                target
            }
        };
        Ok(Written {
            summary,
            separation: ended.separation,
            log: ended.log,
            place,
            interrupted,
        })
    }

    fn train_and_write<W: Watcher + ?Sized>(
        &self,
        run: Run<'_>,
        place: &Path,
        watcher: &mut W,
    ) -> Result<(Ended, Summary)> {
        state::save_request(place, self.request)?;
        let ended = run.train(watcher, self.autosave, |state, log| {
            state::save(place, self.request, state, log)
        })?;
        if let Some(state) = &ended.state {
            // First of all: whatever happens from here on, the run can be continued.
            state::save(place, self.request, state, &ended.log)?;
        }
        watcher.event(Event::Writing);
        let summary = self.results(&ended).write(place)?;
        if ended.state.is_none() {
            state::remove(place)?;
        }
        watcher.event(Event::Written);
        Ok((ended, summary))
    }

    fn results<'b>(&'b self, ended: &'b Ended) -> Results<'b> {
        let reference_name = match (&self.request.reference, self.reference) {
            (Some(path), _) => path.display().to_string(),
            (None, Some(Truth::Memory { name, .. })) => name.to_string(),
            _ => String::new(),
        };
        let reference = self.material.reference.as_deref();
        Results {
            recording: &self.material.recording,
            separation: &ended.separation,
            log: &ended.log,
            input: self.material.input.clone(),
            input_warnings: self.material.warnings.clone(),
            command: command_text(&self.request.command),
            reference: reference.map(|reference| (reference_name, reference)),
            source_count: self.request.source_count.as_ref(),
            formats: &self.request.formats,
            figures: false,
            words: self.words,
        }
    }
}

impl Request {
    /// Notes where the data are now.
    fn give_again(&mut self, again: &Again<'_>) -> Result {
        match again.source {
            Some(Source::File(moved)) => self.input = Some(absolute(moved)?),
            Some(Source::Memory { .. }) => self.input = None,
            None => {}
        }
        match again.reference {
            Some(Truth::File(moved)) => {
                (self.reference, self.reference_in_memory) = (Some(absolute(moved)?), false);
            }
            Some(Truth::Memory { .. }) => (self.reference, self.reference_in_memory) = (None, true),
            None => {}
        }
        Ok(())
    }

    /// Where the data are; `given` is the folder as the person named it.
    fn data<'a>(
        &'a self,
        again: &Again<'a>,
        given: &Path,
    ) -> Result<(Source<'a>, Option<Truth<'a>>)> {
        let in_memory = |what| Error::InMemory {
            what,
            folder: given.to_owned(),
        };
        let source = match (again.source, &self.input) {
            (Some(given), _) => given,
            (None, Some(path)) if path.exists() => Source::File(path),
            (None, Some(path)) => {
                return Err(Error::RecordingMoved {
                    path: path.clone(),
                    folder: given.to_owned(),
                });
            }
            (None, None) => return Err(in_memory("the recording")),
        };
        let reference = match (again.reference, &self.reference) {
            (Some(given), _) => Some(given),
            (None, Some(path)) => Some(Truth::File(path)),
            (None, None) if self.reference_in_memory => return Err(in_memory("the reference")),
            (None, None) => None,
        };
        Ok((source, reference))
    }
}

impl<'a> Order<'a> {
    /// The same data, for an unfinished run of this order.
    fn again(&self) -> Again<'a> {
        Again {
            source: Some(self.source),
            reference: self.reference,
            threads: Some(self.config.threads),
            autosave: self.autosave,
            words: self.words,
        }
    }
}

/// Whether the sources will fit into the files that were asked for: better now than after the
/// training.
fn check_formats(
    order: &Order<'_>,
    material: &Material<'_>,
    n_sources: usize,
    target: &Path,
) -> Result {
    let names = source_names(n_sources);
    let signals = Signals {
        values: material.recording.observations().subcols(0, n_sources),
        names: &names,
        rate: material.recording.sampling_rate(),
    };
    for format in &order.formats {
        check_signals(
            target.join(format!("sources.{}", format.ending())),
            &signals,
        )?;
    }
    Ok(())
}

/// The path from anywhere, so that a run can be resumed in another folder.
fn absolute(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match path.to_str() {
        Some(_) => Ok(path),
        None => Err(Error::NotUtf8 { path }),
    }
}
