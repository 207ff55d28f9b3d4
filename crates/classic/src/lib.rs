//! Classical blind source separation: the methods that StrTransformer is measured against and can
//! start from.
//!
//! In: a [`Recording`], or whitened components Zw (T×K). Out: a [`Decomposition`] with sources S =
//! Zw·A, the unmixing A (K×K), the mixing to the original channels and a [`Convergence`] report.
//!
//! ```
//! use strt_classic::{Baseline, Method};
//! # let problem = strt_synth::ProblemSpec::default().generate()?;
//! # let recording = problem.recording()?;
//! let found = Baseline::parse("sobi")?.separate(&recording, 3)?;
//! println!("{:?}, {}", found.sources(), found.convergence());
//! # let mac = strt_score::match_sources(found.sources(), &problem.reference()?)?.mac();
//! # assert!(mac > 0.95 && found.convergence().converged, "{mac}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | name | method | what it uses |
//! |---|---|---|
//! | `fastica` | [`FastIca`] | distributions that are not Gaussian, by fixed-point iteration |
//! | `picard` | [`Picard`] | the same by preconditioned L-BFGS; sub- and super-Gaussian sources |
//! | `jade` | [`Jade`] | fourth-order cumulants |
//! | `amuse` | [`Amuse`] | autocorrelation at one lag |
//! | `sobi` | [`Sobi`] | autocorrelations at many lags |
//! | `nss` | [`Nss`] | variances that change with time |
//! | `fast` | [`Fast`] | spectra, changing variances or innovations, by maximum likelihood |
//! | `wasobi` | [`Wasobi`] | autocorrelations, weighed optimally for Gaussian AR sources |
//! | `efica` | [`Efica`] | distributions, each source with a nonlinearity that suits it |
//! | `multicombi` | [`MultiCombi`] | distributions or autocorrelations, whichever tell more |
//!
//! Extended Infomax is `picard` with `orthogonal: false`: the same likelihood, with the same switch
//! between super- and sub-Gaussian sources (`extended`, on by default), maximised by another
//! algorithm.
//!
//! All whiten first, as training does: channels centred and scaled, then the K first principal
//! components, missing samples left out. Sources come out with variance 1, ordered by correlation
//! time, short first, as branches are. The same seed gives the same bits: nothing here runs in
//! parallel.
//!
//! A configuration of StrTransformer starts from one of them with `sources.init = "sobi"`.
//! Deliberately absent: training, true sources, and any choice between the methods.

mod amuse;
mod components;
mod convergence;
mod cumulants;
mod decomposition;
pub mod diagonalize;
mod efica;
pub mod error;
mod fastica;
mod jade;
pub mod kernel;
mod multicombi;
mod nonlinearity;
mod nss;
mod picard;
mod quasi_newton;
mod rated;
mod rotation;
mod sobi;
mod wasobi;

pub use amuse::Amuse;
pub use components::Components;
pub use convergence::{Convergence, StopReason};
pub use decomposition::{Decomposition, Unmixing, mix_rows, unmix_rows};
pub use efica::Efica;
pub use error::{Error, Result};
pub use fastica::{Extraction, FastIca};
pub use jade::Jade;
pub use kernel::Fast;
pub use multicombi::MultiCombi;
pub use nonlinearity::Nonlinearity;
pub use nss::{Diagonalizer, Nss};
pub use picard::Picard;
pub use sobi::Sobi;
pub use wasobi::Wasobi;

use std::fmt;
use std::str::FromStr;

use strt_signal::Recording;
use strt_signal::preprocess::ChannelScalingOptions;

/// A method that finds an unmixing of whitened components.
pub trait Method {
    /// Its name, as typed and printed.
    fn name(&self) -> &'static str;

    /// Complete samples without which K sources are refused.
    fn least_samples(&self, n_sources: usize) -> usize;

    /// The unmixing A of S = Zw·A as the method finds it: any order, sign and scale of its columns.
    ///
    /// # Errors
    /// [`Error::Option`] when an option is out of range, [`Error::TooFewSamples`] when there are
    /// too few samples.
    fn unmix(&self, components: &Components<'_>) -> Result<Unmixing>;

    /// Whitens the recording, channels centred and scaled first, and separates K sources.
    ///
    /// # Errors
    /// As [`Method::unmix`], and [`Error::Signal`] when the channels do not support K sources.
    fn separate(&self, recording: &Recording, n_sources: usize) -> Result<Decomposition> {
        self.separate_with(recording, n_sources, ChannelScalingOptions::default())
    }

    /// [`Method::separate`] with channels centred and scaled as `options` says.
    ///
    /// # Errors
    /// As [`Method::separate`].
    fn separate_with(
        &self,
        recording: &Recording,
        n_sources: usize,
        options: ChannelScalingOptions,
    ) -> Result<Decomposition> {
        Decomposition::of(self.name(), recording, n_sources, options, |components| {
            self.unmix(components)
        })
    }
}

/// Any of the methods, chosen by name or built with options of its own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Baseline {
    /// Fixed-point iteration on a contrast of non-Gaussianity.
    FastIca(FastIca),
    /// Preconditioned L-BFGS on the likelihood.
    Picard(Picard),
    /// Joint diagonalisation of fourth-order cumulants.
    Jade(Jade),
    /// One lagged covariance.
    Amuse(Amuse),
    /// Joint diagonalisation of lagged covariances.
    Sobi(Sobi),
    /// Joint diagonalisation of the covariances of successive blocks.
    Nss(Nss),
    /// The kernel energy of StrTransformer alone.
    Fast(Fast),
    /// Weighted joint diagonalisation of lagged covariances.
    Wasobi(Wasobi),
    /// Fixed-point iteration with a nonlinearity for each source.
    Efica(Efica),
    /// EFICA or WASOBI for each source.
    MultiCombi(MultiCombi),
}

