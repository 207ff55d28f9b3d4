//! What all witnesses know of two sources, and whether that tells them apart.

use super::evidence::angle;
use super::forecast::Heard;
use super::twins;

/// Evidence in nats above which a witness tells a pair.
pub(super) const RESOLVED: f64 = 4.0;
/// Standard errors of the angle of a pair that must lie within θ₀.
const SURE: f64 = 2.25;

/// Who tells two sources apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Witness {
    Spectrum,
    Variance,
    Innovations,
    Forecast,
    Networks,
}

/// What is known of two sources, in held-out nats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub spectrum: f64,
    pub variance: f64,
    pub innovations: f64,
    /// Where networks were asked.
    pub networks: Option<Heard>,
    /// Where forecasts were asked.
    pub forecast: Option<Heard>,
    /// Standard deviations above simulated twins, where they were asked.
    pub twins: Option<f64>,
    /// Whether they are the sum and the difference of two that have the same power everywhere:
    /// then no witness tells them.
    pub locked: bool,
    /// The variance of the angle because of a correlation by chance.
    pub chance: f64,
    /// The variance of the angle at which spectra have the pair.
    pub angle: f64,
}

impl Pair {
    /// Whether spectra tell the two apart. A run turns its sources to where they differ most in
    /// all of the recording, held-out parts included, so that a few nats can be of its making.
    pub fn by_spectrum(&self) -> bool {
        let told = self.spectrum >= RESOLVED;
        !self.locked
            && match self.twins {
                None => told,
                Some(excess) => excess >= twins::BEYOND || (told && excess >= twins::LIKELY),
            }
    }

    /// The most that any witness says.
    pub fn nats(&self) -> f64 {
        let heard = [self.forecast, self.networks].into_iter().flatten();
        let heard = heard.map(|heard| heard.nats).fold(f64::MIN, f64::max);
        self.spectrum
            .max(self.variance)
            .max(self.innovations)
            .max(heard)
    }

    /// Every witness that has something to say, with its nats and the variance of the angle: of
    /// spectra from their curvature, of others by a parabola through what they say. Forecasts also
    /// know where the parabola is least; where that is not near 0 they say nothing.
    fn heard(&self) -> impl Iterator<Item = (Witness, f64, f64)> {
        let by_parabola = |witness: Witness, nats: f64| {
            (nats >= RESOLVED).then(|| (witness, nats, parabola(nats)))
        };
        let spectrum = (Witness::Spectrum, self.spectrum, self.angle);
        let forecast = self.forecast.and_then(|heard| {
            let (witness, nats, variance) = by_parabola(Witness::Forecast, heard.nats)?;
            let variance = variance + heard.shift.powi(2);
            self.is_sure(variance).then_some((witness, nats, variance))
        });
        let networks = self.networks.map(|heard| heard.nats);
        let all = [
            self.by_spectrum().then_some(spectrum),
            by_parabola(Witness::Variance, self.variance),
            by_parabola(Witness::Innovations, self.innovations),
            forecast,
            networks.and_then(|nats| by_parabola(Witness::Networks, nats)),
        ];
        let locked = self.locked;
        all.into_iter().flatten().filter(move |_| !locked)
    }

    /// Those of them that tell the pair apart, to within θ₀.
    fn told_by(&self) -> impl Iterator<Item = (Witness, f64, f64)> {
        self.heard()
            .filter(|&(.., variance)| self.is_sure(variance))
    }

    fn is_sure(&self, variance: f64) -> bool {
        SURE * (self.chance + variance).sqrt() <= angle()
    }

    /// Whether the two are told apart, to within θ₀.
    pub fn is_told(&self) -> bool {
        self.told_by().next().is_some()
    }

    /// The witness that says most of those that tell the pair; spectra where none does.
    pub fn witness(&self) -> Witness {
        let most = self.told_by().max_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
        most.map_or(Witness::Spectrum, |(witness, ..)| witness)
    }

    /// The variance of the angle of the pair under the witness that knows it best.
    pub fn variance_of_angle(&self) -> f64 {
        let best = self.heard().map(|(.., variance)| variance);
        let unheard = || {
            if self.locked {
                f64::INFINITY
            } else {
                parabola(self.spectrum.max(self.variance).max(self.innovations))
            }
        };
        self.chance + best.min_by(f64::total_cmp).unwrap_or_else(unheard)
    }
}

