//! `strt completions` and `strt man`: what shells and `man` need to know about this program, from
//! the same description of the arguments.

use crate::Arguments;
use crate::failure::{Failure, Outcome};
use crate::output;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "strt", &mut script);
        output::print(&String::from_utf8_lossy(&script));
        Ok(())
    }
}

#[derive(Args)]
pub struct Man {
    /// Write one page a command into this folder instead of printing the main page
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Man {
    pub fn run(self) -> Outcome {
        let command = Arguments::command();
        let Some(folder) = self.out else {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            output::print(&String::from_utf8_lossy(&page));
            return Ok(());
        };
        let problem = |error: std::io::Error| {
            Failure::Failed(format!(
                "{}: cannot write the pages: {error}; check that you may write there",
                folder.display()
            ))
        };
        std::fs::create_dir_all(&folder).map_err(problem)?;
        clap_mangen::generate_to(command, &folder).map_err(problem)
    }
}
