//! `strt demo`: a case study like the paper's (T = 1000, K = 3, smooth sources of three time scales, affine mixing), from
//! generator to score.

use crate::table::table;
use clap::Args;
use std::error::Error;
use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::Instant;
use strtransformer::evaluate::{amari_from_mixing, match_sources};
use strtransformer::synth::{ProblemSpec, SourceKind};
use strtransformer::train::{Start, StepReport, StopReason, separate_observed};
use strtransformer::{Config, Separation};

#[derive(Args)]
pub struct Demo {
    /// Seed of the problem and of the run
    #[arg(long, default_value_t = 4)]
    seed: u64,
    /// Training steps [default: chosen by the library]
    #[arg(long)]
    steps: Option<usize>,
    /// Worker threads; 0 takes all cores. The result is the same for any number
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

impl Demo {
    pub fn run(self) -> Result<(), Box<dyn Error>> {
        let spec = ProblemSpec {
            kind: SourceKind::Gp,
            seed: self.seed,
            ..ProblemSpec::default()
        };
        let problem = spec.generate()?;
        let (t, m) = problem.observations.shape();
        let k = problem.sources.ncols();
        println!("Case study: {k} smooth sources (Gaussian processes, length-scales 6, 20 and 70 samples),");
        println!(
            "{t} samples, mixed linearly into {m} channels, noise {}, seed {}",
            spec.noise, spec.seed
        );

        let mut config = Config::new(k);
        (config.seed, config.threads, config.optimizer.steps) = (self.seed, self.threads, self.steps);
        let began = Instant::now();
        let mut progress = Progress::new();
        let separation = separate_observed(
            &problem.recording()?,
            &config,
            Start::default(),
            &mut |report: &StepReport<'_>| {
                progress.show(report);
                ControlFlow::Continue(())
            },
        )?;
        progress.end();
        let seconds = began.elapsed().as_secs_f64();

        let matching = match_sources(separation.sources(), &problem.reference()?)?;
        let controller = separation.controller();
        let rows: Vec<Vec<String>> = (0..k)
            .map(|branch| {
                vec![
                    format!("{}", branch + 1),
                    format!("{:.1}", controller.expected_patch[branch]),
                    format!("{:.3}", controller.slopes[branch]),
                    matching.matched()[branch].map_or("-".into(), |source| format!("{}", source + 1)),
                    format!("{:.4}", matching.per_source()[branch]),
                ]
            })
            .collect();
        println!();
        print!(
            "{}",
            table(
                &[
                    "branch",
                    "expected patch",
                    "slope",
                    "true source",
                    "|correlation|"
                ],
                &rows
            )
        );
        println!();
        println!("mean absolute correlation (MAC)  {:.4}", matching.mac());
        if let (Some((estimated, _)), Some(mixing)) = (separation.mixing(), &problem.mixing) {
            println!(
                "Amari distance of the mixing     {:.4}",
                amari_from_mixing(estimated.as_ref(), mixing.as_ref())?
            );
        }
        println!(
            "objective                        {:.4}",
            separation.smoothed_objective()
        );
        println!(
            "{} steps in {seconds:.1} s ({:.0} steps/s)",
            separation.steps(),
            separation.steps() as f64 / seconds
        );
        println!("{}", ending(&separation));
        Ok(())
    }
}

/// Why the run ended and what that means, in words.
pub fn ending(separation: &Separation) -> String {
    let why = match separation.stop_reason() {
        StopReason::Plateau => "stopped: the objective no longer improved",
        StopReason::StepLimit => "stopped: all steps taken",
        StopReason::Interrupted => "stopped: interrupted",
        StopReason::Diverged => "stopped: the objective was no longer finite; try smaller learning rates",
    };
    let converged = match separation.converged() {
        true => "converged: yes",
        false => "converged: no, the objective was still improving; more steps may help",
    };
    format!("{why}\n{converged}")
}

/// One line on a terminal that is written over, nothing elsewhere.
struct Progress {
    on: bool,
}

impl Progress {
    fn new() -> Progress {
        Progress {
            on: std::io::stderr().is_terminal(),
        }
    }

    fn show(&mut self, report: &StepReport<'_>) {
        if self.on && (report.step.is_multiple_of(20) || report.step == report.steps) {
            let line = format!(
                "\rstep {}/{}  objective {:.3}",
                report.step, report.steps, report.smoothed_objective
            );
            // Progress is a courtesy: a closed stderr must not end the run.
            let _ = write!(std::io::stderr(), "{line}");
        }
    }

    fn end(&self) {
        if self.on {
            let _ = writeln!(std::io::stderr());
        }
    }
}
