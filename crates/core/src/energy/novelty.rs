//! What else than second moments tells sources apart, as a part of the kernel energy.
//!
//! ```text
//! g_k − c·J_k        where J_k, what is not Gaussian in innovations, exceeds chance
//! g_k − G_k          where G_k, what forecasts gain that are not linear, exceeds chance
//! g_k − J_k          with J_k of the heavy tails of values whose variance changes
//! ```
//!
//! with J_k of [`strt_classic::kernel::Innovations`], G_k of [`strt_classic::kernel::Forecast`] and
//! the last J_k of [`strt_classic::kernel::Values`], read in one window of every source: the longest
//! of those that the networks read in the same step. A recording has one of them where the kernel energy alone has found that it describes the
//! sources better; then it tells apart what spectra do not, and holds sources of which networks
//! learn little, or learn by heart, in their place.
//!
//! In: moments and samples of a source. Out: the share, and its gradient in the samples. There is
//! nothing to draw, and what is learned is learned anew in every step.

use super::{SourceWindows, Window};
use strt_classic::kernel::{
    Density, Forecast, INNOVATION_SHARE, Innovations, Shape, Values, reach,
};
use strt_signal::rows::Rows;

/// Samples of a window that are forecast at most.
const MOST_TARGETS: usize = 1024;

/// What is judged beside second moments.
pub(crate) enum Judge {
    /// Innovations, by predictors from moments of `n_samples`, and the densities that were found.
    Innovations {
        innovations: Box<Innovations>,
        densities: Vec<Density>,
        n_samples: usize,
    },
    /// Forecasts.
    Forecasts(Box<Forecast>),
    /// Values. They are judged whether or not they have heavy tails: a map that gives them to the
    /// sources must be found first.
    Values(Values),
}

impl Judge {
    /// For predictors of at most `window` − 1 samples and moments of `n_samples`.
    pub fn innovations(densities: &[Density], window: usize, n_samples: usize) -> Judge {
        Judge::Innovations {
            innovations: Box::new(Innovations::new(window, 0)),
            densities: densities.to_vec(),
            n_samples,
        }
    }

    /// By functions of the shape that was found.
    pub fn forecasts(shape: Shape) -> Judge {
        Judge::Forecasts(Box::new(Forecast::new(shape, MOST_TARGETS)))
    }

    /// By heavy tails.
    pub fn values() -> Judge {
        Judge::Values(Values::default())
    }
}

/// c·J_k or G_k of all sources.
pub(crate) struct Novelty {
    judge: Judge,                 // of the source that is looked at
    reach: Vec<u32>,              // of the whole recording
    windows: Vec<Option<Window>>, // of every source
    samples: Vec<f64>,
    d_samples: Vec<f64>,
    d_moments: Vec<f64>,
}

impl Novelty {
    pub fn new(judge: Judge, n_sources: usize, rows: &Rows) -> Novelty {
        Novelty {
            judge,
            reach: reach(rows.view()),
            windows: vec![None; n_sources],
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
        self.d_samples.clear();
        self.d_samples.resize(len, 0.0);
        let reach = &self.reach[first..first + len];
        let found = match &mut self.judge {
            Judge::Forecasts(forecast) => {
                forecast.read(&self.samples, reach);
                forecast.place();
                let found = forecast.evaluate(1.0, &mut self.d_samples);
                found
                    .map(|(gain, _)| gain)
                    .filter(|&gain| gain > forecast.chance())
            }
            Judge::Values(values) => {
                values.read(&self.samples, |t| reach[t] > 0);
                let density = values.best();
                density.map(|(density, _)| values.evaluate(density, 1.0, &mut self.d_samples))
            }
            Judge::Innovations {
                innovations,
                densities,
                n_samples,
            } => {
                innovations.predict(moments, *n_samples);
                innovations.read(&self.samples, reach);
                let density = innovations.beyond_chance(densities);
                density.map(|(density, _)| {
                    let share = INNOVATION_SHARE;
                    let (negentropy, _) = innovations.evaluate(density, share, &mut self.d_samples);
                    self.d_moments.resize(moments.len(), 0.0);
                    let d_moments = &mut self.d_moments;
                    innovations.through_predictor(density, share, &self.samples, d_moments);
                    sources.add_moment_gradient(source, factor, d_moments);
                    share * negentropy
                })
            }
        };
        if found.is_some() {
            sources.add_gradient(source, first, factor, &self.d_samples);
        }
        found.unwrap_or(0.0)
    }
}
