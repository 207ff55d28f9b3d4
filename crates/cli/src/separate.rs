//! `strt separate`: from a file to a folder with separated sources, their model and a report.
//!
//! Arguments become an order; `strt-runs` makes the run and its folder; what came of it is printed.

use crate::ending::words;
use crate::failure::{Failure, Outcome};
use crate::formats::formats;
use crate::input::InputOptions;
use crate::output;
use crate::settings::Settings;
use crate::terminal::Terminal;
use crate::words::{WORDS, resume_command};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use strt_runs::{Again, Ensured, Format, Loaded, Order, Source, Truth, Written};
use strtransformer::train::StopReason;

const EXAMPLES: &str = "\
Examples:
  strt separate recording.csv --sources 4
  strt separate sleep.edf --sources auto --channels 1-8 --start 60 --stop 180 --out sleep
  strt separate mixture.npy --sources 3 --rate 250 --mixer mlp --restarts 4
  strt separate --resume recording.strt
  strt separate recording.csv --sources 4 --seed 7 --out seed-7 --continue

DIR receives sources.npy and sources.csv, mixer.json (affine mixers), model.safetensors, config.toml, history.csv,
summary.json and report.html; with a reference also scores.csv.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Separate {
    /// The recording: CSV, TSV, NPY, NPZ, MATLAB, EDF, BDF, WAV, Parquet, EEGLAB or WFDB. With
    /// --resume only needed where it has been moved
    #[arg(required_unless_present = "resume")]
    input: Option<PathBuf>,
    /// Number of sources, or `auto` to estimate it from the eigenvalues of the channels
    #[arg(long, short = 'k', value_name = "K|auto", value_parser = sources, allow_negative_numbers = true)]
    sources: Option<Sources>,
    /// Folder for the results [default: name of the input with the ending .strt, in the current
    /// folder]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// True sources (samples × sources), for scores only: training does not see them
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Further formats of the sources; npy and csv are always written
    #[arg(long, value_parser = formats(), value_delimiter = ',', value_name = "LIST")]
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
    /// Start the run, or continue what an earlier call with the same arguments has left, or do
    /// nothing where it is finished: the same command may be given any number of times, as by a
    /// batch system
    #[arg(long = "continue", conflicts_with = "resume")]
    go_on: bool,
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

impl Separate {
    /// Makes the run; `typed` is the command line.
    pub fn run(self, typed: &[String]) -> Outcome {
        let mut terminal = Terminal::new(self.quiet);
        let ensured = match &self.resume {
            Some(from) => Ensured::Made(Box::new(self.resume(from, &mut terminal)?)),
            None => self.start(typed, &mut terminal)?,
        };
        match ensured {
            Ensured::Made(written) => self.tell(&written, &terminal),
            Ensured::There(loaded) => self.tell_of_earlier(&loaded, &terminal),
        }
    }

    fn start(&self, typed: &[String], terminal: &mut Terminal) -> Outcome<Ensured> {
        let path = self
            .input
            .as_deref()
            .ok_or_else(|| Failure::Usage("give the recording, INPUT".into()))?;
        let target = match &self.out {
            Some(out) => out.clone(),
            None => Path::new(path.file_name().unwrap_or(path.as_os_str())).with_extension("strt"),
        };
        let config = self.settings.resolve(match self.sources {
            Some(Sources::Number(k)) => Some(k),
            _ => None,
        })?;
        if config.n_sources == 0 && self.sources.is_none() {
            return Err(Failure::Usage(
                "--sources: expected the number of sources, found nothing; give it, or `auto` to estimate it"
                    .into(),
            ));
        }
        let order = Order {
            reading: self.reading.reading(),
            reference: self.reference.as_deref().map(Truth::File),
            estimate_sources: self.sources == Some(Sources::Auto),
            overwrite: self.overwrite,
            formats: self.format.clone(),
            log_every: self.log_every as usize,
            autosave: self.autosave(),
            command: typed.to_vec(),
            needed: self.settings.config.as_deref().into_iter().collect(),
            words: &WORDS,
            ..Order::new(Source::File(path), config)
        };
        Ok(match self.go_on {
            true => strt_runs::ensure(&order, &target, terminal)?,
            false => Ensured::Made(Box::new(strt_runs::start(&order, &target, terminal)?)),
        })
    }

    fn resume(&self, from: &Path, terminal: &mut Terminal) -> Outcome<Written> {
        let again = Again {
            source: self.input.as_deref().map(Source::File),
            reference: self.reference.as_deref().map(Truth::File),
            threads: self.settings.threads.map(usize::from),
            autosave: self.autosave(),
            words: &WORDS,
        };
        Ok(strt_runs::resume(from, &again, terminal)?)
    }

    fn autosave(&self) -> Duration {
        Duration::from_secs(self.autosave.into())
    }

    fn tell(&self, written: &Written, terminal: &Terminal) -> Outcome {
        let place = &written.place;
        if self.json {
            output::print_line(&serde_json::to_string_pretty(&written.summary)?);
        } else if !self.quiet {
            output::print(&format!("\n{}", words(&written.summary, place)));
        }
        if written.interrupted {
            terminal.say(&format!(
                "interrupted: continue with `{}`",
                resume_command(place)
            ));
            return Err(Failure::Interrupted);
        }
        if written.stop() == StopReason::Diverged {
            let why = written
                .summary
                .warnings
                .first()
                .cloned()
                .unwrap_or_default();
            return Err(Failure::Failed(format!("{}: {why}", place.display())));
        }
        Ok(())
    }

    /// Of a run that an earlier call has made.
    fn tell_of_earlier(&self, loaded: &Loaded, terminal: &Terminal) -> Outcome {
        let place = loaded.place.display();
        if self.json {
            output::print_line(&serde_json::to_string_pretty(&loaded.summary)?);
        }
        if loaded.separation.stop_reason() == StopReason::Diverged {
            let why = loaded.summary["warnings"][0].as_str().unwrap_or_default();
            return Err(Failure::Failed(format!("{place}: {why}")));
        }
        terminal.say(&format!("{place}: this run is finished; nothing was done"));
        Ok(())
    }
}
