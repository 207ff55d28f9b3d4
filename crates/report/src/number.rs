//! Numbers as text and as chart values.
//!
//! In: floating-point numbers. Out: short strings for sentences and tables, and values rounded to
//! the digits that a chart can show, which keeps the page small. Nothing is computed from rounded
//! values.

use serde::{Serialize, Serializer};

/// The value rounded to `digits` significant digits; values that are not finite stay what they are.
fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let decimals = digits - 1 - value.abs().log10().floor() as i32;
    // Dividing by a power of ten gives the closest double to the decimal; multiplying by its
    // inverse does not.
    match decimals {
        0.. => (value * 10f64.powi(decimals)).round() / 10f64.powi(decimals),
        _ => (value / 10f64.powi(-decimals)).round() * 10f64.powi(-decimals),
    }
}

/// A value as a chart is given it: rounded, and without a decimal point where there is nothing
/// behind it.
#[derive(Clone, Copy, Debug)]
pub struct ChartNumber(f64);

impl ChartNumber {
    /// `value` rounded to `digits` significant digits.
    pub fn new(value: f64, digits: i32) -> ChartNumber {
        ChartNumber(rounded(value, digits))
    }

    /// Each of `values`, rounded.
    pub fn all(values: &[f64], digits: i32) -> Vec<ChartNumber> {
        values
            .iter()
            .map(|&value| ChartNumber::new(value, digits))
            .collect()
    }
}

impl Serialize for ChartNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < 1e15 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

/// About `digits` significant digits, without an exponent where that stays readable.
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&magnitude) {
        return format!("{value:.0$e}", digits.saturating_sub(1)).replace('-', "−");
    }
    let decimals = (digits as i32 - 1 - magnitude).max(0) as usize;
    format!("{value:.decimals$}").replace('-', "−")
}

/// About `digits` significant digits without zeros at the end, for sentences.
pub fn trimmed(value: f64, digits: usize) -> String {
    let text = significant(value, digits);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text
    }
}

/// A whole number with its thousands apart: 1,000,000.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as a percentage, with more digits where they matter: near 0 and near 1.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "–".into();
    }
    let percentage = 100.0 * share;
    let distance = percentage.abs().min((100.0 - percentage).abs());
    let decimals = match distance {
        d if !(0.0005..10.0).contains(&d) => 0,
        d if d >= 1.0 => 1,
        d if d >= 0.01 => 2,
        _ => 3,
    };
    format!("{percentage:.decimals$} %").replace('-', "−")
}

/// "1 source", "3 sources".
pub fn counted(count: usize, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        grouped(count),
        if count == 1 { "" } else { "s" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_the_digits_and_what_is_not_finite() {
        assert_eq!(rounded(0.123456789, 5), 0.12346);
        assert_eq!(rounded(-1234567.0, 5), -1234600.0);
        assert_eq!(rounded(1e-12 / 3.0, 4).to_string(), "0.0000000000003333");
        assert_eq!(rounded(0.0, 4), 0.0);
        assert!(rounded(f64::NAN, 4).is_nan());
        assert_eq!(rounded(f64::INFINITY, 4), f64::INFINITY);
    }

    #[test]
    fn chart_numbers_are_short_and_gaps_are_null() {
        let numbers = ChartNumber::all(&[1200.0, -0.123456, f64::NAN, 0.0], 4);
        assert_eq!(
            serde_json::to_string(&numbers).unwrap(),
            "[1200,-0.1235,null,0]"
        );
    }

    #[test]
    fn text_is_short_and_readable() {
        assert_eq!(significant(0.98765, 3), "0.988");
        assert_eq!(significant(-26.9734, 4), "−26.97");
        assert_eq!(significant(1.5e-9, 3), "1.50e−9");
        assert_eq!(significant(f64::NAN, 3), "–");
        assert_eq!(trimmed(250.0, 4), "250");
        assert_eq!(trimmed(0.5, 3), "0.5");
        assert_eq!(trimmed(1000.0, 4), "1000");
        assert_eq!(grouped(1_000_000), "1,000,000");
        assert_eq!(grouped(999), "999");
        assert_eq!(percent(0.99963), "99.96 %");
        assert_eq!(percent(0.5), "50 %");
        assert_eq!(
            (percent(1e-9), percent(1.0)),
            ("0 %".into(), "100 %".into())
        );
        assert_eq!(counted(1, "source"), "1 source");
        assert_eq!(counted(3, "source"), "3 sources");
    }
}
