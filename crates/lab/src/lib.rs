//! The laboratory: experiments with StrTransformer that users do not need to separate a recording.
//!
//! [`theory`] holds the paper's claims as experiments that pass or fail.

pub mod error;
pub mod theory;

pub use error::{Error, Result};
