//! Direct coordinates: S itself is the parameter, free in every sample, as in the paper.

use super::{ComponentMap, Initial, Movement, Parts, SourceSpace, noise};
use crate::Result;
use crate::energy::Window;
use crate::tensors::Tensors;
use crate::view::excerpts::Excerpts;
use crate::view::{Excerpt, Samples, View};
use faer::Mat;
use rand::Rng;

/// Name of S.
const S: &str = "space.s";

struct Direct {
    view: Box<dyn View>, // S = E
    excerpts: Excerpts,
}

pub(super) fn new(
    parts: &Parts<'_>,
    initial: Initial,
    rng: &mut dyn Rng,
) -> Result<Box<dyn SourceSpace>> {
    let s = match initial {
        Initial::Random => {
            let n_samples = parts.data.rows().n_samples();
            noise(n_samples, parts.plan.config().n_sources, rng)
        }
        Initial::Linear(a) => parts.data.combine(&a),
        Initial::Given(s) => s,
    };
    let (view, excerpts) = parts
        .data
        .view(parts.plan, parts.mixer, Some(s), true, parts.kernel);
    Ok(Box::new(Direct { view, excerpts }))
}

impl SourceSpace for Direct {
    fn excerpts(&self) -> &Excerpts {
        &self.excerpts
    }

    fn place(&mut self, excerpt: &Excerpt, windows: &[Window]) {
        self.view.place(None, excerpt, windows);
    }

    fn samples(&self) -> &dyn Samples {
        &*self.view
    }

    fn samples_mut(&mut self) -> &mut dyn Samples {
        &mut *self.view
    }

    fn pull_back(&mut self) {
        self.view.pull_back(None);
    }

    fn gradient_norm_squared(&self, free: bool) -> f64 {
        if free {
            self.view.free_norm_squared()
        } else {
            0.0
        }
    }

    fn update(&mut self, movement: &Movement<'_>) {
        if let Some(step) = &movement.free {
            self.view.move_free(step, movement.scale, movement.pace);
        }
    }

    fn permute(&mut self, order: &[usize]) {
        self.view.permute(order);
    }

    fn sources(&self) -> Mat<f64> {
        self.view.sources(None)
    }

    fn judged_sources(&self) -> Mat<f64> {
        self.view.judged_sources(None)
    }

    fn settle(&mut self) -> Mat<f64> {
        self.view.take_sources(None)
    }

    fn map(&self) -> Option<ComponentMap> {
        None
    }

    fn save(&self, to: &mut Tensors) {
        self.view.save(S, to);
    }

    fn restore(&mut self, from: &Tensors) -> Result<()> {
        self.view.restore(S, from)
    }

    fn set_parameter(&mut self, name: &str, value: &Mat<f64>) -> bool {
        let known = name == S;
        if known {
            self.view.set_free(value);
        }
        known
    }

    fn gradient(&self) -> Tensors {
        let mut gradient = Tensors::default();
        self.view.save_gradient(S, &mut gradient);
        gradient
    }

    fn touched(&self) -> Vec<(usize, usize, Vec<f64>)> {
        self.view.touched()
    }
}
