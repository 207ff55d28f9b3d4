//! Branch kernels of StrTransformer: the structural energy of one source at one patch scale, and
//! its gradient.
//!
//! A *branch* (k, r) is one small pre-norm Transformer that reads source k in patches of `P_r`
//! samples. For a window of the source it computes the masked patch energy
//!
//! ```text
//! ℓ_kr = 1/(|M| P_r) Σ_{i∈M} ‖û_i − u_i‖²
//! ```
//!
//! where the patches in M were replaced by a learned mask token; or, with
//! [`BranchSet::error_block`], the same ℓ_c of every block c of the window, from which a caller can
//! see a variance that changes with time.
//!
//! What flows in: windows of samples, mask draws and locality slopes (a list of [`Job`]s), and a
//! [`Judge`], which says for the errors of a job how much the gradient of each block counts. What
//! flows out: errors and gradients in window and slope, while those in the parameters stay inside
//! the [`Engine`] together with the parameters and their Adam moments, so that an engine may keep
//! them wherever it computes. The chain rule beyond the errors (scale weights, logarithm, clipping)
//! belongs to the caller, who hands it back as one factor per branch in [`Engine::update`].
//!
//! Two engines stand behind the seam: [`reference::ReferenceEngine`] in f64, plain loops that read
//! like the equations, the oracle of every test; and [`cpu::CpuEngine`] in f32, vectorised and
//! multithreaded.
//!
//! Conventions that hold in every file: matrices are row-major slices with their shape in a
//! comment; gradients are named `d_<name>`; every backward pass **accumulates** into its `d_`
//! buffers, and the caller clears them.
//!
//! Deliberately absent: random numbers, files, configuration, the objective, the sources as a
//! whole.

pub mod adam;
pub mod cpu;
pub mod engine;
pub mod flops;
pub mod gradcheck;
pub mod layout;
pub mod positions;
pub mod reference;
pub mod shape;

pub use adam::AdamStep;
pub use engine::{BlockError, Buffer, Engine, Job, Judge, Outcome, Precision};
pub use flops::Flops;
pub use layout::{Init, Layout, TensorSpec};
pub use shape::{BranchSet, NetworkShape, ScaleShape};
