//! A recording made ready for separation: without bad segments, drift, line noise and frequencies
//! that are not of interest, at another rate, against another reference.
//!
//! In: a [`Recording`] and a [`Preparation`]. Out: another recording, and in words what was done.
//! One operation a file, each also a plain function of numbers. They are applied in this order:
//!
//! | operation | why here |
//! |---|---|
//! | [`bad_segments`] | before anything spreads what is in them |
//! | [`mod@detrend`] | before a filter meets the jump between end and beginning of a drift |
//! | [`mod@notch`], [`mod@band`] | at the rate of the recording, where a line is where it is |
//! | [`mod@resample`] | after the filters, which leave it less to do |
//! | [`mod@reference`] | last, as it commutes with all of the above and may drop a channel |
//!
//! Every filter is linear, of finite length, symmetric and centred: it delays nothing. Missing
//! samples stay missing. Each stretch between them, within one piece of the recording, is filtered
//! by itself, continued beyond its ends by its odd reflection, so that constants and straight lines
//! go through ends unharmed; a stretch that is too short for that, which is at most half a filter,
//! becomes missing and is counted.
//!
//! Deliberately absent: names of files and options, choice of channels, interpolation of gaps,
//! and any guess: [`warn`] only says what a recording may need.

pub mod bad_segments;
pub mod band;
mod convolve;
pub mod detrend;
pub mod fir;
pub mod notch;
pub mod reference;
pub mod resample;
mod stretches;
pub mod warn;

pub use bad_segments::Segment;
pub use band::Band;
pub use fir::Fir;
pub use reference::Reference;
pub use resample::resample;

use crate::error::{Error, Result};
use crate::pieces::Pieces;
use crate::recording::Recording;
use convolve::Convolver;
use faer::Mat;
use stretches::{blank, stretches};

/// What is to be done with a recording. The default is nothing.
///
/// ```
/// use strt_signal::Recording;
/// use strt_signal::prepare::{Band, Preparation};
///
/// let wave = |t: usize, hz: f64| (t as f64 / 250.0 * hz * std::f64::consts::TAU).sin();
/// let mixed: Vec<f64> = (0..2500).map(|t| wave(t, 10.0) + 3.0 * wave(t, 60.0)).collect();
/// let recording = Recording::from_rows(&mixed, 1)?.with_sampling_rate(250.0)?;
/// let preparation = Preparation {
///     band: Some(Band { low: Some(1.0), high: Some(40.0) }),
///     ..Preparation::default()
/// };
/// let prepared = preparation.apply(&recording)?;
/// assert_eq!(prepared.steps, ["band 1-40 Hz (FIR of 825 samples)"]);
/// let left = prepared.recording.observations()[(1234, 0)] - wave(1234, 10.0);
/// assert!(left.abs() < 0.02);
/// # Ok::<(), strt_signal::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preparation {
    /// Spans that become missing.
    pub bad_segments: Vec<Segment>,
    /// Whether the straight line through every channel is taken out of it, piece by piece.
    pub detrend: bool,
    /// Frequencies to take out, each with its multiples, in Hz.
    pub notch: Vec<f64>,
    /// Frequencies to keep.
    pub band: Option<Band>,
    /// Samples per second to come to.
    pub resample: Option<f64>,
    /// What the channels are told against.
    pub reference: Option<Reference>,
}

/// A recording that was prepared.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The recording.
    pub recording: Recording,
    /// What was done, one piece of a sentence each.
    pub steps: Vec<String>,
    /// Samples that became missing because the stretch that they are in is too short for a filter.
    pub n_too_short: usize,
}

impl Preparation {
    /// Refuses what cannot be done with any recording of this rate and these channels.
    ///
    /// # Errors
    /// [`Error::Preparation`] with the operation, what is expected of it and what to do.
    pub fn check(&self, rate: Option<f64>, channel_names: &[String]) -> Result<()> {
        let timed = [
            ("bad_segments", !self.bad_segments.is_empty()),
            ("notch", !self.notch.is_empty()),
            ("band", self.band.is_some()),
            ("resample", self.resample.is_some()),
        ];
        let Some(rate) = rate else {
            return match timed.into_iter().find(|(_, asked)| *asked) {
                None => self.check_reference(channel_names),
                Some((option, _)) => Err(Error::preparation(
                    option,
                    "a recording with a sampling rate",
                    "none",
                    "give the rate as well",
                )),
            };
        };
        for segment in &self.bad_segments {
            segment.check()?;
        }
        if !self.notch.is_empty() {
            notch::check(&self.notch, rate)?;
        }
        if let Some(band) = &self.band {
            band.check(rate)?;
        }
        if let Some(to) = self.resample {
            resample::check(rate, to)?;
        }
        self.check_reference(channel_names)
    }

