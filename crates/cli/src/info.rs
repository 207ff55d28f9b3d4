//! `strt info`: what files or a folder hold, without separating anything.

mod many;
mod recording;
mod wording;

use crate::compare;
use crate::failure::{Failure, Outcome};
use crate::generate::{PROBLEM, ProblemFile};
use crate::inputs::expand;
use crate::output;
use crate::wording::resume_command;
use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use strt_io::{BidsFilter, ReadOptions, SavedRestarts, load_model, load_restarts};
use strt_runs::folder::{CHECKPOINT, Kind, SUMMARY, Verified, verify_all};
use strt_runs::load_summary;

#[derive(Args)]
pub struct Info {
    /// A recording, a model, a checkpoint, or the folder of a run; several recordings, patterns
    /// such as 'data/*.edf', or the folder of a BIDS dataset, of which a table is printed
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    /// List every channel, however many there are
    #[arg(long)]
    all: bool,
    /// Do not read the numbers: nothing is said of missing, flat and duplicate channels
    #[arg(long)]
    header_only: bool,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    chosen: BidsFilter,
}

impl Info {
    pub fn run(self) -> Outcome {
        let inputs = expand(&self.files, &self.chosen)?;
        let (text, json, outcome) = match &inputs.files[..] {
            [file] if !inputs.may_be_several => {
                let (text, json) = self.one(file)?;
                (text, json, Ok(()))
            }
            _ => many::many(&self, &inputs),
        };
        if self.json {
            output::print_line(&serde_json::to_string_pretty(&json)?);
        } else {
            output::print(&text);
        }
        outcome
    }

    fn one(&self, file: &Path) -> Outcome<(String, Value)> {
        let ending = file.extension();
        if file.is_dir() {
            folder(file)
        } else if ending.is_some_and(|ending| ending == "safetensors") {
            tensors(file)
        } else {
            recording::recording(self, file)
        }
    }
}

/// A folder that this program made: what it was made for.
fn folder(path: &Path) -> Outcome<(String, Value)> {
    let checkpoint = path.join(CHECKPOINT);
    let (mut text, json) = match Kind::of(path) {
        _ if checkpoint.is_file() => tensors(&checkpoint),
        Some(Kind::Comparison) => comparison(path),
        Some(Kind::Problem) => problem(path),
        Some(Kind::Run | Kind::Demo) | None => run(path),
    }?;
    if let Some(verified) = verify_all(path)? {
        text.push_str(&files(&verified));
    }
    Ok((text, json))
}

/// What the checksums say.
fn files(verified: &Verified) -> String {
    let gone = match verified.gone.as_slice() {
        [] => String::new(),
        names => format!("; removed since: {}", names.join(", ")),
    };
    format!(
        "  {:<19} {} as they were written{gone}\n",
        "files", verified.whole
    )
}

fn run(path: &Path) -> Outcome<(String, Value)> {
    let summary = load_summary(path)?;
    let mut facts = vec![
        ("input", summary.input.path.clone()),
        ("sources", summary.sources.to_string()),
        ("samples", summary.samples.to_string()),
        ("channels", summary.channels.to_string()),
        ("steps", summary.steps.to_string()),
        ("ended", name(&summary.stop_reason)?),
        ("converged", summary.converged.to_string()),
        ("variance explained", summary.explained_variance.to_string()),
    ];
    facts.extend(
        summary
            .scores
            .as_ref()
            .map(|scores| ("MAC", scores.mac.to_string())),
    );
    if let Some(together) = &summary.input.together {
        let files = together.files.iter().map(|file| {
            let rows = file.rows();
            format!("{} ({} to {})", file.path, rows.start + 1, rows.end)
        });
        let files: Vec<String> = files.collect();
        facts.push(("samples of", files.join(", ")));
    }
    facts.push(("command", summary.command.clone()));
    let text = listed(path, "a finished run of strt", &facts);
    Ok((text, serde_json::to_value(&summary)?))
}

fn comparison(path: &Path) -> Outcome<(String, Value)> {
    let summary: compare::Summary = read_json(&path.join(SUMMARY))?;
    let facts = [
        ("input", summary.input.clone()),
        ("sources", summary.sources.to_string()),
        ("samples", summary.samples.to_string()),
        ("channels", summary.channels.to_string()),
    ];
    let text = listed(path, "methods compared by strt", &facts);
    let text = format!("{text}\n{}", summary.text());
    Ok((text, serde_json::to_value(&summary)?))
}

