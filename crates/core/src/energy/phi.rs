//! φ: what the error of a branch counts for in L_str.
//!
//! ```text
//! raw: φ = ℓ                            as printed in the paper
//! log: φ = Σ_c |M_c|/|M| ln(ℓ_c + κ)    the log-likelihood of Gaussian errors, up to a constant
//! ```
//!
//! over the blocks c of the window that the errors are reported in: one, or several, by which a
//! variance that changes with time is seen. ℓ = Σ_c |M_c|/|M| ℓ_c is the mean squared error in any
//! case.
//!
//! An engine computes the gradient of g = Σ_c |M_c|/|M| f_c ℓ_c in single precision. The factors
//! f_c are therefore kept near 1, and the size of the gradient, `slope` = dφ/dg, is left to f64:
//!
//! ```text
//! f_c = e^φ/(ℓ_c + κ)        slope = e^(−φ)        so that slope·f_c = 1/(ℓ_c + κ)
//! ```

use strt_kernels::BlockError;

/// The form of φ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Phi {
    /// φ = ℓ.
    Raw,
    /// φ = mean ln(ℓ_c + κ).
    Log {
        /// κ > 0.
        kappa: f64,
    },
}

impl Phi {
    /// Sets the factor of every block's gradient.
    pub fn judge(self, errors: &mut [BlockError]) {
        if let Phi::Log { kappa } = self
            && errors.len() > 1
        {
            let geometric_mean = mean_log(errors, kappa).exp();
            for block in errors {
                block.factor = geometric_mean / (block.error + kappa);
            }
        }
    }

    /// φ and its slope.
    pub fn of(self, errors: &[BlockError]) -> (f64, f64) {
        match (self, errors) {
            (Phi::Raw, [only]) => (only.error, 1.0),
            (Phi::Raw, _) => (mean(errors, |block| block.error), 1.0),
            (Phi::Log { kappa }, [only]) => {
                let error = only.error + kappa;
                (error.ln(), 1.0 / error)
            }
            (Phi::Log { kappa }, _) => {
                let phi = mean_log(errors, kappa);
                (phi, (-phi).exp())
            }
        }
    }
}

/// Σ_c |M_c|/|M| ln(ℓ_c + κ).
fn mean_log(errors: &[BlockError], kappa: f64) -> f64 {
    mean(errors, |block| (block.error + kappa).ln())
}

/// Σ_c |M_c|/|M| value(c).
fn mean(errors: &[BlockError], value: impl Fn(&BlockError) -> f64) -> f64 {
    let (mut total, mut n_patches) = (0.0, 0);
    for block in errors {
        total += block.n_patches as f64 * value(block);
        n_patches += block.n_patches;
    }
    total / n_patches as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(values: &[(usize, f64)]) -> Vec<BlockError> {
        let block = |&(n_patches, error)| BlockError {
            n_patches,
            error,
            factor: 1.0,
        };
        values.iter().map(block).collect()
    }

    #[test]
    fn slope_and_factors_are_the_derivative_of_phi() {
        let cases: [&[(usize, f64)]; 3] = [
            &[(5, 0.3)],
            &[(2, 0.1), (6, 4.0)],
            &[(1, 0.0), (3, 2.0), (3, 9.0)],
        ];
        for phi in [Phi::Raw, Phi::Log { kappa: 0.2 }] {
            for case in cases {
                let mut judged = errors(case);
                phi.judge(&mut judged);
                let (_, slope) = phi.of(&judged);
                let n: usize = case.iter().map(|(n, _)| n).sum();
                for (c, block) in judged.iter().enumerate() {
                    let at = |offset: f64| {
                        let mut moved = errors(case);
                        moved[c].error += offset;
                        phi.of(&moved).0
                    };
                    let numeric = (at(1e-6) - at(-1e-6)) / 2e-6;
                    let share = block.n_patches as f64 / n as f64;
                    let analytic = share * slope * block.factor;
                    assert!(
                        (analytic - numeric).abs() < 1e-7,
                        "{phi:?}, {case:?}, block {c}"
                    );
                }
            }
        }
    }

    /// The geometric mean is at most the arithmetic one, and far below it where the variance
    /// changes.
    #[test]
    fn blocks_of_different_variance_have_less_energy() {
        let phi = Phi::Log { kappa: 0.01 };
        let same = phi.of(&errors(&[(4, 1.0), (4, 1.0)])).0;
        let changing = phi.of(&errors(&[(4, 0.01), (4, 1.99)])).0;
        assert!((same - 1.01f64.ln()).abs() < 1e-12);
        assert!(changing < same - 1.0);
    }
}
