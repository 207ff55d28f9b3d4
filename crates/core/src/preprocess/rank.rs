//! Why a recording does not support the requested number of sources, in words a person can act on.
//!
//! In: the channel covariance, its rank and the request. Out: one [`Error::SourceCount`]. It
//! decides nothing: the rank is found in [`super::whitening`].

use faer::MatRef;

use crate::error::Error;

/// Two channels with a correlation above 1 minus this are copies of each other.
const COPY_TOLERANCE: f64 = 1e-12;
/// Relative to the square of its mean, variance below this is what rounding leaves of a constant.
const CONSTANT_VARIANCE: f64 = 1e-28;
/// A message names this many channels or pairs at most.
const NAMED_AT_MOST: usize = 5;

/// What the whitening knows when it refuses.
pub(super) struct RankReport<'a> {
    pub n_components: usize,
    pub rank: usize,
    pub rank_tolerance: f64,
    pub n_complete: usize,
    /// m × m.
    pub covariance: MatRef<'a, f64>,
    pub mean: &'a [f64],
    pub channel_names: &'a [String],
}

impl RankReport<'_> {
    /// The error that names the request, the channels, the rank, the reasons and the remedy.
    pub fn into_error(self) -> Error {
        let n_channels = self.mean.len();
        let mut message = format!(
            "{} sources were asked for, but {n_channels} channels have numerical rank {} (eigenvalues \
             above {:e} of the largest)",
            self.n_components, self.rank, self.rank_tolerance
        );
        for reason in self.reasons() {
            message.push_str("; ");
            message.push_str(&reason);
        }
        message.push_str(&match self.rank {
            0 => "; record or select channels that vary".to_string(),
            1 => "; ask for 1 source, or add channels".to_string(),
            rank => format!("; ask for at most {rank} sources, or add channels"),
        });
        Error::SourceCount(message)
    }

    fn reasons(&self) -> Vec<String> {
        let variance: Vec<f64> = (0..self.mean.len())
            .map(|channel| self.covariance[(channel, channel)])
            .collect();
        let largest = variance.iter().copied().fold(0.0, f64::max);
        let is_constant = |channel: usize| {
            let mean = self.mean[channel];
            variance[channel] <= CONSTANT_VARIANCE * mean * mean
        };
        let is_negligible = |channel: usize| {
            !is_constant(channel) && variance[channel] <= self.rank_tolerance * largest
        };

        let mut reasons = Vec::new();
        let channels = 0..self.mean.len();
        if channels.len() > self.rank && self.n_complete <= channels.len() {
            reasons.push(format!(
                "{} complete samples span at most {} directions, so a longer recording is needed",
                self.n_complete,
                self.n_complete.saturating_sub(1)
            ));
        }
        let constant: Vec<String> = channels
            .clone()
            .filter(|&channel| is_constant(channel))
            .map(|channel| self.name(channel))
            .collect();
        if !constant.is_empty() {
            reasons.push(format!("constant: drop channel {}", shortened(&constant)));
        }
        let negligible: Vec<String> = channels
            .clone()
            .filter(|&channel| is_negligible(channel))
            .map(|channel| self.name(channel))
            .collect();
        if !negligible.is_empty() {
            reasons.push(format!(
                "negligible beside the largest variance: scale the channels or drop channel {}",
                shortened(&negligible)
            ));
        }
        let varying: Vec<usize> = channels
            .filter(|&channel| !is_constant(channel) && !is_negligible(channel))
            .collect();
        let mut copies = Vec::new();
        for (position, &later) in varying.iter().enumerate() {
            // The first original is enough: of n copies, n − 1 are to be dropped, each named once.
            let original = varying[..position].iter().find(|&&earlier| {
                let product = variance[earlier].sqrt() * variance[later].sqrt();
                self.covariance[(later, earlier)].abs() > (1.0 - COPY_TOLERANCE) * product
            });
            if let Some(&earlier) = original {
                copies.push(format!(
                    "{} (a copy of {} up to scale)",
                    self.name(later),
                    self.name(earlier)
                ));
            }
        }
        if !copies.is_empty() {
            reasons.push(format!("duplicated: drop channel {}", shortened(&copies)));
        }
        reasons
    }

    fn name(&self, channel: usize) -> String {
        self.channel_names
            .get(channel)
            .cloned()
            .unwrap_or_else(|| format!("ch{}", channel + 1))
    }
}

fn shortened(names: &[String]) -> String {
    let mut text = names
        .iter()
        .take(NAMED_AT_MOST)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > NAMED_AT_MOST {
        text.push_str(&format!(" and {} more", names.len() - NAMED_AT_MOST));
    }
    text
}
