//! Nonlinear route: recovery up to a map of each source alone.
//!
//! Under conditional factorisation, full-rank modulation and exact reconstruction the theorem gives
//! s_t = (φ_1(x_{t,π(1)}), …, φ_K(x_{t,π(K)})) with invertible φ_k. The assumptions cannot be
//! tested on a recording; the conclusion can, where the sources are known: a score that no monotone
//! map of a source can change (mean absolute matched Spearman correlation) must be high, and above
//! what any linear unmixing of the same channels reaches, even one that is fitted to the true
//! sources. One post-nonlinear problem with the default preset; an example, not a theorem. Broken:
//! the recovered sources are turned into each other by 45°, a map that is not component-wise.

use super::{Axis, Bound, Check, Figure, Findings, Line, Variant, tiny};
use crate::Result;
use faer::linalg::solvers::SolveLstsq;
use faer::{Mat, MatRef};
use std::f64::consts::FRAC_1_SQRT_2;
use strt_classic::{Method, Sobi};
use strt_score::{Reference, align, match_ranks};
use strt_synth::{MixingKind, ProblemSpec, SourceKind};
use strtransformer::Recording;
use strtransformer::config::Config;
use strtransformer::train::separate;

pub(super) const CHECK: Check = Check {
    name: "nonlinear",
    title: "Nonlinear route: recovery up to component-wise maps",
    claim: "Behind a nonlinear mixing the sources come back up to a permutation and an invertible \
            map of each alone (theorem on the conditional nonlinear recovery route, its conclusion \
            on one problem).",
    broken: "two recovered sources are turned into each other by 45°",
    experiment,
};

/// What counts as recovered.
const HIGH: f64 = 0.95;
const STEPS: usize = 2000;
/// Of the run.
const SEED: u64 = 1021;
/// Points of a drawn curve.
const N_POINTS: usize = 150;

fn experiment(variant: Variant) -> Result<Findings> {
    let spec = ProblemSpec {
        kind: SourceKind::Sines,
        mixing: MixingKind::Pnl,
        n_samples: 600,
        noise: 0.01,
        seed: 21,
        ..ProblemSpec::default()
    };
    let problem = spec.generate()?;
    let (recording, reference) = (problem.recording()?, problem.reference()?);
    let mut config = Config::nonlinear(spec.n_sources);
    (config.seed, config.threads, config.optimizer.steps) = (SEED, 1, Some(STEPS));
    let separation = separate(&recording, &config)?;
    let estimated = match variant {
        Variant::True => separation.sources().to_owned(),
        Variant::Broken => turned(separation.sources()),
    };
    let matching = match_ranks(estimated.as_ref(), &reference)?;
    let fitted = match_ranks(best_linear(&recording, &reference).as_ref(), &reference)?.mac();
    let sobi = Sobi::default().separate(&recording, spec.n_sources)?;
    let sobi = match_ranks(sobi.sources(), &reference)?.mac();

    // The score itself: blind to monotone maps, not to rotations.
    let maps: [fn(f64) -> f64; 3] = [|v| v * v * v + v, |v| -(0.7 * v).exp(), f64::sinh];
    let bent = Mat::from_fn(estimated.nrows(), estimated.ncols(), |t, k| {
        maps[k % 3](estimated[(t, k)])
    });
    let blindness = (match_ranks(bent.as_ref(), &reference)?.mac() - matching.mac()).abs();
    let truth = reference.z_score();
    let turn = match_ranks(turned(truth.as_ref()).as_ref(), &reference)?.mac();

    let mut findings = Findings::default();
    findings.measure(
        "Spearman MAC of the recovered sources",
        matching.mac(),
        Bound::AtLeast(HIGH),
    );
    findings.measure(
        "lead over the best linear unmixing, fitted to the true sources",
        matching.mac() - fitted,
        Bound::Above(0.0),
    );
    findings.measure(
        "change of the score by monotone maps of the recovered sources",
        blindness,
        Bound::AtMost(1e-12),
    );
    findings.measure(
        "score of the true sources after a turn by 45°",
        turn,
        Bound::AtMost(0.9),
    );
    findings.measure(
        "Spearman MAC of the best linear unmixing",
        fitted,
        Bound::Noted,
    );
    findings.measure("Spearman MAC of SOBI", sobi, Bound::Noted);
    findings.sentence = format!(
        "Behind a post-nonlinear mixing {} a Spearman MAC of {:.4}; the best linear unmixing, \
         fitted to the true sources, has {fitted:.4}, SOBI {sobi:.4}. Monotone maps of the \
         recovered sources change the score by {}, a turn by 45° of the true ones gives {turn:.3}.",
        match variant {
            Variant::True => "the recovered sources have",
            Variant::Broken => "the recovered sources, two of them turned by 45°, have",
        },
        matching.mac(),
        tiny(blindness)
    );
    let aligned = align(estimated.as_ref(), &reference, &matching)?;
    findings.figures = vec![
        curves(&aligned, &truth),
        Figure::Bars {
            title: "Score that no monotone map changes".into(),
            x: "unmixing".into(),
            y: Axis::linear("Spearman MAC"),
            names: ["recovered", "best linear", "SOBI", "truth turned by 45°"]
                .map(String::from)
                .into(),
            heights: vec![matching.mac(), fitted, sobi, turn],
        },
    ];
    Ok(findings)
}

/// The first two columns, standardised by their own size, turned into each other by 45°.
fn turned(sources: MatRef<'_, f64>) -> Mat<f64> {
    let z = strt_signal::moments::standardize_columns(sources);
    Mat::from_fn(z.nrows(), z.ncols(), |t, k| match k {
        0 => FRAC_1_SQRT_2 * (z[(t, 0)] - z[(t, 1)]),
        1 => FRAC_1_SQRT_2 * (z[(t, 0)] + z[(t, 1)]),
        _ => z[(t, k)],
    })
}

/// The affine map of the channels that is closest to the true sources: no linear method can do
/// better in correlation.
fn best_linear(recording: &Recording, reference: &Reference) -> Mat<f64> {
    let y = recording.observations();
    let features = Mat::from_fn(y.nrows(), y.ncols() + 1, |t, c| {
        if c < y.ncols() { y[(t, c)] } else { 1.0 }
    });
    let weights = features.qr().solve_lstsq(reference.z_score());
    features * weights
}

/// Recovered values over true ones, sorted: a curve where the map is component-wise, a cloud where
/// it is not.
fn curves(estimated: &Mat<f64>, truth: &Mat<f64>) -> Figure {
    let line = |k: usize| {
        let mut pairs: Vec<(f64, f64)> = (0..truth.nrows())
            .map(|t| (truth[(t, k)], estimated[(t, k)]))
            .collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let shown = (0..N_POINTS).map(|n| pairs[n * (pairs.len() - 1) / (N_POINTS - 1)]);
        let (x, y): (Vec<f64>, Vec<f64>) = shown.unzip();
        Line::new(&format!("source {}", k + 1), &x, &y)
    };
    Figure::Lines {
        title: "Recovered against true values, every source by itself".into(),
        x: Axis::linear("true"),
        y: Axis::linear("recovered"),
        lines: (0..truth.ncols()).map(line).collect(),
    }
}
