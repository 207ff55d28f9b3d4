//! Times of single steps, and what is reported of them.

use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::time::Instant;
use strtransformer::Trainer;
use strtransformer::train::StepReport;

/// Steps before the first one that counts: caches, memory and clock frequency settle.
pub const WARM_UP: usize = 5;

/// Aim of one turn of a measurement, in seconds: long enough to see the machine, short enough to
/// alternate often.
const TURN: f64 = 0.3;

/// Seconds of single steps.
#[derive(Clone, Debug, Default)]
pub struct Times(pub Vec<f64>);

impl Times {
    pub fn extend(&mut self, seconds: impl IntoIterator<Item = f64>) {
        self.0.extend(seconds);
    }

    /// The shortest: what the machine can do when nothing else runs. NaN when there is none.
    pub fn best(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::min)
    }

    /// What a user sees. NaN when there is none.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => f64::NAN,
            n => (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
        }
    }

    pub fn json(&self) -> Value {
        json!({ "best_s": self.best(), "median_s": self.median(), "steps": self.0.len() })
    }
}

/// Milliseconds with three digits that count.
pub fn ms(seconds: f64) -> String {
    let value = seconds * 1e3;
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// How many steps fill one turn, given what one of them takes.
pub fn steps_per_turn(seconds: f64) -> usize {
    ((TURN / seconds) as usize).clamp(3, 300)
}

/// Takes `steps` steps of a training loop and returns the seconds of each.
pub fn time_steps(trainer: &mut Trainer, steps: usize) -> Vec<f64> {
    let mut seconds = Vec::with_capacity(steps);
    let mut before = Instant::now();
    trainer.run(&mut |_: &StepReport<'_>| {
        let now = Instant::now();
        seconds.push((now - before).as_secs_f64());
        before = now;
        if seconds.len() < steps {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    seconds
}

/// A training loop under the clock: warmed up, with the number of steps that one turn takes.
pub struct Entrant {
    trainer: Trainer,
    steps: usize,
    pub times: Times,
}

impl Entrant {
    pub fn new(mut trainer: Trainer) -> Entrant {
        let warm = Times(time_steps(&mut trainer, WARM_UP));
        Entrant {
            trainer,
            steps: steps_per_turn(warm.median()),
            times: Times::default(),
        }
    }

    /// One turn; returns its median.
    pub fn run(&mut self) -> f64 {
        let turn = Times(time_steps(&mut self.trainer, self.steps));
        self.times.extend(turn.0.iter().copied());
        turn.median()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_and_median_of_times() {
        let mut times = Times::default();
        assert!(times.best().is_nan() && times.median().is_nan());
        times.extend([3.0, 1.0, 2.0, 10.0]);
        assert_eq!((times.best(), times.median()), (1.0, 2.5));
    }
}
