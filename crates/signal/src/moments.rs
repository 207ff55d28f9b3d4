//! Mean and standard deviation of one channel or source, written once.
//!
//! In: finite and missing (NaN) values. Out: moments of the finite ones. This module decides what
//! "constant" means for the whole library; it does not decide what to do about a constant column.

use faer::{ColRef, Mat, MatRef};

/// A column whose range is below this many units in the last place of its largest value carries
/// rounding, not signal.
const CONSTANT_RANGE_ULPS: f64 = 4.0;

/// First two moments of the values that are not missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Arithmetic mean; 0 when nothing is there.
    pub mean: f64,
    /// Population standard deviation (divided by the count, not the count less one).
    pub deviation: f64,
    /// Whether the values differ by no more than rounding. Without values a column is constant.
    pub constant: bool,
}

impl Moments {
    /// Moments of every value that is not NaN.
    ///
    /// Deviations are divided by the largest of them before they are squared, so that recordings in
    /// volts (1e-200 as much as 1e200) neither vanish nor overflow.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let present = values.filter(|value| !value.is_nan());
        let mut count = 0.0;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in present.clone() {
            count += 1.0;
            low = low.min(value);
            high = high.max(value);
        }
        if count == 0.0 {
            return Self {
                mean: 0.0,
                deviation: 0.0,
                constant: true,
            };
        }
        if low == high {
            return Self {
                mean: low,
                deviation: 0.0,
                constant: true,
            };
        }
        // Halves first: low + high overflows before the midpoint does.
        let middle = 0.5 * low + 0.5 * high;
        let largest = (high - middle).max(middle - low);
        // Relative to the midpoint the sum neither cancels nor overflows.
        let mean_offset = present
            .clone()
            .map(|value| (value - middle) / largest)
            .sum::<f64>()
            / count;
        let sum_of_squares = present
            .map(|value| {
                let deviation = (value - middle) / largest - mean_offset;
                deviation * deviation
            })
            .sum::<f64>();
        let largest_value = low.abs().max(high.abs());
        Self {
            mean: middle + largest * mean_offset,
            deviation: largest * (sum_of_squares / count).sqrt(),
            constant: 2.0 * largest <= CONSTANT_RANGE_ULPS * f64::EPSILON * largest_value,
        }
    }

    /// [`Moments::of`] one column of a matrix.
    pub fn of_column(column: ColRef<'_, f64>) -> Self {
        Self::of((0..column.nrows()).map(|row| column[row]))
    }

    /// (value − mean)/deviation, or 0 for a constant column; NaN stays NaN.
    #[inline]
    pub fn standardize(&self, value: f64) -> f64 {
        if value.is_nan() {
            value
        } else if self.constant {
            0.0
        } else {
            (value - self.mean) / self.deviation
        }
    }
}

/// Every column with mean 0 and population standard deviation 1 over its values that are not NaN;
/// constant columns become 0.
pub fn standardize_columns(values: MatRef<'_, f64>) -> Mat<f64> {
    let moments: Vec<Moments> = values.col_iter().map(Moments::of_column).collect();
    Mat::from_fn(values.nrows(), values.ncols(), |row, column| {
        moments[column].standardize(values[(row, column)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_known_column() {
        let moments = Moments::of([1.0, f64::NAN, 3.0, 5.0].into_iter());
        assert!((moments.mean - 3.0).abs() < 1e-15);
        assert!((moments.deviation - (8.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!(!moments.constant);
    }

    #[test]
    fn extreme_units_neither_vanish_nor_overflow() {
        for unit in [1e-200, 1e-9, 1.0, 1e200] {
            let moments = Moments::of([-unit, unit].into_iter());
            assert!(
                (moments.deviation / unit - 1.0).abs() < 1e-14,
                "{unit}: {moments:?}"
            );
            assert!(!moments.constant);
        }
    }

    #[test]
    fn rounding_is_constant_and_small_signals_are_not() {
        assert!(Moments::of([0.1; 7].into_iter()).constant);
        assert!(Moments::of([1.0, 1.0 + f64::EPSILON].into_iter()).constant);
        assert!(Moments::of([f64::NAN].into_iter()).constant);
        assert!(!Moments::of([1e6, 1e6 + 1e-6].into_iter()).constant);
    }
}
