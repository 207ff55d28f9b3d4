//! Names of source kinds and mixings, as typed on a command line and printed in tables.
//!
//! In: text. Out: [`SourceKind`] and [`MixingKind`], and back. What the names mean is in
//! `sources.rs`, `segments.rs`, `dynamics` and `mixing.rs`.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// Condition numbers beyond this are refused: the channels would be copies of each other.
const LARGEST_CONDITION: usize = 10_000;
/// Layers of a multilayer mixing beyond this are refused: the mixture would be noise.
const MOST_LAYERS: usize = 64;

/// How the sources behave in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceKind {
    /// Squared-exponential Gaussian processes with well separated length-scales (6, 20, 70
    /// samples).
    Gp,
    /// Squared-exponential Gaussian processes with close length-scales (10, 16, 26 samples).
    GpClose,
    /// Sums and products of sines.
    Sines,
    /// Gaussian AR(1) processes (poles 0.5, 0.85, 0.98).
    Ar,
    /// Sawtooth, square wave and AR(1) with Laplace innovations.
    NonSmooth,
    /// AR(2) resonances that switch between two regimes, as in structured nonlinear ICA (SNICA).
    SwitchingAr,
    /// Laplace noise whose scale changes from segment to segment, as in time-contrastive learning
    /// (TCL).
    SegmentLaplace,
    /// Gaussian noise whose variance changes from segment to segment, as in identifiable VAEs
    /// (iVAE).
    SegmentGaussian,
    /// White Gaussian noise whose variance changes smoothly: nothing but the variance tells the
    /// sources apart.
    Nonstationary,
    /// In turn: an AR(2) resonance, white Gaussian noise whose variance changes smoothly, and a
    /// resonance whose strength does. No one statistic tells all of them apart.
    Varied,
    /// Independent samples, in turn of Laplace's density, uniform and exponential: nothing in time
    /// tells the sources apart, and their distributions do.
    Independent,
    /// AR(1) processes of one pole (0.9) with Laplace innovations, as in permutation-contrastive
    /// learning (PCL): sources of one spectrum.
    LaplaceAr,
    /// Independent runs of the Lorenz system (x, step 0.05), as all kinds below made Gaussian by
    /// ranks: sources of one law, which share spectrum and marginal.
    Lorenz,
    /// Its variable z.
    LorenzZ,
    /// Runs of the Rössler system (x, step 0.3), in the regime where phases diffuse.
    Rossler,
    /// Runs of the Mackey–Glass equation (delay 30, step 3).
    MackeyGlass,
    /// Runs of the Hénon map.
    Henon,
    /// Runs of the logistic map, whose samples are uncorrelated.
    Logistic,
    /// Runs of a van der Pol oscillator driven by noise.
    VanDerPol,
    /// Runs of a threshold autoregression.
    Tar,
    /// Runs of a GARCH(1,1) process.
    Garch,
    /// Runs of two coupled van der Pol oscillators driven by noise, heard together.
    Coupled,
    /// In turn: z of the Lorenz system, z of another run backwards in time, a surrogate of a third
    /// run (same spectrum and marginal, random phases).
    LorenzBackwards,
    /// x of the Lorenz system, and surrogates of it; only the first source can be identified.
    LorenzSurrogates,
}

impl SourceKind {
    /// Every kind.
    pub const ALL: [Self; 24] = [
        Self::Gp,
        Self::GpClose,
        Self::Sines,
        Self::Ar,
        Self::NonSmooth,
        Self::SwitchingAr,
        Self::SegmentLaplace,
        Self::SegmentGaussian,
        Self::Nonstationary,
        Self::Varied,
        Self::Independent,
        Self::LaplaceAr,
        Self::Lorenz,
        Self::LorenzZ,
        Self::Rossler,
        Self::MackeyGlass,
        Self::Henon,
        Self::Logistic,
        Self::VanDerPol,
        Self::Tar,
        Self::Garch,
        Self::Coupled,
        Self::LorenzBackwards,
        Self::LorenzSurrogates,
    ];

