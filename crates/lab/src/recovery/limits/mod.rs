//! What no method can exceed: how good an unmixing could be at best.
//!
//! In: a problem with its truth. Out: [`Limit`], two figures in the unit of the tables, MAC.
//!
//! * *linear with truth*: every source as the linear function of the channels that correlates with
//!   it best, chosen with the true sources in hand. The noise of the channels, and nonlinear
//!   mixing, cost this much; who unmixes linearly, sample by sample, cannot exceed it. (A filter in
//!   time can.)
//! * *bound*: what is left of that when the unmixing has to be found blindly, where sources are
//!   Gaussian processes and the mixing is linear (`bound.rs`). With E_kl² the power of source l
//!   that is left in source k, which has a least expectation, and ρ_k the correlation of the
//!   linear function above, the expectation of 1/√(1 + Σ_l E_kl² + (1/ρ_k² − 1)), averaged over
//!   sources. A method can be luckier on one problem, not on average. It is a bound for small
//!   errors: where interference is above 0.3 of the power there is none.

mod bound;
mod linear;
mod toeplitz;

use super::families::{Case, Family};
use faer::Mat;
use faer::linalg::solvers::Solve;
use rayon::prelude::*;
use serde::Serialize;
use strt_synth::{Problem, ProblemSpec, Result};

/// Interference beyond this is no small error.
const MOST_INTERFERENCE: f64 = 0.3;

/// What can be reached on one problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limit {
    pub family: String,
    pub problem: String,
    /// The kind of its sources.
    pub kind: String,
    /// The Cramér–Rao bound as MAC, where there is one.
    pub bound: Option<f64>,
    /// MAC of the best linear unmixing.
    pub linear_with_truth: f64,
}

/// The limits of all problems, in their order.
///
/// # Errors
/// When a problem cannot be generated.
pub fn of_families(families: &[Family]) -> Result<Vec<Limit>> {
    let cases: Vec<(&Family, &Case)> = families
        .iter()
        .flat_map(|family| family.cases.iter().map(move |case| (family, case)))
        .collect();
    let limit = |&(family, case): &(&Family, &Case)| {
        let problem = case.generate()?;
        let correlations = linear::best_correlations(&problem);
        let drawn = case.is_generated().then_some(&case.spec);
        Ok(Limit {
            family: family.name.into(),
            problem: case.name.clone(),
            kind: drawn.map_or("real".into(), |spec| spec.kind.to_string()),
            bound: drawn.and_then(|spec| expected_mac(spec, &problem, &correlations)),
            linear_with_truth: mean(&correlations),
        })
    };
    cases.par_iter().map(limit).collect()
}

/// The bound as MAC; `correlations` are those of the best linear unmixing.
fn expected_mac(spec: &ProblemSpec, problem: &Problem, correlations: &[f64]) -> Option<f64> {
    let mixing = problem.mixing.as_ref()?;
    let covariances = spec.autocovariances(bound::n_lags(spec.n_samples))?;
    let noise = unmixed_noise(mixing, spec.noise);
    let interference = bound::interference(&covariances, &noise, spec.n_samples)?;
    let reached: Vec<f64> = interference
        .iter()
        .zip(correlations)
        .map(|(powers, rho)| bound::expected_correlation(powers, 1.0 / (rho * rho)))
        .collect();
    let small = |powers: &Vec<f64>| powers.iter().sum::<f64>() <= MOST_INTERFERENCE;
    interference.iter().all(small).then(|| mean(&reached))
}

/// The diagonal of ν²(AᵀA)⁻¹: the variance that noise of standard deviation ν in the channels has
/// in the unmixed sources.
fn unmixed_noise(mixing: &Mat<f64>, deviation: f64) -> Vec<f64> {
    let n_sources = mixing.ncols();
    let gram = mixing.transpose() * mixing;
    let inverse = gram
        .partial_piv_lu()
        .solve(Mat::identity(n_sources, n_sources));
    (0..n_sources)
        .map(|k| deviation * deviation * inverse[(k, k)])
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests;
