//! `fast`: the unmixing that maximises a Gaussian likelihood of the sources, by a quasi-Newton
//! method from several starts.
//!
//! What is minimised is the kernel energy of StrTransformer alone ([`Form`]): entropies per sample
//! from powers in bands of frequencies, or from the log-determinants of Toeplitz matrices of lagged
//! moments. After one pass over the recording ([`Moments`]) neither value nor gradient depends on
//! its length, so that it takes milliseconds. Two forms are fitted roughly, the spectrum and the
//! variances of blocks, and the one that describes the sources in fewer bits is taken
//! ([`Solution`]): sources of changing variance need the second, and all others must not have it. Where a recording has sources of both
//! kinds, or spectra that change, every source takes the form that suits it. Where the spectrum is
//! taken and does not tell the sources apart, more is judged with it, if that describes them in
//! fewer bits: innovations that are not Gaussian ([`Innovations`]) tell sources of one spectrum
//! apart, and independent samples; forecasts that are not linear ([`Forecast`]) tell sources of one
//! law apart, such as runs of a chaotic system.
//!
//! The criterion is the largest entry of the relative gradient. For stationary Gaussian sources
//! this is a maximum-likelihood estimate (D.-T. Pham and P. Garat, *Blind separation of mixture of
//! independent sources through a quasi-maximum likelihood approach*, IEEE Trans. Signal Processing
//! 45(7), 1997). Gaussian sources with equal spectra and equal changes of variance stay mixed.

mod bands;
mod blocks;
mod density;
mod energy;
mod fit;
mod forecast;
mod forecasts;
mod form;
mod innovations;
mod minimize;
mod moments;
mod nongaussian;
mod novelty;
mod ridge;
mod smooth;
mod stretches;
mod toeplitz;
mod values;

pub use bands::Bands;
pub use blocks::Blocks;
pub use density::Density;
pub use energy::SourceEnergy;
pub use forecast::{Forecast, Shape};
pub use form::{Form, Lengths};
pub use innovations::{Innovations, SHARE as INNOVATION_SHARE, reach};
pub use moments::{Moments, regained};
pub use novelty::{Beside, Novel};
pub use values::Values;

use faer::Mat;
use std::ops::Range;

use self::fit::{Fitted, Limits};
use super::{Components, Method, Nss, Sobi, Unmixing, ensure_limits, ensure_samples, rotation};
use crate::error::Result;

/// The angle in radians up to which both halves of a recording agree on the sources.
pub const AGREEMENT: f64 = 0.3;
/// The angle from which on innovations are asked. Halves may agree by chance on what they do not
/// know, but hardly so well.
const DOUBT: f64 = 0.1;
/// By how many nats per sample variances may describe all sources better than spectra because their
/// values have heavy tails.
const TAILS: f64 = 0.02;
/// Samples of a piece from which on a spectrum is judged by lags, wide ones among them: so many are
/// not learned by heart, and what is slow in a recording counts for more so.
pub const LONG: usize = 8000;
/// Autoregressions up to this order have a short window.
const LOW_ORDER: usize = 4;
/// White noise in sources counts as this many times what the quietest frequencies have on average:
/// the quietest of many is too low, and some sources have more of it than others.
const NOISE: f64 = 6.0;
/// Frequencies of a group in which the quietest direction is sought, for every component.
const GROUP: usize = 10;
/// Random starts beside those of SOBI and NSS.
const RANDOM_STARTS: u64 = 2;
/// Samples without which there is no window of two: its length is a quarter of the recording.
const LEAST_SAMPLES: usize = 8;

/// `fast` with its options.
///
/// ```
/// use strt_classic::{Fast, Method};
/// # let problem = strt_synth::ProblemSpec::default().generate()?;
/// # let recording = problem.recording()?;
/// let found = Fast::default().separate(&recording, 3)?;
/// assert!(found.convergence().converged);
/// # let mac = strt_score::match_sources(found.sources(), &problem.reference()?)?.mac();
/// # assert!(mac > 0.97, "{mac}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fast {
    /// What is judged: the spectrum, the variances, or whatever describes the sources in fewest
    /// bits. Default automatic.
    pub form: FormChoice,
    /// Whether innovations that are not Gaussian are judged, where variances do not clearly change
    /// and what the automatic form finds is in doubt. Default true.
    pub innovations: bool,
    /// Whether forecasts that are not linear are judged there. Default true.
    pub forecasts: bool,
    /// What the largest entry of the relative gradient must fall below. Default 1e-6.
    pub tolerance: f64,
    /// Iterations of a start at most. Default 300.
    pub max_iterations: usize,
    /// Seed of the random starts. Default 0.
    pub seed: u64,
}

/// Which form of the kernel energy is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormChoice {
    /// Whatever describes the sources in fewest bits: one of the two, or for every source one of
    /// these and of a spectrum that changes.
    Automatic,
    /// The spectrum.
    Spectrum,
    /// The variances of blocks.
    Variance,
}

impl Default for Fast {
    fn default() -> Self {
        Fast {
            form: FormChoice::Automatic,
            innovations: true,
            forecasts: true,
            tolerance: 1e-6,
            max_iterations: 300,
            seed: 0,
        }
    }
}

/// What `fast` found, with what it judged by.
#[derive(Clone, Debug)]
pub struct Solution {
    /// A, and how the search ended.
    pub unmixing: Unmixing,
    /// The form that was taken, or those of which every source takes one.
    pub forms: Vec<Form>,
    /// What is judged beside these, where it tells sources apart or describes them better than
    /// anything else.
    pub novel: Novel,
    /// Nats per sample, of all sources together, by which that describes them better.
    pub saved: f64,
    /// The moments of the components that these ask for.
    pub moments: Moments,
}

