//! The problems on which verdicts are tried: families whose sources can be told apart, and some
//! whose sources cannot.

use faer::Mat;
use rand_distr::{Distribution, StandardNormal};
use strt_signal::random::{Stream, rng};
use strt_synth::{MixingKind, Problem, ProblemSpec, SourceKind};

/// Samples that an autoregression takes to forget where it began.
const BURN_IN: usize = 200;

/// Where the sources of a family come from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    /// Drawn by the generator of problems.
    Kind(SourceKind),
    /// Two resonances of one spectrum, which nothing can tell apart, and a third of another.
    Twins,
    /// One resonance and two sources of white noise.
    Noise,
    /// Smooth Gaussian processes, two of them of one spectrum, which has few independent samples.
    SlowTwins,
    /// Processes of these time scales that are less smooth: autoregressions with a double pole.
    Rough([f64; 3]),
}

/// Problems of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Family {
    pub name: &'static str,
    origin: Origin,
}

/// All families.
pub const FAMILIES: [Family; 17] = [
    Family::of("gp", Origin::Kind(SourceKind::Gp)),
    Family::of("gpclose", Origin::Kind(SourceKind::GpClose)),
    Family::of("ar", Origin::Kind(SourceKind::Ar)),
    Family::of("nonsmooth", Origin::Kind(SourceKind::NonSmooth)),
    Family::of("lorenz", Origin::Kind(SourceKind::Lorenz)),
    Family::of("henon", Origin::Kind(SourceKind::Henon)),
    Family::of("logistic", Origin::Kind(SourceKind::Logistic)),
    Family::of("tar", Origin::Kind(SourceKind::Tar)),
    Family::of("rossler", Origin::Kind(SourceKind::Rossler)),
    Family::of(
        "lorenzsurrogates",
        Origin::Kind(SourceKind::LorenzSurrogates),
    ),
    Family::of("independent", Origin::Kind(SourceKind::Independent)),
    Family::of("laplacear", Origin::Kind(SourceKind::LaplaceAr)),
    Family::of("twins", Origin::Twins),
    Family::of("noise", Origin::Noise),
    Family::of("slowtwins", Origin::SlowTwins),
    Family::of("rough", Origin::Rough([4.0, 12.0, 40.0])),
    Family::of("roughtwins", Origin::Rough([10.0, 10.0, 40.0])),
];

impl Family {
    const fn of(name: &'static str, origin: Origin) -> Family {
        Family { name, origin }
    }

    /// One problem: 3 sources in 6 channels, noise 1 %.
    pub fn generate(
        self,
        n_samples: usize,
        linear: bool,
        seed: u64,
    ) -> strt_synth::Result<Problem> {
        let spec = ProblemSpec {
            kind: match self.origin {
                Origin::Kind(kind) => kind,
                _ => SourceKind::Ar,
            },
            mixing: if linear {
                MixingKind::Linear
            } else {
                MixingKind::Mlp2
            },
            n_samples,
            noise: 0.01,
            seed,
            ..ProblemSpec::default()
        };
        match self.origin {
            Origin::Kind(_) => spec.generate(),
            Origin::Twins => {
                let angles = [0.5, 0.5, 0.15];
                spec.generate_from(&resonances(&angles, n_samples, seed))
            }
            Origin::Noise => {
                let mut sources = resonances(&[0.5, 0.0, 0.0], n_samples, seed);
                let mut rng = rng(seed, Stream::Check);
                for source in 1..3 {
                    let column = sources.col_as_slice_mut(source);
                    column.fill_with(|| StandardNormal.sample(&mut rng));
                }
                spec.generate_from(&sources)
            }
            Origin::SlowTwins => spec.generate_from(&smooth(&[20.0, 20.0, 6.0], n_samples, seed)),
            Origin::Rough(scales) => spec.generate_from(&rough(&scales, n_samples, seed)),
        }
    }
}

/// Gaussian processes of these length-scales: white noise through the kernel exp(−t²/ℓ²).
fn smooth(scales: &[f64], n_samples: usize, seed: u64) -> Mat<f64> {
    let mut rng = rng(seed, Stream::Sources);
    let mut sources = Mat::zeros(n_samples, scales.len());
    for (source, scale) in scales.iter().enumerate() {
        let reach = (5.0 * scale).ceil() as i64;
        let kernel = (-reach..=reach).map(|t| (-(t as f64 / scale).powi(2)).exp());
        let kernel: Vec<f64> = kernel.collect();
        let draw = |_| StandardNormal.sample(&mut rng);
        let noise: Vec<f64> = (0..n_samples + kernel.len() - 1).map(draw).collect();
        let values = noise.windows(kernel.len());
        let values = values.map(|window| window.iter().zip(&kernel).map(|(w, k)| w * k).sum());
        let column = sources.col_as_slice_mut(source);
        column
            .iter_mut()
            .zip(values)
            .for_each(|(slot, v)| *slot = v);
    }
    sources
}

/// Autoregressions with a double pole exp(−1/scale).
fn rough(scales: &[f64], n_samples: usize, seed: u64) -> Mat<f64> {
    let mut rng = rng(seed, Stream::Sources);
    let mut sources = Mat::zeros(n_samples, scales.len());
    for (source, scale) in scales.iter().enumerate() {
        let (pole, mut before) = ((-1.0 / scale).exp(), [0.0, 0.0]);
        let forgotten = (40.0 * scale) as usize;
        for t in 0..forgotten + n_samples {
            let shock: f64 = StandardNormal.sample(&mut rng);
            let value = 2.0 * pole * before[0] - pole * pole * before[1] + shock;
            before = [value, before[0]];
            if t >= forgotten {
                sources[(t - forgotten, source)] = value;
            }
        }
    }
    sources
}

/// Autoregressions of order 2 with a resonance at each of these angles.
fn resonances(angles: &[f64], n_samples: usize, seed: u64) -> Mat<f64> {
    let mut rng = rng(seed, Stream::Sources);
    let mut sources = Mat::zeros(n_samples, angles.len());
    for (source, angle) in angles.iter().enumerate() {
        let (radius, mut before) = (0.95f64, [0.0, 0.0]);
        let column = sources.col_as_slice_mut(source);
        for t in 0..BURN_IN + n_samples {
            let shock: f64 = StandardNormal.sample(&mut rng);
            let value =
                2.0 * radius * angle.cos() * before[0] - radius * radius * before[1] + shock;
            before = [value, before[0]];
            if t >= BURN_IN {
                column[t - BURN_IN] = value;
            }
        }
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_can_be_generated() {
        for family in FAMILIES {
            let problem = family.generate(500, true, 1).unwrap();
            assert_eq!(problem.sources.shape(), (500, 3), "{}", family.name);
        }
    }
}
