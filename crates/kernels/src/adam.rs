//! Adam (Kingma & Ba, 2015) with decoupled weight decay (Loshchilov & Hutter, 2019), or a step
//! along the gradient itself.
//!
//! ```text
//! m ← β₁m + (1−β₁)g      v ← β₂v + (1−β₂)g²
//! p ← p(1 − ξλ) − ξ/(1−β₁ⁿ) · m / (√v/√(1−β₂ⁿ) + ε)          Adam
//! p ← p(1 − ξλ) − ξg                                          plain; m and v stay as they are
//! ```

/// Everything one update needs besides the tensors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// Learning rate ξ of this step.
    pub rate: f64,
    /// Decay β₁ of the first moment.
    pub beta1: f64,
    /// Decay β₂ of the second moment.
    pub beta2: f64,
    /// ε in the denominator.
    pub epsilon: f64,
    /// Decoupled weight decay λ (0: none).
    pub weight_decay: f64,
    /// Updates that this parameter group has had, this one included (≥ 1): the bias correction.
    pub count: u64,
    /// Whether the step is along the gradient itself, without moments.
    pub plain: bool,
}

/// The scalars of [`AdamStep`] in the form in which the loop uses them.
#[derive(Clone, Copy, Debug)]
pub struct AdamFactors {
    /// 1 − ξλ.
    pub keep: f64,
    /// ξ/(1−β₁ⁿ).
    pub rate: f64,
    /// 1/√(1−β₂ⁿ).
    pub second_scale: f64,
}

impl AdamStep {
    /// Bias corrections folded into two factors.
    pub fn factors(&self) -> AdamFactors {
        let n = self.count as f64;
        AdamFactors {
            keep: 1.0 - self.rate * self.weight_decay,
            rate: self.rate / (1.0 - self.beta1.powf(n)),
            second_scale: 1.0 / (1.0 - self.beta2.powf(n)).sqrt(),
        }
    }

    /// Updates `parameters` in place from `scale` × `gradient`.
    pub fn apply(
        &self,
        scale: f64,
        gradient: &[f64],
        parameters: &mut [f64],
        first: &mut [f64],
        second: &mut [f64],
    ) {
        let AdamFactors {
            keep,
            rate,
            second_scale,
        } = self.factors();
        if self.plain {
            for (p, g) in parameters.iter_mut().zip(gradient) {
                *p = *p * keep - self.rate * scale * g;
            }
            return;
        }
        for i in 0..parameters.len() {
            let g = scale * gradient[i];
            first[i] = self.beta1 * first[i] + (1.0 - self.beta1) * g;
            second[i] = self.beta2 * second[i] + (1.0 - self.beta2) * g * g;
            let denominator = second[i].sqrt() * second_scale + self.epsilon;
            parameters[i] = parameters[i] * keep - rate * first[i] / denominator;
        }
    }
}
