//! Several runs in one call: one after the other, whatever becomes of each, and a table in the end.
//!
//! In: what to do for each run. Out: the table, and a failure where any run failed. A run that
//! failed does not keep the others from being made; an interruption ends the call, and the same
//! command takes it up. Also here: which folder each of several recordings gets.

use crate::failure::{Failure, Outcome};
use crate::output::{self, note};
use crate::table::table;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use strt_runs::Contents;
use strt_runs::results::summary::Summary;

/// One run of several.
pub struct Job {
    /// The recording, or the pieces of it.
    pub files: Vec<PathBuf>,
    /// The folder of the run.
    pub target: PathBuf,
}

impl Job {
    /// What to call what it works on.
    pub fn name(&self) -> String {
        let first = self.files[0].display();
        match self.files.len() {
            1 => first.to_string(),
            n => format!("{first} and {} more", n - 1),
        }
    }
}

/// What became of a run.
pub enum Happened {
    Made(Box<Contents>),
    /// An earlier call has made it.
    There(Box<Contents>),
}

impl Happened {
    pub fn contents(&self) -> &Contents {
        match self {
            Happened::Made(contents) | Happened::There(contents) => contents,
        }
    }
}

/// What a call shows.
#[derive(Clone, Copy)]
pub struct Shown {
    pub quiet: bool,
    pub json: bool,
}

/// Does every job and tells what happened.
pub fn all(jobs: &[Job], shown: Shown, run: impl Fn(&Job) -> Outcome<Happened>) -> Outcome {
    let mut lines: Vec<Line> = Vec::with_capacity(jobs.len());
    for (i, job) in jobs.iter().enumerate() {
        if !shown.quiet {
            note(&format!("\n{} of {}: {}", i + 1, jobs.len(), job.name()));
        }
        let line = match run(job) {
            Ok(Happened::Made(run)) => Line::of(job, "made", &run),
            Ok(Happened::There(run)) => Line::of(job, "made before", &run),
            Err(Failure::Interrupted) => Line::without(job, "interrupted", None),
            Err(failure) => {
                failure.report();
                Line::without(job, "failed", Some(failure.to_string()))
            }
        };
        let is_interrupted = line.state == "interrupted";
        lines.push(line);
        if is_interrupted {
            let left = jobs[i + 1..].iter();
            lines.extend(left.map(|job| Line::without(job, "not begun", None)));
            break;
        }
    }
    if shown.json {
        let all: Vec<Value> = lines.iter().map(Line::json).collect();
        output::print_line(&serde_json::to_string_pretty(&all)?);
    } else if !shown.quiet {
        let header = [
            "recording",
            "",
            "sources",
            "variance",
            "converged",
            "results",
        ];
        let rows: Vec<Vec<String>> = lines.iter().map(Line::cells).collect();
        output::print(&format!("\n{}", table(&header, &rows)));
    }
    ended(&lines)
}

fn ended(lines: &[Line]) -> Outcome {
    if lines.iter().any(|line| line.state == "interrupted") {
        note("interrupted: the same command does what is left");
        return Err(Failure::Interrupted);
    }
    match lines.iter().filter(|line| line.state == "failed").count() {
        0 => Ok(()),
        failed => Err(Failure::Failed(format!(
            "{failed} of {} runs failed, for the reasons above; when these are gone, the same \
             command makes them",
            lines.len()
        ))),
    }
}

/// What is told of one run.
struct Line {
    name: String,
    files: Vec<String>,
    target: PathBuf,
    state: &'static str,
    error: Option<String>,
    summary: Option<Summary>,
}

impl Line {
    fn of(job: &Job, state: &'static str, run: &Contents) -> Line {
        Line {
            summary: Some(run.summary.clone()),
            ..Line::without(job, state, None)
        }
    }

    fn without(job: &Job, state: &'static str, error: Option<String>) -> Line {
        let files = job.files.iter().map(|file| file.display().to_string());
        Line {
            name: job.name(),
            files: files.collect(),
            target: job.target.clone(),
            state,
            error,
            summary: None,
        }
    }

    fn cells(&self) -> Vec<String> {
        let known = |text: &dyn Fn(&Summary) -> String| {
            self.summary.as_ref().map_or_else(|| "-".into(), text)
        };
        vec![
            self.name.clone(),
            self.state.into(),
            known(&|summary| summary.sources.to_string()),
            known(&|summary| format!("{:.1} %", 100.0 * summary.explained_variance)),
            known(&|summary| if summary.converged { "yes" } else { "no" }.into()),
            match self.summary {
                Some(_) => self.target.display().to_string(),
                None => "-".into(),
            },
        ]
    }

    fn json(&self) -> Value {
        json!({
            "files": self.files,
            "results": self.target.display().to_string(),
            "state": self.state,
            "error": self.error,
            "summary": self.summary,
        })
    }
}

/// Names of folders for the results of files: that of the file; where several have it, with those
/// of the folders that tell them apart; where that is not enough, with the ending too.
pub fn folder_names(files: &[PathBuf]) -> Vec<String> {
    let shared = shared_folders(files);
    let stem = |path: &Path| {
        let name = path.file_stem().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let with_folders = |path: &Path| {
        let parent = path.parent().unwrap_or(Path::new(""));
        let parts = parent.components().skip(shared);
        let parts = parts.map(|part| part.as_os_str().to_string_lossy().into_owned());
        let all: Vec<String> = parts.chain([stem(path)]).collect();
        all.join("-")
    };
    let with_ending = |path: &Path| match path.extension() {
        Some(ending) => format!("{}.{}", with_folders(path), ending.to_string_lossy()),
        None => with_folders(path),
    };
    let names: [Vec<String>; 3] = [
        files.iter().map(|path| stem(path)).collect(),
        files.iter().map(|path| with_folders(path)).collect(),
        files.iter().map(|path| with_ending(path)).collect(),
    ];
    let is_alone =
        |names: &[String], i: usize| names.iter().filter(|name| **name == names[i]).count() == 1;
    let chosen = |i: usize| {
        let first = names[..2].iter().find(|names| is_alone(names, i));
        first.unwrap_or(&names[2])[i].clone()
    };
    (0..files.len())
        .map(|i| format!("{}.strt", chosen(i)))
        .collect()
}

/// How many folders all files have in common.
fn shared_folders(files: &[PathBuf]) -> usize {
    let folders = |path: &Path| -> Vec<PathBuf> {
        let parent = path.parent().unwrap_or(Path::new(""));
        parent
            .components()
            .map(|part| PathBuf::from(part.as_os_str()))
            .collect()
    };
    let all: Vec<Vec<PathBuf>> = files.iter().map(|file| folders(file)).collect();
    let Some(first) = all.first() else { return 0 };
    let is_shared = |&i: &usize| all.iter().all(|other| other.get(i) == Some(&first[i]));
    (0..first.len()).take_while(is_shared).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[&str], expected: &[&str]) {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        assert_eq!(folder_names(&files), expected);
    }

    #[test]
    fn folders_are_named_after_what_tells_the_files_apart() {
        check(&["data/a.edf", "data/b.edf"], &["a.strt", "b.strt"]);
        check(
            &["x/s1/rec.edf", "x/s2/rec.edf", "x/s2/other.edf"],
            &["s1-rec.strt", "s2-rec.strt", "other.strt"],
        );
        check(&["a.edf", "a.csv"], &["a.edf.strt", "a.csv.strt"]);
    }
}
