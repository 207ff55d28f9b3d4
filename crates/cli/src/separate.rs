//! `strt separate`: from a file to a folder with separated sources, their model and a report.
//!
//! Arguments become an order; `strt-runs` makes the run and its folder; what came of it is printed.

use crate::browser::open_report;
use crate::ending::Ending;
use crate::failure::{Failure, Outcome};
use crate::formats::formats;
use crate::settings::Settings;
use crate::terminal::Terminal;
use crate::wording::PROGRAM;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use strt_io::{BadSegments, Prepare, ReadOptions};
use strt_runs::{Ensured, Format, Order, Source, Truth};
use strtransformer::preprocess::CountMethod;
use strtransformer::verdict::VerdictOptions;

const EXAMPLES: &str = "\
Examples:
  strt separate recording.csv --sources 4
  strt separate sleep.edf --sources auto --channels 1-8 --start 60 --stop 180 --out sleep
  strt separate sleep.edf --sources auto --band 0.5-40 --notch 50 --rereference average
  strt separate mixture.npy --sources 3 --rate 250 --mixer mlp --restarts 4
  strt separate recording.csv --sources 4 --seed 7 --out seed-7 --continue

DIR receives sources.npy and sources.csv, verdicts.csv, labels.csv, model.safetensors, config.toml,
history.csv, summary.json and report.html; for affine mixers also denoised.npy, denoised.csv,
denoised_std.npy and mixer.json; with a reference also scores.csv; of a recording with events also
events.json.
Ctrl-C ends a run so that `strt resume DIR` can take it up.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Separate {
    /// The recording: CSV, TSV, NPY, NPZ, MATLAB, HDF5, EDF, BDF, GDF, BrainVision, FIF, XDF,
    /// EEGLAB, SNIRF, WFDB, WAV, FLAC, Ogg or Parquet; also packed with gzip or zstd
    input: PathBuf,
    /// Number of sources; `auto` estimates it from structure in time that noise has not, `mdl`
    /// from the eigenvalues of the channels
    #[arg(
        long,
        short = 'k',
        value_name = "K|auto|mdl",
        value_parser = sources,
        allow_negative_numbers = true
    )]
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
    #[arg(
        long,
        default_value_t = 10,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    log_every: u32,
    /// Save a checkpoint every so many seconds: what a crash may cost
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    autosave: u32,
    /// Recordings put together from blocks of this one, to see which sources are found again in
    /// them by the kernel energy, as `fast` has it
    #[arg(
        long,
        default_value_t = 20,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(..=1000)
    )]
    replicates: u16,
    /// Further runs with other seeds, to see which sources are found again: each takes the time of
    /// the run
    #[arg(
        long,
        default_value_t = 0,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(..=1000)
    )]
    reruns: u16,
    /// Do not judge which sources to trust
    #[arg(long, conflicts_with_all = ["replicates", "reruns"])]
    no_verdicts: bool,
    /// Replace the folder of an earlier run
    #[arg(long)]
    overwrite: bool,
    /// Start the run, or resume what an earlier call with the same arguments has left, or do
    /// nothing where it is finished: the same command may be given any number of times, as by a
    /// batch system
    #[arg(long = "continue")]
    ensure: bool,
    /// Open the page of the run in a browser when it is done
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    ending: Ending,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    preparing: Prepare,
}

/// How many sources.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sources {
    Estimated(CountMethod),
    Number(usize),
}

fn sources(text: &str) -> Result<Sources, String> {
    match (CountMethod::parse(text), text.parse()) {
        (Some(method), _) => Ok(Sources::Estimated(method)),
        (_, Ok(k)) if k > 0 => Ok(Sources::Number(k)),
        _ => Err("expected a whole number from 1, auto or mdl".into()),
    }
}

impl Separate {
    /// Makes the run; `typed` is the command line.
    pub fn run(self, typed: &[String]) -> Outcome {
        let target = match &self.out {
            Some(out) => out.clone(),
            None => {
                let name = self.input.file_name().unwrap_or(self.input.as_os_str());
                Path::new(name).with_extension("strt")
            }
        };
        let order = self.order(typed)?;
        let mut terminal = Terminal::new(self.ending.quiet);
        let place = if self.ensure {
            match strt_runs::ensure(&order, &target, &mut terminal)? {
                Ensured::Made(made) => self.ending.tell(&made).map(|()| made.place)?,
                Ensured::There(earlier) => {
                    self.ending.tell_of_earlier(&earlier)?;
                    earlier.place
                }
            }
        } else {
            let made = strt_runs::start(&order, &target, &mut terminal)?;
            self.ending.tell(&made).map(|()| made.place)?
        };
        if self.open {
            open_report(&place);
        }
        Ok(())
    }

    fn order(&self, typed: &[String]) -> Outcome<Order<'_>> {
        let config = self.settings.resolve(match self.sources {
            Some(Sources::Number(k)) => Some(k),
            _ => None,
        })?;
        if config.n_sources == 0 && self.sources.is_none() {
            return Err(Failure::Usage(
                "--sources: expected the number of sources, found nothing; give it, or `auto` to \
                 estimate it"
                    .into(),
            ));
        }
        let mut needed: Vec<&Path> = self.settings.config.as_deref().into_iter().collect();
        if let Some(BadSegments::File(table)) = &self.preparing.bad_segments {
            needed.push(table);
        }
        Ok(Order {
            reading: ReadOptions {
                prepare: self.preparing.clone().with_files_read()?,
                ..self.reading.clone()
            },
            reference: self.reference.as_deref().map(Truth::File),
            estimate_sources: match self.sources {
                Some(Sources::Estimated(method)) => Some(method),
                _ => None,
            },
            overwrite: self.overwrite,
            formats: self.format.clone(),
            log_every: self.log_every as usize,
            autosave: Duration::from_secs(self.autosave.into()),
            verdicts: (!self.no_verdicts).then_some(VerdictOptions {
                replicates: self.replicates.into(),
                reruns: self.reruns.into(),
            }),
            command: typed.to_vec(),
            needed,
            caller: &PROGRAM,
            ..Order::new(Source::File(&self.input), config)
        })
    }
}
