//! What is random in the branches of one step: where each reads its source and with which sign, how
//! its positions are shifted, what is hidden.
//!
//! A [`Grid`] knows which starts are possible; [`Draws`] holds one drawn [`Job`] per branch and
//! cuts the windows out of the sources. The sign of a source is part of the gauge, so a branch that
//! sees it with either sign learns nothing it may not know, and cannot learn one trajectory by
//! heart as easily. Patches that touch a missing sample are left out of the job's tokens: they are
//! neither context nor target. A window lies in one piece of the recording; in a piece that is
//! shorter than the window it ends with the piece and has fewer patches.

use super::{SourceWindows, Window};
use crate::config::{Branches, Plan};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use std::ops::Range;
use strt_kernels::{BranchSet, Job, ScaleShape};
use strt_signal::pieces::Pieces;
use strt_signal::rows::Rows;

/// Random starts tried before the next admissible one is searched for in order.
const TRIES: usize = 64;

/// The possible windows of every scale.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    scales: Vec<ScaleGrid>,
    /// Number of missing samples before t; absent when nothing is missing.
    missing_before: Option<Vec<u32>>,
    /// Absent when the recording is one piece.
    pieces: Option<Pieces>,
    branches: Branches,
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

/// Samples of a window of so many patches, at least one.
fn span(shape: &ScaleShape, n_patches: usize) -> usize {
    (n_patches - 1) * shape.stride + shape.patch
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
            pieces: Some(rows.to_pieces()).filter(|pieces| !pieces.is_whole()),
            branches: settings.clone(),
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

    /// Patches of the window of a scale that begins with this one of these samples; 0 where none
    /// does: it would not end in the piece in which it begins.
    fn n_patches(&self, scale: &ScaleGrid, start: usize, samples: &Range<usize>) -> usize {
        let shape = &scale.shape;
        let Some(pieces) = &self.pieces else {
            return shape.n_patches;
        };
        let piece = pieces.at(start);
        let (first, end) = (piece.start.max(samples.start), piece.end.min(samples.end));
        let held = self.branches.patches_within(end - first, shape.patch);
        let n_patches = held.map_or(0, |held| held.min(shape.n_patches));
        let on_grid = (start - first).is_multiple_of(scale.start_step);
        if n_patches > 0 && on_grid && start + span(shape, n_patches) <= end {
            n_patches
        } else {
            0
        }
    }

    fn is_token(&self, scale: &ScaleGrid, start: usize, patch: usize) -> bool {
        self.missing_before.as_ref().is_none_or(|before| {
            let first = start + patch * scale.shape.stride;
            before[first] == before[first + scale.shape.patch]
        })
    }

    fn n_tokens(&self, scale: &ScaleGrid, start: usize, samples: &Range<usize>) -> usize {
        (0..self.n_patches(scale, start, samples))
            .filter(|&i| self.is_token(scale, start, i))
            .count()
    }

    /// Where windows of a scale may begin among these samples: how many places, and how far apart.
    /// In several pieces any sample is a place, and most of them are refused.
    fn starts(&self, scale: &ScaleGrid, samples: &Range<usize>) -> (usize, usize) {
        if self.pieces.is_some() {
            (samples.len(), 1)
        } else if samples.len() == self.n_samples {
            (scale.n_starts, scale.start_step)
        } else {
            let spare = samples.len() - scale.shape.span();
            (spare / scale.start_step + 1, scale.start_step)
        }
    }

    /// Whether there is a window among these samples with at least two patches to work with.
    fn has_window(&self, scale: &ScaleGrid, samples: &Range<usize>) -> bool {
        let (n_starts, step) = self.starts(scale, samples);
        (0..n_starts)
            .map(|s| samples.start + s * step)
            .any(|start| self.n_tokens(scale, start, samples) >= 2)
    }

    /// A uniformly drawn start among these samples whose window has at least two patches to work
    /// with.
    fn draw_start(&self, scale: &ScaleGrid, samples: &Range<usize>, rng: &mut dyn Rng) -> usize {
        let (n_starts, step) = self.starts(scale, samples);
        let start = |index: usize| samples.start + index * step;
        let mut index = rng.random_range(0..n_starts);
        if self.missing_before.is_some() || self.pieces.is_some() {
            let mut tries = 0;
            while self.n_tokens(scale, start(index), samples) < 2 {
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
            let n_patches = grid.n_patches(scale, start, samples);
            self.windows[b].first = start;
            self.windows[b].len = span(&scale.shape, n_patches);
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
                (0..n_patches)
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
            let Window { source, first, len } = self.windows[b];
            let (window, beyond) = job.window.split_at_mut(len);
            sources.read(source, first, window);
            beyond.fill(0.0);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Recording};
    use strt_signal::random::{Stream, rng};

    /// Every window lies in one piece, whatever the scale, and pieces long enough for a scale are
    /// all read.
    #[test]
    fn windows_lie_in_one_piece() {
        let lengths = [40, 3, 9, 70, 1, 33, 8, 120];
        let n: usize = lengths.iter().sum();
        let wave = |t: usize, c: usize| ((t * (c + 2)) as f64 * 0.3).sin();
        let values = faer::Mat::from_fn(n, 2, wave);
        let recording = Recording::from_mat(values).unwrap();
        let recording = recording.with_pieces(&lengths).unwrap();
        for (random_start, crop) in [(true, 1024), (false, 1024), (true, 48)] {
            let mut config = Config::new(2);
            (config.branches.random_start, config.branches.crop) = (random_start, crop);
            let plan = config.check(&recording).unwrap();
            let grid = Grid::new(&plan, &Rows::of(&recording)).unwrap();
            let mut draws = Draws::new(plan.branches());
            let mut seen = vec![vec![false; lengths.len()]; grid.scales.len()];
            for (samples, step) in [(0..n, 0), (30..n - 20, 1)] {
                for draw in 0..400 {
                    let stream = Stream::Step(1000 * step + draw);
                    draws.sample(&grid, &samples, &mut rng(7, stream));
                    for (b, window) in draws.windows().iter().enumerate() {
                        let piece = recording.pieces().at(window.first);
                        let end = window.first + window.len;
                        assert!(
                            end <= piece.end.min(samples.end),
                            "{window:?} leaves {piece:?}"
                        );
                        assert!(window.first >= samples.start);
                        let job = &draws.jobs()[b];
                        let scale = b % grid.scales.len();
                        let shape = grid.scales[scale].shape;
                        let last = *job.tokens.last().unwrap() as usize;
                        assert!(job.tokens.len() >= 2 && span(&shape, last + 1) == window.len);
                        let number = recording.pieces().ranges().position(|p| p == piece);
                        seen[scale][number.unwrap()] = true;
                    }
                }
            }
            for (scale, seen) in seen.iter().enumerate() {
                let needed = 2 * grid.scales[scale].shape.patch;
                for (length, seen) in lengths.iter().zip(seen) {
                    assert_eq!(*seen, *length >= needed, "scale {scale}, piece of {length}");
                }
            }
        }
    }
}
