//! The terms of the objective besides the structural one, a file each: value and gradient side by
//! side.
//!
//! Every gradient is multiplied by the term's weight and **added** to its `d_` arguments; the
//! returned value is the bare term, unweighted.

pub(crate) mod reconstruction;
pub(crate) mod separation;
pub(crate) mod smoothness;
