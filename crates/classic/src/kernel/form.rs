//! What a kernel energy looks at: how many stretches of the recording it judges by themselves, and
//! how many samples together.
//!
//! Bands of frequencies judge a spectrum that is smooth ([`Form::smooth`]), one segment and a long
//! window one that may have any shape ([`Form::spectrum`]); many segments and W = 1 judge how the
//! variance changes ([`Form::variance`]); segments with a short window judge a spectrum that changes
//! ([`Form::changing`]). Plain data: the energy itself is in [`super::energy`].

use strt_signal::pieces::Pieces;

use super::bands::Bands;

/// What forms follow: how many samples there are, and how many of them are contiguous. One number
/// stands for a recording that is one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// T.
    pub samples: usize,
    /// Samples of a typical piece ([`Pieces::typical`]).
    pub piece: usize,
}

impl From<usize> for Lengths {
    fn from(samples: usize) -> Lengths {
        let piece = samples;
        Lengths { samples, piece }
    }
}

impl From<&Pieces> for Lengths {
    fn from(pieces: &Pieces) -> Lengths {
        Lengths {
            samples: pieces.n_samples(),
            piece: pieces.typical(),
        }
    }
}

/// What the energy looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// Stretches of the recording that have moments of their own.
    pub segments: usize,
    /// W: how many equally spaced samples are judged together.
    pub window: usize,
    /// d: how far apart they are.
    pub dilations: Vec<usize>,
    /// κ: noise that is added to every sample, in units of the source's variance.
    pub ridge: f64,
    /// Bands of frequencies, whose powers are judged in place of the lagged moments. Those remain
    /// what the source is described by.
    pub bands: Option<Bands>,
}

/// Samples judged together by the spectrum, where the recording is long enough: …
const WINDOW: usize = 32;
/// … this many times as long.
const LENGTH_PER_WINDOW: usize = 4;
/// Samples judged together where all sources are autoregressions of a low order.
const SHORT_WINDOW: usize = 6;
/// κ of the spectrum. Smaller ones let the channel noise decide.
const SPECTRUM_RIDGE: f64 = 0.03;
/// κ of a smooth spectrum is at least this, …
const SMOOTH_RIDGE: f64 = 0.01;
/// … and at most this.
const LARGEST_RIDGE: f64 = 0.2;
/// A window of lags covers this share of a typical piece at most: moments at longer lags lack more
/// than half of their pairs.
const PIECE_PER_WINDOW: usize = 2;
/// Dilations of the spectrum that need no more than twice their span of samples …
const DILATIONS: [usize; 2] = [1, 4];
/// … and those that need 16 times as much: slow sources of long recordings.
const WIDE_DILATIONS: [usize; 2] = [16, 64];
/// Samples of a block whose variance is judged.
pub(super) const BLOCK: usize = 48;
/// At most this many blocks.
const MOST_BLOCKS: usize = 1024;
/// Blocks at most where a source may take this form beside others: all of them are then computed in
/// every iteration.
const FEW_BLOCKS: usize = 256;
/// κ of the variances.
const VARIANCE_RIDGE: f64 = 0.01;
/// Samples of a stretch whose spectrum is judged by itself.
const STRETCH: usize = 200;
/// At most this many stretches.
const MOST_STRETCHES: usize = 128;
/// Samples judged together in a stretch.
const STRETCH_WINDOW: usize = 4;

impl Form {
    /// The spectrum: one segment, W = 32, dilations 1 and 4, from 8000 samples on 16 and from
    /// 32,000 on 64; shorter windows where a recording has less than four times their span, or a
    /// piece of it less than twice. Dilations follow the length of a piece.
    pub fn spectrum(lengths: impl Into<Lengths>) -> Form {
        let Lengths { samples, piece } = lengths.into();
        let of_pieces = piece / PIECE_PER_WINDOW;
        let window = (samples / LENGTH_PER_WINDOW)
            .min(of_pieces)
            .clamp(2, WINDOW);
        let fits = |d: &usize| *d == 1 || 2 * (window - 1) * d <= piece;
        let wide = |d: &usize| 16 * (window - 1) * d <= piece;
        let dilations = DILATIONS.into_iter().filter(fits);
        Form {
            segments: 1,
            window,
            dilations: dilations
                .chain(WIDE_DILATIONS.into_iter().filter(wide))
                .collect(),
            ridge: SPECTRUM_RIDGE,
            bands: None,
        }
    }

    /// A smooth spectrum, by powers in bands, of sources in which there is this much noise: as a
    /// share of their variance. More than the noise is added, so that it tells nothing.
    pub fn smooth(lengths: impl Into<Lengths>, noise: f64) -> Form {
        let lengths = lengths.into();
        Form {
            dilations: vec![1],
            ridge: noise.clamp(SMOOTH_RIDGE, LARGEST_RIDGE),
            bands: Some(Bands::new(lengths)),
            ..Form::spectrum(lengths)
        }
    }

    /// The spectrum of sources that are autoregressions of a low order: a short window, which has
    /// less to estimate.
    pub fn short_spectrum(lengths: impl Into<Lengths>) -> Form {
        let spectrum = Form::spectrum(lengths);
        Form {
            window: SHORT_WINDOW.min(spectrum.window),
            ..spectrum
        }
    }

