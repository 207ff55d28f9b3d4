//! Problems with known answers: seeded sources, mixings and noise.
//!
//! In: a [`ProblemSpec`]. Out: a [`Problem`] with observations, true sources and, for linear
//! mixings, the true mixing matrix. The same specification gives the same numbers: random numbers
//! come from ChaCha8 with `seed`, and every combination of source kind, mixing, purpose and source
//! has a stream of its own. This crate does not know the method that will be tried on its
//! problems.

mod conditioned;
mod covariance;
mod dynamics;
pub mod error;
mod kinds;
mod mixing;
mod segments;
mod sources;

use faer::Mat;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use strt_score::Reference;
use strt_signal::Recording;
use strt_signal::moments::{Moments, standardize_columns};

pub use error::{Error, Result};
pub use kinds::{MixingKind, SourceKind};

/// What to generate. The default is one `gp` problem of the linear suite.
#[derive(Clone, Debug, PartialEq)]
pub struct ProblemSpec {
    /// How the sources behave in time.
    pub kind: SourceKind,
    /// How they are mixed into channels.
    pub mixing: MixingKind,
    /// Number of samples T.
    pub n_samples: usize,
    /// Number of sources K.
    pub n_sources: usize,
    /// Number of channels m, at least K.
    pub n_channels: usize,
    /// Standard deviation of the Gaussian noise added to the standardised channels.
    pub noise: f64,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Observations beyond this (32 GB) are refused before memory runs out.
const MOST_VALUES: usize = 1 << 32;
/// Noise beyond this drowns every source.
const LARGEST_NOISE: f64 = 1e6;

impl Default for ProblemSpec {
    fn default() -> Self {
        Self {
            kind: SourceKind::Gp,
            mixing: MixingKind::Linear,
            n_samples: 1000,
            n_sources: 3,
            n_channels: 6,
            noise: 0.02,
            seed: 0,
        }
    }
}

/// A generated problem.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Y, T × m: channels of mean 0 and standard deviation 1, plus noise.
    pub observations: Mat<f64>,
    /// S, T × K: columns of mean 0 and standard deviation 1.
    pub sources: Mat<f64>,
    /// For a linear mixing the effective m × K matrix A in standardised channel units: Y = S·Aᵀ +
    /// noise.
    pub mixing: Option<Mat<f64>>,
}

impl Problem {
    /// The observations as a recording, for training.
    ///
    /// # Errors
    /// As [`Recording::from_mat`]; generated problems have none of these faults.
    pub fn recording(&self) -> strt_signal::Result<Recording> {
        Recording::from_mat(self.observations.clone())
    }

    /// The true sources, for evaluation only.
    ///
    /// # Errors
    /// As [`Reference::new`]; generated problems have none of these faults.
    pub fn reference(&self) -> strt_score::Result<Reference> {
        Reference::new(self.sources.clone())
    }
}

impl ProblemSpec {
    /// Generates the problem.
    ///
    /// # Errors
    /// When a number is out of range, or the recording is too short for a source to vary.
    pub fn generate(&self) -> Result<Problem> {
        self.check()?;
        self.mix_sources(&sources::generate(self))
    }

    /// The problem whose sources are given, real ones for example, in place of generated ones:
    /// standardised, mixed and disturbed as this specification says. Its `kind` only chooses random
    /// numbers.
    ///
    /// # Errors
    /// [`Error::GivenShape`] when `sources` are not `n_samples` × `n_sources`,
    /// [`Error::GivenValue`] when a value is not finite, and as [`ProblemSpec::generate`].
    pub fn generate_from(&self, sources: &Mat<f64>) -> Result<Problem> {
        self.check()?;
        if sources.shape() != (self.n_samples, self.n_sources) {
            return Err(Error::GivenShape {
                expected: (self.n_samples, self.n_sources),
                found: sources.shape(),
            });
        }
        for (source, column) in sources.col_iter().enumerate() {
            if let Some(t) = column.iter().position(|value| !value.is_finite()) {
                return Err(Error::GivenValue {
                    source_index: source,
                    sample: t,
                    found: column[t],
                });
            }
        }
        self.mix_sources(sources)
    }

    fn mix_sources(&self, raw: &Mat<f64>) -> Result<Problem> {
        for (source, column) in raw.col_iter().enumerate() {
            if Moments::of_column(column).constant {
                return Err(Error::ConstantSource {
                    n_samples: self.n_samples,
                    source_index: source,
                });
            }
        }
        let sources = standardize_columns(raw.as_ref());
        let mixed = mixing::mix(self, &sources)?;
        let channel_moments: Vec<Moments> =
            mixed.channels.col_iter().map(Moments::of_column).collect();
        if channel_moments.iter().any(|moments| moments.constant) {
            return Err(Error::ConstantChannel {
                n_samples: self.n_samples,
            });
        }
        let mut observations = standardize_columns(mixed.channels.as_ref());
        let mut noise_stream = self.stream(Purpose::Noise);
        for channel in 0..self.n_channels {
            for t in 0..self.n_samples {
                let noise: f64 = StandardNormal.sample(&mut noise_stream);
                observations[(t, channel)] += self.noise * noise;
            }
        }
        // Sources have mean 0, so standardising a linear channel only divides its row of A.
        let mixing = mixed.matrix.map(|matrix| {
            Mat::from_fn(self.n_channels, self.n_sources, |channel, source| {
                matrix[(channel, source)] / channel_moments[channel].deviation
            })
        });
        Ok(Problem {
            observations,
            sources,
            mixing,
        })
    }

    fn check(&self) -> Result<()> {
        let ProblemSpec {
            n_samples,
            n_sources,
            n_channels,
            ..
        } = *self;
        if n_samples < 2 {
            return Err(Error::TooFewSamples { found: n_samples });
        }
        if n_sources == 0 {
            return Err(Error::NoSources);
        }
        if n_channels < n_sources {
            return Err(Error::TooFewChannels {
                n_channels,
                n_sources,
            });
        }
        if !(0.0..=LARGEST_NOISE).contains(&self.noise) {
            return Err(Error::Noise {
                found: self.noise,
                largest: LARGEST_NOISE,
            });
        }
        if n_samples.saturating_mul(n_channels) > MOST_VALUES {
            return Err(Error::TooManyValues {
                n_samples,
                n_channels,
                most: MOST_VALUES,
            });
        }
        self.mixing.check()
    }

    /// The random numbers for one purpose. Streams of one seed never overlap, so a longer
    /// recording, other channels or other noise leave the rest of the problem as it was.
    fn stream(&self, purpose: Purpose) -> ChaCha8Rng {
        let purpose = match purpose {
            Purpose::Mixing => 0,
            Purpose::Noise => 1,
            Purpose::Source(source) => 2 + source as u64,
        };
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(
            self.kind.stream_number() << 48 | self.mixing.stream_number() << 32 | purpose,
        );
        rng
    }
}

/// What random numbers are for.
#[derive(Clone, Copy)]
enum Purpose {
    Mixing,
    Noise,
    Source(usize),
}

#[cfg(test)]
mod tests;
