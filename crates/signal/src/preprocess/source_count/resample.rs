//! How sure the number of sources is: the same tests on recordings that are put together from
//! blocks of this one.
//!
//! In: the components that are in doubt, and what each has to exceed. Out: how often which number
//! of them does. Blocks are drawn with replacement within each eighth of the recording, so that
//! slow changes stay. A resampled strength contains the chance of the recording and that of the
//! drawing; the second is taken off its mean.

use super::distribution;
use super::moments::Family;
use super::samples::{BLOCKS, Block, PARTS, Samples};
use super::structure::{Share, Witness};
use crate::random::{Stream, rng};
use rand::RngExt;

/// Resampled recordings.
pub(super) const RESAMPLES: usize = 200;

/// What is asked of a component.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Probe {
    /// Its autocorrelations at these lags.
    Lags(Vec<usize>),
    /// The variances of the parts of the recording.
    Variance,
    /// Its values.
    Distribution,
}

impl Probe {
    /// What a family of moments asks.
    pub fn of(family: &Family) -> Probe {
        match family.witness {
            Witness::Variance => Probe::Variance,
            _ => Probe::Lags(family.lags.clone()),
        }
    }

    pub fn witness(&self) -> Witness {
        match self {
            Probe::Lags(_) => Witness::Spectrum,
            Probe::Variance => Witness::Variance,
            Probe::Distribution => Witness::Distribution,
        }
    }
}

/// A component in doubt.
pub(super) struct Candidate {
    /// N values, 0 where missing.
    pub component: Vec<f64>,
    pub probe: Probe,
    /// The strength that it must have to count.
    pub limit: f64,
}

/// Sums of a component block by block: one row a lag, or a single one.
struct Sums {
    sums: Vec<[f64; BLOCKS]>,
    numbers: Vec<[f64; BLOCKS]>,
    probe: Probe,
}

impl Sums {
    fn of(samples: &Samples, candidate: &Candidate) -> Sums {
        let x = &candidate.component;
        let lags: &[usize] = match &candidate.probe {
            Probe::Lags(lags) => lags,
            _ => &[0],
        };
        let sum = |block: &Block, lag: usize| {
            let rows = block.pairs(lag, &samples.pieces).flatten();
            match candidate.probe {
                Probe::Distribution => {
                    let valid = rows.filter(|&t| samples.valid[t]);
                    distribution::sum(valid.map(|t| x[t]))
                }
                _ => rows.map(|t| x[t] * x[t + lag]).sum(),
            }
        };
        let of_lag = |&lag: &usize| std::array::from_fn(|b| sum(&samples.blocks[b], lag));
        let number = |&lag: &usize| {
            let n = |b: usize| {
                let pairs = samples.blocks[b].pairs(lag, &samples.pieces);
                pairs.map(|rows| samples.n_pairs(rows, lag)).sum::<usize>() as f64
            };
            std::array::from_fn(n)
        };
        Sums {
            sums: lags.iter().map(of_lag).collect(),
            numbers: lags.iter().map(number).collect(),
            probe: candidate.probe.clone(),
        }
    }

    /// The square of the strength when block b occurs `times[b]` times.
    fn square(&self, times: &[f64; BLOCKS]) -> f64 {
        let total = |values: &[f64; BLOCKS], blocks: std::ops::Range<usize>| -> f64 {
            blocks.map(|b| times[b] * values[b]).sum()
        };
        match self.probe {
            Probe::Lags(_) => self
                .sums
                .iter()
                .zip(&self.numbers)
                .map(|(sums, numbers)| {
                    total(sums, 0..BLOCKS).powi(2) / total(numbers, 0..BLOCKS).max(1.0)
                })
                .sum(),
            Probe::Variance => {
                let (sums, numbers) = (&self.sums[0], &self.numbers[0]);
                let variance = total(sums, 0..BLOCKS) / total(numbers, 0..BLOCKS).max(1.0);
                let part = |part: usize| {
                    let n = total(numbers, Block::of_part(part));
                    let off = total(sums, Block::of_part(part)) - n * variance;
                    off * off / (2.0 * n.max(1.0))
                };
                (0..PARTS).map(part).sum::<f64>() / (variance * variance).max(f64::MIN_POSITIVE)
            }
            Probe::Distribution => {
                let n = total(&self.numbers[0], 0..BLOCKS).max(1.0);
                distribution::strength(total(&self.sums[0], 0..BLOCKS), n).powi(2)
            }
        }
    }
}

/// How often `certain` sources and those of the candidates that count make which number, the most
/// frequent first.
pub(super) fn shares(samples: &Samples, certain: usize, candidates: &[Candidate]) -> Vec<Share> {
    let mut found = vec![certain; RESAMPLES];
    let drawn = draws();
    for candidate in candidates {
        let sums = Sums::of(samples, candidate);
        let whole = sums.square(&[1.0; BLOCKS]);
        let squares: Vec<f64> = drawn.iter().map(|times| sums.square(times)).collect();
        let mean = squares.iter().sum::<f64>() / RESAMPLES as f64;
        for (found, square) in found.iter_mut().zip(squares) {
            let strength = (square - (mean - whole).max(0.0)).max(0.0).sqrt();
            *found += usize::from(strength >= candidate.limit);
        }
    }
    let most = certain + candidates.len();
    let mut shares: Vec<Share> = (0..=most)
        .map(|n_sources| Share {
            n_sources: n_sources.max(1),
            share: found.iter().filter(|&&n| n == n_sources).count() as f64 / RESAMPLES as f64,
        })
        .filter(|share| share.share > 0.0)
        .collect();
    // No source at all counts as one.
    shares.dedup_by(|later, earlier| {
        let same = later.n_sources == earlier.n_sources;
        earlier.share += if same { later.share } else { 0.0 };
        same
    });
    shares.sort_by(|a, b| b.share.total_cmp(&a.share));
    shares
}

/// How often each block occurs in each resampled recording.
fn draws() -> Vec<[f64; BLOCKS]> {
    let mut rng = rng(0, Stream::Count);
    let mut draw = || {
        let mut times = [0.0; BLOCKS];
        for part in 0..PARTS {
            let blocks = Block::of_part(part);
            for _ in blocks.clone() {
                times[rng.random_range(blocks.clone())] += 1.0;
            }
        }
        times
    };
    (0..RESAMPLES).map(|_| draw()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_draw_has_as_many_blocks_of_each_part() {
        for times in draws() {
            for part in 0..PARTS {
                let n: f64 = times[Block::of_part(part)].iter().sum();
                assert_eq!(n, Block::of_part(part).len() as f64);
            }
        }
        assert_ne!(draws()[0], draws()[1]);
    }
}
