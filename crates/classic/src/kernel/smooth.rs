//! The energy of one source by its power in bands: the entropy per sample of a Gaussian process
//! whose spectrum is smooth.
//!
//! ```text
//! g = 1/n · min_λ [ min_θ ( ½ Σ_b n_b (θ_b + q_b·e^{−θ_b} − 1) + ½ θᵀRθ )
//!                   + ½ ln det(R + D) − ½ ln det⁺ R ],
//! θᵀRθ = λ Σ_b (θ_{b+1} − θ_b)²/(x_{b+1} − x_b),   D = ½ diag(n_b·q_b·e^{−θ_b})
//! ```
//!
//! q_b is the power of the source in band b, n_b the number of its frequencies and θ_b the
//! logarithm of the spectrum there, which is a random walk along the axis x: minus the logarithm of
//! the evidence (Laplace's method), the smoothness λ of every source chosen by it. A form with a
//! parameter for every lag learns a short recording by heart; here there are as many as the
//! evidence allows. Dear for lines, and still right for them: λ is then small.
//!
//! In: q and n. Out: g and its exact gradient in q. Nothing is kept from call to call.

/// λ: how much less than a random walk of unit variance the logarithm of the spectrum changes.
const SMOOTHNESS: [f64; 5] = [0.3, 1.0, 3.0, 10.0, 30.0];
/// Where the search for λ begins.
const FIRST: usize = 2;
/// Positions are in units of three roots of the lowest frequency.
const UNIT: f64 = 3.0;
/// Newton steps at most. The function is convex, and five are usual.
const MOST_STEPS: usize = 60;
/// The first steps use a curvature of at least this share of that at θ = ln q.
const CAREFUL_STEPS: usize = 3;
const LEAST_CURVATURE: f64 = 0.25;
/// What the next step would gain, in nats per frequency, when θ is taken as it is.
const TOLERANCE: f64 = 1e-10;
/// Halvings of a step.
const HALVINGS: usize = 30;

/// g and its gradient, with the memory that they need.
#[derive(Clone, Debug)]
pub(super) struct SmoothSpectrum {
    counts: Vec<f64>, // n_b
    n: f64,           // Σ n_b
    links: Vec<f64>,  // 1/(x_{b+1} − x_b)
    log_links: f64,
    best: Walk,
    trial: Walk,
    work: Work,
}

/// The spectrum under one λ.
#[derive(Clone, Debug)]
struct Walk {
    theta: Vec<f64>,
    error: Vec<f64>, // q·e^{−θ}
    value: f64,      // what θ minimises
    nats: f64,       // minus the logarithm of the evidence
    lambda: f64,
}

#[derive(Clone, Debug)]
struct Work {
    diagonal: Vec<f64>, // of R + D
    pivots: Vec<f64>,
    step: Vec<f64>,
    moved: Vec<f64>,
    moved_error: Vec<f64>,
    back: Vec<f64>,
}

impl SmoothSpectrum {
    /// For bands at these positions with these shares of `n` frequencies.
    pub fn new(positions: &[f64], shares: &[f64], n: f64) -> SmoothSpectrum {
        let bands = shares.len();
        let links: Vec<f64> = positions.windows(2).map(|x| UNIT / (x[1] - x[0])).collect();
        let zeros = || vec![0.0; bands];
        let walk = Walk {
            theta: zeros(),
            error: zeros(),
            value: 0.0,
            nats: 0.0,
            lambda: 0.0,
        };
        SmoothSpectrum {
            counts: shares.iter().map(|share| share * n).collect(),
            n,
            log_links: links.iter().map(|link| link.ln()).sum(),
            links,
            best: walk.clone(),
            trial: walk,
            work: Work {
                diagonal: zeros(),
                pivots: zeros(),
                step: zeros(),
                moved: zeros(),
                moved_error: zeros(),
                back: zeros(),
            },
        }
    }

    /// g of powers q > 0 and its gradient, in place of `d`.
    pub fn evaluate(&mut self, q: &[f64], d: &mut [f64]) -> f64 {
        let from = |theta: &mut [f64]| {
            let logarithms = theta.iter_mut().zip(q);
            logarithms.for_each(|(theta, q)| *theta = q.ln());
        };
        from(&mut self.best.theta);
        self.fit(q, FIRST);
        // The evidence has one maximum in λ, towards which it rises from either side.
        for direction in [-1isize, 1] {
            let mut at = FIRST;
            while let Some(next) = at.checked_add_signed(direction) {
                if next >= SMOOTHNESS.len() {
                    break;
                }
                std::mem::swap(&mut self.best, &mut self.trial);
                self.best.theta.copy_from_slice(&self.trial.theta);
                self.fit(q, next);
                if self.best.nats >= self.trial.nats {
                    std::mem::swap(&mut self.best, &mut self.trial);
                    break;
                }
                at = next;
            }
            if at != FIRST {
                break;
            }
        }
        self.gradient(d);
        self.best.nats / self.n
    }

