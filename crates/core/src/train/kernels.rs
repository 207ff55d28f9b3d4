//! What the kernel energy alone makes of a recording, found once and shared by all restarts.
//!
//! In: whitened components. Out: the moments that kernel energies read, the place where the energy
//! is least, and whether that place means anything: it does where both halves of the recording
//! agree on it. Where it does not, only the networks can tell the sources apart, and need time for
//! it.
//!
//! Deliberately absent: what a run does with it (`start.rs`, `proposal.rs`).

use crate::Result;
use crate::config::{Init, MixerKind, Plan};
use crate::energy::{Judge, Kernel, Novelty};
use crate::view::data::Data;
use crate::view::second_moments::KernelData;
use faer::Mat;
use strt_classic::kernel::{AGREEMENT, Form, Novel, Values};
use strt_classic::{Components, Fast, Method, Unmixing};
use strt_signal::rows::Rows;

/// The least steps at the first rate where second-order statistics tell all sources apart.
const CERTAIN_STEPS: usize = 200;
/// Where it does not, networks need more steps the longer the recording is: this many less than it
/// has samples, …
const UNCERTAIN_LEAD: usize = 500;
/// … within these bounds.
const UNCERTAIN_STEPS: (usize, usize) = (500, 1500);

/// Nats per sample and source that forecasts must gain where the mixing is bent. Bends alone let
/// Gaussian sources seem to gain up to 0.08; chaotic ones gain 0.17 and more behind three layers.
const BENT_GAIN: f64 = 0.12;

/// Nats per sample and source that heavy tails under a changing variance must gain. Bent mixtures of
/// sources that have them gain 0.03 and more, those of Gaussian sources up to 0.01.
const HEAVY_GAIN: f64 = 0.025;

/// What the kernel energy found.
#[derive(Clone, Debug)]
pub(crate) struct Kernels {
    /// What kernel energies read.
    pub data: KernelData,
    /// What is judged beside second moments.
    pub novel: Novel,
    /// Where the energy is least, ordered by correlation time; `None` where too few samples are
    /// there, and for data that another recording has whitened.
    pub solution: Option<Unmixing>,
    /// Whether the energy tells all sources apart, so that a run may begin there.
    pub certain: bool,
    /// Whether it does so by second-order statistics alone. Otherwise networks may know more, and
    /// need time to learn it.
    pub sufficient: bool,
}

impl Kernels {
    /// Of a recording under a plan, whose components have these variances before they are made white;
    /// `None` where the plan has no use for it.
    pub fn new(
        plan: &Plan,
        data: &Data,
        rows: &Rows,
        variances: &[f64],
    ) -> Result<Option<Kernels>> {
        let config = plan.config();
        let k = config.n_sources;
        let wanted = plan.kernel > 0.0 || plan.init == Init::Fast || plan.begins_affine;
        if !wanted {
            return Ok(None);
        }
        let whitened = data.components(k);
        // Bends make innovations look as if they were not Gaussian, whatever the sources are.
        let fast = Fast {
            seed: config.seed,
            innovations: config.mixer.kind == MixerKind::Affine,
            ..Fast::default()
        };
        // Whitening that was fitted on another recording leaves components that are not white, and
        // nothing to search for: new data are judged by their spectra.
        let components = Components::of_rows((*whitened).as_ref(), rows.view()).ok();
        let enough = rows.n_valid() >= fast.least_samples(k);
        let Some(components) = components.filter(|_| enough) else {
            let forms = vec![Form::spectrum(&rows.to_pieces())];
            return Ok(Some(Kernels {
                data: KernelData::new(&whitened, rows, forms),
                novel: Novel::Nothing,
                solution: None,
                certain: false,
                sufficient: false,
            }));
        };
        let components = components.with_variances(variances);
        let mut found = fast.solve(&components)?;
        let bent = config.mixer.kind != MixerKind::Affine;
        if bent && found.novel.is_something() && found.saved < BENT_GAIN * k as f64 {
            let forecasts = false;
            found = Fast { forecasts, ..fast }.solve(&components)?;
        }
        if bent && found.novel == Novel::Nothing && found.forms.iter().all(Form::is_of_variances) {
            let heavy = heavy_tails(&components, &found.unmixing.matrix);
            if heavy >= HEAVY_GAIN * k as f64 {
                found.novel = Novel::Values;
            }
        }
        // Without steps nobody asks.
        let certain = plan.steps == 0
            || found.novel.is_something()
            || found.disagreement(&components) < AGREEMENT;
        // The rest is asked where second moments do not suffice.
        let sufficient = certain && !found.novel.is_something();
        let (solution, _) = found.unmixing.ordered(&components)?;
        Ok(Some(Kernels {
            data: KernelData::from_moments(found.forms, found.moments, rows),
            novel: found.novel,
            solution: Some(solution),
            certain,
            sufficient,
        }))
    }

    /// The kernel energy of a plan, if it has one.
    pub fn energy(&self, plan: &Plan, rows: &Rows) -> Option<Kernel> {
        let samples = if plan.is_linear() {
            None
        } else if plan.looks_at_one_block() {
            Some(plan.block_len)
        } else {
            Some(rows.n_samples())
        };
        let (k, r) = (plan.config().n_sources, plan.branches().scales.len());
        let judge = || match &self.novel {
            Novel::Nothing => None,
            Novel::Innovations(densities) => {
                let lags = self.data.successive_lags(samples);
                let n = samples.unwrap_or(rows.n_valid());
                Some(Judge::innovations(densities, lags, n))
            }
            Novel::Forecasts(shape) => Some(Judge::forecasts(*shape)),
            Novel::Values => Some(Judge::values()),
        };
        // Samples are read in the windows of the networks.
        let judge = (plan.kernel < 1.0).then(judge).flatten();
        let novelty = judge.map(|judge| Novelty::new(judge, k, rows));
        (plan.kernel > 0.0).then(|| {
            let energy = self.data.energy(samples);
            Kernel::new(energy, novelty, k, r)
        })
    }
}

/// Nats per sample by which heavy tails describe the values of all sources of A better than a
/// Gaussian, under variances that change.
fn heavy_tails(components: &Components<'_>, a: &Mat<f64>) -> f64 {
    let sources = components.whitened() * a;
    let rows = components.rows();
    let mut values = Values::new(sources.nrows());
    let of_source = |j: usize| {
        values.read(sources.col_as_slice(j), |t| rows.is_valid(t));
        values.best().map_or(0.0, |(_, nats)| nats)
    };
    (0..sources.ncols()).map(of_source).sum()
}

/// The least steps at the first rate of a run on `n_samples` complete samples.
pub(crate) fn least_steps(kernels: Option<&Kernels>, n_samples: usize) -> usize {
    let (least, most) = UNCERTAIN_STEPS;
    match kernels {
        Some(Kernels {
            sufficient: true, ..
        }) => CERTAIN_STEPS,
        _ => n_samples.saturating_sub(UNCERTAIN_LEAD).clamp(least, most),
    }
}
