//! Linear route: whitening leaves a rotation, temporal structure a signed permutation, the ordered
//! branches nothing.
//!
//! For y_t = A* x_t with XᵀX/T = I, every exact whitened solution is S = XQ with QᵀQ = I. When
//! QᵀΓ_X(τ)Q is diagonal for all lags and some contrast λ_k = Σ_τ β_τ γ_k(τ) has distinct values, Q
//! is a signed permutation. Measured on cosines of distinct whole frequencies, for which circular
//! lagged covariances are diagonal to rounding: the library's whitening must give an orthogonal Q,
//! and joint diagonalisation of the whitened channels the sources, each alone.
//!
//! A permutation is left, which the branches resolve when
//!
//! ```text
//! H_kj = Σ_r π_kr ℓ_kr(x^(j))        Σ_k H_kk + Δ ≤ Σ_k H_kσ(k)   for all σ ≠ id,   Δ > 0
//! ```
//!
//! Measured on the case study after a default run: H of the true sources under the trained networks
//! of each branch, in f64, mean over draws. Broken: two sources share a temporal signature (cosine
//! and sine of one frequency); the assignment is not reached then.

use super::instance::{normal, relative_difference, rows_of, set_sources, set_vector};
use super::{Axis, Bound, Check, Figure, Findings, Line, Side, Variant};
use crate::Result;
use faer::Mat;
use std::f64::consts::{PI, SQRT_2, TAU};
use strt_classic::diagonalize;
use strt_score::match_sources;
use strt_signal::assignment;
use strt_synth::ProblemSpec;
use strtransformer::config::{Config, Coordinates, EngineKind};
use strtransformer::internals::Inspect;
use strtransformer::preprocess::Whitening;
use strtransformer::train::separate;
use strtransformer::{Recording, Trainer};

pub(super) const CHECK: Check = Check {
    name: "linear",
    title: "Linear route: rotation, signed permutation, assignment",
    claim: "Exact whitened solutions differ from the sources by a rotation; diagonal lagged \
            covariances with distinct temporal signatures leave a signed permutation; a strict \
            assignment margin of the branch energies leaves the identity (theorem on weak linear \
            recovery by temporal structure).",
    broken: "two sources share a temporal signature",
    experiment,
};

const N_SAMPLES: usize = 240;
const N_SOURCES: usize = 4;
const N_CHANNELS: usize = 6;
const FREQUENCIES: [f64; N_SOURCES] = [3.0, 8.0, 17.0, 31.0];
/// Lags whose covariances are diagonalised.
const LAGS: std::ops::RangeInclusive<usize> = 1..=12;

/// The trained run.
const SEED: u64 = 4;
const STEPS: usize = 600;
/// Draws over which energies are averaged.
const N_DRAWS: usize = 6;

fn experiment(variant: Variant) -> Result<Findings> {
    let mut findings = Findings::default();
    let rotation = rotation(variant, &mut findings)?;
    if variant == Variant::Broken {
        findings.sentence = format!(
            "With a cosine and a sine of one frequency the signatures coincide, and joint \
             diagonalisation is {rotation:.2} away from a signed permutation."
        );
        return Ok(findings);
    }
    let margin = assignment(&mut findings)?;
    findings.sentence = format!(
        "Whitened channels are the sources times a rotation, which joint diagonalisation undoes up \
         to a signed permutation ({rotation:.0e}); after {STEPS} steps on the case study the \
         assignment margin of the identity is Δ = {margin:.3}."
    );
    Ok(findings)
}

