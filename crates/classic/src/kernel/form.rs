//! What a kernel energy looks at: how many stretches of the recording it judges by themselves, and
//! how many samples together.
//!
//! One segment and a long window judge the spectrum ([`Form::spectrum`]); many segments and W = 1
//! judge how the variance changes ([`Form::variance`]); segments with a short window judge a spectrum
//! that changes ([`Form::changing`]). Plain data: the energy itself is in [`super::energy`].

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
}

/// Samples judged together by the spectrum, where the recording is long enough: …
const WINDOW: usize = 32;
/// … this many times as long.
const LENGTH_PER_WINDOW: usize = 4;
/// Samples judged together where all sources are autoregressions of a low order.
const SHORT_WINDOW: usize = 6;
/// κ of the spectrum. Smaller ones let the channel noise decide.
const SPECTRUM_RIDGE: f64 = 0.03;
/// Dilations of the spectrum that need no more than twice their span of samples …
const DILATIONS: [usize; 2] = [1, 4];
/// … and those that need 16 times as much: slow sources of long recordings.
const WIDE_DILATIONS: [usize; 2] = [16, 64];
/// Samples of a block whose variance is judged.
const BLOCK: usize = 48;
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
    /// 32,000 on 64; shorter windows where a recording has less than four times their span.
    pub fn spectrum(n_samples: usize) -> Form {
        let window = (n_samples / LENGTH_PER_WINDOW).clamp(2, WINDOW);
        let fits = |d: &usize| *d == 1 || 2 * (window - 1) * d <= n_samples;
        let wide = |d: &usize| 16 * (window - 1) * d <= n_samples;
        let dilations = DILATIONS.into_iter().filter(fits);
        Form {
            segments: 1,
            window,
            dilations: dilations
                .chain(WIDE_DILATIONS.into_iter().filter(wide))
                .collect(),
            ridge: SPECTRUM_RIDGE,
        }
    }

    /// The spectrum of sources that are autoregressions of a low order: a short window, which has
    /// less to estimate.
    pub fn short_spectrum(n_samples: usize) -> Form {
        let window = SHORT_WINDOW.min(Form::spectrum(n_samples).window);
        Form {
            window,
            ..Form::spectrum(n_samples)
        }
    }

    /// Variances of blocks of 48 samples, at most 1024 of them.
    pub fn variance(n_samples: usize) -> Form {
        Form {
            segments: (n_samples / BLOCK).clamp(2, MOST_BLOCKS),
            window: 1,
            dilations: vec![1],
            ridge: VARIANCE_RIDGE,
        }
    }

    /// A spectrum that changes: W = 4 in stretches of 200 samples, at most 128 of them.
    pub fn changing(n_samples: usize) -> Form {
        Form {
            segments: (n_samples / STRETCH).clamp(2, MOST_STRETCHES),
            window: STRETCH_WINDOW.min(Form::spectrum(n_samples).window),
            dilations: vec![1],
            ridge: SPECTRUM_RIDGE,
        }
    }

    /// All three, for recordings whose sources are not of one kind.
    pub fn any(n_samples: usize) -> Vec<Form> {
        let mut variance = Form::variance(n_samples);
        variance.segments = variance.segments.min(FEW_BLOCKS);
        vec![
            Form::spectrum(n_samples),
            variance,
            Form::changing(n_samples),
        ]
    }

    /// Forms of these kinds for another number of samples.
    pub fn for_samples(forms: &[Form], n_samples: usize) -> Vec<Form> {
        let of_kind = |form: &Form| match (form.segments, form.window) {
            (_, 1) => Form::variance(n_samples),
            (1, window) if window <= SHORT_WINDOW => Form::short_spectrum(n_samples),
            (1, _) => Form::spectrum(n_samples),
            _ => Form::changing(n_samples),
        };
        match forms {
            [one] => vec![of_kind(one)],
            _ => Form::any(n_samples),
        }
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
    fn forms_for_another_length_are_of_the_same_kind() {
        for (form, other) in [
            (Form::spectrum(1000), Form::spectrum(300)),
            (Form::short_spectrum(1000), Form::short_spectrum(300)),
            (Form::variance(1000), Form::variance(300)),
            (Form::changing(1000), Form::changing(300)),
        ] {
            assert_eq!(Form::for_samples(&[form], 300), [other]);
        }
        assert_eq!(Form::for_samples(&Form::any(1000), 300), Form::any(300));
    }
}
