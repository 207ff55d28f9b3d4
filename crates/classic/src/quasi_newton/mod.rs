//! What quasi-Newton methods over unmixing matrices share: L-BFGS, and a Hessian of pairs of
//! sources.

mod memory;
mod preconditioner;

pub(crate) use memory::Memory;
pub(crate) use preconditioner::Preconditioner;
