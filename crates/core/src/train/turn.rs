//! What bent sources are turned by: a linear map after the bend.
//!
//! Once a map of the channels has undone what is nonlinear, what is left is a matrix, and there the
//! kernel energy knows more than gradients lead to: it is minimised over all matrices at once, and
//! innovations and forecasts can be judged, which bends no longer feign.
//!
//! In: sources. Out: the matrix, what was judged, and by how much it turns them. Whether a run takes
//! it is decided in `proposal.rs`.

use super::moves;
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Accum, Mat, Par, Side};
use strt_classic::kernel::Novel;
use strt_classic::{Components, Fast};
use strt_signal::columns::col_mut;
use strt_signal::rows::Rows;

/// Nats per sample and source that innovations or forecasts must gain.
const LEAST_GAIN: f64 = 0.02;

/// The share of the largest power of S that its smallest must exceed.
const DEPENDENT: f64 = 1e-6;

/// S·R in place of S.
pub(super) struct Turn {
    /// R (K×K): S·R has variance 1.
    pub matrix: Mat<f64>,
    /// B with S̃ = S̃'·B, of sources of variance 1.
    pub back: Mat<f64>,
    /// What is judged beside second moments.
    pub novel: Novel,
    /// The largest angle in radians by which it turns a source.
    pub angle: f64,
}

impl Turn {
    /// Of sources (T×K, anything in missing rows); `None` where there is nothing to search for.
    pub fn of(mut sources: Mat<f64>, rows: &Rows, seed: u64) -> Option<Turn> {
        let (deviations, whitening) = whiten(&mut sources, rows)?;
        let components = Components::of_rows(sources.as_ref(), rows.view()).ok()?;
        let k = components.n_components();
        let fast = Fast {
            seed,
            ..Fast::default()
        };
        let mut found = fast.solve(&components).ok()?;
        if found.novel.is_something() && found.saved < LEAST_GAIN * k as f64 {
            let by_moments = Fast {
                innovations: false,
                forecasts: false,
                ..fast
            };
            found = by_moments.solve(&components).ok()?;
        }
        // The sources as they are, in coordinates in which they are white.
        let present = whitening.partial_piv_lu().inverse();
        let present = Mat::from_fn(k, k, |i, j| present[(i, j)] / deviations[j]);
        let turned = moves::like(&found.unmixing.matrix, &present);
        let cosine = |j: usize| (present.col(j).transpose() * turned.col(j)).abs();
        let least = (0..k).map(cosine).fold(1.0, f64::min);
        let matrix = &whitening * &turned;
        let scaled = Mat::from_fn(k, k, |i, j| deviations[i] * matrix[(i, j)]);
        Some(Turn {
            back: scaled.partial_piv_lu().inverse(),
            matrix,
            novel: found.novel,
            angle: least.acos(),
        })
    }
}

/// Makes sources white, 0 in missing rows. Gives the deviations that they had and the matrix that
/// makes them white; `None` where one is a combination of others.
fn whiten(sources: &mut Mat<f64>, rows: &Rows) -> Option<(Vec<f64>, Mat<f64>)> {
    let (n, k) = (rows.n_valid() as f64, sources.ncols());
    for j in 0..k {
        let column = col_mut(sources.as_mut(), j);
        rows.zero_missing(column);
        let mean = column.iter().sum::<f64>() / n;
        column.iter_mut().for_each(|value| *value -= mean);
        rows.zero_missing(column);
    }
    let mut covariance = Mat::zeros(k, k);
    let (left, right) = (sources.transpose(), sources.as_ref());
    matmul(
        &mut covariance,
        Accum::Replace,
        left,
        right,
        1.0 / n,
        Par::Seq,
    );
    let deviations: Vec<f64> = (0..k).map(|j| covariance[(j, j)].sqrt()).collect();
    let spectrum = covariance.self_adjoint_eigen(Side::Lower).ok()?;
    let (axes, powers) = (spectrum.U(), spectrum.S().column_vector());
    if powers[0].is_nan() || powers[0] <= DEPENDENT * powers[k - 1] {
        return None;
    }
    let whitening = Mat::from_fn(k, k, |i, j| axes[(i, j)] / powers[j].sqrt());
    let mut white = Mat::zeros(sources.nrows(), k);
    matmul(
        &mut white,
        Accum::Replace,
        &*sources,
        &whitening,
        1.0,
        Par::Seq,
    );
    *sources = white;
    Some((deviations, whitening))
}

