//! Numbers as 16-bit levels.
//!
//! In: the numbers of a column. Out: levels −32,767 to 32,767 evenly spread over its range, and how
//! to turn them back. The error is at most half a level, a 130,000th of the range: far below a
//! pixel and the noise of a sound. What is missing or not finite is −32,768.

use serde::Serialize;

/// The level of what is not there.
const MISSING: i16 = i16::MIN;

/// A number is `offset + step · level`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Levels {
    /// The number of level 0.
    pub offset: f64,
    /// From one level to the next; 0 for a constant column.
    pub step: f64,
}

impl Levels {
    /// Levels from the lowest to the highest of `values`, which are finite.
    pub fn covering(values: impl Iterator<Item = f64>) -> Levels {
        let (lowest, highest) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |range, value| {
            (range.0.min(value), range.1.max(value))
        });
        if lowest > highest {
            return Levels {
                offset: 0.0,
                step: 0.0,
            };
        }
        // Halved first: the range of two huge numbers may not be a number.
        Levels {
            offset: lowest / 2.0 + highest / 2.0,
            step: (highest / 2.0 - lowest / 2.0) / f64::from(i16::MAX),
        }
    }

    /// The level of each value.
    pub fn all(&self, values: impl Iterator<Item = f64>) -> Vec<i16> {
        values.map(|value| self.level(value)).collect()
    }

    fn level(&self, value: f64) -> i16 {
        if !value.is_finite() {
            return MISSING;
        }
        if self.step == 0.0 {
            return 0;
        }
        let most = f64::from(i16::MAX);
        ((value - self.offset) / self.step)
            .round()
            .clamp(-most, most) as i16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_within_half_a_step() {
        let values = [-3.0, 0.125, 7.77, 1e3, f64::NAN, f64::INFINITY];
        let levels = Levels::covering(values[..4].iter().copied());
        let found = levels.all(values.iter().copied());
        for (value, &level) in values[..4].iter().zip(&found) {
            let back = levels.offset + levels.step * f64::from(level);
            assert!(
                (back - value).abs() <= 0.5001 * levels.step,
                "{value} {back}"
            );
        }
        assert_eq!(found[4..], [MISSING, MISSING]);
        assert_eq!((found[0], found[3]), (-i16::MAX, i16::MAX));
    }

    #[test]
    fn constant_empty_and_huge_columns_have_levels() {
        assert_eq!(
            Levels::covering([5.0, 5.0].into_iter()).all([5.0].into_iter()),
            [0]
        );
        assert_eq!(Levels::covering(std::iter::empty()).step, 0.0);
        let huge = Levels::covering([-1e308, 1e308].into_iter());
        assert!(huge.step.is_finite() && huge.level(1e308) == i16::MAX);
    }
}
