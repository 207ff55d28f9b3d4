//! The model: sources, mixer, branches and controller, and the objective that ties them together.
//!
//! ```text
//! J = ‖Y − M_θ(S̃)‖²/(2ν_y) + λ_str·L_str + λ_sep·L_sep + λ_smooth·L_smooth + λ_ent·L_ent + λ_gap·L_gap
//! ```
//!
//! Everything here is f64 except what an [`Engine`](strt_kernels::Engine) does behind its seam.
//! Nothing here knows about steps, schedules or true sources.

pub(crate) mod bend;
pub(crate) mod blocks;
pub(crate) mod cholesky;
pub mod controller;
pub mod draws;
pub(crate) mod gauge;
pub(crate) mod long;
pub(crate) mod lu;
pub mod mixer;
pub mod objective;
pub mod sources;
pub(crate) mod standardize;
pub(crate) mod terms;
pub(crate) mod whole;
