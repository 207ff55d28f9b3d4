//! The f64 oracle: every operation as plain loops, forward beside backward, nothing clever.
//!
//! Kept for ever as the definition of what the fast engines must compute. Slow by design; it
//! allocates freely. Backward functions accumulate into their `d_` arguments.

pub mod attention;
pub mod branch;
mod engine;
pub mod gelu;
pub mod layernorm;
pub mod linear;
pub mod masked_loss;
pub mod patch;

pub use engine::ReferenceEngine;
