//! `strt separate`: from a file to a folder with separated sources, their model and a report.
//!
//! Read → configure → train (stoppable, with checkpoints) → write. The folder appears when it is complete; see
//! [`crate::folder`].

use crate::failure::{Failure, Outcome};
use crate::folder::{Folder, Kind, resume_command};
use crate::input::{self, InputOptions};
use crate::output::{self, note};
use crate::progress::under_way;
use crate::results::summary::{CountSummary, Input, Summary, source_names};
use crate::results::{Results, this_command, words};
use crate::run::state::{self, Request};
use crate::run::{Ended, Run};
use crate::settings::Settings;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;
use strt_io::{Opened, Signals, check_signals};
use strtransformer::Recording;
use strtransformer::evaluate::Reference;
use strtransformer::preprocess::{ChannelScalingOptions, SourceCount};
use strtransformer::train::StopReason;

const EXAMPLES: &str = "\
Examples:
  strt separate recording.csv --sources 4
  strt separate sleep.edf --sources auto --channels 1-8 --start 60 --stop 180 --out sleep
  strt separate mixture.npy --sources 3 --rate 250 --mixer mlp --restarts 4
  strt separate --resume recording.strt

DIR receives sources.npy and sources.csv, mixer.json (affine mixers), model.safetensors, config.toml, history.csv,
summary.json and report.html; with a reference also scores.csv.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Separate {
    /// The recording: CSV, TSV, NPY, NPZ, MATLAB, EDF, BDF, WAV, Parquet, EEGLAB or WFDB. With --resume only needed where it
    /// has been moved
    #[arg(required_unless_present = "resume")]
    input: Option<PathBuf>,
    /// Number of sources, or `auto` to estimate it from the eigenvalues of the channels
    #[arg(long, short = 'k', value_name = "K|auto", value_parser = sources, allow_negative_numbers = true)]
    sources: Option<Sources>,
    /// Folder for the results [default: name of the input with the ending .strt, in the current folder]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// True sources (samples × sources), for scores only: training does not see them
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Further formats of the sources; npy and csv are always written
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST")]
    format: Vec<Format>,
    /// Log every n-th step in history.csv
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    log_every: u32,
    /// Save a checkpoint every so many seconds: what a crash may cost
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    autosave: u32,
    /// Replace the folder of an earlier run
    #[arg(long)]
    overwrite: bool,
    /// Continue an interrupted run from its folder, with everything it was started with
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "sources", "out", "overwrite", "format", "log_every", "preset", "mixer", "config", "assignments", "seed",
        "steps", "restarts", "rate", "channels", "start", "stop", "variable", "transpose", "delimiter", "time_column",
    ])]
    resume: Option<PathBuf>,
    /// Show nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Print summary.json instead of words
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    reading: InputOptions,
}

/// How many sources.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sources {
    Auto,
    Number(usize),
}

fn sources(text: &str) -> Result<Sources, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(Sources::Auto),
        (_, Ok(k)) if k > 0 => Ok(Sources::Number(k)),
        _ => Err("expected a whole number from 1, or auto".into()),
    }
}

/// A format of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Npy,
    Csv,
    Mat,
    Parquet,
    Wav,
}

impl Format {
    pub fn ending(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Csv => "csv",
            Format::Mat => "mat",
            Format::Parquet => "parquet",
            Format::Wav => "wav",
        }
    }

    /// NPY, CSV and what else was asked for, each once.
    pub fn with_defaults(asked: &[Format]) -> Vec<Format> {
        let mut formats = vec![Format::Npy, Format::Csv];
        for &format in asked {
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        formats
    }
}

impl Separate {
    pub fn run(self) -> Outcome {
        match &self.resume {
            Some(from) => self.resume(from),
            None => self.start(),
        }
    }

