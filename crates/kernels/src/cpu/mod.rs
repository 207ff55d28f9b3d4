//! The fast engine: f32, vectorised, fused, multithreaded. [`CpuEngine`] is all that the rest of
//! the world sees.
//!
//! One operation a file, forward beside backward. From the bottom up: instruction sets ([`simd`])
//! and elementary functions (`math`); operations on rows (`gemm`, `linear`, `layernorm`, `gelu`,
//! `attention` with its `band` and `pack`, `masked_loss`, `adam`); their composition (`layer`,
//! `branch` and `run`, with memory in `workspace`); how work is cut (`split`) and shared out
//! (`crew` with its `sync`, `shared`); the engine.
//!
//! What is computed is what [`crate::reference`] computes, to single precision. Kernels take their
//! buffers as arguments and never allocate. Deliberately absent: any knowledge of training, and any
//! choice that would make results depend on the number of threads.

mod adam;
mod aligned;
mod attention;
mod band;
mod branch;
mod crew;
mod engine;
mod gelu;
mod gemm;
mod layer;
mod layernorm;
mod linear;
mod masked_loss;
mod math;
mod pack;
mod run;
mod shared;
pub mod simd;
mod split;
mod sync;
mod workspace;

pub use attention::MAX_D_HEAD;
pub use engine::CpuEngine;
pub use simd::SimdPath;
