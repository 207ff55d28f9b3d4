//! How much better the next sample of a source is forecast by a smooth function of those before it
//! than by a linear one.
//!
//! ```text
//! f(z) = Σ_c w_c·exp( −|z − z_c|²/(2ℓ²p) ) + Σ_l v_l·z_l        z = (s_{t−1} … s_{t−p})
//! G = ½ ln(R_linear + κ) − ½ ln(R + κ)        R = 1/n·min_w Σ_t (s_t − f(z_t))² + λ·wᵀPw
//! ```
//!
//! It is the mean of a Gaussian process with [`CENTERS`] inducing points z_c, seen samples, and P
//! their covariances. Entropies per sample are at most the logarithms of errors, so that a source
//! has at most the entropy of the Gaussian process of its spectrum less G: independent runs of one
//! chaotic or nonlinear system, which have one spectrum and one distribution, are told apart by it.
//! A function has few weights where a network has thousands, and learns from some hundred samples.
//!
//! In: samples of a source, of any scale. Out: G with its gradient in the samples, and whether it
//! is more than chance. What is made of it is the caller's business.

use super::ridge::Ridge;

/// Inducing points.
const CENTERS: usize = 32;
/// κ: noise that every forecast has, in units of the source's variance.
const KAPPA: f64 = 1e-3;
/// What the evidence for a function must exceed that for a linear one by, in nats.
pub(super) const CHANCE: f64 = 6.0;
/// Of the covariances of inducing points, so that they have an inverse.
const JITTER: f64 = 1e-6;
/// λ of the linear forecast that G is measured from.
const LINEAR_NOISE: f64 = 1e-6;
/// Orders of linear forecasts that a function must excel, …
const LINEAR_ORDERS: [usize; 4] = [2, 4, 8, 12];
/// … and their noises.
const LINEAR_NOISES: [f64; 5] = [1e-4, 1e-3, 1e-2, 0.1, 1.0];

/// What kind of function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// p: samples before the one that is forecast.
    pub order: usize,
    /// ℓ: how far a bump reaches, in standard deviations of the source.
    pub length: f64,
    /// λ: variance of the noise, in units of the function's.
    pub noise: f64,
}

impl Shape {
    /// What finds sources among their mixtures, whatever their laws.
    pub const SEARCH: Shape = Shape {
        order: 4,
        length: 1.0,
        noise: 0.1,
    };
    /// The longest order.
    pub const LONGEST: usize = 8;

    /// All that are tried.
    pub fn all() -> impl Iterator<Item = Shape> {
        let of = |order: usize, length: f64| {
            [0.01, 0.1, 1.0].map(|noise| Shape {
                order,
                length,
                noise,
            })
        };
        let orders = [1, 2, 4, Shape::LONGEST].into_iter();
        orders.flat_map(move |order| [0.5, 1.0, 2.0].into_iter().flat_map(move |l| of(order, l)))
    }
}

/// Forecasts of one source, with the memory that they need.
#[derive(Clone, Debug)]
pub struct Forecast {
    shape: Shape,
    most: usize,        // targets
    scaled: Vec<f64>,   // the samples, of mean square 1
    d_scaled: Vec<f64>, // ∂G/∂ of these
    deviation: f64,
    n_valid: usize,
    targets: Vec<u32>,
    centers: Vec<f64>, // one point after the other
    d_centers: Vec<f64>,
    at: Vec<u32>, // the targets before which they lie, where they follow the samples
    features: Vec<f64>, // bumps, then samples before, one column after the other
    system: Ridge,
    linear: Ridge,
    residuals: Vec<f64>,
    residuals_linear: Vec<f64>,
}

impl Forecast {
    /// For sources of which at most `most` samples, evenly spread, are forecast.
    pub fn new(shape: Shape, most: usize) -> Forecast {
        Forecast {
            shape,
            most,
            scaled: Vec::new(),
            d_scaled: Vec::new(),
            deviation: 0.0,
            n_valid: 0,
            targets: Vec::with_capacity(most),
            centers: Vec::new(),
            d_centers: Vec::new(),
            at: Vec::with_capacity(CENTERS),
            features: Vec::new(),
            system: Ridge::default(),
            linear: Ridge::default(),
            residuals: Vec::new(),
            residuals_linear: Vec::new(),
        }
    }

