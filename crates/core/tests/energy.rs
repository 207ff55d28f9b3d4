//! An energy of the caller's own in place of the branch networks: trained, restarted, interrupted,
//! resumed and used on new data without the trainer or the objective knowing it.

mod common;

use common::{affine, nonlinear, recording, with_gaps};
use faer::Mat;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use strt_kernels::gradcheck::relative_error;
use strtransformer::config::{AssignmentRule, Coordinates};
use strtransformer::controller::{ControllerGradient, ControllerState};
use strtransformer::energy::{AdamStep, Energy, Found, MakeEnergy, Rng, SourceWindows, Window};
use strtransformer::internals::Inspect;
use strtransformer::tensors::Tensors;
use strtransformer::train::{Session, SessionEnd, Start, StepReport, separate_observed};
use strtransformer::{Result, Trainer};

/// Samples of a window.
const LEN: usize = 60;
/// Added to a mean square before its logarithm.
const FLOOR: f64 = 0.1;

/// ½ ln(mean (s_t − a_k s_{t−1})² + FLOOR) of one window of each source: how badly a first-order
/// recursion with a learned a_k predicts it.
struct Recursion {
    coefficients: Vec<f64>,
    d_coefficients: Vec<f64>,
    rate: f64,
    windows: Vec<Window>,
    by_source: Vec<f64>,
    predicted: Vec<f64>,
    by_scale: Vec<f64>,
}

impl Recursion {
    fn new(n_sources: usize, n_scales: usize) -> Recursion {
        let window = |source| Window {
            source,
            first: 0,
            len: LEN,
        };
        Recursion {
            coefficients: vec![0.2; n_sources],
            d_coefficients: vec![0.0; n_sources],
            rate: 0.0,
            windows: (0..n_sources).map(window).collect(),
            by_source: vec![0.0; n_sources],
            predicted: vec![1.0; n_sources],
            by_scale: vec![0.0; n_sources * n_scales],
        }
    }

    fn make() -> MakeEnergy {
        Arc::new(|plan, _rows, _seed| {
            let config = plan.config();
            let n_scales = config.branches.patch_sizes.len();
            Ok(Box::new(Recursion::new(config.n_sources, n_scales)))
        })
    }
}

impl Energy for Recursion {
    fn accepts(&self, _samples: &Range<usize>) -> Result<()> {
        Ok(())
    }

    fn sample(&mut self, samples: &Range<usize>, rng: &mut dyn Rng) {
        for window in &mut self.windows {
            let spare = (samples.len() - LEN + 1) as u64;
            window.first = samples.start + (rng.next_u64() % spare) as usize;
        }
    }

    fn windows(&self) -> &[Window] {
        &self.windows
    }

    fn evaluate(
        &mut self,
        sources: &mut dyn SourceWindows,
        _controller: &ControllerState,
        weight: f64,
        _d_controller: &mut ControllerGradient,
    ) -> f64 {
        let (k, n) = (self.windows.len() as f64, (LEN - 1) as f64);
        let n_scales = self.by_scale.len() / self.windows.len();
        let (mut s, mut d_s) = ([0.0; LEN], [0.0; LEN]);
        let mut value = 0.0;
        for window in &self.windows {
            let j = window.source;
            sources.read(j, window.first, &mut s);
            let a = self.coefficients[j];
            let errors: Vec<f64> = (1..LEN).map(|t| s[t] - a * s[t - 1]).collect();
            let square = errors.iter().map(|e| e * e).sum::<f64>() / n;
            self.by_source[j] = 0.5 * (square + FLOOR).ln();
            self.predicted[j] = (1.0 - square).clamp(0.0, 1.0);
            self.by_scale[j * n_scales..][..n_scales].fill(square);
            value += self.by_source[j] / k;
            let factor = weight / (k * n * (square + FLOOR));
            d_s.fill(0.0);
            self.d_coefficients[j] = 0.0;
            for (t, e) in (1..LEN).zip(errors) {
                d_s[t] += factor * e;
                d_s[t - 1] -= factor * a * e;
                self.d_coefficients[j] -= factor * e * s[t - 1];
            }
            sources.add_gradient(j, window.first, 1.0, &d_s);
        }
        value
    }

    fn found(&self) -> Found<'_> {
        Found {
            by_source: &self.by_source,
            predicted: &self.predicted,
            by_scale: &self.by_scale,
        }
    }

    fn gradient_norm_squared(&self) -> f64 {
        self.d_coefficients.iter().map(|d| d * d).sum()
    }

    fn update(&mut self, step: &AdamStep, scale: f64) {
        self.rate = step.rate;
        for (a, d) in self.coefficients.iter_mut().zip(&self.d_coefficients) {
            *a -= step.rate * scale * d;
        }
    }

    fn permute(&mut self, order: &[usize]) {
        self.coefficients = order.iter().map(|&j| self.coefficients[j]).collect();
    }

    fn save_parameters(&self, to: &mut Tensors) {
        to.put_vector("energy.coefficients", &self.coefficients);
    }

    fn restore_parameters(&mut self, from: &Tensors) -> Result<()> {
        from.read_vector("energy.coefficients", &mut self.coefficients)
    }

    fn save_optimizer(&self, to: &mut Tensors) {
        to.put_vector("energy.rate", &[self.rate]);
    }

    fn restore_optimizer(&mut self, from: &Tensors) -> Result<()> {
        from.read_vector("energy.rate", std::slice::from_mut(&mut self.rate))
    }

    fn gradient(&self) -> Tensors {
        let mut gradient = Tensors::default();
        gradient.put_vector("energy.coefficients", &self.d_coefficients);
        gradient
    }
}

