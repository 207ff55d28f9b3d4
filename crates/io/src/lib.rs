//! Files of StrTransformer: recordings in, signals out; models and checkpoints in safetensors,
//! configurations in TOML.
//!
//! In: a path, and for writing a [`Separation`](strtransformer::Separation), a
//! [`Checkpoint`](strtransformer::train::Checkpoint), a [`Config`](strtransformer::Config) or
//! [`Signals`]. Out: from a recording of any [`Format`] a [`Recording`](strtransformer::Recording)
//! with notes of all that was detected; from the program's own files the value that was saved, with
//! the same bits. Files are replaced whole or not at all, and everything read is checked: a file
//! that is damaged, foreign or newer gives an [`Error`] that names the file and the place in it,
//! never a panic and never more memory than the file can account for (Ogg files made on purpose to
//! exhaust their decoder excepted; see the feature `ogg`).
//!
//! Deliberately absent: numerics (filters, resampling, interpolation), printing, and the types of
//! mixers that the caller wrote (their parameters are saved; see [`load_model_with`]).
//!
//! # Recordings
//!
//! [`read_recording`] finds the format by content and refuses a file whose name promises another;
//! [`inspect`] tells what a file holds, [`survey`] what its numbers tell as well. The samples are
//! rows, the channels columns, and NaN is missing; which way round they lie in the file is told by
//! [`Layout`].
//!
//! | format | endings | what is read | feature |
//! |---|---|---|---|
//! | text | csv, tsv, txt, dat, … | a column a channel; how it is written is detected | |
//! | NPY | npy | real numbers of 8 to 64 bits; 1 or 2 dimensions longer than 1 | |
//! | NPZ | npz | the only such array, or the one named; rate, names, times beside it | `npz` |
//! | MATLAB 5–7 | mat | as NPZ; fields of structures as `name.field` | `mat` |
//! | MATLAB 7.3, HDF5 | mat, h5, hdf5 | the same; all versions of groups and chunks | `hdf5` |
//! | SNIRF | snirf | channels `S1_D1 760`; stimuli are events | `hdf5` |
//! | EEGLAB | set (with fdt) | either of MATLAB's formats; epochs are pieces | `mat`, `hdf5` |
//! | EDF, EDF+ | edf | physical units; gaps are missing; one rate at a time | |
//! | BDF, BDF+ | bdf | the same; `Status` only when it is asked for | |
//! | WAV | wav | 8, 16, 24, 32 bits (scaled to −1…1), floating point of 32 and 64 bits | |
//! | FLAC | flac | 4 to 32 bits, scaled to −1…1 | |
//! | Ogg Vorbis | ogg, oga | what the decoder gives | `ogg` |
//! | Parquet | parquet, pq | numeric columns; not packed, snappy, gzip, lz4, zstd | `parquet` |
//! | WFDB | hea, dat, or none | all formats, FLAC included; segments; physical units | |
//! | BrainVision | vhdr, vmrk, eeg | binary and text, multiplexed and vectorized; physical units | |
//! | FIF | fif | raw data, also in several files; no projections; gaps are missing | |
//! | GDF 1.x, 2.x | gdf | physical units; one rate at a time; the table of events | |
//! | XDF | xdf | one stream with a rate; clocks as `pyxdf`; breaks are missing | `xdf` |
//! | any of these | csv.gz, npy.zst, … | unpacked to a temporary file first | `packed` |
//!
//! Markers of BrainVision, annotations and triggers of FIF, tables of GDF and streams of texts of
//! XDF are [`Event`]s; electrodes of BrainVision and FIF have positions.
//!
//! Formats without a feature are always there; `formats` stands for all features. In a text the
//! empty cell and `NA`, `N/A`, `NaN`, `null`, `None`, `?` and `-` in any case are missing; an
//! infinite number is an error in every format.
//!
//! [`write_signals`] writes NPY, CSV, MATLAB 5, WAV, FLAC and EDF without any feature, and Parquet
//! with `parquet`; [`write_each_wav`] writes one sound file a signal. A format that was not built
//! in is refused with the name of its feature.
//! [`rewrite_recording`] copies a recording in its own format with other numbers: text, NPY, WAV,
//! EDF, BDF, BrainVision, FIF, MATLAB 5–7 and EEGLAB in these.
//!
//! # Example: a run that is stopped and continued
//!
//! ```
//! use std::ops::ControlFlow;
//! use strt_io::{load_checkpoint, save_checkpoint};
//! use strt_synth::ProblemSpec;
//! use strtransformer::train::{Start, StepReport};
//! use strtransformer::{Config, Trainer};
//!
//! let spec = ProblemSpec { n_samples: 200, ..ProblemSpec::default() };
//! let recording = spec.generate()?.recording()?;
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
//! # Models, checkpoints and configurations
//!
//! Models and checkpoints are [safetensors](https://github.com/huggingface/safetensors) files:
//! readable from Python, without code in them. All tensors are F64, little-endian, row-major (the
//! matrices of the library are column-major in memory; files are not). F64 holds the numbers of the
//! f32 engine exactly. The same contents give the same bytes. A model has exactly the
//! tensors below; T samples, m channels, K sources, R patch sizes.
//!
//! The metadata map (`__metadata__`) has these entries; others are refused:
//!
//! | entry | contents |
//! |---|---|
//! | `format` | `strtransformer-model` or `strtransformer-checkpoint` |
//! | `version` | `2`; others are refused |
//! | `config` | the resolved configuration as TOML |
//! | `state` | the scalars as a JSON object; `NaN`, `inf` and `-inf` are strings |
//! | `checksum` | CRC-32 of the file with zeros in the place of these eight digits |
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
//! | `unmixing` | (m+1)×K | scaled channels → S, or its linear part; the last row are offsets |
//! | `bend` | h×(2K+1) | in neural coordinates Uᵀ, b and V of S = linear part + tanh(Zw·U + b)·V |
//! | `gauge.mean`, `gauge.divisor` | K | the standardised source is (S − mean)/divisor |
//! | `energy.network.<k·R + r>` | n×1 | network (k, r), as [`strt_kernels::Layout`] lays it out |
//!
//! A model that was trained with an energy of the caller's own has that energy's tensors,
//! `energy.…`, in place of the networks.
//!
//! `state`: `samples` (T), `channel_names` (m strings), `sampling_rate` (or null), `stop`
//! (`settled`, `step_limit`, `interrupted`, `diverged`), `converged`, `turned` (how far the sources
//! still turned, in radians, or null), `steps`, `seed` and `restart` of the restart that was kept,
//! `restarts` (for each: `restart`, `seed`, `objective`, `stop`, `converged`, `novel`,
//! `agreement`, `agreement_by_source`),
//! `smoothed_objective`, `terms` (`total`, `reconstruction`, `structure`, `separation`,
//! `smoothness`, `entropy`, `gap`), `pieces` (samples of every piece of the recording; left out
//! where it is one).
//!
//! ## Checkpoints
//!
//! Every restart in progress has its tensors under `<restart>.<name>`, restarts counted from 0. The
//! names are those of the parts of the run:
//!
//! | tensor | shape | meaning |
//! |---|---|---|
//! | `space.s` | T×K | S, in direct coordinates |
//! | `space.a` | K×K | A, in fiber and neural coordinates |
//! | `space.e` | T×K | E, in fiber coordinates where it is free |
//! | `space.bend`, `space.bend.2`, … | h×(2K+1) | Uᵀ, b and V of every layer, in neural coordinates |
//! | `mixer` | any×1 | θ |
//! | `controller.raw_gaps` | (K+1)×1 | η |
//! | `energy.network.<k·R + r>` | n×1 | the networks; `energy.updates` counts their updates |
//! | `<tensor>.first`, `.second` | of the tensor | Adam's moments of what moves |
//! | `<tensor>.updates` | 1×1 | how many updates it has had |
//! | `<tensor>.counts`, `.squares` | of the tensor | sparse Adam of free sources, in blocks |
//! | `<tensor>.with_components`, … | | running moments of these, in blocks |
//!
//! `state`: `samples`, `channels` and `fingerprint` of the recording, `running` (for each restart
//! in progress: `restart`, `seed`, `step`, `convergence` (see
//! [`strtransformer::train::Convergence`]) and `terms`), `finished` (for each that has ended, as
//! `restarts` of a model).
//!
//! ## From Python
//!
//! ```python
//! import json, tomllib
//! from safetensors import safe_open
//! with safe_open("model.safetensors", "numpy") as model:
//!     sources = model.get_tensor("sources")            # (T, K)
//!     network = model.get_tensor("energy.network.1")   # source 0, second patch size, flat
//!     state = json.loads(model.metadata()["state"])
//!     config = tomllib.loads(model.metadata()["config"])
//! ```