fn problem(path: &Path) -> Outcome<(String, Value)> {
    let problem: ProblemFile = read_json(&path.join(PROBLEM))?;
    let facts = [
        ("kind", problem.kind.clone()),
        ("mixing", problem.mixing.clone()),
        ("sources", problem.sources.to_string()),
        ("samples", problem.samples.to_string()),
        ("channels", problem.channels.to_string()),
        ("noise", problem.noise.to_string()),
        ("seed", problem.seed.to_string()),
    ];
    let text = listed(path, "a problem generated by strt", &facts);
    Ok((text, serde_json::to_value(&problem)?))
}

/// What a folder is, and facts about it one line each.
fn listed(path: &Path, what: &str, facts: &[(&str, String)]) -> String {
    let mut text = format!("{}: {what}\n", path.display());
    for (name, value) in facts {
        text.push_str(&format!("  {name:<19} {value}\n"));
    }
    text
}

/// A value as it is spelled in JSON, without quotes.
fn name(value: &impl Serialize) -> Outcome<String> {
    Ok(match serde_json::to_value(value)? {
        Value::String(text) => text,
        other => other.to_string(),
    })
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Outcome<T> {
    let problem = |error: &dyn std::fmt::Display| {
        Failure::Failed(format!(
            "{}: expected what strt wrote: {error}; use another copy of the folder",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|error| problem(&error))?;
    serde_json::from_str(&text).map_err(|error| problem(&error))
}

/// A model or a checkpoint.
fn tensors(path: &Path) -> Outcome<(String, Value)> {
    let model_error = match load_model(path) {
        Ok(model) => {
            let (t, k) = model.sources().shape();
            let names = model.channel_names();
            let text = format!(
                "{}: a model of {k} sources, {t} samples, {} channels ({})\n  \
                 mixer {}, {} steps, {}, converged: {}\n  \
                 sources of new rows: {}\n",
                path.display(),
                names.len(),
                names.join(", "),
                name(&model.config().mixer.kind)?,
                model.steps(),
                name(&model.stop_reason())?,
                model.converged(),
                if model.is_a_map() {
                    "a map of the channels"
                } else {
                    "optimised by transform"
                }
            );
            let json = json!({
                "path": path.display().to_string(),
                "format": "model",
                "sources": k,
                "samples": t,
                "channels": names,
                "steps": model.steps(),
                "stop_reason": model.stop_reason(),
                "converged": model.converged(),
                "config": model.config(),
            });
            return Ok((text, json));
        }
        Err(error) => error,
    };
    // Of a file that is neither, the first message is the better one.
    let Ok(SavedRestarts { running, finished }) = load_restarts(path) else {
        return Err(model_error.into());
    };
    let checkpoint = &running[0];
    let (t, m) = checkpoint.shape;
    let k = checkpoint.config.n_sources;
    let steps = checkpoint.config.optimizer.steps.unwrap_or_default();
    let progress: Vec<String> = running
        .iter()
        .map(|checkpoint| {
            format!(
                "restart {} has done {}",
                checkpoint.restart + 1,
                checkpoint.step
            )
        })
        .collect();
    let text = format!(
        "{}: an unfinished run of {k} sources, {t} samples, {m} channels\n  \
         {} of {} restarts have ended; {}, of {steps} steps\n  \
         resume it with `{}`\n",
        path.display(),
        finished.len(),
        checkpoint.config.restarts.unwrap_or(1),
        progress.join(", "),
        resume_command(path.parent().unwrap_or(path))
    );
    let json = json!({
        "path": path.display().to_string(),
        "format": "checkpoint",
        "sources": k,
        "samples": t,
        "channels": m,
        "restarts": checkpoint.config.restarts,
        "finished": finished.len(),
        "running": running
            .iter()
            .map(|checkpoint| json!({ "restart": checkpoint.restart, "step": checkpoint.step }))
            .collect::<Vec<_>>(),
        "steps": steps,
        "config": checkpoint.config,
    });
    Ok((text, json))
}
