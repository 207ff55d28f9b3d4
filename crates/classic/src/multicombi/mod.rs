//! MULTICOMBI: EFICA and WASOBI, each for the sources that it separates better.
//!
//! EFICA separates by distributions, WASOBI by spectra, and both tell the interference-to-signal
//! ratio ISR_kl that theory expects of source l in their source k. Starting with one group of all
//! K sources, a group of d > 1 is divided:
//!
//! 1. Both methods separate it, and the sources of each are clustered by their ISR
//!    (`clusters.rs`), so that sources which a method cannot tell apart stay together.
//! 2. The method whose best cluster has the lower interference wins. Its clusters that are better
//!    than the other's best are accepted; what is left is one more cluster.
//! 3. Clusters of one source are done; the others are groups to be divided in their turn.
//!
//! A group that neither method separates to `threshold` is left as the better one found it. The
//! criterion is the largest change of an accepted source in its method's last iteration, in units
//! of that method's tolerance. Missing samples are left out as by the two methods.
//!
//! P. Tichavský, Z. Koldovský, A. Yeredor, G. Gómez-Herrero and E. Doron, *A hybrid technique for
//! blind separation of non-Gaussian and time-correlated sources using a multicomponent approach*,
//! IEEE Trans. Neural Networks 19(3), 2008. Each source is found by one of the two structures: one
//! that is weakly both is found no better than by either.

mod clusters;

use faer::Mat;

use self::clusters::{Cluster, partition};
use super::rated::Rated;
use super::{
    Components, Convergence, Efica, Method, Unmixing, Wasobi, ensure, ensure_samples, rotation,
};
use crate::error::Result;

/// MULTICOMBI with its options.
///
/// ```
/// use strt_classic::{Method, MultiCombi, Wasobi};
/// # let recording = strt_synth::ProblemSpec::default().generate()?.recording()?;
/// let wasobi = Wasobi { order: 10, ..Wasobi::default() };
/// let found = MultiCombi { wasobi, ..MultiCombi::default() }.separate(&recording, 3)?;
/// assert!(found.convergence().converged, "{}", found.convergence());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MultiCombi {
    /// Options of EFICA; `seed` and `start` are those of the first group. Default [`Efica`]'s.
    pub efica: Efica,
    /// Options of WASOBI. Default [`Wasobi`]'s.
    pub wasobi: Wasobi,
    /// A group whose best cluster has more interference than this is left as it is. Default 0.05.
    pub threshold: f64,
}

impl Default for MultiCombi {
    fn default() -> Self {
        MultiCombi {
            efica: Efica::default(),
            wasobi: Wasobi::default(),
            threshold: 0.05,
        }
    }
}

impl Method for MultiCombi {
    fn name(&self) -> &'static str {
        "multicombi"
    }

    fn least_samples(&self, n_sources: usize) -> usize {
        let (efica, wasobi) = (&self.efica, &self.wasobi);
        efica
            .least_samples(n_sources)
            .max(wasobi.least_samples(n_sources))
    }

    fn unmix(&self, components: &Components<'_>) -> Result<Unmixing> {
        self.efica.check()?;
        self.wasobi.check()?;
        ensure(
            self.threshold.is_finite() && self.threshold > 0.0,
            "multicombi.threshold",
            self.threshold,
            "expected a finite number above 0",
        )?;
        ensure_samples(self, components)?;
        let k = components.n_components();
        let start = rotation::start(self.efica.start.as_ref(), k, self.efica.seed)?;
        let recording = Whole {
            z: components.complete(),
            covariances: self.wasobi.covariances(components)?,
        };
        if k == 1 {
            return Ok(Unmixing {
                matrix: Mat::identity(1, 1),
                convergence: Convergence::direct(),
            });
        }
        let mut found = Sources::default();
        let mut groups = vec![(Mat::identity(k, k), start)];
        while let Some((basis, start)) = groups.pop() {
            for (columns, resolved) in self.divide(&recording, &basis, start, &mut found)? {
                if resolved {
                    found.columns.push(columns);
                } else {
                    let d = columns.ncols();
                    let basis = rotation::nearest(columns.as_ref())?;
                    groups.push((basis, Mat::identity(d, d)));
                }
            }
        }
        let columns: Vec<_> = found.columns.iter().flat_map(|c| c.col_iter()).collect();
        Ok(Unmixing {
            matrix: Mat::from_fn(k, k, |i, j| columns[j][i]),
            convergence: Convergence::of_search(found.iterations, found.largest_change, 1.0),
        })
    }
}

