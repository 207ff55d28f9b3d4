//! Coupling analysis: gradient and Hessian of the reconstruction loss, and its Gauss–Newton form.
//!
//! With r_t = y_t − g(s_t) and G_t = ∂g/∂s_t,
//!
//! ```text
//! ∇_{s_t} L_rec = −G_tᵀ r_t / ν_y
//! ∇²_{s_t} L_rec = [G_tᵀG_t − Σ_a r_ta ∇²g_a(s_t)] / ν_y,   0 between different samples
//! r_t = 0:  ∇²_{s_t} L_rec = G_tᵀG_t / ν_y
//! ```
//!
//! The mixer is an MLP ŷ_a = Σ_k W_ka s_k + Σ_h V_ha tanh(w_h·s + b_h) + c_a whose derivatives are
//! written out here, apart from the library's backward pass; they are compared with differences of
//! J, with the library's gradient, and with differences of that. Broken: the Gauss–Newton form is
//! claimed where r ≠ 0.

use super::instance::{
    bare, entries, log10, normal, relative_difference, rows_of, set_sources, slope,
    source_gradient, source_hessian, sources,
};
use super::{Axis, Bound, Check, Figure, Findings, Line, Side, Variant};
use crate::Result;
use faer::Mat;
use strtransformer::config::{Config, MixerKind};
use strtransformer::internals::Inspect;
use strtransformer::{Recording, Trainer};

pub(super) const CHECK: Check = Check {
    name: "reconstruction",
    title: "Reconstruction couples them: gradient, Hessian, Gauss–Newton",
    claim: "The gradient of L_rec in a sample is −Gᵀr/ν, its Hessian (GᵀG − Σ r∇²g)/ν with nothing \
            between different samples, and at exact reconstruction GᵀG/ν is all that is left \
            (coupling analysis, equations for the reconstruction gradient and Hessian).",
    broken: "the Gauss–Newton form is claimed where the residual is not 0",
    experiment,
};

const N_SAMPLES: usize = 10;
const N_SOURCES: usize = 3;
const N_CHANNELS: usize = 4;
const N_HIDDEN: usize = 5;
const VARIANCE: f64 = 0.7;
const STEP: f64 = 1e-4;