mod atomic;
mod bids;
mod checkpoint;
pub mod checksum;
mod commented;
mod config;
mod error;
mod flac;
mod model;
mod natural;
mod networks;
mod overlay;
mod read;
mod records;
mod tensors;
mod write;

pub use atomic::{check_writable, check_writable_in, write_bytes, write_text};
pub use bids::{BidsFilter, BidsName, BidsRecording, bids_recordings, is_bids_dataset};
pub use checkpoint::{
    SavedRestarts, load_checkpoint, load_restarts, save_checkpoint, save_restarts,
};
pub use commented::config_to_commented_toml;
pub use config::{config_from_toml, config_to_toml, load_config, save_config};
pub use error::{Error, Result};
pub use model::{load_model, load_model_with, model_from_bytes, model_to_bytes, save_model};
pub use natural::natural_order;
pub use overlay::{Layer, overlay, overlay_all};
pub use read::{
    BadSegments, ChannelSelection, ChannelSummary, ChannelSurvey, Event, Format, Joined, Layout,
    MOST_AT_ONCE, Note, NoteKind, Opened, Piece, Prepare, ReadOptions, Rereference, Resample,
    Summary, Survey, TimeColumn, Variable, disturbances, inspect, join, read_recording,
    rewrite_recording, shown_code, survey,
};
pub use write::{
    OUTPUT_FORMATS, Signals, check_each_wav, check_signals, each_wav_files, write_each_wav,
    write_signals,
};