/// What both methods start from.
struct Whole {
    /// Complete samples of the whitened components.
    z: Mat<f64>,
    /// At lags 0, …, L.
    covariances: Vec<Mat<f64>>,
}

/// Sources found so far.
#[derive(Default)]
struct Sources {
    /// Unmixings (K×d) of one group each.
    columns: Vec<Mat<f64>>,
    iterations: usize,
    /// In units of the tolerance.
    largest_change: f64,
}

impl MultiCombi {
    /// Divides the group with the orthonormal basis B (K×d), EFICA starting at the rotation `start`
    /// of it: unmixings of its parts, each with whether it is done.
    fn divide(
        &self,
        recording: &Whole,
        basis: &Mat<f64>,
        start: Mat<f64>,
        found: &mut Sources,
    ) -> Result<Vec<(Mat<f64>, bool)>> {
        let efica = self.efica.search(&(&recording.z * basis), start)?;
        let covariances: Vec<Mat<f64>> = recording
            .covariances
            .iter()
            .map(|c| basis.transpose() * c * basis)
            .collect();
        let wasobi = self.wasobi.search(&covariances, recording.z.nrows())?;
        found.iterations += efica.iterations + wasobi.iterations;
        let (of_efica, of_wasobi) = (
            partition(&efica.interference),
            partition(&wasobi.interference),
        );
        let bests = (of_efica[0].interference, of_wasobi[0].interference);
        let (winner, clusters, tolerance) = if bests.0 < bests.1 {
            (efica, of_efica, self.efica.tolerance)
        } else {
            (wasobi, of_wasobi, self.wasobi.tolerance)
        };
        let parts = if bests.0.min(bests.1) > self.threshold {
            vec![((0..basis.ncols()).collect(), true)]
        } else {
            accepted(clusters, bests.0.max(bests.1))
        };
        Ok(parts
            .into_iter()
            .map(|(members, resolved)| {
                if resolved {
                    let changes = members.iter().map(|&k| winner.changes[k] / tolerance);
                    found.largest_change = changes.fold(found.largest_change, f64::max);
                }
                (basis * chosen(&winner, &members), resolved)
            })
            .collect())
    }
}

/// Clusters below the other method's best, the first in any case, and all other sources as one;
/// each with whether it is a single source.
fn accepted(clusters: Vec<Cluster>, other: f64) -> Vec<(Vec<usize>, bool)> {
    let (mut parts, mut rest) = (Vec::new(), Vec::new());
    for cluster in clusters {
        if parts.is_empty() || cluster.interference < other {
            parts.push(cluster.members);
        } else {
            rest.extend(cluster.members);
        }
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
        .into_iter()
        .map(|members| {
            let single = members.len() == 1;
            (members, single)
        })
        .collect()
}

/// The unmixing of some of the sources.
fn chosen(found: &Rated, members: &[usize]) -> Mat<f64> {
    Mat::from_fn(found.matrix.nrows(), members.len(), |i, j| {
        found.matrix[(i, members[j])]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_other_method_does_better_is_left_to_it() {
        let cluster = |members: &[usize], interference| Cluster {
            members: members.to_vec(),
            interference,
        };
        let clusters = vec![
            cluster(&[2], 0.1),
            cluster(&[0, 4], 0.2),
            cluster(&[1], 0.4),
            cluster(&[3], 0.5),
        ];
        let parts = accepted(clusters.clone(), 0.3);
        let expected = [(vec![2], true), (vec![0, 4], false), (vec![1, 3], false)];
        assert_eq!(parts, expected);
        // A tie accepts the first, so that every division divides.
        assert_eq!(accepted(clusters, 0.1)[0], (vec![2], true));
    }
}
