//! Small-noise regularized fiber selection: where the minimisers of J go when ν_y → 0.
//!
//! With R the terms of J besides the reconstruction, R ≥ R_min, and R* its minimum over the
//! exact-reconstruction fiber F_Y = {(S, θ): M_θ(Φ_dec(S)) = Y}, minimisers S_ν of J satisfy
//!
//! ```text
//! J(S_ν) ≤ R*,   ‖Y − Ŷ_ν‖² ≤ 2ν(R* − R_min) = O(ν),   R(S_ν) → R*
//! ```
//!
//! Here S is free (direct coordinates) and so is an affine mixer; networks (trained for a while)
//! and controller are held, draws are fixed, R = λ_str L_str + ‖C − I‖² + λ_smooth L_smooth ≥ 0 =
//! R_min of standardised sources. J is minimised along ν = 1 … 10⁻⁶, each from the minimiser
//! before. R* is found independently: the fiber of an affine mixer is S = Zw·A + 1·bᵀ with A
//! invertible, on which R does not depend on b and on the lengths of A's columns, so that a grid
//! over two angles, refined by descent, covers it. The theorem's bound is first order; as R is
//! smooth, the residual itself is O(ν) (ν times the multiplier of the constraint), its square
//! O(ν²). Broken: Y has rank above K, so that the fiber is empty.

use super::instance::{
    bare, entries, gradient, log10, networks, normal, set_networks, set_sources, set_vector, slope,
    sources,
};
use super::minimize::{Minimum, minimize};
use super::{Axis, Bound, Check, Figure, Findings, Line, Variant};
use crate::Result;
use faer::linalg::solvers::SolveLstsq;
use faer::{Col, Mat};
use std::f64::consts::TAU;
use strtransformer::config::{Config, Coordinates, Init, Preprocess};
use strtransformer::internals::Inspect;
use strtransformer::objective::Terms;
use strtransformer::{Recording, Trainer};

pub(super) const CHECK: Check = Check {
    name: "fiber",
    title: "Small noise selects from the exact-reconstruction fiber",
    claim: "Minimisers of J have squared residual at most 2ν(R* − R_min) = O(ν), and as ν → 0 \
            their regulariser rises to R*, its minimum over the exact-reconstruction fiber \
            (theorem on small-noise regularized fiber selection).",
    broken: "the observations have rank above K, so that the fiber is empty",
    experiment,
};

const N_SAMPLES: usize = 40;
const N_SOURCES: usize = 2;
const N_CHANNELS: usize = 3;
/// Steps for which the networks are trained before they are held.
const TRAINING: usize = 150;
/// Directions of a source that are tried on the fiber.
const N_ANGLES: usize = 24;
/// Best pairs of directions that are refined.
const N_REFINED: usize = 6;
/// Directions of a source from which the first minimisation starts.
const N_STARTS: usize = 8;
/// R_min: every term of R is a square.
const R_MIN: f64 = 0.0;

