//! Runs of StrTransformer and their folders: started, stopped, resumed, finished, saved and loaded.
//!
//! What `strt separate` does apart from arguments and terminal, for every program that makes runs,
//! so that one can resume what another has begun. In: an [`Order`] (recording, configuration, how
//! the run is to be made) and the name of a folder. Out: the folder and its [`Contents`]. A
//! [`Watcher`] is told what happens and asked whether to stop.
//!
//! | call | what it does |
//! |---|---|
//! | [`start`] | makes a run in a new folder |
//! | [`resume`] | takes up an unfinished one, with the same bits |
//! | [`ensure`] | whichever of both is needed, or loads what was made before |
//! | [`inspect`] | tells finished, unfinished and absent runs apart |
//! | [`load`] | reads the folder of a run |
//! | [`save`] | writes a result in memory as such a folder |
//!
//! Deliberately absent: printing, progress bars, signals, arguments, pages. Messages name arguments
//! in the wording of the [`Caller`], which also draws the pages.
//!
//! ```
//! use strt_runs::{Order, Source, Unwatched, ensure, Ensured};
//! use strt_runs::results::summary::Input;
//! use strt_synth::ProblemSpec;
//! use strtransformer::Config;
//!
//! let spec = ProblemSpec { n_samples: 200, ..ProblemSpec::default() };
//! let recording = spec.generate()?.recording()?;
//! let mut config = Config::new(3);
//! # (config.optimizer.steps, config.branches.patch_sizes) = (Some(2), vec![4, 8]);
//! let input = Input::in_memory("array", &recording);
//! let order = Order::new(Source::Memory { recording: &recording, input: &input }, config);
//! let folder = tempfile::tempdir()?;
//! let target = folder.path().join("run");
//! assert!(matches!(ensure(&order, &target, &mut Unwatched)?, Ensured::Made(_)));
//! assert!(matches!(ensure(&order, &target, &mut Unwatched)?, Ensured::There(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod caller;
mod command;
mod contents;
pub mod data;
mod error;
pub mod folder;
mod format;
mod lifecycle;
mod numbers_csv;
mod order;
pub mod results;
mod same;
mod scored;
pub mod training;
mod unfinished;
mod unprepared;
mod watcher;

pub use caller::{Caller, Page, PageError, Pages, Wording};
pub use command::{command_text, shell_line};
pub use contents::{Contents, load, load_summary, save};
pub use error::{Error, InPlaceOfARun, Result};
pub use folder::{Place, inspect};
pub use format::Format;
pub use lifecycle::{Ensured, ensure, resume, start};
pub use order::{Order, ResumeOptions, Source, Truth};
pub use same::recording as recording_differs;
pub use scored::{Scored, ScoredObserver};
pub use unprepared::clean_unprepared;
pub use watcher::{Event, Unwatched, Watcher};
