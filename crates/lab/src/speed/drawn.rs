//! One drawn step of a training loop: every tensor that goes in, and what came out.

use super::timing::time_steps;
use faer::Mat;
use serde_json::{Value, json};
use std::error::Error;
use strt_kernels::{BranchSet, Buffer, Job, Layout};
use strtransformer::internals::{Draws, Inspect};
use strtransformer::objective::Terms;
use strtransformer::preprocess::Whitening;
use strtransformer::train::{Prepared, Start};
use strtransformer::{Config, Recording, Trainer};

/// A step, with its parameters before the update.
pub struct DrawnStep {
    /// The configuration with every automatic value filled in.
    pub config: Config,
    pub branches: BranchSet,
    /// Prepared channels (T×m).
    pub observations: Mat<f64>,
    /// Zw (T×K).
    pub whitened: Mat<f64>,
    /// A (K×K).
    pub fiber: Mat<f64>,
    /// η.
    pub raw_gaps: Vec<f64>,
    /// α_k.
    pub slopes: Vec<f64>,
    /// The parameters of every branch.
    pub networks: Vec<Vec<f64>>,
    /// First sample of every job's window.
    pub starts: Vec<usize>,
    pub jobs: Vec<Job>,
    pub result: StepResult,
}

/// J and the size of its gradient.
pub struct StepResult {
    pub terms: Terms,
    /// Norms of ∂J/∂A, ∂J/∂η and ∂J/∂(all networks).
    pub norms: [(&'static str, f64); 3],
}

impl StepResult {
    pub fn json(&self) -> Value {
        let norms: serde_json::Map<String, Value> = self
            .norms
            .iter()
            .map(|&(name, v)| (name.into(), v.into()))
            .collect();
        json!({ "objective": self.terms.total, "terms": self.terms, "gradient_norms": norms })
    }
}

impl DrawnStep {
    /// Trains for some steps, then records one.
    pub fn record(
        recording: &Recording,
        config: &Config,
        steps_before: usize,
    ) -> Result<DrawnStep, Box<dyn Error>> {
        let prepared = Prepared::new(recording, config)?;
        let mut trainer = Trainer::on(&prepared, Start::default())?;
        time_steps(&mut trainer, steps_before);
        let terms = trainer.evaluate_at(trainer.step());
        let known = "the benchmark is written for fiber coordinates with locked sources";
        let fiber = trainer.parameter("space.a").ok_or(known)?;
        if trainer.parameter("space.e").is_some() {
            return Err(known.into());
        }
        let branches = trainer.transformer().engine().branches().clone();
        let networks = read_all(&trainer, &branches, Buffer::Parameters);
        let (raw_gaps, slopes) = (
            vector(trainer.parameter("controller.raw_gaps").as_ref()),
            trainer.report().controller.slopes.clone(),
        );
        let norms = gradient_norms(&trainer, &branches);
        let observations = trainer.observations();
        let observations = observations
            .ok_or("the benchmark is written for recordings that are evaluated whole")?
            .to_owned();
        let whitening = Whitening::fit(
            observations.as_ref(),
            fiber.ncols(),
            recording.channel_names(),
        )?;
        let whitened = whitening.transform(observations.as_ref())?;
        let mut draws: Option<Draws> = None;
        trainer.evaluate_with_draws(|d| draws = Some(d.clone()));
        let draws = draws.ok_or("the trainer showed no draws")?;
        Ok(DrawnStep {
            config: prepared.plan().config().clone(),
            branches,
            observations,
            whitened,
            fiber,
            raw_gaps,
            slopes,
            networks,
            starts: draws.windows().iter().map(|window| window.first).collect(),
            jobs: draws.jobs().to_vec(),
            result: StepResult { terms, norms },
        })
    }
}

fn read_all(trainer: &Trainer, branches: &BranchSet, buffer: Buffer) -> Vec<Vec<f64>> {
    let read = |b: usize| {
        let layout = Layout::new(branches.scale_of(b).patch, &branches.network);
        let mut values = vec![0.0; layout.len()];
        trainer.transformer().engine().read(buffer, b, &mut values);
        values
    };
    (0..branches.n_branches()).map(read).collect()
}

/// The only column of a vector.
fn vector(column: Option<&Mat<f64>>) -> Vec<f64> {
    column.map_or(Vec::new(), |column| {
        (0..column.nrows()).map(|i| column[(i, 0)]).collect()
    })
}

fn gradient_norms(trainer: &Trainer, branches: &BranchSet) -> [(&'static str, f64); 3] {
    let gradient = trainer.gradient();
    let square = |name: &str| gradient.get(name).map_or(0.0, |g| g.squared_norm_l2());
    let of_network = |b: usize| square(&format!("energy.network.{b}"));
    let networks: f64 = (0..branches.n_branches()).map(of_network).sum();
    [
        ("fiber", square("space.a").sqrt()),
        ("raw_gaps", square("controller.raw_gaps").sqrt()),
        ("networks", networks.sqrt()),
    ]
}