    /// Takes consecutive samples. `reach` says of each how many samples that end with it are
    /// contiguous and there.
    pub fn read(&mut self, samples: &[f64], reach: &[u32]) {
        let there = || samples.iter().zip(reach).filter(|(_, reach)| **reach > 0);
        self.n_valid = there().count();
        let square: f64 = there().map(|(s, _)| s * s).sum();
        self.deviation = (square / self.n_valid as f64).sqrt();
        self.scaled.clear();
        let scale = 1.0 / self.deviation;
        self.scaled.extend(samples.iter().map(|s| s * scale));
        self.at.clear();
        self.aim(self.shape.order, reach);
        if self.deviation.is_nan() || self.deviation <= 0.0 {
            self.targets.clear();
        }
    }

    /// Takes samples that follow so many others as targets, evenly spread.
    fn aim(&mut self, order: usize, reach: &[u32]) {
        let fits = |(t, reach): &(usize, &u32)| *t >= order && **reach as usize > order;
        let all = reach.iter().enumerate().filter(fits).count();
        let n = all.min(self.most);
        self.targets.clear();
        for (seen, (t, _)) in reach.iter().enumerate().filter(fits).enumerate() {
            // The i-th target is the one at i·all/n.
            if self.targets.len() < n && seen == self.targets.len() * all / n {
                self.targets.push(t as u32);
            }
        }
    }

    /// Puts inducing points where the samples are that were read last.
    pub fn place(&mut self) {
        let n = self.targets.len().min(CENTERS);
        self.centers.clear();
        self.at.clear();
        for c in 0..n {
            let target = self.targets[c * self.targets.len() / n];
            self.at.push(target);
            let t = target as usize;
            let before = self.scaled[t - self.shape.order..t].iter().rev();
            self.centers.extend(before);
        }
        let factor = self.factor();
        let point = |c: usize| &self.centers[c * self.shape.order..][..self.shape.order];
        self.system.resize(n + self.shape.order);
        self.system.prior.fill(0.0);
        for i in 0..n + self.shape.order {
            for j in 0..=i {
                let own = if i == j { 1.0 } else { 0.0 };
                let value = if i < n {
                    (factor * apart(point(i), point(j))).exp() + JITTER * own
                } else {
                    own
                };
                self.system.prior[i * (n + self.shape.order) + j] = value;
            }
        }
    }

    fn factor(&self) -> f64 {
        -0.5 / (self.shape.length * self.shape.length * self.shape.order as f64)
    }

    fn n_centers(&self) -> usize {
        self.centers.len() / self.shape.order
    }

    /// What functions are made of, at every target.
    fn fill_features(&mut self) {
        let (n, order, factor) = (self.targets.len(), self.shape.order, self.factor());
        let m = self.n_centers();
        self.features.resize(n * (m + order), 0.0);
        for (i, &t) in self.targets.iter().enumerate() {
            let t = t as usize;
            for (l, sample) in self.scaled[t - order..t].iter().rev().enumerate() {
                self.features[(m + l) * n + i] = *sample;
            }
        }
        for (c, center) in self.centers.chunks_exact(order).enumerate() {
            let (bumps, before) = self.features.split_at_mut(m * n);
            let bumps = &mut bumps[c * n..][..n];
            bumps.fill(0.0);
            for (l, center) in center.iter().enumerate() {
                for (d, z) in bumps.iter_mut().zip(&before[l * n..][..n]) {
                    *d += (z - center) * (z - center);
                }
            }
            bumps.iter_mut().for_each(|d| *d = (factor * *d).exp());
        }
    }

    /// Takes what functions of this order and length are made of, around inducing points that are
    /// placed in the samples that were read last.
    fn build(&mut self, shape: Shape) {
        self.shape = shape;
        self.place();
        self.fill_features();
        gather(&self.scaled, &self.targets, &mut self.residuals);
        self.system.sum(&self.features, &self.residuals);
    }

    /// The evidence in nats for the best function of those that were built, with this noise; `None`
    /// where there is none.
    fn evidence(&mut self, noise: f64) -> Option<f64> {
        let (n, y) = (self.targets.len(), self.mean_square());
        self.system.solve(noise)?;
        let unexplained = y - self.system.explained() / n as f64;
        self.system.evidence(n, unexplained, noise)
    }

    /// The mean square of the targets.
    fn mean_square(&self) -> f64 {
        let square = |&t: &u32| self.scaled[t as usize].powi(2);
        self.targets.iter().map(square).sum::<f64>() / self.targets.len() as f64
    }

