//! Second moments of whitened components, from one pass over them: what every kernel energy of a
//! linear combination of them follows from.
//!
//! ```text
//! M_sl = c_sl/n_s · Σ ½(z_t·z_{t+l}ᵀ + z_{t+l}·z_tᵀ)        both samples in segment s, both there
//! ```
//!
//! and both in one piece of the recording, and the powers in bands of forms that have them
//! ([`super::bands`]), after the lags. n_s counts the samples that are there, not the pairs:
//! with missing samples as zeros the moments of any combination are then an autocorrelation,
//! positive definite whatever is missing. Samples missing here and there make them look like
//! moments with some white noise; gaps change next to nothing. c_sl makes up for the pairs that the
//! ends of short pieces take away ([`regained`]), and is 1 elsewhere.

use crate::components::lagged_products;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use std::ops::Range;
use strt_signal::rows::RowsView;

use super::bands::Bands;
use super::form::Form;

/// M_sl of K components, stacked.
#[derive(Clone, Debug)]
pub struct Moments {
    k: usize,
    shares: Vec<Vec<f64>>, // of every form: of its segments, or of its bands
    n_valid: usize,
    stacked: Mat<f64>, // (Q·K)×K, form by form, one M_sl after the other
}

impl Moments {
    /// Of components (T×K, 0 in missing rows), of which `rows` says which are there and contiguous.
    pub fn new(components: MatRef<'_, f64>, rows: RowsView<'_>, forms: &[Form]) -> Moments {
        let k = components.ncols();
        let n_matrices = forms.iter().map(Form::n_moments).sum::<usize>();
        let mut stacked = Mat::zeros(n_matrices * k, k);
        let mut first = 0;
        let mut shares = Vec::with_capacity(forms.len());
        for form in forms {
            let height = form.n_moments() * k;
            let own = stacked.as_mut().subrows_mut(first, height);
            let n_bands = form.bands.as_ref().map_or(0, Bands::len);
            let (lags, bands) = own.split_at_row_mut(height - n_bands * k);
            let of_segments = of_form(components, rows, form, lags);
            shares.push(match &form.bands {
                Some(of_form) => of_form.powers(components, rows, bands),
                None => of_segments,
            });
            first += height;
        }
        Moments {
            k,
            shares,
            n_valid: rows.n_valid(),
            stacked,
        }
    }

    /// Those that were worked out elsewhere, (Q·K)×K, of `n_valid` samples.
    pub(super) fn from_parts(shares: Vec<Vec<f64>>, n_valid: usize, stacked: Mat<f64>) -> Moments {
        Moments {
            k: stacked.ncols(),
            shares,
            n_valid,
            stacked,
        }
    }

    /// Those of further forms below those of the first, of the same components.
    pub(super) fn stack(first: &Moments, further: &Moments) -> Moments {
        let shares = first.shares.iter().chain(&further.shares);
        Moments {
            k: first.k,
            shares: shares.cloned().collect(),
            n_valid: first.n_valid,
            stacked: faer::concat![[first.stacked], [further.stacked]],
        }
    }

    /// ω_s of every form; the shares of its bands, where it has some.
    pub fn shares(&self) -> &[Vec<f64>] {
        &self.shares
    }

    /// Samples that are there.
    pub fn n_valid(&self) -> usize {
        self.n_valid
    }

