//! Why a recording does not support the requested number of sources, in words a person can act on.
//!
//! In: the channel covariance, its rank and the request. Out: a [`LowRank`] with the facts, and
//! its text. It decides nothing: the rank is found in [`super::whitening`].

use std::fmt;

use faer::MatRef;

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

/// More sources were asked for than the channels have independent directions: what was found.
#[derive(Clone, Debug, PartialEq)]
pub struct LowRank {
    /// Number of sources asked for.
    pub n_components: usize,
    /// Number of channels.
    pub n_channels: usize,
    /// Number of complete samples.
    pub n_complete: usize,
    /// Numerical rank of the channels.
    pub rank: usize,
    /// Eigenvalues above this share of the largest count towards the rank.
    pub rank_tolerance: f64,
    /// Names of channels that do not vary.
    pub constant: Vec<String>,
    /// Names of channels whose variance is nothing beside the largest.
    pub negligible: Vec<String>,
    /// Names of channels that are copies up to scale, each with its original.
    pub copies: Vec<(String, String)>,
}

impl RankReport<'_> {
    /// Which channels are to blame.
    pub fn low_rank(self) -> LowRank {
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
        let channels = 0..self.mean.len();
        let named = |is_it: &dyn Fn(usize) -> bool| -> Vec<String> {
            let found = channels.clone().filter(|&channel| is_it(channel));
            found.map(|channel| self.name(channel)).collect()
        };
        let varying: Vec<usize> = channels
            .clone()
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
                copies.push((self.name(later), self.name(earlier)));
            }
        }
        LowRank {
            n_components: self.n_components,
            n_channels: self.mean.len(),
            n_complete: self.n_complete,
            rank: self.rank,
            rank_tolerance: self.rank_tolerance,
            constant: named(&is_constant),
            negligible: named(&is_negligible),
            copies,
        }
    }

    fn name(&self, channel: usize) -> String {
        self.channel_names
            .get(channel)
            .cloned()
            .unwrap_or_else(|| format!("ch{}", channel + 1))
    }
}

impl fmt::Display for LowRank {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} sources were asked for, but {} channels have numerical rank {} (eigenvalues above \
             {:e} of the largest)",
            self.n_components, self.n_channels, self.rank, self.rank_tolerance
        )?;
        if self.n_channels > self.rank && self.n_complete <= self.n_channels {
            write!(
                formatter,
                "; {} complete samples span at most {} directions, so a longer recording is needed",
                self.n_complete,
                self.n_complete.saturating_sub(1)
            )?;
        }
        if !self.constant.is_empty() {
            let names = shortened(&self.constant);
            write!(formatter, "; constant: drop channel {names}")?;
        }
        if !self.negligible.is_empty() {
            write!(
                formatter,
                "; negligible beside the largest variance: scale the channels or drop channel {}",
                shortened(&self.negligible)
            )?;
        }
        if !self.copies.is_empty() {
            let copies: Vec<String> = self
                .copies
                .iter()
                .map(|(copy, original)| format!("{copy} (a copy of {original} up to scale)"))
                .collect();
            write!(
                formatter,
                "; duplicated: drop channel {}",
                shortened(&copies)
            )?;
        }
        match self.rank {
            0 => formatter.write_str("; record or select channels that vary"),
            1 => formatter.write_str("; ask for 1 source, or add channels"),
            rank => write!(
                formatter,
                "; ask for at most {rank} sources, or add channels"
            ),
        }
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
