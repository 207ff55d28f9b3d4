//! What all witnesses together say of every pair and source, and the verdicts that follow.
//!
//! Held-out spectra and variances are asked first, then simulated twins and phases about the pairs
//! that these leave in doubt, then innovations that are not Gaussian, then forecasts, then networks about
//! those that are still open.

use super::evidence::{pairs, place};
use super::forecast::{self, Heard};
use super::judged::Judged;
use super::pair::{Pair, RESOLVED, Witness};
use super::replication::{self, Halves, Restarts};
use super::spectra::Spectra;
use super::{Finding, Verdict, VerdictOptions};
use super::{gaussian, innovations, marginal, networks, phases, twins};
use crate::{Result, Separation};
use rayon::prelude::*;
use std::f64::consts::FRAC_PI_2;
use strt_classic::kernel::{Beside, Form};

/// Nats of spectra from which on no simulated twins are asked as well, …
const CLEAR: f64 = 30.0;
/// … and samples beyond which they are asked only about pairs that are not told.
const SHORT: usize = 10_000;
/// Evidence in nats below which a source counts as white noise.
const STRUCTURED: f64 = 3.0;
/// The |correlation| from which on halves of the recording, and restarts, have one and the same
/// source.
const SAME: f64 = 0.8;
/// The share of drawn recordings, and of further runs, that must have a source.
const HALF: f64 = 0.5;

/// Where a source was found again.
#[derive(Default)]
struct Again {
    halves: Option<f64>,
    blocks: Option<f64>,
    restarts: Option<Restarts>,
    reruns: Option<f64>,
}

/// What is known of all sources and pairs.
pub(super) struct Judgement {
    pairs: Vec<Pair>, // i < j
    n_sources: usize,
    structure: Vec<f64>,
    noise: Vec<bool>,
}

impl Judgement {
    pub fn new(separation: &Separation, judged: &Judged) -> Result<Judgement> {
        let k = judged.n_sources();
        let (spectrum, variance) = (gaussian::spectrum(judged), gaussian::variance(judged));
        let spectra = Spectra::new(judged);
        let pair = |(i, j): (usize, usize)| Pair {
            spectrum: spectrum.of_pair(i, j),
            variance: variance.of_pair(i, j),
            innovations: f64::NEG_INFINITY,
            networks: None,
            forecast: None,
            twins: None,
            locked: false,
            chance: spectra.chance(i, j),
            angle: spectra.angle(i, j),
        };
        let of_source = |k: usize| spectrum.of_source(k).max(variance.of_source(k));
        let mut judgement = Judgement {
            pairs: pairs(k).map(pair).collect(),
            n_sources: k,
            structure: (0..k).map(of_source).collect(),
            noise: Vec::new(),
        };
        judgement.ask_twins(separation, judged);
        judgement.ask_innovations(judged);
        judgement.ask_forecasts(judged);
        if separation.has_networks() {
            judgement.ask_networks(separation, judged)?;
        }
        let structure = &judgement.structure;
        let is_noise = |k: usize| structure[k] < STRUCTURED && marginal::is_gaussian(judged, k);
        judgement.noise = (0..k).map(is_noise).collect();
        Ok(judgement)
    }

    /// Pairs that no witness has told so far, and that another may.
    fn open(&self) -> Vec<(usize, usize)> {
        self.pairs_that(|pair| !(pair.locked || pair.is_told()))
    }

    fn pairs_that(&self, are: impl Fn(&Pair) -> bool) -> Vec<(usize, usize)> {
        let all = pairs(self.n_sources).zip(&self.pairs);
        all.filter(|(_, pair)| are(pair))
            .map(|(pair, _)| pair)
            .collect()
    }

    fn ask_twins(&mut self, separation: &Separation, judged: &Judged) {
        // What is far beyond the limit needs no simulation, and long recordings would take long.
        let short = judged.n_samples() <= SHORT;
        let barely = |pair: &Pair| short && (RESOLVED..CLEAR).contains(&pair.spectrum);
        let asked = |pair: &Pair| barely(pair) || !(pair.by_spectrum() || pair.is_told());
        let open = self.pairs_that(asked);
        let seed = separation.seed();
        let ask = |&pair: &(usize, usize)| {
            let excess = twins::excess(judged, pair, seed);
            (excess, phases::locked(judged, pair))
        };
        let said: Vec<(Option<f64>, bool)> = open.par_iter().map(ask).collect();
        for (&(i, j), (excess, locked)) in open.iter().zip(said) {
            let pair = self.pair_mut(i, j);
            (pair.twins, pair.locked) = (excess, locked);
        }
    }