fn experiment(variant: Variant) -> Result<Findings> {
    let config = config();
    let s = normal(N_SAMPLES, N_SOURCES, 2);
    let disturbance = normal(N_SAMPLES, N_CHANNELS, 3);
    // Parameters of the mixer come from the seed alone, not from the channels.
    let exact = mixed(&mut start(&config, &disturbance, &s)?, &s);

    let y = &exact + &disturbance;
    let mut trainer = start(&config, &y, &s)?;
    let formula = Formula::of(&trainer, &s, &y);
    let gradient = source_gradient(&mut trainer);
    let differences = gradient_by_differences(&mut trainer);
    let hessian = source_hessian(&mut trainer, STEP, place);
    let written = formula.hessian(true);
    let between = entries(hessian.nrows(), hessian.ncols())
        .filter(|(i, j)| i / N_SOURCES != j / N_SOURCES)
        .map(|(i, j)| hessian[(i, j)].abs())
        .fold(0.0, f64::max)
        / hessian.norm_max();

    // How far the Gauss–Newton form is off, by the size of the residual.
    let shares: Vec<f64> = (0..7).map(|n| 10f64.powf(-0.5 * f64::from(n))).collect();
    let defect = |share: f64| -> Result<f64> {
        let y = &exact + faer::Scale(share) * &disturbance;
        let mut trainer = start(&config, &y, &s)?;
        let form = Formula::of(&trainer, &s, &y).hessian(false);
        Ok(relative_difference(
            &source_hessian(&mut trainer, STEP, place),
            &form,
        ))
    };
    let defects = shares
        .iter()
        .map(|&share| defect(share))
        .collect::<Result<Vec<f64>>>()?;
    let claimed = match variant {
        Variant::True => defect(0.0)?,
        Variant::Broken => defects[0],
    };
    let growth = slope(&log10(&shares), &log10(&defects));

    let mut findings = Findings::default();
    let written_gradient = relative_difference(&formula.gradient, &differences);
    findings.measure(
        "−Gᵀr/ν against differences of J",
        written_gradient,
        Bound::AtMost(1e-8),
    );
    findings.measure(
        "−Gᵀr/ν against the library's gradient",
        relative_difference(&formula.gradient, &gradient),
        Bound::AtMost(1e-12),
    );
    let written_hessian = relative_difference(&written, &hessian);
    findings.measure(
        "(GᵀG − Σ r∇²g)/ν against differences of the gradient",
        written_hessian,
        Bound::AtMost(1e-7),
    );
    findings.measure(
        "largest Hessian entry between different samples / largest",
        between,
        Bound::AtMost(1e-12),
    );
    let where_claimed = match variant {
        Variant::True => "GᵀG/ν against differences at exact reconstruction",
        Variant::Broken => "GᵀG/ν against differences where the residual is not 0",
    };
    findings.measure(where_claimed, claimed, Bound::AtMost(1e-7));
    findings.measure(
        "how far GᵀG/ν is off grows like the residual to the power",
        growth,
        Bound::AtLeast(0.99),
    );
    findings.sentence = format!(
        "Gradient and Hessian of an MLP mixer agree with their formulas to {written_gradient:.0e} \
         and {written_hessian:.0e}; {} the Gauss–Newton form is off by {claimed:.0e}, and by the \
         residual's size elsewhere (power {growth:.3}).",
        match variant {
            Variant::True => "at exact reconstruction",
            Variant::Broken => "at a residual as large as the channels",
        }
    );
    let side = || {
        Side::new(
            "entry",
            (0..hessian.nrows()).map(|i| format!("t{} s{}", i / N_SOURCES + 1, i % N_SOURCES + 1)),
        )
    };
    findings.figures = vec![
        Figure::Map {
            title: "Hessian of L_rec, entries of S sample by sample".into(),
            rows: side(),
            columns: side(),
            values: rows_of(hessian.as_ref()),
            signed: true,
        },
        Figure::Lines {
            title: "How far the Gauss–Newton form is from the Hessian".into(),
            x: Axis::log("residual, as a share of the channels"),
            y: Axis::log("relative difference"),
            lines: vec![Line::new("|H − GᵀG/ν|", &shares, &defects)],
        },
    ];
    Ok(findings)
}

fn config() -> Config {
    let mut config = bare(N_SOURCES);
    config.weights.observation_variance = Some(VARIANCE);
    config.mixer.kind = MixerKind::Mlp;
    config.mixer.hidden = vec![N_HIDDEN];
    config
}

/// A run on channels `y` that stands at S.
fn start(config: &Config, y: &Mat<f64>, s: &Mat<f64>) -> Result<Trainer> {
    let mut trainer = Trainer::new(&Recording::from_mat(y.clone())?, config)?;
    set_sources(&mut trainer, s);
    Ok(trainer)
}

/// Sample by sample: blocks are samples.
fn place(t: usize, k: usize) -> usize {
    t * N_SOURCES + k
}

/// M_θ(S).
fn mixed(trainer: &mut Trainer, s: &Mat<f64>) -> Mat<f64> {
    let mut y = Mat::zeros(N_SAMPLES, N_CHANNELS);
    trainer
        .mixer()
        .forward(s.as_ref(), y.as_mut(), &mut Vec::new());
    y
}

/// ∂J/∂S by five-point differences of J.
fn gradient_by_differences(trainer: &mut Trainer) -> Mat<f64> {
    let mut gradient = Mat::zeros(N_SAMPLES, N_SOURCES);
    let mut s = sources(trainer);
    for (t, k) in entries(N_SAMPLES, N_SOURCES) {
        let middle = s[(t, k)];
        let h = 1e-3;
        let mut at = |offset: f64| {
            s[(t, k)] = middle + offset;
            set_sources(trainer, &s);
            trainer.evaluate_at(0).total
        };
        gradient[(t, k)] = (at(-2.0 * h) - 8.0 * at(-h) + 8.0 * at(h) - at(2.0 * h)) / (12.0 * h);
        s[(t, k)] = middle;
        set_sources(trainer, &s);
    }
    gradient
}