fn experiment(variant: Variant) -> Result<Findings> {
    let recording = recording(variant)?;
    let mut on_fiber = Trainer::new(&recording, &config(Coordinates::Fiber, f64::INFINITY))?;
    on_fiber.run(&mut ());
    let trained = networks(&on_fiber);
    let least = least_on_fiber(&mut on_fiber);

    let variances: Vec<f64> = (0..=6).map(|n| 10f64.powi(-n)).collect();
    let mut point = best_start(&recording, &trained, variances[0])?;
    let (mut squares, mut regularizers, mut objectives) = (Vec::new(), Vec::new(), Vec::new());
    let (mut steepest, mut iterations) = (0.0f64, 0);
    for &variance in &variances {
        let mut free = free_run(&recording, &trained, variance)?;
        // Rounding of Y − Ŷ comes back divided by ν.
        let tolerance = f64::max(1e-10, 1e-13 / variance);
        let minimum = minimize(|x| evaluate(&mut free, x), point, tolerance, 2000);
        point = minimum.point;
        evaluate(&mut free, &point);
        let terms = free.evaluate_at(0);
        steepest = steepest.max(minimum.gradient);
        iterations += minimum.iterations;
        squares.push(2.0 * variance * terms.reconstruction);
        regularizers.push(terms.total - terms.reconstruction);
        objectives.push(terms.total);
    }
    let bounds: Vec<f64> = variances
        .iter()
        .map(|v| 2.0 * v * (least - R_MIN))
        .collect();
    let over = squares
        .iter()
        .zip(&bounds)
        .map(|(s, b)| s / b)
        .fold(0.0, f64::max);
    let excess = objectives
        .iter()
        .map(|j| (j - least) / least)
        .fold(f64::NEG_INFINITY, f64::max);
    let rate = slope(&log10(&variances), &log10(&squares));
    let falls = regularizers
        .windows(2)
        .filter(|pair| pair[1] < pair[0] * (1.0 - 1e-10))
        .count();
    let gap = (regularizers[regularizers.len() - 1] - least).abs() / least;

    let mut findings = Findings::default();
    findings.measure(
        "largest squared residual / 2ν(R* − R_min)",
        over,
        Bound::AtMost(1.0),
    );
    findings.measure("largest (J − R*)/R*", excess, Bound::AtMost(1e-9));
    findings.measure(
        "slope of log squared residual against log ν",
        rate,
        Bound::AtLeast(1.0),
    );
    findings.measure(
        "steps of ν at which R falls instead of rising",
        falls as f64,
        Bound::Is(0.0),
    );
    findings.measure("|R − R*|/R* at the smallest ν", gap, Bound::AtMost(1e-4));
    findings.measure(
        "largest gradient entry at a minimiser",
        steepest,
        Bound::Noted,
    );
    findings.measure(
        "BFGS iterations along all ν",
        iterations as f64,
        Bound::Noted,
    );
    findings.sentence = match variant {
        Variant::True => format!(
            "Along ν = 1 … 1e-6 the squared residual is at most {over:.3} times 2ν(R* − R_min), \
             with slope {rate:.3} (the bound asks for 1, a smooth regulariser gives 2), and R \
             comes within {gap:.0e} of its minimum over the fiber, {least:.6}."
        ),
        Variant::Broken => format!(
            "With an empty fiber the squared residual does not vanish: slope {rate:.3}, up to \
             {over:.0e} times the bound."
        ),
    };
    let flat = vec![least; variances.len()];
    findings.figures = vec![
        Figure::Lines {
            title: "Squared residual of the minimisers".into(),
            x: Axis::log("ν"),
            y: Axis::log("‖Y − Ŷ‖²"),
            lines: vec![
                Line::new("minimiser of J", &variances, &squares),
                Line::new("2ν(R* − R_min)", &variances, &bounds),
            ],
        },
        Figure::Lines {
            title: "Regulariser of the minimisers".into(),
            x: Axis::log("ν"),
            y: Axis::linear("R"),
            lines: vec![
                Line::new("R at the minimiser of J", &variances, &regularizers),
                Line::new("J", &variances, &objectives),
                Line::new("R*, minimum over the fiber", &variances, &flat),
            ],
        },
    ];
    Ok(findings)
}

/// Two waves in three channels; in the broken variant the third channel has noise of its own.
fn recording(variant: Variant) -> Result<Recording> {
    let sources = Mat::from_fn(N_SAMPLES, N_SOURCES, |t, k| {
        let t = t as f64;
        [(1.1 * t).sin() + 0.4 * (0.5 * t).cos(), (0.23 * t).cos()][k]
    });
    let mut y = &sources * normal(N_SOURCES, N_CHANNELS, 6);
    if variant == Variant::Broken {
        let noise = normal(N_SAMPLES, 1, 7);
        (0..N_SAMPLES).for_each(|t| y[(t, 2)] += 0.3 * noise[(t, 0)]);
    }
    Ok(Recording::from_mat(y)?)
}

fn config(coordinates: Coordinates, variance: f64) -> Config {
    let mut config = bare(N_SOURCES);
    config.preprocess = Preprocess::default();
    config.sources.coordinates = Some(coordinates);
    config.sources.init = Some(Init::Pca);
    config.sources.standardize = true;
    config.mixer.decoder_standardization = true;
    config.weights.observation_variance = Some(variance);
    config.weights.structure = Some(1.0);
    config.weights.separation = Some(1.0);
    config.weights.smoothness = 0.1;
    config.optimizer.steps = Some(TRAINING);
    config.optimizer.rates.controller = 0.0;
    config
}

