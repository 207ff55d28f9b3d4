//! `strt generate`: problems with known answers, as files.

use crate::failure::{Failure, Outcome};
use crate::formats::formats;
use crate::output;
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use strt_io::Signals;
use strt_runs::Format;
use strt_runs::folder::{Kind, Planned};
use strt_runs::results::summary::source_names;
use strt_runs::results::{rows, write_json};
use strt_synth::{MixingKind, Problem, ProblemSpec, SourceKind};

/// What was generated.
pub const PROBLEM: &str = "problem.json";

#[derive(Args)]
pub struct Generate {
    /// How the sources behave in time: gp, gpclose: smooth Gaussian processes of well separated or
    /// close length-scales; sines: sums and products of sines; ar: AR(1); nonsmooth: sawtooth,
    /// square wave, AR(1) with Laplace innovations; switchingar: AR(2) resonances that switch
    /// between regimes (SNICA); segmentlaplace: Laplace noise with a scale per segment (TCL);
    /// segmentgaussian: Gaussian noise with a variance per segment (iVAE); nonstationary: Gaussian
    /// noise whose variance changes smoothly; varied: in turn an AR(2) resonance, such noise, a
    /// resonance of changing strength; independent: independent samples of Laplace's density,
    /// uniform and exponential; laplacear: AR(1) of one pole with Laplace innovations (PCL);
    /// lorenz, lorenzz, rossler, mackeyglass, henon, logistic, vanderpol, tar, garch, coupled:
    /// independent runs of one chaotic or noisy system, made Gaussian by ranks; lorenzbackwards: a
    /// run, another one backwards in time, a surrogate (same spectrum and marginal, random phases);
    /// lorenzsurrogates: a run and its surrogates
    #[arg(value_parser = kinds(), hide_possible_values = false)]
    kind: SourceKind,
    /// How they are mixed: linear, pnl, asinh, mlp2, mlp3, leakymlpL or tanhmlpL with L layers,
    /// such as leakymlp3 (TCL) or tanhmlp3 (iVAE), conditionedC with condition number C
    #[arg(long, default_value = "linear", value_parser = mixing)]
    mixing: MixingKind,
    /// Number of samples T
    #[arg(long, default_value_t = 1000, value_name = "T")]
    samples: usize,
    /// Number of sources K
    #[arg(long, short = 'k', default_value_t = 3, value_name = "K")]
    sources: usize,
    /// Number of channels [default: twice the sources]
    #[arg(long, value_name = "M")]
    channels: Option<usize>,
    /// Standard deviation of the noise on channels of standard deviation 1
    #[arg(long, default_value_t = 0.02, allow_negative_numbers = true)]
    noise: f64,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder for the files
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Further formats; npy and csv are always written
    #[arg(long, value_parser = formats(), value_delimiter = ',', value_name = "LIST")]
    format: Vec<Format>,
    /// Replace a folder that strt wrote
    #[arg(long)]
    overwrite: bool,
    /// Say nothing
    #[arg(long, short)]
    quiet: bool,
}

fn kinds() -> impl TypedValueParser<Value = SourceKind> {
    let names = SourceKind::ALL.map(SourceKind::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<SourceKind>())
}

fn mixing(text: &str) -> Result<MixingKind, String> {
    text.parse()
        .map_err(|error: strt_synth::Error| error.to_string())
}

/// `problem.json`: what was generated.
#[derive(Serialize, Deserialize)]
pub struct ProblemFile {
    pub kind: String,
    pub mixing: String,
    pub linear: bool,
    pub samples: usize,
    pub sources: usize,
    pub channels: usize,
    pub noise: f64,
    pub seed: u64,
    /// For a linear mixing, channel = matrix · source + noise (rows are channels); null otherwise.
    pub matrix: Option<Vec<Vec<f64>>>,
}

impl Generate {
    pub fn run(self) -> Outcome {
        let spec = ProblemSpec {
            kind: self.kind,
            mixing: self.mixing,
            n_samples: self.samples,
            n_sources: self.sources,
            n_channels: self.channels.unwrap_or(self.sources.saturating_mul(2)),
            noise: self.noise,
            seed: self.seed,
        };
        let planned = Planned::new(&self.out, Kind::Problem, self.overwrite.into())?;
        let problem = spec
            .generate()
            .map_err(|error| Failure::Usage(error.to_string()))?;
        planned.fill(|folder| -> Outcome {
            write_signals_of(&problem, folder, &self.format)?;
            let file = ProblemFile {
                kind: spec.kind.to_string(),
                mixing: spec.mixing.to_string(),
                linear: spec.mixing.is_linear(),
                samples: spec.n_samples,
                sources: spec.n_sources,
                channels: spec.n_channels,
                noise: spec.noise,
                seed: spec.seed,
                matrix: problem.mixing.as_ref().map(|matrix| rows(matrix.as_ref())),
            };
            Ok(write_json(&folder.join(PROBLEM), &file)?)
        })?;
        if !self.quiet {
            output::print(&self.text(&spec));
        }
        Ok(())
    }

    /// Where everything is, and what to do with it.
    fn text(&self, spec: &ProblemSpec) -> String {
        let file = |name: &str| self.out.join(name).display().to_string();
        let (observations, sources) = (file("observations.csv"), file("true_sources.csv"));
        let number = spec.n_sources.to_string();
        let mut command = vec![
            "strt",
            "separate",
            &observations,
            "--sources",
            &number,
            "--reference",
            &sources,
        ];
        if !spec.mixing.is_linear() {
            command.extend(["--mixer", "mlp"]);
        }
        let command: Vec<String> = command.into_iter().map(String::from).collect();
        format!(
            "{} samples, {number} sources in {} channels\n\
             observations  {observations}\n\
             sources       {sources}\n\
             mixing        {}\n\n\
             Separate and score them with\n  {}\n",
            spec.n_samples,
            spec.n_channels,
            file(PROBLEM),
            output::shell_line(&command)
        )
    }
}

/// Writes `observations` and `true_sources`, each in NPY, CSV and what else was asked for.
pub fn write_signals_of(problem: &Problem, folder: &Path, formats: &[Format]) -> Outcome {
    let channels: Vec<String> = (1..=problem.observations.ncols())
        .map(|c| format!("ch{c}"))
        .collect();
    let sources = source_names(problem.sources.ncols());
    let both = [
        ("observations", problem.observations.as_ref(), &channels),
        ("true_sources", problem.sources.as_ref(), &sources),
    ];
    for (name, values, names) in both {
        for format in Format::with_defaults(formats) {
            let signals = Signals {
                values,
                names,
                // Sound and EDF need a rate; generated samples have none, so the usual one of
                // sound is taken.
                rate: format.needs_rate().then_some(44_100.0),
            };
            format.write(folder, name, &signals)?;
        }
    }
    Ok(())
}
