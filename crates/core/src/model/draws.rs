//! What is random in one step: where each branch reads its source and with which sign, how its
//! positions are shifted, what is hidden.
//!
//! A [`Grid`] knows which starts are possible; [`Draws`] holds one drawn [`Job`] per branch and
//! mask draw and cuts the windows out of the sources. The sign of a source is part of the gauge, so
//! a branch that sees it with either sign learns nothing it may not know, and cannot learn one
//! trajectory by heart as easily. Patches that touch a missing sample are left out of the job's
//! tokens: they are neither context nor target. A recording that is trained in blocks also has two
//! of them drawn, by their first samples; where a step sees nothing but a block, its windows lie in
//! the first of them.

use crate::config::Plan;
use crate::{Error, Result};
use rand::{Rng, RngExt};
use strt_kernels::{Job, ScaleShape};
use strt_signal::rows::Rows;

/// Random starts tried before the next admissible one is searched for in order.
const TRIES: usize = 64;

/// The possible windows of every scale.
#[derive(Clone, Debug)]
pub struct Grid {
    scales: Vec<ScaleGrid>,
    /// Number of missing samples before t; absent when nothing is missing.
    missing_before: Option<Vec<u32>>,
    mask_ratio: f64,
    n_shifts: usize,
    random_sign: bool,
    n_draws: usize,
    /// First sample of every block; empty when the recording is evaluated whole.
    blocks: Vec<usize>,
    /// Length of a block, where every window must lie in the first of those that are drawn.
    windows_within: Option<usize>,
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

/// First samples of the blocks of `len` samples that a recording is cut into; the last one ends
/// with the recording. Blocks of which less than half is there are left out, unless all are like
/// that: then the fullest one is taken.
fn blocks(rows: &Rows, len: usize) -> Vec<usize> {
    let starts: Vec<usize> = block_starts(rows.n_samples(), len, len).collect();
    let full = at_least_half_there(rows, len, &starts);
    if full.is_empty() {
        let there = |first: &usize| rows.stretch(*first, len).n_valid();
        return starts.into_iter().max_by_key(there).into_iter().collect();
    }
    full
}

/// First samples of blocks that begin `step` apart; the last one ends with the recording. Every
/// block comes once, so that all are drawn equally often.
fn block_starts(n_samples: usize, len: usize, step: usize) -> impl Iterator<Item = usize> {
    let last = n_samples - len;
    (0..last).step_by(step.max(1)).chain([last])
}

fn at_least_half_there(rows: &Rows, len: usize, starts: &[usize]) -> Vec<usize> {
    let there = |&first: &usize| 2 * rows.stretch(first, len).n_valid() >= len;
    starts.iter().copied().filter(there).collect()
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
            n_draws: settings.n_masks,
            blocks: if plan.is_long {
                blocks(rows, plan.block_len)
            } else {
                Vec::new()
            },
            windows_within: None,
        };
        if plan.is_long && plan.is_neural() {
            return grid.within_blocks(rows, plan.block_len);
        }
        for scale in &grid.scales {
            if !grid.has_window(scale, 0) {
                return Err(Error::Recording(format!(
                    "missing samples leave no stretch with two whole patches of {}; fill short gaps before the \
                     separation or remove {} from branches.patch_sizes",
                    scale.shape.patch, scale.shape.patch
                )));
            }
        }
        Ok(grid)
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

    /// The same where every window must lie in a block of `len` samples. A block that offers a
    /// window at every scale is usable; of those, the ones of which at least half is there are
    /// preferred.
    fn within_blocks(mut self, rows: &Rows, len: usize) -> Result<Grid> {
        self.windows_within = Some(len);
        let mut usable: Vec<usize> = block_starts(rows.n_samples(), len, len / 2).collect();
        for scale in &self.scales {
            usable.retain(|&first| self.has_window(scale, first));
            if usable.is_empty() {
                return Err(Error::Recording(format!(
                    "missing samples leave no block of {len} samples (optimizer.block, branches.crop) with two whole patches of \
                     {}; fill short gaps before the separation, choose longer blocks or remove {} from branches.patch_sizes",
                    scale.shape.patch, scale.shape.patch
                )));
            }
        }
        let full = at_least_half_there(rows, len, &usable);
        self.blocks = if full.is_empty() { usable } else { full };
        Ok(self)
    }

    /// Windows of a scale that begin in the block at `first`, or in all of the recording.
    fn n_starts(&self, scale: &ScaleGrid) -> usize {
        match self.windows_within {
            Some(len) => (len - scale.shape.span()) / scale.start_step + 1,
            None => scale.n_starts,
        }
    }

    /// Whether the block at `first`, or all of the recording, has a window with at least two
    /// patches to work with.
    fn has_window(&self, scale: &ScaleGrid, first: usize) -> bool {
        (0..self.n_starts(scale)).any(|s| self.n_tokens(scale, first + s * scale.start_step) >= 2)
    }

    /// A uniformly drawn start, in the block at `first` or in all of the recording, whose window
    /// has at least two patches to work with.
    fn draw_start(&self, scale: &ScaleGrid, first: usize, rng: &mut impl Rng) -> usize {
        let n_starts = self.n_starts(scale);
        let mut index = rng.random_range(0..n_starts);
        if self.missing_before.is_some() {
            let mut tries = 0;
            while self.n_tokens(scale, first + index * scale.start_step) < 2 {
                tries += 1;
                index = if tries < TRIES {
                    rng.random_range(0..n_starts)
                } else {
                    (index + 1) % n_starts
                };
            }
        }
        first + index * scale.start_step
    }

