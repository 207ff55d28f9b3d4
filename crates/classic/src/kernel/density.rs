//! Densities of mean 0 and variance 1 that are not Gaussian: what innovations may be distributed
//! like.
//!
//! Under any density p the mean of −ln p is at least the entropy, so that ½ ln 2πe less that mean
//! is at most the negentropy: a few fixed densities bound it from below, and the one with the
//! highest bound describes a sample in fewest bits. They are chosen to differ: peaked,
//! heavy-tailed, flat, of two values, and leaning to either side.

use std::f64::consts::{FRAC_PI_2, LN_2};

/// ½ ln 2πe: the entropy of a Gaussian of variance 1.
pub(super) const GAUSSIAN: f64 = 1.418_938_533_204_673;

/// A density.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Density {
    /// The hyperbolic secant, ½ sech(πx/2).
    Peaked,
    /// The hyperbolic law, exp(−√(δ² + x²)) in units of its deviation: nearly that of Laplace.
    Heavy,
    /// Two Gaussians that overlap.
    Flat,
    /// Two Gaussians that do not.
    Split,
    /// That of Gumbel, with its long tail at negative values.
    LeansLeft,
    /// That of Gumbel, with its long tail at positive values.
    LeansRight,
}

/// −ln p at one place, with its first two derivatives.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub nats: f64,
    pub score: f64,
    pub slope: f64,
}

/// δ of the hyperbolic law, before it is scaled.
const ROUNDING: f64 = 0.3;
/// √(δK₂(δ)/K₁(δ)), its deviation, and ln(2δK₁(δ)) less the logarithm of that.
const HEAVY_DEVIATION: f64 = 1.461_071_996_210_586;
const HEAVY_NORM: f64 = 0.227_108_230_407_053_8;
/// μ² of the two Gaussians ±μ; their variance is 1 − μ².
const FLAT: f64 = 0.5;
const SPLIT: f64 = 0.9;
/// Euler's constant: the mean of Gumbel's law is −γ, its deviation π/√6.
const GAMMA: f64 = 0.577_215_664_901_532_9;
const GUMBEL_DEVIATION: f64 = 1.282_549_830_161_864;
/// Beyond this, exp(exp(u)) would decide over everything: −ln p is continued along its tangent. No
/// more than exp(−50) of the density is there.
const STEEPEST: f64 = 4.0;

impl Density {
    /// All of them.
    pub const ALL: [Density; 6] = [
        Density::Peaked,
        Density::Heavy,
        Density::Flat,
        Density::Split,
        Density::LeansLeft,
        Density::LeansRight,
    ];

    /// −ln p(x) and its derivatives.
    pub(super) fn at(self, x: f64) -> At {
        match self {
            Density::Peaked => {
                let (ln_cosh, tanh) = ln_cosh(FRAC_PI_2 * x);
                At {
                    nats: LN_2 + ln_cosh,
                    score: FRAC_PI_2 * tanh,
                    slope: FRAC_PI_2 * FRAC_PI_2 * (1.0 - tanh * tanh),
                }
            }
            Density::Heavy => {
                let s = HEAVY_DEVIATION;
                let root = (ROUNDING * ROUNDING + s * s * x * x).sqrt();
                At {
                    nats: root + HEAVY_NORM,
                    score: s * s * x / root,
                    slope: s * s * ROUNDING * ROUNDING / (root * root * root),
                }
            }
            Density::Flat => two_gaussians(x, FLAT),
            Density::Split => two_gaussians(x, SPLIT),
            Density::LeansLeft => gumbel(x, 1.0),
            Density::LeansRight => gumbel(x, -1.0),
        }
    }
}

/// ln cosh z and tanh z, of one exponential.
fn ln_cosh(z: f64) -> (f64, f64) {
    let q = (-2.0 * z.abs()).exp();
    let tanh = ((1.0 - q) / (1.0 + q)).copysign(z);
    (z.abs() + q.ln_1p() - LN_2, tanh)
}

fn two_gaussians(x: f64, mean_square: f64) -> At {
    let (mean, variance) = (mean_square.sqrt(), 1.0 - mean_square);
    let (ln_cosh, tanh) = ln_cosh(mean * x / variance);
    let norm = 0.5 * (std::f64::consts::TAU * variance).ln();
    At {
        nats: norm + (x * x + mean_square) / (2.0 * variance) - ln_cosh,
        score: (x - mean * tanh) / variance,
        slope: (1.0 - mean_square / variance * (1.0 - tanh * tanh)) / variance,
    }
}

/// p ∝ exp(u − eᵘ) with u = −γ + sx, or −γ − sx.
fn gumbel(x: f64, sign: f64) -> At {
    let s = sign * GUMBEL_DEVIATION;
    let u = s * x - GAMMA;
    let tangent = u.min(STEEPEST);
    let exp = tangent.exp();
    let beyond = u - tangent;
    At {
        nats: exp - tangent + (exp - 1.0) * beyond - GUMBEL_DEVIATION.ln(),
        score: s * (exp - 1.0),
        slope: if beyond > 0.0 { 0.0 } else { s * s * exp },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_have_mass_1_mean_0_and_variance_1() {
        for density in Density::ALL {
            let (mut moments, step) = ([0.0; 3], 1e-3);
            for i in -40_000..=40_000 {
                let x = f64::from(i) * step;
                let p = (-density.at(x).nats).exp() * step;
                moments[0] += p;
                moments[1] += p * x;
                moments[2] += p * x * x;
            }
            for (moment, expected) in moments.into_iter().zip([1.0, 0.0, 1.0]) {
                assert!((moment - expected).abs() < 1e-7, "{density:?}: {moments:?}");
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        for density in Density::ALL {
            for x in [-6.0, -1.3, -1e-3, 0.0, 0.4, 2.0, 6.0] {
                let [below, at, above] = [x - 1e-5, x, x + 1e-5].map(|x| density.at(x));
                let score = (above.nats - below.nats) / 2e-5;
                let slope = (above.score - below.score) / 2e-5;
                let close = |a: f64, b: f64| (a - b).abs() < 1e-6 * (1.0 + b.abs());
                assert!(
                    close(at.score, score),
                    "{density:?} at {x}: {at:?}, {score}"
                );
                assert!(
                    close(at.slope, slope),
                    "{density:?} at {x}: {at:?}, {slope}"
                );
            }
        }
    }
}
