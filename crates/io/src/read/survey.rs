//! What the numbers of a file tell before anything is done with them: missing values, channels that
//! are flat or the same as another, codes that stand for missing values.
//!
//! In: a path. Out: a [`Survey`] beside the [`Summary`] that the header gives. Channels of several
//! rates are looked at rate by rate. Memory is bounded: of a file with more than [`MOST_VALUES`]
//! numbers only the beginning is read, and the survey says how much. Nothing is repaired here.

use super::options::Summary;
use super::table::{Channel, Reader, Table};
use super::{ReadOptions, open, summary};
use crate::error::Result;
use std::collections::HashMap;
use std::path::Path;

/// Numbers that are read at most: half a gibibyte of them.
pub const MOST_VALUES: usize = 1 << 26;

/// What the numbers of a file tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// One a channel of the summary; `None` for one that is left out.
    pub channels: Vec<Option<ChannelSurvey>>,
}

/// What the numbers of one channel tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelSurvey {
    /// Samples that were looked at, from the first on.
    pub n_read: usize,
    /// How many of these are missing.
    pub n_missing: usize,
    /// How many are infinite, which cannot be read as a recording.
    pub n_infinite: usize,
    /// All values that are not missing are the same.
    pub is_flat: bool,
    /// The first channel that has the same values in the same places.
    pub duplicate_of: Option<usize>,
    /// A number that seems to stand for missing values, and how often it comes.
    pub code: Option<(f64, usize)>,
}

/// Says what a file holds, and what its numbers tell; the second is an error where they cannot be
/// read. With a container in which no array is chosen there are no numbers.
///
/// ```
/// use strt_io::{ReadOptions, survey};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("three.csv");
/// std::fs::write(&path, "a,b,c\n1,5,1\n2,5,2\nNA,5,NA\n4,5,4\n")?;
/// let (summary, numbers) = survey(&path, &ReadOptions::default())?;
/// let channels = numbers?.channels;
/// assert_eq!(summary.channels[0].name, "a");
/// assert_eq!(channels[0].as_ref().unwrap().n_missing, 1);
/// assert!(channels[1].as_ref().unwrap().is_flat);
/// assert_eq!(channels[2].as_ref().unwrap().duplicate_of, Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Whatever is wrong with the parts that say what the file holds.
pub fn survey(path: impl AsRef<Path>, options: &ReadOptions) -> Result<(Summary, Result<Survey>)> {
    let (format, mut reader) = open(path.as_ref(), options)?;
    let contents = super::described(path.as_ref(), reader.contents(), options)?;
    let numbers = look(
        path.as_ref(),
        &contents.channels,
        reader.as_mut(),
        MOST_VALUES,
    );
    Ok((summary(format, contents), numbers))
}

fn look(
    path: &Path,
    channels: &[Channel],
    reader: &mut dyn Reader,
    most_values: usize,
) -> Result<Survey> {
    let mut found: Vec<Option<ChannelSurvey>> = vec![None; channels.len()];
    let mut groups: Vec<(usize, Option<f64>, Vec<usize>)> = Vec::new();
    for (at, channel) in channels.iter().enumerate() {
        if channel.left_out.is_some() {
            continue;
        }
        let group = groups
            .iter_mut()
            .find(|group| group.0 == channel.n_samples && group.1 == channel.rate);
        match group {
            Some(group) => group.2.push(at),
            None => groups.push((channel.n_samples, channel.rate, vec![at])),
        }
    }
    for (n_samples, _, chosen) in groups {
        let n_read = n_samples.min(most_values / chosen.len().max(1));
        let mut table = Table::new(path, 0..n_read, channels.len(), &chosen)?;
        if n_read > 0 {
            reader.read(&mut table)?;
        }
        let mut seen = Seen::default();
        for &at in &chosen {
            let Some(values) = table.column(at) else {
                continue;
            };
            found[at] = Some(seen.channel(at, values));
        }
        // Channels of the same fingerprint are compared value by value.
        for at in chosen {
            let Some(other) = found[at].as_ref().and_then(|own| own.duplicate_of) else {
                continue;
            };
            let values = table.column(at).map(|values| values.to_vec());
            let others = table.column(other).map(|values| values.to_vec());
            let same = values.zip(others).is_some_and(|(a, b)| {
                let mut pairs = a.iter().zip(&b);
                pairs.all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
            });
            if let (false, Some(own)) = (same, &mut found[at]) {
                own.duplicate_of = None;
            }
        }
    }
    Ok(Survey { channels: found })
}

