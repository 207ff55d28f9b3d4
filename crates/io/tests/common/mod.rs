//! Small problems, runs and comparisons that all tests of this crate share.
#![allow(dead_code)] // every test file uses its own part

use faer::{Mat, MatMut, MatRef};
use safetensors::tensor::TensorInfo;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use strt_synth::ProblemSpec;
use strtransformer::config::{AssignmentRule, Coordinates, Elimination, MixerKind};
use strtransformer::mixer::Mixer;
use strtransformer::train::{Start, StepReport};
use strtransformer::{Config, Recording, Separation, Trainer};

pub const SAMPLES: usize = 120;
pub const CHANNELS: usize = 4;
pub const SOURCES: usize = 2;

/// A recording with names and a rate; `missing` samples are NaN.
pub fn recording(seed: u64, missing: &[usize]) -> Recording {
    let spec = ProblemSpec {
        n_samples: SAMPLES,
        n_sources: SOURCES,
        n_channels: CHANNELS,
        seed,
        ..ProblemSpec::default()
    };
    let mut observations = spec.generate().unwrap().observations;
    missing
        .iter()
        .for_each(|&t| observations[(t, 1)] = f64::NAN);
    let names = ["Fz", "Cz", "Pz", "\"odd\" name, µV"]
        .map(String::from)
        .to_vec();
    Recording::from_mat(observations)
        .unwrap()
        .with_channel_names(names)
        .unwrap()
        .with_sampling_rate(250.1)
        .unwrap()
}

/// Makes a configuration small enough for a test.
pub fn small(mut config: Config) -> Config {
    config.threads = 1;
    config.seed = u64::MAX - 3; // above what TOML promises to every reader
    config.branches.patch_sizes = vec![4, 8];
    config.branches.d_model = 8;
    config.branches.n_heads = 2;
    config.branches.n_layers = 1;
    config.optimizer.steps = Some(10);
    config.mixer.hidden = vec![5, 3];
    config
}

pub fn custom() -> (Config, Start) {
    let mut config = small(Config::new(SOURCES));
    config.mixer.kind = MixerKind::Custom;
    config.mixer.elimination = Elimination::Gradient;
    config.assignment.rule = AssignmentRule::None;
    config.sources.coordinates = Some(Coordinates::Fiber);
    let start = Start {
        mixer: Some(PostNonlinear::boxed(SOURCES)),
        sources: None,
        energy: None,
    };
    (config, start)
}

pub fn train(recording: &Recording, config: &Config, start: Start) -> Separation {
    let mut trainer = Trainer::start(recording, config, start).unwrap();
    trainer.run(&mut ());
    trainer.finish()
}

