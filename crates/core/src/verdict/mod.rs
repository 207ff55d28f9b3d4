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
//! ```text
//! σ_ij² = θ₀²/(2·evidence_ij) + Var(ρ_ij)/4        interference_i = √Σ_j σ_ij²
//! ```
//!
//! because a log-likelihood is a parabola near its maximum, and because separated sources lack the
//! correlation ρ that the true ones have by chance. Everything random comes from the seed of
//! the run, and no result depends on the number of threads.
//!
//! Deliberately absent: true sources, and the noise that the channels add to a source
//! ([`crate::denoise`]).

mod evidence;
mod gaussian;
mod judged;
mod marginal;
mod networks;
mod replication;

use crate::train::thread_pool;
use crate::{Recording, Result, Separation};
use evidence::{Testimony, pairs};
use faer::Mat;
use judged::Judged;
use serde::{Deserialize, Serialize};
use strt_classic::kernel::Form;

/// Evidence in nats above which a pair counts as resolved.
const RESOLVED: f64 = 4.0;
/// Evidence in nats below which a source counts as white noise.
const STRUCTURED: f64 = 3.0;
/// Steps without which a run has no networks that could judge.
const LEAST_STEPS: usize = 100;
/// The |correlation| from which on halves of the recording, and restarts, have one and the same
/// source.
const SAME: f64 = 0.8;

/// What is asked beside the verdicts themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VerdictOptions {
    /// Further runs with other seeds, in which sources are looked for again. Each takes the time of
    /// the run itself.
    pub replicates: usize,
}

/// What was found of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Held-out samples tell it from every other source, and it was found again wherever it was
    /// looked for.
    Resolved,
    /// They do not tell it from some other source: both may be mixtures of the same two.
    Mixed,
    /// It is another one in each half of the recording, or in other runs.
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
    /// The lowest |correlation| with which it was found again, over halves of the recording and
    /// restarts; `None` where neither says anything.
    pub replication: Option<f64>,
    /// The share of further runs in which it was found again; `None` without any.
    pub found_again: Option<f64>,
    /// Nats by which held-out samples prefer it to the nearest mixture with another source; `None`
    /// for a single source.
    pub evidence: Option<f64>,
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
                "Held-out samples tell it from every other source; expect {share:.0} % of their \
                 amplitude in it."
            ),
            Finding::Mixed => format!(
                "Held-out samples do not tell it from {}: take them as one group, or record for \
                 longer.",
                self.label(names).trim_start_matches("mixed with ")
            ),
            Finding::NotReplicated => "It is another one in each half of the recording or in \
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
        let found_again = match options.replicates {
            0 => None,
            n => Some(replication::of_runs(self, recording, n)?),
        };
        let pool = thread_pool(self.config().threads)?;
        let evidence = pool.install(|| Evidence::new(self, &judged))?;
        let replicated = evidence.replication(self, &judged);
        let verdict = |k: usize| {
            let again = found_again.as_ref().map(|again| again[k]);
            evidence.verdict(k, replicated[k], again)
        };
        Ok((0..judged.n_sources()).map(verdict).collect())
    }

    /// Whether networks took part in the run, so that they may judge its sources.
    fn has_networks(&self) -> bool {
        self.steps() >= LEAST_STEPS && self.config().weights.kernel != Some(1.0)
    }
}

/// What is known of all sources and pairs.
struct Evidence {
    spectrum: Testimony,
    variance: Testimony,
    pairs: Vec<Vec<f64>>, // K×K, the best of all models
    chance: Mat<f64>,     // K×K, variance of angles by chance
    structure: Vec<f64>,
    noise: Vec<bool>,
}

