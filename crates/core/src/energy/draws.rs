//! What is random in the branches of one step: where each reads its source and with which sign, how
//! its positions are shifted, what is hidden.
//!
//! A [`Grid`] knows which starts are possible; [`Draws`] holds one drawn [`Job`] per branch and
//! cuts the windows out of the sources. The sign of a source is part of the gauge, so a branch that
//! sees it with either sign learns nothing it may not know, and cannot learn one trajectory by
//! heart as easily. Patches that touch a missing sample are left out of the job's tokens: they are
//! neither context nor target.

use super::{SourceWindows, Window};
use crate::config::Plan;
use crate::{Error, Result};
use rand::{Rng, RngExt};
use std::ops::Range;
use strt_kernels::{BranchSet, Job, ScaleShape};
use strt_signal::rows::Rows;

/// Random starts tried before the next admissible one is searched for in order.
const TRIES: usize = 64;

/// The possible windows of every scale.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    scales: Vec<ScaleGrid>,
    /// Number of missing samples before t; absent when nothing is missing.
    missing_before: Option<Vec<u32>>,
    mask_ratio: f64,
    n_shifts: usize,
    random_sign: bool,
    n_samples: usize,
}

#[derive(Clone, Copy, Debug)]
struct ScaleGrid {
    shape: ScaleShape,
    n_starts: usize,
    start_step: usize,
}

/// |M| = max(1, ⌊ρ_mask·N + ½⌋).
fn n_masked(mask_ratio: f64, n_tokens: usize) -> usize {
    ((mask_ratio * n_tokens as f64 + 0.5) as usize).clamp(1, n_tokens)
}

impl Grid {
    /// The windows that a recording with these rows offers. Refuses scales at which no window has
    /// two patches free of missing samples.
    pub fn new(plan: &Plan, rows: &Rows) -> Result<Grid> {
        let settings = &plan.config().branches;
        let scales = plan.branches().scales.iter().map(|&shape| {
            let spare = rows.n_samples() - shape.span();
            let start_step = if settings.random_start {
                1
            } else {
                shape.stride
            };
            let cropped = settings.crop != 0 && rows.n_samples() > settings.crop;
            let n_starts = if settings.random_start || cropped {
                spare / start_step + 1
            } else {
                1
            };
            ScaleGrid {
                shape,
                n_starts,
                start_step,
            }
        });
        let missing_before = rows.missing().map(|missing| {
            let mut count = 0;
            let mut before = vec![0];
            before.extend(missing.iter().map(|&m| {
                count += u32::from(m);
                count
            }));
            before
        });
        let grid = Grid {
            scales: scales.collect(),
            missing_before,
            mask_ratio: settings.mask_ratio,
            n_shifts: settings.max_shift,
            random_sign: settings.random_sign,
            n_samples: rows.n_samples(),
        };
        if !plan.looks_at_one_block() {
            grid.accepts(&(0..rows.n_samples()))?;
        }
        Ok(grid)
    }

    /// Refuses samples among which no window of some scale has two patches to work with.
    pub fn accepts(&self, samples: &Range<usize>) -> Result<()> {
        let without = |scale: &&ScaleGrid| !self.has_window(scale, samples);
        match self.scales.iter().find(without) {
            None => Ok(()),
            Some(scale) => Err(Error::NoWindow {
                patch: scale.shape.patch,
                block: (samples.len() < self.n_samples).then_some(samples.len()),
            }),
        }
    }

    fn is_token(&self, scale: &ScaleGrid, start: usize, patch: usize) -> bool {
        self.missing_before.as_ref().is_none_or(|before| {
            let first = start + patch * scale.shape.stride;
            before[first] == before[first + scale.shape.patch]
        })
    }

    fn n_tokens(&self, scale: &ScaleGrid, start: usize) -> usize {
        (0..scale.shape.n_patches)
            .filter(|&i| self.is_token(scale, start, i))
            .count()
    }

    /// Number of windows of a scale among these samples.
    fn n_starts(&self, scale: &ScaleGrid, samples: &Range<usize>) -> usize {
        if samples.len() == self.n_samples {
            scale.n_starts
        } else {
            (samples.len() - scale.shape.span()) / scale.start_step + 1
        }
    }

    /// Whether there is a window among these samples with at least two patches to work with.
    fn has_window(&self, scale: &ScaleGrid, samples: &Range<usize>) -> bool {
        let starts = 0..self.n_starts(scale, samples);
        starts
            .map(|s| samples.start + s * scale.start_step)
            .any(|start| self.n_tokens(scale, start) >= 2)
    }

