//! `strt-lab speed`: how fast the training loop is, how it grows, and what PyTorch needs for the
//! same step.
//!
//! In: which sections to measure. Out: one table per section on stdout, or one JSON object;
//! progress on stderr. A section that needs a tool which is not there (Python with PyTorch,
//! valgrind, /proc) says so and how to get it; a comparison whose two sides do not compute the same
//! thing ends the program with status 1.
//!
//! One file a section; `setting` makes the problems, `timing` takes the times, `machine` says where
//! they were taken. `worker`, `tensors` and `check` are the comparison with PyTorch, whose other
//! half is in `benchmarks/`.

mod check;
mod child;
mod drawn;
mod engine_step;
mod instructions;
mod length;
mod machine;
mod memory;
mod rate;
mod setting;
mod sources;
mod step;
mod tensors;
mod timing;
mod worker;

pub use child::Child;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::path::PathBuf;
use worker::Worker;

/// Time, arithmetic rate and memory of the training loop, also against PyTorch.
///
/// Sections: step (one training step of the case study, against PyTorch), rate (arithmetic rate
/// against a matrix product), length (step time against the length of the recording), memory (peak
/// memory of a long recording), sources (step time per source), instructions (instructions of one
/// step, counted by valgrind).
#[derive(Args)]
pub struct Speed {
    /// Sections to measure, separated by commas or spaces [default: all]
    #[arg(long, value_enum, value_name = "SECTION", value_delimiter = ',', num_args = 1..)]
    only: Vec<Section>,
    /// Rounds; in each of them everything that is compared runs once, in turn
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeats: u16,
    /// Numbers of threads
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "1,2",
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    threads: Vec<u16>,
    /// Python with PyTorch [default: benchmarks/.venv/bin/python if it is there, else python3]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Also time torch.compile, which needs a C++ compiler and minutes
    #[arg(long)]
    compile: bool,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Section {
    /// One training step of the case study, against PyTorch
    Step,
    /// Arithmetic rate of the step against a matrix product
    Rate,
    /// Step time against the length of the recording
    Length,
    /// Peak memory of a long recording
    Memory,
    /// Step time per source
    Sources,
    /// Instructions of one step, counted by valgrind
    Instructions,
}

/// What a section found.
struct Report {
    /// For people: tables and sentences.
    text: String,
    /// For programs: these figures, and the single measurements behind them.
    json: Value,
    /// Why the comparison does not hold, when it does not.
    failure: Option<String>,
}

impl Report {
    fn new(text: String, json: Value) -> Report {
        Report {
            text,
            json,
            failure: None,
        }
    }
}

/// What all sections share.
struct Context {
    repeats: usize,
    threads: Vec<usize>,
    compile: bool,
    /// The PyTorch process, or why there is none.
    worker: Result<Worker, String>,
}

impl Speed {
    pub fn run(self) -> Result<(), Box<dyn Error>> {
        let sections: Vec<Section> = Section::value_variants()
            .iter()
            .copied()
            .filter(|section| self.only.is_empty() || self.only.contains(section))
            .collect();
        let compares = |section: &Section| matches!(section, Section::Step | Section::Rate);
        let mut context = Context {
            repeats: self.repeats.into(),
            threads: self.threads.iter().map(|&n| n.into()).collect(),
            compile: self.compile,
            worker: if sections.iter().any(compares) {
                Worker::start(self.python.as_deref())
            } else {
                Err("not needed for these sections".into())
            },
        };
        let machine = machine::Machine::look(&context.worker);
        if !self.json {
            print!("{}", machine.text());
        }
        let (mut found, mut failures) = (Map::new(), Vec::new());
        for section in sections {
            let name = format!("{section:?}").to_lowercase();
            eprintln!("measuring {name}");
            let report = section.measure(&mut context)?;
            failures.extend(report.failure.map(|why| format!("{name}: {why}")));
            if self.json {
                _ = found.insert(name, report.json)
            } else {
                print!("\n{}", report.text)
            }
        }
        if self.json {
            let object =
                json!({ "machine": machine.json(), "repeats": self.repeats, "sections": found });
            println!("{}", serde_json::to_string_pretty(&object)?);
        }
        if failures.is_empty() {
            Ok(())
        } else {
            Err(failures.join("\n").into())
        }
    }
}

impl Section {
    fn measure(self, context: &mut Context) -> Result<Report, Box<dyn Error>> {
        match self {
            Section::Step => step::measure(context),
            Section::Rate => rate::measure(context),
            Section::Length => length::measure(context),
            Section::Memory => memory::measure(),
            Section::Sources => sources::measure(context),
            Section::Instructions => instructions::measure(),
        }
    }
}
