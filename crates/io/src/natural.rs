//! The order in which people list files: numbers in names by their value, `run2` before `run10`.

use std::cmp::Ordering;

/// Compares two texts, digits that follow each other as one number. Texts that differ only in
/// leading zeros are in the order of their bytes, so that the order never depends on how they came.
///
/// ```
/// use strt_io::natural_order;
///
/// let mut names = ["run10", "run2", "run1"];
/// names.sort_by(|a, b| natural_order(a, b));
/// assert_eq!(names, ["run1", "run2", "run10"]);
/// ```
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut rest_a, mut rest_b) = (a, b);
    loop {
        let ((part_a, next_a), (part_b, next_b)) = (part(rest_a), part(rest_b));
        let order = match (number(part_a), number(part_b)) {
            // More digits, without leading zeros, are the larger number, however long.
            (Some(x), Some(y)) => x.len().cmp(&y.len()).then_with(|| x.cmp(y)),
            _ => part_a.cmp(part_b),
        };
        if order.is_ne() {
            return order;
        }
        if next_a.is_empty() && next_b.is_empty() {
            return a.cmp(b);
        }
        (rest_a, rest_b) = (next_a, next_b);
    }
}

/// The digits, or the other characters, that a text begins with, and what follows.
fn part(text: &str) -> (&str, &str) {
    let is_digit = |c: char| c.is_ascii_digit();
    let first = text.starts_with(is_digit);
    let end = text.find(|c: char| is_digit(c) != first);
    text.split_at(end.unwrap_or(text.len()))
}

/// The digits of a number without leading zeros.
fn number(part: &str) -> Option<&str> {
    let is_number = part.starts_with(|c: char| c.is_ascii_digit());
    is_number.then(|| part.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_value_and_texts_by_bytes() {
        let sorted = [
            "", "a", "a1", "a02", "a2", "a2b", "a10", "ab", "b1c2", "b01c3",
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(natural_order(a, b), i.cmp(&j), "{a} {b}");
            }
        }
        let long = "9".repeat(40);
        assert_eq!(natural_order(&long, &format!("1{long}")), Ordering::Less);
    }
}
