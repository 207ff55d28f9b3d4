//! `strt demo`: a case study, from generator to report. Mixed linearly, or nonlinearly with
//! `--mixer mlp`.
//!
//! Case `scales` is like the paper's: T = 1000, K = 3, smooth sources of three time scales. Case
//! `dynamics` is one that classical methods cannot solve: T = 2000, three independent runs of the
//! Lorenz system with the same spectrum and the same Gaussian marginal. It ends with what FastICA,
//! Picard and SOBI make of the recording.

use crate::ending::Ending;
use crate::failure::{Failure, Outcome};
use crate::generate;
use crate::output::{self, note};
use crate::settings::{MixerName, Settings};
use crate::terminal::Terminal;
use crate::wording::PROGRAM;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use strt_classic::{Baseline, Method};
use strt_runs::folder::{Kind, Planned, Replace};
use strt_runs::results::Results;
use strt_runs::results::summary::{Input, Summary};
use strt_runs::training::{Trained, Training};
use strt_runs::{Error, command_text};
use strt_score::{Reference, amari_from_mixing, match_sources};
use strt_synth::{MixingKind, Problem, ProblemSpec, SourceKind};
use strtransformer::{Config, Recording};

/// Seed of problem and run, where none is given.
const SEED: u64 = 4;

/// Methods that the case `dynamics` is compared with.
const CLASSICAL: [&str; 3] = ["fastica", "picard", "sobi"];

/// Which case study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CaseName {
    /// Smooth sources of three time scales, like the paper's
    Scales,
    /// Three runs of one chaotic system, which classical methods cannot tell apart
    Dynamics,
}

#[derive(Args)]
#[command(mut_arg("seed", |arg| arg.help("Seed of the problem and of the run [default: 4]")))]
pub struct Demo {
    /// What is generated
    #[arg(long, value_enum, default_value_t = CaseName::Scales)]
    case: CaseName,
    /// Folder for the results; that of an earlier demo is replaced
    #[arg(long, short, value_name = "DIR", default_value = "strt-demo")]
    out: PathBuf,
    /// Replace the folder of another command too
    #[arg(long)]
    overwrite: bool,
    /// Also write the paper's three figures as SVG and PNG
    #[arg(long)]
    figures: bool,
    #[command(flatten)]
    ending: Ending,
    #[command(flatten)]
    settings: Settings,
}

/// The case study.
struct Case {
    name: CaseName,
    problem: Problem,
    recording: Recording,
    reference: Reference,
    about: String,
}

impl Demo {
    /// Makes the demonstration; `typed` is the command line.
    pub fn run(mut self, typed: &[String]) -> Outcome {
        let seed = *self.settings.seed.get_or_insert(SEED);
        let replace = if self.overwrite {
            Replace::Anything
        } else {
            Replace::SameKind
        };
        let planned = Planned::new(&self.out, Kind::Demo, replace)?;
        let nonlinear = self.settings.mixer == Some(MixerName::Mlp);
        let case = Case::new(self.case, seed, nonlinear)?;
        if !self.ending.quiet && !self.ending.json {
            output::print_line(&format!("Case study: {}", case.about));
        }
        let config = self.settings.resolve(Some(case.reference.n_sources()))?;
        let training = self.training(&case, &config)?;
        let (trained, summary) = planned.fill(|folder| -> Outcome<(Trained, Summary)> {
            let mut terminal = Terminal::new(self.ending.quiet);
            let trained = training.run(&mut terminal, Duration::MAX, |_, _| Ok(()))?;
            if trained.state.is_some() {
                note("interrupted: nothing was written; start the demo again");
                return Err(Failure::Interrupted);
            }
            generate::write_signals_of(&case.problem, folder, &[])?;
            let summary = self.results(&case, &trained, typed).write(folder)?;
            Ok((trained, summary))
        })?;
        self.ending.print(&summary, &self.out)?;
        if self.ending.quiet || self.ending.json {
            return Ok(());
        }
        if let (Some((estimated, _)), Some(mixing)) =
            (trained.separation.mixing(), &case.problem.mixing)
        {
            let amari = amari_from_mixing(estimated.as_ref(), mixing.as_ref())?;
            output::print_line(&format!("\nAmari distance of the mixing: {amari:.4}"));
        }
        if case.name == CaseName::Dynamics {
            case.print_classical();
        }
        Ok(())
    }

    fn training<'a>(&self, case: &'a Case, config: &Config) -> Outcome<Training<'a>> {
        let training = Training::new(&case.recording, Some(&case.reference), config, 10);
        Ok(training.map_err(Error::of_run(self.out.display()))?)
    }

    fn results<'a>(&self, case: &'a Case, trained: &'a Trained, typed: &[String]) -> Results<'a> {
        let input = Input {
            format: "generated".into(),
            notes: vec![case.about.clone()],
            ..Input::in_memory("case study", &case.recording)
        };
        Results {
            command: command_text(typed),
            reference: Some(("generated with the recording".into(), &case.reference)),
            figures: self.figures,
            caller: &PROGRAM,
            ..Results::new(&case.recording, &trained.separation, &trained.log, input)
        }
    }
}

impl Case {
    fn new(name: CaseName, seed: u64, nonlinear: bool) -> Outcome<Case> {
        let mixing = if nonlinear {
            MixingKind::Mlp2
        } else {
            MixingKind::Linear
        };
        let spec = match name {
            CaseName::Scales => ProblemSpec {
                kind: SourceKind::Gp,
                mixing,
                seed,
                ..ProblemSpec::default()
            },
            CaseName::Dynamics => ProblemSpec {
                kind: SourceKind::Lorenz,
                mixing,
                n_samples: 2000,
                n_sources: 3,
                n_channels: 5,
                noise: 0.01,
                seed,
            },
        };
        let sources = match name {
            CaseName::Scales => {
                "smooth sources (Gaussian processes, length-scales 6, 20 and 70 samples)"
            }
            CaseName::Dynamics => {
                "independent runs of the Lorenz system (each made Gaussian by ranks, so that all \
                 have the same spectrum and the same distribution)"
            }
        };
        let problem = spec.generate()?;
        let (recording, reference) = (problem.recording()?, problem.reference()?);
        let about = format!(
            "{} {sources}, {} samples, mixed {} into {} channels, noise {}, seed {seed}",
            reference.n_sources(),
            recording.n_samples(),
            if nonlinear {
                "by a perceptron of two layers"
            } else {
                "linearly"
            },
            recording.n_channels(),
            spec.noise,
        );
        Ok(Case {
            name,
            problem,
            recording,
            reference,
            about,
        })
    }

    /// What classical methods make of the recording, one line each.
    fn print_classical(&self) {
        output::print_line("\nMAC of classical methods on this recording");
        for name in CLASSICAL {
            let found = match self.classical(name) {
                Ok(mac) => format!("{mac:.4}"),
                // A method that cannot do it is an answer too.
                Err(failure) => format!("failed: {failure}"),
            };
            output::print_line(&format!("{name:<8} {found}"));
        }
    }

    fn classical(&self, name: &str) -> Outcome<f64> {
        let n_sources = self.reference.n_sources();
        let found = Baseline::parse(name)?.separate(&self.recording, n_sources)?;
        Ok(match_sources(found.sources(), &self.reference)?.mac())
    }
}
