//! The latent source matrix S (T×K) and its coordinates.
//!
//! ```text
//! direct: S is the parameter
//! fiber:  S = Zw·A + E      Zw whitened principal components (T×K), A (K×K), E (T×K) free once unlocked
//! ```
//!
//! Both span every S; only the path of the optimiser differs. In fiber coordinates one entry of A moves a whole
//! source along the exact-reconstruction fiber of an affine mixer.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use std::sync::Arc;

/// Which rows (samples) of a recording are usable. A sample with a missing value in any channel is not.
#[derive(Clone, Debug)]
pub struct Rows {
    n_samples: usize,
    n_valid: usize,
    missing: Option<Arc<[bool]>>,
}

impl Rows {
    /// Rows of a recording; `missing[t]` marks the unusable ones.
    pub fn new(missing: &[bool]) -> Rows {
        let n_missing = missing.iter().filter(|&&m| m).count();
        Rows {
            n_samples: missing.len(),
            n_valid: missing.len() - n_missing,
            missing: (n_missing > 0).then(|| missing.into()),
        }
    }

    /// T rows, all usable.
    pub fn all(n_samples: usize) -> Rows {
        Rows {
            n_samples,
            n_valid: n_samples,
            missing: None,
        }
    }

    /// T.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// Number of usable rows.
    pub fn n_valid(&self) -> usize {
        self.n_valid
    }

    /// Whether row t is usable.
    pub fn is_valid(&self, t: usize) -> bool {
        self.missing.as_ref().is_none_or(|m| !m[t])
    }

    /// The missing flags, when there are any.
    pub fn missing(&self) -> Option<&[bool]> {
        self.missing.as_deref()
    }

    /// Calls `f` for every usable row, ascending.
    pub(crate) fn for_each_valid(&self, mut f: impl FnMut(usize)) {
        match &self.missing {
            None => (0..self.n_samples).for_each(f),
            Some(missing) => (0..self.n_samples).filter(|&t| !missing[t]).for_each(&mut f),
        }
    }

    /// Sets the missing rows of a column to 0.
    pub(crate) fn zero_missing(&self, column: &mut [f64]) {
        self.zero_missing_from(0, column);
    }

    /// The same for a stretch of a column that begins at row `first`.
    pub(crate) fn zero_missing_from(&self, first: usize, column: &mut [f64]) {
        if let Some(missing) = &self.missing {
            for (value, &gone) in column.iter_mut().zip(&missing[first..]) {
                if gone {
                    *value = 0.0;
                }
            }
        }
    }
}

/// Parameters of the source matrix.
#[derive(Clone, Debug)]
pub enum SourceParameters {
    /// S itself.
    Direct {
        /// S (T×K).
        s: Mat<f64>,
    },
    /// S = Zw·A + E.
    Fiber {
        /// Zw (T×K), shared by all restarts; rows of missing samples are 0.
        whitened: Arc<Mat<f64>>,
        /// A (K×K).
        a: Mat<f64>,
        /// E (T×K); absent while it is 0 and locked.
        e: Option<Mat<f64>>,
    },
}

impl SourceParameters {
    /// Writes S.
    pub fn assemble(&self, mut out: MatMut<'_, f64>) {
        match self {
            SourceParameters::Direct { s } => out.copy_from(s),
            SourceParameters::Fiber { whitened, a, e } => {
                matmul(out.as_mut(), Accum::Replace, whitened.as_ref(), a, 1.0, Par::Seq);
                if let Some(e) = e {
                    out += e;
                }
            }
        }
    }

    /// d_a = Zwᵀ·d_s (overwrites). The gradient of S or E is d_s itself.
    pub(crate) fn fiber_gradient(&self, d_s: MatRef<'_, f64>, d_a: MatMut<'_, f64>) {
        if let SourceParameters::Fiber { whitened, .. } = self {
            matmul(d_a, Accum::Replace, whitened.transpose(), d_s, 1.0, Par::Seq);
        }
    }

    /// Source k becomes what source `order[k]` was.
    pub fn permute(&mut self, order: &[usize]) {
        match self {
            SourceParameters::Direct { s } => *s = permute_columns(s, order),
            SourceParameters::Fiber { a, e, .. } => {
                *a = permute_columns(a, order);
                if let Some(e) = e {
                    *e = permute_columns(e, order);
                }
            }
        }
    }
}

/// Column k of the result is column `order[k]`.
pub(crate) fn permute_columns(matrix: &Mat<f64>, order: &[usize]) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, k| matrix[(i, order[k])])
}
