//! Stretches of samples between missing ones and ends of pieces, and how a stretch goes on beyond
//! its ends.

use crate::pieces::Pieces;
use faer::Mat;
use std::ops::Range;

/// The stretches of contiguous samples that are not missing, in order.
pub fn stretches<'a>(
    missing: &'a [bool],
    pieces: &'a Pieces,
) -> impl Iterator<Item = Range<usize>> + 'a {
    pieces.ranges().flat_map(|piece| {
        let first = piece.start;
        let there = between(&missing[piece]);
        there.map(move |stretch| first + stretch.start..first + stretch.end)
    })
}

/// The stretches between missing samples.
fn between(missing: &[bool]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let first = from + missing[from..].iter().position(|&gone| !gone)?;
        let length = missing[first..].iter().position(|&gone| gone);
        from = length.map_or(missing.len(), |length| first + length);
        Some(first..from)
    })
}

/// Sets missing samples to NaN in all channels.
pub fn blank(values: &mut Mat<f64>, missing: &[bool]) {
    if !missing.contains(&true) {
        return;
    }
    for channel in 0..values.ncols() {
        let column = values.col_as_slice_mut(channel).iter_mut();
        for (value, _) in column.zip(missing).filter(|(_, gone)| **gone) {
            *value = f64::NAN;
        }
    }
}

/// A stretch with `margin` further samples on both sides: turned about its first and its last
/// sample, x(−t) = 2·x(0) − x(t). A constant goes on as a constant, a straight line as that line.
/// The stretch has more than `margin` samples.
pub fn extended(stretch: &[f64], margin: usize, out: &mut Vec<f64>) {
    let (first, last) = (stretch[0], stretch[stretch.len() - 1]);
    out.clear();
    out.extend((1..=margin).rev().map(|t| 2.0 * first - stretch[t]));
    out.extend_from_slice(stretch);
    let back = stretch.iter().rev().skip(1).take(margin);
    out.extend(back.map(|value| 2.0 * last - value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_lie_between_missing_samples() {
        let within = |text: &str, pieces: &Pieces, expected: &[(usize, usize)]| {
            let missing: Vec<bool> = text.chars().map(|letter| letter == '-').collect();
            let found = stretches(&missing, pieces).map(|s| (s.start, s.end));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
        };
        let check = |text: &str, expected: &[(usize, usize)]| {
            within(text, &Pieces::whole(text.len()), expected);
        };
        let pieces = Pieces::new(&[2, 4], 6).unwrap();
        within("xxxxxx", &pieces, &[(0, 2), (2, 6)]);
        within("-x-x--", &pieces, &[(1, 2), (3, 4)]);
        check("xxx", &[(0, 3)]);
        check("-xx--x", &[(1, 3), (5, 6)]);
        check("x-", &[(0, 1)]);
        check("---", &[]);
        check("", &[]);
    }

    #[test]
    fn a_straight_line_goes_on() {
        let line: Vec<f64> = (0..6).map(|t| 3.0 + 0.5 * f64::from(t)).collect();
        let mut out = Vec::new();
        extended(&line, 5, &mut out);
        let expected: Vec<f64> = (-5..11).map(|t| 3.0 + 0.5 * f64::from(t)).collect();
        assert_eq!(out, expected);
    }
}