/// The variance of an angle that θ₀ is told from by so many nats.
fn parabola(nats: f64) -> f64 {
    angle().powi(2) / (2.0 * nats.max(f64::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of which no witness has heard.
    const UNHEARD: Pair = Pair {
        spectrum: 1.0,
        variance: 1.0,
        innovations: 1.0,
        networks: None,
        forecast: None,
        twins: None,
        locked: false,
        chance: 0.001,
        angle: 0.002,
    };

    fn heard(nats: f64, shift: f64) -> Option<Heard> {
        Some(Heard {
            nats,
            shift,
            apart: 0.0,
        })
    }

    #[test]
    fn any_witness_tells_a_pair() {
        assert!(!UNHEARD.is_told());
        let told = |pair: Pair, witness: Witness| {
            assert!(pair.is_told(), "{pair:?}");
            assert_eq!(pair.witness(), witness, "{pair:?}");
            let locked = Pair {
                locked: true,
                ..pair
            };
            assert!(!locked.is_told(), "{pair:?}");
        };
        let by_spectrum = Pair {
            spectrum: 5.0,
            ..UNHEARD
        };
        told(by_spectrum, Witness::Spectrum);
        let by_variance = Pair {
            variance: 6.0,
            ..by_spectrum
        };
        told(by_variance, Witness::Variance);
        let by_innovations = Pair {
            innovations: 5.0,
            ..UNHEARD
        };
        told(by_innovations, Witness::Innovations);
        let beyond_twins = Pair {
            twins: Some(2.5),
            ..UNHEARD
        };
        told(beyond_twins, Witness::Spectrum);
        let by_forecasts = Pair {
            forecast: heard(5.0, 0.02),
            ..UNHEARD
        };
        told(by_forecasts, Witness::Forecast);
        let by_networks = Pair {
            networks: heard(5.0, 0.02),
            ..UNHEARD
        };
        told(by_networks, Witness::Networks);
        // Spectra that barely tell a pair must not be those of twins.
        let barely = Pair {
            spectrum: 5.0,
            twins: Some(1.5),
            ..UNHEARD
        };
        told(barely, Witness::Spectrum);
    }

    #[test]
    fn too_little_tells_nothing() {
        let not = |pair: Pair| {
            assert!(!pair.is_told(), "{pair:?}");
            assert_eq!(pair.witness(), Witness::Spectrum);
        };
        not(Pair {
            twins: Some(1.5),
            ..UNHEARD
        });
        not(Pair {
            spectrum: 5.0,
            twins: Some(0.5),
            ..UNHEARD
        });
        not(Pair {
            forecast: heard(3.0, 0.02),
            ..UNHEARD
        });
    }

    /// The other half has the pair at another angle: neither is it told, nor has it an error bar.
    #[test]
    fn forecasts_that_prefer_another_angle_tell_nothing() {
        let elsewhere = Pair {
            forecast: heard(50.0, 0.15),
            ..UNHEARD
        };
        assert!(!elsewhere.is_told());
        let variance = elsewhere.variance_of_angle();
        assert!(variance > 0.05, "{variance}");
        let here = Pair {
            forecast: heard(50.0, 0.03),
            ..UNHEARD
        };
        let expected = 0.001 + parabola(50.0) + 0.0009;
        assert!((here.variance_of_angle() - expected).abs() < 1e-12);
    }

    #[test]
    fn a_pair_whose_angle_is_not_known_to_within_the_limit_is_not_told() {
        let heard = Pair {
            spectrum: 9.0,
            ..UNHEARD
        };
        assert!((heard.variance_of_angle() - 0.003).abs() < 1e-12);
        let by_chance = Pair {
            chance: 0.03,
            ..heard
        };
        assert!(!by_chance.is_told());
        let flat = Pair {
            angle: f64::INFINITY,
            ..heard
        };
        assert!(!flat.is_told());
        // Another witness may know better.
        let others = Pair {
            innovations: 50.0,
            ..flat
        };
        assert!(others.is_told());
    }
}
