//! Fiber coordinates: S = Zw·A + E.
//!
//! A (K×K) moves whole sources at once; E (T×K) is free in every sample once it is unlocked, and
//! absent where it never is.

use super::{ComponentMap, Initial, Movement, Parts, SourceSpace, initial_linear, some_rows};
use crate::Result;
use crate::adam_group::AdamGroup;
use crate::energy::Window;
use crate::linalg::permute::permute_columns;
use crate::tensors::Tensors;
use crate::view::excerpts::Excerpts;
use crate::view::{Excerpt, Samples, View};
use faer::Mat;
use rand::Rng;

/// Name of A.
const A: &str = "space.a";
/// Name of E.
const E: &str = "space.e";

struct Fiber {
    a: Mat<f64>,
    d_a: Mat<f64>,
    adam: AdamGroup, // of A
    view: Box<dyn View>,
    excerpts: Excerpts,
}

pub(super) fn new(
    parts: &Parts<'_>,
    initial: Initial,
    rng: &mut dyn Rng,
) -> Result<Box<dyn SourceSpace>> {
    let a = initial_linear(parts, &initial, rng);
    let k = a.ncols();
    let moves = parts.plan.unlock_step.is_some();
    let e = match initial {
        // What A leaves of given sources.
        Initial::Given(s) => Some(&s - parts.data.combine(&a)),
        _ => moves.then(|| Mat::zeros(parts.data.rows().n_samples(), k)),
    };
    let (view, excerpts) = parts
        .data
        .view(parts.plan, parts.mixer, e, moves, parts.kernel);
    Ok(Box::new(Fiber {
        d_a: Mat::zeros(k, k),
        adam: AdamGroup::new(k, k),
        a,
        view,
        excerpts,
    }))
}

impl SourceSpace for Fiber {
    fn excerpts(&self) -> &Excerpts {
        &self.excerpts
    }

    fn place(&mut self, excerpt: &Excerpt, windows: &[Window]) {
        self.view.place(Some(&self.a), excerpt, windows);
    }

    fn samples(&self) -> &dyn Samples {
        &*self.view
    }

    fn samples_mut(&mut self) -> &mut dyn Samples {
        &mut *self.view
    }

    fn pull_back(&mut self) {
        self.view.pull_back(Some(&mut self.d_a));
    }

    fn gradient_norm_squared(&self, free: bool) -> f64 {
        let of_e = if free {
            self.view.free_norm_squared()
        } else {
            0.0
        };
        of_e + self.d_a.squared_norm_l2()
    }

    fn update(&mut self, movement: &Movement<'_>) {
        if let Some(step) = movement.linear {
            let (d_a, a) = (self.d_a.as_ref(), self.a.as_mut());
            self.adam.update(step, movement.scale, d_a, a);
        }
        if let Some(step) = &movement.free {
            self.view.move_free(step, movement.scale, movement.pace);
        }
    }

    fn permute(&mut self, order: &[usize]) {
        permute_columns(&mut self.a, order);
        self.adam.permute_columns(order);
        self.view.permute(order);
    }

    fn sources(&self) -> Mat<f64> {
        self.view.sources(Some(&self.a))
    }

    fn judged_sources(&self) -> Mat<f64> {
        self.view.judged_sources(Some(&self.a))
    }

    fn position(&self) -> Mat<f64> {
        if self.view.is_free() {
            let sources = self.judged_sources();
            return some_rows(&sources);
        }
        // Components are white: angles between columns of A are those between sources.
        self.a.clone()
    }

    fn settle(&mut self) -> Mat<f64> {
        self.view.take_sources(Some(&self.a))
    }

    fn set_map(&mut self, map: &ComponentMap) {
        self.a.copy_from(&map.linear);
    }

    fn map(&self) -> Option<ComponentMap> {
        let linear = !self.view.is_free();
        linear.then(|| ComponentMap::linear(self.a.clone()))
    }

    fn save(&self, to: &mut Tensors) {
        to.put(A, self.a.clone());
        self.adam.save(A, to);
        self.view.save(E, to);
    }

    fn restore(&mut self, from: &Tensors) -> Result<()> {
        from.read(A, &mut self.a)?;
        self.adam.restore(A, from)?;
        self.view.restore(E, from)
    }

    fn set_parameter(&mut self, name: &str, value: &Mat<f64>) -> bool {
        match name {
            A => self.a.copy_from(value),
            E => self.view.set_free(value),
            _ => return false,
        }
        true
    }

    fn gradient(&self) -> Tensors {
        let mut gradient = Tensors::default();
        gradient.put(A, self.d_a.clone());
        self.view.save_gradient(E, &mut gradient);
        gradient
    }

    fn touched(&self) -> Vec<(usize, usize, Vec<f64>)> {
        self.view.touched()
    }
}
