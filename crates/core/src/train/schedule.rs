//! Learning-rate schedules: the factor on every group's rate.

use crate::config::{Schedule, ScheduleKind};
use std::f64::consts::PI;

impl Schedule {
    /// Factor of step n (1-based) out of `steps`.
    pub(crate) fn factor(&self, n: usize, steps: usize) -> f64 {
        if self.kind == ScheduleKind::Constant {
            return 1.0;
        }
        let rise = if self.warmup == 0 {
            1.0
        } else {
            (n as f64 / self.warmup as f64).min(1.0)
        };
        let fall = 0.5 * (1.0 + (PI * n as f64 / steps as f64).cos());
        rise * (self.floor + (1.0 - self.floor) * fall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosine_rises_then_falls_to_its_floor() {
        let mut schedule = Schedule::default();
        (schedule.warmup, schedule.floor) = (50, 0.05);
        assert!((schedule.factor(1, 1000) - 0.02).abs() < 1e-4);
        assert!(schedule.factor(50, 1000) > 0.99);
        assert!((schedule.factor(500, 1000) - 0.525).abs() < 1e-12);
        assert!((schedule.factor(1000, 1000) - 0.05).abs() < 1e-12);
        schedule.kind = ScheduleKind::Constant;
        assert_eq!(schedule.factor(7, 10), 1.0);
    }
}
