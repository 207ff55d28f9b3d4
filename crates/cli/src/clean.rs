//! `strt clean`: a recording without some of its sources, in the format of the recording.
//!
//! The run says what was read and how; `Separation::clean` computes, and `strt-io` puts the numbers
//! into a copy of the file. Which sources go is said by [`crate::decisions`].

use crate::channels::{Channels, as_the_model_has_them};
use crate::decisions::{Choice, Decided};
use crate::failure::{Failure, Outcome};
use crate::output::{self, note};
use crate::preparing::{Both, as_the_run_did, of_the_model, without_preparation};
use crate::progress::under_way;
use crate::reading::{describe, open_for_model};
use crate::transform::sources_of;
use clap::Args;
use faer::{Mat, MatRef};
use std::path::{Path, PathBuf};
use strt_io::{
    Opened, Prepare, ReadOptions, Signals, check_signals, check_writable, load_model,
    rewrite_recording, write_signals,
};
use strt_runs::folder::MODEL;
use strt_runs::results::summary::{Input, source_names};
use strt_runs::{clean_unprepared, load_summary, recording_differs};
use strtransformer::{Recording, Separation};

const EXAMPLES: &str = "\
Examples:
  strt clean recording.strt --remove s3,s7
  strt clean recording.strt --decisions decisions.json --out without-eyes.edf
  strt clean recording.strt later.edf --keep s1,s2

