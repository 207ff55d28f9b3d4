//! `strt demo`: a case study like the paper's (T = 1000, K = 3, smooth sources of three time
//! scales, affine mixing), from generator to report.

use crate::ending::words;
use crate::failure::{Failure, Outcome};
use crate::generate;
use crate::output::{self, note};
use crate::terminal::Terminal;
use crate::words::WORDS;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use strt_runs::folder::{Folder, Kind, Replace};
use strt_runs::results::Results;
use strt_runs::results::summary::Input;
use strt_runs::run::Run;
use strt_runs::{Error, command_text};
use strt_score::amari_from_mixing;
use strt_synth::{ProblemSpec, SourceKind};
use strtransformer::Config;

#[derive(Args)]
pub struct Demo {
    /// Folder for the results; that of an earlier demo is replaced
    #[arg(long, short, value_name = "DIR", default_value = "strt-demo")]
    out: PathBuf,
    /// Replace the folder of another command too
    #[arg(long)]
    overwrite: bool,
    /// Also write the paper's three figures as SVG and PNG
    #[arg(long)]
    figures: bool,
    /// Seed of the problem and of the run
    #[arg(long, default_value_t = 4)]
    seed: u64,
    /// Training steps [default: chosen by the library]
    #[arg(long)]
    steps: Option<usize>,
    /// Worker threads; 0 takes all cores. The result is the same for any number
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Show nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Print summary.json instead of words
    #[arg(long)]
    json: bool,
}

impl Demo {
    /// Makes the demonstration; `typed` is the command line.
    pub fn run(self, typed: &[String]) -> Outcome {
        let replace = match self.overwrite {
            true => Replace::Anything,
            false => Replace::SameKind,
        };
        let mut folder = Folder::plan(&self.out, Kind::Demo, replace)?;
        let spec = ProblemSpec {
            kind: SourceKind::Gp,
            seed: self.seed,
            ..ProblemSpec::default()
        };
        let problem = spec.generate()?;
        let (recording, reference) = (problem.recording()?, problem.reference()?);
        let k = reference.n_sources();
        let about = format!(
            "{k} smooth sources (Gaussian processes, length-scales 6, 20 and 70 samples), {} samples, mixed linearly into {} \
             channels, noise {}, seed {}",
            recording.n_samples(),
            recording.n_channels(),
            spec.noise,
            spec.seed
        );
        if !self.quiet && !self.json {
            output::print_line(&format!("Case study: {about}"));
        }
        let mut config = Config::new(k);
        (config.seed, config.threads, config.optimizer.steps) =
            (self.seed, self.threads, self.steps);
        let run = Run::new(&recording, Some(&reference), &config, 10)
            .map_err(Error::of_run(self.out.display()))?;

        folder.begin()?;
        let done = || -> Outcome<_> {
            let ended = run.train(&mut Terminal::new(self.quiet), Duration::MAX, |_, _| Ok(()))?;
            if ended.state.is_some() {
                note("interrupted: nothing was written; start the demo again");
                return Err(Failure::Interrupted);
            }
            generate::write_signals_of(&problem, folder.working(), &[])?;
            let results = Results {
                recording: &recording,
                separation: &ended.separation,
                log: &ended.log,
                input: Input {
                    format: "generated".into(),
                    notes: vec![about],
                    ..Input::in_memory("case study", &recording)
                },
                input_warnings: Vec::new(),
                command: command_text(typed),
                reference: Some(("generated with the recording".into(), &reference)),
                source_count: None,
                formats: &[],
                figures: self.figures,
                words: &WORDS,
            };
            Ok((results.write(folder.working())?, ended))
        };
        let (summary, ended) = match done() {
            Ok(done) => done,
            Err(failure) => {
                folder.discard();
                return Err(failure);
            }
        };
        folder.publish()?;
        if self.json {
            output::print_line(&serde_json::to_string_pretty(&summary)?);
        } else if !self.quiet {
            output::print(&format!("\n{}", words(&summary, &self.out)));
            if let (Some((estimated, _)), Some(mixing)) =
                (ended.separation.mixing(), &problem.mixing)
            {
                let amari = amari_from_mixing(estimated.as_ref(), mixing.as_ref())?;
                output::print_line(&format!("\nAmari distance of the mixing: {amari:.4}"));
            }
        }
        Ok(())
    }
}
