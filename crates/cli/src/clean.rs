//! `strt clean`: recordings without some of their sources, each in its own format.
//!
//! The run says what was read and how; `Separation::clean` computes, and `strt-io` puts the numbers
//! into a copy of the file. Which sources go is said by [`crate::decisions`].

mod jobs;
mod names;

use crate::channels::{Channels, as_the_model_has_them};
use crate::decisions::{Choice, Decided};
use crate::failure::{Failure, Outcome};
use crate::output::{self, note};
use crate::outs::make_folder;
use crate::preparing::{Both, of_the_model, without_preparation};
use crate::progress::under_way;
use crate::reading::{describe, open_for_model};
use crate::transform::sources_of;
use clap::Args;
use faer::{Mat, MatRef};
use jobs::{Job, Whose};
use names::form;
use std::ops::Range;
use std::path::{Path, PathBuf};
use strt_io::{
    Opened, ReadOptions, Signals, check_signals, load_model, rewrite_recording, write_signals,
};
use strt_runs::folder::MODEL;
use strt_runs::results::summary::{Input, source_names};
use strt_runs::results::together::FileOfRun;
use strt_runs::{clean_unprepared, load_summary, recording_differs};
use strtransformer::{Recording, Separation};

const EXAMPLES: &str = "\
Examples:
  strt clean recording.strt --remove s3,s7
  strt clean recording.strt --decisions decisions.json --out without-eyes.edf
  strt clean recording.strt later.edf --keep s1,s2
  strt clean morning.together.strt --remove s3 --out-dir cleaned

A run on several files together gives one cleaned file for each, in the current folder or --out-dir.
What the sources do not explain stays in the channels. The file is a copy of the recording with
other numbers: header, events, other channels and samples that were not read are as they were.
With another ending (.npy, .csv, .mat, .parquet, .wav, .flac, .edf) the cleaned channels alone are
written. A recording packed with gzip or zstd is packed again where the name of --out says so.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Clean {
    /// The folder of a run
    run: PathBuf,
    /// Other recordings of the same channels, or the whole file of which the run took a part, or
    /// patterns such as 'data/*.edf' [default: the recordings of the run]
    #[arg(value_name = "RECORDING")]
    recordings: Vec<PathBuf>,
    #[command(flatten)]
    choice: Choice,
    /// File for the cleaned recording [default: name of the recording with _clean before its
    /// ending, in the current folder; of a BIDS dataset with desc-strt, beside the run]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Folder for cleaned recordings under their default names; made where there is none
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    out_dir: Option<PathBuf>,
    /// Replace the file
    #[arg(long)]
    overwrite: bool,
    /// Fill missing values with what the model expects there; affine mixers only
    #[arg(long)]
    fill: bool,
    /// Steps for the sources of another recording under a nonlinear model that is not in neural
    /// coordinates
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// Show nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    reading: ReadOptions,
}

impl Clean {
    pub fn run(self) -> Outcome {
        let input = load_summary(&self.run)?.input;
        let model = load_model(self.run.join(MODEL))?;
        let names = source_names(model.sources().ncols());
        let decided = self.choice.removed(&self.run, &names)?;
        let jobs = self.jobs(&input, &model)?;
        make_folder(self.out_dir.as_deref())?;
        for job in &jobs {
            self.check_out(&job.out, &job.path)?;
        }
        for job in jobs {
            self.one(&model, &input, &decided, job)?;
        }
        Ok(())
    }