    fn check_reference(&self, channel_names: &[String]) -> Result<()> {
        match self.reference {
            Some(reference) => reference.check(channel_names.len()),
            None => Ok(()),
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// As [`Preparation::check`]; and when no stretch without missing values is long enough for a
    /// filter, or a channel is left without a number.
    pub fn apply(&self, recording: &Recording) -> Result<Prepared> {
        self.check(recording.sampling_rate(), recording.channel_names())?;
        let mut work = Work::of(recording);
        let scale = work.scale_down();
        if !self.bad_segments.is_empty() {
            work.mark(&self.bad_segments)?;
        }
        work.forget_missing();
        if self.detrend {
            for piece in work.pieces.ranges() {
                detrend::detrend(&mut work.values, &work.missing, piece);
            }
            work.steps.push("straight lines removed".into());
        }
        if let Some(rate) = work.rate {
            if !self.notch.is_empty() {
                let all = notch::frequencies(&self.notch, rate);
                let shown: Vec<String> = all.iter().map(f64::to_string).collect();
                let what = format!("notch {} Hz", shown.join(", "));
                work.filter("notch", &what, &notch::design(&all, rate))?;
            }
            if let Some(band) = &self.band {
                work.filter("band", &format!("band {band} Hz"), &band.design(rate))?;
            }
            if let Some(to) = self.resample.filter(|to| *to != rate) {
                work.resample(rate, to)?;
            }
        }
        if let Some(reference) = self.reference {
            let told = reference.describe(&work.names);
            (work.values, work.names) = (
                reference.refer(work.values.as_ref()),
                reference.names(&work.names),
            );
            work.steps.push(told);
        }
        work.scale_up(scale)?;
        work.finish()
    }
}

/// What values may be without being scaled: far enough below the largest f64 for sums over as many
/// samples as memory can hold.
const HUGE: f64 = 1e280;
/// 2^200: takes the largest f64 well below [`HUGE`].
const SCALE: f64 = 1.606_938_044_258_990_3e60;

/// A recording on its way through the operations.
struct Work {
    values: Mat<f64>,
    /// One flag a sample.
    missing: Vec<bool>,
    pieces: Pieces,
    names: Vec<String>,
    rate: Option<f64>,
    steps: Vec<String>,
    n_too_short: usize,
}

impl Work {
    fn of(recording: &Recording) -> Work {
        let n_samples = recording.n_samples();
        Work {
            values: recording.observations().to_owned(),
            missing: recording
                .missing()
                .map_or_else(|| vec![false; n_samples], <[bool]>::to_vec),
            pieces: recording.pieces().clone(),
            names: recording.channel_names().to_vec(),
            rate: recording.sampling_rate(),
            steps: Vec::new(),
            n_too_short: 0,
        }
    }

    /// Divides values that are so large that sums over them may be beyond what f64 can hold, and
    /// says by what: everything that follows is linear, and a power of two loses no digit of them.
    fn scale_down(&mut self) -> f64 {
        let values = self.values.col_iter().flat_map(|column| column.iter());
        let is_huge = values.into_iter().any(|value| value.abs() > HUGE);
        let scale = if is_huge { SCALE } else { 1.0 };
        if is_huge {
            self.multiply(1.0 / scale);
        }
        scale
    }

    /// Takes [`Work::scale_down`] back.
    fn scale_up(&mut self, scale: f64) -> Result<()> {
        if scale == 1.0 {
            return Ok(());
        }
        self.multiply(scale);
        let is_infinite = |channel: &usize| {
            let column = self.values.col(*channel);
            column.iter().any(|value| value.is_infinite())
        };
        match (0..self.values.ncols()).find(is_infinite) {
            None => Ok(()),
            Some(channel) => Err(Error::preparation(
                "preparing",
                format!("values below {:e}", f64::MAX),
                format!("larger ones in channel {}", self.names[channel]),
                "divide the recording by a number such as 1000",
            )),
        }
    }

    fn multiply(&mut self, by: f64) {
        for channel in 0..self.values.ncols() {
            for value in self.values.col_as_slice_mut(channel) {
                *value *= by;
            }
        }
    }

    fn mark(&mut self, segments: &[Segment]) -> Result<()> {
        let rate = self.rate.expect("checked with the options");
        let n_marked = bad_segments::mark(segments, rate, &mut self.missing);
        if self.missing.iter().all(|&is_missing| is_missing) {
            return Err(Error::preparation(
                "bad_segments",
                "samples that are left over",
                "segments that cover all of them",
                "mark less of the recording",
            ));
        }
        let (count, seconds) = (segments.len(), n_marked as f64 / rate);
        let segments = if count == 1 { "segment" } else { "segments" };
        self.steps.push(format!(
            "{count} bad {segments} taken as missing ({} s)",
            (seconds * 1000.0).round() / 1000.0
        ));
        Ok(())
    }

    /// Makes a sample with a missing value missing in all channels: filters look across samples.
    fn forget_missing(&mut self) {
        blank(&mut self.values, &self.missing);
    }

    /// Filters every stretch that is long enough.
    fn filter(&mut self, option: &'static str, what: &str, design: &fir::Design) -> Result<()> {
        let needed = design.half_length().saturating_add(1);
        self.drop_shorter_than(option, needed)?;
        let filter = design.build();
        let mut convolver = Convolver::new(&filter);
        for channel in 0..self.values.ncols() {
            let column = self.values.col_as_slice_mut(channel);
            for stretch in stretches(&self.missing, &self.pieces) {
                convolver.apply(&mut column[stretch]);
            }
        }
        let length = filter.taps().len();
        self.steps.push(format!("{what} (FIR of {length} samples)"));
        Ok(())
    }

    fn resample(&mut self, rate: f64, to: f64) -> Result<()> {
        let resampler = resample::Resampler::new(rate, to)?;
        self.drop_shorter_than("resample", resampler.reach().saturating_add(1))?;
        self.values = resampler.apply(self.values.as_ref(), &self.missing, &self.pieces);
        self.missing = crate::recording::missing_samples(self.values.as_ref());
        self.pieces = resampler.pieces(&self.pieces)?;
        self.rate = Some(to);
        self.steps.push(format!("resampled from {rate} to {to} Hz"));
        Ok(())
    }

    /// Makes stretches missing that are shorter than `needed` samples.
    fn drop_shorter_than(&mut self, option: &'static str, needed: usize) -> Result<()> {
        let all: Vec<_> = stretches(&self.missing, &self.pieces).collect();
        let longest = all.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        if longest < needed {
            let seconds = |samples: usize| {
                let seconds = samples as f64 / self.rate.unwrap_or(1.0);
                format!(
                    "{samples} samples ({} s)",
                    (seconds * 100.0).round() / 100.0
                )
            };
            let gaps = match (self.pieces.is_whole(), self.missing.contains(&true)) {
                (true, true) => " without missing values",
                (true, false) => "",
                (false, true) => " of one piece without missing values",
                (false, false) => " of one piece",
            };
            return Err(Error::preparation(
                option,
                format!("a stretch of at least {}{gaps}", seconds(needed)),
                format!("at most {}", seconds(longest)),
                "take a longer recording, or a filter with wider transitions",
            ));
        }
        for stretch in all.into_iter().filter(|stretch| stretch.len() < needed) {
            self.n_too_short += stretch.len();
            self.missing[stretch].fill(true);
        }
        blank(&mut self.values, &self.missing);
        Ok(())
    }

    fn finish(self) -> Result<Prepared> {
        let lengths: Vec<usize> = self.pieces.lengths().collect();
        let recording = Recording::from_mat(self.values)?
            .with_channel_names(self.names)?
            .with_pieces(&lengths)?;
        let recording = match self.rate {
            Some(rate) => recording.with_sampling_rate(rate)?,
            None => recording,
        };
        Ok(Prepared {
            recording,
            steps: self.steps,
            n_too_short: self.n_too_short,
        })
    }
}

#[cfg(test)]
mod tests;