fn start() -> Start {
    Start {
        energy: Some(Recursion::make()),
        ..Start::default()
    }
}

fn flat(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.ncols())
        .flat_map(|k| (0..matrix.nrows()).map(move |t| matrix[(t, k)]))
        .collect()
}

/// Its gradient reaches every parameter of the sources, in each kind of coordinates and storage.
#[test]
fn gradients_pass_through_every_space() {
    for coordinates in [Coordinates::Direct, Coordinates::Fiber, Coordinates::Neural] {
        for (block, gaps) in [(0, false), (0, true), (80, false)] {
            let mut config = nonlinear();
            config.sources.coordinates = Some(coordinates);
            config.weights.smoothness = 0.0;
            (config.branches.crop, config.optimizer.block) = (64, block);
            let recording = if gaps { with_gaps(240) } else { recording(240) };
            let mut trainer = Trainer::start(&recording, &config, start()).unwrap();
            common::scatter(&mut trainer);
            trainer.evaluate_at(0);
            let gradient = trainer.gradient();
            for name in ["space.a", "space.bend", "energy.coefficients"] {
                let Some(analytic) = gradient.get(name) else {
                    continue;
                };
                let mut value = trainer.parameter(name).unwrap();
                let rows = value.nrows();
                let mut at = |i: usize, offset: f64| {
                    value[(i % rows, i / rows)] += offset;
                    trainer.set_parameter(name, &value);
                    let total = trainer.evaluate_at(0).total;
                    value[(i % rows, i / rows)] -= offset;
                    trainer.set_parameter(name, &value);
                    total
                };
                let n = analytic.nrows() * analytic.ncols();
                let h = 1e-5;
                let numeric: Vec<f64> =
                    (0..n).map(|i| (at(i, h) - at(i, -h)) / (2.0 * h)).collect();
                let error = relative_error(&flat(&analytic.to_owned()), &numeric, 1e-3);
                assert!(
                    error < 1e-5,
                    "{coordinates:?}, blocks of {block}, gaps {gaps}: {name} is off by {error:.1e}"
                );
            }
        }
    }
}

/// Restarts, an interrupt and a resume give the bits of an unbroken run.
#[test]
fn it_is_restarted_interrupted_and_resumed() {
    for mut config in [affine(), nonlinear()] {
        (config.restarts, config.optimizer.steps) = (Some(2), Some(9));
        config.assignment.rule = AssignmentRule::MinimalCost;
        let recording = recording(200);
        let whole = separate_observed(&recording, &config, start(), &mut ()).unwrap();
        assert!(whole.record().networks.get("energy.coefficients").is_some());
        let mut session = Session::new(&recording, &config, start()).unwrap();
        let mut one_step = |_: &StepReport<'_>| ControlFlow::Break(());
        while session.run(&mut one_step).unwrap() == SessionEnd::Interrupted {
            session = Session::resume(&recording, session.state(), start()).unwrap();
        }
        let resumed = session.finish();
        assert_eq!(resumed.sources(), whole.sources());
        assert!(resumed.record().networks == whole.record().networks);
    }
}

/// A model without a map of its own needs the energy again, and says so where it is not given.
#[test]
fn new_data_are_judged_by_the_same_energy() {
    let mut config = nonlinear();
    config.optimizer.steps = Some(10);
    let recording = recording(200);
    let separation = separate_observed(&recording, &config, start(), &mut ()).unwrap();
    let alone = separation.transform(&recording, 5, &mut ()).unwrap_err();
    assert!(alone.to_string().contains("energy.network.0"), "{alone}");
    let transformed = separation.transform_with(Recursion::make(), &recording, 5, &mut ());
    assert_eq!(transformed.unwrap().sources.shape(), (200, 3));
}

#[test]
fn an_energy_that_does_not_fit_is_refused() {
    let refused = |make: MakeEnergy| {
        let start = Start {
            energy: Some(make),
            ..Start::default()
        };
        let trainer = Trainer::start(&recording(200), &affine(), start);
        trainer.err().expect("a refusal").to_string()
    };
    let message = refused(Arc::new(|_, _, _| Ok(Box::new(Recursion::new(3, 0)))));
    assert!(message.contains("values by scale"), "{message}");
    let message = refused(Arc::new(|_, _, _| Ok(Box::new(Recursion::new(2, 2)))));
    assert!(message.contains("expected 3, found 2"), "{message}");
}
