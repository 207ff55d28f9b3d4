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
    /// Whether a hidden patch keeps its position: the mask token plus p_i. Otherwise it is the mask
    /// token alone, and only the locality bias says where it lies.
    pub mask_position: bool,
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

/// All branches of one model: K sources × R scales, each evaluated on one window per step.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchSet {
    /// Number of sources K.
    pub n_sources: usize,
    /// The R patch scales.
    pub scales: Vec<ScaleShape>,
    /// Size of every branch network.
    pub network: NetworkShape,
    /// Positions are shifted by at most this many patches (0: never).
    pub max_shift: usize,
    /// Samples of the blocks of a window whose errors are reported apart; `None`: the window is one
    /// block.
    pub error_block: Option<usize>,
}

impl BranchSet {
    /// Number of branches K·R. Branch (k, r) has index `k * R + r`.
    pub fn n_branches(&self) -> usize {
        self.n_sources * self.scales.len()
    }

    /// Scale r of a branch index.
    pub fn scale_of(&self, branch: usize) -> &ScaleShape {
        &self.scales[branch % self.scales.len()]
    }

    /// Block of the patch with index `patch` in the grid of `scale`: where its first sample lies,
    /// ⌊i·q/block⌋.
    ///
    /// # Panics
    /// When blocks have no samples.
    pub fn block_of(&self, patch: usize, scale: &ScaleShape) -> usize {
        self.error_block
            .map_or(0, |block| patch * scale.stride / block)
    }

    /// The most blocks that a window of `scale` can have errors in.
    pub fn n_blocks(&self, scale: &ScaleShape) -> usize {
        1 + self.block_of(scale.n_patches - 1, scale)
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
            let branches = BranchSet {
                n_sources: 1,
                scales: vec![scale],
                network: NetworkShape {
                    d_model: 2,
                    n_heads: 1,
                    n_layers: 1,
                    ffn_ratio: 1,
                    causal: false,
                    mask_position: true,
                },
                max_shift: 0,
                error_block: Some(block),
            };
            let blocks: Vec<usize> = (0..6).map(|i| branches.block_of(i, &scale)).collect();
            assert_eq!(blocks, expected, "blocks of {block}");
            assert_eq!(branches.n_blocks(&scale), expected[5] + 1);
        }
    }
}
