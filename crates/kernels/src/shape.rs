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

/// All branches of one model: K sources × R scales, each evaluated on `n_draws` windows per step.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}