impl Method for Fast {
    fn name(&self) -> &'static str {
        "fast"
    }

    fn least_samples(&self, n_sources: usize) -> usize {
        LEAST_SAMPLES.max(2 * n_sources)
    }

    fn unmix(&self, components: &Components<'_>) -> Result<Unmixing> {
        Ok(self.solve(components)?.unmixing)
    }
}

impl Fast {
    /// The unmixing with what else is known of it.
    ///
    /// # Errors
    /// As [`Method::unmix`].
    pub fn solve(&self, components: &Components<'_>) -> Result<Solution> {
        let fields = ("fast.tolerance", "fast.max_iterations");
        ensure_limits(fields, self.tolerance, self.max_iterations)?;
        ensure_samples(self, components)?;
        let lengths = Lengths::from(&components.pieces());
        let random = (0..RANDOM_STARTS)
            .map(|n| rotation::random(components.n_components(), self.seed.wrapping_add(n << 32)));
        let random: Vec<Mat<f64>> = random.collect();
        // A recording too short for a classical method is left to the random starts.
        let start = |classical: Result<Unmixing>| {
            let found = classical.map(|found| found.matrix);
            found.unwrap_or_else(|_| random[0].clone())
        };
        let limits = Limits {
            tolerance: self.tolerance,
            iterations: self.max_iterations,
        };
        let one = |form: Form, start: &Mat<f64>| {
            let start = std::slice::from_ref(start);
            Fitted::new(components, form, start, Limits::ROUGH.or(limits))
        };
        let spectrum = || {
            let start = start(Sobi::default().unmix(components));
            let form = if lengths.piece < LONG {
                Form::smooth(lengths, noise(components))
            } else {
                Form::spectrum(lengths)
            };
            (one(form, &start), start)
        };
        let variance = || {
            let start = start(Nss::default().unmix(components));
            one(Form::variance(lengths), &start)
        };
        // Which form is taken is seen from one start each; where its lowest minimum is, is not.
        let taken = match self.form {
            FormChoice::Spectrum => spectrum().0,
            FormChoice::Variance => variance(),
            FormChoice::Automatic => {
                let ((spectrum, start), variance) = (spectrum(), variance());
                // Lags of long recordings see what a low order does not describe.
                let narrow = lengths.piece < LONG;
                let rough = Limits::ROUGH.or(limits);
                let any = Fitted::any(components, &[&spectrum, &variance], rough);
                let gain = spectrum.description() - variance.description();
                let spectrum = if narrow && spectrum.order() <= LOW_ORDER {
                    one(Form::short_spectrum(lengths), &start)
                } else {
                    spectrum
                };
                match any {
                    Some(any) => any,
                    None if gain > TAILS => variance,
                    None => {
                        // Heavy tails look a little like a variance that changes.
                        let (taken, spectrum) = if gain > 0.0 {
                            (variance, Some(spectrum))
                        } else {
                            (spectrum, None)
                        };
                        let taken = taken.again(&random, limits);
                        let spectrum = spectrum.as_ref().unwrap_or(&taken);
                        let novel = self.novel(components, spectrum, &taken, &random, limits);
                        return Ok(novel.unwrap_or(taken).into_solution());
                    }
                }
            }
        };
        Ok(taken.again(&random, limits).into_solution())
    }

    /// What the spectrum finds together with innovations, or with forecasts, where the form that
    /// was taken does not tell the sources apart and they are then described in fewer bits.
    fn novel(
        &self,
        components: &Components<'_>,
        spectrum: &Fitted,
        taken: &Fitted,
        random: &[Mat<f64>],
        limits: Limits,
    ) -> Option<Fitted> {
        let any = self.innovations || self.forecasts;
        if !any || taken.disagreement(components) < DOUBT {
            return None;
        }
        let with = |wanted: bool, beside: Beside, starts: &[Mat<f64>]| {
            let found = wanted.then(|| spectrum.with(beside, components, starts, limits))?;
            found.filter(|found| found.description() < taken.description())
        };
        let innovations = with(self.innovations, Beside::Innovations, &[]);
        let forecasts = with(self.forecasts, Beside::Forecasts, random);
        let both = [innovations, forecasts].into_iter().flatten();
        both.min_by(|a, b| a.description().total_cmp(&b.description()))
    }
}

/// How much white noise of the channels there is in sources, as a share of their variance. The
/// noise is equally strong in all channels, and so strongest in components of little variance.
fn noise(components: &Components<'_>) -> f64 {
    let k = components.n_components();
    let variances: Vec<f64> = (0..k).map(|k| components.variance(k)).collect();
    let (whitened, rows) = (components.whitened(), components.rows());
    let quietest = bands::quietest(whitened, rows, &variances, GROUP * k);
    let gain = variances.iter().map(|v| 1.0 / v).sum::<f64>() / k as f64;
    NOISE * quietest * gain
}

/// The unmixing near `a` at which forms of these kinds have their minimum over a part of the
/// recording, by these and by what is judged beside them; columns of norm 1: what the part alone
/// makes of sources that the whole has found. `None` where the energy has no value at `a`.
pub fn refit(
    components: &Components<'_>,
    part: Range<usize>,
    forms: &[Form],
    beside: Beside,
    a: &Mat<f64>,
) -> Option<Mat<f64>> {
    fit::of_part(components, part, forms, beside, a)
}

impl Solution {
    /// The largest angle in radians between a source as the first half of the recording has it and
    /// as the second half has it. Small where what was judged tells the sources apart; where it
    /// does not, each half has another answer.
    pub fn disagreement(&self, components: &Components<'_>) -> f64 {
        let beside = self.novel.kind();
        fit::disagreement(components, &self.forms, beside, &self.unmixing.matrix)
    }
}
