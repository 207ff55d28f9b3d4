//! Which stretch of a source is shown at full resolution: the one most like the whole.
//!
//! In: a source, NaN where samples are missing, and a length. Out: the first sample of a stretch of
//! this length. The rule: of stretches that begin half a length apart and miss no sample, the one
//! whose variance and whose variance of differences are closest, in logarithms, to their means over
//! all of these stretches but the most extreme fiftieth. The first tells how strong a source is
//! there, the second how rough. Means and logarithms make rare bursts count: where a source is
//! silent but for bursts, silence is further from the mean than a burst is. What is left out are
//! artefacts, of which one can be stronger than all the rest. Where every stretch misses samples,
//! those that miss fewest are judged.

/// Stretches start this part of their length apart.
const OVERLAP: usize = 2;
/// One of so many stretches counts as extreme.
const EXTREME: usize = 50;
/// Fewer stretches than this are all counted.
const FEWEST_TO_TRIM: usize = 8;
/// Seconds of a stretch, where the rate is known.
const SECONDS: f64 = 5.0;
/// Fewest and most samples of a stretch: enough to see a rhythm, few enough to see every sample.
const SAMPLES: (usize, usize) = (300, 1500);
/// Samples of a stretch where the rate is unknown.
const UNKNOWN_RATE: usize = 500;

/// How many samples a stretch of this recording has.
pub fn length(n_samples: usize, rate: Option<f64>) -> usize {
    let wanted = match rate {
        Some(rate) => ((SECONDS * rate).round() as usize).clamp(SAMPLES.0, SAMPLES.1),
        None => UNKNOWN_RATE,
    };
    wanted.min(n_samples)
}

/// The first sample of the most typical stretch of `length` samples.
pub fn typical(source: &[f64], length: usize) -> usize {
    if length == 0 || length >= source.len() {
        return 0;
    }
    let last = source.len() - length;
    let starts = (0..=last).step_by((length / OVERLAP).max(1));
    let mut judged: Vec<(usize, Texture)> = starts
        .map(|start| (start, Texture::of(&source[start..start + length])))
        .collect();
    let fewest = judged.iter().map(|(_, texture)| texture.n_missing).min();
    judged.retain(|(_, texture)| Some(texture.n_missing) == fewest);
    let mean = |figure: fn(&Texture) -> f64| {
        trimmed_mean(judged.iter().map(|(_, texture)| figure(texture)).collect())
    };
    let usual = Texture {
        variance: mean(|texture| texture.variance),
        roughness: mean(|texture| texture.roughness),
        n_missing: 0,
    };
    judged
        .iter()
        .min_by(|a, b| a.1.distance(&usual).total_cmp(&b.1.distance(&usual)))
        .map_or(0, |&(start, _)| start)
}

/// The mean without the largest fiftieth, and without both stretches that one artefact can be in.
fn trimmed_mean(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    if values.len() >= FEWEST_TO_TRIM {
        values.truncate(values.len() - OVERLAP.max(values.len() / EXTREME));
    }
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// How strong and how rough a series is.
struct Texture {
    variance: f64,
    roughness: f64,
    n_missing: usize,
}

impl Texture {
    fn of(series: &[f64]) -> Texture {
        let finite = || series.iter().copied().filter(|value| value.is_finite());
        let differences = || {
            let pairs = series.windows(2).map(|pair| pair[1] - pair[0]);
            pairs.filter(|difference| difference.is_finite())
        };
        let n = finite().count();
        let mean = finite().sum::<f64>() / n.max(1) as f64;
        let n_differences = differences().count().max(1);
        Texture {
            variance: finite().map(|value| (value - mean).powi(2)).sum::<f64>() / n.max(1) as f64,
            roughness: differences().map(|value| value * value).sum::<f64>() / n_differences as f64,
            n_missing: series.len() - n,
        }
    }

    /// How far apart two textures are; a constant series is as far as can be from all others.
    fn distance(&self, other: &Texture) -> f64 {
        let apart = |a: f64, b: f64| {
            let ratio = a.max(f64::MIN_POSITIVE).ln() - b.max(f64::MIN_POSITIVE).ln();
            ratio * ratio
        };
        apart(self.variance, other.variance) + apart(self.roughness, other.roughness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_shown_rather_than_silence() {
        // Nine tenths are faint; every tenth stretch has a burst.
        let source: Vec<f64> = (0..10_000)
            .map(|t| {
                let strength = if (4000..4500).contains(&t) { 3.0 } else { 0.05 };
                strength * (t as f64 * 0.3).sin()
            })
            .collect();
        let start = typical(&source, 400);
        assert!((3800..4500).contains(&start), "{start}");
    }

    #[test]
    fn an_outlier_is_not_typical() {
        let mut source: Vec<f64> = (0..10_000).map(|t| (t as f64 * 0.1).sin()).collect();
        source[60] = 30.0;
        let start = typical(&source, 500);
        assert!(start > 60, "{start}");
    }

    #[test]
    fn stretches_with_gaps_are_avoided_and_short_recordings_shown_whole() {
        let mut source: Vec<f64> = (0..3000).map(|t| (t as f64 * 0.1).sin()).collect();
        source[..2400]
            .iter_mut()
            .step_by(90)
            .for_each(|value| *value = f64::NAN);
        assert!(typical(&source, 400) >= 2341);
        assert_eq!(typical(&source[..300], 500), 0);
        assert_eq!(typical(&[f64::NAN; 900], 300), 0);
        assert_eq!(length(100_000, Some(250.0)), 1250);
        assert_eq!(length(100_000, Some(16_000.0)), 1500);
        assert_eq!(length(100_000, Some(1.0)), 300);
        assert_eq!((length(100_000, None), length(200, None)), (500, 200));
    }
}
