//! What forecasts that are not linear add to the contrast of a kernel energy.
//!
//! ```text
//! −Σ_k G_k
//! ```
//!
//! In: whitened components, and A where it is asked for. Out: the value, its gradient in A, and how
//! it bends. The shape of the functions, one for all sources, and their inducing points are held
//! fixed until they are chosen anew, so that a search has one function to minimise; weights are
//! learned wherever it looks.

use faer::{ColMut, Mat, MatRef};
use rayon::prelude::*;
use strt_signal::rows::RowsView;

use super::forecast::{CHANCE, Forecast, Shape};
use super::novelty::Choice;
use super::stretches::Stretches;

/// Samples at most that are looked at.
const MOST_SAMPLES: usize = 2048;

/// −Σ_k G_k of a recording.
pub(super) struct Forecasts {
    seen: Stretches,
    sources: Vec<Forecast>,
    taken: Vec<bool>,
    shape: Shape,
    s: Mat<f64>,   // n×K
    d_s: Mat<f64>, // n×K
}

impl Forecasts {
    /// Of components (T×K, 0 in missing rows).
    pub fn new(components: MatRef<'_, f64>, rows: RowsView<'_>) -> Forecasts {
        let seen = Stretches::new(components, rows, MOST_SAMPLES);
        let (n, k) = seen.samples.shape();
        Forecasts {
            sources: vec![Forecast::new(Shape::SEARCH, n); k],
            taken: vec![false; k],
            shape: Shape::SEARCH,
            s: Mat::zeros(n, k),
            d_s: Mat::zeros(n, k),
            seen,
        }
    }

    /// The shape that functions have.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Chooses the shape and inducing points for the sources of A, and whose forecasts count. Gives
    /// Σ_k of the nats per sample by which functions describe a source better than linear ones.
    pub fn choose(&mut self, a: &Mat<f64>, choice: Choice) -> f64 {
        self.seen.unmix(a, &mut self.s);
        let shapes: Vec<Shape> = match choice {
            Choice::Search => vec![Shape::SEARCH],
            Choice::Settle => Shape::all().collect(),
        };
        let reach = &self.seen.reach;
        let (s, sources) = (&self.s, self.sources.par_iter_mut().enumerate());
        let beyond: Vec<Vec<f64>> = sources
            .map(|(j, forecast)| forecast.beyond_chance(s.col_as_slice(j), reach, &shapes))
            .collect();
        let total = |shape: usize| beyond.iter().map(|of| of[shape].max(0.0)).sum::<f64>();
        let most = (0..shapes.len()).max_by(|&x, &y| total(x).total_cmp(&total(y)));
        let best = most.expect("at least one shape");
        self.shape = shapes[best];
        let mut sum = 0.0;
        for (j, forecast) in self.sources.iter_mut().enumerate() {
            // Of mixtures, what is less than chance leads somewhere too.
            let nats = match choice {
                Choice::Search => beyond[j][best] + CHANCE,
                Choice::Settle => beyond[j][best],
            };
            self.taken[j] = choice == Choice::Search || nats > 0.0;
            forecast.set_shape(self.shape);
            forecast.read(self.s.col_as_slice(j), reach);
            forecast.place();
            sum += nats.max(0.0) / forecast.n_targets().max(1) as f64;
        }
        sum
    }

    /// The value at A; its gradient is added to `d_a`, and what it adds to the second derivatives
    /// of every source's row put in place of `bends`.
    pub fn evaluate(&mut self, a: &Mat<f64>, d_a: &mut Mat<f64>, bends: &mut [f64]) -> f64 {
        self.seen.unmix(a, &mut self.s);
        self.d_s.fill(0.0);
        let (s, reach, taken) = (&self.s, &self.seen.reach, &self.taken);
        let gradients: Vec<ColMut<'_, f64>> = self.d_s.col_iter_mut().collect();
        let sources = self.sources.par_iter_mut().zip(gradients).enumerate();
        let of_source = |(j, (forecast, d_s)): (usize, (&mut Forecast, ColMut<'_, f64>))| {
            if !taken[j] {
                return None;
            }
            forecast.read(s.col_as_slice(j), reach);
            let d_s = d_s.try_as_col_major_mut()?.as_slice_mut();
            forecast.evaluate(-1.0, d_s)
        };
        let found: Vec<Option<(f64, f64)>> = sources.map(of_source).collect();
        let mut value = 0.0;
        for (slot, found) in bends.iter_mut().zip(found) {
            let (gain, bend) = found.unwrap_or((0.0, 0.0));
            value -= gain;
            *slot = bend;
        }
        self.seen.pull_back(&self.d_s, d_a);
        value
    }
}