/// A run in which S is free, with these networks.
fn free_run(recording: &Recording, trained: &[Vec<f64>], variance: f64) -> Result<Trainer> {
    let mut free = Trainer::new(recording, &config(Coordinates::Direct, variance))?;
    set_networks(&mut free, trained);
    Ok(free)
}

/// The lowest minimum of J at the largest ν, over starts spread on the fiber. It knows nothing of
/// R*.
fn best_start(recording: &Recording, trained: &[Vec<f64>], variance: f64) -> Result<Col<f64>> {
    let mut free = free_run(recording, trained, variance)?;
    let components = sources(&free);
    let y = free.observations().expect("a short recording").to_owned();
    let mut best: Option<Minimum> = None;
    for a in directions(N_STARTS) {
        // θ by least squares; the features of an affine mixer are [z, 1], and Zw·A has unit
        // variance.
        let s = &components * a;
        let features = Mat::from_fn(N_SAMPLES, N_SOURCES + 1, |t, k| {
            if k < N_SOURCES { s[(t, k)] } else { 1.0 }
        });
        let weights = features.qr().solve_lstsq(&y);
        let flat = |matrix: &Mat<f64>| -> Vec<f64> {
            let (rows, columns) = matrix.shape();
            entries(rows, columns).map(|place| matrix[place]).collect()
        };
        let values: Vec<f64> = [flat(&s), flat(&weights)].concat();
        let start = Col::from_fn(values.len(), |i| values[i]);
        let minimum = minimize(|x| evaluate(&mut free, x), start, 1e-6, 500);
        if best.as_ref().is_none_or(|best| minimum.value < best.value) {
            best = Some(minimum);
        }
    }
    Ok(best.expect("there is more than one start").point)
}

/// A (2×2) with columns of length 1 in every pair of n directions, pairs of parallel ones left out.
fn directions(n: usize) -> impl Iterator<Item = Mat<f64>> {
    let pairs = entries(n, n).filter(move |(i, j)| !(2 * (n + i - j)).is_multiple_of(n));
    let angle = move |i: usize| (TAU * i as f64 / n as f64).sin_cos();
    pairs.map(move |(i, j)| {
        let (one, two) = (angle(i), angle(j));
        Mat::from_fn(2, 2, |i, j| [[one.1, two.1], [one.0, two.0]][i][j])
    })
}

/// R*.
fn least_on_fiber(trainer: &mut Trainer) -> f64 {
    let mut tried: Vec<(f64, Mat<f64>)> = directions(N_ANGLES)
        .map(|a| (regularizer(trainer, &a).0, a))
        .collect();
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    let refined = tried.into_iter().take(N_REFINED).map(|(_, a)| {
        let start = Col::from_fn(4, |i| a[(i % 2, i / 2)]);
        let matrix = |x: &Col<f64>| Mat::from_fn(2, 2, |i, j| x[i + 2 * j]);
        let f = |x: &Col<f64>| {
            let (value, gradient) = regularizer(trainer, &matrix(x));
            (value, Col::from_fn(4, |i| gradient[(i % 2, i / 2)]))
        };
        minimize(f, start, 1e-11, 500).value
    });
    refined.fold(f64::INFINITY, f64::min)
}

/// R and ∂R/∂A at S = Zw·A.
fn regularizer(trainer: &mut Trainer, a: &Mat<f64>) -> (f64, Mat<f64>) {
    trainer.set_parameter("space.a", a);
    let terms = trainer.evaluate_at(0);
    (terms.total, gradient(trainer, "space.a"))
}

/// J and its gradient in (S, θ) as one vector.
fn evaluate(trainer: &mut Trainer, x: &Col<f64>) -> (f64, Col<f64>) {
    let n = N_SAMPLES * N_SOURCES;
    let s = Mat::from_fn(N_SAMPLES, N_SOURCES, |t, k| x[k * N_SAMPLES + t]);
    set_sources(trainer, &s);
    let mixer: Vec<f64> = (n..x.nrows()).map(|i| x[i]).collect();
    set_vector(trainer, "mixer", &mixer);
    let Terms { total, .. } = trainer.evaluate_at(0);
    let (d_s, d_mixer) = (gradient(trainer, "space.s"), gradient(trainer, "mixer"));
    let d = Col::from_fn(x.nrows(), |i| {
        if i < n {
            d_s[(i % N_SAMPLES, i / N_SAMPLES)]
        } else {
            d_mixer[(i - n, 0)]
        }
    });
    (total, d)
}
