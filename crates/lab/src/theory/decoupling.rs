//! Decoupling analysis: block gradient and block-diagonal Hessian of the structural loss.
//!
//! With the controller held, L_str(S) = 1/K Σ_k L_str^(k)(s^(k)), so that
//!
//! ```text
//! ∇_S L_str = 1/K [∇L_str^(1), …, ∇L_str^(K)]                  (block gradient)
//! ∇²_SS L_str = 1/K blockdiag(∇²L_str^(1), …, ∇²L_str^(K))     (block Hessian)
//! ```
//!
//! Measured with the structural term alone (raw energies, S as it is): column k of the gradient
//! must have the same bits whatever the other columns are, and the Hessian, by central differences
//! of the gradient, must vanish between columns. Broken: the separation term, which couples
//! columns, is switched on.

use super::instance::{
    any_channels, bare, entries, normal, rows_of, set_sources, source_gradient, source_hessian,
};
use super::{Bound, Check, Figure, Findings, Side, Variant, tiny};
use crate::Result;
use faer::Mat;
use strtransformer::Trainer;
use strtransformer::config::SeparationForm;
use strtransformer::internals::Inspect;

pub(super) const CHECK: Check = Check {
    name: "decoupling",
    title: "Structure decouples the sources",
    claim: "With the controller held, the gradient of L_str in one source column does not depend \
            on the other columns, and its Hessian is block diagonal (decoupling analysis, \
            equations for the block gradient and the block Hessian).",
    broken: "the separation term is switched on",
    experiment,
};

const N_SAMPLES: usize = 20;
const N_SOURCES: usize = 3;
/// Of the central differences.
const STEP: f64 = 1e-5;

fn experiment(variant: Variant) -> Result<Findings> {
    let mut config = bare(N_SOURCES);
    config.weights.structure = Some(1.0);
    if variant == Variant::Broken {
        config.weights.separation = Some(1.0);
        config.weights.separation_form = SeparationForm::Decorrelation;
    }
    let mut trainer = Trainer::new(&any_channels(N_SAMPLES, N_SOURCES)?, &config)?;
    let s = normal(N_SAMPLES, N_SOURCES, 2);
    set_sources(&mut trainer, &s);

    let terms = trainer.evaluate_at(0);
    let mean = trainer.report().branch_structure.iter().sum::<f64>() / N_SOURCES as f64;
    let changed = changed_entries(&mut trainer, &s);
    // Columns one after the other: blocks are sources.
    let hessian = source_hessian(&mut trainer, STEP, |t, k| k * N_SAMPLES + t);
    let same = |i: usize, j: usize| i / N_SAMPLES == j / N_SAMPLES;
    let size = N_SAMPLES * N_SOURCES;
    let largest = |inside: bool| {
        entries(size, size)
            .filter(|&(i, j)| same(i, j) == inside)
            .map(|(i, j)| hessian[(i, j)].abs())
            .fold(0.0, f64::max)
    };
    let (within, between) = (largest(true), largest(false));
    let asymmetry = (&hessian - hessian.transpose()).norm_max() / within;

    let mut findings = Findings::default();
    findings.measure(
        "|L_str − 1/K Σ L_str^(k)| / |L_str|",
        (terms.structure - mean).abs() / terms.structure.abs(),
        Bound::AtMost(1e-14),
    );
    findings.measure(
        "entries of a gradient column whose bits change with the other columns",
        changed as f64,
        Bound::Is(0.0),
    );
    findings.measure(
        "largest entry within the blocks of the Hessian",
        within,
        Bound::Above(0.0),
    );
    findings.measure(
        "largest entry between blocks / largest within",
        between / within,
        Bound::AtMost(1e-12),
    );
    findings.measure(
        "asymmetry of the differences / largest entry",
        asymmetry,
        Bound::AtMost(1e-6),
    );
    findings.sentence = if changed == 0 && between <= 1e-12 * within {
        format!(
            "With {N_SOURCES} sources of {N_SAMPLES} samples, no bit of a gradient column changes \
             when the other columns are replaced, and the largest Hessian entry between sources is \
             {} beside {within:.2} within them.",
            tiny(between)
        )
    } else {
        format!(
            "The sources are coupled: {changed} gradient entries change when the other columns are \
             replaced, and the largest Hessian entry between sources is {} beside {within:.2} \
             within them.",
            tiny(between)
        )
    };
    findings.figures.push(map(&hessian));
    Ok(findings)
}

/// How many entries of column k of ∇_S J get other bits when every other column is drawn anew, over
/// all k.
fn changed_entries(trainer: &mut Trainer, s: &Mat<f64>) -> usize {
    let before = source_gradient(trainer);
    let other = normal(N_SAMPLES, N_SOURCES, 3);
    let mut changed = 0;
    for k in 0..N_SOURCES {
        let mixed = Mat::from_fn(N_SAMPLES, N_SOURCES, |t, j| {
            if j == k { s[(t, j)] } else { other[(t, j)] }
        });
        set_sources(trainer, &mixed);
        let after = source_gradient(trainer);
        changed += (0..N_SAMPLES)
            .filter(|&t| before[(t, k)].to_bits() != after[(t, k)].to_bits())
            .count();
    }
    set_sources(trainer, s);
    changed
}

fn map(hessian: &Mat<f64>) -> Figure {
    let side = || {
        Side::new(
            "entry",
            (0..hessian.nrows()).map(|i| format!("s{} t{}", i / N_SAMPLES + 1, i % N_SAMPLES + 1)),
        )
    };
    let logarithm = Mat::from_fn(hessian.nrows(), hessian.ncols(), |i, j| {
        hessian[(i, j)].abs().log10()
    });
    Figure::Map {
        title: "log10 |H|, entries of S column by column; empty where H is exactly 0".into(),
        rows: side(),
        columns: side(),
        values: rows_of(logarithm.as_ref()),
        signed: false,
    }
}
