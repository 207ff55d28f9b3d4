//! The golden trajectory: 20 steps of preset `paper` as PyTorch took them, reproduced by the
//! engines.
//!
//! In: `golden/paper.safetensors`, written by `golden/make_golden.py`, an independent
//! implementation with autograd. Compared: the prepared data, every first-step gradient by name, J
//! and its terms before each of the 20 updates. A wrong gradient shows in the first step; a wrong
//! update, weight or rate in the ones that follow.

use faer::MatRef;
use safetensors::{Dtype, SafeTensors};
use strt_kernels::Layout;
use strtransformer::config::{EngineKind, UpdateRule};
use strtransformer::internals::Inspect;
use strtransformer::objective::Terms;
use strtransformer::{Config, Recording, Trainer};

const STEPS: usize = 20;
const K: usize = 3;
const M: usize = 4;

/// A tensor of the fixture, row-major.
struct Tensor {
    shape: Vec<usize>,
    values: Vec<f64>,
}

struct Fixture(SafeTensors<'static>);

impl Fixture {
    fn open() -> Fixture {
        let bytes = include_bytes!("golden/paper.safetensors");
        Fixture(SafeTensors::deserialize(bytes).expect("a safetensors file"))
    }

    fn bytes<const N: usize>(&self, name: &str, dtype: Dtype) -> (Vec<usize>, Vec<[u8; N]>) {
        let view = self
            .0
            .tensor(name)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(view.dtype(), dtype, "{name}");
        (view.shape().to_vec(), view.data().as_chunks().0.to_vec())
    }

    fn tensor(&self, name: &str) -> Tensor {
        let (shape, bytes) = self.bytes(name, Dtype::F64);
        let values = bytes.into_iter().map(f64::from_le_bytes).collect();
        Tensor { shape, values }
    }

    /// A matrix in the column-major order of this crate's matrices.
    fn by_column(&self, name: &str) -> Vec<f64> {
        let Tensor { shape, values } = self.tensor(name);
        let (rows, columns) = (shape[0], shape[1]);
        (0..rows * columns)
            .map(|e| values[e % rows * columns + e / rows])
            .collect()
    }

    /// Masked patches of branch (k, r) in one step.
    fn mask(&self, k: usize, r: usize, step: usize) -> Vec<u32> {
        let (shape, bytes) = self.bytes(&format!("masks.{k}.{r}"), Dtype::I64);
        let all: Vec<u32> = bytes
            .into_iter()
            .map(|b| i64::from_le_bytes(b) as u32)
            .collect();
        all[step * shape[1]..][..shape[1]].to_vec()
    }

    /// θ of the affine mixer, or its gradient: W (K×m) over b (m), column-major.
    fn mixer(&self, prefix: &str) -> Vec<f64> {
        let weights = self.tensor(&format!("{prefix}mixer.w")).values;
        let offset = self.tensor(&format!("{prefix}mixer.b")).values;
        let entry = |k: usize, c: usize| if k < K { weights[k * M + c] } else { offset[c] };
        (0..M)
            .flat_map(|c| (0..=K).map(move |k| (k, c)))
            .map(|(k, c)| entry(k, c))
            .collect()
    }

    /// The preset with the sizes of the fixture.
    fn trainer(&self, engine: EngineKind) -> Trainer {
        let observations = self.tensor("observations");
        assert_eq!(observations.shape[1], M);
        let recording = Recording::from_rows(&observations.values, M).unwrap();
        let mut config = Config::paper(K);
        config.optimizer.rule = UpdateRule::Adam; // as the recorded run
        config.branches.mask_position = true;
        config.engine = engine;
        config.branches.patch_sizes = vec![4, 8, 16];
        config.branches.d_model = 8;
        config.branches.n_heads = 2;
        config.branches.n_layers = 2;
        config.branches.ffn_ratio = 2;
        Trainer::new(&recording, &config).unwrap()
    }

    /// Gives the trainer the initial parameters of the fixture.
    fn start(&self, trainer: &mut Trainer) {
        let shape = trainer
            .parameter("space.s")
            .expect("preset `paper` optimises S itself")
            .shape();
        let sources = self.by_column("sources");
        let sources = MatRef::from_column_major_slice(&sources, shape.0, shape.1);
        trainer.set_parameter("space.s", &sources.to_owned());
        set_vector(trainer, "mixer", &self.mixer(""));
        set_vector(
            trainer,
            "controller.raw_gaps",
            &self.tensor("raw_gaps").values,
        );
        for b in 0..trainer.transformer().engine().branches().n_branches() {
            let (name, layout) = branch(trainer, b);
            let mut values = vec![f64::NAN; layout.len()];
            for spec in layout.tensors() {
                let tensor = self.tensor(&format!("{name}.{}", spec.name));
                assert_eq!(tensor.shape, spec.shape, "{name}.{}", spec.name);
                values[spec.range.clone()].copy_from_slice(&tensor.values);
            }
            set_vector(trainer, &format!("energy.network.{b}"), &values);
        }
    }

    /// J and its terms before each update.
    fn history(&self) -> Vec<[(&'static str, f64); 7]> {
        let names = NAMES.map(|name| match name {
            "objective" => name.to_string(),
            term => format!("terms.{term}"),
        });
        let columns = names.map(|name| self.tensor(&name).values);
        (0..STEPS)
            .map(|step| std::array::from_fn(|i| (NAMES[i], columns[i][step])))
            .collect()
    }
}

const NAMES: [&str; 7] = [
    "objective",
    "reconstruction",
    "structure",
    "separation",
    "smoothness",
    "entropy",
    "gap",
];

/// In the order of [`NAMES`].
fn values(terms: &Terms) -> [f64; 7] {
    [
        terms.total,
        terms.reconstruction,
        terms.structure,
        terms.separation,
        terms.smoothness,
        terms.entropy,
        terms.gap,
    ]
}

fn set_vector(trainer: &mut Trainer, name: &str, values: &[f64]) {
    let column = MatRef::from_column_major_slice(values, values.len(), 1);
    trainer.set_parameter(name, &column.to_owned());
}

/// Name in the fixture and layout of branch b.
fn branch(trainer: &Trainer, b: usize) -> (String, Layout) {
    let branches = trainer.transformer().engine().branches();
    let n_scales = branches.scales.len();
    let layout = Layout::new(branches.scale_of(b).patch, &branches.network);
    (
        format!("branches.{}.{}", b / n_scales, b % n_scales),
        layout,
    )
}

fn columns(matrix: MatRef<'_, f64>) -> Vec<f64> {
    matrix
        .col_iter()
        .flat_map(|c| c.iter().copied().collect::<Vec<_>>())
        .collect()
}

/// Largest deviation of a tensor, relative to its largest entry; NaN counts as infinite.
fn deviation(found: &[f64], golden: &[f64]) -> f64 {
    assert_eq!(found.len(), golden.len());
    let size = golden.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
    assert!(size > 1e-6, "a tensor that vanishes checks nothing");
    let differences = found.iter().zip(golden).map(|(f, g)| (f - g).abs());
    differences.fold(
        0.0,
        |a: f64, d| if d.is_nan() { f64::INFINITY } else { a.max(d) },
    ) / size
}

/// Collects what deviates by more than `tolerance`, and the largest deviation of each kind.
struct Comparison {
    tolerance: f64,
    largest: f64,
    failures: Vec<String>,
}

impl Comparison {
    fn new(tolerance: f64) -> Comparison {
        Comparison {
            tolerance,
            largest: 0.0,
            failures: Vec::new(),
        }
    }

    fn check(&mut self, what: &str, found: &[f64], golden: &[f64]) {
        let deviation = deviation(found, golden);
        self.largest = self.largest.max(deviation);
        if deviation > self.tolerance {
            self.failures.push(format!("{what}: {deviation:.1e}"));
        }
    }

    fn finish(self, what: &str) {
        let Comparison {
            tolerance,
            largest,
            failures,
        } = self;
        println!("{what}: largest relative deviation {largest:.1e}, allowed {tolerance:.0e}");
        assert!(
            failures.is_empty(),
            "{what} deviates by more than {tolerance:.0e}:\n{}",
            failures.join("\n")
        );
    }
}

/// First-step gradients, by name, after the first step.
fn check_gradients(trainer: &Trainer, golden: &Fixture, tolerance: f64) {
    let mut comparison = Comparison::new(tolerance);
    let gradient = trainer.gradient();
    let found = |name: &str| columns(gradient.get(name).expect("a parameter"));
    comparison.check(
        "sources",
        &found("space.s"),
        &golden.by_column("gradients.sources"),
    );
    comparison.check("mixer", &found("mixer"), &golden.mixer("gradients."));
    comparison.check(
        "raw_gaps",
        &found("controller.raw_gaps"),
        &golden.tensor("gradients.raw_gaps").values,
    );
    for b in 0..trainer.transformer().engine().branches().n_branches() {
        let (name, layout) = branch(trainer, b);
        let found = found(&format!("energy.network.{b}"));
        for spec in layout.tensors() {
            let name = format!("{name}.{}", spec.name);
            let golden = golden.tensor(&format!("gradients.{name}")).values;
            comparison.check(&name, &found[spec.range.clone()], &golden);
        }
    }
    comparison.finish("first-step gradients");
}

/// Takes the recorded steps. `objective` bounds J and its terms, `gradients` the first-step
/// gradients, relatively.
fn check(engine: EngineKind, objective: f64, gradients: f64) {
    let golden = Fixture::open();
    let mut trainer = golden.trainer(engine);
    golden.start(&mut trainer);
    let scales = trainer.transformer().engine().branches().scales.clone();
    let mut comparison = Comparison::new(objective);
    for (step, expected) in golden.history().iter().enumerate() {
        let masks: Vec<Vec<u32>> = (0..K * scales.len())
            .map(|b| golden.mask(b / scales.len(), b % scales.len(), step))
            .collect();
        let terms = trainer.step_with_draws(|draws| {
            for (b, mask) in masks.iter().enumerate() {
                draws.set(b, 0, 0, mask, scales[b % scales.len()].n_patches);
            }
        });
        if step == 0 {
            check_gradients(&trainer, &golden, gradients);
        }
        for ((name, golden), found) in expected.iter().zip(values(&terms)) {
            comparison.check(
                &format!("{name} of step {}", step + 1),
                &[found],
                &[*golden],
            );
        }
    }
    comparison.finish("objective and terms");
}

#[test]
fn the_prepared_data_are_those_of_pytorch() {
    let golden = Fixture::open();
    let trainer = golden.trainer(EngineKind::Reference);
    let mut comparison = Comparison::new(1e-12);
    let prepared = columns(trainer.observations().expect("evaluated whole"));
    comparison.check(
        "prepared channels",
        &prepared,
        &golden.by_column("prepared"),
    );
    comparison.finish("prepared channels");

    // The preset starts at the whitened principal components, whose signs are free.
    let s = trainer
        .parameter("space.s")
        .expect("preset `paper` optimises S itself");
    let mut comparison = Comparison::new(1e-9);
    let whitened = golden.by_column("whitened");
    for (k, golden) in whitened.chunks_exact(s.nrows()).enumerate() {
        let found = columns(s.as_ref().subcols(k, 1));
        let sign = (found[0] * golden[0]).signum();
        let found: Vec<f64> = found.iter().map(|v| sign * v).collect();
        comparison.check(&format!("component {k}"), &found, golden);
    }
    comparison.finish("whitened components");
}

#[test]
fn the_reference_engine_follows_pytorch() {
    check(EngineKind::Reference, 1e-9, 1e-8);
}

#[test]
fn the_cpu_engine_follows_pytorch() {
    check(EngineKind::Cpu, 1e-3, 1e-3);
}
