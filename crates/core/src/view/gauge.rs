//! The gauge of the sources: mean μ_k and deviation σ_k by which source k is standardised, z = (s −
//! μ)/(σ + ε).

/// Means and deviations of the sources, their own or fixed to those of another recording.
#[derive(Clone, Debug)]
pub(crate) struct Gauge {
    /// μ_k.
    pub mean: Vec<f64>,
    /// σ_k (population).
    pub deviation: Vec<f64>,
    epsilon: f64,
    /// Keep `mean` and `deviation` as they are: the gauge of another recording.
    pub fixed: bool,
}

impl Gauge {
    pub fn new(n_sources: usize, epsilon: f64) -> Gauge {
        Gauge {
            mean: vec![0.0; n_sources],
            deviation: vec![0.0; n_sources],
            epsilon,
            fixed: false,
        }
    }

    /// What a centred source is divided by: σ_k + ε.
    pub fn divisor(&self, k: usize) -> f64 {
        self.deviation[k] + self.epsilon
    }

    /// Mean and divisor of source k.
    pub fn of(&self, k: usize) -> (f64, f64) {
        (self.mean[k], self.divisor(k))
    }

    /// Uses these means and divisors from now on, instead of the sources' own.
    pub fn fix(&mut self, gauge: &[(f64, f64)]) {
        self.fixed = true;
        for (k, &(mean, divisor)) in gauge.iter().enumerate() {
            (self.mean[k], self.deviation[k]) = (mean, divisor - self.epsilon);
        }
    }
}
