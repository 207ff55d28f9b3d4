//! `strt bench`: measurements that anyone can repeat.

mod recovery;

use clap::Subcommand;
use std::error::Error;

#[derive(Subcommand)]
pub enum Bench {
    /// Recovery of known sources on the linear and nonlinear suites.
    Recovery(recovery::Recovery),
}

impl Bench {
    pub fn run(self) -> Result<(), Box<dyn Error>> {
        match self {
            Bench::Recovery(recovery) => recovery.run(),
        }
    }
}
