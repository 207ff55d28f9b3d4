//! `strt info`: what a file or a folder holds, without separating anything.

use crate::failure::{Failure, Outcome};
use crate::input::InputOptions;
use crate::output;
use crate::table::table;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use strt_io::{inspect, load_checkpoint, load_model};
use strt_runs::folder::{CHECKPOINT, SUMMARY};

#[derive(Args)]
pub struct Info {
    /// A recording, a model, a checkpoint, or the folder of a run
    file: PathBuf,
    /// Print JSON instead of words
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: InputOptions,
}

impl Info {
    pub fn run(self) -> Outcome {
        let is_tensors = self
            .file
            .extension()
            .is_some_and(|ending| ending == "safetensors");
        let (words, json) = if self.file.is_dir() {
            folder(&self.file)?
        } else if is_tensors {
            tensors(&self.file)?
        } else {
            self.recording()?
        };
        match self.json {
            true => output::print_line(&serde_json::to_string_pretty(&json)?),
            false => output::print(&words),
        }
        Ok(())
    }

    fn recording(&self) -> Outcome<(String, Value)> {
        let found = inspect(&self.file, &self.reading.reading())?;
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

/// The folder of a run: its summary, or how far it has come.
fn folder(path: &Path) -> Outcome<(String, Value)> {
    if path.join(CHECKPOINT).is_file() {
        return tensors(&path.join(CHECKPOINT));
    }
    let summary = path.join(SUMMARY);
    let text = std::fs::read_to_string(&summary).map_err(|error| {
        Failure::Failed(format!(
            "{}: expected the folder of a run, with {SUMMARY}: {error}; give a recording, a model or such a folder",
            path.display()
        ))
    })?;
    let json: Value = serde_json::from_str(&text).map_err(|error| {
        Failure::Failed(format!(
            "{}: expected what strt wrote: {error}",
            summary.display()
        ))
    })?;
    let facts = [
        ("input", &json["input"]["path"]),
        ("sources", &json["sources"]),
        ("samples", &json["samples"]),
        ("channels", &json["channels"]),
        ("steps", &json["steps"]),
        ("ended", &json["stop_reason"]),
        ("converged", &json["converged"]),
        ("variance explained", &json["explained_variance"]),
        ("MAC", &json["scores"]["mac"]),
        ("command", &json["command"]),
    ];
    let mut words = format!("{}: a finished run of strt\n", path.display());
    for (name, value) in facts.into_iter().filter(|(_, value)| !value.is_null()) {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        words.push_str(&format!("  {name:<19} {value}\n"));
    }
    Ok((words, json))
}

/// A model or a checkpoint.
fn tensors(path: &Path) -> Outcome<(String, Value)> {
    let model_error = match load_model(path) {
        Ok(model) => {
            let (t, k) = model.sources().shape();
            let names = &model.parts().channel_names;
            let words = format!(
                "{}: a model of {k} sources, {t} samples, {} channels ({})\n  mixer {:?}, {} steps, {:?}, converged: {}\n  sources of new rows: {}\n",
                path.display(),
                names.len(),
                names.join(", "),
                model.config().mixer.kind,
                model.steps(),
                model.stop_reason(),
                model.converged(),
                match model.is_a_map() {
                    true => "a map of the channels",
                    false => "optimised by transform",
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
            return Ok((words, json));
        }
        Err(error) => error,
    };
    // Of a file that is neither, the first message is the better one.
    let Ok(checkpoint) = load_checkpoint(path) else {
        return Err(model_error.into());
    };
    let (t, m) = checkpoint.shape;
    let k = checkpoint.config.n_sources;
    let steps = checkpoint.config.optimizer.steps.unwrap_or_default();
    let words = format!(
        "{}: an unfinished run of {k} sources, {t} samples, {m} channels\n  restart {} of {}, {} of {steps} steps done\n  \
         continue it with `strt separate --resume` and its folder\n",
        path.display(),
        checkpoint.restart + 1,
        checkpoint.config.restarts,
        checkpoint.step
    );
    let json = json!({
        "path": path.display().to_string(),
        "format": "checkpoint",
        "sources": k,
        "samples": t,
        "channels": m,
        "restart": checkpoint.restart,
        "restarts": checkpoint.config.restarts,
        "step": checkpoint.step,
        "steps": steps,
        "config": checkpoint.config,
    });
    Ok((words, json))
}
