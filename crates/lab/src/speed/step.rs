//! Section `step`: one training step of the case study, here and in PyTorch, taken in turn.

use super::check::{Check, check};
use super::drawn::DrawnStep;
use super::timing::{Entrant, Times, ms, steps_per_turn};
use super::worker::Worker;
use super::{Context, Report, setting, tensors};
use serde_json::{Value, json};
use std::error::Error;
use strt_cli::table::table;
use strtransformer::{Config, Recording, Trainer};

/// Form of the PyTorch program and what the table calls it.
const FORMS: [(&str, &str); 4] = [
    ("loop", "PyTorch, loop over branches"),
    ("batched", "PyTorch, batched over sources"),
    ("masked", "PyTorch, batched, last layer where masked"),
    ("compiled", "PyTorch, the same with torch.compile"),
];

/// Steps taken before the one that is compared, so that no bias is zero any more and hides an
/// error.
const STEPS_BEFORE: usize = 20;

/// One program at one number of threads.
struct Line {
    name: &'static str,
    threads: usize,
    form: Option<&'static str>,
    times: Times,
    /// Median of each turn over that of strt's turn just before.
    ratios: Times,
    attention: String,
    /// Why it could not run.
    trouble: Option<String>,
}

pub fn measure(context: &mut Context) -> Result<Report, Box<dyn Error>> {
    let recording = setting::case_study()?;
    type Make = fn(usize, usize) -> Config;
    let settings: [(&str, &str, Make); 2] = [
        (
            "case_study",
            "stride P, slopes 1 to 0.02",
            setting::config as Make,
        ),
        (
            "dense",
            "stride P/2, slopes 0.02",
            setting::dense_config as Make,
        ),
    ];
    let mut text = String::from(
        "step: one training step (draw, J and its gradient, Adam), T = 1000, K = 3, m = 6, P = 4, \
         8, 16, 32, 64,\n\
         d = 32, H = 4, L = 2, 40 % masked. Ratio (best): best step over strt's; ratio (turns): \
         the median step of a turn over\n\
         that of strt's turn just before, median over the rounds\n",
    );
    let (mut object, mut failures) = (serde_json::Map::new(), Vec::new());
    for (name, title, make) in settings {
        eprintln!("  {title}");
        let config = |threads| make(3, threads);
        let (body, value, failure) = measure_setting(context, &recording, &config)?;
        text.push_str(&format!("\n{title}\n{body}"));
        object.insert(name.into(), value);
        failures.extend(failure);
    }
    Ok(Report {
        text,
        json: object.into(),
        failure: (!failures.is_empty()).then(|| failures.join("\n")),
    })
}

/// Text, JSON and failure of one setting.
type Found = (String, Value, Option<String>);

fn measure_setting(
    context: &mut Context,
    recording: &Recording,
    config: &dyn Fn(usize) -> Config,
) -> Result<Found, Box<dyn Error>> {
    let threads = context.threads.clone();
    let mut entrants: Vec<Entrant> = Vec::new();
    for &n in &threads {
        entrants.push(Entrant::new(Trainer::new(recording, &config(n))?));
    }
    let mut text = String::new();
    let mut json = serde_json::Map::new();
    let mut failure = None;
    let mut lines: Vec<Line> = Vec::new();
    match &mut context.worker {
        Ok(worker) => {
            let checked = compare(worker, recording, &config(threads[0]), context.compile)?;
            text.push_str(&checked.text());
            failure = (!checked.failures.is_empty()).then(|| checked.failures.join("\n"));
            json.insert("check".into(), checked.json);
            lines = torch_lines(&threads, context.compile);
        }
        Err(why) => {
            text.push_str(&format!("Not compared with PyTorch: {why}.\n"));
            json.insert("not_compared".into(), why.as_str().into());
        }
    }
    for round in 1..=context.repeats {
        eprintln!("  round {round}/{}", context.repeats);
        let Ok(worker) = &mut context.worker else {
            entrants.iter_mut().for_each(|entrant| _ = entrant.run());
            continue;
        };
        for line in &mut lines {
            let at = threads.iter().position(|&n| n == line.threads);
            let ours = at.map_or(f64::NAN, |at| entrants[at].run());
            line.turn(worker, ours);
        }
    }
    let ours = entrants.into_iter().zip(&threads).map(|(e, &n)| Line {
        times: e.times,
        ..Line::new("strt", n, None)
    });
    let lines: Vec<Line> = ours.chain(lines).collect();
    text.push_str(&summary(&lines));
    json.insert("times".into(), lines.iter().map(Line::json).collect());
    Ok((text, json.into(), failure))
}