impl Baseline {
    /// Every name that [`Baseline::parse`] knows.
    pub const NAMES: [&'static str; 10] = [
        "fastica",
        "picard",
        "jade",
        "amuse",
        "sobi",
        "nss",
        "wasobi",
        "efica",
        "multicombi",
        "fast",
    ];

    /// The method of this name with its default options.
    ///
    /// # Errors
    /// [`Error::UnknownMethod`], which lists the names.
    pub fn parse(name: &str) -> Result<Baseline> {
        Ok(match name {
            "fastica" => Baseline::FastIca(FastIca::default()),
            "picard" => Baseline::Picard(Picard::default()),
            "jade" => Baseline::Jade(Jade::default()),
            "amuse" => Baseline::Amuse(Amuse::default()),
            "sobi" => Baseline::Sobi(Sobi::default()),
            "nss" => Baseline::Nss(Nss::default()),
            "fast" => Baseline::Fast(Fast::default()),
            "wasobi" => Baseline::Wasobi(Wasobi::default()),
            "efica" => Baseline::Efica(Efica::default()),
            "multicombi" => Baseline::MultiCombi(MultiCombi::default()),
            _ => return Err(Error::UnknownMethod { name: name.into() }),
        })
    }

    /// This method with another seed; methods without random numbers stay as they are.
    pub fn with_seed(mut self, seed: u64) -> Baseline {
        match &mut self {
            Baseline::FastIca(method) => method.seed = seed,
            Baseline::Picard(method) => method.seed = seed,
            Baseline::Fast(method) => method.seed = seed,
            Baseline::Efica(method) => method.seed = seed,
            Baseline::MultiCombi(method) => method.efica.seed = seed,
            Baseline::Jade(_)
            | Baseline::Amuse(_)
            | Baseline::Sobi(_)
            | Baseline::Nss(_)
            | Baseline::Wasobi(_) => {}
        }
        self
    }

    fn method(&self) -> &dyn Method {
        match self {
            Baseline::FastIca(method) => method,
            Baseline::Picard(method) => method,
            Baseline::Jade(method) => method,
            Baseline::Amuse(method) => method,
            Baseline::Sobi(method) => method,
            Baseline::Nss(method) => method,
            Baseline::Fast(method) => method,
            Baseline::Wasobi(method) => method,
            Baseline::Efica(method) => method,
            Baseline::MultiCombi(method) => method,
        }
    }
}

impl Method for Baseline {
    fn name(&self) -> &'static str {
        self.method().name()
    }

    fn least_samples(&self, n_sources: usize) -> usize {
        self.method().least_samples(n_sources)
    }

    fn unmix(&self, components: &Components<'_>) -> Result<Unmixing> {
        self.method().unmix(components)
    }
}

impl FromStr for Baseline {
    type Err = Error;

    fn from_str(name: &str) -> Result<Baseline> {
        Baseline::parse(name)
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// `Err` naming the option unless `holds`.
fn ensure(
    holds: bool,
    option: &'static str,
    found: impl fmt::Debug,
    expected: &'static str,
) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::Option {
        option,
        found: format!("{found:?}"),
        expected,
    })
}

/// The checks that every iteration with a tolerance needs.
fn ensure_limits(
    options: (&'static str, &'static str),
    tolerance: f64,
    max_iterations: usize,
) -> Result<()> {
    ensure(
        tolerance.is_finite() && tolerance >= 0.0,
        options.0,
        tolerance,
        "expected a finite number of at least 0 (0: all iterations are taken)",
    )?;
    ensure(
        max_iterations >= 1,
        options.1,
        max_iterations,
        "expected at least 1",
    )
}

/// `Err` when there are fewer complete samples than the method needs.
fn ensure_samples(method: &impl Method, components: &Components<'_>) -> Result<()> {
    let (found, k) = (components.n_complete(), components.n_components());
    let needed = method.least_samples(k);
    if found >= needed {
        return Ok(());
    }
    Err(Error::TooFewSamples {
        method: method.name(),
        n_sources: k,
        needed,
        found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_wrong_ones_list_the_right_ones() {
        for name in Baseline::NAMES {
            let baseline: Baseline = name.parse().unwrap();
            assert_eq!(
                (baseline.name(), baseline.to_string().as_str()),
                (name, name)
            );
        }
        let message = Baseline::parse("SOBI").unwrap_err().to_string();
        assert!(
            message.contains("\"SOBI\"") && message.contains("amuse, sobi, nss"),
            "{message}"
        );
    }

    #[test]
    fn a_seed_reaches_the_methods_that_draw() {
        let Baseline::Picard(picard) = Baseline::parse("picard").unwrap().with_seed(9) else {
            panic!("parsed as something else")
        };
        assert_eq!(picard.seed, 9);
        let multicombi = Baseline::parse("multicombi").unwrap().with_seed(9);
        assert!(matches!(multicombi, Baseline::MultiCombi(method) if method.efica.seed == 9));
        assert_eq!(
            Baseline::parse("sobi").unwrap().with_seed(9),
            Baseline::parse("sobi").unwrap()
        );
    }
}
