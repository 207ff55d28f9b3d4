//! What branch networks that have learned from one half of the recording say of the other half.
//!
//! Networks learn by heart: what they say of samples that they have learned from is worth nothing.
//! New ones are trained on each half, with the sources held fixed, and judge the other one:
//!
//! ```text
//! L = n/2·[ φ_i(c·s_i + s·s_j) + φ_j(c·s_j − s·s_i) − φ_i(s_i) − φ_j(s_j) ]
//! ```
//!
//! φ is the logarithm of an error, twice an entropy. Turned and unturned sources are masked alike.
//! Only sources that the kernel energy leaves in doubt are brought here: it costs time.

use super::evidence::{COSINE, Testimony, sines};
use super::judged::Judged;
use crate::config::{AssignmentRule, Config, Coordinates, EnergyForm, Init, MixerKind, Plan};
use crate::controller::{ControllerGradient, ControllerState};
use crate::energy::{Energy, SourceWindows, Transformer};
use crate::tensors::Tensors;
use crate::train::{adam_step, usable_patch_sizes};
use crate::{Recording, Result, Separation, restart_seed};
use faer::Mat;
use std::ops::Range;
use strt_kernels::AdamStep;
use strt_signal::columns::col;
use strt_signal::random::{Stream, rng};

/// Steps of training on each half, at most; fewer where the run itself had less than twice as many.
/// They see a quarter of a half each, so that they are cheap.
const STEPS: usize = 1000;
/// Folds of each half, where they have …
const FOLDS: usize = 4;
/// … at least this many samples.
const LEAST_FOLD: usize = 64;
/// Draws of windows and masks by which a fold is judged.
const DRAWS: usize = 12;
/// Seeds of the networks are those of restarts that no run has.
const FIRST_SEED: usize = 1 << 20;

/// What networks say of these sources, pair by pair; the numbers in pairs are places in `sources`.
/// `None` where a half offers no windows to learn from.
pub(super) fn testimony(
    separation: &Separation,
    judged: &Judged,
    sources: &[usize],
    wanted: &[(usize, usize)],
) -> Result<Option<Testimony>> {
    let t = judged.n_samples();
    let halves = [0..t / 2, t - t / 2..t].map(|half| judged.part(half, sources));
    let n = halves[0].n_samples();
    let folds = (n / LEAST_FOLD).clamp(1, FOLDS);
    let Some(setting) = Setting::new(separation, &halves, sources, n / folds)? else {
        return Ok(None);
    };
    let mut testimony = Testimony::new(sources.len(), 2 * folds);
    let rounds = rounds(wanted, sources.len());
    for (learner, other) in [(0, 1), (1, 0)] {
        let seed = restart_seed(separation.seed(), FIRST_SEED + learner);
        let learned = setting.train(&halves[learner], seed)?;
        let mut judge = Transformer::new(&setting.plan, &halves[other].rows, seed)?;
        judge.restore_parameters(&learned)?;
        for fold in 0..folds {
            let samples = fold * n / folds..(fold + 1) * n / folds;
            let place = other * folds + fold;
            let half = &halves[other];
            setting.judge(
                &mut judge,
                half,
                &samples,
                &rounds,
                seed,
                |said| match said {
                    Said::Pair(pair, sign, nats) => testimony.add_pair(pair, sign, place, nats),
                    Said::Gain(source, nats) => testimony.add_gain(source, place, nats),
                },
            );
        }
    }
    Ok(Some(testimony))
}

/// Pairs, in rounds in which no source is in two of them.
fn rounds(pairs: &[(usize, usize)], n_sources: usize) -> Vec<Vec<(usize, usize)>> {
    let mut open = pairs.to_vec();
    let mut rounds = Vec::new();
    while !open.is_empty() {
        let mut busy = vec![false; n_sources];
        let mut later = Vec::new();
        let mut round = Vec::new();
        for (i, j) in open {
            if busy[i] || busy[j] {
                later.push((i, j));
            } else {
                (busy[i], busy[j]) = (true, true);
                round.push((i, j));
            }
        }
        rounds.push(round);
        open = later;
    }
    rounds
}

/// What networks have found.
enum Said {
    /// Nats for a pair over the one turned by the angle of this sign.
    Pair((usize, usize), usize, f64),
    /// Nats for a source over white noise.
    Gain(usize, f64),
}

