//! Where everything starts: sources, mixer and energy, from the seed or from the caller.

use super::prepared::Prepared;
use super::trainer::Start;
use crate::config::{AFFINE_KERNEL, BENT_KERNEL, LONG_KERNEL};
use crate::config::{AssignmentRule, Elimination, Init, MixerKind, Plan, Reason};
use crate::energy::{Blend, Energy, Found, Kernel, Transformer};
use crate::mixer::{Mixer, MlpMixer};
use crate::space::Initial;
use crate::tensors::Tensors;
use crate::{Error, Result};
use faer::Mat;
use strt_classic::{Baseline, Components, Method, Unmixing};

/// w where the kernel energy judges more than second moments and nobody has asked for another
/// share: there it knows the place better than networks that have learned it by heart.
const NOVEL_KERNEL: f64 = 0.9;

/// The energy of the plan, or the caller's own.
pub(super) fn energy(prepared: &Prepared, seed: u64, start: &Start) -> Result<Box<dyn Energy>> {
    let (plan, rows) = (&prepared.plan, &prepared.rows);
    let Some(make) = &start.energy else {
        let networks = || Transformer::new(plan, rows, seed);
        let kernels = prepared.kernels.as_ref();
        let kernel = kernels.and_then(|kernels| kernels.energy(plan, rows));
        return Ok(match (kernel, plan.kernel) {
            (None, _) => Box::new(networks()?),
            (Some(kernel), 1.0) => Box::new(kernel),
            (Some(kernel), given) => {
                let share = share(given, &kernel);
                Box::new(Blend::new(networks()?, kernel, share))
            }
        });
    };
    let energy = make(plan, rows, seed)?;
    check_energy(&*energy, plan)?;
    Ok(energy)
}

/// The share of a kernel energy in a blend, where the plan gives this one.
pub(super) fn share(given: f64, kernel: &Kernel) -> f64 {
    let automatic = [AFFINE_KERNEL, LONG_KERNEL, BENT_KERNEL].contains(&given);
    if automatic && kernel.judges_novelty() {
        NOVEL_KERNEL
    } else {
        given
    }
}

/// Refuses an energy that does not say of every source and scale what it found, or whose tensors
/// could be taken for those of another part.
fn check_energy(energy: &dyn Energy, plan: &Plan) -> Result<()> {
    let Found {
        by_source,
        predicted,
        by_scale,
    } = energy.found();
    let (k, n_branches) = (plan.config().n_sources, plan.branches().n_branches());
    for (what, expected, found) in [
        ("values by source of the energy", k, by_source.len()),
        ("predicted shares of the energy", k, predicted.len()),
        ("values by scale of the energy", n_branches, by_scale.len()),
    ] {
        if expected != found {
            let (expected, found) = (expected.to_string(), found.to_string());
            return Err(Error::Shape {
                what,
                expected,
                found,
            });
        }
    }
    let mut tensors = Tensors::default();
    energy.save_parameters(&mut tensors);
    energy.save_optimizer(&mut tensors);
    match tensors
        .iter()
        .find(|(name, _)| !name.starts_with("energy."))
    {
        None => Ok(()),
        Some((name, _)) => Err(Error::EnergyTensor { name: name.into() }),
    }
}

