//! Learning-rate schedules: the factor on every group's rate.

use crate::config::{Schedule, ScheduleKind};
use std::f64::consts::PI;

/// How often `settle` lowers the rate on its way to the floor.
pub(super) const LOWERINGS: usize = 3;

impl Schedule {
    /// Factor of step n (1-based) out of `steps`, with the rate `lowered` so many times.
    pub(crate) fn factor(&self, n: usize, steps: usize, lowered: usize) -> f64 {
        let rise = if self.warmup == 0 {
            1.0
        } else {
            (n as f64 / self.warmup as f64).min(1.0)
        };
        match self.kind {
            ScheduleKind::Constant => 1.0,
            ScheduleKind::Cosine => {
                let fall = 0.5 * (1.0 + (PI * n as f64 / steps as f64).cos());
                rise * (self.floor + (1.0 - self.floor) * fall)
            }
            ScheduleKind::Settle => {
                rise * self
                    .floor
                    .powf(lowered.min(LOWERINGS) as f64 / LOWERINGS as f64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosine_rises_then_falls_to_its_floor() {
        let mut schedule = Schedule {
            kind: ScheduleKind::Cosine,
            warmup: 50,
            floor: 0.05,
        };
        assert!((schedule.factor(1, 1000, 0) - 0.02).abs() < 1e-4);
        assert!(schedule.factor(50, 1000, 0) > 0.99);
        assert!((schedule.factor(500, 1000, 0) - 0.525).abs() < 1e-12);
        assert!((schedule.factor(1000, 1000, 0) - 0.05).abs() < 1e-12);
        schedule.kind = ScheduleKind::Constant;
        assert_eq!(schedule.factor(7, 10, 0), 1.0);
    }

    #[test]
    fn settle_falls_to_its_floor_when_it_is_told() {
        let schedule = Schedule::default();
        assert_eq!(schedule.kind, ScheduleKind::Settle);
        assert!((schedule.factor(1, 1000, 0) - 0.02).abs() < 1e-12);
        assert_eq!(schedule.factor(900, 1000, 0), 1.0);
        let factors: Vec<f64> = (0..5).map(|n| schedule.factor(900, 1000, n)).collect();
        assert!(factors.windows(2).all(|pair| pair[1] <= pair[0]));
        assert!((factors[LOWERINGS] - schedule.floor).abs() < 1e-12);
    }
}
