//! Colours that people with any colour vision can tell apart, on a light and on a dark page.
//!
//! A few sources take the categorical colours of Okabe and Ito (without black and yellow, which
//! vanish on one of the pages). Many sources take steps of one scale from dark to bright, which
//! also shows their order.

/// Okabe and Ito's colours, in the order of their contrast with each other.
const CATEGORICAL: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];

/// Viridis between the parts that are too dark or too bright to be seen on a page.
const ORDERED: [[f64; 3]; 5] = [
    [79.0, 66.0, 140.0],
    [54.0, 98.0, 142.0],
    [34.0, 139.0, 141.0],
    [62.0, 175.0, 110.0],
    [165.0, 205.0, 50.0],
];

/// The colour of what is one thing among the coloured ones: totals, means.
pub const NEUTRAL: &str = "#7a7f87";

/// Most sources that get a categorical colour; more are told apart by order, and by name under the
/// pointer.
pub const MOST_CATEGORICAL: usize = CATEGORICAL.len();

/// The colour of source `k` of `n_sources`.
pub fn source(k: usize, n_sources: usize) -> String {
    if n_sources <= MOST_CATEGORICAL {
        return CATEGORICAL[k % MOST_CATEGORICAL].into();
    }
    let place = k as f64 / (n_sources - 1) as f64 * (ORDERED.len() - 1) as f64;
    let lower = (place as usize).min(ORDERED.len() - 2);
    let channel = |i: usize| {
        let (from, to) = (ORDERED[lower][i], ORDERED[lower + 1][i]);
        (from + (to - from) * (place - lower as f64)).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", channel(0), channel(1), channel(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_source_has_a_colour_of_its_own() {
        for n_sources in [1, 3, 6, 7, 16, 64] {
            let colours: HashSet<String> = (0..n_sources).map(|k| source(k, n_sources)).collect();
            assert_eq!(colours.len(), n_sources);
            assert!(colours.iter().all(|colour| colour.len() == 7));
        }
    }
}