impl Evidence {
    fn new(separation: &Separation, judged: &Judged) -> Result<Evidence> {
        let k = judged.n_sources();
        let (spectrum, variance) = (gaussian::spectrum(judged), gaussian::variance(judged));
        let mut best = vec![vec![f64::INFINITY; k]; k];
        for (i, j) in pairs(k) {
            let nats = spectrum.of_pair(i, j).max(variance.of_pair(i, j));
            (best[i][j], best[j][i]) = (nats, nats);
        }
        let of_source = |k: usize| spectrum.of_source(k).max(variance.of_source(k));
        let mut structure: Vec<f64> = (0..k).map(of_source).collect();
        let open: Vec<(usize, usize)> = pairs(k).filter(|&(i, j)| best[i][j] < RESOLVED).collect();
        if separation.has_networks() && !open.is_empty() {
            let doubtful = |k: &usize| open.iter().any(|&(i, j)| i == *k || j == *k);
            let sources: Vec<usize> = (0..k).filter(doubtful).collect();
            let place = |k: usize| {
                sources
                    .iter()
                    .position(|&s| s == k)
                    .expect("a doubtful one")
            };
            let wanted: Vec<(usize, usize)> =
                open.iter().map(|&(i, j)| (place(i), place(j))).collect();
            if let Some(said) = networks::testimony(separation, judged, &sources, &wanted)? {
                for &(i, j) in &open {
                    let nats = best[i][j].max(said.of_pair(place(i), place(j)));
                    (best[i][j], best[j][i]) = (nats, nats);
                }
                for (place, &source) in sources.iter().enumerate() {
                    structure[source] = structure[source].max(said.of_source(place));
                }
            }
        }
        let is_noise = |k: usize| structure[k] < STRUCTURED && marginal::is_gaussian(judged, k);
        Ok(Evidence {
            noise: (0..k).map(is_noise).collect(),
            chance: gaussian::chance(judged),
            spectrum,
            variance,
            pairs: best,
            structure,
        })
    }

    /// The least evidence that a testimony has for a source.
    fn least(&self, testimony: &Testimony, source: usize) -> f64 {
        let others = (0..self.noise.len()).filter(|&j| j != source);
        others
            .map(|j| testimony.of_pair(source, j))
            .fold(f64::INFINITY, f64::min)
    }

    /// How far each source was found again, where that can be said.
    fn replication(&self, separation: &Separation, judged: &Judged) -> Vec<Option<f64>> {
        let pieces = judged.pieces();
        let forms = [
            (&self.spectrum, Form::spectrum(&pieces)),
            (&self.variance, Form::variance(&pieces)),
        ];
        let mut replication = vec![None; self.noise.len()];
        for (testimony, form) in forms {
            let told = |k: usize| self.least(testimony, k) >= RESOLVED;
            if !(0..self.noise.len()).any(told) {
                continue;
            }
            let Some(halves) = replication::of_halves(judged, &form) else {
                continue;
            };
            for (k, slot) in replication.iter_mut().enumerate().filter(|(k, _)| told(*k)) {
                let found: f64 = halves[k];
                *slot = Some(slot.map_or(found, |other: f64| other.max(found)));
            }
        }
        // Where the kernel energy says nothing, only another start can. A bent map may be wrong in
        // ways that no turning of its sources shows, so that other starts are asked in any case.
        let restarts = separation.replication();
        let affine = separation.mixing().is_some();
        let lowest = |halves: Option<f64>| match (halves, restarts) {
            (Some(halves), Some(restarts)) if !affine => Some(halves.min(restarts)),
            (halves, restarts) => halves.or(restarts),
        };
        replication.into_iter().map(lowest).collect()
    }

    fn verdict(&self, k: usize, replication: Option<f64>, found_again: Option<f64>) -> Verdict {
        let n = self.noise.len();
        let of_pair = |j: usize| self.pairs[k][j];
        let mut doubtful: Vec<usize> = (0..n)
            .filter(|&j| j != k && of_pair(j) < RESOLVED)
            .collect();
        doubtful.sort_by(|&a, &b| of_pair(a).total_cmp(&of_pair(b)));
        let again =
            replication.is_none_or(|r| r >= SAME) && found_again.is_none_or(|share| share >= 0.5);
        let finding = if self.noise[k] {
            Finding::Noise
        } else if !doubtful.is_empty() {
            Finding::Mixed
        } else if !again {
            Finding::NotReplicated
        } else {
            Finding::Resolved
        };
        let angle = evidence::angle();
        let others = (0..n).filter(|&j| j != k);
        let square = |j: usize| {
            let by_evidence = angle * angle / (2.0 * of_pair(j).max(f64::MIN_POSITIVE));
            by_evidence + self.chance[(k, j)]
        };
        let interference = others.clone().map(square).sum::<f64>().sqrt().min(1.0);
        let least = others.map(of_pair).fold(f64::INFINITY, f64::min);
        Verdict {
            finding,
            mixed_with: match finding {
                Finding::Mixed => doubtful,
                _ => Vec::new(),
            },
            interference,
            replication,
            found_again,
            evidence: least.is_finite().then_some(least),
            structure: self.structure[k],
        }
    }
}
