//! `fast`: the unmixing that maximises a Gaussian likelihood of the sources, by a quasi-Newton
//! method from several starts.
//!
//! What is minimised is the kernel energy of StrTransformer alone ([`Form`]): entropies per sample
//! from the log-determinants of Toeplitz matrices of lagged moments. After one pass over the
//! recording ([`Moments`]) neither value nor gradient depends on its length, so that it takes
//! milliseconds. Two forms are fitted, the spectrum and the variances of blocks, and the one that
//! describes the sources in fewer bits is taken ([`Solution`]): sources of changing variance need
//! the second, and all others must not have it.
//!
//! The criterion is the largest entry of the relative gradient. For stationary Gaussian sources
//! this is a maximum-likelihood estimate (D.-T. Pham and P. Garat, *Blind separation of mixture of
//! independent sources through a quasi-maximum likelihood approach*, IEEE Trans. Signal Processing
//! 45(7), 1997). It sees nothing but second-order statistics: sources with equal spectra and equal
//! changes of variance stay mixed.

mod form;
mod minimize;
mod moments;
mod toeplitz;

pub use form::{Form, SourceEnergy};
pub use moments::Moments;

use faer::Mat;
use std::f64::consts::FRAC_PI_2;

use self::minimize::{Contrast, Minimum};
use super::{
    Components, Convergence, Method, Nss, Sobi, Unmixing, ensure_limits, ensure_samples, rotation,
};
use crate::error::Result;

/// Autoregressions up to this order have a short window.
const LOW_ORDER: usize = 4;
/// How exactly the halves of a recording are fitted, whose angles are compared.
const HALVES_TOLERANCE: f64 = 1e-3;
/// Random starts beside those of SOBI and NSS.
const RANDOM_STARTS: u64 = 2;
/// Samples without which moments at several lags mean nothing.
const LEAST_SAMPLES: usize = 16;

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
    /// What is judged: the spectrum, the variances, or whichever describes the sources in fewer
    /// bits. Default automatic.
    pub form: FormChoice,
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
    /// The one that describes the sources in fewer bits.
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
    /// The form that was taken.
    pub form: Form,
    /// The highest order of an autoregression that describes a source best.
    pub order: usize,
    /// Bits per sample, in units of ln 2, that the description of all sources needs by the spectrum
    /// and by the variances, where both were tried.
    pub descriptions: Option<(f64, f64)>,
    /// The largest angle in radians between a source as the first half of the recording has it and
    /// as the second half has it. Small where second-order statistics tell the sources apart; where
    /// they do not, each half has another answer.
    pub uncertainty: f64,
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
        let n = components.n_samples();
        match self.form {
            FormChoice::Spectrum => Ok(self.fit(components, Form::spectrum(n))?.0),
            FormChoice::Variance => Ok(self.fit(components, Form::variance(n))?.0),
            FormChoice::Automatic => {
                let (mut spectrum, bits) = self.fit(components, Form::spectrum(n))?;
                // Wide dilations of long recordings see what a low order does not describe.
                let narrow = spectrum.form.dilations.len() <= 2;
                if narrow && spectrum.order <= LOW_ORDER {
                    let (shorter, _) = self.fit(components, Form::short_spectrum(n))?;
                    spectrum = shorter;
                }
                let (mut variance, others) = self.fit(components, Form::variance(n))?;
                spectrum.descriptions = Some((bits, others));
                variance.descriptions = Some((bits, others));
                Ok(if bits <= others { spectrum } else { variance })
            }
        }
    }

    /// The best minimum of one form, and how long the description of its sources is.
    fn fit(&self, components: &Components<'_>, form: Form) -> Result<(Solution, f64)> {
        let k = components.n_components();
        let is_missing = |t: usize| components.is_missing(t);
        let moments = Moments::new(components.whitened(), &is_missing, &form);
        let mut contrast = Contrast {
            energy: SourceEnergy::new(&form, moments.shares()),
            moments: &moments,
        };
        let mut starts: Vec<Mat<f64>> = Vec::new();
        let classical = if form.window > 1 {
            Sobi::default().unmix(components)
        } else {
            Nss::default().unmix(components)
        };
        // A recording too short for them is left to the random starts.
        starts.extend(classical.ok().map(|found| found.matrix));
        starts.extend((0..RANDOM_STARTS).map(|n| rotation::random(k, self.seed + (n << 32))));
        let mut best: Option<Minimum> = None;
        for start in starts {
            let found = contrast.minimize(start, self.tolerance, self.max_iterations);
            let better = |a: &Minimum, b: &Minimum| a.point.value < b.point.value;
            if let Some(found) = found
                && best.as_ref().is_none_or(|best| better(&found, best))
            {
                best = Some(found);
            }
        }
        // Rotations have finite energies, so that one start at least was searched from.
        let best = best.expect("a minimum from a rotation");
        let n = moments.n_valid();
        let mut description = -minimize::log_det(&best.point.a).expect("a point has a volume");
        for j in 0..k {
            description += contrast
                .energy
                .description(best.point.moments.col_as_slice(j), n);
        }
        let orders = (0..k).map(|j| {
            let moments = best.point.moments.col_as_slice(j);
            contrast.energy.order(moments, n)
        });
        let order = orders.max().unwrap_or(0);
        let uncertainty = self.disagreement(components, &form, &best.point.a);
        let unmixing = Unmixing {
            matrix: best.point.a,
            convergence: best.convergence,
        };
        let solution = Solution {
            unmixing,
            form,
            order,
            descriptions: None,
            uncertainty,
        };
        Ok((solution, description))
    }
}

impl Fast {
    /// The largest angle between columns of the minima that both halves of the recording have near
    /// `a`.
    fn disagreement(&self, components: &Components<'_>, form: &Form, a: &Mat<f64>) -> f64 {
        let (t, whitened) = (components.n_samples(), components.whitened());
        let halves = [0..t / 2, t / 2..t].map(|half| {
            let rows = whitened.subrows(half.start, half.len());
            let is_missing = |t: usize| components.is_missing(half.start + t);
            let form = form.for_samples(half.len());
            let moments = Moments::new(rows, &is_missing, &form);
            let mut contrast = Contrast {
                energy: SourceEnergy::new(&form, moments.shares()),
                moments: &moments,
            };
            contrast
                .minimize(a.clone(), HALVES_TOLERANCE, self.max_iterations)
                .map(|found| found.point.a)
        });
        let [Some(first), Some(second)] = halves else {
            return FRAC_PI_2;
        };
        let cosine = |k: usize| first.col(k).transpose() * second.col(k);
        let least = (0..a.ncols()).map(|k| cosine(k).abs()).fold(1.0, f64::min);
        least.acos()
    }
}

impl Solution {
    /// How the search ended.
    pub fn convergence(&self) -> &Convergence {
        &self.unmixing.convergence
    }
}