    fn start(&self) -> Outcome {
        let path = self
            .input
            .as_deref()
            .ok_or_else(|| Failure::Usage("give the recording, INPUT".into()))?;
        let target = match &self.out {
            Some(out) => out.clone(),
            None => Path::new(path.file_name().unwrap_or(path.as_os_str())).with_extension("strt"),
        };
        let mut folder = Folder::plan(&target, Kind::Run, self.overwrite.into())?;
        let needed = [
            Some(path),
            self.reference.as_deref(),
            self.settings.config.as_deref(),
        ];
        folder.must_not_hold(needed.into_iter().flatten())?;
        let mut config = self.settings.resolve(match self.sources {
            Some(Sources::Number(k)) => Some(k),
            _ => None,
        })?;
        if config.n_sources == 0 && self.sources.is_none() {
            return Err(Failure::Usage(
                "--sources: expected the number of sources, found nothing; give it, or `auto` to estimate it"
                    .into(),
            ));
        }
        let opened = self.reading.open(path, self.quiet)?;
        let recording = &opened.recording;
        let reference = match &self.reference {
            Some(path) => Some(input::read_reference(path, recording, &self.reading, self.quiet)?),
            None => None,
        };
        let mut source_count = None;
        if self.sources == Some(Sources::Auto) {
            let count = estimate(recording, &config.preprocess).map_err(Failure::of_run(path))?;
            config.n_sources = count.n_sources;
            self.say(&format!("sources: {}. {}", count.n_sources, count.reasoning));
            source_count = Some(count);
        }
        let run = Run::new(recording, reference.as_ref(), &config, self.log_every as usize)
            .map_err(Failure::of_run(path))?;
        self.check_formats(recording, config.n_sources, &target)?;
        let request = Request {
            command: this_command(),
            input: absolute(path)?,
            reading: self.reading.clone(),
            reference: self.reference.as_deref().map(absolute).transpose()?,
            overwrite: self.overwrite,
            formats: self.format.clone(),
            log_every: self.log_every as usize,
            source_count,
            seconds: 0.0,
            steps: 0,
        };
        folder.begin()?;
        let job = Job {
            path,
            opened: &opened,
            reference: reference.as_ref(),
            request: &request,
        };
        self.finish(job, run, folder)
    }

    fn resume(&self, given: &Path) -> Outcome {
        let from = &Folder::unfinished(given);
        let mut kept = state::load(from)?;
        let mut request = kept.request;
        let mut folder = Folder::resumed(from, request.overwrite.into())?;
        if let Some(moved) = &self.input {
            request.input = absolute(moved)?;
        } else if !request.input.exists() {
            return Err(Failure::Failed(format!(
                "{}: expected the recording of the run there, found nothing; where is it now? Continue with `strt separate \
                 RECORDING --resume {}`",
                request.input.display(),
                given.display()
            )));
        }
        if let Some(moved) = &self.reference {
            request.reference = Some(absolute(moved)?);
        }
        let path = request.input.clone();
        let opened = request.reading.open(&path, self.quiet)?;
        let recording = &opened.recording;
        let reference = match &request.reference {
            Some(path) => Some(input::read_reference(
                path,
                recording,
                &request.reading,
                self.quiet,
            )?),
            None => None,
        };
        if let Some(threads) = self.settings.threads {
            kept.state.current.config.threads = threads.into(); // never changes a result
        }
        let run = Run::resume(
            recording,
            reference.as_ref(),
            kept.state,
            kept.log,
            request.log_every,
        )
        .map_err(Failure::of_run(from))?;
        folder.take_over(from)?;
        self.say(&format!("resumed after step {}", run.steps_done()));
        let job = Job {
            path: &path,
            opened: &opened,
            reference: reference.as_ref(),
            request: &request,
        };
        self.finish(job, run, folder)
    }

    /// Trains and writes. What fails leaves either nothing or a run that can be resumed.
    fn finish(&self, job: Job<'_>, run: Run<'_>, folder: Folder) -> Outcome {
        match self.train_and_write(&job, run, &folder) {
            Ok(written) => {
                // A finished result is worth more than an unfinished one.
                let place = match written.interrupted && folder.replaces() {
                    true => folder.keep_unfinished()?,
                    false => {
                        let target = folder.target().to_owned();
                        folder.publish()?;
                        target
                    }
                };
                self.tell(&written, &place)
            }
            Err(failure) => Err(match folder.give_up() {
                Some(how) => Failure::Failed(format!("{failure}\n{how}")),
                None => failure,
            }),
        }
    }

