//! `strt info`: what a file or a folder holds, without separating anything.

use crate::compare;
use crate::failure::{Failure, Outcome};
use crate::generate::{PROBLEM, ProblemFile};
use crate::output;
use crate::table::table;
use crate::wording::resume_command;
use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use strt_io::{ReadOptions, SavedRestarts, inspect, load_model, load_restarts};
use strt_runs::folder::{CHECKPOINT, Kind, SUMMARY, Verified, verify_all};
use strt_runs::load_summary;

#[derive(Args)]
pub struct Info {
    /// A recording, a model, a checkpoint, or the folder of a run
    file: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadOptions,
}

impl Info {
    pub fn run(self) -> Outcome {
        let is_tensors = self
            .file
            .extension()
            .is_some_and(|ending| ending == "safetensors");
        let (text, json) = if self.file.is_dir() {
            folder(&self.file)?
        } else if is_tensors {
            tensors(&self.file)?
        } else {
            self.recording()?
        };
        if self.json {
            output::print_line(&serde_json::to_string_pretty(&json)?);
        } else {
            output::print(&text);
        }
        Ok(())
    }

    fn recording(&self) -> Outcome<(String, Value)> {
        let found = inspect(&self.file, &self.reading)?;
        let mut text = format!("{}: {}\n", self.file.display(), found.format);
        for note in &found.notes {
            text.push_str(&format!("  {note}\n"));
        }
        let array = |variable: &strt_io::Variable| {
            vec![variable.name.clone(), format!("{:?}", variable.shape)]
        };
        if !found.variables.is_empty() {
            let rows: Vec<Vec<String>> = found.variables.iter().map(array).collect();
            text.push_str(&format!("\n{}", table(&["array", "shape"], &rows)));
        }
        if found.channels.is_empty() {
            text.push_str("\nSeveral arrays: choose the recording with --variable\n");
        } else {
            let dash = || "-".to_string();
            let row = |(i, channel): (usize, &strt_io::ChannelSummary)| {
                vec![
                    (i + 1).to_string(),
                    channel.name.clone(),
                    channel.n_samples.to_string(),
                    channel
                        .sampling_rate
                        .map_or_else(dash, |rate| format!("{rate} Hz")),
                    channel.unit.clone().unwrap_or_else(dash),
                    channel.left_out.unwrap_or("").to_string(),
                ]
            };
            let rows: Vec<Vec<String>> = found.channels.iter().enumerate().map(row).collect();
            let header = ["channel", "name", "samples", "rate", "unit", ""];
            text.push_str(&format!("\n{}", table(&header, &rows)));
        }
        let json = json!({
            "path": self.file.display().to_string(),
            "format": found.format.to_string(),
            "channels": found.channels.iter().map(|channel| json!({
                "name": channel.name,
                "samples": channel.n_samples,
                "sampling_rate": channel.sampling_rate,
                "unit": channel.unit,
                "left_out": channel.left_out,
            })).collect::<Vec<_>>(),
            "arrays": found.variables.iter().map(|variable| json!({
                "name": variable.name,
                "shape": variable.shape,
            })).collect::<Vec<_>>(),
            "notes": found.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        Ok((text, json))
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
