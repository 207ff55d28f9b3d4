//! Small dense linear algebra, in place and without allocation, where the matrices are K×K or
//! smaller.

pub(crate) mod cholesky;
pub(crate) mod lu;
pub(crate) mod permute;
