//! `strt bench`: measurements that anyone can repeat.

mod recovery;
mod speed;

use crate::failure::{Failure, Outcome};
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Bench {
    /// Recovery of known sources, beside the classical methods and other programs.
    Recovery(recovery::Recovery),
    /// Time, arithmetic rate and memory of the training loop, also against PyTorch.
    Speed(speed::Speed),
    /// One measurement of `speed` that needs a process of its own.
    #[command(hide = true)]
    SpeedChild(speed::Child),
}

impl Bench {
    pub fn run(self) -> Outcome {
        let done = match self {
            Bench::Recovery(recovery) => return recovery.run(),
            Bench::Speed(speed) => speed.run(),
            Bench::SpeedChild(child) => child.run(),
        };
        done.map_err(|error| Failure::Failed(error.to_string()))
    }
}