    /// θ of the smoothness `number` in `best`, sought from what is there.
    fn fit(&mut self, q: &[f64], number: usize) {
        let lambda = SMOOTHNESS[number];
        self.best.lambda = lambda;
        for (error, (q, theta)) in self
            .best
            .error
            .iter_mut()
            .zip(q.iter().zip(&self.best.theta))
        {
            *error = q * (-theta).exp();
        }
        self.best.value = self.value(&self.best.theta, &self.best.error, lambda);
        for round in 0..MOST_STEPS {
            let least = if round < CAREFUL_STEPS {
                LEAST_CURVATURE
            } else {
                0.0
            };
            self.factor(lambda, least);
            let work = &mut self.work;
            let (theta, error) = (&self.best.theta, &self.best.error);
            for (b, slot) in work.step.iter_mut().enumerate() {
                *slot = 0.5 * self.counts[b] * (1.0 - error[b]);
            }
            for (b, link) in self.links.iter().enumerate() {
                let pull = lambda * link * (theta[b + 1] - theta[b]);
                work.step[b] -= pull;
                work.step[b + 1] += pull;
            }
            work.moved.copy_from_slice(&work.step);
            solve(&self.links, lambda, &work.pivots, &mut work.step);
            let slope: f64 = work.moved.iter().zip(&work.step).map(|(a, b)| a * b).sum();
            if !self.take_step(q, lambda) || slope < TOLERANCE * self.n {
                break;
            }
        }
        self.factor(lambda, 0.0);
        let log_det: f64 = self.work.pivots.iter().map(|pivot| pivot.ln()).sum();
        let free = self.links.len() as f64;
        let prior = free * lambda.ln() + self.log_links;
        self.best.nats = self.best.value + 0.5 * (log_det - prior);
    }

    /// Moves θ by −step, halved as long as the value does not fall; whether it fell.
    fn take_step(&mut self, q: &[f64], lambda: f64) -> bool {
        let mut size = 1.0;
        for _ in 0..HALVINGS {
            let work = &mut self.work;
            for (b, moved) in work.moved.iter_mut().enumerate() {
                *moved = self.best.theta[b] - size * work.step[b];
                work.moved_error[b] = q[b] * (-*moved).exp();
            }
            let value = self.value(&self.work.moved, &self.work.moved_error, lambda);
            if value <= self.best.value {
                std::mem::swap(&mut self.best.theta, &mut self.work.moved);
                std::mem::swap(&mut self.best.error, &mut self.work.moved_error);
                self.best.value = value;
                return true;
            }
            size *= 0.5;
        }
        false
    }

    fn value(&self, theta: &[f64], error: &[f64], lambda: f64) -> f64 {
        let of_band = |b: usize| self.counts[b] * (theta[b] + error[b] - 1.0);
        let likelihood: f64 = (0..theta.len()).map(of_band).sum();
        let steps = theta.windows(2).zip(&self.links);
        let rough: f64 = steps
            .map(|(theta, link)| link * (theta[1] - theta[0]).powi(2))
            .sum();
        0.5 * (likelihood + lambda * rough)
    }

    /// R + D, the entries of D at least `least` times those at θ = ln q, and its pivots.
    fn factor(&mut self, lambda: f64, least: f64) {
        let work = &mut self.work;
        for (b, slot) in work.diagonal.iter_mut().enumerate() {
            *slot = 0.5 * self.counts[b] * self.best.error[b].max(least);
        }
        for (b, link) in self.links.iter().enumerate() {
            work.diagonal[b] += lambda * link;
            work.diagonal[b + 1] += lambda * link;
        }
        let mut before = f64::INFINITY;
        for b in 0..work.diagonal.len() {
            let coupling = if b == 0 {
                0.0
            } else {
                lambda * self.links[b - 1]
            };
            before = work.diagonal[b] - coupling * coupling / before;
            work.pivots[b] = before;
        }
    }

    /// ∂g/∂q at the best walk: directly, and through the D that it has by itself and by θ.
    fn gradient(&mut self, d: &mut [f64]) {
        let lambda = self.best.lambda;
        self.factor(lambda, 0.0);
        let Work {
            diagonal,
            pivots,
            step,
            back,
            ..
        } = &mut self.work;
        let bands = diagonal.len();
        // Diagonal of (R + D)⁻¹, from the pivots of both directions.
        let mut behind = f64::INFINITY;
        for b in (0..bands).rev() {
            let coupling = self.links.get(b).map_or(0.0, |link| lambda * link);
            behind = diagonal[b] - coupling * coupling / behind;
            let inverse = 1.0 / (pivots[b] + behind - diagonal[b]);
            // ∂(½ ln det)/∂(q·e^{−θ})
            back[b] = 0.25 * self.counts[b] * inverse;
        }
        for (step, (back, error)) in step.iter_mut().zip(back.iter().zip(&self.best.error)) {
            *step = back * error;
        }
        solve(&self.links, lambda, pivots, step);
        for b in 0..bands {
            let weight = (-self.best.theta[b]).exp() / self.n;
            d[b] = weight * (back[b] + 0.5 * self.counts[b] * (1.0 - step[b]));
        }
    }
}

