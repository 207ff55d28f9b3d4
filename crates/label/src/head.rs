//! Whether the weights of a source in the channels look like those of the eyes, or of one channel.
//!
//! In: weights, names and places of channels. Out: likeness to a field around the forehead, to one
//! of opposite signs beside the eyes, and the share of the strongest channel. Signs and sizes of
//! weights are arbitrary, so that likeness is a |correlation|.

use crate::course::correlation;

/// Places that have to be known for a field to be compared.
const FEWEST_PLACES: usize = 8;
/// The middle of the forehead, and the outer corner of the right eye, seen from above.
const FOREHEAD: [f64; 2] = [0.0, 0.95];
const EYE: [f64; 2] = [0.6, 0.75];
/// How far the field of the eyes reaches.
const REACH: f64 = 0.4;

/// The weights of a source.
pub(crate) struct Head<'a> {
    weights: &'a [f64],
    channels: &'a [String],
    /// Weight and place of the channels that have both.
    placed: Vec<(f64, [f64; 2])>,
}

impl<'a> Head<'a> {
    pub fn new(
        weights: &'a [f64],
        channels: &'a [String],
        places: &[Option<[f64; 2]>],
    ) -> Head<'a> {
        let pairs = weights.iter().zip(places);
        let placed: Vec<(f64, [f64; 2])> = pairs
            .filter_map(|(&w, place)| place.filter(|_| w.is_finite()).map(|p| (w, p)))
            .collect();
        let enough = placed.len() >= FEWEST_PLACES && 2 * placed.len() > weights.len();
        Head {
            weights,
            channels,
            placed: if enough { placed } else { Vec::new() },
        }
    }

    /// Whether the places of most channels are known.
    pub fn is_known(&self) -> bool {
        !self.placed.is_empty()
    }

    /// |Correlation| with a field around the forehead; `None` where places are not known.
    pub fn frontal(&self) -> Option<f64> {
        self.likeness(|place| near(place, FOREHEAD))
    }

    /// |Correlation| with a field of one sign beside the right eye and of the other beside the left.
    pub fn lateral(&self) -> Option<f64> {
        self.likeness(|[x, y]| near([x, y], EYE) - near([-x, y], EYE))
    }

    /// How strong the weaker of both sides is beside the stronger, where they have opposite signs
    /// relative to the mean of all channels; else 0.
    pub fn balance(&self) -> f64 {
        let mean = self.placed.iter().map(|(w, _)| w).sum::<f64>() / self.placed.len() as f64;
        let side = |sign: f64| {
            let near = |[x, y]: [f64; 2]| near([sign * x, y], EYE);
            let (sum, total) = self
                .placed
                .iter()
                .fold((0.0, 0.0), |(sum, total), (w, place)| {
                    (sum + near(*place) * (w - mean), total + near(*place))
                });
            sum / total
        };
        let (right, left) = (side(1.0), side(-1.0));
        let weaker = right.abs().min(left.abs()) / right.abs().max(left.abs());
        if right * left < 0.0 { weaker } else { 0.0 }
    }

    /// How many times as strong the strongest channel is as the next one.
    pub fn lead(&self) -> f64 {
        let mut sizes: Vec<f64> = self.weights.iter().map(|w| w.abs()).collect();
        sizes.retain(|size| size.is_finite());
        sizes.sort_by(|a, b| b.total_cmp(a));
        match sizes[..] {
            [first, second, ..] => first / second,
            _ => f64::NAN,
        }
    }

    /// The strongest channel and its share of the squared weights; `None` where none is known.
    pub fn strongest(&self) -> Option<(&'a str, f64)> {
        let finite = || (0..self.weights.len()).filter(|&c| self.weights[c].is_finite());
        let square = |c: usize| self.weights[c] * self.weights[c];
        let total: f64 = finite().map(square).sum();
        let channel = finite().max_by(|&a, &b| square(a).total_cmp(&square(b)))?;
        let name = self.channels.get(channel)?;
        (total > 0.0).then(|| (name.as_str(), square(channel) / total))
    }

    /// Channels with a weight.
    pub fn n_channels(&self) -> usize {
        self.weights
            .iter()
            .filter(|weight| weight.is_finite())
            .count()
    }

    /// Whether the strongest channel is named after the eyes.
    pub fn is_of_the_eyes(&self) -> bool {
        self.strongest()
            .is_some_and(|(name, _)| name.to_ascii_uppercase().contains("EOG"))
    }

    fn likeness(&self, field: impl Fn([f64; 2]) -> f64) -> Option<f64> {
        if !self.is_known() {
            return None;
        }
        let weights: Vec<f64> = self.placed.iter().map(|(weight, _)| *weight).collect();
        let field: Vec<f64> = self.placed.iter().map(|(_, place)| field(*place)).collect();
        Some(correlation(&weights, &field).abs())
    }
}

/// A Gaussian around a point.
fn near([x, y]: [f64; 2], [u, v]: [f64; 2]) -> f64 {
    (-((x - u).powi(2) + (y - v).powi(2)) / (2.0 * REACH * REACH)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use strt_signal::montage::places;

    const NAMES: [&str; 19] = [
        "Fp1", "Fp2", "F7", "F3", "Fz", "F4", "F8", "T7", "C3", "Cz", "C4", "T8", "P7", "P3", "Pz",
        "P4", "P8", "O1", "O2",
    ];

    #[test]
    fn eyes_are_told_by_where_they_are_strong() {
        let names = NAMES.map(String::from);
        let places = places(&names, &[]);
        let weights = |f: &dyn Fn([f64; 2]) -> f64| -> Vec<f64> {
            places.iter().map(|place| f(place.unwrap())).collect()
        };
        let blink = weights(&|[_, y]| if y > 0.6 { -0.9 } else { 0.1 * y });
        let glance = weights(&|[x, y]| x.signum() * (y - 0.2).max(0.0));
        let occipital = weights(&|[_, y]| (-y).max(0.0));
        let head = Head::new(&blink, &names, &places);
        assert!(head.frontal().unwrap() > 0.65 && head.lateral().unwrap() < 0.2);
        let head = Head::new(&glance, &names, &places);
        assert!(head.lateral().unwrap() > 0.8 && head.frontal().unwrap() < 0.2);
        assert!(head.balance() > 0.9);
        let one_side = weights(&|[x, y]| x.max(0.0) * (y - 0.2).max(0.0));
        assert!(Head::new(&one_side, &names, &places).balance() < 0.4);
        let head = Head::new(&occipital, &names, &places);
        assert!(head.frontal().unwrap() < 0.7 && head.lateral().unwrap() < 0.2);
    }

    #[test]
    fn one_channel_and_unknown_places() {
        let names = NAMES.map(String::from);
        let mut weights = [0.01; 19];
        weights[3] = 0.9;
        weights[4] = f64::NAN;
        let head = Head::new(&weights, &names, &[None; 19]);
        let (name, share) = head.strongest().unwrap();
        assert!(name == "F3" && share > 0.99);
        assert_eq!((head.n_channels(), head.frontal()), (18, None));
        assert_eq!(Head::new(&[], &[], &[]).strongest(), None);
    }
}