/// The first half; how far the product of Q and the diagonaliser is from a signed permutation.
fn rotation(variant: Variant, findings: &mut Findings) -> Result<f64> {
    let x = Mat::from_fn(N_SAMPLES, N_SOURCES, |t, k| {
        let shared = variant == Variant::Broken && k == 1;
        let phase = |frequency: f64| TAU * frequency * t as f64 / N_SAMPLES as f64;
        SQRT_2
            * if shared {
                phase(FREQUENCIES[0]).sin()
            } else {
                phase(FREQUENCIES[k]).cos()
            }
    });
    let y = &x * normal(N_SOURCES, N_CHANNELS, 8);
    let recording = Recording::from_mat(y)?;
    let whitening = Whitening::fit(
        recording.observations(),
        N_SOURCES,
        recording.channel_names(),
    )?;
    let whitened = whitening.transform(recording.observations())?;
    let q = faer::Scale(1.0 / N_SAMPLES as f64) * (x.transpose() * &whitened);
    let identity = Mat::<f64>::identity(N_SOURCES, N_SOURCES);
    let orthogonality = (q.transpose() * &q - &identity).norm_max();
    let exactness = relative_difference(&(&x * &q), &whitened);

    let signatures: Vec<Mat<f64>> = LAGS.map(|lag| circular_covariance(&x, lag)).collect();
    let diagonality = signatures.iter().map(off_diagonal).fold(0.0, f64::max);
    let distance = |i: usize, j: usize| {
        let squares = signatures.iter().map(|c| (c[(i, i)] - c[(j, j)]).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let closest = (0..N_SOURCES)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| distance(i, j))
        .fold(f64::INFINITY, f64::min);
    let covariances = LAGS
        .map(|lag| circular_covariance(&whitened, lag))
        .collect();
    let found = diagonalize::orthogonal(covariances, 1e-12, diagonalize::MAX_SWEEPS)?;
    let product = &q * &found.matrix;
    let apart = from_signed_permutation(&product);

    findings.measure("Γ_X(τ) off the diagonal", diagonality, Bound::AtMost(1e-12));
    findings.measure(
        "smallest distance of two temporal signatures",
        closest,
        Bound::AtLeast(0.1),
    );
    findings.measure(
        "QᵀQ − I for Q = XᵀZw/T",
        orthogonality,
        Bound::AtMost(1e-10),
    );
    findings.measure("XQ − Zw, relative", exactness, Bound::AtMost(1e-10));
    findings.measure(
        "distance of Q·A from a signed permutation",
        apart,
        Bound::AtMost(1e-8),
    );
    findings.figures.push(turning(&signatures));
    findings.figures.push(Figure::Map {
        title: "Q·A: true sources against recovered ones".into(),
        rows: Side::numbers("source", N_SOURCES),
        columns: Side::numbers("recovered", N_SOURCES),
        values: rows_of(product.as_ref()),
        signed: true,
    });
    Ok(apart)
}

/// ½(Zᵀ·shift(Z) + its transpose)/T with the end joined to the beginning.
fn circular_covariance(z: &Mat<f64>, lag: usize) -> Mat<f64> {
    let n = z.nrows();
    let shifted = Mat::from_fn(n, z.ncols(), |t, k| z[((t + lag) % n, k)]);
    let product = z.transpose() * shifted;
    faer::Scale(0.5 / n as f64) * (&product + product.transpose())
}

fn off_diagonal(matrix: &Mat<f64>) -> f64 {
    let k = matrix.nrows();
    (0..k)
        .flat_map(|i| (0..k).filter(move |&j| j != i).map(move |j| (i, j)))
        .map(|(i, j)| matrix[(i, j)].abs())
        .fold(0.0, f64::max)
}

/// The largest distance of an entry from 0 or, where it is the largest of its row, from ±1.
fn from_signed_permutation(matrix: &Mat<f64>) -> f64 {
    let distance = |i: usize, j: usize| {
        let largest =
            (0..matrix.ncols()).all(|other| matrix[(i, other)].abs() <= matrix[(i, j)].abs());
        let goal = if largest { 1.0 } else { 0.0 };
        (matrix[(i, j)].abs() - goal).abs()
    };
    let places = (0..matrix.nrows()).flat_map(|i| (0..matrix.ncols()).map(move |j| (i, j)));
    places.map(|(i, j)| distance(i, j)).fold(0.0, f64::max)
}

/// Off-diagonality of the lagged covariances when two sources are turned into each other.
fn turning(signatures: &[Mat<f64>]) -> Figure {
    let angles: Vec<f64> = (0..=90).map(f64::from).collect();
    let line = |i: usize, j: usize| {
        // QᵀΓQ of a turn by θ has ½ sin 2θ·(γ_j − γ_i) off the diagonal.
        let contrast: f64 = signatures
            .iter()
            .map(|c| (c[(i, i)] - c[(j, j)]).powi(2))
            .sum();
        let size = |angle: &f64| 0.5 * (2.0 * angle * PI / 180.0).sin().abs() * contrast.sqrt();
        let name = format!("sources {} and {}", i + 1, j + 1);
        Line::new(
            &name,
            &angles,
            &angles.iter().map(size).collect::<Vec<f64>>(),
        )
    };
    Figure::Lines {
        title: "Lagged covariances off the diagonal when two sources are turned into each other"
            .into(),
        x: Axis::linear("angle (degrees)"),
        y: Axis::linear("off-diagonal size, all lags"),
        lines: (1..N_SOURCES).map(|j| line(0, j)).collect(),
    }
}

/// The second half: Δ.
fn assignment(findings: &mut Findings) -> Result<f64> {
    let spec = ProblemSpec {
        seed: SEED,
        ..ProblemSpec::default()
    };
    let problem = spec.generate()?;
    let (recording, reference) = (problem.recording()?, problem.reference()?);
    let mut config = Config::new(spec.n_sources);
    (config.seed, config.threads, config.optimizer.steps) = (SEED, 1, Some(STEPS));
    let separation = separate(&recording, &config)?;
    let matching = match_sources(separation.sources(), &reference)?;
    // Sources are generated by ascending time scale, so that source k belongs in branch k.
    let misplaced = (0..spec.n_sources)
        .filter(|&k| matching.matched()[k] != Some(k))
        .count();

    let mut frozen = separation.config().clone();
    frozen.engine = EngineKind::Reference;
    frozen.sources.coordinates = Some(Coordinates::Direct);
    frozen.weights.observation_variance = Some(f64::INFINITY);
    frozen.weights.separation = Some(0.0);
    frozen.weights.smoothness = 0.0;
    let mut trainer = Trainer::new(&recording, &frozen)?;
    let learned = separation.record();
    set_vector(&mut trainer, "controller.raw_gaps", &learned.raw_gaps);
    for (name, network) in learned.networks.iter() {
        trainer.set_parameter(name, &network.to_owned());
    }
    let cost = branch_cost(&mut trainer, &reference.z_score());
    let margin = assignment::margin(&cost);
    let best = assignment::minimal(cost.as_ref());
    let moved = best.iter().enumerate().filter(|(k, j)| k != *j).count();

    findings.measure(
        "case study: mean absolute correlation with the true sources",
        matching.mac(),
        Bound::AtLeast(0.95),
    );
    findings.measure(
        "branches that hold another source than their own",
        misplaced as f64,
        Bound::Is(0.0),
    );
    findings.measure(
        "branches that the cheapest assignment gives another source",
        moved as f64,
        Bound::Is(0.0),
    );
    findings.measure("assignment margin Δ", margin, Bound::Above(0.0));
    findings.measure(
        "Δ / total cost of the identity",
        margin / (0..best.len()).map(|k| cost[(k, k)]).sum::<f64>(),
        Bound::Noted,
    );
    findings.measure(
        "margin when networks travel with their sources (the one of reports)",
        separation.assignment_margin(),
        Bound::Noted,
    );
    findings.figures.push(Figure::Map {
        title: "log10 of the cost H of true source j in trained branch k".into(),
        rows: Side::numbers("branch", cost.nrows()),
        columns: Side::numbers("source", cost.ncols()),
        values: rows_of(
            Mat::from_fn(cost.nrows(), cost.ncols(), |k, j| cost[(k, j)].log10()).as_ref(),
        ),
        signed: false,
    });
    Ok(margin)
}

/// H_kj = Σ_r π_kr ℓ_kr(x^(j)), mean over draws. Each cyclic order of the sources gives one entry a
/// branch.
fn branch_cost(trainer: &mut Trainer, x: &Mat<f64>) -> Mat<f64> {
    let k = x.ncols();
    let mut cost = Mat::<f64>::zeros(k, k);
    for shift in 0..k {
        let s = Mat::from_fn(x.nrows(), k, |t, branch| x[(t, (branch + shift) % k)]);
        set_sources(trainer, &s);
        for draw in 0..N_DRAWS {
            trainer.evaluate_at(draw);
            let report = trainer.report();
            for branch in 0..k {
                let places = branch * report.n_scales..(branch + 1) * report.n_scales;
                let energy: f64 = places
                    .map(|b| report.controller.scale_weights[b] * report.energy[b])
                    .sum();
                cost[(branch, (branch + shift) % k)] += energy / N_DRAWS as f64;
            }
        }
    }
    cost
}
