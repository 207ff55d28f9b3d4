//! How the search of a method ended. Every result carries one; nothing ends in silence.

use std::fmt;

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// There was nothing to search: the answer has a closed form.
    Direct,
    /// The criterion fell below its tolerance.
    Tolerance,
    /// All iterations were used up.
    IterationLimit,
    /// No step along the gradient lowered the objective any more.
    LineSearch,
}

impl fmt::Display for StopReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            StopReason::Direct => "solved directly",
            StopReason::Tolerance => "tolerance reached",
            StopReason::IterationLimit => "iteration limit reached",
            StopReason::LineSearch => "no step lowers the objective",
        })
    }
}

/// The convergence report of a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convergence {
    /// Iterations or sweeps done; for sequential extraction, of all components together.
    pub iterations: usize,
    /// Whether the criterion is below its tolerance.
    pub converged: bool,
    /// The method's criterion at the end; what it measures is said in the method's module.
    pub value: f64,
    /// What the criterion had to fall below.
    pub tolerance: f64,
    /// Why the search ended.
    pub reason: StopReason,
}

impl Convergence {
    /// Of a closed form.
    pub(super) fn direct() -> Convergence {
        Convergence {
            iterations: 1,
            converged: true,
            value: 0.0,
            tolerance: 0.0,
            reason: StopReason::Direct,
        }
    }

    /// Of a search that ends by its tolerance or its last iteration.
    pub(super) fn of_search(iterations: usize, value: f64, tolerance: f64) -> Convergence {
        let converged = value < tolerance;
        Convergence {
            iterations,
            converged,
            value,
            tolerance,
            reason: if converged {
                StopReason::Tolerance
            } else {
                StopReason::IterationLimit
            },
        }
    }
}

impl fmt::Display for Convergence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            StopReason::Direct => write!(formatter, "converged: {}", self.reason),
            reason => write!(
                formatter,
                "{}: {reason} after {} iterations, {:.1e} against {:.1e}",
                if self.converged {
                    "converged"
                } else {
                    "not converged"
                },
                self.iterations,
                self.value,
                self.tolerance
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_how_it_ended() {
        let reached = Convergence::of_search(12, 1e-9, 1e-8);
        assert!(reached.converged && reached.reason == StopReason::Tolerance);
        assert_eq!(
            Convergence::of_search(200, 0.5, 1e-4).to_string(),
            "not converged: iteration limit reached after 200 iterations, 5.0e-1 against 1.0e-4"
        );
        assert!(!Convergence::of_search(3, f64::NAN, 1e-4).converged);
        assert_eq!(
            Convergence::direct().to_string(),
            "converged: solved directly"
        );
    }
}
