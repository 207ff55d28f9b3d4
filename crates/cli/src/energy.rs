//! `strt energy`: the structural energy of trajectories under the branches of a trained model.
//!
//! Without a file the trajectories are the sources of the run: the cost matrix H and the margin Δ
//! of the paper's linear theorem. With one they are its columns, the true sources for example.

use crate::failure::{Failure, Outcome};
use crate::output;
use crate::reading::open;
use crate::table::table;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use strt_io::{ReadOptions, load_model};
use strt_runs::folder::MODEL;
use strt_runs::results::rows;
use strt_runs::results::summary::source_names;
use strtransformer::trajectories::{DRAWS, TrajectoryEnergy};

const EXAMPLES: &str = "\
Examples:
  strt energy recording.strt
  strt energy recording.strt true-sources.csv --json

H of branch k and trajectory j is the error with which the networks of branch k predict hidden
patches of trajectory j, weighted by the patch sizes that the branch looks at. The margin is by how
much the cheapest other assignment costs more than giving trajectory k to branch k. On the page of a
run a network goes with its source; here it stays with its branch.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Energy {
    /// A model.safetensors, or the folder of a run
    model: PathBuf,
    /// Trajectories, samples × trajectories, in any format [default: the sources of the run]
    input: Option<PathBuf>,
    /// Draws of masks over which errors are averaged
    #[arg(
        long,
        default_value_t = DRAWS as u32,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    draws: u32,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadOptions,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Energies {
    trajectories: Vec<String>,
    /// H, one row a branch.
    cost: Vec<Vec<f64>>,
    /// Δ; null where there are not as many trajectories as branches, or only one.
    margin: Option<f64>,
    patch_sizes: Vec<usize>,
    /// The error of every branch on every trajectory at every patch size.
    errors: Vec<Vec<Vec<f64>>>,
    draws: u32,
}

impl Energy {
    pub fn run(self) -> Outcome {
        let model_path = if self.model.is_dir() {
            self.model.join(MODEL)
        } else {
            self.model.clone()
        };
        let model = load_model(&model_path)?;
        let draws = self.draws as usize;
        let failed = |path: &PathBuf, error: strtransformer::Error| {
            Failure::Failed(format!("{}: {error}", path.display()))
        };
        let (names, energy) = match &self.input {
            None if self.reading != ReadOptions::default() => {
                return Err(Failure::Usage(
                    "reading trajectories: found arguments for it, expected a file too; give it \
                     after the model, or remove them"
                        .into(),
                ));
            }
            None => {
                let energy = model.source_energy(draws);
                let energy = energy.map_err(|error| failed(&self.model, error))?;
                (source_names(model.config().n_sources), energy)
            }
            Some(path) => {
                let opened = open(path, &self.reading, self.json)?.recording;
                let energy = model.trajectory_energy(opened.observations(), draws);
                let energy = energy.map_err(|error| failed(path, error))?;
                (opened.channel_names().to_vec(), energy)
            }
        };
        let patch_sizes = model.config().branches.patch_sizes.clone();
        let found = Energies::new(names, &energy, patch_sizes, self.draws);
        if self.json {
            output::print_line(&serde_json::to_string_pretty(&found)?);
        } else {
            output::print(&found.text());
        }
        Ok(())
    }
}

impl Energies {
    fn new(
        trajectories: Vec<String>,
        energy: &TrajectoryEnergy,
        patch_sizes: Vec<usize>,
        draws: u32,
    ) -> Energies {
        let cost = energy.cost();
        let scales = |k, j| {
            (0..patch_sizes.len())
                .map(|r| energy.error(k, j, r))
                .collect()
        };
        Energies {
            errors: (0..cost.nrows())
                .map(|k| (0..cost.ncols()).map(|j| scales(k, j)).collect())
                .collect(),
            cost: rows(cost.as_ref()),
            margin: energy.margin(),
            trajectories,
            patch_sizes,
            draws,
        }
    }

    fn text(&self) -> String {
        let header: Vec<&str> = std::iter::once("H")
            .chain(self.trajectories.iter().map(String::as_str))
            .collect();
        let row = |(k, costs): (usize, &Vec<f64>)| {
            let costs = costs.iter().map(|cost| format!("{cost:.4}"));
            std::iter::once(format!("branch {}", k + 1))
                .chain(costs)
                .collect()
        };
        let cells: Vec<Vec<String>> = self.cost.iter().enumerate().map(row).collect();
        let margin = self.margin.map_or(String::new(), |margin| {
            format!("margin of this assignment  {margin:.4}\n")
        });
        let draws = self.draws;
        format!(
            "{}\n{margin}draws of masks             {draws}\n",
            table(&header, &cells)
        )
    }
}
