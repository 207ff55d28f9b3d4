//! Which numbers a setting may hold: an interval, and what a message says of it.

use super::value::Kind;

/// An interval of numbers, and perhaps one number outside that has a meaning of its own. NaN lies
/// in none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    low: f64,
    with_low: bool,
    high: f64,
    with_high: bool,
    special: Option<f64>,
}

/// From `low` on; infinity is not among them.
pub(super) const fn at_least(low: f64) -> Bounds {
    Bounds::new((low, true), (f64::INFINITY, false))
}

/// Above `low`; infinity is not among them.
pub(super) const fn above(low: f64) -> Bounds {
    Bounds::new((low, false), (f64::INFINITY, false))
}

/// Above `low`; infinity is among them.
pub(super) const fn above_or_infinite(low: f64) -> Bounds {
    Bounds::new((low, false), (f64::INFINITY, true))
}

/// From `low` to `high`, both included.
pub(super) const fn from_to(low: f64, high: f64) -> Bounds {
    Bounds::new((low, true), (high, true))
}

/// Above `low`, up to `high`, which is included.
pub(super) const fn above_up_to(low: f64, high: f64) -> Bounds {
    Bounds::new((low, false), (high, true))
}

impl Bounds {
    const fn new((low, with_low): (f64, bool), (high, with_high): (f64, bool)) -> Bounds {
        Bounds {
            low,
            with_low,
            high,
            with_high,
            special: None,
        }
    }

    /// With one number more.
    pub(super) const fn or(mut self, special: f64) -> Bounds {
        self.special = Some(special);
        self
    }

    /// Whether a setting may hold this number.
    pub fn contains(&self, number: f64) -> bool {
        let above = number > self.low || (self.with_low && number == self.low);
        let below = number < self.high || (self.with_high && number == self.high);
        (above && below) || self.special == Some(number)
    }

    /// What a setting of this kind may hold, such as `a finite number, at least 0`.
    pub fn expected(&self, kind: Kind) -> String {
        let (noun, interval) = (kind.noun(), self.interval());
        let is_finite = self.high == f64::INFINITY && !self.with_high;
        match kind {
            Kind::Number if is_finite => format!("a finite number, {interval}"),
            Kind::Wholes | Kind::Numbers => format!("{noun}, each {interval}"),
            _ => format!("{noun}, {interval}"),
        }
    }

    /// The numbers in words, such as `at least 0`.
    pub fn interval(&self) -> String {
        let Bounds { low, high, .. } = *self;
        let from = if self.with_low { "at least" } else { "above" };
        let interval = if high == f64::INFINITY {
            let infinite = if self.with_high { ", or inf" } else { "" };
            format!("{from} {low}{infinite}")
        } else if self.with_low {
            format!("from {low} to {high}")
        } else {
            format!("{from} {low} and at most {high}")
        };
        let special = self.special.map(|number| format!(", or {number}"));
        interval + &special.unwrap_or_default()
    }
}
