//! Recordings in the Brain Imaging Data Structure (BIDS): which files of a folder are recordings,
//! and what the tables beside a recording say about it. Names, tables and their meaning are those
//! of the specification, <https://bids-specification.readthedocs.io>.
//!
//! In: a folder, or a recording with a name such as `sub-01_task-rest_eeg.edf`. Out: the recordings
//! of the folder ([`dataset`]); or what the file holds, with types, units, bad channels, positions
//! and events as the dataset has them ([`sidecars`]). Nothing is written here, and nothing is
//! validated beyond what is used.

mod dataset;
mod name;
mod sidecars;
#[cfg(test)]
mod tests;
mod tsv;

pub use dataset::{BidsFilter, BidsRecording, bids_recordings, is_bids_dataset};
pub use name::BidsName;
pub(crate) use sidecars::apply;