/// How networks are trained and asked.
struct Setting {
    plan: Plan,
    controller: ControllerState,
    white: f64, // φ of white noise that nobody predicts
    steps: usize,
}

impl Setting {
    fn new(
        separation: &Separation,
        halves: &[Judged; 2],
        sources: &[usize],
        crop: usize,
    ) -> Result<Option<Setting>> {
        let mut config = config(separation.config(), sources.len(), crop);
        let recordings = [recording(&halves[0])?, recording(&halves[1])?];
        let sizes = separation.config().branches.patch_sizes.clone();
        for recording in &recordings {
            config.branches.patch_sizes = usable_patch_sizes(recording, &config);
        }
        if config.branches.patch_sizes.is_empty() {
            return Ok(None);
        }
        let kept: Vec<usize> = (0..sizes.len())
            .filter(|&r| config.branches.patch_sizes.contains(&sizes[r]))
            .collect();
        let plan = config.check(&recordings[0])?;
        let kappa = plan.config().weights.kappa.unwrap_or(0.0);
        Ok(Some(Setting {
            controller: controller(separation.controller(), sources, sizes.len(), &kept),
            white: kappa.ln_1p(),
            steps: STEPS.min(separation.steps() / 2),
            plan,
        }))
    }

    /// The parameters of networks that have learned from `half`.
    fn train(&self, half: &Judged, seed: u64) -> Result<Tensors> {
        let mut networks = Transformer::new(&self.plan, &half.rows, seed)?;
        let optimizer = &self.plan.config().optimizer;
        let step = AdamStep {
            weight_decay: optimizer.weight_decay,
            ..adam_step(optimizer.rates.networks)
        };
        let all = 0..half.n_samples();
        let mut sources = Turned::none(half);
        for n in 0..self.steps {
            networks.sample(&all, &mut rng(seed, Stream::Step(n as u64)));
            self.evaluate(&mut networks, &mut sources);
            networks.update(&step, 1.0);
        }
        let mut learned = Tensors::default();
        networks.save_parameters(&mut learned);
        Ok(learned)
    }

    /// φ of every source, for what was last sampled.
    fn evaluate(&self, networks: &mut Transformer, sources: &mut Turned<'_>) -> Vec<f64> {
        let k = self.controller.slopes.len();
        let mut unused = ControllerGradient::new(k, self.controller.scale_weights.len() / k);
        networks.evaluate(sources, &self.controller, k as f64, &mut unused);
        networks.found().by_source.to_vec()
    }

    /// What networks say of these samples of a half that they have not learned from.
    fn judge(
        &self,
        networks: &mut Transformer,
        half: &Judged,
        samples: &Range<usize>,
        rounds: &[Vec<(usize, usize)>],
        seed: u64,
        mut say: impl FnMut(Said),
    ) {
        if networks.accepts(samples).is_err() {
            return; // too little is there
        }
        let n = samples.clone().filter(|&t| !half.is_missing(t)).count();
        let draws = DRAWS.min(1 + self.steps / 10);
        let each = 0.5 * n as f64 / draws as f64;
        for draw in 0..draws {
            let stream = Stream::Step((self.steps + samples.start * DRAWS + draw) as u64);
            networks.sample(samples, &mut rng(seed, stream));
            let found = self.evaluate(networks, &mut Turned::none(half));
            for (source, phi) in found.iter().enumerate() {
                say(Said::Gain(source, each * (self.white - phi)));
            }
            for round in rounds {
                for (sign, sine) in sines().into_iter().enumerate() {
                    let turned = self.evaluate(networks, &mut Turned::by(half, round, sine));
                    for &(i, j) in round {
                        let nats = turned[i] + turned[j] - found[i] - found[j];
                        say(Said::Pair((i, j), sign, each * nats));
                    }
                }
            }
        }
    }
}

