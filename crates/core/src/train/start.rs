//! Where everything starts: sources, mixer and networks, from the seed or from the caller.

use super::prepared::{Data, Prepared};
use crate::config::{AssignmentRule, Coordinates, Elimination, EngineKind, Init, MixerKind, Plan};
use crate::model::bend;
use crate::model::long::FreeMoments;
use crate::model::mixer::{Mixer, MlpMixer};
use crate::model::sources::SourceParameters;
use crate::{Error, Result};
use faer::Mat;
use rand_distr::{Distribution, StandardNormal};
use strt_classic::{Baseline, Components, Method};
use strt_kernels::cpu::CpuEngine;
use strt_kernels::reference::ReferenceEngine;
use strt_kernels::{BranchSet, Buffer, Engine, Layout};
use strt_signal::random::{Stream, rng};

/// Layout of one branch.
pub(crate) fn layout(branches: &BranchSet, branch: usize) -> Layout {
    Layout::new(branches.scale_of(branch).patch, &branches.network)
}

/// The engine of the plan, its networks drawn from the seed.
pub(super) fn engine(plan: &Plan, seed: u64) -> Box<dyn Engine> {
    let branches = plan.branches().clone();
    let mut engine: Box<dyn Engine> = match plan.config().engine {
        EngineKind::Cpu => Box::new(CpuEngine::new(branches)),
        EngineKind::Reference => Box::new(ReferenceEngine::new(branches)),
    };
    let mut rng = rng(seed, Stream::Networks);
    for b in 0..engine.branches().n_branches() {
        let layout = layout(engine.branches(), b);
        let mut values = vec![0.0; layout.len()];
        for tensor in layout.tensors() {
            let slot = &mut values[tensor.range.clone()];
            match tensor.init {
                strt_kernels::Init::Zero => slot.fill(0.0),
                strt_kernels::Init::One => slot.fill(1.0),
                strt_kernels::Init::Normal(scale) => slot.fill_with(|| {
                    let x: f64 = StandardNormal.sample(&mut rng);
                    scale * x
                }),
            }
        }
        engine.write(Buffer::Parameters, b, &values);
    }
    engine
}

/// The mixer of the plan, or the caller's own, checked against the plan.
pub(super) fn mixer(
    prepared: &Prepared,
    seed: u64,
    custom: Option<Box<dyn Mixer>>,
) -> Result<Box<dyn Mixer>> {
    let config = prepared.plan.config();
    let (k, m) = (config.n_sources, prepared.shape().1);
    let refuse = |field: &'static str, found: String, expected: &str| {
        Err(Error::Config {
            field,
            found,
            expected: expected.into(),
        })
    };
    let kind = config.mixer.kind;
    let mut mixer: Box<dyn Mixer> = match (kind, custom) {
        (MixerKind::Custom, Some(mixer)) => mixer,
        (MixerKind::Custom, None) => {
            return refuse(
                "mixer.kind",
                "custom".into(),
                "give the mixer to Trainer::start",
            );
        }
        (_, Some(_)) => {
            return refuse(
                "mixer.kind",
                format!("{kind:?}"),
                "a given mixer needs the kind custom",
            );
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
        return refuse(
            "mixer.elimination",
            "least_squares".into(),
            "this mixer names no linear head to eliminate; set it to gradient",
        );
    }
    let identity: Vec<usize> = (0..k).collect();
    let mut trial = mixer.parameters().to_vec();
    if config.assignment.rule != AssignmentRule::None
        && !mixer.permute_sources(&identity, &mut trial)
    {
        return refuse(
            "assignment.rule",
            format!("{:?}", config.assignment.rule),
            "this mixer cannot reorder its inputs; implement permute_sources or set the rule to none",
        );
    }
    mixer.initialize(seed);
    Ok(mixer)
}

