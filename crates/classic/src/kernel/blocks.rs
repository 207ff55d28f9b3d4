//! What recordings that are put together from blocks of this one make of its sources.
//!
//! In: components, the sources that the whole recording has, and how often each block is drawn.
//! Out: the unmixing that each drawn recording has near them. Products of two samples belong to the
//! block of the earlier one, and a form with segments of its own has whole segments drawn, so that
//! the moments of a drawn recording are sums of those of the blocks: one pass over the samples
//! serves all of them.

use faer::Mat;
use std::ops::Range;

use super::Components;
use super::fit;
use super::form::Form;
use super::moments::{Moments, regained};
use crate::components::lagged_products;

/// A recording of which blocks can be drawn.
pub struct Blocks {
    form: Form,
    parts: Vec<Part>,
    n_components: usize,
}

/// Samples that are drawn together.
struct Part {
    block: usize,
    n: usize,          // samples that are there
    moments: Mat<f64>, // of every lag, one below the other, for one sample on average
}

impl Blocks {
    /// `n_blocks` blocks, for energies of this form, which has no bands of frequencies.
    pub fn new(components: &Components<'_>, form: &Form, n_blocks: usize) -> Blocks {
        let (t, k) = (components.n_samples(), components.n_components());
        let parts = match form.segments {
            1 => n_blocks,
            segments => segments,
        };
        let part = |p: usize| {
            let samples = p * t / parts..(p + 1) * t / parts;
            Part {
                block: p * n_blocks / parts,
                n: components.rows().part(samples.clone()).n_valid(),
                moments: of_part(components, form, samples),
            }
        };
        Blocks {
            form: form.clone(),
            parts: (0..parts).map(part).collect(),
            n_components: k,
        }
    }

    /// The unmixing near `a`, columns of norm 1, of the recording in which block b occurs
    /// `times[b]` times. `None` where none of its samples is there, or the energy has no value.
    pub fn refit(&self, times: &[usize], a: &Mat<f64>) -> Option<Mat<f64>> {
        let moments = self.drawn(times)?;
        fit::near(std::slice::from_ref(&self.form), &moments, a)
    }

    fn drawn(&self, times: &[usize]) -> Option<Moments> {
        let k = self.n_components;
        let counts: Vec<usize> = self
            .parts
            .iter()
            .map(|part| times[part.block] * part.n)
            .collect();
        let n: usize = counts.iter().sum();
        if n == 0 {
            return None;
        }
        let shares: Vec<f64> = counts.iter().map(|&c| c as f64 / n as f64).collect();
        let of_parts = self.parts.iter().zip(&shares);
        if self.form.segments == 1 {
            let mut sum = Mat::zeros(self.form.lags().len() * k, k);
            for (part, share) in of_parts {
                sum += faer::Scale(*share) * &part.moments;
            }
            return Some(Moments::from_parts(vec![vec![1.0]], n, sum));
        }
        let rows = self.parts[0].moments.nrows();
        let mut stacked = Mat::zeros(self.parts.len() * rows, k);
        for (p, part) in self.parts.iter().enumerate() {
            let mut own = stacked.as_mut().subrows_mut(p * rows, rows);
            own.copy_from(&part.moments);
        }
        Some(Moments::from_parts(vec![shares], n, stacked))
    }
}

/// c·½(z_t·z_{t+l}ᵀ + z_{t+l}·z_tᵀ) of these samples t, for one that is there on average; c as in
/// [`super::moments`].
fn of_part(components: &Components<'_>, form: &Form, samples: Range<usize>) -> Mat<f64> {
    let (z, k, rows) = (
        components.whitened(),
        components.n_components(),
        components.rows(),
    );
    // The samples of a segment are judged by themselves; those of the one spectrum go on.
    let judged = match form.segments {
        1 => 0..components.n_samples(),
        _ => samples.clone(),
    };
    let n = rows.part(samples.clone()).n_valid();
    let lags = form.lags();
    let mut moments = Mat::zeros(lags.len() * k, k);
    let mut product = Mat::zeros(k, k);
    for (q, &lag) in lags.iter().enumerate() {
        let factor = 0.5 / n.max(1) as f64 * regained(rows, judged.clone(), lag);
        let further = samples.start..judged.end.min(samples.end + lag);
        let pieces = rows.pieces_within(further);
        lagged_products(z, pieces, lag, factor, &mut product);
        let mut slot = moments.as_mut().subrows_mut(q * k, k);
        slot.copy_from(&product + product.transpose());
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotation;
    use strt_signal::pieces::Pieces;
    use strt_signal::rows::Rows;

    /// Two waves and noise, white.
    fn components() -> Mat<f64> {
        let values = Mat::from_fn(1009, 3, |t, k| match k {
            0 => (0.4 * t as f64).sin(),
            1 => (0.05 * t as f64).sin(),
            _ => ((t * t * 7919) % 1009) as f64 / 1009.0 - 0.5,
        });
        let q = values.qr().compute_thin_Q();
        faer::Scale(1009f64.sqrt()) * q
    }

    #[test]
    fn every_block_once_is_the_recording_itself() {
        let z = components();
        let whole = Rows::all(1009);
        let pieces = Pieces::new(&[300, 9, 500, 200], 1009).unwrap();
        for rows in [whole.clone(), whole.with_pieces(&pieces)] {
            let components = Components::of_rows(z.as_ref(), rows.view()).unwrap();
            for form in [Form::spectrum(&pieces), Form::variance(&pieces)] {
                let blocks = Blocks::new(&components, &form, 8);
                let drawn = blocks.drawn(&[1; 8]).unwrap();
                let forms = std::slice::from_ref(&form);
                let whole = Moments::new(z.as_ref(), rows.view(), forms);
                assert_eq!(drawn.n_valid(), whole.n_valid());
                let of = |moments: &Moments| {
                    let mut product = Mat::zeros(moments.len() * 3, 3);
                    moments.times(Mat::<f64>::identity(3, 3).as_ref(), &mut product);
                    product
                };
                let off = (of(&drawn) - of(&whole)).norm_max();
                assert!(off < 1e-12, "{off}");
                let shares = drawn.shares()[0].iter().zip(&whole.shares()[0]);
                assert!(shares.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
            }
        }
    }

    #[test]
    fn sources_of_different_spectra_are_found_again_in_drawn_blocks() {
        let z = components();
        let components = Components::new(z.as_ref(), None).unwrap();
        let blocks = Blocks::new(&components, &Form::spectrum(1009), 8);
        let near = rotation::random(3, 5);
        let near = Mat::from_fn(3, 3, |i, j| f64::from(i == j) + 0.1 * near[(i, j)]);
        let found = blocks.refit(&[0, 2, 1, 1, 0, 2, 1, 1], &near).unwrap();
        for k in 0..3 {
            assert!(found[(k, k)].abs() > 0.99, "{found:?}");
        }
        assert!(blocks.refit(&[0; 8], &near).is_none());
    }
}