/// The mixer of the plan, or the caller's own, checked against the plan. The caller's keeps its
/// parameters in the first restart and is drawn anew in the others.
pub(super) fn mixer(
    prepared: &Prepared,
    seed: u64,
    restart: usize,
    custom: Option<Box<dyn Mixer>>,
) -> Result<Box<dyn Mixer>> {
    let config = prepared.plan.config();
    let (k, m) = (config.n_sources, prepared.shape().1);
    let refuse = |key, reason| Err(config.refused(key, reason).into());
    let kind = config.mixer.kind;
    let mut mixer: Box<dyn Mixer> = match (kind, custom) {
        (MixerKind::Custom, Some(mixer)) => mixer,
        (MixerKind::Custom, None) => {
            return refuse("mixer.kind", Reason::MixerNotGiven);
        }
        (_, Some(_)) => {
            return refuse("mixer.kind", Reason::MixerGiven);
        }
        (MixerKind::Affine, None) => Box::new(MlpMixer::affine(k, m)),
        (MixerKind::Mlp, None) => {
            let c = &config.mixer;
            Box::new(MlpMixer::new(k, m, &c.hidden, c.activation, c.skip))
        }
    };
    if (mixer.n_sources(), mixer.n_channels()) != (k, m) {
        return Err(Error::Shape {
            what: "mixer",
            expected: format!("{k} sources → {m} channels"),
            found: format!(
                "{} sources → {} channels",
                mixer.n_sources(),
                mixer.n_channels()
            ),
        });
    }
    if config.mixer.elimination == Elimination::LeastSquares && mixer.linear_head().is_none() {
        return refuse("mixer.elimination", Reason::NoLinearHead);
    }
    let identity: Vec<usize> = (0..k).collect();
    let mut trial = mixer.parameters().to_vec();
    if config.assignment.rule != AssignmentRule::None
        && !mixer.permute_sources(&identity, &mut trial)
    {
        return refuse("assignment.rule", Reason::FixedInputs);
    }
    if config.mixer.kind != MixerKind::Custom || restart > 0 {
        mixer.initialize(seed);
    }
    Ok(mixer)
}

/// The sources of the plan, or the caller's own.
pub(super) fn sources(
    prepared: &Prepared,
    seed: u64,
    restart: usize,
    given: Option<Mat<f64>>,
) -> Result<Initial> {
    let config = prepared.plan.config();
    let (init, k) = (prepared.plan.init, config.n_sources);
    let refuse = |reason| Err(config.refused("sources.init", reason).into());
    match (init, given) {
        (Init::Given, Some(s)) => {
            check_given(&s, prepared)?;
            return Ok(Initial::Given(s));
        }
        (Init::Given, None) => {
            return refuse(Reason::SourcesNotGiven);
        }
        (_, Some(_)) => {
            return refuse(Reason::SourcesGiven);
        }
        (_, None) => {}
    }
    if init == Init::Fast {
        // Restarts after the first look elsewhere; and where the kernel energy does not tell the
        // sources apart, what it found is no better than any other place and harder to leave.
        let kernels = prepared.kernels.as_ref();
        let trusted = kernels.filter(|kernels| restart == 0 && kernels.certain);
        let found = trusted.and_then(|kernels| kernels.solution.as_ref());
        let at = |found: &Unmixing| Initial::Linear(found.matrix.clone());
        return Ok(found.map_or(Initial::Random, at));
    }
    Ok(match init.baseline(seed) {
        Some(baseline) => Initial::Linear(unmixing(prepared, &baseline)?),
        None if init == Init::Pca => Initial::Linear(Mat::identity(k, k)),
        None => Initial::Random,
    })
}

/// The unmixing A that a classical method finds, ordered by correlation time. A long recording is
/// whitened for as long as the method runs.
fn unmixing(prepared: &Prepared, baseline: &Baseline) -> Result<Mat<f64>> {
    let whitened = prepared.data.components(prepared.plan.config().n_sources);
    let components = Components::of_rows((*whitened).as_ref(), prepared.rows.view())?;
    let (unmixing, _) = baseline.unmix(&components)?.ordered(&components)?;
    Ok(unmixing.matrix)
}

fn check_given(s: &Mat<f64>, prepared: &Prepared) -> Result<()> {
    let expected = (prepared.rows.n_samples(), prepared.plan.config().n_sources);
    if s.shape() != expected {
        return Err(Error::Shape {
            what: "initial sources",
            expected: format!("{} samples × {} sources", expected.0, expected.1),
            found: format!("{} × {}", s.nrows(), s.ncols()),
        });
    }
    let mut entries = (0..s.ncols()).flat_map(|k| (0..s.nrows()).map(move |t| (t, k)));
    match entries.find(|&(t, k)| !s[(t, k)].is_finite()) {
        None => Ok(()),
        Some((sample, source_index)) => Err(Error::InitialValue {
            sample,
            source_index,
            found: s[(sample, source_index)],
        }),
    }
}
