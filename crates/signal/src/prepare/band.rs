//! Frequencies to keep: band-pass, high-pass and low-pass filters.
//!
//! Frequencies from `low` to `high` pass. The transitions lie outside of them, min(max(0.25·f, 2),
//! f) Hz wide below and min(max(0.25·f, 2), Nyquist − f) Hz above, as MNE has them by default; the
//! gain is ½ in their middle. The shorter transition decides the length of the filter, 3.3/Δ
//! seconds: 3.3 s from 1 Hz on.

use super::fir::Design;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// From one frequency to another, in Hz; one of them may be left out. As text `1-40`, `1-` or
/// `-40`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Band {
    /// What is slower is taken out.
    pub low: Option<f64>,
    /// What is faster is taken out.
    pub high: Option<f64>,
}

impl Band {
    /// Refuses a band that a recording of this rate cannot have.
    ///
    /// # Errors
    /// [`Error::Preparation`].
    pub fn check(&self, rate: f64) -> Result<()> {
        self.check_order()?;
        let nyquist = rate / 2.0;
        let highest = self.high.or(self.low).unwrap_or(0.0);
        if highest >= nyquist {
            return Err(Error::preparation(
                "band",
                format!("frequencies below {nyquist} Hz, half the sampling rate"),
                self.to_string(),
                "choose a lower one, or leave the upper one out",
            ));
        }
        Ok(())
    }

    fn check_order(&self) -> Result<()> {
        let is_frequency = |hz: &Option<f64>| hz.is_none_or(|hz| hz.is_finite() && hz > 0.0);
        let rises = match (self.low, self.high) {
            (Some(low), Some(high)) => low < high,
            (None, None) => false,
            _ => true,
        };
        if rises && is_frequency(&self.low) && is_frequency(&self.high) {
            return Ok(());
        }
        Err(Error::preparation(
            "band",
            "rising frequencies above 0 in Hz, such as 1-40, 1- or -40",
            format!("`{self}`"),
            "correct it",
        ))
    }

    /// The filter for a recording of this rate.
    pub fn design(&self, rate: f64) -> Design {
        let width = |hz: f64, room: f64| (0.25 * hz).max(2.0).min(room);
        let everything = if self.high.is_some() { 0.0 } else { 1.0 };
        let mut design = Design::new(rate, everything);
        if let Some(high) = self.high {
            let transition = width(high, rate / 2.0 - high);
            design = design.low_pass(1.0, high + transition / 2.0, transition);
        }
        if let Some(low) = self.low {
            let transition = width(low, low);
            design = design.low_pass(-1.0, low - transition / 2.0, transition);
        }
        design
    }
}

impl fmt::Display for Band {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |hz: Option<f64>| hz.map_or(String::new(), |hz| hz.to_string());
        write!(out, "{}-{}", text(self.low), text(self.high))
    }
}

impl FromStr for Band {
    type Err = Error;

    fn from_str(text: &str) -> Result<Band> {
        let side = |text: &str| match text.trim() {
            "" => Some(None),
            text => text.parse().ok().map(Some),
        };
        // `1e-3-40` has two hyphens, of which one is between two numbers.
        let found = text.match_indices('-').find_map(|(at, _)| {
            let (low, high) = (side(&text[..at])?, side(&text[at + 1..])?);
            Some(Band { low, high })
        });
        let band = found.ok_or_else(|| {
            Error::preparation(
                "band",
                "two frequencies in Hz, such as 1-40, 1- or -40",
                format!("`{text}`"),
                "correct it",
            )
        })?;
        band.check_order().map(|()| band)
    }
}

impl TryFrom<String> for Band {
    type Error = Error;

    fn try_from(text: String) -> Result<Band> {
        text.parse()
    }
}

impl From<Band> for String {
    fn from(band: Band) -> String {
        band.to_string()
    }
}
