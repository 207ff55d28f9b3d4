//! The samples of a recording and its sources in the page.
//!
//! In: columns of numbers. Out: for each a text that the page's scripts unpack when its row is
//! first looked at. Samples are inside the page, not beside it: a page that is mailed or moved
//! keeps them, and a browser lets a page from disk read no other file by itself. What a page of a
//! few dozen megabytes can hold decides the form:
//!
//! - up to [`MOST_VALUES`] numbers every sample is there, as one of 65,535 levels of its column
//!   (`quantize.rs`), compressed (`pack.rs`);
//! - beyond, lowest, highest and mean value of buckets of a power of two of samples. Means are
//!   linear, so that the page can still subtract sources from channels. Single samples of the
//!   sources are then read from `sources.npy`, when the reader opens that file in the page.
//!
//! It decides nothing about what is drawn.

mod pack;
mod quantize;

pub use pack::base64;
pub use quantize::Levels;

use faer::ColRef;

/// Numbers in one page: 32 MiB as levels, about 15 to 35 MB of page.
pub const MOST_VALUES: usize = 1 << 24;
/// Planes of a bucketed column: lowest, highest, mean.
const PLANES: usize = 3;

/// How the columns of a recording are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Samples of a column.
    pub n_samples: usize,
    /// Samples that share a point; 1 where every sample is there.
    pub bucket: usize,
}

/// One column, packed.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// How levels become numbers.
    pub levels: Levels,
    /// Mean over the samples that are not missing; 0 without any.
    pub mean: f64,
    /// The levels as text.
    pub text: String,
}

impl Layout {
    /// The finest layout in which `n_columns` columns of `n_samples` are at most `most` numbers.
    pub fn fitting(n_samples: usize, n_columns: usize, most: usize) -> Layout {
        let mut bucket = 1;
        if n_samples.saturating_mul(n_columns) > most {
            bucket = 2;
            while n_samples
                .div_ceil(bucket)
                .saturating_mul(PLANES * n_columns)
                > most
                && bucket < n_samples
            {
                bucket *= 2;
            }
        }
        Layout { n_samples, bucket }
    }

    /// Packs one column.
    pub fn pack(&self, column: ColRef<'_, f64>) -> Column {
        let values: Vec<f64> = column.iter().copied().collect();
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let levels = Levels::covering(finite());
        let n = finite().count().max(1) as f64;
        // Means of the columns of a recording in volts or in counts: shifted, so that nothing is
        // lost to a large offset.
        let mean = levels.offset + finite().map(|value| value - levels.offset).sum::<f64>() / n;
        let planes = match self.bucket {
            1 => vec![levels.all(values.iter().copied())],
            bucket => {
                let summaries: Vec<[f64; PLANES]> = values.chunks(bucket).map(summary).collect();
                (0..PLANES)
                    .map(|plane| levels.all(summaries.iter().map(|bucket| bucket[plane])))
                    .collect()
            }
        };
        Column {
            levels,
            mean,
            text: pack::packed(&planes),
        }
    }
}

/// Lowest, highest and mean of the finite values of a bucket; NaN without any.
fn summary(bucket: &[f64]) -> [f64; PLANES] {
    let finite = || bucket.iter().copied().filter(|value| value.is_finite());
    let n = finite().count();
    if n == 0 {
        return [f64::NAN; PLANES];
    }
    [
        finite().fold(f64::INFINITY, f64::min),
        finite().fold(f64::NEG_INFINITY, f64::max),
        finite().map(|value| value / n as f64).sum(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Col;

    #[test]
    fn what_fits_is_whole_and_the_rest_in_buckets() {
        let layout = |t, n| Layout::fitting(t, n, MOST_VALUES).bucket;
        assert_eq!(layout(30_000, 64), 1);
        assert_eq!(layout(262_144, 64), 1);
        assert_eq!(layout(262_145, 64), 4);
        // An hour at 500 Hz, 64 sources and 64 channels.
        assert_eq!(layout(1_800_000, 128), 64);
        assert!(1_800_000_usize.div_ceil(64) * 3 * 128 <= MOST_VALUES);
        assert_eq!(Layout::fitting(10, 1, 1).bucket, 16);
    }

    #[test]
    fn buckets_keep_extremes_and_means() {
        assert_eq!(summary(&[1.0, f64::NAN, 4.0]), [1.0, 4.0, 2.5]);
        assert!(summary(&[f64::NAN, f64::INFINITY])[2].is_nan());
    }

    #[test]
    fn the_mean_is_over_what_is_there() {
        let column = Col::from_fn(1000, |t| if t < 500 { 1e9 + t as f64 } else { f64::NAN });
        let packed = Layout::fitting(1000, 1, MOST_VALUES).pack(column.as_ref());
        assert!((packed.mean - (1e9 + 249.5)).abs() < 1e-6);
    }
}
