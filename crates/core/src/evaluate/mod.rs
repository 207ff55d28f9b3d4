//! How good a separation is, measured against true sources or a true mixing.
//!
//! In: estimated sources or mixings, and a [`Reference`]. Out: matched correlations ([`match_sources`]), the
//! Amari distance, rank correlation, and aligned columns for plots. The true sources live in [`Reference`],
//! which only functions of this module accept: training cannot see them. Nothing here changes an estimate.
//! [`Scored`] scores a run while it runs: it stands between training and an observer, and training never learns
//! what it knows.

mod align;
mod amari;
mod kendall;
mod matching;
mod reference;
mod scored;

pub use align::{align, z_score};
pub use amari::{amari_distance, amari_from_mixing};
pub use kendall::kendall_tau;
pub use matching::{Matching, match_sources};
pub use reference::Reference;
pub use scored::{Scored, ScoredObserver};
