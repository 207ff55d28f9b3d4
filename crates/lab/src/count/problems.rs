//! The problems on which sources are counted: families of generated sources, and recordings.

use crate::recovery::families::Size;
use crate::recovery::recordings;
use faer::Mat;
use rand_distr::{Distribution, Exp1, StandardNormal, StandardUniform};
use std::path::Path;
use std::sync::Arc;
use strt_cli::failure::Outcome;
use strt_signal::random::{Stream, rng};
use strt_synth::{ProblemSpec, SourceKind};

/// What the sources of a problem are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// Drawn by the generator of problems.
    Kind(SourceKind),
    /// Independent samples of a Laplace distribution.
    Laplace,
    /// Independent samples of a uniform distribution.
    Uniform,
    /// A different kind of source in turn.
    Together,
}

/// What `Together` has in turn.
const TURN: [Family; 6] = [
    Family::Kind(SourceKind::Gp),
    Family::Laplace,
    Family::Kind(SourceKind::Ar),
    Family::Kind(SourceKind::Nonstationary),
    Family::Uniform,
    Family::Kind(SourceKind::NonSmooth),
];

impl Family {
    /// All of them.
    pub const ALL: [Family; 9] = [
        Family::Kind(SourceKind::Gp),
        Family::Kind(SourceKind::Ar),
        Family::Kind(SourceKind::NonSmooth),
        Family::Kind(SourceKind::Nonstationary),
        Family::Kind(SourceKind::SegmentGaussian),
        Family::Kind(SourceKind::Lorenz),
        Family::Laplace,
        Family::Uniform,
        Family::Together,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Family::Kind(kind) => kind.name(),
            Family::Laplace => "laplace",
            Family::Uniform => "uniform",
            Family::Together => "together",
        }
    }

    /// T × K.
    fn sources(
        self,
        n_samples: usize,
        n_sources: usize,
        seed: u64,
    ) -> strt_synth::Result<Mat<f64>> {
        let mut rng = rng(seed, Stream::Sources);
        Ok(match self {
            Family::Kind(kind) => {
                let spec = ProblemSpec {
                    kind,
                    n_samples,
                    n_sources,
                    n_channels: n_sources,
                    seed,
                    ..ProblemSpec::default()
                };
                spec.generate()?.sources
            }
            Family::Laplace => Mat::from_fn(n_samples, n_sources, |_, _| {
                let (up, down): (f64, f64) = (Exp1.sample(&mut rng), Exp1.sample(&mut rng));
                up - down
            }),
            Family::Uniform => Mat::from_fn(n_samples, n_sources, |_, _| {
                let value: f64 = StandardUniform.sample(&mut rng);
                value - 0.5
            }),
            Family::Together => {
                let mut sources = Mat::zeros(n_samples, n_sources);
                for k in 0..n_sources {
                    let family = TURN[(k + seed as usize) % TURN.len()];
                    let one = family.sources(n_samples, n_sources, seed + 1000 * k as u64)?;
                    sources.col_mut(k).copy_from(one.col(k));
                }
                sources
            }
        })
    }
}

/// Where the sources come from.
#[derive(Clone)]
pub(super) enum Origin {
    Generated(Family),
    Recorded(Arc<Mat<f64>>),
}

/// One problem.
#[derive(Clone)]
pub struct Problem {
    pub family: &'static str,
    pub samples: usize,
    pub sources: usize,
    pub channels: usize,
    pub noise: f64,
    pub seed: u64,
    pub(super) origin: Origin,
}

impl Problem {
    /// With generated sources.
    pub fn generated(family: Family, samples: usize, sources: usize) -> Problem {
        Problem {
            family: family.name(),
            samples,
            sources,
            channels: sources,
            noise: 0.0,
            seed: 0,
            origin: Origin::Generated(family),
        }
    }

    /// With the sources of each of the families of recordings.
    pub fn recorded(data: &Path) -> Outcome<Vec<Problem>> {
        let mut known: Vec<Problem> = Vec::new();
        for family in recordings::all(data, Size::Quick, 1)? {
            for sources in family.cases.into_iter().filter_map(|case| case.sources) {
                let is_there = |problem: &Problem| match &problem.origin {
                    Origin::Recorded(there) => Arc::ptr_eq(there, &sources),
                    Origin::Generated(_) => false,
                };
                if !known.iter().any(is_there) {
                    known.push(Problem {
                        family: family.name,
                        samples: sources.nrows(),
                        sources: sources.ncols(),
                        channels: sources.ncols(),
                        noise: 0.0,
                        seed: 0,
                        origin: Origin::Recorded(sources),
                    });
                }
            }
        }
        Ok(known)
    }

    /// The channels, T × m; with `uneven` noise of another strength in each.
    pub fn observations(&self, uneven: bool) -> strt_synth::Result<Mat<f64>> {
        let drawn;
        let sources = match &self.origin {
            Origin::Recorded(sources) => sources.as_ref(),
            Origin::Generated(family) => {
                drawn = family.sources(self.samples, self.sources, self.seed)?;
                &drawn
            }
        };
        let spec = ProblemSpec {
            n_samples: self.samples,
            n_sources: self.sources,
            n_channels: self.channels,
            noise: if uneven { 0.0 } else { self.noise },
            seed: self.seed,
            ..ProblemSpec::default()
        };
        let mut observations = spec.generate_from(sources)?.observations;
        if uneven {
            let mut rng = rng(self.seed, Stream::Check);
            for channel in 0..self.channels {
                let strength: f64 = StandardUniform.sample(&mut rng);
                let strength = self.noise * (0.3 + 1.7 * strength);
                for value in observations.col_as_slice_mut(channel) {
                    let noise: f64 = StandardNormal.sample(&mut rng);
                    *value += strength * noise;
                }
            }
        }
        Ok(observations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_can_be_generated() {
        for family in Family::ALL {
            for (channels, uneven) in [(5, false), (7, true)] {
                let problem = Problem {
                    channels,
                    noise: 0.1,
                    seed: 3,
                    ..Problem::generated(family, 500, 5)
                };
                let observations = problem.observations(uneven).unwrap();
                assert_eq!(observations.shape(), (500, channels), "{}", family.name());
            }
        }
    }
}