/// The channels that were looked at, by a fingerprint of their values.
#[derive(Default)]
struct Seen {
    by_fingerprint: HashMap<u64, usize>,
}

impl Seen {
    fn channel(&mut self, at: usize, values: &[f64]) -> ChannelSurvey {
        let mut present = values.iter().filter(|value| !value.is_nan());
        let first = present.next();
        let is_flat = first.is_some_and(|first| present.all(|value| value == first));
        let is_whole_missing = first.is_none();
        let fingerprint = values
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, value| {
                // All missing values and both zeros are one.
                let bits = if value.is_nan() {
                    1
                } else {
                    (value + 0.0).to_bits()
                };
                (hash ^ bits).wrapping_mul(0x0100_0000_01b3).rotate_left(17)
            });
        // Flat channels are told as such; that they are alike says nothing more.
        let duplicate_of = if is_flat || is_whole_missing {
            None
        } else {
            let before = self.by_fingerprint.get(&fingerprint).copied();
            self.by_fingerprint.entry(fingerprint).or_insert(at);
            before
        };
        ChannelSurvey {
            n_read: values.len(),
            n_missing: values.iter().filter(|value| value.is_nan()).count(),
            n_infinite: values.iter().filter(|value| value.is_infinite()).count(),
            is_flat,
            duplicate_of,
            code: code_for_missing(values),
        }
    }
}

/// A number that stands apart from all others and looks like a code for missing values: nothing but
/// nines, at least three of them (−999, 99.9, 9999, …), or beyond any unit (1e20, 9.96921e36). With
/// how often it comes.
pub(crate) fn code_for_missing(values: &[f64]) -> Option<(f64, usize)> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let least = finite().fold(f64::INFINITY, f64::min);
    let most = finite().fold(f64::NEG_INFINITY, f64::max);
    [least, most].into_iter().find_map(|code| {
        if !code.is_finite() || !looks_like_a_code(code) {
            return None;
        }
        let (mut count, mut low, mut high) = (0, f64::INFINITY, f64::NEG_INFINITY);
        for value in finite() {
            if value == code {
                count += 1;
            } else {
                (low, high) = (low.min(value), high.max(value));
            }
        }
        let apart = if code < low { low - code } else { code - high };
        // Where all others are the same they have no range to compare with.
        (high > low && apart > 2.0 * (high - low)).then_some((code, count))
    })
}

fn looks_like_a_code(value: f64) -> bool {
    if value.abs() >= 1e18 {
        return true;
    }
    let text = value.abs().to_string();
    let digits: Vec<char> = text.chars().filter(|letter| *letter != '.').collect();
    digits.len() >= 3 && digits.iter().all(|digit| *digit == '9')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_apart() {
        let check = |values: &[f64], expected: Option<(f64, usize)>| {
            assert_eq!(code_for_missing(values), expected, "{values:?}");
        };
        check(&[12.0, 15.5, -999.0, 9.0, -999.0], Some((-999.0, 2)));
        check(&[12.0, 15.5, 99.99, 9.0], Some((99.99, 1)));
        check(&[1012.0, 980.0, 9999.0], Some((9999.0, 1)));
        check(
            &[0.1, 0.2, 9.969_209_968_386_869e36],
            Some((9.969_209_968_386_869e36, 1)),
        );
        // Inside the range of the others, or nothing to compare with, or another number.
        check(&[990.0, 999.0, 1200.0], None);
        check(&[0.0, 500.0, 999.0], None);
        check(&[-999.0, -999.0], None);
        check(&[5.0, -999.0], None);
        check(&[1.0, 2.0, 99.0], None);
        check(&[1.0, 2.0, -1000.0], None);
        check(&[], None);
        check(&[f64::NAN, f64::INFINITY], None);
    }

    #[test]
    fn equal_fingerprints_of_flat_channels_are_no_duplicates() {
        let mut seen = Seen::default();
        assert!(seen.channel(0, &[1.0, 1.0, f64::NAN]).is_flat);
        assert_eq!(seen.channel(1, &[1.0, 1.0, f64::NAN]).duplicate_of, None);
        assert_eq!(seen.channel(2, &[1.0, 2.0, f64::NAN]).duplicate_of, None);
        assert_eq!(seen.channel(3, &[1.0, 2.0, f64::NAN]).duplicate_of, Some(2));
        assert_eq!(seen.channel(4, &[2.0, 1.0, f64::NAN]).duplicate_of, None);
        assert_eq!(seen.channel(5, &[f64::NAN; 3]).duplicate_of, None);
    }
}