#[cfg(test)]
mod tests {
    use super::*;
    use strt_classic::kernel::Beside;
    use strt_synth::{ProblemSpec, SourceKind};

    const B: [f64; 9] = [1.0, 0.4, -0.3, 0.5, -1.2, 0.6, 2.0, 0.7, 3.1];

    /// True sources and S = sources·B, with 99 in rows that are missing.
    fn mixed(kind: SourceKind) -> (Mat<f64>, Mat<f64>, Rows) {
        let spec = ProblemSpec {
            kind,
            n_samples: 2000,
            seed: 904,
            ..ProblemSpec::default()
        };
        let truth = spec.generate().unwrap().sources;
        let missing: Vec<bool> = (0..2000).map(|t| t % 500 < 3).collect();
        let rows = Rows::new(&missing);
        let mut s = &truth * Mat::from_fn(3, 3, |i, j| B[3 * i + j]);
        (0..2000)
            .filter(|&t| missing[t])
            .for_each(|t| s.row_mut(t).fill(99.0));
        (truth, s, rows)
    }

    /// Correlation of two columns over rows that are there.
    fn correlation(a: &Mat<f64>, i: usize, b: &Mat<f64>, j: usize, rows: &Rows) -> f64 {
        let (mut sums, mut n) = ([0.0; 5], 0.0);
        rows.for_each_valid(|t| {
            let (x, y) = (a[(t, i)], b[(t, j)]);
            let terms = [x, y, x * x, y * y, x * y];
            sums.iter_mut()
                .zip(terms)
                .for_each(|(sum, term)| *sum += term);
            n += 1.0;
        });
        let [x, y, xx, yy, xy] = sums.map(|sum| sum / n);
        (xy - x * y) / ((xx - x * x) * (yy - y * y)).sqrt()
    }

    #[test]
    fn sources_are_turned_back_by_what_tells_them_apart() {
        for (kind, beside) in [
            (SourceKind::LaplaceAr, Beside::Innovations),
            (SourceKind::Henon, Beside::Forecasts),
            (SourceKind::Ar, Beside::Nothing),
        ] {
            let (truth, s, rows) = mixed(kind);
            let turn = Turn::of(s.clone(), &rows, 1).unwrap();
            assert_eq!(turn.novel.kind(), beside, "{kind:?}");
            assert!(turn.angle > 0.3, "{kind:?}: {}", turn.angle);
            let turned = &s * &turn.matrix;
            for i in 0..3 {
                let found = |j| correlation(&truth, i, &turned, j, &rows).abs();
                let best = (0..3).map(found).fold(0.0, f64::max);
                assert!(best > 0.98, "{kind:?}: source {i} at {best}");
            }
            // Sources that are in place stay there.
            let again = Turn::of(turned, &rows, 1).unwrap();
            assert!(again.angle < 0.05, "{kind:?}: {}", again.angle);
        }
    }

    #[test]
    fn the_way_back_is_that_of_sources_of_variance_1() {
        let (_, s, rows) = mixed(SourceKind::LaplaceAr);
        let turn = Turn::of(s.clone(), &rows, 1).unwrap();
        let standard = |s: &Mat<f64>| {
            let n = rows.n_valid() as f64;
            let mut standard = s.clone();
            for j in 0..3 {
                let (mut sum, mut square) = (0.0, 0.0);
                rows.for_each_valid(|t| sum += s[(t, j)]);
                rows.for_each_valid(|t| square += (s[(t, j)] - sum / n).powi(2));
                let deviation = (square / n).sqrt();
                (0..2000).for_each(|t| standard[(t, j)] = (s[(t, j)] - sum / n) / deviation);
            }
            standard
        };
        let (before, after) = (standard(&s), standard(&(&s * &turn.matrix)));
        let error = (after * &turn.back - &before).norm_max();
        assert!(error < 1e-9 * before.norm_max(), "{error}");
    }

    #[test]
    fn a_source_that_is_a_combination_of_others_is_left() {
        let (_, mut s, rows) = mixed(SourceKind::Ar);
        (0..2000).for_each(|t| s[(t, 2)] = s[(t, 0)] - 2.0 * s[(t, 1)]);
        assert!(Turn::of(s, &rows, 1).is_none());
    }
}
