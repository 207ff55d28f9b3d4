//! Which sources of a run to trust: an error bar, a replication score and a finding for each.
//!
//! In: a [`Separation`] and its recording. Out: one [`Verdict`] a source. The principle is held-out
//! evidence: do samples from which a model has *not* learned prefer the pair of sources that was
//! found to the pair turned by an angle θ₀, beyond which a source would have a |correlation| below
//! 0.95 with itself? Turning a pair of unit variance changes no volume, so that the likelihood
//! ratio is a difference of energies (`evidence.rs`). Spectra and changing variances are held out
//! by folds (`gaussian.rs`), and pairs that they leave in doubt are brought before branch networks,
//! each half of the recording judged by those that have learned from the other (`networks.rs`).
//! The sources alone are judged, never the channels, so that the mixing may be nonlinear.
//!
//! Held-out tests need samples that slow sources in short recordings do not have. So spectra are
//! also held against simulated pairs of one spectrum (`twins.rs`), and phases show pairs that have
//! the same power everywhere (`phases.rs`). How exactly a pair is known
//! follows from the curvature of the energy and from spectra (`spectra.rs`); one that is not known
//! to within θ₀ is not told, whatever the evidence. What all of it comes to is in `judgement.rs`.
//!
//! ```text
//! interference_i = √Σ_j ( Var(θ_ij) + Var(ρ_ij)/4 )
//! ```
//!
//! with θ the angle of a pair and ρ the correlation that the true sources have by chance, and that
//! separation takes away. Everything random comes from the seed of the run, and no result depends
//! on the number of threads.
//!
//! Deliberately absent: true sources, and the noise that the channels add to a source
//! ([`crate::denoise`]).

mod evidence;
mod forecast;
mod gaussian;
mod innovations;
mod judged;
mod judgement;
mod marginal;
mod networks;
mod pair;
mod phases;
mod replication;
mod spectra;
mod twins;

pub use replication::Recurrence;

use crate::train::thread_pool;
use crate::{Recording, Result, Separation};
use judged::Judged;
use judgement::Judgement;
use serde::{Deserialize, Serialize};

/// Steps without which a run has no networks that could judge.
const LEAST_STEPS: usize = 100;

/// What is asked beside the verdicts themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VerdictOptions {
    /// Recordings put together from blocks of this one, in which sources are looked for again by
    /// the kernel energy: what `fast` minimises. Default 20.
    pub replicates: usize,
    /// Further runs with other seeds, in which sources are looked for again. Each takes the time of
    /// the run itself. Default 0.
    pub reruns: usize,
}

impl Default for VerdictOptions {
    fn default() -> Self {
        VerdictOptions {
            replicates: 20,
            reruns: 0,
        }
    }
}

/// What was found of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// It is told from every other source, and was found again wherever it was looked for.
    Resolved,
    /// It is not told from some other source: both may be mixtures of the same two.
    Mixed,
    /// It is another one in each half of the recording, in most drawings of its blocks, or in other
    /// runs.
    NotReplicated,
    /// Nothing predicts it any better than Gaussian white noise.
    Noise,
}

/// How far a source is to be trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The finding.
    pub finding: Finding,
    /// Sources, counted from 0, from which this one is not told, the least certain first.
    pub mixed_with: Vec<usize>,
    /// The amplitude of the other sources that is to be expected in this one, from 0 to 1, in units
    /// of its own: the error bar.
    pub interference: f64,
    /// The |correlation| with which both halves of the recording have it, as those see it who tell
    /// it from the others; behind a nonlinear mixer, that with the restart that is most like it
    /// where that is lower. `None` where a half has no answer.
    pub replication: Option<f64>,
    /// The share of recordings put together from blocks of this one in which it was found again;
    /// `None` without any, and where the kernel energy does not tell it from the others.
    pub found_again: Option<f64>,
    /// In how many restarts it was found again; `None` where there was no other.
    pub restarts: Option<Recurrence>,
    /// The share of further runs in which it was found again; `None` without any.
    pub reruns: Option<f64>,
    /// Nats by which held-out samples prefer it to the nearest mixture with another source; `None`
    /// for a single source.
    pub evidence: Option<f64>,
    /// Standard deviations by which its spectrum and that of the source most like it differ more
    /// than those of simulated pairs of one spectrum; `None` where held-out samples say enough.
    pub beyond_twins: Option<f64>,
    /// Nats by which they prefer it to white noise.
    pub structure: f64,
}

impl Verdict {
    /// The finding as it is shown: `resolved`, `mixed with s4`, `not replicated` or `noise`.
    pub fn label(&self, names: &[String]) -> String {
        match self.finding {
            Finding::Resolved => "resolved".into(),
            Finding::NotReplicated => "not replicated".into(),
            Finding::Noise => "noise".into(),
            Finding::Mixed => {
                let others = self.mixed_with.iter().map(|&k| names[k].as_str());
                format!("mixed with {}", others.collect::<Vec<&str>>().join(", "))
            }
        }
    }

    /// What it means, in a sentence.
    pub fn words(&self, names: &[String]) -> String {
        let share = 100.0 * self.interference;
        match self.finding {
            Finding::Resolved => format!(
                "It is told from every other source; expect {share:.0} % of their amplitude in it."
            ),
            Finding::Mixed => format!(
                "It is not told from {}: take them as one group, or record for longer.",
                self.label(names).trim_start_matches("mixed with ")
            ),
            Finding::NotReplicated => "It is another one in other parts of the recording or in \
                                       other runs: do not rely on it."
                .into(),
            Finding::Noise => "Nothing predicts it any better than Gaussian white noise.".into(),
        }
    }
}

impl Separation {
    /// A verdict on every source of this run on `recording`.
    ///
    /// ```
    /// use strtransformer::{Config, separate, verdict::{Finding, VerdictOptions}};
    /// # let kind = strt_synth::SourceKind::Ar;
    /// # let spec = strt_synth::ProblemSpec { kind, ..Default::default() };
    /// # let recording = spec.generate()?.recording()?;
    /// let separation = separate(&recording, &Config::fast(3))?;
    /// let verdicts = separation.verdicts(&recording, VerdictOptions::default())?;
    /// assert!(verdicts.iter().all(|verdict| verdict.finding == Finding::Resolved));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the recording is another one, or the run has diverged.
    pub fn verdicts(&self, recording: &Recording, options: VerdictOptions) -> Result<Vec<Verdict>> {
        self.check_channels(recording)?;
        let judged = Judged::new(self.sources(), recording)?;
        let reruns = match options.reruns {
            0 => None,
            n => Some(replication::of_runs(self, recording, n)?),
        };
        thread_pool(self.config().threads)?.install(|| {
            let judgement = Judgement::new(self, &judged)?;
            Ok(judgement.verdicts(self, &judged, options, reruns.as_deref()))
        })
    }

    /// Whether networks took part in the run, so that they may judge its sources.
    fn has_networks(&self) -> bool {
        self.steps() >= LEAST_STEPS && self.config().weights.kernel != Some(1.0)
    }
}
