//! `strt separate`: from files to folders with separated sources, their model and a report.
//!
//! Arguments become an order for each run; `strt-runs` makes the run and its folder; what came of
//! it is printed. Several files are one run each, or one run together.

use crate::browser::open_report;
use crate::derivatives;
use crate::ending::Ending;
use crate::failure::{Failure, Outcome};
use crate::formats::formats;
use crate::inputs::{Dataset, Inputs, expand, reference_is_file};
use crate::many::{self, Happened, Job, Shown, folder_names};
use crate::settings::Settings;
use crate::terminal::Terminal;
use crate::wording::PROGRAM;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use strt_io::{BadSegments, BidsFilter, ChannelSelection, Prepare, ReadOptions, inspect};
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
  strt separate 'data/*.edf' --sources auto --out results
  strt separate morning.edf evening.edf --together --sources auto
  strt separate dataset --subject 01,02 --task rest --sources auto

DIR receives sources.npy and sources.csv, verdicts.csv, labels.csv, model.safetensors, config.toml,
history.csv, summary.json and report.html; for affine mixers also denoised.npy, denoised.csv,
denoised_std.npy and mixer.json; with a reference also scores.csv; of a recording with events also
events.json; of several files together also pieces.csv.
Several files, or a pattern in quotes, are one run each, in folders named after the files; a BIDS
dataset has its runs in derivatives/strtransformer. A file that fails does not keep the others from
it, and the same command given again makes what is missing.
Ctrl-C ends a run so that `strt resume DIR` can take it up.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Separate {
    /// The recording: CSV, TSV, NPY, NPZ, MATLAB, HDF5, EDF, BDF, GDF, BrainVision, FIF, XDF,
    /// EEGLAB, SNIRF, WFDB, WAV, FLAC, Ogg or Parquet; also packed with gzip or zstd; several of
    /// them, patterns such as 'data/*.edf', or the folder of a BIDS dataset
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Take the files as one recording in several pieces: one mixing, nothing learned across their
    /// ends. Of a BIDS dataset those that differ only in their run
    #[arg(long)]
    together: bool,
    /// Take the channels that all files have; else all must have the same
    #[arg(long, requires = "together", conflicts_with = "channels")]
    common_channels: bool,
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
    /// Folder for the results; of several runs the folder that theirs are made in [default: name of
    /// the input with the ending .strt, in the current folder]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// True sources (samples × sources), for scores only: training does not see them
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Further formats of the sources; npy and csv are always written
    #[arg(long, value_parser = formats(), value_delimiter = ',', value_name = "LIST")]
    format: Vec<Format>,
    /// Also write the paper's three figures as SVG and PNG; where the truth is shown in one, it is
    /// that of --reference
    #[arg(long)]
    figures: bool,
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
    #[command(flatten)]
    chosen: BidsFilter,
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
    /// Makes the runs; `typed` is the command line.
    pub fn run(self, typed: &[String]) -> Outcome {
        let inputs = expand(&self.inputs, &self.chosen)?;
        reference_is_file(self.reference.as_deref())?;
        let jobs = self.jobs(&inputs)?;
        if !inputs.may_be_several || (self.together && inputs.dataset.is_none()) {
            return self.one(&jobs[0], typed);
        }
        self.several(&jobs, inputs.dataset.as_ref(), typed)
    }

    /// The runs that are asked for: what of and where to.
    fn jobs(&self, inputs: &Inputs) -> Outcome<Vec<Job>> {
        if let Some(dataset) = &inputs.dataset {
            let folder = derivatives::folder(dataset, self.out.as_deref())?;
            return derivatives::jobs(dataset, &folder, self.together);
        }
        let job = |files: Vec<PathBuf>, target: PathBuf| Job { files, target };
        let out = self.out.clone();
        if self.together || !inputs.may_be_several {
            let first = &inputs.files[0];
            let name = Path::new(first.file_name().unwrap_or(first.as_os_str()));
            let default = match inputs.files.len() {
                1 => name.with_extension("strt"),
                _ => name.with_extension("together.strt"),
            };
            return Ok(vec![job(inputs.files.clone(), out.unwrap_or(default))]);
        }
        let parent = out.unwrap_or_default();
        let names = folder_names(&inputs.files).into_iter();
        let files = inputs.files.iter();
        let all = files
            .zip(names)
            .map(|(file, name)| job(vec![file.clone()], parent.join(name)));
        Ok(all.collect())
    }

    fn one(&self, job: &Job, typed: &[String]) -> Outcome {
        let reading = self.reading(job, false)?;
        let order = self.order(job, reading, typed)?;
        let place = match self.make(&order, job, self.ensure)? {
            Happened::Made(made) => self.ending.tell(&made).map(|()| made.place)?,
            Happened::There(earlier) => {
                self.ending.tell_of_earlier(&earlier)?;
                earlier.place
            }
        };
        if self.open {
            open_report(&place);
        }
        Ok(())
    }

    /// One run after the other. What an earlier call has made is kept, as with `--continue`, unless
    /// it is to be replaced.
    fn several(&self, jobs: &[Job], dataset: Option<&Dataset>, typed: &[String]) -> Outcome {
        self.refuse_what_is_of_one()?;
        let ensure = self.ensure || !self.overwrite;
        let shown = Shown {
            quiet: self.ending.quiet,
            json: self.ending.json,
        };
        // What is wrong with the arguments is wrong for every file.
        self.order(&jobs[0], self.reading.clone(), typed)?;
        if let Some(dataset) = dataset {
            let folder = derivatives::folder(dataset, self.out.as_deref())?;
            derivatives::describe(&folder, dataset)?;
        }
        many::all(jobs, shown, |job| {
            let order = self.order(job, self.reading(job, dataset.is_some())?, typed)?;
            let happened = self.make(&order, job, ensure)?;
            self.ending.judge(happened.contents())?;
            Ok(happened)
        })
    }

    fn make(&self, order: &Order<'_>, job: &Job, ensure: bool) -> Outcome<Happened> {
        let mut terminal = Terminal::new(self.ending.quiet);
        if !ensure {
            let made = strt_runs::start(order, &job.target, &mut terminal)?;
            return Ok(Happened::Made(Box::new(made)));
        }
        Ok(
            match strt_runs::ensure(order, &job.target, &mut terminal)? {
                Ensured::Made(made) => Happened::Made(made),
                Ensured::There(earlier) => Happened::There(earlier),
            },
        )
    }

    /// Refuses what goes with one recording only.
    fn refuse_what_is_of_one(&self) -> Outcome {
        let table = match &self.preparing.bad_segments {
            Some(BadSegments::File(table)) => Some(table.display().to_string()),
            _ => None,
        };
        let refused = [
            (
                "--reference",
                self.reference
                    .as_ref()
                    .map(|path| path.display().to_string()),
            ),
            ("--bad-segments", table),
            ("--open", self.open.then(String::new)),
        ];
        for (option, given) in refused {
            if let Some(given) = given {
                return Err(Failure::Usage(format!(
                    "{}: expected one recording, found several runs; leave it out, or separate the \
                     recordings one by one",
                    format!("{option} {given}").trim_end()
                )));
            }
        }
        Ok(())
    }

    /// How the files of a run are read.
    fn reading(&self, job: &Job, bids: bool) -> Outcome<ReadOptions> {
        let mut reading = ReadOptions {
            bids: bids || self.reading.bids,
            ..self.reading.clone()
        };
        if job.files.len() > 1 {
            if let Some(BadSegments::File(table)) = &self.preparing.bad_segments {
                return Err(Failure::Usage(format!(
                    "--bad-segments {}: expected one recording, found {} files together; mark them \
                     in the files and give `annotations`",
                    table.display(),
                    job.files.len()
                )));
            }
            if self.common_channels {
                reading.channels = Some(common_channels(&job.files, &reading)?);
            }
        }
        Ok(reading)
    }

    fn order<'a>(
        &'a self,
        job: &'a Job,
        reading: ReadOptions,
        typed: &[String],
    ) -> Outcome<Order<'a>> {
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
                ..reading
            },
            reference: self.reference.as_deref().map(Truth::File),
            estimate_sources: match self.sources {
                Some(Sources::Estimated(method)) => Some(method),
                _ => None,
            },
            overwrite: self.overwrite,
            formats: self.format.clone(),
            figures: self.figures,
            log_every: self.log_every as usize,
            autosave: Duration::from_secs(self.autosave.into()),
            verdicts: (!self.no_verdicts).then_some(VerdictOptions {
                replicates: self.replicates.into(),
                reruns: self.reruns.into(),
            }),
            command: typed.to_vec(),
            needed,
            caller: &PROGRAM,
            ..Order::new(
                match &job.files[..] {
                    [file] => Source::File(file),
                    files => Source::Together(files),
                },
                config,
            )
        })
    }
}

/// The channels that all files have, in the order of the first.
fn common_channels(files: &[PathBuf], reading: &ReadOptions) -> Outcome<ChannelSelection> {
    let mut common: Option<Vec<String>> = None;
    for file in files {
        let channels = inspect(file, reading)?.channels.into_iter();
        let signals = channels.filter(|channel| channel.left_out.is_none());
        let names: Vec<String> = signals.map(|channel| channel.name).collect();
        common = Some(match common {
            None => names,
            Some(mut common) => {
                common.retain(|name| names.contains(name));
                common
            }
        });
    }
    let common = common.unwrap_or_default();
    if common.is_empty() {
        return Err(Failure::Failed(format!(
            "{} and {} more: expected channels that all files have, found none; `strt info` lists \
             those of each",
            files[0].display(),
            files.len() - 1
        )));
    }
    Ok(common.iter().map(String::as_str).collect())
}