    /// Number Q of matrices.
    pub fn len(&self) -> usize {
        self.stacked.nrows() / self.k
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All M_sl·A, one below the other ((Q·K)×K), in place of `product`.
    pub fn times(&self, a: MatRef<'_, f64>, product: &mut Mat<f64>) {
        matmul(
            product.as_mut(),
            Accum::Replace,
            &self.stacked,
            a,
            1.0,
            Par::Seq,
        );
    }

    /// a_kᵀM_sl a_k for all (s, l), where `product` is what [`Moments::times`] made of A.
    pub fn of_source(&self, a: &[f64], product: &[f64], moments: &mut [f64]) {
        for (moment, rows) in moments.iter_mut().zip(product.chunks_exact(self.k)) {
            *moment = a.iter().zip(rows).map(|(a, m)| a * m).sum();
        }
    }

    /// 2 Σ_q d_q·M_q a_k: the gradient in a_k of what has the gradient d in its moments; added,
    /// times `factor`.
    pub fn pull_back(&self, d: &[f64], product: &[f64], factor: f64, d_a: &mut [f64]) {
        for (d, rows) in d.iter().zip(product.chunks_exact(self.k)) {
            let factor = 2.0 * factor * d;
            d_a.iter_mut()
                .zip(rows)
                .for_each(|(slot, m)| *slot += factor * m);
        }
    }
}

/// Pieces of up to this length have the pairs made up for that their ends take away. Within them
/// smooth sources hardly change, and what is left of their moments would look like white noise. In
/// longer ones pairs of the ends differ from others, and the moments would be those of no process.
/// Settled by `ar`, `gp` and `gpclose` in pieces of 8 to 250 samples, and sines in pieces of 8 to
/// 32.
const SHORT_PIECE: usize = 16;

/// c: for short pieces, the pairs at this lag that the samples would have if they were one piece,
/// over those that they have; 1 where there are none, and for longer pieces.
pub fn regained(rows: RowsView<'_>, samples: Range<usize>, lag: usize) -> f64 {
    let of_pieces = rows.pieces_within(samples.clone());
    let (mut pairs, mut n_pieces) = (0, 0);
    for piece in of_pieces {
        pairs += piece.len().saturating_sub(lag);
        n_pieces += 1;
    }
    if pairs == 0 || n_pieces == 1 || samples.len() > SHORT_PIECE * n_pieces {
        1.0
    } else {
        (samples.len() - lag) as f64 / pairs as f64
    }
}

/// M_sl of one form in place of `stacked`; gives ω_s.
fn of_form(
    components: MatRef<'_, f64>,
    rows: RowsView<'_>,
    form: &Form,
    mut stacked: MatMut<'_, f64>,
) -> Vec<f64> {
    let (t, k) = components.shape();
    let lags = form.lags();
    let mut product = Mat::zeros(k, k);
    let mut there = Vec::with_capacity(form.segments);
    for s in 0..form.segments {
        let (first, end) = (form.first_sample(s, t), form.first_sample(s + 1, t));
        let n = rows.part(first..end).n_valid();
        there.push(n);
        for (q, &lag) in lags.iter().enumerate() {
            let factor = 0.5 / n.max(1) as f64 * regained(rows, first..end, lag);
            let pieces = rows.pieces_within(first..end);
            lagged_products(components, pieces, lag, factor, &mut product);
            let at = (s * lags.len() + q) * k;
            for j in 0..k {
                for i in 0..k {
                    stacked[(at + i, j)] = product[(i, j)] + product[(j, i)];
                }
            }
        }
    }
    let n_valid = there.iter().sum::<usize>();
    there.iter().map(|&n| n as f64 / n_valid as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use strt_signal::pieces::Pieces;
    use strt_signal::rows::Rows;

    #[test]
    fn moments_of_pieces_are_the_sum_of_those_of_each() {
        let (lengths, k) = ([50, 7, 1, 120, 30], 2);
        let n: usize = lengths.iter().sum();
        let pieces = Pieces::new(&lengths, n).unwrap();
        // Every piece jumps to another level: a product across a boundary would show.
        let level = |t: usize| 10.0 * (pieces.at(t).start % 7) as f64;
        let z = Mat::from_fn(n, k, |t, k| level(t) + ((t * (k + 2)) as f64 * 0.7).sin());
        let form = Form {
            segments: 1,
            window: 12,
            dilations: vec![1, 4],
            ridge: 0.03,
            bands: None,
        };
        let stacked = |z: MatRef<'_, f64>, rows: &Rows| {
            Moments::new(z, rows.view(), std::slice::from_ref(&form)).stacked
        };
        let together = stacked(z.as_ref(), &Rows::all(n).with_pieces(&pieces));
        let mut sum = Mat::<f64>::zeros(together.nrows(), k);
        for piece in pieces.ranges() {
            let part = z.as_ref().subrows(piece.start, piece.len());
            let share = piece.len() as f64 / n as f64;
            sum += faer::Scale(share) * stacked(part, &Rows::all(piece.len()));
        }
        assert!((&together - &sum).norm_max() < 1e-9);
        let across = stacked(z.as_ref(), &Rows::all(n));
        assert!((&across - &sum).norm_max() > 1.0);
    }

    #[test]
    fn short_pieces_have_lost_pairs_made_up_for() {
        let factor = |length: usize, lag: usize| {
            let pieces = Pieces::new(&[length; 10], 10 * length).unwrap();
            let rows = Rows::all(10 * length).with_pieces(&pieces);
            regained(rows.view(), 0..10 * length, lag)
        };
        assert_eq!((factor(8, 0), factor(8, 3)), (1.0, 77.0 / 50.0));
        assert_eq!((factor(8, 8), factor(17, 3)), (1.0, 1.0));
        assert_eq!(regained(Rows::all(12).view(), 0..12, 3), 1.0);
    }
}