What the sources do not explain stays in the channels. The file is a copy of the recording with
other numbers: header, events, other channels and samples that were not read are as they were.
With another ending (.npy, .csv, .mat, .parquet, .wav, .flac, .edf) the cleaned channels alone are
written. A recording packed with gzip or zstd is packed again where the name of --out says so.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Clean {
    /// The folder of a run
    run: PathBuf,
    /// Another recording of the same channels, or the whole file of which the run took a part
    /// [default: the recording of the run]
    recording: Option<PathBuf>,
    #[command(flatten)]
    choice: Choice,
    /// File for the cleaned recording [default: name of the recording with _clean before its
    /// ending, in the current folder]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
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
        let (path, options) = self.what_to_read(&input, &model)?;
        let names = source_names(model.sources().ncols());
        let decided = self.choice.removed(&self.run, &names)?;
        let out = self.out.clone().unwrap_or_else(|| default_out(&path));
        self.check_out(&out, &path)?;

        if Both::differ(&options.prepare) {
            return self.unprepared(&model, &options, &decided, (&path, &out));
        }
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
        let channels = as_the_model_has_them(&model, &opened.recording, &path, self.quiet)?;
        let recording = &channels.recording;
        let is_copy = form(&out) == form(&path);
        if !is_copy {
            check_signals(&out, &signals(recording.observations(), recording))?;
        }
        let is_own = self.check_recording(&model, recording, &path, &decided)?;
        let removed = &decided.sources;
        let cleaned = self.cleaned(&model, recording, &path, is_own, removed)?;
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
        options: &ReadOptions,
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
        let is_own = self.check_recording(model, &channels.recording, path, decided)?;
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
                let cleaned = self.cleaned(model, recording, path, is_own, removed)?;
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
    /// another; says whether it is that of the run.
    fn check_recording(
        &self,
        model: &Separation,
        recording: &Recording,
        path: &Path,
        decided: &Decided,
    ) -> Outcome<bool> {
        let differs = recording_differs(model, recording);
        if let (None, Some(differs)) = (&self.recording, &differs) {
            return Err(Failure::Failed(format!(
                "{}: expected the recording of {}, found another: {differs}; give the RECORDING \
                 that is to be cleaned",
                path.display(),
                self.run.display()
            )));
        }
        if differs.is_none() {
            decided.check_fingerprint(recording)?;
        }
        Ok(differs.is_none())
    }

    /// The file and what of it is read: as the run did, or another file with the channels of the
    /// run, in full.
    fn what_to_read(&self, input: &Input, model: &Separation) -> Outcome<(PathBuf, ReadOptions)> {
        let Some(recording) = &self.recording else {
            if self.reading != ReadOptions::default() {
                return Err(Failure::Usage(
                    "reading the recording: expected a RECORDING with these arguments, found none; \
                     that of the run is read as the run did"
                        .into(),
                ));
            }
            return Ok((self.recording_of_run(input)?, input.options.clone()));
        };
        let (own, there) = (self.reading.clone(), &input.options);
        let options = ReadOptions {
            rate: own.rate.or(there.rate),
            channels: own.channels.or_else(|| there.channels.clone()),
            variable: own.variable.or_else(|| there.variable.clone()),
            // Another file may lie another way round: the channels of the model tell.
            transpose: own.transpose,
            delimiter: own.delimiter.or(there.delimiter),
            header: own.header.or(there.header),
            time_column: own.time_column.or_else(|| there.time_column.clone()),
            start: own.start,
            stop: own.stop,
            prepare: Prepare::default(),
        };
        let options = as_the_run_did(input, model, recording, options)?;
        Ok((recording.clone(), options))
    }

    /// The file that the run has read, from the current folder or from that of the run.
    fn recording_of_run(&self, input: &Input) -> Outcome<PathBuf> {
        let path = Path::new(&input.path);
        let beside = self.run.parent().map(|parent| parent.join(path));
        let places = [Some(path.to_owned()), beside];
        let found = places.into_iter().flatten().find(|path| path.exists());
        let of_memory = input.format == "memory";
        found.filter(|_| !of_memory).ok_or_else(|| {
            let found = if of_memory {
                "data that were in memory".to_string()
            } else {
                format!("no file {}", path.display())
            };
            Failure::Failed(format!(
                "{}: expected the recording that it was made from, found {found}; give the \
                 RECORDING that is to be cleaned",
                self.run.display()
            ))
        })
    }

    /// Refuses to write over anything unasked, and over the recording in any case.
    fn check_out(&self, out: &Path, input: &Path) -> Outcome {
        if let (Ok(out), Ok(input)) = (out.canonicalize(), input.canonicalize())
            && out == input
        {
            return Err(Failure::Failed(format!(
                "{}: expected another file than the recording, which is kept; choose another --out",
                out.display()
            )));
        }
        // The numbers of an EEGLAB data set may be in a file of their own, those of BrainVision
        // always are.
        let others: &[&str] = match ending(out).as_str() {
            "set" => &["fdt"],
            "vhdr" | "vmrk" | "eeg" => &["vhdr", "vmrk", "eeg"],
            _ => &[],
        };
        let beside = others.iter().map(|other| out.with_extension(other));
        for file in std::iter::once(out.to_owned()).chain(beside) {
            if file.exists() && !self.overwrite {
                return Err(Failure::Failed(format!(
                    "{}: the file exists; choose another --out, or replace it with --overwrite",
                    file.display()
                )));
            }
        }
        match out.parent() {
            Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
                Err(Failure::Failed(format!(
                    "{}: expected a folder, found none; create it, or choose another --out",
                    parent.display()
                )))
            }
            _ => Ok(check_writable(out)?),
        }
    }

    fn cleaned(
        &self,
        model: &Separation,
        recording: &Recording,
        path: &Path,
        is_own: bool,
        removed: &[usize],
    ) -> Outcome<Mat<f64>> {
        let transformed = if is_own {
            None
        } else {
            Some(sources_of(model, recording, path, self.steps, self.quiet)?)
        };
        if transformed.as_ref().is_some_and(|found| !found.converged) {
            note("warning: the sources were still improving; try more --steps");
        }
        let sources = match &transformed {
            Some(transformed) => transformed.sources.as_ref(),
            None => model.sources(),
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

/// `recording.edf` → `recording_clean.edf`, `recording.csv.gz` → `recording_clean.csv.gz`, in the
/// current folder.
fn default_out(input: &Path) -> PathBuf {
    let plain = unpacked(input);
    let stem = plain.file_stem().unwrap_or(plain.as_os_str());
    let mut name = stem.to_os_string();
    name.push("_clean");
    for path in [Some(plain.as_path()), (plain != input).then_some(input)] {
        if let Some(ending) = path.and_then(Path::extension) {
            name.push(".");
            name.push(ending);
        }
    }
    name.into()
}

/// The ending that stands for the form of a file. The three files of BrainVision go together.
fn form(path: &Path) -> String {
    match ending(path).as_str() {
        "vmrk" | "eeg" => "vhdr".to_string(),
        other => other.to_string(),
    }
}

/// The ending of a name, that of a packed file aside.
fn ending(path: &Path) -> String {
    unpacked(path)
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase())
        .unwrap_or_default()
}

/// The name that a file has when it is unpacked.
fn unpacked(path: &Path) -> PathBuf {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("gz" | "zst") => path.with_extension(""),
        _ => path.to_owned(),
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