/// The paper's formulas at one S, with the derivatives of the mixer written out.
struct Formula {
    /// −G_tᵀr_t/ν (T×K).
    gradient: Mat<f64>,
    /// G_tᵀG_t of every sample.
    squares: Vec<Mat<f64>>,
    /// Σ_a r_ta ∇²g_a(s_t) of every sample.
    bends: Vec<Mat<f64>>,
}

impl Formula {
    fn of(trainer: &Trainer, s: &Mat<f64>, y: &Mat<f64>) -> Formula {
        // θ: w (K×H), b (H), then the output layer over the features [s, tanh, 1] (F×m); all
        // column-major.
        let parameters = trainer.mixer().parameters();
        let w = |k: usize, h: usize| parameters[h * N_SOURCES + k];
        let b = |h: usize| parameters[N_SOURCES * N_HIDDEN + h];
        let n_features = N_SOURCES + N_HIDDEN + 1;
        let out = |f: usize, a: usize| parameters[(N_SOURCES + 1) * N_HIDDEN + a * n_features + f];
        let (mut squares, mut bends) = (Vec::new(), Vec::new());
        let mut gradient = Mat::zeros(N_SAMPLES, N_SOURCES);
        for t in 0..N_SAMPLES {
            let active: Vec<f64> = (0..N_HIDDEN)
                .map(|h| (b(h) + (0..N_SOURCES).map(|k| w(k, h) * s[(t, k)]).sum::<f64>()).tanh())
                .collect();
            let residual = |a: usize| {
                let linear: f64 = (0..N_SOURCES).map(|k| out(k, a) * s[(t, k)]).sum();
                let bent: f64 = (0..N_HIDDEN)
                    .map(|h| out(N_SOURCES + h, a) * active[h])
                    .sum();
                y[(t, a)] - linear - bent - out(n_features - 1, a)
            };
            // tanh′ = 1 − tanh², tanh″ = −2 tanh (1 − tanh²).
            let first = |h: usize| 1.0 - active[h] * active[h];
            let second = |h: usize| -2.0 * active[h] * first(h);
            let jacobian = Mat::from_fn(N_CHANNELS, N_SOURCES, |a, k| {
                let bent = (0..N_HIDDEN).map(|h| out(N_SOURCES + h, a) * first(h) * w(k, h));
                out(k, a) + bent.sum::<f64>()
            });
            let bend = |a: usize, k: usize, l: usize| {
                (0..N_HIDDEN)
                    .map(|h| out(N_SOURCES + h, a) * second(h) * w(k, h) * w(l, h))
                    .sum::<f64>()
            };
            for k in 0..N_SOURCES {
                gradient[(t, k)] = -(0..N_CHANNELS)
                    .map(|a| jacobian[(a, k)] * residual(a))
                    .sum::<f64>()
                    / VARIANCE;
            }
            bends.push(Mat::from_fn(N_SOURCES, N_SOURCES, |k, l| {
                (0..N_CHANNELS).map(|a| residual(a) * bend(a, k, l)).sum()
            }));
            squares.push(jacobian.transpose() * &jacobian);
        }
        Formula {
            gradient,
            squares,
            bends,
        }
    }

    /// The Hessian sample by sample; without the second derivatives of g it is the Gauss–Newton
    /// form.
    fn hessian(&self, whole: bool) -> Mat<f64> {
        let n = N_SAMPLES * N_SOURCES;
        Mat::from_fn(n, n, |i, j| {
            let (t, k, l) = (i / N_SOURCES, i % N_SOURCES, j % N_SOURCES);
            if t != j / N_SOURCES {
                return 0.0;
            }
            let bend = if whole { self.bends[t][(k, l)] } else { 0.0 };
            (self.squares[t][(k, l)] - bend) / VARIANCE
        })
    }
}
