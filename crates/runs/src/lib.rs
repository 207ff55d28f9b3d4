//! Runs of StrTransformer and their folders: started, stopped, resumed, finished, saved and loaded.
//!
//! What `strt separate` does apart from arguments and terminal, for every program that makes runs,
//! so that one can go on with what another has begun. In: an [`Order`] (recording, configuration,
//! how the run is to be made) and the name of a folder. Out: the folder and [`Written`]. A
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
//! Deliberately absent: printing, progress bars, signals, arguments. Messages name these through
//! [`Words`].
//!
//! ```
//! use strt_runs::{Order, Source, Unwatched, ensure, Ensured};
//! use strt_runs::results::summary::Input;
//! use strt_synth::ProblemSpec;
//! use strtransformer::Config;
//!
//! let recording = ProblemSpec { n_samples: 200, ..ProblemSpec::default() }.generate()?.recording()?;
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

mod command;
mod error;
mod finished;
pub mod folder;
mod format;
pub mod input;
mod job;
mod numbers_csv;
mod order;
pub mod results;
pub mod run;
mod same;
mod scored;
mod state;
mod watcher;
mod words;

pub use command::{command_text, shell_line};
pub use error::{Error, InPlaceOfARun, Result};
pub use finished::{Loaded, Place, inspect, load, save};
pub use format::Format;
pub use input::Reading;
pub use job::{Ensured, Written, ensure, resume, start};
pub use order::{Again, Order, Source, Truth};
pub use scored::{Scored, ScoredObserver};
pub use watcher::{Event, Unwatched, Watcher};
pub use words::Words;