    /// The evidence in nats for the best linear forecast of targets that all orders have.
    fn linear_evidence(&mut self) -> Option<f64> {
        let n = self.targets.len();
        let longest = LINEAR_ORDERS[LINEAR_ORDERS.len() - 1];
        self.features.clear();
        for l in 0..longest {
            let before = |&t: &u32| self.scaled.get((t as usize).wrapping_sub(l + 1));
            let column = self
                .targets
                .iter()
                .map(|t| before(t).copied().unwrap_or(0.0));
            self.features.extend(column);
        }
        gather(&self.scaled, &self.targets, &mut self.residuals);
        let y = self.mean_square();
        let mut best: Option<f64> = None;
        for order in LINEAR_ORDERS {
            self.linear.resize(order);
            self.linear.set_prior_to_identity();
            self.linear
                .sum(&self.features[..order * n], &self.residuals);
            for noise in LINEAR_NOISES {
                if self.linear.solve(noise).is_none() {
                    continue;
                }
                let unexplained = y - self.linear.explained() / n as f64;
                let evidence = self.linear.evidence(n, unexplained, noise);
                best = [best, evidence].into_iter().flatten().reduce(f64::max);
            }
        }
        best
    }

    /// By how many nats, over all targets, functions of each of these shapes have more evidence
    /// than any linear forecast, less what chance makes of it; of the samples `samples`.
    pub fn beyond_chance(&mut self, samples: &[f64], reach: &[u32], shapes: &[Shape]) -> Vec<f64> {
        let longest = LINEAR_ORDERS[LINEAR_ORDERS.len() - 1];
        let shape = self.shape;
        self.read(samples, reach);
        self.aim(longest, reach);
        if self.targets.len() < 4 * CENTERS {
            return vec![f64::NEG_INFINITY; shapes.len()];
        }
        let linear = self.linear_evidence();
        let mut built: Option<Shape> = None;
        let beyond = |shape: &Shape| {
            let same = |built: Shape| (built.order, built.length) == (shape.order, shape.length);
            if !built.is_some_and(same) {
                self.build(*shape);
                built = Some(*shape);
            }
            let nats = self.evidence(shape.noise).zip(linear);
            nats.map_or(f64::NEG_INFINITY, |(own, linear)| own - linear - CHANCE)
        };
        let beyond = shapes.iter().map(beyond).collect();
        self.shape = shape;
        self.aim(shape.order, reach);
        beyond
    }

    /// What chance makes of G at most, about: a function has more weights than a linear one.
    pub fn chance(&self) -> f64 {
        self.n_centers() as f64 / self.targets.len().max(1) as f64
    }

    /// Targets of the samples that were read last.
    pub fn n_targets(&self) -> usize {
        self.targets.len()
    }

    /// From now on functions have this shape.
    pub fn set_shape(&mut self, shape: Shape) {
        self.shape = shape;
    }

    /// G of the samples that were read last, around the inducing points that were placed last: if
    /// that was after these samples were read, the points follow them, else they are held fixed.
    /// Its gradient, times `factor`, is added to `d_samples`. Also how G bends when another source
    /// of equal spectrum is added: −G grows by ½·bend·ε² with ε of it. `None` where it has no
    /// value.
    pub fn evaluate(&mut self, factor: f64, d_samples: &mut [f64]) -> Option<(f64, f64)> {
        let (n, order, m) = (self.targets.len(), self.shape.order, self.n_centers());
        if n < 2 * (m + order) || m == 0 {
            return None;
        }
        self.fill_features();
        gather(&self.scaled, &self.targets, &mut self.residuals);
        self.system.sum(&self.features, &self.residuals);
        self.system.solve(self.shape.noise)?;
        self.linear.resize(order);
        self.linear.set_prior_to_identity();
        self.linear.part_of(&self.system, m);
        self.linear.solve(n as f64 * LINEAR_NOISE)?;
        // From the residuals: an error of the weights then shows in second order only.
        let own = self
            .system
            .error(&self.features, &mut self.residuals, self.shape.noise);
        gather(&self.scaled, &self.targets, &mut self.residuals_linear);
        let before = &self.features[m * n..];
        let noise = n as f64 * LINEAR_NOISE;
        let linear = self.linear.error(before, &mut self.residuals_linear, noise);
        let (own, linear) = (own + KAPPA, linear + KAPPA);
        let gain = 0.5 * (linear.ln() - own.ln());
        if !gain.is_finite() {
            return None;
        }
        let bend = self.pull_back(factor, own, linear);
        // The scale of the samples has no effect.
        let along = self.scaled.iter().zip(&self.d_scaled);
        let along = along.map(|(s, d)| s * d).sum::<f64>() / self.n_valid as f64;
        let scale = 1.0 / self.deviation;
        let both = self.scaled.iter().zip(&self.d_scaled);
        for (slot, (s, d)) in d_samples.iter_mut().zip(both) {
            *slot += scale * (d - along * s);
        }
        Some((gain, bend))
    }