/// x ↦ (R + D)⁻¹x in place, by the pivots of R + D.
fn solve(links: &[f64], lambda: f64, pivots: &[f64], x: &mut [f64]) {
    for b in 1..x.len() {
        x[b] += lambda * links[b - 1] / pivots[b - 1] * x[b - 1];
    }
    for b in (0..x.len()).rev() {
        let ahead = if b + 1 < x.len() {
            lambda * links[b] * x[b + 1]
        } else {
            0.0
        };
        x[b] = (x[b] + ahead) / pivots[b];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use faer::linalg::solvers::DenseSolveCore;

    const POSITIONS: [f64; 7] = [1.0, 1.4, 1.7, 2.0, 3.5, 4.0, 9.0];

    fn spectrum(n: f64) -> SmoothSpectrum {
        SmoothSpectrum::new(&POSITIONS, &[0.01, 0.02, 0.01, 0.06, 0.2, 0.0, 0.7], n)
    }

    #[test]
    fn gradient_is_that_of_finite_differences() {
        for n in [50.0, 1000.0, 1e5] {
            let mut energy = spectrum(n);
            for q in [
                [1.0; 7],
                [30.0, 10.0, 20.0, 5.0, 0.3, 0.02, 0.01],
                [1e-3, 40.0, 1e-3, 1e-2, 3.0, 0.4, 0.5],
            ] {
                let mut d = [0.0; 7];
                energy.evaluate(&q, &mut d);
                for b in 0..7 {
                    let mut at = |step: f64| {
                        let mut q = q;
                        q[b] *= 1.0 + step;
                        energy.evaluate(&q, &mut [0.0; 7])
                    };
                    let numeric = (at(1e-4) - at(-1e-4)) / 2e-4;
                    let exact = d[b] * q[b];
                    let off = (numeric - exact).abs();
                    assert!(
                        off < 1e-7 * (1.0 + exact.abs()),
                        "{n} {b}: {numeric} {exact}"
                    );
                }
            }
        }
    }

    #[test]
    fn value_is_that_of_the_definition_with_the_best_smoothness() {
        let mut energy = spectrum(400.0);
        let q = [9.0, 8.0, 2.0, 3.0, 0.3, 0.05, 0.02];
        let found = energy.evaluate(&q, &mut [0.0; 7]);
        let bands = q.len();
        let of = |lambda: f64| {
            let mut r = Mat::<f64>::zeros(bands, bands);
            for b in 0..bands - 1 {
                let w = lambda * UNIT / (POSITIONS[b + 1] - POSITIONS[b]);
                r[(b, b)] += w;
                r[(b + 1, b + 1)] += w;
                r[(b, b + 1)] -= w;
                r[(b + 1, b)] -= w;
            }
            let mut theta = Mat::from_fn(bands, 1, |b, _| q[b].ln());
            let mut hessian = r.clone();
            for _ in 0..200 {
                let error = |theta: &Mat<f64>, b: usize| q[b] * (-theta[(b, 0)]).exp();
                let count = |b: usize| energy.counts[b];
                let pull = Mat::from_fn(bands, 1, |b, _| 0.5 * count(b) * (1.0 - error(&theta, b)));
                let slope = pull + &r * &theta;
                hessian = Mat::from_fn(bands, bands, |i, j| {
                    let own = if i == j {
                        0.5 * count(i) * error(&theta, i)
                    } else {
                        0.0
                    };
                    r[(i, j)] + own
                });
                let step = hessian.partial_piv_lu().inverse() * slope;
                theta -= &(faer::Scale(0.5) * &step);
            }
            let likelihood: f64 = (0..bands)
                .map(|b| {
                    let t = theta[(b, 0)];
                    0.5 * energy.counts[b] * (t + q[b] * (-t).exp() - 1.0)
                })
                .sum();
            let rough = 0.5 * (theta.transpose() * &r * &theta)[(0, 0)];
            let links: f64 = energy.links.iter().map(|l| (lambda * l).ln()).sum();
            let log_det = hessian.determinant().ln();
            (likelihood + rough + 0.5 * (log_det - links)) / 400.0
        };
        let least = SMOOTHNESS.map(of).into_iter().fold(f64::INFINITY, f64::min);
        assert!((found - least).abs() < 1e-9, "{found} {least}");
    }

    #[test]
    fn a_rough_spectrum_takes_less_smoothness_than_a_flat_one() {
        let positions: Vec<f64> = (1..40).map(|j| f64::from(j).sqrt()).collect();
        let mut energy = SmoothSpectrum::new(&positions, &[1.0 / 39.0; 39], 2000.0);
        let mut of = |q: &dyn Fn(usize) -> f64| {
            let q: Vec<f64> = (0..39).map(q).collect();
            energy.evaluate(&q, &mut [0.0; 39]);
            energy.best.lambda
        };
        let flat = of(&|b| 1.0 + 0.01 * (b as f64).sin());
        let lines = of(&|b| if b % 7 == 3 { 30.0 } else { 0.01 });
        assert!(flat > 3.0 && lines < 3.0, "{flat} {lines}");
    }
}
