//! A remark on the printed objective: it has no minimiser, because it falls along S → cS.
//!
//! Raw energies and smoothness are squares of S. Along the path
//!
//! ```text
//! S → cS,   W → W/c (mixer),   W^in → W^in/c, W^out → cW^out, b^out → cb^out (networks)
//! ```
//!
//! the reconstruction is unchanged, the energies ℓ and L_smooth are multiplied by c², and the scale
//! penalties do not move: J(c) = J(0+) + c²·(λ_str L_str + λ_smooth L_smooth), which has its
//! infimum at c → 0, where S vanishes. L_sep, formed from standardised columns, does not depend on
//! c and is left out. With standardised sources nothing depends on c at all, and the infimum can be
//! attained. Broken: the fall is claimed of standardised sources.

use super::instance::{
    bare, layout, log10, networks, normal, set_networks, set_sources, set_vector, slope,
};
use super::{Axis, Bound, Check, Figure, Findings, Line, Variant, tiny};
use crate::Result;
use faer::Mat;
use strtransformer::config::Config;
use strtransformer::internals::Inspect;
use strtransformer::objective::Terms;
use strtransformer::{Recording, Trainer};

pub(super) const CHECK: Check = Check {
    name: "gauge",
    title: "Remark: the printed objective has no minimiser",
    claim: "With raw energies and sources that are not standardised, J falls along S → cS with the \
            mixer at 1/c, reconstruction unchanged, towards its infimum at S → 0; with \
            standardised sources J does not depend on c. A remark on the objective as printed, not \
            a claim of the paper.",
    broken: "the fall is claimed of standardised sources",
    experiment,
};

const N_SAMPLES: usize = 40;
const N_SOURCES: usize = 2;
/// Values of c, three a decade.
const N_POINTS: usize = 13;

fn experiment(variant: Variant) -> Result<Findings> {
    let s = waves();
    let y = &s * normal(N_SOURCES, 3, 4) + faer::Scale(0.1) * normal(N_SAMPLES, 3, 5);
    let recording = Recording::from_mat(y)?;
    let factors: Vec<f64> = (0..N_POINTS)
        .map(|n| 10f64.powf(-(n as f64) / 3.0))
        .collect();
    let raw = along_the_path(&recording, &config(false), &s, &factors)?;
    let standardized = along_the_path(&recording, &config(true), &s, &factors)?;
    let claimed = match variant {
        Variant::True => &raw,
        Variant::Broken => &standardized,
    };
    let of = |path: &[Terms], term: fn(&Terms) -> f64| path.iter().map(term).collect::<Vec<f64>>();
    let total = of(claimed, |terms| terms.total);
    let falls = total.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let power = |term: fn(&Terms) -> f64| slope(&log10(&factors), &log10(&of(claimed, term)));
    let spread = |values: &[f64]| {
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| {
                (low.min(v), high.max(v))
            });
        (high - low) / high.abs()
    };
    let (structure, smoothness) = (
        power(|terms| terms.structure),
        power(|terms| terms.smoothness),
    );
    let reconstruction = of(claimed, |terms| terms.reconstruction);
    let constant = spread(&of(&standardized, |terms| terms.total));
    // What is left of J above its limit, the terms that do not move.
    let last = &claimed[N_POINTS - 1];
    let weights = &config(false).weights;
    let limit = last.reconstruction + weights.entropy * last.entropy + weights.gap * last.gap;
    let left = (last.total - limit) / (total[0] - limit);

    let mut findings = Findings::default();
    findings.measure(
        format!(
            "of {} times that c is made smaller, those that make J smaller",
            N_POINTS - 1
        ),
        falls as f64,
        Bound::Is((N_POINTS - 1) as f64),
    );
    findings.measure(
        "L_str goes like c to a power p: |p − 2|",
        (structure - 2.0).abs(),
        Bound::AtMost(1e-9),
    );
    findings.measure(
        "L_smooth goes like c to a power p: |p − 2|",
        (smoothness - 2.0).abs(),
        Bound::AtMost(1e-9),
    );
    findings.measure(
        "change of the reconstruction term",
        spread(&reconstruction),
        Bound::AtMost(1e-12),
    );
    findings.measure(
        "share of J above its infimum left at the last c",
        left,
        Bound::AtMost(1e-6),
    );
    findings.measure(
        "change of J with standardised sources",
        constant,
        Bound::AtMost(1e-12),
    );
    findings.sentence = match variant {
        Variant::True => format!(
            "J falls at {falls} of {} steps from c = 1 to 1e-4, from {:.4} towards {limit:.4}; \
             structure and smoothness go like c to the power {structure:.3} and {smoothness:.3}. \
             With standardised sources J changes by {}.",
            N_POINTS - 1,
            total[0],
            tiny(constant)
        ),
        Variant::Broken => format!(
            "With standardised sources J does not fall along S → cS: {falls} of {} steps make it \
             smaller, and structure goes like c to the power {structure:.3}.",
            N_POINTS - 1
        ),
    };
    findings.figures = vec![
        Figure::Lines {
            title: "J along S → cS".into(),
            x: Axis::log("c"),
            y: Axis::linear("J"),
            lines: vec![
                Line::new("as printed", &factors, &of(&raw, |terms| terms.total)),
                Line::new(
                    "standardised sources",
                    &factors,
                    &of(&standardized, |terms| terms.total),
                ),
            ],
        },
        Figure::Lines {
            title: "Terms of the printed objective along S → cS".into(),
            x: Axis::log("c"),
            y: Axis::log("term, unweighted"),
            lines: vec![
                Line::new(
                    "reconstruction",
                    &factors,
                    &of(&raw, |terms| terms.reconstruction),
                ),
                Line::new("structure", &factors, &of(&raw, |terms| terms.structure)),
                Line::new("smoothness", &factors, &of(&raw, |terms| terms.smoothness)),
            ],
        },
    ];
    Ok(findings)
}