/// The sources of the plan, or the caller's own.
pub(super) fn sources(
    prepared: &Prepared,
    seed: u64,
    given: Option<Mat<f64>>,
) -> Result<SourceParameters> {
    let config = prepared.plan.config();
    let (t, k) = (prepared.rows.n_samples(), config.n_sources);
    let mut rng = rng(seed, Stream::Sources);
    let mut noise =
        |rows, columns| Mat::<f64>::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng));
    let given = match (config.sources.init, given) {
        (Init::Given, Some(s)) => {
            check_given(&s, prepared)?;
            Some(s)
        }
        (Init::Given, None) => {
            return Err(Error::Config {
                field: "sources.init",
                found: "given".into(),
                expected: "give the initial sources to Trainer::start".into(),
            });
        }
        (_, Some(_)) => {
            return Err(Error::Config {
                field: "sources.init",
                found: format!("{:?}", config.sources.init),
                expected: "given initial sources need the init given".into(),
            });
        }
        (_, None) => None,
    };
    let baseline = config.sources.init.baseline(seed);
    let found = baseline
        .map(|baseline| unmixing(prepared, &baseline))
        .transpose()?;
    Ok(match (prepared.plan.coordinates, config.sources.init) {
        (Coordinates::Direct, Init::Random) => SourceParameters::Direct { s: noise(t, k) },
        (Coordinates::Direct, Init::Pca) => SourceParameters::Direct {
            s: whitened_times(prepared, &Mat::identity(k, k)),
        },
        (Coordinates::Direct, Init::Given) => SourceParameters::Direct {
            s: given.expect("checked above"),
        },
        (Coordinates::Direct, _) => SourceParameters::Direct {
            s: whitened_times(prepared, &found.expect("every other start is a baseline")),
        },
        (coordinates, init) => {
            let (a, e) = match init {
                Init::Random => (noise(k, k).qr().compute_thin_Q(), None),
                Init::Pca => (Mat::identity(k, k), None),
                Init::Given => {
                    // ZwᵀZw = T·I, so A = ZwᵀS/T is the projection and E what is left.
                    let s = given.expect("checked above");
                    let a = projection(prepared, &s);
                    // In neural coordinates the rest need not be a map of the channels, and is left
                    // out.
                    let rest = (coordinates == Coordinates::Fiber)
                        .then(|| &s - whitened_times(prepared, &a));
                    (a, rest)
                }
                _ => (found.expect("every other start is a baseline"), None),
            };
            if coordinates == Coordinates::Neural {
                let bend = bend::start(config.sources.bend_shape(k), &mut rng);
                return Ok(SourceParameters::Neural { a, bend });
            }
            let free = prepared.plan.unlock_step.is_some();
            let e = e.or_else(|| free.then(|| Mat::zeros(t, k)));
            SourceParameters::Fiber { a, e }
        }
    })
}

/// The unmixing A that a classical method finds, ordered by correlation time. A long recording is
/// whitened for as long as the method runs.
fn unmixing(prepared: &Prepared, baseline: &Baseline) -> Result<Mat<f64>> {
    let assembled;
    let whitened = match &prepared.data {
        Data::Whole(data) => data.whitened.as_ref(),
        Data::Long(_) => {
            let k = prepared.plan.config().n_sources;
            assembled = whitened_times(prepared, &Mat::identity(k, k));
            &assembled
        }
    };
    let components = Components::new(whitened.as_ref(), prepared.rows.missing())?;
    let (unmixing, _) = baseline.unmix(&components)?.ordered(&components)?;
    Ok(unmixing.matrix)
}

/// Zw·A (T×K).
fn whitened_times(prepared: &Prepared, a: &Mat<f64>) -> Mat<f64> {
    match &prepared.data {
        Data::Whole(data) => &*data.whitened * a,
        Data::Long(basis) => {
            let mut s = Mat::zeros(prepared.rows.n_samples(), a.ncols());
            basis.assemble(Some(a), s.as_mut());
            s
        }
    }
}

/// ZwᵀS/T (K×K).
fn projection(prepared: &Prepared, s: &Mat<f64>) -> Mat<f64> {
    match &prepared.data {
        Data::Whole(data) => {
            faer::Scale(1.0 / prepared.rows.n_valid() as f64) * (data.whitened.transpose() * s)
        }
        Data::Long(basis) => FreeMoments::of(s.as_ref(), basis).ze,
    }
}

fn check_given(s: &Mat<f64>, prepared: &Prepared) -> Result<()> {
    let expected = (prepared.rows.n_samples(), prepared.plan.config().n_sources);
    if s.shape() != expected {
        let found = format!("{} × {}", s.nrows(), s.ncols());
        return Err(Error::Shape {
            what: "initial sources",
            expected: format!("{} samples × {} sources", expected.0, expected.1),
            found,
        });
    }
    if let Some((t, k)) = (0..s.ncols())
        .flat_map(|k| (0..s.nrows()).map(move |t| (t, k)))
        .find(|&(t, k)| !s[(t, k)].is_finite())
    {
        return Err(Error::State(format!(
            "initial sources: sample {t} of source {k} is {}; every value must be finite",
            s[(t, k)]
        )));
    }
    Ok(())
}