    /// A uniformly drawn start among these samples whose window has at least two patches to work
    /// with.
    fn draw_start(&self, scale: &ScaleGrid, samples: &Range<usize>, rng: &mut dyn Rng) -> usize {
        let n_starts = self.n_starts(scale, samples);
        let start = |index: usize| samples.start + index * scale.start_step;
        let mut index = rng.random_range(0..n_starts);
        if self.missing_before.is_some() {
            let mut tries = 0;
            while self.n_tokens(scale, start(index)) < 2 {
                tries += 1;
                index = if tries < TRIES {
                    rng.random_range(0..n_starts)
                } else {
                    (index + 1) % n_starts
                };
            }
        }
        start(index)
    }
}

/// The draws of one step, in the order of the branches of a [`BranchSet`].
#[derive(Clone, Debug)]
pub struct Draws {
    windows: Vec<Window>,
    signs: Vec<f64>,
    jobs: Vec<Job>,
    order: Vec<u32>,
}

impl Draws {
    /// Buffers for the jobs of all branches, large enough for every later draw.
    pub(crate) fn new(branches: &BranchSet) -> Draws {
        let n_branches = branches.n_branches();
        let jobs = (0..n_branches)
            .map(|b| {
                let scale = branches.scale_of(b);
                Job {
                    window: vec![0.0; scale.span()],
                    shift: 0,
                    tokens: Vec::with_capacity(scale.n_patches),
                    masked: Vec::with_capacity(scale.n_patches),
                }
            })
            .collect();
        let windows = (0..n_branches).map(|b| Window {
            source: b / branches.scales.len(),
            first: 0,
            len: branches.scale_of(b).span(),
        });
        let most = branches.scales.iter().map(|s| s.n_patches).max();
        Draws {
            windows: windows.collect(),
            signs: vec![1.0; n_branches],
            jobs,
            order: Vec::with_capacity(most.unwrap_or(0)),
        }
    }

    /// Draws every job anew, its window among these samples.
    pub(crate) fn sample(&mut self, grid: &Grid, samples: &Range<usize>, rng: &mut dyn Rng) {
        let n_scales = grid.scales.len();
        for (b, job) in self.jobs.iter_mut().enumerate() {
            let scale = &grid.scales[b % n_scales];
            let start = grid.draw_start(scale, samples, rng);
            self.windows[b].first = start;
            self.signs[b] = if grid.random_sign && rng.random() {
                -1.0
            } else {
                1.0
            };
            job.shift = if grid.n_shifts == 0 {
                0
            } else {
                rng.random_range(0..grid.n_shifts)
            };
            job.tokens.clear();
            job.tokens.extend(
                (0..scale.shape.n_patches)
                    .filter(|&i| grid.is_token(scale, start, i))
                    .map(|i| i as u32),
            );
            // The first |M| places of a random permutation, by partial Fisher–Yates.
            let n = job.tokens.len();
            self.order.clear();
            self.order.extend(0..n as u32);
            let n_masked = n_masked(grid.mask_ratio, n);
            for i in 0..n_masked {
                let other = rng.random_range(i..n);
                self.order.swap(i, other);
            }
            job.masked.clear();
            job.masked.extend_from_slice(&self.order[..n_masked]);
            job.masked.sort_unstable();
        }
    }

    /// Replaces the draw of one branch by a given one over all patches, for reproducing a recorded
    /// run.
    #[cfg(feature = "internals")]
    pub fn set(
        &mut self,
        branch: usize,
        start: usize,
        shift: usize,
        masked: &[u32],
        n_patches: usize,
    ) {
        self.windows[branch].first = start;
        self.signs[branch] = 1.0;
        let job = &mut self.jobs[branch];
        job.shift = shift;
        job.tokens.clear();
        job.tokens.extend(0..n_patches as u32);
        job.masked.clear();
        job.masked.extend_from_slice(masked);
    }

    /// Reads the window of every job and gives it its sign.
    pub(crate) fn read_windows(&mut self, sources: &dyn SourceWindows) {
        for (b, job) in self.jobs.iter_mut().enumerate() {
            let Window { source, first, .. } = self.windows[b];
            sources.read(source, first, &mut job.window);
            if self.signs[b] < 0.0 {
                job.window.iter_mut().for_each(|value| *value = -*value);
            }
        }
    }

    /// Window and sign of one branch.
    pub(crate) fn place_of(&self, branch: usize) -> (Window, f64) {
        (self.windows[branch], self.signs[branch])
    }

    /// The window of every branch.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// The jobs, with their windows as last read.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }
}