fn config(standardized: bool) -> Config {
    let mut config = bare(N_SOURCES);
    config.weights.observation_variance = Some(1.0);
    config.weights.structure = Some(5.0);
    config.weights.smoothness = 0.5;
    config.weights.entropy = 0.05;
    config.weights.gap = 1.0;
    config.sources.standardize = standardized;
    config.mixer.decoder_standardization = standardized;
    config
}

fn waves() -> Mat<f64> {
    Mat::from_fn(N_SAMPLES, N_SOURCES, |t, k| {
        let t = t as f64;
        [(0.9 * t).sin() + 0.3 * (2.1 * t).cos(), (0.21 * t).cos()][k]
    })
}

/// J and its terms at every c. Standardised sources need no other mixer and no other networks:
/// nobody sees c.
fn along_the_path(
    recording: &Recording,
    config: &Config,
    s: &Mat<f64>,
    factors: &[f64],
) -> Result<Vec<Terms>> {
    let mut trainer = Trainer::new(recording, config)?;
    let n_channels = recording.n_channels();
    let weights = normal(N_SOURCES, n_channels, 4);
    let first = networks(&trainer);
    let path = factors.iter().map(|&c| {
        set_sources(&mut trainer, &(faer::Scale(c) * s));
        let shared = if config.sources.standardize { 1.0 } else { c };
        let mut mixer = trainer.mixer().parameters().to_vec();
        for a in 0..n_channels {
            for k in 0..N_SOURCES {
                mixer[a * (N_SOURCES + 1) + k] = weights[(k, a)] / shared;
            }
        }
        set_vector(&mut trainer, "mixer", &mixer);
        let mut scaled = first.clone();
        for (branch, values) in scaled.iter_mut().enumerate() {
            let layout = layout(&trainer, branch);
            values[layout.w_in].iter_mut().for_each(|w| *w /= shared);
            for place in [layout.w_out, layout.b_out] {
                values[place].iter_mut().for_each(|w| *w *= shared);
            }
        }
        set_networks(&mut trainer, &scaled);
        trainer.evaluate_at(0)
    });
    Ok(path.collect())
}
