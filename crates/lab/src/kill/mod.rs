//! `strt-lab kill`: the program killed at random moments, and what it left taken up again.
//!
//! In: how many moments. Out: a table, one line a preset and command: how many moments there were,
//! what the kills left, how often something was lost or came out with other bits, and an exit
//! status. Each moment has a folder of its own; the program is this one (`strt-lab program …`), so
//! that nothing else has to be installed. Sweeps of the Python package need a Python that has it.
//!
//! A kill is SIGKILL, or what Windows has for it: nothing of the program runs after it. What a
//! power failure does to a disk is not tried here.

mod program;
mod scenario;

use clap::Args;
use program::Program;
use rand_distr::{Distribution, Uniform};
use scenario::{COMMANDS, Left, Outcome as Ended, PYTHON_SWEEP, Scenario};
use strt_cli::failure::{Failure, Outcome};
use strt_cli::table::table;
use strt_signal::random::{Stream, rng};

pub use program::run as run_program;

/// Presets that are tried: all that train differently.
const PRESETS: [&str; 3] = ["default", "fast", "paper"];

#[derive(Args)]
pub struct Kill {
    /// How many moments in all, shared out over presets and commands
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    moments: u32,
    /// Which moments
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A Python that has the package: sweeps of it are killed too, with their workers
    #[arg(long, value_name = "PROGRAM")]
    python: Option<std::path::PathBuf>,
}

/// What became of the moments of one preset and command.
#[derive(Default)]
struct Tally {
    moments: usize,
    left: [usize; Left::ALL.len()],
    lost: Vec<String>,
}

impl Kill {
    pub fn run(self) -> Outcome {
        let program = Program::strt().map_err(Failure::Failed)?;
        let sweep = self.python.map(Program::python_sweep);
        let commands: Vec<&str> = COMMANDS
            .into_iter()
            .chain(sweep.is_some().then_some(PYTHON_SWEEP))
            .collect();
        let cells: Vec<(&str, &str)> = PRESETS
            .iter()
            .flat_map(|preset| commands.iter().map(|command| (*preset, *command)))
            .collect();
        let mut tallies: Vec<Tally> = cells.iter().map(|_| Tally::default()).collect();
        let mut scenarios = Vec::new();
        for (preset, command) in &cells {
            let scenario = Scenario::new(&program, sweep.as_ref(), preset, command);
            scenarios.push(scenario.map_err(Failure::Failed)?);
        }
        let share = Uniform::new(0.0, 1.0).map_err(|error| Failure::Failed(error.to_string()))?;
        for moment in 0..self.moments as usize {
            let cell = moment % cells.len();
            let mut random = rng(self.seed, Stream::Step(moment as u64));
            let shares = [(); 2].map(|()| share.sample(&mut random));
            let Ended { left, lost } = scenarios[cell].kill(shares).map_err(Failure::Failed)?;
            let tally = &mut tallies[cell];
            tally.moments += 1;
            tally.left[left as usize] += 1;
            tally.lost.extend(lost);
        }
        print_table(&cells, &tallies);
        let lost: Vec<&String> = tallies.iter().flat_map(|tally| &tally.lost).collect();
        for what in &lost {
            println!("{what}");
        }
        if lost.is_empty() {
            Ok(())
        } else {
            let (lost, moments) = (lost.len(), self.moments);
            Err(Failure::Failed(format!(
                "{lost} of {moments} moments lost something"
            )))
        }
    }
}

fn print_table(cells: &[(&str, &str)], tallies: &[Tally]) {
    let mut header = vec!["preset", "command", "moments"];
    header.extend(Left::ALL.map(Left::name));
    header.push("lost or other bits");
    let row = |((preset, command), tally): (&(&str, &str), &Tally)| {
        let mut row = vec![preset.to_string(), command.to_string()];
        row.push(tally.moments.to_string());
        row.extend(tally.left.iter().map(ToString::to_string));
        row.push(tally.lost.len().to_string());
        row
    };
    let rows: Vec<Vec<String>> = cells.iter().zip(tallies).map(row).collect();
    print!("{}", table(&header, &rows));
}