    /// Its name, as typed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gp => "gp",
            Self::GpClose => "gpclose",
            Self::Sines => "sines",
            Self::Ar => "ar",
            Self::NonSmooth => "nonsmooth",
            Self::SwitchingAr => "switchingar",
            Self::SegmentLaplace => "segmentlaplace",
            Self::SegmentGaussian => "segmentgaussian",
            Self::Nonstationary => "nonstationary",
            Self::Varied => "varied",
            Self::Independent => "independent",
            Self::LaplaceAr => "laplacear",
            Self::Lorenz => "lorenz",
            Self::LorenzZ => "lorenzz",
            Self::Rossler => "rossler",
            Self::MackeyGlass => "mackeyglass",
            Self::Henon => "henon",
            Self::Logistic => "logistic",
            Self::VanDerPol => "vanderpol",
            Self::Tar => "tar",
            Self::Garch => "garch",
            Self::Coupled => "coupled",
            Self::LorenzBackwards => "lorenzbackwards",
            Self::LorenzSurrogates => "lorenzsurrogates",
        }
    }

    /// Part of the random stream number: never change one, or problems change.
    pub(super) fn stream_number(self) -> u64 {
        match self {
            Self::Gp => 1,
            Self::GpClose => 2,
            Self::Sines => 3,
            Self::Ar => 4,
            Self::NonSmooth => 5,
            Self::SwitchingAr => 6,
            Self::SegmentLaplace => 7,
            Self::SegmentGaussian => 8,
            Self::Nonstationary => 9,
            Self::Lorenz => 10,
            Self::LorenzZ => 11,
            Self::Rossler => 12,
            Self::MackeyGlass => 13,
            Self::Henon => 14,
            Self::Logistic => 15,
            Self::VanDerPol => 16,
            Self::Tar => 17,
            Self::Garch => 18,
            Self::Coupled => 19,
            Self::LorenzBackwards => 20,
            Self::LorenzSurrogates => 21,
            Self::Varied => 22,
            Self::Independent => 23,
            Self::LaplaceAr => 24,
        }
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for SourceKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| Error::UnknownKind { name: text.into() })
    }
}

/// How sources become channels. Every matrix is drawn as for `linear`, but that of `Conditioned`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MixingKind {
    /// A well-conditioned Gaussian matrix with rows of norm 1.
    Linear,
    /// A random matrix of a given condition number with rows of norm 1, singular values in
    /// geometric progression.
    Conditioned {
        /// Largest over smallest singular value, from 1 to 10000.
        condition: usize,
    },
    /// Post-nonlinear: tanh(z) + 0.3·z of a linear mixture.
    Pnl,
    /// Post-nonlinear: arcsinh(2·z) of a linear mixture.
    Asinh,
    /// K × K, leaky ReLU with slope 0.4, m × K.
    Mlp2,
    /// Two K × K layers, each followed by tanh(z) + 0.2·z, then m × K.
    Mlp3,
    /// `layers` matrices with leaky ReLUs of slope 0.2 between them (TCL).
    LeakyMlp {
        /// Number of matrices, at least 1; 1 is linear.
        layers: usize,
    },
    /// `layers` matrices with tanh(z) + 0.1·z between them (iVAE).
    TanhMlp {
        /// Number of matrices, at least 1; 1 is linear.
        layers: usize,
    },
}

impl MixingKind {
    /// Whether channels are a linear function of the sources.
    pub fn is_linear(self) -> bool {
        matches!(
            self,
            Self::Linear
                | Self::Conditioned { .. }
                | Self::LeakyMlp { layers: 1 }
                | Self::TanhMlp { layers: 1 }
        )
    }