    /// The gradient of G in the scaled samples, times `factor`, where errors are `own` and
    /// `linear`; and how G bends.
    fn pull_back(&mut self, factor: f64, own: f64, linear: f64) -> f64 {
        let (n, order, m) = (self.targets.len(), self.shape.order, self.n_centers());
        let mut covariances = [0.0; Shape::LONGEST + 1];
        self.autocovariances(&mut covariances[..=order]);
        let weights = &self.system.solved;
        let twice = 2.0 * self.factor();
        let slope_linear = &self.linear.solved;
        let spread = |slopes: &[f64]| {
            // Variance of what a forecast with these slopes leaves of another source.
            let at = |i: usize| if i == 0 { 1.0 } else { -slopes[i - 1] };
            let pairs = (0..=order).flat_map(|i| (0..=order).map(move |j| (i, j)));
            pairs
                .map(|(i, j)| at(i) * at(j) * covariances[i.abs_diff(j)])
                .sum::<f64>()
        };
        self.d_scaled.clear();
        self.d_scaled.resize(self.scaled.len(), 0.0);
        self.d_centers.clear();
        self.d_centers.resize(self.centers.len(), 0.0);
        let mut bend = 0.0;
        for (i, &t) in self.targets.iter().enumerate() {
            let t = t as usize;
            let mut slopes = [0.0; Shape::LONGEST];
            let d = -factor * self.residuals[i] / (n as f64 * own);
            for (c, center) in self.centers.chunks_exact(order).enumerate() {
                let bump = twice * weights[c] * self.features[c * n + i];
                let d_center = &mut self.d_centers[c * order..][..order];
                for (l, center) in center.iter().enumerate() {
                    let slope = bump * (self.features[(m + l) * n + i] - center);
                    slopes[l] += slope;
                    d_center[l] += d * slope;
                }
            }
            let linear_part = &weights[m..];
            slopes
                .iter_mut()
                .zip(linear_part)
                .for_each(|(s, v)| *s += v);
            let d_linear = factor * self.residuals_linear[i] / (n as f64 * linear);
            self.d_scaled[t] += d + d_linear;
            for l in 0..order {
                self.d_scaled[t - 1 - l] -= d * slopes[l] + d_linear * slope_linear[l];
            }
            bend += spread(&slopes[..order]);
        }
        let bend = bend / (n as f64 * own) - spread(slope_linear) / linear;
        self.pull_back_centers(-factor * twice * self.shape.noise / (n as f64 * own));
        bend.max(0.0)
    }

    /// Adds what inducing points that follow the samples have of the gradient: what the bumps have
    /// of it, and `factor` times that of wᵀPw over −2/(ℓ²p).
    fn pull_back_centers(&mut self, factor: f64) {
        let (order, size) = (self.shape.order, self.system.size);
        let weights = &self.system.solved;
        let point = |c: usize| &self.centers[c * order..][..order];
        for (i, &t) in self.at.iter().enumerate() {
            for j in 0..self.at.len() {
                let covariance = self.system.prior[i.max(j) * size + i.min(j)];
                let both = factor * weights[i] * weights[j] * covariance;
                for (l, (x, y)) in point(i).iter().zip(point(j)).enumerate() {
                    self.d_centers[i * order + l] += both * (x - y);
                }
            }
            for l in 0..order {
                self.d_scaled[t as usize - 1 - l] += self.d_centers[i * order + l];
            }
        }
    }

    fn autocovariances(&self, covariances: &mut [f64]) {
        for (lag, slot) in covariances.iter_mut().enumerate() {
            let products = self.targets.iter().map(|&t| {
                let t = t as usize;
                if lag <= t {
                    self.scaled[t] * self.scaled[t - lag]
                } else {
                    0.0
                }
            });
            *slot = products.sum::<f64>() / self.targets.len() as f64;
        }
    }
}

/// The targets among samples, in place of `slot`.
fn gather(samples: &[f64], targets: &[u32], slot: &mut Vec<f64>) {
    slot.clear();
    slot.extend(targets.iter().map(|&t| samples[t as usize]));
}

