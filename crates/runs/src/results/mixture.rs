//! How the sources make up the channels, and what they leave unexplained.
//!
//! In: a recording and its separation. Out: [`Mixture`]: the share of each channel's variance that
//! is not reconstructed, and one weight for every channel and source. The reconstruction is formed
//! block by block and never held whole, so the memory does not grow with the recording. Missing
//! samples take no part.

use crate::error::Result;
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};
use strt_score::{explained_share, residual_share};
use strt_signal::moments::Moments;
use strtransformer::{Recording, Separation};

/// Samples that are reconstructed at a time.
const BLOCK: usize = 4096;

/// What the model says about the channels.
#[derive(Clone, Debug)]
pub struct Mixture {
    /// For each channel the share of its variance that the reconstruction leaves; NaN for a
    /// constant channel.
    pub residual: Vec<f64>,
    /// Standard deviations of channel c per standard deviation of source k (m×K).
    pub weights: Mat<f64>,
    /// For a nonlinear mixer, whose weights are a linear fit: the share of the reconstruction's
    /// variance that the fit explains. `None` for an affine mixer, whose weights are exact.
    pub linear_share: Option<f64>,
}

impl Mixture {
    /// Share of variance reconstructed, every channel counting alike; NaN when all channels are
    /// constant.
    pub fn explained(&self) -> f64 {
        let shares = self.residual.iter();
        explained_share(shares.map(|&share| (!share.is_nan()).then_some(share))).unwrap_or(f64::NAN)
    }

    /// Computes it.
    ///
    /// # Errors
    /// When the reconstruction cannot be formed.
    pub fn of(recording: &Recording, separation: &Separation) -> Result<Mixture> {
        let sums = Sums::over(recording, separation)?;
        let n_complete = recording.n_samples() - recording.n_missing();
        let observed: Vec<Moments> = (0..recording.n_channels())
            .map(|c| observed_moments(recording, separation, c))
            .collect();
        let residual = sums.residual.iter().zip(&observed);
        let residual = residual
            .map(|(&left, moments)| residual_share(left, moments, n_complete).unwrap_or(f64::NAN))
            .collect();
        let deviation = |sums: &ShiftedSums| (sums.variation() / n_complete as f64).sqrt();
        let sources: Vec<f64> = sums.sources.iter().map(deviation).collect();
        let channels: Vec<f64> = observed.iter().map(|moments| moments.deviation).collect();
        let (slopes, linear_share) = match separation.mixing() {
            Some((mixing, _)) => {
                let scale = separation.scaling().scale();
                let scaled = Mat::from_fn(mixing.nrows(), mixing.ncols(), |c, k| {
                    mixing[(c, k)] / scale[c]
                });
                (scaled, None)
            }
            None => {
                let (slopes, share) = sums.linear_fit();
                (slopes, Some(share))
            }
        };
        let weights = Mat::from_fn(slopes.nrows(), slopes.ncols(), |c, k| {
            slopes[(c, k)] * sources[k] / channels[c]
        });
        Ok(Mixture {
            residual,
            weights,
            linear_share,
        })
    }
}

/// Moments of channel c as the mixer sees it, over the samples that are not missing.
fn observed_moments(recording: &Recording, separation: &Separation, c: usize) -> Moments {
    let (values, scaling) = (recording.observations(), separation.scaling());
    let (offset, scale) = (scaling.offset()[c], scaling.scale()[c]);
    let kept = (0..recording.n_samples()).filter(|&t| !recording.is_missing(t));
    Moments::of(kept.map(|t| (values[(t, c)] - offset) / scale))
}

/// Count, sum and sum of squares of values shifted by the first of them, which keeps the difference
/// below exact.
#[derive(Clone, Copy, Default)]
struct ShiftedSums {
    count: f64,
    shift: f64,
    sum: f64,
    squares: f64,
}

impl ShiftedSums {
    fn add(&mut self, value: f64) {
        if self.count == 0.0 {
            self.shift = value;
        }
        let value = value - self.shift;
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    /// Σ (x − x̄)².
    fn variation(&self) -> f64 {
        (self.squares - self.sum * self.sum / self.count).max(0.0)
    }
}

/// Everything that one pass over the recording accumulates.
struct Sums {
    /// Σ (y − ŷ)² of each channel.
    residual: Vec<f64>,
    reconstructed: Vec<ShiftedSums>,
    sources: Vec<ShiftedSums>,
    /// Fᵀ F with features F = (s, 1), (K+1)×(K+1).
    gram: Mat<f64>,
    /// Fᵀ (ŷ − shift), (K+1)×m.
    cross: Mat<f64>,
}

impl Sums {
    fn over(recording: &Recording, separation: &Separation) -> Result<Sums> {
        let (k, m) = (separation.sources().ncols(), recording.n_channels());
        let mut sums = Sums {
            residual: vec![0.0; m],
            reconstructed: vec![ShiftedSums::default(); m],
            sources: vec![ShiftedSums::default(); k],
            gram: Mat::zeros(k + 1, k + 1),
            cross: Mat::zeros(k + 1, m),
        };
        let observations = recording.observations();
        let scaling = separation.scaling();
        for start in (0..recording.n_samples()).step_by(BLOCK) {
            let rows = BLOCK.min(recording.n_samples() - start);
            let kept: Vec<usize> = (start..start + rows)
                .filter(|&t| !recording.is_missing(t))
                .collect();
            let pick = |values: MatRef<'_, f64>| {
                Mat::from_fn(kept.len(), values.ncols(), |row, column| {
                    values[(kept[row], column)]
                })
            };
            let sources = pick(separation.sources());
            let scaled = separation.mix_scaled(sources.as_ref());
            // In the units of the mixer, in which no channel is too large or too small to be
            // squared.
            let observed = scaling
                .apply(pick(observations).as_ref())
                .map_err(strtransformer::Error::from)?;
            sums.add(sources.as_ref(), observed.as_ref(), scaled.as_ref());
        }
        Ok(sums)
    }

