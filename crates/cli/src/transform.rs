//! `strt transform`: the sources of other recordings under a trained model, one file each.

use crate::channels::as_the_model_has_them;
use crate::failure::{Failure, Outcome};
use crate::inputs::files;
use crate::interrupt;
use crate::output::{self, note};
use crate::outs::{make_folder, refuse_shared, refuse_without_folder};
use crate::preparing::as_the_run_did;
use crate::progress::Progress;
use crate::reading::open_for_model;
use clap::Args;
use faer::MatRef;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use strt_io::{
    Prepare, ReadOptions, Signals, check_signals, check_writable, load_model, write_signals,
};
use strt_runs::folder::{MODEL, SUMMARY};
use strt_runs::load_summary;
use strt_runs::results::summary::source_names;
use strtransformer::train::{StepReport, StopReason};
use strtransformer::transform::Transformed;
use strtransformer::{Recording, Separation};

#[derive(Args)]
pub struct Transform {
    /// A model.safetensors, or the folder of a run
    model: PathBuf,
    /// Recordings with the channels of the one that the model was trained on, or patterns such as
    /// 'data/*.edf'
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// File for the sources: .npy, .csv, .mat, .parquet, .wav, .flac or .edf [default: name of the
    /// input with the ending .sources.npy, or .denoised.npy, in the current folder]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Folder for the files of several recordings; made where there is none
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    out_dir: Option<PathBuf>,
    /// Replace the file
    #[arg(long)]
    overwrite: bool,
    /// Steps for the sources of a nonlinear model that is not in neural coordinates; any other
    /// needs none
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// Write the sources without the noise of the channels, missing samples filled; affine mixers
    /// only
    #[arg(long)]
    denoise: bool,
    /// Show nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    preparing: Prepare,
}

impl Transform {
    pub fn run(self) -> Outcome {
        let model_path = if self.model.is_dir() {
            self.model.join(MODEL)
        } else {
            self.model.clone()
        };
        let inputs = files(&self.inputs)?;
        let outs = self.outs(&inputs)?;
        let model = load_model(&model_path)?;
        // A model that was moved out of its folder has no summary.
        let summary = load_summary(model_path.parent().unwrap_or(&model_path)).ok();
        let of_run = summary.and_then(|summary| summary.input.options.transpose);
        for (input, out) in inputs.iter().zip(&outs) {
            self.one(&model, (&model_path, of_run), input, out)?;
        }
        Ok(())
    }

    /// The file for the sources of every recording; refuses those that may not be written.
    fn outs(&self, inputs: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
        let ending = if self.denoise {
            "denoised.npy"
        } else {
            "sources.npy"
        };
        let folder = self.out_dir.clone().unwrap_or_default();
        let default = |input: &PathBuf| {
            let name = input.file_name().unwrap_or(input.as_os_str());
            folder.join(Path::new(name).with_extension(ending))
        };
        let outs = match &self.out {
            Some(out) => vec![out.clone()],
            None => inputs.iter().map(default).collect(),
        };
        refuse_shared(inputs, &outs)?;
        make_folder(self.out_dir.as_deref())?;
        for out in &outs {
            if out.exists() && !self.overwrite {
                return Err(Failure::Failed(format!(
                    "{}: the file exists; choose another --out, or replace it with --overwrite",
                    out.display()
                )));
            }
            refuse_without_folder(out)?;
            check_writable(out)?;
        }
        Ok(outs)
    }

    fn one(
        &self,
        model: &Separation,
        (model_path, of_run): (&Path, Option<bool>),
        input: &Path,
        out: &Path,
    ) -> Outcome {
        let n_channels = model.channel_names().len();
        let options = self.options(model, model_path, input)?;
        let opened = open_for_model(input, &options, n_channels, of_run, self.quiet)?;
        let channels = as_the_model_has_them(model, &opened.recording, input, self.quiet)?;
        let recording = channels.recording;
        let names = source_names(model.sources().ncols());
        check_signals(
            out,
            &Signals {
                // Of the shape that the sources will have.
                values: recording.observations().subcols(0, names.len()),
                names: &names,
                rate: recording.sampling_rate(),
            },
        )?;
        if self.denoise {
            let denoised = model
                .denoise(&recording)
                .map_err(|error| Failure::Failed(format!("{}: {error}", input.display())))?;
            self.write(out, denoised.sources(), &names, &recording)?;
            self.tell(out, denoised.sources().shape(), "");
            return Ok(());
        }
        let transformed = sources_of(model, &recording, input, self.steps, self.quiet)?;
        let sources = transformed.sources.as_ref();
        self.write(out, sources, &names, &recording)?;
        let warning = if transformed.converged {
            ""
        } else {
            "warning: the sources were still improving; try more --steps\n"
        };
        self.tell(out, sources.shape(), warning);
        Ok(())
    }

    /// How the recording is read: prepared as that of the run was, where the model is in the folder
    /// of one and nothing else is asked for.
    fn options(&self, model: &Separation, model_path: &Path, input: &Path) -> Outcome<ReadOptions> {
        let own = ReadOptions {
            prepare: self.preparing.clone().with_files_read()?,
            ..self.reading.clone()
        };
        match model_path.parent() {
            Some(run) if run.join(SUMMARY).is_file() => {
                as_the_run_did(&load_summary(run)?.input, model, input, own)
            }
            _ => Ok(own),
        }
    }

    fn write(
        &self,
        out: &Path,
        values: MatRef<'_, f64>,
        names: &[String],
        recording: &Recording,
    ) -> Outcome {
        let rate = recording.sampling_rate();
        let notes = write_signals(
            out,
            &Signals {
                values,
                names,
                rate,
            },
        )?;
        if !self.quiet {
            notes.iter().for_each(|found| note(&found.to_string()));
        }
        Ok(())
    }

    /// Says what was written.
    fn tell(&self, out: &Path, (t, k): (usize, usize), warning: &str) {
        if !self.quiet {
            let what = if self.denoise {
                "denoised sources"
            } else {
                "sources"
            };
            let out = out.display();
            output::print(&format!("{warning}{t} samples of {k} {what}: {out}\n"));
        }
    }
}

/// The sources of a recording under a model, optimised where they must be; `path` is named in
/// messages.
pub fn sources_of(
    model: &Separation,
    recording: &Recording,
    path: &Path,
    steps: u32,
    quiet: bool,
) -> Outcome<Transformed> {
    interrupt::watch();
    let mut progress = Progress::new(quiet, 0);
    let mut observer = |report: &StepReport<'_>| {
        progress.show(report);
        if interrupt::asked() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let transformed = model
        .transform(recording, steps as usize, &mut observer)
        .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
    progress.end();
    match transformed.stop {
        Some(StopReason::Interrupted) => {
            note("interrupted: nothing was written");
            Err(Failure::Interrupted)
        }
        Some(StopReason::Diverged) => Err(Failure::Failed(format!(
            "{}: the sources of this recording were no longer finite; it may be too different from \
             the one that the model was trained on",
            path.display()
        ))),
        _ => Ok(transformed),
    }
}
