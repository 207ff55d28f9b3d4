//! What is not Gaussian in the innovations of the sources, as a part of the kernel energy.
//!
//! ```text
//! g_k − c·J_k        where J_k exceeds what chance makes of it
//! ```
//!
//! with J_k of [`strt_classic::kernel::Innovations`], read in one window of every source: the
//! longest of those that the networks read in the same step. A recording has it where the kernel
//! energy alone has found that it describes the sources better; then it tells apart what spectra do
//! not, and holds independent samples, of which networks learn nothing, in their place.
//!
//! In: moments and samples of a source. Out: the share, and its gradient in the samples. There is
//! nothing to learn and nothing to draw.

use super::{SourceWindows, Window};
use strt_classic::kernel::{Density, INNOVATION_SHARE, Innovations, reach};
use strt_signal::rows::Rows;

/// c·J_k of all sources.
pub(crate) struct Novelty {
    innovations: Innovations, // of the source that is looked at
    densities: Vec<Density>,
    reach: Vec<u32>,              // of the whole recording
    windows: Vec<Option<Window>>, // of every source
    n_samples: usize,             // that moments are of
    samples: Vec<f64>,
    d_samples: Vec<f64>,
    d_moments: Vec<f64>,
}

impl Novelty {
    /// For predictors of at most `window` − 1 samples and moments of `n_samples`, by the densities
    /// that were found.
    pub fn new(
        densities: &[Density],
        window: usize,
        n_samples: usize,
        n_sources: usize,
        rows: &Rows,
    ) -> Novelty {
        Novelty {
            innovations: Innovations::new(window, 0),
            densities: densities.to_vec(),
            reach: reach(rows.view()),
            windows: vec![None; n_sources],
            n_samples,
            samples: Vec::new(),
            d_samples: Vec::new(),
            d_moments: Vec::new(),
        }
    }

    /// Takes note of the windows of a step.
    pub fn look_at(&mut self, windows: &[Window]) {
        self.windows.fill(None);
        for window in windows {
            let place = &mut self.windows[window.source];
            if place.is_none_or(|longest| window.len > longest.len) {
                *place = Some(*window);
            }
        }
    }

    /// The share of a source with these moments; its gradient in samples and moments is added to
    /// that of the source, times `factor`.
    pub fn evaluate(
        &mut self,
        source: usize,
        moments: &[f64],
        sources: &mut dyn SourceWindows,
        factor: f64,
    ) -> f64 {
        let Some(Window { first, len, .. }) = self.windows[source] else {
            return 0.0;
        };
        if moments[0].is_nan() || moments[0] <= 0.0 {
            return 0.0;
        }
        self.samples.resize(len, 0.0);
        sources.read(source, first, &mut self.samples);
        self.innovations.predict(moments, self.n_samples);
        self.innovations
            .read(&self.samples, &self.reach[first..first + len]);
        let Some((density, _)) = self.innovations.beyond_chance(&self.densities) else {
            return 0.0;
        };
        self.d_samples.clear();
        self.d_samples.resize(len, 0.0);
        let share = INNOVATION_SHARE;
        let (negentropy, _) = self
            .innovations
            .evaluate(density, share, &mut self.d_samples);
        sources.add_gradient(source, first, factor, &self.d_samples);
        self.d_moments.resize(moments.len(), 0.0);
        self.innovations
            .through_predictor(density, share, &self.samples, &mut self.d_moments);
        sources.add_moment_gradient(source, factor, &self.d_moments);
        share * negentropy
    }
}