    /// Sources of these pairs, and the pairs as places among them.
    fn doubtful(&self, open: &[(usize, usize)]) -> (Vec<usize>, Vec<(usize, usize)>) {
        let doubtful = |k: &usize| open.iter().any(|&(i, j)| i == *k || j == *k);
        let sources: Vec<usize> = (0..self.n_sources).filter(doubtful).collect();
        let place = |k: usize| sources.binary_search(&k).expect("a doubtful one");
        let pairs = open.iter().map(|&(i, j)| (place(i), place(j))).collect();
        (sources, pairs)
    }

    fn ask_innovations(&mut self, judged: &Judged) {
        let open = self.open();
        if open.is_empty() {
            return;
        }
        let said = innovations::testimony(judged, &open);
        for (i, j) in open {
            self.pair_mut(i, j).innovations = said.of_pair(i, j);
        }
        for (source, structure) in self.structure.iter_mut().enumerate() {
            *structure = structure.max(said.of_source(source));
        }
    }

    fn ask_forecasts(&mut self, judged: &Judged) {
        let open = self.open();
        let (sources, wanted) = self.doubtful(&open);
        let Some(said) = forecast::forecasts(judged, &sources, &wanted, RESOLVED) else {
            return;
        };
        for (&(i, j), heard) in open.iter().zip(said.pairs) {
            self.pair_mut(i, j).forecast = Some(heard);
        }
        for (source, gain) in sources.into_iter().zip(said.gains) {
            self.structure[source] = self.structure[source].max(gain);
        }
    }

    fn ask_networks(&mut self, separation: &Separation, judged: &Judged) -> Result<()> {
        let open = self.open();
        if open.is_empty() {
            return Ok(());
        }
        let (sources, wanted) = self.doubtful(&open);
        if let Some(said) = networks::testimony(separation, judged, &sources, &wanted)? {
            for (&(i, j), &(a, b)) in open.iter().zip(&wanted) {
                self.pair_mut(i, j).networks = Some(Heard {
                    nats: said.of_pair(a, b),
                    shift: 0.0, // what they say is not exact enough to know
                    apart: said.apart(a, b),
                });
            }
            for (place, &source) in sources.iter().enumerate() {
                self.structure[source] = self.structure[source].max(said.of_source(place));
            }
        }
        Ok(())
    }

    fn pair(&self, i: usize, j: usize) -> &Pair {
        &self.pairs[place(self.n_sources, i, j)]
    }

    fn pair_mut(&mut self, i: usize, j: usize) -> &mut Pair {
        &mut self.pairs[place(self.n_sources, i, j)]
    }

