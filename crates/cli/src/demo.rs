//! `strt demo`: a case study like the paper's (T = 1000, K = 3, smooth sources of three time scales, affine mixing), from
//! generator to report.

use crate::failure::{Failure, Outcome};
use crate::folder::{Folder, Kind, Replace};
use crate::generate;
use crate::output::{self, note};
use crate::results::summary::Input;
use crate::results::{Results, this_command, words};
use crate::run::Run;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use strtransformer::Config;
use strtransformer::evaluate::amari_from_mixing;
use strtransformer::synth::{ProblemSpec, SourceKind};

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
    pub fn run(self) -> Outcome {
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
        (config.seed, config.threads, config.optimizer.steps) = (self.seed, self.threads, self.steps);
        let run = Run::new(&recording, Some(&reference), &config, 10).map_err(Failure::of_run(&self.out))?;

        folder.begin()?;
        let done = || -> Outcome<_> {
            let ended = run.train(self.quiet, Duration::MAX, |_, _| Ok(()))?;
            if ended.state.is_some() {
                note("interrupted: nothing was written; start the demo again");
                return Err(Failure::Interrupted);
            }
            generate::write_signals_of(&problem, folder.working(), &[])?;
            let command = this_command();
            let results = Results {
                recording: &recording,
                ended: &ended,
                input: Input {
                    path: "case study".into(),
                    format: "generated".into(),
                    options: Default::default(),
                    channel_names: recording.channel_names().to_vec(),
                    units: vec![None; recording.n_channels()],
                    sampling_rate: None,
                    missing_samples: 0,
                    notes: vec![about],
                },
                input_warnings: Vec::new(),
                command: &command,
                reference: Some(("generated with the recording".into(), &reference)),
                source_count: None,
                formats: &[],
                figures: self.figures,
            };
            Ok((results.write(folder.working())?, ended))
        };
        let (summary, ended) = match done() {
            Ok(done) => done,
            Err(failure) => {
                folder.give_up();
                return Err(failure);
            }
        };
        folder.publish()?;
        if self.json {
            output::print_line(&serde_json::to_string_pretty(&summary)?);
        } else if !self.quiet {
            output::print(&format!("\n{}", words(&summary, &self.out)));
            if let (Some((estimated, _)), Some(mixing)) = (ended.separation.mixing(), &problem.mixing) {
                let amari = amari_from_mixing(estimated.as_ref(), mixing.as_ref())?;
                output::print_line(&format!("\nAmari distance of the mixing: {amari:.4}"));
            }
        }
        Ok(())
    }
}