/// The configuration of networks for `n_sources` sources that read `crop` samples at once.
fn config(of_run: &Config, n_sources: usize, crop: usize) -> Config {
    let mut config = Config::new(n_sources);
    config.seed = of_run.seed;
    config.engine = of_run.engine;
    config.branches = of_run.branches.clone();
    config.branches.crop = match of_run.branches.crop {
        0 => crop,
        longest => longest.min(crop),
    };
    config.controller = of_run.controller.clone();
    config.optimizer.rates = of_run.optimizer.rates.clone();
    config.optimizer.weight_decay = of_run.optimizer.weight_decay;
    config.optimizer.steps = Some(1);
    config.mixer.kind = MixerKind::Affine;
    config.sources.coordinates = Some(Coordinates::Fiber);
    config.sources.init = Some(Init::Random);
    config.assignment.rule = AssignmentRule::None;
    config.restarts = Some(1);
    if of_run.weights.energy == EnergyForm::Log {
        config.weights.kappa = of_run.weights.kappa;
        config.weights.energy_block = of_run.weights.energy_block;
    }
    config
}

/// What the controller of the run says of these sources at the scales that are kept.
fn controller(
    of_run: &ControllerState,
    sources: &[usize],
    n_scales: usize,
    kept: &[usize],
) -> ControllerState {
    let chosen = |values: &[f64]| sources.iter().map(|&k| values[k]).collect();
    let mut scale_weights = Vec::with_capacity(sources.len() * kept.len());
    for &source in sources {
        let all = &of_run.scale_weights[source * n_scales..][..n_scales];
        let sum: f64 = kept.iter().map(|&r| all[r]).sum();
        scale_weights.extend(kept.iter().map(|&r| all[r] / sum));
    }
    ControllerState {
        order: chosen(&of_run.order),
        centers: chosen(&of_run.centers),
        slopes: chosen(&of_run.slopes),
        expected_patch: chosen(&of_run.expected_patch),
        scale_weights,
    }
}

/// A half of the sources as a recording, from which a plan is made.
fn recording(half: &Judged) -> Result<Recording> {
    let (t, k) = half.values.shape();
    let values = Mat::from_fn(t, k, |t, k| match half.is_missing(t) {
        true => f64::NAN,
        false => half.values[(t, k)],
    });
    let lengths: Vec<usize> = half.pieces().lengths().collect();
    Ok(Recording::from_mat(values)?.with_pieces(&lengths)?)
}

/// Sources of which some are turned with another one.
struct Turned<'a> {
    half: &'a Judged,
    partners: Vec<Option<(usize, f64)>>, // the other one, and its share
}

impl<'a> Turned<'a> {
    fn none(half: &'a Judged) -> Turned<'a> {
        Turned {
            half,
            partners: vec![None; half.n_sources()],
        }
    }

    /// These pairs turned by the angle with this sine.
    fn by(half: &'a Judged, pairs: &[(usize, usize)], sine: f64) -> Turned<'a> {
        let mut turned = Turned::none(half);
        for &(i, j) in pairs {
            turned.partners[i] = Some((j, sine));
            turned.partners[j] = Some((i, -sine));
        }
        turned
    }
}

impl SourceWindows for Turned<'_> {
    fn read(&self, source: usize, first: usize, window: &mut [f64]) {
        let of = |k: usize| &col(self.half.values.as_ref(), k)[first..first + window.len()];
        let own = of(source);
        match self.partners[source] {
            None => window.copy_from_slice(own),
            Some((partner, sine)) => {
                let other = of(partner);
                let values = own.iter().zip(other);
                let turned: Vec<f64> = values.map(|(x, y)| COSINE * x + sine * y).collect();
                window.copy_from_slice(&turned);
            }
        }
    }

    // The sources stay where they are.
    fn add_gradient(&mut self, _: usize, _: usize, _: f64, _: &[f64]) {}

    fn read_moments(&self, _: usize, moments: &mut [f64]) {
        moments.fill(0.0);
    }

    fn add_moment_gradient(&mut self, _: usize, _: f64, _: &[f64]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_source_is_in_two_pairs_of_a_round() {
        let all: Vec<(usize, usize)> = super::super::evidence::pairs(6).collect();
        let rounds = rounds(&all, 6);
        assert_eq!(rounds.iter().map(Vec::len).sum::<usize>(), all.len());
        for round in rounds {
            let mut seen: Vec<usize> = round.iter().flat_map(|&(i, j)| [i, j]).collect();
            let n = seen.len();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), n);
        }
    }
}
