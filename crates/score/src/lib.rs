//! How good a separation is, measured against true sources or a true mixing, or blind.
//!
//! In: estimated sources or mixings, and a [`Reference`]. Out: correlations of matched sources
//! ([`match_sources`]) or of their ranks ([`match_ranks`]), SI-SDR, the Amari distance, order and
//! stability of branches, and aligned columns for plots. A [`Scorer`] scores a run while it runs.
//! [`temporal_predictability`], [`ResidualDependence`] and [`explained_variance`] need no
//! reference.
//!
//! The true sources live in [`Reference`]. The crate of the method does not depend on this one, so
//! that training cannot name them. Nothing here changes an estimate.

mod align;
mod amari;
mod dependence;
pub mod error;
mod explained;
mod kendall;
mod matching;
mod order;
mod predictability;
mod ranks;
mod reference;
mod scorer;
mod si_sdr;

pub use align::{align, z_score};
pub use amari::{amari_distance, amari_from_mixing};
pub use dependence::ResidualDependence;
pub use error::{Error, Result};
pub use explained::{explained_share, explained_variance, residual_share};
pub use kendall::kendall_tau;
pub use matching::{Matching, match_sources};
pub use order::{BranchOrder, permutation_stability};
pub use predictability::{DEFAULT_ORDER, temporal_predictability};
pub use ranks::{match_ranks, spearman_rho};
pub use reference::Reference;
pub use scorer::Scorer;
pub use si_sdr::si_sdr;
