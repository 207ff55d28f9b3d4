//! Adam for free sources that a step touches only here and there.
//!
//! Each entry of E that a step reaches is moved by its own bias-corrected root mean square,
//!
//! ```text
//! n ← n + 1     v̂ ← v̂ + (g² − v̂)·(1 − β₂)/(1 − β₂ⁿ)     e ← e − rate·g/(√v̂ + ε)
//! ```
//!
//! where n counts the updates of this entry. It is Adam with β₁ = 0 on the subsequence of steps
//! that reach the entry: momentum from a step long past would be stale, and an entry that is not
//! reached neither moves nor ages. A gradient of exactly 0 counts as not reached. v̂ is kept in f32
//! and n in 32 bits: eight bytes an entry. A plain step, along the gradient itself, leaves them.

use crate::linalg::permute::permute;
use crate::tensors::Tensors;
use crate::{Error, Result};
use faer::Mat;
use std::ops::Range;
use strt_kernels::AdamStep;

/// State of every entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SparseAdam {
    n_samples: usize,
    /// v̂ (T×K), column by column.
    square: Vec<f32>,
    /// n (T×K), column by column.
    count: Vec<u32>,
}

impl SparseAdam {
    pub fn new(n_samples: usize, n_sources: usize) -> SparseAdam {
        SparseAdam {
            n_samples,
            square: vec![0.0; n_samples * n_sources],
            count: vec![0; n_samples * n_sources],
        }
    }

    /// Turns `scale` × the gradient at these samples of source k into the change of E there.
    pub fn update(
        &mut self,
        step: &AdamStep,
        scale: f64,
        k: usize,
        samples: Range<usize>,
        values: &mut [f64],
    ) {
        let entries = k * self.n_samples + samples.start..k * self.n_samples + samples.end;
        let state = self.square[entries.clone()]
            .iter_mut()
            .zip(&mut self.count[entries]);
        for (value, (square, count)) in values.iter_mut().zip(state) {
            let g = scale * *value;
            if g == 0.0 {
                *value = 0.0; // not −0: nothing is added
                continue;
            }
            if step.plain {
                *value = -step.rate * g;
                continue;
            }
            *count = count.saturating_add(1);
            let age = i32::try_from(*count).unwrap_or(i32::MAX);
            let share = (1.0 - step.beta2) / (1.0 - step.beta2.powi(age));
            let mean = f64::from(*square);
            *square = (mean + share * (g * g - mean)) as f32;
            *value = -step.rate * g / (f64::from(*square).sqrt() + step.epsilon);
        }
    }

    /// Source k becomes what source `order[k]` was.
    pub fn permute_columns(&mut self, order: &[usize]) {
        let t = self.n_samples;
        permute(order, |k, from| {
            if k != from {
                let (early, late) = self.square.split_at_mut(from * t);
                early[k * t..(k + 1) * t].swap_with_slice(&mut late[..t]);
                let (early, late) = self.count.split_at_mut(from * t);
                early[k * t..(k + 1) * t].swap_with_slice(&mut late[..t]);
            }
        });
    }

    /// (T, K).
    pub fn shape(&self) -> (usize, usize) {
        (self.n_samples, self.square.len() / self.n_samples.max(1))
    }

    /// Puts n and v̂ of the entries of `name` into a checkpoint.
    pub fn save(&self, name: &str, to: &mut Tensors) {
        let (t, k) = self.shape();
        let count = |i: usize, j: usize| f64::from(self.count[j * t + i]);
        let square = |i: usize, j: usize| f64::from(self.square[j * t + i]);
        to.put(format!("{name}.counts"), Mat::from_fn(t, k, count));
        to.put(format!("{name}.squares"), Mat::from_fn(t, k, square));
    }