    fn train_and_write(&self, job: &Job<'_>, run: Run<'_>, folder: &Folder) -> Outcome<Written> {
        let place = folder.working();
        state::save_request(place, job.request)?;
        let every = Duration::from_secs(self.autosave.into());
        let ended = run.train(self.quiet, every, |state, log| {
            state::save(place, job.request, state, log)
        })?;
        if let Some(state) = &ended.state {
            // First of all: whatever happens from here on, the run can be continued.
            state::save(place, job.request, state, &ended.log)?;
        }
        let summary = under_way(self.quiet, "writing the results", || {
            job.results(&ended).write(place)
        })?;
        if ended.state.is_none() {
            state::remove(place)?;
        }
        Ok(Written {
            stop: ended.separation.stop_reason(),
            interrupted: ended.state.is_some(),
            summary,
        })
    }

    fn tell(&self, written: &Written, place: &Path) -> Outcome {
        if self.json {
            output::print_line(&serde_json::to_string_pretty(&written.summary)?);
        } else if !self.quiet {
            output::print(&format!("\n{}", words(&written.summary, place)));
        }
        if written.interrupted {
            self.say(&format!("interrupted: continue with `{}`", resume_command(place)));
            return Err(Failure::Interrupted);
        }
        if written.stop == StopReason::Diverged {
            let why = written.summary.warnings.first().cloned().unwrap_or_default();
            return Err(Failure::Failed(format!("{}: {why}", place.display())));
        }
        Ok(())
    }

    /// Whether the sources will fit into the files that were asked for: better now than after the training.
    fn check_formats(&self, recording: &Recording, n_sources: usize, target: &Path) -> Outcome {
        let names = source_names(n_sources);
        let signals = Signals {
            values: recording.observations().subcols(0, n_sources),
            names: &names,
            rate: recording.sampling_rate(),
        };
        for format in &self.format {
            check_signals(target.join(format!("sources.{}", format.ending())), &signals)?;
        }
        Ok(())
    }

    fn say(&self, line: &str) {
        if !self.quiet {
            note(line);
        }
    }
}

/// One separation: what it reads and what was asked for.
struct Job<'a> {
    path: &'a Path,
    opened: &'a Opened,
    reference: Option<&'a Reference>,
    request: &'a Request,
}

impl Job<'_> {
    fn results<'b>(&'b self, ended: &'b Ended) -> Results<'b> {
        let recording = &self.opened.recording;
        let reference_path = self.request.reference.as_deref().unwrap_or(Path::new(""));
        Results {
            recording,
            ended,
            input: Input {
                path: self.path.display().to_string(),
                format: self.opened.format.to_string(),
                options: self.request.reading.clone(),
                channel_names: recording.channel_names().to_vec(),
                units: self.opened.units.clone(),
                sampling_rate: recording.sampling_rate(),
                missing_samples: recording.n_missing(),
                notes: self.opened.notes.iter().map(ToString::to_string).collect(),
            },
            input_warnings: input::warnings(self.opened).collect(),
            command: &self.request.command,
            reference: self
                .reference
                .map(|reference| (reference_path.display().to_string(), reference)),
            source_count: self.request.source_count.as_ref(),
            formats: &self.request.formats,
            figures: false,
        }
    }
}

/// What is left to say once the folder is in its place.
struct Written {
    summary: Summary,
    stop: StopReason,
    interrupted: bool,
}

fn estimate(
    recording: &Recording,
    preprocess: &strtransformer::config::Preprocess,
) -> strtransformer::Result<CountSummary> {
    let options = ChannelScalingOptions {
        center: preprocess.center,
        scale: preprocess.scale,
    };
    Ok(CountSummary::from(&SourceCount::estimate(recording, options)?))
}

/// The path from anywhere, so that a run can be resumed in another folder.
fn absolute(path: &Path) -> Outcome<PathBuf> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match path.to_str() {
        Some(_) => Ok(path),
        None => Err(Failure::Failed(format!(
            "{}: expected a path in UTF-8, so that it can be kept with the run, found other bytes; rename the file",
            path.display()
        ))),
    }
}
