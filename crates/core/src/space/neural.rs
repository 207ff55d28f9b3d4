//! Neural coordinates: S is a smooth map of the whitened components, Zw·A and bends one after the
//! other ([`super::layers`]).
//!
//! The bends are 0 until they are unlocked; all but the first wait until the space is deepened. A
//! map has a volume, which takes the place of det C in L_sep (they are the same for V = 0), so that
//! J remains a likelihood.

use super::bend;
use super::layers::{self, Layers, map_rows};
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
/// Name of [Uᵀ | b | V] of the first layer.
const BEND: &str = "space.bend";

/// Name of [Uᵀ | b | V] of a layer, counted from 0.
fn name(layer: usize) -> String {
    match layer {
        0 => BEND.into(),
        _ => format!("{BEND}.{}", layer + 1),
    }
}

struct Neural {
    plan: Plan,
    a: Mat<f64>,
    d_a: Mat<f64>,
    adam: AdamGroup, // of A
    bends: Vec<Mat<f64>>,
    active: usize, // the first so many of them are in the map
    d_bends: Vec<Mat<f64>>,
    bend_adams: Vec<AdamGroup>, // none where the bends never move
    rows: Layers,               // the bends over the rows of a step
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
    let (shape, n_layers) = (config.sources.bend_shape(k), config.sources.layers);
    let moves = parts.plan.unlock_step.is_some();
    let (view, excerpts) =
        parts
            .data
            .map_view(parts.plan, parts.mixer, parts.energy, parts.kernel)?;
    Ok(Box::new(Neural {
        plan: parts.plan.clone(),
        d_a: Mat::zeros(k, k),
        adam: AdamGroup::new(k, k),
        a,
        bends: (0..n_layers).map(|_| bend::start(shape, rng)).collect(),
        d_bends: vec![Mat::zeros(shape.0, shape.1); n_layers],
        bend_adams: (0..if moves { n_layers } else { 0 })
            .map(|_| AdamGroup::new(shape.0, shape.1))
            .collect(),
        active: if parts.plan.is_deep { n_layers } else { 1 },
        rows: Layers::new(view.n_rows(), k, config.sources.hidden, n_layers),
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
        self.d_bends.iter_mut().for_each(|d| d.fill(0.0));
        self.phase = excerpt.phase;
        let (a, bends, rows) = (&self.a, &self.bends[..self.active], &mut self.rows);
        self.view.place(excerpt, |z, mut s| {
            matmul(s.as_mut(), Accum::Replace, z, a, 1.0, Par::Seq);
            rows.forward(bends, z, s);
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
            (&self.a, &self.bends[..self.active]),
            divisors,
            self.view.rows().view(),
            self.phase,
            weight,
            (&mut self.d_a, &mut self.d_bends[..self.active]),
        );
        self.view.dense().0.add_deviation_gradient(d_log_divisor);
        value
    }

    fn pull_back(&mut self) {
        let (dense, z) = self.view.dense();
        let d_s = dense.close();
        let bends = &self.bends[..self.active];
        let d_first = self
            .rows
            .backward(bends, z, d_s, &mut self.d_bends[..self.active]);
        matmul(
            self.d_a.as_mut(),
            Accum::Add,
            z.transpose(),
            d_first,
            1.0,
            Par::Seq,
        );
    }

    fn gradient_norm_squared(&self, free: bool) -> f64 {
        let bends = self.d_bends.iter().filter(|_| free);
        let of_bends: f64 = bends.map(|d| d.squared_norm_l2()).sum();
        of_bends + self.d_a.squared_norm_l2()
    }

    fn update(&mut self, movement: &Movement<'_>) {
        let scale = movement.scale;
        if let Some(step) = movement.linear {
            self.adam
                .update(step, scale, self.d_a.as_ref(), self.a.as_mut());
        }
        if let Some(step) = movement.free {
            let bends = self.bends[..self.active].iter_mut().zip(&self.d_bends);
            for (adam, (bend, d_bend)) in self.bend_adams.iter_mut().zip(bends) {
                adam.update(step, scale, d_bend.as_ref(), bend.as_mut());
            }
        }
    }

    fn permute(&mut self, order: &[usize]) {
        permute_columns(&mut self.a, order);
        self.adam.permute_columns(order);
        for (layer, bend) in self.bends.iter_mut().enumerate() {
            layers::permute(bend, layer, order);
        }
        for (layer, adam) in self.bend_adams.iter_mut().enumerate() {
            layers::permute(&mut adam.first, layer, order);
            layers::permute(&mut adam.second, layer, order);
        }
    }

    fn sources(&self) -> Mat<f64> {
        self.view
            .sources(&|z, s| map_rows(&self.a, &self.bends[..self.active], z, s))
    }

    fn judged_sources(&self) -> Mat<f64> {
        self.view
            .judged_sources(&|z, s| map_rows(&self.a, &self.bends[..self.active], z, s))
    }

    fn settle(&mut self) -> Mat<f64> {
        let (a, bends) = (&self.a, &self.bends[..self.active]);
        self.view.settle(&|z, s| map_rows(a, bends, z, s))
    }

    fn set_map(&mut self, map: &ComponentMap) {
        self.a.copy_from(&map.linear);
        for (bend, given) in self.bends.iter_mut().zip(&map.bends) {
            bend.copy_from(given);
        }
    }

    fn deepen(&mut self) {
        self.active = self.bends.len();
    }

    fn map(&self) -> Option<ComponentMap> {
        Some(ComponentMap {
            linear: self.a.clone(),
            bends: self.bends[..self.active].to_vec(),
        })
    }

    fn save(&self, to: &mut Tensors) {
        to.put(A, self.a.clone());
        self.adam.save(A, to);
        for (layer, bend) in self.bends.iter().enumerate() {
            to.put(name(layer), bend.clone());
        }
        for (layer, adam) in self.bend_adams.iter().enumerate() {
            adam.save(&name(layer), to);
        }
    }

    fn restore(&mut self, from: &Tensors) -> Result<()> {
        from.read(A, &mut self.a)?;
        self.adam.restore(A, from)?;
        for (layer, bend) in self.bends.iter_mut().enumerate() {
            from.read(&name(layer), bend)?;
        }
        for (layer, adam) in self.bend_adams.iter_mut().enumerate() {
            adam.restore(&name(layer), from)?;
        }
        Ok(())
    }

    fn set_parameter(&mut self, name: &str, value: &Mat<f64>) -> bool {
        if name == A {
            self.a.copy_from(value);
            return true;
        }
        let layer = (0..self.bends.len()).find(|&layer| self::name(layer) == name);
        if let Some(layer) = layer {
            self.bends[layer].copy_from(value);
        }
        layer.is_some()
    }

    fn gradient(&self) -> Tensors {
        let mut gradient = Tensors::default();
        gradient.put(A, self.d_a.clone());
        for (layer, d_bend) in self.d_bends.iter().enumerate() {
            gradient.put(name(layer), d_bend.clone());
        }
        gradient
    }
}
