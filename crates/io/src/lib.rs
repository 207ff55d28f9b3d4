//! Files of StrTransformer: models and checkpoints in safetensors, configurations in TOML.
//!
//! In: a [`Separation`](strtransformer::Separation), a [`Checkpoint`](strtransformer::train::Checkpoint) or a
//! [`Config`](strtransformer::Config), and a path. Out: a file, and from the file the same value with the same bits.
//! Files are replaced whole or not at all, and everything read is checked: a file that is damaged, foreign or newer
//! gives an [`Error`] that names the file and the place in it, never a panic.
//!
//! Deliberately absent: recordings, numerics, printing, and the types of mixers that the caller wrote (their
//! parameters are saved; see [`load_model_with`]).
//!
//! # Example: a run that is stopped and continued
//!
//! ```
//! use std::ops::ControlFlow;
//! use strt_io::{load_checkpoint, save_checkpoint};
//! use strtransformer::synth::ProblemSpec;
//! use strtransformer::train::{Start, StepReport};
//! use strtransformer::{Config, Trainer};
//!
//! let recording = ProblemSpec { n_samples: 200, ..ProblemSpec::default() }.generate()?.recording()?;
//! let mut config = Config::new(3);
//! config.optimizer.steps = Some(8);
//! config.branches.patch_sizes = vec![4, 8];
//! # config.threads = 1;
//!
//! // Stop after three steps and save.
//! let mut trainer = Trainer::new(&recording, &config)?;
//! trainer.run(&mut |report: &StepReport<'_>| match report.step {
//!     3 => ControlFlow::Break(()),
//!     _ => ControlFlow::Continue(()),
//! });
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("run.checkpoint.safetensors");
//! save_checkpoint(&trainer.checkpoint(), &path)?;
//! drop(trainer);
//!
//! // Another day: load and run to the end.
//! let mut trainer = Trainer::resume(&recording, &load_checkpoint(&path)?, Start::default())?;
//! assert_eq!(trainer.step(), 3);
//! trainer.run(&mut ());
//! let resumed = trainer.finish();
//!
//! // The same bits as without the stop.
//! let mut trainer = Trainer::new(&recording, &config)?;
//! trainer.run(&mut ());
//! assert_eq!(resumed.sources(), trainer.finish().sources());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The files
//!
//! Models and checkpoints are [safetensors](https://github.com/huggingface/safetensors) files: readable from Python,
//! without code in them. All tensors are F64, little-endian, row-major (the matrices of the library are
//! column-major in memory; files are not). F64 holds the numbers of the f32 engine exactly. The same contents give the
//! same bytes. A file of version 1 has exactly the tensors below; T samples, m channels, K sources, R patch sizes.
//!
//! The metadata map (`__metadata__`) has four entries; others are ignored:
//!
//! | entry | contents |
//! |---|---|
//! | `format` | `strtransformer-model` or `strtransformer-checkpoint` |
//! | `version` | `1`; higher ones are refused |
//! | `config` | the resolved configuration as TOML |
//! | `state` | the scalars as a JSON object; numbers that are not finite are the strings `NaN`, `inf`, `-inf` |
//!
//! ## Models
//!
//! | tensor | shape | meaning |
//! |---|---|---|
//! | `sources` | T×K | S̃, what the mixer is fed; NaN in missing samples |
//! | `mixer.parameters` | any | θ, flat, in the mixer's own order |
//! | `controller.raw_gaps` | K+1 | η |
//! | `controller.order`, `.centers`, `.slopes`, `.expected_patch` | K | u, c, α, P̄ |
//! | `controller.scale_weights` | K×R | π |
//! | `energy` | K×R | ℓ at the end |
//! | `scaling.offset`, `scaling.scale` | m | scaled channel = (channel − offset)/scale |
//! | `whitening.mean`, `.eigenvalues` | m | of the scaled channels |
//! | `whitening.matrix` | m×K | V·Λ^(−1/2) |
//! | `unmixing` | (m+1)×K | scaled channels → S: weights, then a row of offsets |
//! | `gauge.mean`, `gauge.divisor` | K | the standardised source is (S − mean)/divisor |
//! | `branches.<k>.<r>.<name>` | see [`strt_kernels::Layout`] | weights of the network of source k at patch size r |
//!
//! `state`: `samples` (T), `channel_names` (m strings), `sampling_rate` (or null), `stop` (`plateau`, `step_limit`,
//! `interrupted`, `diverged`), `converged`, `steps`, `seed` and `restart` of the restart that was kept, `restarts` (for
//! each: `restart`, `seed`, `objective`, `stop`, `converged`), `smoothed_objective`, `terms` (`total`,
//! `reconstruction`, `structure`, `separation`, `smoothness`, `entropy`, `gap`).
//!
//! ## Checkpoints
//!
//! | tensor | shape | meaning |
//! |---|---|---|
//! | `fiber` | K×K | A; only in fiber coordinates |
//! | `sources` | T×K | S in direct coordinates, E in fiber coordinates where it exists |
//! | `mixer.parameters` | any | θ |
//! | `controller.raw_gaps` | K+1 | η |
//! | `branches.<k>.<r>.<name>` | see [`strt_kernels::Layout`] | weights of the networks |
//! | `adam.first.<tensor>`, `adam.second.<tensor>` | of the tensor | Adam's moments of each of these |
//!
//! Moments of `fiber` and `sources` are always there; those of sources that never move have shape 0×K.
//!
//! `state`: `samples`, `channels` and `fingerprint` of the recording, `seed`, `restart`, `step`, `updates` (Adam updates so far of
//! `fiber`, `sources`, `mixer`, `controller`, `networks`), `convergence` (`average`, `weight`, `best`, `since_best`),
//! `terms`.
//!
//! ## From Python
//!
//! ```python
//! import json, tomllib
//! from safetensors import safe_open
//! with safe_open("model.safetensors", "numpy") as model:
//!     sources = model.get_tensor("sources")            # (T, K)
//!     w_in = model.get_tensor("branches.0.1.embed.w_in")  # source 0, second patch size
//!     state = json.loads(model.metadata()["state"])
//!     config = tomllib.loads(model.metadata()["config"])
//! ```

mod atomic;
mod checkpoint;
mod config;
mod error;
mod model;
mod networks;
mod records;
mod tensors;

pub use checkpoint::{load_checkpoint, save_checkpoint};
pub use config::{config_to_toml, load_config, save_config};
pub use error::{Error, Result};
pub use model::{load_model, load_model_with, save_model};
