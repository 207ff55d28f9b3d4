//! What the page and the figures show, computed once.
//!
//! In: a checked [`Report`](crate::Report). Out: numbers. Neither HTML nor charts are known here.

pub mod mixture;
pub mod spectrum;