    fn one(&self, model: &Separation, input: &Input, decided: &Decided, job: Job) -> Outcome {
        let Job {
            path,
            options,
            out,
            whose,
        } = job;
        if Both::differ(&options.prepare) {
            return self.unprepared(model, input, (&options, &whose), decided, (&path, &out));
        }
        let names = source_names(model.sources().ncols());
        let n_channels = model.channel_names().len();
        let opened = open_for_model(
            &path,
            &options,
            n_channels,
            input.options.transpose,
            self.quiet,
        )?;
        // The copy is written the way round that was read.
        let options = ReadOptions {
            transpose: opened
                .layout
                .map_or(options.transpose, |layout| Some(layout.transposed)),
            ..options
        };
        let channels = as_the_model_has_them(model, &opened.recording, &path, self.quiet)?;
        let recording = &channels.recording;
        let is_copy = form(&out) == form(&path);
        if !is_copy {
            check_signals(&out, &signals(recording.observations(), recording))?;
        }
        let own = self.check_recording(model, (recording, &path), input, &whose, decided)?;
        let removed = &decided.sources;
        let cleaned = self.cleaned(model, recording, &path, own, removed)?;
        if is_copy {
            let all = channels.scattered(&opened, cleaned.as_ref());
            for found in rewrite_recording(&path, &options, all.as_ref(), &out)? {
                self.say(&found.to_string());
            }
            self.tell_of_span(&opened, &options, &path);
        } else {
            self.write(&out, cleaned.as_ref(), recording)?;
        }
        self.tell_of_missing(recording, removed);
        self.tell(&out, removed, &names);
        Ok(())
    }

    /// A recording that the run has prepared: the sources go out of the channels as they are in the
    /// file. Where there is no map for that, the prepared recording is what can be cleaned.
    fn unprepared(
        &self,
        model: &Separation,
        input: &Input,
        (options, whose): (&ReadOptions, &Whose),
        decided: &Decided,
        (path, out): (&Path, &Path),
    ) -> Outcome {
        if self.fill {
            return Err(Failure::Usage(
                "--fill: expected a run on a recording as it is in its file, found one that was \
                 prepared, whose spectra are not those of the file; leave --fill out"
                    .into(),
            ));
        }
        let what = format!("reading {}", path.display());
        let both = under_way(self.quiet, &what, || Both::read(path, options))?;
        self.say(&describe(path, &both.prepared));
        let channels = as_the_model_has_them(model, &both.prepared.recording, path, self.quiet)?;
        let read = (&channels.recording, path);
        let own = self.check_recording(model, read, input, whose, decided)?;
        let (names, removed) = (source_names(model.sources().ncols()), &decided.sources);
        let is_copy = form(out) == form(path);
        match both.plain {
            Ok(plain) if model.unmixing().is_some() => {
                let order = (path, &channels.order[..]);
                let plain_recording = &plain.recording;
                let all =
                    clean_unprepared(model, plain_recording, &options.prepare, order, removed)?;
                if is_copy {
                    let options = without_preparation(options);
                    for found in rewrite_recording(path, &options, all.as_ref(), out)? {
                        self.say(&found.to_string());
                    }
                } else {
                    let found = channels.recording.channel_names();
                    let recording = of_the_model(all.as_ref(), &plain.recording, found)?;
                    self.write(out, recording.observations(), &recording)?;
                }
                self.tell_of_span(&plain, options, path);
                self.tell_of_missing(&plain.recording, removed);
            }
            plain => {
                if is_copy {
                    let why = match plain {
                        Ok(_) => "the model is not a linear map of the channels".to_string(),
                        Err(error) => error.to_string(),
                    };
                    return Err(Failure::Failed(format!(
                        "{}: expected a run whose sources can be taken out of the channels of the \
                         file, found one on a prepared recording: {why}; --out with another ending \
                         (.npy, .csv, .mat, .parquet, .wav) writes the prepared recording without \
                         them",
                        path.display()
                    )));
                }
                let recording = &channels.recording;
                let cleaned = self.cleaned(model, recording, path, own, removed)?;
                self.write(out, cleaned.as_ref(), recording)?;
                self.say("what is written is the recording as it was prepared");
                self.tell_of_missing(recording, removed);
            }
        }
        self.tell(out, removed, &names);
        Ok(())
    }

    /// Writes channels in another format than that of the recording.
    fn write(&self, out: &Path, cleaned: MatRef<'_, f64>, recording: &Recording) -> Outcome {
        for found in write_signals(out, &signals(cleaned, recording))? {
            self.say(&found.to_string());
        }
        Ok(())
    }