    /// Variances of blocks of 48 samples, at most 1024 of them.
    pub fn variance(lengths: impl Into<Lengths>) -> Form {
        Form {
            segments: (lengths.into().samples / BLOCK).clamp(2, MOST_BLOCKS),
            window: 1,
            dilations: vec![1],
            ridge: VARIANCE_RIDGE,
            bands: None,
        }
    }

    /// A spectrum that changes: W = 4 in stretches of 200 samples, at most 128 of them.
    pub fn changing(lengths: impl Into<Lengths>) -> Form {
        let lengths = lengths.into();
        Form {
            segments: (lengths.samples / STRETCH).clamp(2, MOST_STRETCHES),
            window: STRETCH_WINDOW.min(Form::spectrum(lengths).window),
            dilations: vec![1],
            ridge: SPECTRUM_RIDGE,
            bands: None,
        }
    }

    /// The spectrum, variances and a spectrum that changes, for recordings whose sources are not of
    /// one kind.
    pub fn any(lengths: impl Into<Lengths>) -> Vec<Form> {
        let lengths = lengths.into();
        let mut variance = Form::variance(lengths);
        variance.segments = variance.segments.min(FEW_BLOCKS);
        vec![Form::spectrum(lengths), variance, Form::changing(lengths)]
    }

    /// Forms of these kinds for another number of samples.
    pub fn for_samples(forms: &[Form], lengths: impl Into<Lengths>) -> Vec<Form> {
        let lengths = lengths.into();
        let of_kind = |form: &Form| match (form.segments, form.window) {
            _ if form.bands.is_some() => Form::smooth(lengths, form.ridge),
            (_, 1) => Form::variance(lengths),
            (1, window) if window <= SHORT_WINDOW => Form::short_spectrum(lengths),
            (1, _) => Form::spectrum(lengths),
            _ => Form::changing(lengths),
        };
        match forms {
            [one] => vec![of_kind(one)],
            _ => Form::any(lengths),
        }
    }

    /// The same by lagged moments alone, for samples that change with every step.
    pub fn by_lags(self, lengths: impl Into<Lengths>) -> Form {
        match self.bands {
            Some(_) => Form::spectrum(lengths),
            None => self,
        }
    }

    /// Whether this judges variances of blocks.
    pub fn is_of_variances(&self) -> bool {
        self.window == 1
    }

    /// Number of moments of a source.
    pub fn n_moments(&self) -> usize {
        let bands = self.bands.as_ref().map_or(0, Bands::len);
        self.segments * self.lags().len() + bands
    }

    /// Lags of the moments, ascending from 0.
    pub fn lags(&self) -> Vec<usize> {
        let mut lags: Vec<usize> = self
            .dilations
            .iter()
            .flat_map(|&d| (0..self.window).map(move |j| j * d))
            .collect();
        lags.sort_unstable();
        lags.dedup();
        lags
    }

    /// First sample of segment s of `n_samples`; of segment S it is the end of the last.
    pub fn first_sample(&self, segment: usize, n_samples: usize) -> usize {
        // In 128 bits: the product of a long recording and many segments must not overflow.
        (segment as u128 * n_samples as u128 / self.segments as u128) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_follow_the_length() {
        assert_eq!(Form::spectrum(1000).dilations, [1, 4]);
        assert_eq!(
            (Form::spectrum(300).window, Form::spectrum(60).window),
            (32, 15)
        );
        assert_eq!(Form::spectrum(60).dilations, [1]);
        assert_eq!(Form::spectrum(1000).lags().len(), 56);
        assert_eq!(Form::spectrum(10_000).dilations, [1, 4, 16]);
        assert_eq!(Form::variance(1000).segments, 20);
        assert_eq!(Form::variance(10).segments, 2);
        let form = Form::variance(1000);
        assert_eq!(
            (form.first_sample(0, 1000), form.first_sample(20, 1000)),
            (0, 1000)
        );
        let changing = Form::changing(1000);
        assert_eq!((changing.segments, changing.window), (5, 4));
    }

    #[test]
    fn windows_and_dilations_follow_the_pieces() {
        let spectrum = |length: usize, n: usize| {
            let pieces = Pieces::new(&vec![length; n], length * n).unwrap();
            Form::spectrum(&pieces)
        };
        assert_eq!(spectrum(8, 500).lags(), [0, 1, 2, 3]);
        assert_eq!(spectrum(100, 40).window, 32);
        assert_eq!(spectrum(100, 40).dilations, [1]);
        assert_eq!(spectrum(2000, 20).dilations, [1, 4]);
        assert_eq!(spectrum(1, 900).window, 2);
        assert_eq!(spectrum(4000, 1), Form::spectrum(4000));
        // Few samples in all have short windows, however they lie.
        assert_eq!(spectrum(20, 2).window, 10);
    }

    #[test]
    fn forms_for_another_length_are_of_the_same_kind() {
        for (form, other) in [
            (Form::spectrum(1000), Form::spectrum(300)),
            (Form::short_spectrum(1000), Form::short_spectrum(300)),
            (Form::smooth(1000, 0.2), Form::smooth(300, 0.2)),
            (Form::variance(1000), Form::variance(300)),
            (Form::changing(1000), Form::changing(300)),
        ] {
            assert_eq!(Form::for_samples(&[form], 300), [other]);
        }
        assert_eq!(Form::for_samples(&Form::any(1000), 300), Form::any(300));
    }
}