    fn add(
        &mut self,
        sources: MatRef<'_, f64>,
        observed: MatRef<'_, f64>,
        reconstructed: MatRef<'_, f64>,
    ) {
        let rows = sources.nrows();
        let k = sources.ncols();
        for j in 0..k {
            sources
                .col(j)
                .iter()
                .for_each(|&value| self.sources[j].add(value));
        }
        for c in 0..self.residual.len() {
            for t in 0..rows {
                self.residual[c] += (observed[(t, c)] - reconstructed[(t, c)]).powi(2);
                self.reconstructed[c].add(reconstructed[(t, c)]);
            }
        }
        let features = Mat::from_fn(
            rows,
            k + 1,
            |t, j| if j < k { sources[(t, j)] } else { 1.0 },
        );
        let shifted = Mat::from_fn(rows, self.residual.len(), |t, c| {
            reconstructed[(t, c)] - self.reconstructed[c].shift
        });
        self.gram += features.transpose() * &features;
        self.cross += features.transpose() * shifted;
    }

    /// Least-squares slopes of the reconstruction on the sources (m×K), and the share of its
    /// variance (every channel counting alike) that they explain. Sources that depend on each other
    /// make the slopes NaN.
    fn linear_fit(&self) -> (Mat<f64>, f64) {
        let (k, m) = (self.sources.len(), self.residual.len());
        let coefficients = match self.gram.llt(Side::Lower) {
            Ok(factor) => factor.solve(&self.cross),
            Err(_) => Mat::full(k + 1, m, f64::NAN),
        };
        let unexplained = (0..m).map(|c| {
            let moments = &self.reconstructed[c];
            let fitted: f64 = (0..=k)
                .map(|j| coefficients[(j, c)] * self.cross[(j, c)])
                .sum();
            (moments.squares - fitted) / moments.variation()
        });
        let shares: Vec<f64> = unexplained.map(|share| 1.0 - share).collect();
        let slopes = Mat::from_fn(m, k, |c, j| coefficients[(j, c)]);
        (slopes, shares.iter().sum::<f64>() / m as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strtransformer::{Config, separate};

    /// Three waves in five noisy channels, two of which are on another scale, with a gap.
    fn run(mut config: Config) -> (Recording, Separation) {
        let values = Mat::from_fn(500, 5, |t, c| {
            let wave = |k: usize| {
                (t as f64 * (0.05 + 0.2 * k as f64)).sin() * ((3 * k + 2 * c) as f64).cos()
            };
            let noise = 0.1 * (1e4 * ((t * 5 + c) as f64).sin()).sin();
            let value = (wave(0) + wave(1) + wave(2) + noise) * [1.0, 1e3, 1.0, 1e-3, 1.0][c] + 7.0;
            if (200..220).contains(&t) {
                f64::NAN
            } else {
                value
            }
        });
        let recording = Recording::from_mat(values).unwrap();
        config.optimizer.steps = Some(5);
        config.branches.patch_sizes = vec![4, 8];
        let separation = separate(&recording, &config).unwrap();
        (recording, separation)
    }

    #[test]
    fn the_residual_is_that_of_the_whole_reconstruction() {
        let (recording, separation) = run(Config::new(3));
        let mixture = Mixture::of(&recording, &separation).unwrap();
        let reconstruction = separation.reconstruction().unwrap();
        for c in 0..5 {
            let kept: Vec<usize> = (0..500).filter(|&t| !recording.is_missing(t)).collect();
            let y = |t: usize| recording.observations()[(t, c)];
            let mean = kept.iter().map(|&t| y(t)).sum::<f64>() / kept.len() as f64;
            let variation: f64 = kept.iter().map(|&t| (y(t) - mean).powi(2)).sum();
            let left: f64 = kept
                .iter()
                .map(|&t| (y(t) - reconstruction[(t, c)]).powi(2))
                .sum();
            assert!((mixture.residual[c] - left / variation).abs() < 1e-9);
        }
        assert!(mixture.explained() > 0.95 && mixture.explained() < 1.0);
        assert!(mixture.linear_share.is_none());
    }

    #[test]
    fn the_linear_fit_of_an_affine_mixer_is_the_mixer() {
        let (recording, separation) = run(Config::new(3));
        let (slopes, share) = Sums::over(&recording, &separation).unwrap().linear_fit();
        let (mixing, _) = separation.mixing().unwrap();
        for c in 0..5 {
            for k in 0..3 {
                let scale = mixing.row(c).norm_l2() / separation.scaling().scale()[c];
                let scaled = mixing[(c, k)] / separation.scaling().scale()[c];
                assert!((slopes[(c, k)] - scaled).abs() < 1e-8 * scale);
            }
        }
        assert!((share - 1.0).abs() < 1e-9, "{share}");
    }

    #[test]
    fn a_nonlinear_mixer_has_a_linear_part() {
        let (recording, separation) = run(Config::nonlinear(3));
        let share = Mixture::of(&recording, &separation)
            .unwrap()
            .linear_share
            .unwrap();
        assert!(share > 0.5 && share <= 1.0, "{share}");
    }
}