    /// Refuses another recording than that of the run where none was named, and decisions about
    /// another; says which samples of the run it is, where it is of the run.
    fn check_recording(
        &self,
        model: &Separation,
        (recording, path): (&Recording, &Path),
        input: &Input,
        whose: &Whose,
        decided: &Decided,
    ) -> Outcome<Option<Range<usize>>> {
        let fingerprint = format!("{:016x}", recording.fingerprint());
        let together = input.together.as_ref();
        let piece = match whose {
            Whose::Piece(file) => Some(file),
            _ => together.and_then(|all| all.files.iter().find(|f| f.fingerprint == fingerprint)),
        };
        let differs = match piece {
            Some(file) if file.fingerprint == fingerprint => None,
            Some(_) => Some("its values have changed".into()),
            None => recording_differs(model, recording),
        };
        if let (Whose::Run | Whose::Piece(_), Some(differs)) = (whose, &differs) {
            return Err(Failure::Failed(format!(
                "{}: expected the recording of {}, found another: {differs}; give the RECORDING \
                 that is to be cleaned",
                path.display(),
                self.run.display()
            )));
        }
        if differs.is_some() {
            return Ok(None);
        }
        decided.check_fingerprint(together.map_or(&fingerprint, |all| &all.fingerprint))?;
        Ok(Some(
            piece.map_or(0..recording.n_samples(), FileOfRun::rows),
        ))
    }

    fn cleaned(
        &self,
        model: &Separation,
        recording: &Recording,
        path: &Path,
        own: Option<Range<usize>>,
        removed: &[usize],
    ) -> Outcome<Mat<f64>> {
        let transformed = match own {
            Some(_) => None,
            None => Some(sources_of(model, recording, path, self.steps, self.quiet)?),
        };
        if transformed.as_ref().is_some_and(|found| !found.converged) {
            note("warning: the sources were still improving; try more --steps");
        }
        let sources = match (&transformed, own) {
            (Some(transformed), _) => transformed.sources.as_ref(),
            (None, Some(rows)) => model.sources().subrows(rows.start, rows.len()),
            (None, None) => model.sources(),
        };
        let cleaned = if self.fill {
            model.clean_filled(recording, sources, removed)
        } else {
            model.clean(recording, sources, removed)
        };
        cleaned.map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))
    }

    fn tell_of_span(&self, opened: &Opened, options: &ReadOptions, path: &Path) {
        if options.start.is_some() || options.stop.is_some() {
            self.say(&format!(
                "the {} samples that were read are cleaned, the rest of the file is copied as it \
                 is; `strt clean RUN {}` cleans all of it",
                opened.recording.n_samples(),
                path.display()
            ));
        }
    }

    fn tell_of_missing(&self, recording: &Recording, removed: &[usize]) {
        let n_missing = recording.n_missing();
        if n_missing > 0 && !self.fill && !removed.is_empty() {
            self.say(&format!(
                "{n_missing} samples with missing values have no sources: they are missing in all \
                 cleaned channels; --fill fills them"
            ));
        }
    }

    fn tell(&self, out: &Path, removed: &[usize], names: &[String]) {
        if self.quiet {
            return;
        }
        let gone: Vec<&str> = removed.iter().map(|&k| names[k].as_str()).collect();
        let what = match gone.len() {
            0 => "no source removed".to_string(),
            n => format!(
                "{n} of {} sources removed ({})",
                names.len(),
                gone.join(", ")
            ),
        };
        output::print_line(&format!("{}: {what}", out.display()));
    }

    fn say(&self, line: &str) {
        if !self.quiet {
            note(line);
        }
    }
}

fn signals<'a>(values: MatRef<'a, f64>, recording: &'a Recording) -> Signals<'a> {
    Signals {
        values,
        names: recording.channel_names(),
        rate: recording.sampling_rate(),
    }
}

impl Channels {
    /// All channels that were read, with the cleaned ones in their places.
    fn scattered(&self, opened: &Opened, cleaned: MatRef<'_, f64>) -> Mat<f64> {
        let mut all = opened.recording.observations().to_owned();
        for (column, &channel) in self.order.iter().enumerate() {
            all.col_mut(channel).copy_from(cleaned.col(column));
        }
        all
    }
}