/// Hands one drawn step to the worker and compares what both sides make of it.
fn compare(
    worker: &mut Worker,
    recording: &Recording,
    config: &Config,
    compile: bool,
) -> Result<Check, Box<dyn Error>> {
    let drawn = DrawnStep::record(recording, config, STEPS_BEFORE)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("step.safetensors");
    tensors::write(&drawn, &path)?;
    worker.ask(&json!({ "command": "load", "path": path }))?;
    let forms: Vec<&str> = forms(compile).map(|(form, _)| form).collect();
    Ok(check(worker, &forms, &drawn.result)?)
}

fn forms(compile: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    FORMS
        .into_iter()
        .filter(move |(form, _)| compile || *form != "compiled")
}

fn torch_lines(threads: &[usize], compile: bool) -> Vec<Line> {
    forms(compile)
        .flat_map(|(form, name)| threads.iter().map(move |&n| Line::new(name, n, Some(form))))
        .collect()
}

impl Line {
    fn new(name: &'static str, threads: usize, form: Option<&'static str>) -> Line {
        Line {
            name,
            threads,
            form,
            times: Times::default(),
            ratios: Times::default(),
            attention: String::new(),
            trouble: None,
        }
    }

    /// One turn of a PyTorch program; the first one also tunes and warms it up.
    fn turn(&mut self, worker: &mut Worker, ours: f64) {
        let (Some(form), None) = (self.form, &self.trouble) else {
            return;
        };
        let steps = match self.times.median() {
            unknown if unknown.is_nan() => 3,
            median => steps_per_turn(median),
        };
        match worker.time(form, self.threads, steps) {
            Ok((seconds, attention)) => {
                let turn = Times(seconds);
                self.ratios.extend([turn.median() / ours]);
                self.times.extend(turn.0);
                self.attention = attention;
            }
            Err(why) => {
                eprintln!("  {}: {why}", self.name);
                self.trouble = Some(why);
            }
        }
    }

    fn json(&self) -> Value {
        json!({
            "program": self.name, "threads": self.threads, "attention": self.attention,
            "times": self.times.json(), "ratio_turns": self.ratios.median(),
            "trouble": self.trouble,
        })
    }
}

fn summary(lines: &[Line]) -> String {
    let ours = |threads: usize| {
        lines
            .iter()
            .find(|l| l.form.is_none() && l.threads == threads)
    };
    let row = |line: &Line| {
        let mut row = vec![line.name.to_string(), line.threads.to_string()];
        match (&line.trouble, ours(line.threads)) {
            (Some(_), _) => row.extend(["did not run".into(), String::new()]),
            (None, ours) => {
                row.extend([ms(line.times.best()), ms(line.times.median())]);
                if let (Some(ours), Some(_)) = (ours, line.form) {
                    row.push(format!("{:.1}", line.times.best() / ours.times.best()));
                    row.push(format!("{:.1}", line.ratios.median()));
                    row.push(line.attention.clone());
                }
            }
        }
        row
    };
    let rows: Vec<Vec<String>> = lines.iter().map(row).collect();
    let header = [
        "program",
        "threads",
        "best ms",
        "median ms",
        "ratio (best)",
        "ratio (turns)",
        "attention",
    ];
    table(&header, &rows)
}