    /// First samples of two blocks.
    fn draw_blocks(&self, rng: &mut impl Rng) -> [usize; 2] {
        [(); 2].map(|()| self.blocks[rng.random_range(0..self.blocks.len())])
    }
}

/// The draws of one step, in the order of [`strt_kernels::BranchSet`]'s jobs.
#[derive(Clone, Debug)]
pub struct Draws {
    starts: Vec<usize>,
    signs: Vec<f64>,
    jobs: Vec<Job>,
    jobs_per_source: usize,
    blocks: [usize; 2],
    phase: f64,
    order: Vec<u32>,
}

impl Draws {
    /// Buffers for all jobs of a plan, large enough for every later draw.
    pub fn new(plan: &Plan) -> Draws {
        let branches = plan.branches();
        let jobs = (0..branches.n_jobs())
            .map(|j| {
                let scale = branches.scale_of(j / branches.n_draws);
                Job {
                    window: vec![0.0; scale.span()],
                    shift: 0,
                    tokens: Vec::with_capacity(scale.n_patches),
                    masked: Vec::with_capacity(scale.n_patches),
                }
            })
            .collect();
        let most = branches
            .scales
            .iter()
            .map(|s| s.n_patches)
            .max()
            .unwrap_or(0);
        Draws {
            starts: vec![0; branches.n_jobs()],
            signs: vec![1.0; branches.n_jobs()],
            jobs,
            jobs_per_source: branches.n_jobs() / branches.n_sources,
            blocks: [0; 2],
            phase: 0.0,
            order: Vec::with_capacity(most),
        }
    }

    /// Draws every job anew.
    pub fn sample(&mut self, grid: &Grid, rng: &mut impl Rng) {
        let n_scales = grid.scales.len();
        let mut first = 0;
        if grid.windows_within.is_some() {
            self.blocks = grid.draw_blocks(rng);
            first = self.blocks[0];
        }
        for (j, job) in self.jobs.iter_mut().enumerate() {
            let scale = &grid.scales[j / grid.n_draws % n_scales];
            let start = grid.draw_start(scale, first, rng);
            self.starts[j] = start;
            self.signs[j] = if grid.random_sign && rng.random() {
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
        if !grid.blocks.is_empty() && grid.windows_within.is_none() {
            self.blocks = grid.draw_blocks(rng);
        }
        self.phase = rng.random();
    }

    /// Which of the samples are looked at where not all are, in [0, 1).
    pub(crate) fn phase(&self) -> f64 {
        self.phase
    }

    /// Replaces the drawn blocks, by their first samples.
    pub fn set_blocks(&mut self, first: [usize; 2]) {
        self.blocks = first;
    }

    /// First samples of the two blocks.
    pub(crate) fn blocks(&self) -> [usize; 2] {
        self.blocks
    }

    /// Replaces the draw of one job by a given one over all patches, for reproducing a recorded
    /// run.
    pub fn set(
        &mut self,
        job: usize,
        start: usize,
        shift: usize,
        masked: &[u32],
        n_patches: usize,
    ) {
        self.starts[job] = start;
        self.signs[job] = 1.0;
        let job = &mut self.jobs[job];
        job.shift = shift;
        job.tokens.clear();
        job.tokens.extend(0..n_patches as u32);
        job.masked.clear();
        job.masked.extend_from_slice(masked);
    }

    /// Fills every window by `read(source, first sample, window)`, then gives it its sign.
    pub(crate) fn read_windows(&mut self, read: impl Fn(usize, usize, &mut [f64])) {
        for (j, job) in self.jobs.iter_mut().enumerate() {
            read(j / self.jobs_per_source, self.starts[j], &mut job.window);
            if self.signs[j] < 0.0 {
                job.window.iter_mut().for_each(|value| *value = -*value);
            }
        }
    }

    /// Source, first sample and sign of the window of one job.
    pub(crate) fn place_of(&self, job: usize) -> (usize, usize, f64) {
        (
            job / self.jobs_per_source,
            self.starts[job],
            self.signs[job],
        )
    }

    /// First sample and length of every window of source k.
    pub(crate) fn windows_of(&self, k: usize) -> impl Iterator<Item = (usize, usize)> {
        let jobs = k * self.jobs_per_source..(k + 1) * self.jobs_per_source;
        jobs.map(|j| (self.starts[j], self.jobs[j].window.len()))
    }

    /// First sample of every job's window.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The jobs, with their windows as last read.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }
}

#[cfg(test)]
mod tests {
    use super::block_starts;

    #[test]
    fn every_block_is_offered_once_and_the_last_ends_with_the_recording() {
        for (n_samples, len, step, expected) in [
            (60, 60, 60, vec![0]),
            (60, 60, 30, vec![0]),
            (90, 30, 30, vec![0, 30, 60]),
            (100, 30, 30, vec![0, 30, 60, 70]),
            (120, 60, 30, vec![0, 30, 60]),
            (100, 30, 15, vec![0, 15, 30, 45, 60, 70]),
        ] {
            let found: Vec<usize> = block_starts(n_samples, len, step).collect();
            assert_eq!(
                found, expected,
                "{n_samples} samples, blocks of {len}, {step} apart"
            );
        }
    }
}