    /// Takes back what [`SparseAdam::save`] has put.
    ///
    /// # Errors
    /// When the shapes differ, or a number cannot be one of this state.
    pub fn restore(&mut self, name: &str, from: &Tensors) -> Result<()> {
        let (t, k) = self.shape();
        let mut values = Mat::zeros(t, k);
        let mut take = |part: &str, expected, keep: &mut dyn FnMut(usize, f64) -> bool| {
            let name = format!("{name}.{part}");
            from.read(&name, &mut values)?;
            let entries = (0..k).flat_map(|j| (0..t).map(move |i| (i, j)));
            let mut kept = entries.map(|(i, j)| (keep(j * t + i, values[(i, j)]), values[(i, j)]));
            match kept.find(|(kept, _)| !kept) {
                None => Ok(()),
                Some((_, found)) => Err(Error::TensorValue {
                    name,
                    expected,
                    found,
                }),
            }
        };
        take("counts", "a number of updates", &mut |at, value| {
            self.count[at] = value as u32;
            f64::from(self.count[at]) == value
        })?;
        take("squares", "a mean square in f32", &mut |at, value| {
            self.square[at] = value as f32;
            f64::from(self.square[at]) == value
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: AdamStep = AdamStep {
        rate: 0.01,
        beta1: 0.0,
        beta2: 0.99,
        epsilon: 1e-8,
        weight_decay: 0.0,
        count: 0,
        plain: false,
    };

    /// An entry reached in some steps only moves as if those were all the steps there are.
    #[test]
    fn entries_follow_adam_on_the_steps_that_reach_them() {
        let mut sparse = SparseAdam::new(6, 2);
        let (mut moved, mut expected) = ([0.0; 6], [0.0; 6]);
        let (mut first, mut second) = ([0.0; 6], [0.0; 6]);
        let mut counts = [0; 6];
        for step in 0..200usize {
            let (start, len) = (step * 7 % 5, 1 + step % 2);
            let mut values: Vec<f64> = (0..len)
                .map(|i| ((step * 3 + i) as f64).sin() + 0.5)
                .collect();
            for (i, &g) in values.iter().enumerate() {
                let t = start + i;
                counts[t] += 1;
                let dense = AdamStep {
                    count: counts[t],
                    ..STEP
                };
                let entry = t..t + 1;
                dense.apply(
                    2.0,
                    &[g],
                    &mut expected[entry.clone()],
                    &mut first[entry.clone()],
                    &mut second[entry],
                );
            }
            sparse.update(&STEP, 2.0, 1, start..start + len, &mut values);
            for (i, change) in values.iter().enumerate() {
                moved[start + i] += change;
            }
        }
        for t in 0..6 {
            assert!(
                (moved[t] - expected[t]).abs() < 1e-6,
                "{t}: {} for {}",
                moved[t],
                expected[t]
            );
        }
        assert!(counts.iter().any(|&c| c > 50) && counts.contains(&counts[5]));
        assert!(
            sparse.count[..6].iter().all(|&n| n == 0),
            "the other source was not reached"
        );
    }

    #[test]
    fn a_gradient_of_zero_changes_nothing() {
        let mut sparse = SparseAdam::new(3, 1);
        sparse.update(&STEP, 1.0, 0, 0..3, &mut [1.0, 0.0, -1.0]);
        let before = sparse.clone();
        let mut values = [0.0, -0.0, 0.0];
        sparse.update(&STEP, 1.0, 0, 0..3, &mut values);
        assert_eq!(sparse, before);
        assert!(values.iter().all(|v| v.to_bits() == 0));
    }

    #[test]
    fn a_checkpoint_keeps_the_bits() {
        let mut sparse = SparseAdam::new(3, 2);
        sparse.update(&STEP, 1.0, 1, 1..3, &mut [0.3, -0.7]);
        let mut saved = Tensors::default();
        sparse.save("e", &mut saved);
        let mut restored = SparseAdam::new(3, 2);
        restored.restore("e", &saved).unwrap();
        assert_eq!(restored, sparse);
        let mut broken = Tensors::default();
        broken.put("e.counts", Mat::from_fn(3, 2, |_, _| 0.5));
        broken.put("e.squares", Mat::zeros(3, 2));
        let refusal = restored.restore("e", &broken).unwrap_err().to_string();
        assert!(refusal.contains("e.counts"), "{refusal}");
    }
}
