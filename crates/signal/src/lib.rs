//! Recordings, what is done to them before any method sees them, and the numerics that all methods
//! share.
//!
//! | module | what it does |
//! |---|---|
//! | [`recording`] | validated observations of m channels at T instants |
//! | [`pieces`] | what of it is contiguous in time |
//! | [`prepare`] | filters, resampling, references, bad segments: a recording made ready |
//! | [`preprocess`] | centering, scaling, whitening, all invertible; the number of sources |
//! | [`rows`], [`columns`] | which samples can be used; columns of matrices as slices |
//! | [`moments`] | mean, deviation, and what "constant" means |
//! | [`correlation_time`] | the time scale of a source |
//! | [`spectrum`] | power spectral density by Welch's method |
//! | [`montage`] | where electrodes are on the head |
//! | [`assignment`] | the best assignment of rows to columns, and its margin |
//! | [`random`] | every choice of a run from its seed, through a named stream |
//! | [`elementary`] | exp and tanh that vectorise, with the same bits on every machine |
//!
//! Deliberately absent: separation of any kind, true sources, files, printing and clocks.

pub mod assignment;
pub mod columns;
pub mod correlation_time;
pub mod elementary;
pub mod error;
pub mod moments;
pub mod montage;
pub mod pieces;
pub mod prepare;
pub mod preprocess;
pub mod random;
pub mod recording;
pub mod rows;
pub mod spectrum;

pub use error::{Error, Result};
pub use pieces::Pieces;
pub use recording::Recording;
