//! `strt resume`: an interrupted run taken up from its folder, with everything it was started with.

use crate::ending::Ending;
use crate::failure::Outcome;
use crate::terminal::Terminal;
use crate::wording::PROGRAM;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use strt_runs::{ResumeOptions, Source, Truth};

const EXAMPLES: &str = "\
Examples:
  strt resume recording.strt
  strt resume recording.strt moved/recording.csv --threads 4

The sources have the same bits as those of a run that was not interrupted.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Resume {
    /// The folder of the run, with or without the ending .partial
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The recording, where it has been moved since the run was started; of a run on several files
    /// together all of them, in their order
    #[arg(value_name = "RECORDING")]
    recordings: Vec<PathBuf>,
    /// The true sources, where they have been moved
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Worker threads; 0 takes all cores. The sources are the same for any number [default: as the
    /// run was started]
    #[arg(long, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: Option<u16>,
    /// Save a checkpoint every so many seconds: what a crash may cost
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    autosave: u32,
    #[command(flatten)]
    ending: Ending,
}

impl Resume {
    pub fn run(self) -> Outcome {
        let mut terminal = Terminal::new(self.ending.quiet);
        let options = ResumeOptions {
            source: match &self.recordings[..] {
                [] => None,
                [recording] => Some(Source::File(recording)),
                recordings => Some(Source::Together(recordings)),
            },
            reference: self.reference.as_deref().map(Truth::File),
            threads: self.threads.map(usize::from),
            autosave: Duration::from_secs(self.autosave.into()),
            caller: &PROGRAM,
        };
        let contents = strt_runs::resume(&self.folder, &options, &mut terminal)?;
        self.ending.tell(&contents)
    }
}

/// `strt separate [RECORDING] --resume DIR …`, the former spelling, as `strt resume DIR …`; any
/// other command line as it is.
pub fn from_former_spelling(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_none_or(|command| command != "separate") {
        return arguments;
    }
    let joined = |word: &OsString| word.to_str()?.strip_prefix("--resume=").map(OsString::from);
    let Some(at) = arguments
        .iter()
        .position(|word| word == "--resume" || joined(word).is_some())
    else {
        return arguments;
    };
    let folder = match joined(&arguments.remove(at)) {
        Some(folder) => Some(folder),
        None if at < arguments.len() => Some(arguments.remove(at)),
        None => None,
    };
    arguments[1] = "resume".into();
    // In front of a recording, which has become the second name.
    arguments.splice(2..2, folder);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, expected: &str) {
        let words = typed.split(' ').map(OsString::from).collect();
        let found = from_former_spelling(words);
        let found: Vec<&str> = found.iter().filter_map(|word| word.to_str()).collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn the_former_spelling_says_the_same() {
        check("strt separate --resume run -q", "strt resume run -q");
        check(
            "strt separate a.csv --threads 2 --resume=run",
            "strt resume run a.csv --threads 2",
        );
        check("strt separate --resume", "strt resume");
        check("strt separate a.csv -k 3", "strt separate a.csv -k 3");
        check("strt info --resume", "strt info --resume");
    }
}