/// |x − y|².
fn apart(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Two runs of the logistic map, of mean 0, turned by an angle.
    fn maps(n: usize, angle: f64) -> Vec<f64> {
        let mut states = [0.3, 0.71];
        let (sine, cosine) = f64::sin_cos(angle);
        let next = |_| {
            for x in &mut states {
                *x = 4.0 * *x * (1.0 - *x);
            }
            3.0 * (cosine * (states[0] - 0.5) + sine * (states[1] - 0.5))
        };
        (0..n).map(next).collect()
    }

    fn autoregression(n: usize, pole: f64) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut last = 0.0;
        let next = |_| {
            let shock: f64 = (0..12).map(|_| rng.random_range(-0.5..0.5)).sum();
            last = pole * last + shock;
            last
        };
        (0..n).map(next).collect()
    }

    fn all(n: usize) -> Vec<u32> {
        (1..=n as u32).collect()
    }

    fn gain(samples: &[f64], shape: Shape) -> f64 {
        let mut forecast = Forecast::new(shape, 1000);
        forecast.read(samples, &all(samples.len()));
        forecast.place();
        let mut unused = vec![0.0; samples.len()];
        forecast.evaluate(1.0, &mut unused).unwrap().0
    }

    #[test]
    fn a_map_is_forecast_better_than_a_mixture_and_noise_not_at_all() {
        let shape = Shape {
            order: 2,
            length: 0.5,
            noise: 0.01,
        };
        let (own, mixed) = (gain(&maps(500, 0.0), shape), gain(&maps(500, 0.7), shape));
        assert!(own > 2.0 && own > 3.0 * mixed, "{own} and {mixed}");
        let noise = gain(&autoregression(500, 0.9), Shape::SEARCH);
        assert!(noise.abs() < 0.03, "{noise}");
    }

    #[test]
    fn only_what_is_not_linear_is_beyond_chance() {
        let shapes: Vec<Shape> = Shape::all().collect();
        let beyond = |samples: &[f64]| {
            let mut forecast = Forecast::new(Shape::SEARCH, 1000);
            let nats = forecast.beyond_chance(samples, &all(samples.len()), &shapes);
            nats.into_iter().fold(f64::NEG_INFINITY, f64::max)
        };
        assert!(beyond(&maps(600, 0.0)) > 500.0);
        assert!(beyond(&maps(600, 0.7)) > 20.0);
        for pole in [0.0, 0.5, 0.9, 0.99] {
            let nats = beyond(&autoregression(600, pole));
            assert!(nats < 0.0, "{pole}: {nats}");
        }
        assert_eq!(beyond(&maps(80, 0.0)), f64::NEG_INFINITY, "too few");
    }

    #[test]
    fn gradient_is_that_of_finite_differences() {
        let n = 150;
        let mut samples = maps(n, 0.4);
        let mut reach = all(n);
        // A missing sample and the beginning of a piece.
        samples[40] = 0.0;
        for (t, reach) in reach.iter_mut().enumerate().skip(40) {
            *reach = (t - 40) as u32;
        }
        for (t, reach) in reach.iter_mut().enumerate().skip(90) {
            *reach = (t - 89) as u32;
        }
        let held_or_not = [true, false].into_iter();
        let cases = held_or_not.flat_map(|held| [(held, 1, 1000), (held, 4, 1000), (held, 3, 90)]);
        for (held, order, most) in cases {
            let shape = Shape {
                order,
                length: 0.7,
                noise: 0.05,
            };
            let mut forecast = Forecast::new(shape, most);
            forecast.read(&samples, &reach);
            forecast.place();
            if held {
                forecast.read(&samples, &reach);
            }
            let mut d = vec![0.0; n];
            forecast.evaluate(2.0, &mut d).unwrap();
            for t in (0..n).filter(|&t| t != 40) {
                let mut at = |step: f64| {
                    let mut moved = samples.clone();
                    moved[t] += step;
                    forecast.read(&moved, &reach);
                    if !held {
                        forecast.place();
                    }
                    let mut unused = vec![0.0; n];
                    2.0 * forecast.evaluate(2.0, &mut unused).unwrap().0
                };
                let numeric = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!(
                    (numeric - d[t]).abs() < 1e-5 * (1.0 + d[t].abs()),
                    "order {order} at {t}: {numeric} against {}",
                    d[t]
                );
            }
        }
    }

    #[test]
    fn nothing_is_said_of_samples_that_are_not_there() {
        let mut forecast = Forecast::new(Shape::SEARCH, 1000);
        forecast.read(&[0.0; 200], &[0; 200]);
        forecast.place();
        assert_eq!(forecast.evaluate(1.0, &mut [0.0; 200]), None);
    }
}