/// Breaks a run after `step` steps.
pub fn stop_at(step: usize) -> impl FnMut(&StepReport<'_>) -> ControlFlow<()> {
    move |report| {
        if report.step == step {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

pub fn bits<'a>(values: impl IntoIterator<Item = &'a f64>) -> Vec<u64> {
    values.into_iter().map(|value| value.to_bits()).collect()
}

pub fn mat_bits(values: MatRef<'_, f64>) -> (usize, usize, Vec<u64>) {
    let all = (0..values.nrows())
        .flat_map(|i| (0..values.ncols()).map(move |j| values[(i, j)].to_bits()));
    (values.nrows(), values.ncols(), all.collect())
}

/// Every part of the two is the same, bit for bit.
pub fn assert_same(a: &Separation, b: &Separation) {
    let (a, b) = (a.record(), b.record());
    let mats = |a: &Mat<f64>, b: &Mat<f64>| assert_eq!(mat_bits(a.as_ref()), mat_bits(b.as_ref()));
    assert_eq!(a.config, b.config);
    mats(&a.sources, &b.sources);
    assert_eq!(bits(a.mixer.parameters()), bits(b.mixer.parameters()));
    assert_eq!(bits(&a.raw_gaps), bits(&b.raw_gaps));
    assert_eq!(a.controller, b.controller);
    assert!(a.networks.iter().eq(b.networks.iter()), "networks");
    assert_eq!(bits(&a.energy), bits(&b.energy));
    assert_eq!(a.scaling, b.scaling);
    assert_eq!(a.whitening, b.whitening);
    mats(a.unmixing.linear(), b.unmixing.linear());
    assert_eq!(a.unmixing.bends(), b.unmixing.bends());
    assert_eq!(a.gauge, b.gauge);
    assert_eq!(a.scales, b.scales);
    assert_eq!(a.terms, b.terms);
    assert_eq!(
        a.smoothed_objective.to_bits(),
        b.smoothed_objective.to_bits()
    );
    assert_eq!(
        (a.stop, a.converged, a.steps),
        (b.stop, b.converged, b.steps)
    );
    assert_eq!(
        (a.seed, a.restart, &a.restarts),
        (b.seed, b.restart, &b.restarts)
    );
    assert_eq!(
        (&a.channel_names, a.sampling_rate),
        (&b.channel_names, b.sampling_rate)
    );
}

/// The message of a refusal holds all these words.
pub fn refused<T, E: std::fmt::Display>(result: Result<T, E>, words: &[&str]) {
    let message = match result {
        Ok(_) => panic!("should be refused, naming {words:?}"),
        Err(error) => error.to_string(),
    };
    for word in words {
        assert!(
            message.contains(word),
            "\"{message}\" should contain \"{word}\""
        );
    }
}

/// A safetensors file taken apart, to be changed and put together again.
pub struct Taken {
    pub metadata: BTreeMap<String, String>,
    pub tensors: BTreeMap<String, (TensorInfo, Vec<u8>)>,
}

impl Taken {
    pub fn apart(bytes: &[u8]) -> Taken {
        let (length, header) = safetensors::SafeTensors::read_metadata(bytes).unwrap();
        let data = &bytes[8 + length..];
        let tensors = header.tensors().into_iter().map(|(name, info)| {
            let (start, end) = info.data_offsets;
            (name, (info.clone(), data[start..end].to_vec()))
        });
        Taken {
            tensors: tensors.collect(),
            metadata: header
                .metadata()
                .clone()
                .unwrap_or_default()
                .into_iter()
                .collect(),
        }
    }

    pub fn together(&self) -> Vec<u8> {
        let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
        header.insert(
            "__metadata__".into(),
            serde_json::to_value(&self.metadata).unwrap(),
        );
        for (name, (info, bytes)) in &self.tensors {
            let mut info = info.clone();
            info.data_offsets = (data.len(), data.len() + bytes.len());
            data.extend(bytes);
            header.insert(name.clone(), serde_json::to_value(&info).unwrap());
        }
        let header = serde_json::to_vec(&Value::Object(header)).unwrap();
        [&(header.len() as u64).to_le_bytes(), &header[..], &data].concat()
    }
}

/// ŷ_c = tanh(Σ_k W_kc s_k): a mixer of the caller's own.
#[derive(Clone)]
pub struct PostNonlinear {
    n_sources: usize,
    w: Vec<f64>, // K×m, column-major
}

impl PostNonlinear {
    pub fn boxed(n_sources: usize) -> Box<dyn Mixer> {
        let w = vec![0.0; n_sources * CHANNELS];
        Box::new(PostNonlinear { n_sources, w })
    }

    fn input(&self, s: MatRef<'_, f64>, t: usize, c: usize) -> f64 {
        (0..self.n_sources)
            .map(|k| s[(t, k)] * self.w[c * self.n_sources + k])
            .sum()
    }
}

impl Mixer for PostNonlinear {
    fn n_sources(&self) -> usize {
        self.n_sources
    }

    fn n_channels(&self) -> usize {
        CHANNELS
    }

    fn parameters(&self) -> &[f64] {
        &self.w
    }

    fn parameters_mut(&mut self) -> &mut [f64] {
        &mut self.w
    }

    fn initialize(&mut self, seed: u64) {
        let phase = (seed % 100) as f64 + 1.0;
        (0..self.w.len()).for_each(|i| self.w[i] = (phase * (i as f64 + 1.0)).sin());
    }

    fn forward(&self, s: MatRef<'_, f64>, mut y: MatMut<'_, f64>, _scratch: &mut Vec<f64>) {
        for t in 0..s.nrows() {
            (0..CHANNELS).for_each(|c| y[(t, c)] = self.input(s, t, c).tanh());
        }
    }

    fn backward(
        &self,
        s: MatRef<'_, f64>,
        d_y: MatRef<'_, f64>,
        mut d_s: MatMut<'_, f64>,
        d_parameters: &mut [f64],
        _scratch: &mut Vec<f64>,
    ) {
        d_s.fill(0.0);
        for t in 0..s.nrows() {
            for c in 0..CHANNELS {
                let d_z = d_y[(t, c)] * (1.0 - self.input(s, t, c).tanh().powi(2));
                for k in 0..self.n_sources {
                    d_s[(t, k)] += d_z * self.w[c * self.n_sources + k];
                    d_parameters[c * self.n_sources + k] += d_z * s[(t, k)];
                }
            }
        }
    }

    fn clone_box(&self) -> Box<dyn Mixer> {
        Box::new(self.clone())
    }
}
