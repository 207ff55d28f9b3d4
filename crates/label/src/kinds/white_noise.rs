//! White noise: neither its values nor their squares say anything of those that follow, and no
//! value stands out. Needs no sampling rate.

use crate::course::Course;
use crate::{Evidence, Proposal, met, weakest};

/// Lags at which values are compared.
const LAGS: usize = 20;
/// Lags at which squares are compared.
const FEW_LAGS: usize = 4;

pub(crate) fn propose(evidence: &Evidence<'_>) -> Option<Proposal> {
    let course = &evidence.course;
    let linear = predicted(course, LAGS, |v| v, |v| v);
    let squares = predicted(course, FEW_LAGS, |v| v * v - 1.0, |v| v * v - 1.0);
    let from_squares = predicted(course, FEW_LAGS, |v| v * v - 1.0, |v| v);
    let tails = course.kurtosis();
    let highest = linear.max(squares).max(from_squares);
    Some(Proposal {
        confidence: weakest([
            met(linear, 0.08, 0.03),
            met(squares, 0.08, 0.03),
            met(from_squares, 0.08, 0.03),
            met(tails, 6.0, 2.0),
        ]),
        frequency: None,
        reason: format!(
            "neither its values nor their squares predict more than {:.1} % of what follows",
            100.0 * highest
        ),
    })
}

/// Σ r² over lags beyond what chance gives: about the share of the variance of `to` that values of
/// `from` predict. Pairs with a missing sample do not count.
fn predicted(
    course: &Course,
    lags: usize,
    from: impl Fn(f64) -> f64,
    to: impl Fn(f64) -> f64,
) -> f64 {
    let values = &course.values;
    let there = &course.there;
    let variance = |f: &dyn Fn(f64) -> f64| {
        let present = values.iter().zip(there).filter(|(_, there)| **there);
        let (sum, n) = present.fold((0.0, 0.0), |(s, n), (v, _)| (s + f(*v).powi(2), n + 1.0));
        sum / n
    };
    let scale = (variance(&from) * variance(&to)).sqrt();
    let mut sum = 0.0;
    for lag in 1..=lags.min(values.len() / 4) {
        let (mut product, mut n) = (0.0, 0.0);
        for t in lag..values.len() {
            if there[t] && there[t - lag] {
                product += from(values[t - lag]) * to(values[t]);
                n += 1.0;
            }
        }
        if n > 0.0 {
            sum += (product / n / scale).powi(2) - 1.0 / n;
        }
    }
    sum.max(0.0)
}
