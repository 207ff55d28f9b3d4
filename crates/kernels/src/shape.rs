//! Sizes of the branch networks: plain data, checked by the caller's configuration.

/// Size of one branch Transformer; the same for every source and scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkShape {
    /// Token width d, even and a multiple of `n_heads`.
    pub d_model: usize,
    /// Attention heads H.
    pub n_heads: usize,
    /// Encoder layers L.
    pub n_layers: usize,
    /// Width of the feed-forward block as a multiple of d.
    pub ffn_ratio: usize,
    /// Whether a patch may attend only to itself and earlier patches (B^mask of the paper).
    pub causal: bool,
}

impl NetworkShape {
    /// Width of one head, d / H.
    pub fn d_head(&self) -> usize {
        self.d_model / self.n_heads
    }

    /// Width of the feed-forward block.
    pub fn d_ffn(&self) -> usize {
        self.ffn_ratio * self.d_model
    }
}

/// One patch scale r: the linear operator Π_r on a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleShape {
    /// Patch size P_r in samples.
    pub patch: usize,
    /// Stride q_r in samples.
    pub stride: usize,
    /// Number of patches N_r in one window.
    pub n_patches: usize,
}

impl ScaleShape {
    /// Samples that one window covers: (N−1)q + P.
    pub fn span(&self) -> usize {
        (self.n_patches - 1) * self.stride + self.patch
    }
}

/// How the errors of masked patches are pooled into one energy, where not by their plain mean.
///
/// The window is cut into blocks c of `block` samples. With M_c the masked patches that begin in
/// block c and ℓ_c their mean squared error, the energy is the geometric mean of the block errors,
/// offset by κ and weighted by |M_c|:
///
/// ```text
/// ln(ℓ + κ) = Σ_c |M_c|/|M| · ln(ℓ_c + κ),   ℓ_c = 1/(|M_c| P) Σ_{i∈M_c} ‖û_i − u_i‖²
/// ```
///
/// Up to a constant that is the log-likelihood of Gaussian errors whose variance changes from block
/// to block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pooling {
    /// Samples of a block of the window; at least 1.
    pub block: usize,
    /// κ, added to the error of every block before its logarithm. Positive: a block without error
    /// has no logarithm.
    pub offset: f64,
}

impl Pooling {
    /// Block c of the patch with index i in the grid of `scale`: where its first sample lies,
    /// ⌊i·q/block⌋.
    pub fn block_of(&self, i: usize, scale: &ScaleShape) -> usize {
        i * scale.stride / self.block
    }
}

/// All branches of one model: K sources × R scales, each evaluated on `n_draws` windows per step.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchSet {
    /// Number of sources K.
    pub n_sources: usize,
    /// The R patch scales.
    pub scales: Vec<ScaleShape>,
    /// Size of every branch network.
    pub network: NetworkShape,
    /// Mask draws per branch and step; ℓ is their mean.
    pub n_draws: usize,
    /// Positions are shifted by at most this many patches (0: never).
    pub max_shift: usize,
    /// How the errors of a window are pooled into ℓ; `None`: by their plain mean.
    pub pooling: Option<Pooling>,
}

impl BranchSet {
    /// Number of branches K·R. Branch (k, r) has index `k * R + r`.
    pub fn n_branches(&self) -> usize {
        self.n_sources * self.scales.len()
    }

    /// Number of jobs in one step; job `branch * n_draws + draw` belongs to `branch`.
    pub fn n_jobs(&self) -> usize {
        self.n_branches() * self.n_draws
    }

    /// Scale r of a branch index.
    pub fn scale_of(&self, branch: usize) -> &ScaleShape {
        &self.scales[branch % self.scales.len()]
    }

    /// Panics if the pooling is one that no engine can compute: it would end in energies that are
    /// not numbers.
    pub(crate) fn assert_pooling(&self) {
        if let Some(Pooling { block, offset }) = self.pooling {
            assert!(block > 0, "blocks of 0 samples, at least 1");
            assert!(
                offset > 0.0,
                "offset of the block errors {offset}, positive"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_belongs_to_the_block_of_its_first_sample() {
        let scale = ScaleShape {
            patch: 3,
            stride: 2,
            n_patches: 6,
        };
        for (block, expected) in [
            (1, [0, 2, 4, 6, 8, 10]),
            (2, [0, 1, 2, 3, 4, 5]),
            (5, [0, 0, 0, 1, 1, 2]),
            (13, [0; 6]),
        ] {
            let pooling = Pooling { block, offset: 1.0 };
            let blocks: Vec<usize> = (0..6).map(|i| pooling.block_of(i, &scale)).collect();
            assert_eq!(blocks, expected, "blocks of {block}");
        }
    }
}
