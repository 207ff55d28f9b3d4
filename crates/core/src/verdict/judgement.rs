//! What all witnesses together say of every pair and source, and the verdicts that follow.
//!
//! Held-out spectra and variances are asked first, then simulated twins about the pairs that these
//! leave in doubt, then innovations that are not Gaussian, then forecasts, then networks about
//! those that are still open.

use super::evidence::{Testimony, angle, pairs, place};
use super::forecast::{self, Heard};
use super::judged::Judged;
use super::replication::{self, Restarts};
use super::spectra::Spectra;
use super::{Finding, Verdict, VerdictOptions, gaussian, innovations, marginal, networks, twins};
use crate::{Result, Separation};
use rayon::prelude::*;
use strt_classic::kernel::Form;

/// Evidence in nats above which a pair counts as resolved.
const RESOLVED: f64 = 4.0;
/// Nats of spectra from which on no simulated twins are asked as well, …
const CLEAR: f64 = 30.0;
/// … and samples beyond which they are asked only about pairs that are not told.
const SHORT: usize = 10_000;
/// Standard errors of the angle of a pair that must lie within θ₀.
const SURE: f64 = 2.25;
/// Evidence in nats below which a source counts as white noise.
const STRUCTURED: f64 = 3.0;
/// The |correlation| from which on halves of the recording, and restarts, have one and the same
/// source.
const SAME: f64 = 0.8;
/// The share of drawn recordings, and of further runs, that must have a source.
const HALF: f64 = 0.5;

/// What is known of two sources.
#[derive(Clone, Copy, Debug)]
struct Pair {
    spectrum: f64,           // held-out nats of spectra
    others: f64,             // and of variances, innovations and networks
    twins: Option<f64>,      // standard deviations above simulated twins, where they were asked
    forecast: Option<Heard>, // where forecasts were asked
    chance: f64,             // variance of the angle because of a correlation by chance
    angle: f64,              // and of that at which spectra have them
}

impl Pair {
    /// Whether spectra tell the two apart. A run turns its sources to where they differ most in
    /// all of the recording, held-out parts included, so that a few nats can be of its making.
    fn by_spectrum(&self) -> bool {
        let told = self.spectrum >= RESOLVED;
        match self.twins {
            None => told,
            Some(excess) => excess >= twins::BEYOND || (told && excess >= twins::LIKELY),
        }
    }

    fn nats(&self) -> f64 {
        let forecast = self.forecast.map_or(f64::NEG_INFINITY, |heard| heard.nats);
        self.spectrum.max(self.others).max(forecast)
    }

    /// The variance of the angle under every witness that tells the pair: of spectra from their
    /// curvature, of others by a parabola through what they say. Forecasts also know where the
    /// parabola is least; where that is not near 0 they do not tell the pair.
    fn variances(&self) -> impl Iterator<Item = f64> {
        let spectrum = self.by_spectrum().then_some(self.angle);
        let others = (self.others >= RESOLVED).then(|| parabola(self.others));
        let forecast = self.forecast.filter(|heard| heard.nats >= RESOLVED);
        let forecast = forecast.map(|heard| parabola(heard.nats) + heard.shift.powi(2));
        let forecast = forecast.filter(|&variance| self.is_sure(variance));
        [spectrum, others, forecast].into_iter().flatten()
    }

    fn is_sure(&self, variance: f64) -> bool {
        SURE * (self.chance + variance).sqrt() <= angle()
    }

    /// The variance of the angle of the pair under the witness that knows it best.
    fn variance(&self) -> f64 {
        let best = self.variances().min_by(f64::total_cmp);
        let unheard = || parabola(self.spectrum.max(self.others));
        self.chance + best.unwrap_or_else(unheard)
    }

    /// Whether the two are told apart, to within θ₀.
    fn is_told(&self) -> bool {
        self.variances().any(|variance| self.is_sure(variance))
    }
}