    fn others(&self, k: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.n_sources).filter(move |&j| j != k)
    }

    /// The verdicts on all sources, of which `reruns` says in which share of further runs they
    /// were.
    pub fn verdicts(
        &self,
        separation: &Separation,
        judged: &Judged,
        options: VerdictOptions,
        reruns: Option<&[f64]>,
    ) -> Vec<Verdict> {
        let mut again = self.found_again(separation, judged, options.replicates);
        for (k, again) in again.iter_mut().enumerate() {
            again.reruns = reruns.map(|reruns| reruns[k]);
        }
        let affine = separation.mixing().is_some();
        let verdict = |(k, again): (usize, Again)| self.verdict(k, again, affine);
        again.into_iter().enumerate().map(verdict).collect()
    }

    /// Where each source was found again, where that can be said.
    fn found_again(&self, separation: &Separation, judged: &Judged, draws: usize) -> Vec<Again> {
        let pieces = judged.pieces();
        let (spectrum, variance) = (Form::spectrum(&pieces), Form::variance(&pieces));
        let halves = self.halves(judged, &spectrum, &variance);
        let source = |(k, halves): (usize, Option<f64>)| Again {
            halves,
            restarts: replication::of_restarts(separation, k),
            ..Again::default()
        };
        let mut again: Vec<Again> = halves.into_iter().enumerate().map(source).collect();
        if draws == 0 {
            return again;
        }
        // Blocks are asked by moments, and so about sources that one form tells from all others.
        let by_variance = |pair: &Pair| pair.variance >= RESOLVED;
        let told_from_all = |tells: &dyn Fn(&Pair) -> bool| -> Vec<usize> {
            let told = |&k: &usize| self.others(k).all(|j| tells(self.pair(k, j)));
            (0..self.n_sources).filter(told).collect()
        };
        for (form, told) in [
            (&spectrum, told_from_all(&Pair::by_spectrum)),
            (&variance, told_from_all(&by_variance)),
        ] {
            if told.is_empty() {
                continue;
            }
            let seed = separation.seed();
            if let Some(found) = replication::of_blocks(judged, form, draws, seed) {
                for k in told {
                    let before = again[k].blocks.unwrap_or(0.0);
                    again[k].blocks = Some(found[k].max(before));
                }
            }
        }
        again
    }

    /// The |correlation| with which both halves have each source: the cosine of the angles by
    /// which they have its pairs apart, each as the witness has it that tells the pair.
    fn halves(&self, judged: &Judged, spectrum: &Form, variance: &Form) -> Vec<Option<f64>> {
        let needed = |witness: Witness| self.pairs.iter().any(|pair| pair.witness() == witness);
        let halves = |witness: Witness, form: &Form| {
            let beside = match witness {
                Witness::Innovations => Beside::Innovations,
                _ => Beside::Nothing,
            };
            needed(witness).then(|| Halves::new(judged, form, beside))?
        };
        let by_spectrum = halves(Witness::Spectrum, spectrum);
        let by_variance = halves(Witness::Variance, variance);
        let by_innovations = halves(Witness::Innovations, spectrum);
        let apart = |k: usize, j: usize| -> Option<f64> {
            let pair = self.pair(k, j);
            let refitted = |halves: &Option<Halves>| Some(halves.as_ref()?.apart(k, j));
            match pair.witness() {
                Witness::Spectrum => refitted(&by_spectrum),
                Witness::Variance => refitted(&by_variance),
                Witness::Innovations => refitted(&by_innovations),
                Witness::Forecast => Some(pair.forecast?.apart),
                Witness::Networks => Some(pair.networks?.apart),
            }
        };
        let of_source = |k: usize| {
            let square = |j: usize| Some(apart(k, j)?.powi(2));
            let sum = self.others(k).map(square).sum::<Option<f64>>()?;
            (self.n_sources > 1).then(|| sum.sqrt().min(FRAC_PI_2).cos())
        };
        (0..self.n_sources).map(of_source).collect()
    }

    fn verdict(&self, k: usize, again: Again, affine: bool) -> Verdict {
        let nats = |j: usize| self.pair(k, j).nats();
        let mut doubtful: Vec<usize> = self
            .others(k)
            .filter(|&j| !self.pair(k, j).is_told())
            .collect();
        doubtful.sort_by(|&a, &b| nats(a).total_cmp(&nats(b)));
        // Where the kernel energy says nothing, only another start can. A bent map may be wrong in
        // ways that no turning of its sources shows, so that other starts are asked in any case.
        let restarts = again.restarts.as_ref().map(|restarts| restarts.likeness);
        let replication = match (again.halves, restarts) {
            (Some(halves), Some(restarts)) if !affine => Some(halves.min(restarts)),
            (halves, restarts) => halves.or(restarts),
        };
        let often = |share: Option<f64>| share.is_none_or(|share| share >= HALF);
        let replicated = replication.is_none_or(|r| r >= SAME);
        let finding = if self.noise[k] {
            Finding::Noise
        } else if !doubtful.is_empty() {
            Finding::Mixed
        } else if !(replicated && often(again.blocks) && often(again.reruns)) {
            Finding::NotReplicated
        } else {
            Finding::Resolved
        };
        let variance = |j: usize| self.pair(k, j).variance_of_angle();
        let least = |values: &mut dyn Iterator<Item = f64>| values.min_by(f64::total_cmp);
        Verdict {
            finding,
            mixed_with: match finding {
                Finding::Mixed => doubtful,
                _ => Vec::new(),
            },
            interference: self.others(k).map(variance).sum::<f64>().sqrt().min(1.0),
            replication,
            found_again: again.blocks,
            restarts: again.restarts.map(|restarts| restarts.recurrence),
            reruns: again.reruns,
            evidence: least(&mut self.others(k).map(nats)),
            beyond_twins: least(&mut self.others(k).filter_map(|j| self.pair(k, j).twins)),
            structure: self.structure[k],
        }
    }
}
