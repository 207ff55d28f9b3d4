//! `strt bench`: measurements that anyone can repeat.

mod recovery;
mod speed;

use clap::Subcommand;
use std::error::Error;

#[derive(Subcommand)]
pub enum Bench {
    /// Recovery of known sources on the linear and nonlinear suites.
    Recovery(recovery::Recovery),
    /// Time, arithmetic rate and memory of the training loop, also against PyTorch.
    Speed(speed::Speed),
    /// One measurement of `speed` that needs a process of its own.
    #[command(hide = true)]
    SpeedChild(speed::Child),
}

impl Bench {
    pub fn run(self) -> Result<(), Box<dyn Error>> {
        match self {
            Bench::Recovery(recovery) => recovery.run(),
            Bench::Speed(speed) => speed.run(),
            Bench::SpeedChild(child) => child.run(),
        }
    }
}
