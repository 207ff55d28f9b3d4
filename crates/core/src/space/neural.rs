//! Neural coordinates: S = Zw·A + tanh(Zw·U + b)·V, a smooth map of the whitened components.
//!
//! The bend ([`super::bend`]) is 0 until it is unlocked. A map has a volume, which takes the place
//! of det C in L_sep (they are the same for V = 0), so that J remains a likelihood.

use super::bend::{self, Bend, map_rows};
use super::{ComponentMap, Initial, Movement, Parts, SourceSpace, initial_linear};
use crate::Result;
use crate::adam_group::AdamGroup;
use crate::config::{Plan, SeparationForm};
use crate::energy::Window;
use crate::linalg::permute::permute_columns;
use crate::tensors::Tensors;
use crate::view::excerpts::Excerpts;
use crate::view::map::MapView;
use crate::view::{Excerpt, Samples};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rand::Rng;

/// Name of A.
const A: &str = "space.a";
/// Name of [Uᵀ | b | V].
const BEND: &str = "space.bend";

struct Neural {
    plan: Plan,
    a: Mat<f64>,
    d_a: Mat<f64>,
    adam: AdamGroup, // of A
    bend: Mat<f64>,
    d_bend: Mat<f64>,
    bend_adam: Option<AdamGroup>, // absent where the bend never moves
    rows: Bend,                   // the bend over the rows of a step
    phase: f64,
    view: MapView,
    excerpts: Excerpts,
}

pub(super) fn new(
    parts: &Parts<'_>,
    initial: Initial,
    rng: &mut dyn Rng,
) -> Result<Box<dyn SourceSpace>> {
    let config = parts.plan.config();
    // Of given sources the part that is not linear need not be a map of the channels.
    let a = initial_linear(parts, &initial, rng);
    let k = a.ncols();
    let (h, columns) = config.sources.bend_shape(k);
    let (view, excerpts) =
        parts
            .data
            .map_view(parts.plan, parts.mixer, parts.energy, parts.kernel)?;
    Ok(Box::new(Neural {
        plan: parts.plan.clone(),
        d_a: Mat::zeros(k, k),
        adam: AdamGroup::new(k, k),
        a,
        bend: bend::start((h, columns), rng),
        d_bend: Mat::zeros(h, columns),
        bend_adam: parts.plan.unlock_step.map(|_| AdamGroup::new(h, columns)),
        rows: Bend::new(view.n_rows(), k, config.sources.hidden),
        phase: 0.0,
        view,
        excerpts,
    }))
}

impl SourceSpace for Neural {
    fn excerpts(&self) -> &Excerpts {
        &self.excerpts
    }

    fn place(&mut self, excerpt: &Excerpt, _windows: &[Window]) {
        self.d_a.fill(0.0);
        self.d_bend.fill(0.0);
        self.phase = excerpt.phase;
        let (a, bend, rows) = (&self.a, &self.bend, &mut self.rows);
        self.view.place(excerpt, |z, mut s| {
            matmul(s.as_mut(), Accum::Replace, z, a, 1.0, Par::Seq);
            rows.forward(bend, z, s);
        });
    }

    fn samples(&self) -> &dyn Samples {
        &self.view
    }

    fn samples_mut(&mut self) -> &mut dyn Samples {
        &mut self.view
    }

    fn separate(&mut self) -> f64 {
        let weight = self.plan.separation;
        if self.plan.config().weights.separation_form != SeparationForm::LogDet {
            return self.view.separate();
        }
        if weight == 0.0 {
            return 0.0;
        }
        let gauge = self.view.gauge();
        let divisors = (0..self.a.ncols()).map(|k| gauge.divisor(k));
        let (value, d_log_divisor) = self.rows.volume(
            (&self.a, &self.bend),
            divisors,
            self.view.rows().view(),
            self.phase,
            weight,
            (&mut self.d_a, &mut self.d_bend),
        );
        self.view.dense().0.add_deviation_gradient(d_log_divisor);
        value
    }

    fn pull_back(&mut self) {
        let (dense, z) = self.view.dense();
        let d_s = dense.close();
        matmul(
            self.d_a.as_mut(),
            Accum::Add,
            z.transpose(),
            d_s,
            1.0,
            Par::Seq,
        );
        self.rows.backward(&self.bend, z, d_s, &mut self.d_bend);
    }

    fn gradient_norm_squared(&self, free: bool) -> f64 {
        let of_bend = if free {
            self.d_bend.squared_norm_l2()
        } else {
            0.0
        };
        of_bend + self.d_a.squared_norm_l2()
    }

    fn update(&mut self, movement: &Movement<'_>) {
        let scale = movement.scale;
        if let Some(step) = movement.linear {
            self.adam
                .update(step, scale, self.d_a.as_ref(), self.a.as_mut());
        }
        if let (Some(step), Some(adam)) = (movement.free, &mut self.bend_adam) {
            adam.update(step, scale, self.d_bend.as_ref(), self.bend.as_mut());
        }
    }

    fn permute(&mut self, order: &[usize]) {
        permute_columns(&mut self.a, order);
        self.adam.permute_columns(order);
        bend::permute(&mut self.bend, order);
        if let Some(adam) = &mut self.bend_adam {
            bend::permute(&mut adam.first, order);
            bend::permute(&mut adam.second, order);
        }
    }

    fn sources(&self) -> Mat<f64> {
        self.view
            .sources(&|z, s| map_rows(&self.a, &self.bend, z, s))
    }

    fn judged_sources(&self) -> Mat<f64> {
        self.view
            .judged_sources(&|z, s| map_rows(&self.a, &self.bend, z, s))
    }

    fn settle(&mut self) -> Mat<f64> {
        let (a, bend) = (&self.a, &self.bend);
        self.view.settle(&|z, s| map_rows(a, bend, z, s))
    }

    fn set_map(&mut self, map: &ComponentMap) {
        self.a.copy_from(&map.linear);
        if let Some(bend) = &map.bend {
            self.bend.copy_from(bend);
        }
    }

    fn map(&self) -> Option<ComponentMap> {
        Some(ComponentMap {
            linear: self.a.clone(),
            bend: Some(self.bend.clone()),
        })
    }

    fn save(&self, to: &mut Tensors) {
        to.put(A, self.a.clone());
        self.adam.save(A, to);
        to.put(BEND, self.bend.clone());
        if let Some(adam) = &self.bend_adam {
            adam.save(BEND, to);
        }
    }

    fn restore(&mut self, from: &Tensors) -> Result<()> {
        from.read(A, &mut self.a)?;
        self.adam.restore(A, from)?;
        from.read(BEND, &mut self.bend)?;
        match &mut self.bend_adam {
            Some(adam) => adam.restore(BEND, from),
            None => Ok(()),
        }
    }

    fn set_parameter(&mut self, name: &str, value: &Mat<f64>) -> bool {
        match name {
            A => self.a.copy_from(value),
            BEND => self.bend.copy_from(value),
            _ => return false,
        }
        true
    }

    fn gradient(&self) -> Tensors {
        let mut gradient = Tensors::default();
        gradient.put(A, self.d_a.clone());
        gradient.put(BEND, self.d_bend.clone());
        gradient
    }
}