    /// Part of the random stream number: never change one, or problems change.
    pub(super) fn stream_number(self) -> u64 {
        match self {
            Self::Linear => 1,
            Self::Pnl => 2,
            Self::Mlp2 => 3,
            Self::Mlp3 => 4,
            Self::Asinh => 5,
            Self::LeakyMlp { layers } => 0x100 + layers as u64,
            Self::TanhMlp { layers } => 0x200 + layers as u64,
            Self::Conditioned { condition } => 0x4000 + condition as u64,
        }
    }

    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::LeakyMlp { layers } | Self::TanhMlp { layers }
                if !(1..=MOST_LAYERS).contains(&layers) =>
            {
                Err(Error::Layers {
                    mixing: self,
                    most: MOST_LAYERS,
                })
            }
            Self::Conditioned { condition } if !(1..=LARGEST_CONDITION).contains(&condition) => {
                Err(Error::Condition {
                    mixing: self,
                    largest: LARGEST_CONDITION,
                })
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for MixingKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear => formatter.pad("linear"),
            Self::Conditioned { condition } => formatter.pad(&format!("conditioned{condition}")),
            Self::Pnl => formatter.pad("pnl"),
            Self::Asinh => formatter.pad("asinh"),
            Self::Mlp2 => formatter.pad("mlp2"),
            Self::Mlp3 => formatter.pad("mlp3"),
            Self::LeakyMlp { layers } => formatter.pad(&format!("leakymlp{layers}")),
            Self::TanhMlp { layers } => formatter.pad(&format!("tanhmlp{layers}")),
        }
    }
}

impl FromStr for MixingKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number_after = |prefix: &str| {
            text.strip_prefix(prefix)
                .and_then(|number| number.parse().ok())
        };
        let kind = match text {
            "linear" => Self::Linear,
            "pnl" => Self::Pnl,
            "asinh" => Self::Asinh,
            "mlp2" => Self::Mlp2,
            "mlp3" => Self::Mlp3,
            _ => {
                if let Some(layers) = number_after("leakymlp") {
                    Self::LeakyMlp { layers }
                } else if let Some(layers) = number_after("tanhmlp") {
                    Self::TanhMlp { layers }
                } else if let Some(condition) = number_after("conditioned") {
                    Self::Conditioned { condition }
                } else {
                    return Err(Error::UnknownMixing { name: text.into() });
                }
            }
        };
        kind.check()?;
        Ok(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_wrong_ones_list_the_right_ones() {
        for kind in SourceKind::ALL {
            assert_eq!(kind.to_string().parse::<SourceKind>().unwrap(), kind);
        }
        for text in [
            "linear",
            "pnl",
            "asinh",
            "mlp2",
            "mlp3",
            "leakymlp5",
            "tanhmlp3",
            "conditioned100",
        ] {
            assert_eq!(text.parse::<MixingKind>().unwrap().to_string(), text);
        }
        assert!(
            "GP".parse::<SourceKind>()
                .unwrap_err()
                .to_string()
                .contains("gp, gpclose")
        );
        for text in [
            "mlp4",
            "leakymlp",
            "leakymlp0",
            "tanhmlp65",
            "conditioned0",
            "conditioned10001",
        ] {
            assert!(text.parse::<MixingKind>().is_err(), "{text}");
        }
    }

    #[test]
    fn stream_numbers_are_distinct() {
        let numbers: std::collections::HashSet<u64> = SourceKind::ALL
            .iter()
            .map(|kind| kind.stream_number())
            .collect();
        assert_eq!(numbers.len(), SourceKind::ALL.len());
        let mixings = [
            "linear",
            "pnl",
            "asinh",
            "mlp2",
            "mlp3",
            "leakymlp1",
            "leakymlp64",
            "tanhmlp1",
            "conditioned1",
            "conditioned10000",
        ];
        let numbers: std::collections::HashSet<u64> = mixings
            .iter()
            .map(|text| text.parse::<MixingKind>().unwrap().stream_number())
            .collect();
        assert_eq!(numbers.len(), mixings.len());
        assert!(numbers.iter().all(|&number| number < 1 << 16));
    }
}