/// The variance of an angle that θ₀ is told from by so many nats.
fn parabola(nats: f64) -> f64 {
    angle().powi(2) / (2.0 * nats.max(f64::MIN_POSITIVE))
}

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
    variance: Testimony,
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
            others: variance.of_pair(i, j),
            twins: None,
            forecast: None,
            chance: spectra.chance(i, j),
            angle: spectra.angle(i, j),
        };
        let of_source = |k: usize| spectrum.of_source(k).max(variance.of_source(k));
        let mut judgement = Judgement {
            pairs: pairs(k).map(pair).collect(),
            n_sources: k,
            structure: (0..k).map(of_source).collect(),
            variance,
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

    /// Pairs that no witness has told so far.
    fn open(&self) -> Vec<(usize, usize)> {
        let told = self.pairs.iter().map(Pair::is_told);
        let open = pairs(self.n_sources).zip(told).filter(|(_, told)| !told);
        open.map(|(pair, _)| pair).collect()
    }

    fn ask_twins(&mut self, separation: &Separation, judged: &Judged) {
        // What is far beyond the limit needs no simulation, and long recordings would take long.
        let short = judged.n_samples() <= SHORT;
        let barely = |pair: &Pair| short && (RESOLVED..CLEAR).contains(&pair.spectrum);
        let asked = |pair: &Pair| barely(pair) || !(pair.by_spectrum() || pair.is_told());
        let open: Vec<(usize, usize)> = pairs(self.n_sources)
            .zip(&self.pairs)
            .filter(|(_, pair)| asked(pair))
            .map(|(pair, _)| pair)
            .collect();
        let seed = separation.seed();
        let excess = |&pair: &(usize, usize)| twins::excess(judged, pair, seed);
        let said: Vec<Option<f64>> = open.par_iter().map(excess).collect();
        for (&(i, j), excess) in open.iter().zip(said) {
            self.pair_mut(i, j).twins = excess;
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
            let pair = self.pair_mut(i, j);
            pair.others = pair.others.max(said.of_pair(i, j));
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
                let pair = self.pair_mut(i, j);
                pair.others = pair.others.max(said.of_pair(a, b));
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
        let by_spectrum = |k: usize| self.others(k).all(|j| self.pair(k, j).by_spectrum());
        let by_variance = |k: usize| {
            let mut others = self.others(k);
            others.all(|j| self.variance.of_pair(k, j) >= RESOLVED)
        };
        let told = |k: usize, form: &Form| match form.segments {
            1 => by_spectrum(k),
            _ => by_variance(k),
        };
        let restarts = |k: usize| Again {
            restarts: replication::of_restarts(separation, k),
            ..Again::default()
        };
        let mut again: Vec<Again> = (0..self.n_sources).map(restarts).collect();
        for form in [Form::spectrum(&pieces), Form::variance(&pieces)] {
            if !(0..self.n_sources).any(|k| told(k, &form)) {
                continue;
            }
            let halves = replication::of_halves(judged, &form);
            let blocks = match draws {
                0 => None,
                draws => replication::of_blocks(judged, &form, draws, separation.seed()),
            };
            let higher = |slot: &mut Option<f64>, found: Option<&Vec<f64>>, k: usize| {
                let found = found.map(|found| found[k]);
                *slot = [*slot, found].into_iter().flatten().max_by(f64::total_cmp);
            };
            for (k, again) in again
                .iter_mut()
                .enumerate()
                .filter(|(k, _)| told(*k, &form))
            {
                higher(&mut again.halves, halves.as_ref(), k);
                higher(&mut again.blocks, blocks.as_ref(), k);
            }
        }
        again
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
        let variance = |j: usize| self.pair(k, j).variance();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of which no witness has heard.
    const UNHEARD: Pair = Pair {
        spectrum: 1.0,
        others: 1.0,
        twins: None,
        forecast: None,
        chance: 0.001,
        angle: 0.002,
    };

    fn heard(nats: f64, shift: f64) -> Option<Heard> {
        Some(Heard { nats, shift })
    }

    #[test]
    fn any_witness_tells_a_pair() {
        assert!(!UNHEARD.is_told());
        let told = |pair: Pair| assert!(pair.is_told(), "{pair:?}");
        told(Pair {
            spectrum: 5.0,
            ..UNHEARD
        });
        told(Pair {
            others: 5.0,
            ..UNHEARD
        });
        told(Pair {
            twins: Some(2.5),
            ..UNHEARD
        });
        told(Pair {
            forecast: heard(5.0, 0.02),
            ..UNHEARD
        });
        let not = |pair: Pair| assert!(!pair.is_told(), "{pair:?}");
        not(Pair {
            twins: Some(1.5),
            ..UNHEARD
        });
        // Spectra that barely tell a pair must not be those of twins.
        told(Pair {
            spectrum: 5.0,
            twins: Some(1.5),
            ..UNHEARD
        });
        not(Pair {
            spectrum: 5.0,
            twins: Some(0.5),
            ..UNHEARD
        });
        not(Pair {
            forecast: heard(3.0, 0.02),
            ..UNHEARD
        });
    }

    /// The other half has the pair at another angle: neither is it told, nor has it an error bar.
    #[test]
    fn forecasts_that_prefer_another_angle_tell_nothing() {
        let elsewhere = Pair {
            forecast: heard(50.0, 0.15),
            ..UNHEARD
        };
        assert!(!elsewhere.is_told());
        assert!(elsewhere.variance() > 0.05, "{}", elsewhere.variance());
        let here = Pair {
            forecast: heard(50.0, 0.03),
            ..UNHEARD
        };
        assert!((here.variance() - 0.001 - parabola(50.0) - 0.0009).abs() < 1e-12);
    }

    #[test]
    fn a_pair_whose_angle_is_not_known_to_within_the_limit_is_not_told() {
        let heard = Pair {
            spectrum: 9.0,
            ..UNHEARD
        };
        assert!((heard.variance() - 0.003).abs() < 1e-12);
        let by_chance = Pair {
            chance: 0.03,
            ..heard
        };
        assert!(!by_chance.is_told());
        let flat = Pair {
            angle: f64::INFINITY,
            ..heard
        };
        assert!(!flat.is_told());
        // Another witness may know better.
        let others = Pair {
            others: 50.0,
            ..flat
        };
        assert!(others.is_told());
    }
}
