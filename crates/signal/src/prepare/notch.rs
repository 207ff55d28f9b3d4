//! Line noise taken out: narrow stop bands at a frequency and at its multiples.
//!
//! Each stop band is f/200 wide, with transitions of 0.5 Hz on both sides, as `notch_filter` of MNE
//! has them by default; all of them are one filter, 6.6 s long. Multiples that come so near to half
//! the sampling rate that there is no room for the transition are left out.

use super::fir::Design;
use crate::error::{Error, Result};

/// Width of a transition in Hz.
const TRANSITION: f64 = 0.5;

/// Half the width of a stop band.
fn half_width(hz: f64) -> f64 {
    hz / 400.0
}

/// Whether stop band and transitions lie between 0 and half the sampling rate.
fn fits(hz: f64, rate: f64) -> bool {
    let reach = half_width(hz) + TRANSITION;
    hz - reach > 0.0 && hz + reach < rate / 2.0
}

/// Refuses frequencies that a recording of this rate does not have.
///
/// # Errors
/// [`Error::Preparation`].
pub fn check(frequencies: &[f64], rate: f64) -> Result<()> {
    match frequencies.iter().find(|&&hz| !fits(hz, rate)) {
        None => Ok(()),
        Some(wrong) => Err(Error::preparation(
            "notch",
            format!(
                "frequencies from 1 Hz to below {} Hz, half the sampling rate",
                rate / 2.0
            ),
            wrong.to_string(),
            "correct it, or leave it out",
        )),
    }
}

/// The frequencies and their multiples below half the sampling rate, each once, rising.
pub fn frequencies(given: &[f64], rate: f64) -> Vec<f64> {
    let multiples = |&hz: &f64| (1..).map(move |n| hz * f64::from(n));
    let all = given
        .iter()
        .flat_map(|hz| multiples(hz).take_while(|&hz| fits(hz, rate)));
    let mut all: Vec<f64> = all.collect();
    all.sort_by(f64::total_cmp);
    // 100 Hz is a multiple of 50 Hz, whatever the last bit says.
    all.dedup_by(|b, a| (*b - *a).abs() < 1e-6);
    all
}

/// The filter for a recording of this rate, which has all these frequencies.
pub fn design(frequencies: &[f64], rate: f64) -> Design {
    frequencies
        .iter()
        .fold(Design::new(rate, 1.0), |design, &hz| {
            let reach = half_width(hz) + TRANSITION / 2.0;
            design
                .low_pass(-1.0, hz + reach, TRANSITION)
                .low_pass(1.0, hz - reach, TRANSITION)
        })
}
