//! What cannot run is refused, with a message that names what was found, what is expected and what
//! to do.
//!
//! One table for the configuration. A test sees to it that every relation between settings and
//! every check of `config/check.rs` has a row; that bounds hold is also tested for all settings at
//! once, in the tests of `strt-io`. Then recordings, and recordings against the configuration.

mod common;

use common::{affine, recording, settling};
use faer::{Mat, MatMut, MatRef};
use strtransformer::config::{
    AssignmentRule, Elimination, EnergyForm, EngineKind, Init, MixerKind, settings,
};
use strtransformer::mixer::{Mixer, MlpMixer};
use strtransformer::train::Start;
use strtransformer::{Config, Error, Recording, Trainer, separate};

/// Field, value as the message shows it, part of what is expected, and how to spoil a good
/// configuration.
type Row = (&'static str, &'static str, &'static str, fn(&mut Config));

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("n_sources", "0", "at least 1", |c| c.n_sources = 0),
    ("restarts", "0", "from 1 to", |c| c.restarts = Some(0)),
    ("branches.patch_sizes", "[]", "ascending sizes", |c| c.branches.patch_sizes = vec![]),
    ("branches.patch_sizes", "[0, 4]", "a list of whole numbers, each at least 1", |c| {
        c.branches.patch_sizes = vec![0, 4];
    }),
    ("branches.patch_sizes", "[8, 4]", "ascending sizes", |c| c.branches.patch_sizes = vec![8, 4]),
    ("branches.patch_sizes", "[4, 4]", "ascending sizes", |c| c.branches.patch_sizes = vec![4, 4]),
    ("branches.stride_ratio", "0.0", "above 0 and at most 1", |c| c.branches.stride_ratio = 0.0),
    ("branches.stride_ratio", "1.5", "above 0 and at most 1", |c| c.branches.stride_ratio = 1.5),
    ("branches.stride_ratio", "nan", "above 0 and at most 1", |c| {
        c.branches.stride_ratio = f64::NAN;
    }),
    ("branches.mask_ratio", "0.0", "above 0 and at most 1", |c| c.branches.mask_ratio = 0.0),
    ("branches.mask_ratio", "1.1", "above 0 and at most 1", |c| c.branches.mask_ratio = 1.1),
    ("branches.n_heads", "0", "at least 1", |c| c.branches.n_heads = 0),
    ("branches.n_layers", "0", "at least 1", |c| c.branches.n_layers = 0),
    ("branches.ffn_ratio", "0", "at least 1", |c| c.branches.ffn_ratio = 0),
    ("branches.d_model", "0", "multiple of n_heads = 2", |c| c.branches.d_model = 0),
    ("branches.d_model", "7", "multiple of n_heads = 2", |c| c.branches.d_model = 7),
    ("branches.d_model", "8", "multiple of n_heads = 3", |c| c.branches.n_heads = 3),
    ("branches.d_model", "1026", "at most 512 per head", |c| {
        (c.branches.d_model, c.branches.n_heads) = (1026, 2);
    }),
    ("branches.crop", "20", "two patches of 16: at least 32 samples", |c| {
        (c.branches.crop, c.branches.stride_ratio) = (20, 1.0);
    }),
    ("controller.sharpness", "0.0", "above 0", |c| c.controller.sharpness = 0.0),
    ("controller.slope_min", "-1.0", "above 0", |c| c.controller.slope_min = -1.0),
    ("controller.slope_max", "0.5", "above slope_min = 0.5", |c| {
        (c.controller.slope_min, c.controller.slope_max) = (0.5, 0.5);
    }),
    ("controller.slope_max", "inf", "finite", |c| c.controller.slope_max = f64::INFINITY),
    ("controller.gap_floor", "0.0", "above 0", |c| c.controller.gap_floor = 0.0),
    ("controller.gap_target", "-0.1", "at least 0", |c| c.controller.gap_target = -0.1),
    ("controller.weight_floor", "1.1", "from 0 to 1", |c| c.controller.weight_floor = 1.1),
    ("weights.observation_variance", "0.0", "above 0", |c| {
        c.weights.observation_variance = Some(0.0);
    }),
    ("weights.observation_variance", "nan", "above 0", |c| {
        c.weights.observation_variance = Some(f64::NAN);
    }),
    ("weights.structure", "-1.0", "at least 0", |c| c.weights.structure = Some(-1.0)),
    ("weights.separation", "inf", "finite", |c| c.weights.separation = Some(f64::INFINITY)),
    ("weights.smoothness", "-1.0", "at least 0", |c| c.weights.smoothness = -1.0),
    ("weights.entropy", "nan", "finite", |c| c.weights.entropy = f64::NAN),
    ("weights.gap", "-1.0", "at least 0", |c| c.weights.gap = -1.0),
    ("weights.kappa", "0.0", "above 0", |c| c.weights.kappa = Some(0.0)),
    ("weights.energy_block", "64", "weights.energy to \"log\"", |c| {
        (c.weights.energy, c.weights.energy_block) = (EnergyForm::Raw, Some(64));
    }),
    ("optimizer.steps", "0", "at least 1", |c| c.optimizer.steps = Some(0)),
    ("weights.kernel", "1.5", "from 0 to 1", |c| c.weights.kernel = Some(1.5)),
    ("optimizer.rates.fiber", "-0.1", "at least 0", |c| c.optimizer.rates.fiber = -0.1),
    ("optimizer.rates.sources", "inf", "finite", |c| {
        c.optimizer.rates.sources = Some(f64::INFINITY);
    }),
    ("optimizer.rates.networks", "-0.1", "at least 0", |c| c.optimizer.rates.networks = -0.1),
    ("optimizer.rates.controller", "-0.1", "at least 0", |c| c.optimizer.rates.controller = -0.1),
    ("optimizer.rates.mixer", "nan", "finite", |c| c.optimizer.rates.mixer = f64::NAN),
    ("optimizer.weight_decay", "-1.0", "at least 0", |c| c.optimizer.weight_decay = -1.0),
    ("optimizer.clip", "-1.0", "at least 0", |c| c.optimizer.clip = -1.0),
    ("optimizer.block", "3", "at least 4", |c| c.optimizer.block = 3),
    ("optimizer.schedule.floor", "1.5", "from 0 to 1", |c| c.optimizer.schedule.floor = 1.5),
    ("optimizer.early_stopping.patience", "0", "at least 1", |c| {
        c.optimizer.early_stopping.patience = 0;
    }),
    ("optimizer.early_stopping.tolerance", "-1.0", "at least 0", |c| {
        c.optimizer.early_stopping.tolerance = -1.0;
    }),
    ("mixer.hidden", "[]", "at least one hidden layer", |c| {
        (c.mixer.kind, c.mixer.hidden) = (MixerKind::Mlp, vec![]);
    }),
    ("mixer.hidden", "[4, 0]", "from 1 to", |c| {
        (c.mixer.kind, c.mixer.hidden) = (MixerKind::Mlp, vec![4, 0]);
    }),
    ("mixer.ridge", "0.0", "above 0", |c| c.mixer.ridge = Some(0.0)),
    ("sources.hidden", "0", "from 1 to 4096", |c| c.sources.hidden = 0),
    ("sources.hidden", "4097", "from 1 to 4096", |c| c.sources.hidden = 4097),
    ("sources.epsilon", "0.0", "above 0", |c| c.sources.epsilon = 0.0),
    (
        "sources.init", "\"nss\"",
        "needs 302 complete samples for 150 sources and 240 are there",
        |c| (c.n_sources, c.sources.init) = (150, Some(Init::Nss)),
    ),
    ("sources.unlock", "-0.5", "from 0 to 1", |c| c.sources.unlock = Some(-0.5)),
    ("threads", "1025", "from 0 to 1024", |c| c.threads = 1025),
    ("sources.freedom", "\"predictable\"", "set it to \"full\"", |c| {
        (c.sources.standardize, c.sources.unlock) = (false, Some(0.5));
    }),
];

#[test]
fn every_unusable_value_is_refused_by_field() {
    let recording = recording(240);
    assert!(affine().check(&recording).is_ok());
    for &(name, value, part, spoil) in TABLE {
        let mut config = affine();
        spoil(&mut config);
        match config.check(&recording) {
            Err(Error::Config(error)) => {
                assert_eq!((error.key, error.found.as_str()), (name, value));
                let reason = error.reason.to_string();
                assert!(reason.contains(part), "{error}: should contain \"{part}\"");
            }
            Err(other) => panic!("{name} = {value}: another error came first: {other}"),
            Ok(_) => panic!("{name} = {value} was accepted"),
        }
    }
}

#[test]
fn every_check_has_a_row() {
    let source = include_str!("../src/config/check.rs");
    let is_field = |text: &&str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.".contains(c))
    };
    // Every other piece between quotation marks is a string literal; messages hold spaces, keys
    // do not.
    let literals = source.split('"').skip(1).step_by(2).filter(is_field);
    let related = settings().filter(|setting| setting.has_relation());
    for key in literals.chain(related.map(|setting| setting.key)) {
        assert!(TABLE.iter().any(|row| row.0 == key), "no row for {key}");
    }
}

#[test]
fn values_at_the_edge_are_accepted() {
    let mut config = affine();
    config.branches.stride_ratio = 1.0;
    config.branches.mask_ratio = 1.0;
    config.weights.observation_variance = Some(f64::INFINITY);
    config.weights.structure = Some(0.0);
    config.optimizer.rates.networks = 0.0;
    config.controller.weight_floor = 1.0;
    config.assignment.at = vec![0, 1];
    assert!(config.check(&recording(240)).is_ok());
    // Wide heads are a limit of the fast engine only.
    (config.engine, config.branches.d_model) = (EngineKind::Reference, 1026);
    assert!(config.check(&recording(240)).is_ok());
}

#[track_caller]
fn says<T, E: std::fmt::Display>(result: Result<T, E>, parts: &[&str]) {
    let message = match result {
        Ok(_) => panic!("should be refused with {parts:?}"),
        Err(error) => error.to_string(),
    };
    for part in parts {
        assert!(
            message.contains(part),
            "\"{message}\" should contain \"{part}\""
        );
    }
}

#[test]
fn what_the_caller_gives_must_fit_the_configuration() {
    let recording = recording(240);
    let start =
        |config: &Config, start: Start| Trainer::start(&recording, config, start).map(|_| ());
    let sources = |rows: usize, value: f64| Start {
        sources: Some(Mat::full(rows, 3, value)),
        ..Start::default()
    };
    let mixer = |n_sources: usize| Start {
        mixer: Some(Box::new(MlpMixer::affine(n_sources, 4))),
        ..Start::default()
    };

    let (mut given, mut custom) = (affine(), affine());
    given.sources.init = Some(Init::Given);
    custom.mixer.kind = MixerKind::Custom;
    says(
        start(&given, Start::default()),
        &["sources.init = \"given\"", "Trainer::start"],
    );
    says(
        start(&affine(), sources(240, 0.0)),
        &["sources.init", "given initial sources need"],
    );
    says(
        start(&given, sources(239, 0.0)),
        &["initial sources", "240 samples × 3 sources", "239 × 3"],
    );
    says(
        start(&given, sources(240, f64::NAN)),
        &["sample 0 of source 0 is NaN", "finite"],
    );
    says(
        start(&custom, Start::default()),
        &["mixer.kind = \"custom\"", "Trainer::start"],
    );
    // A mixer that a later stage needs is asked for before the first step.
    let mut staged = settling();
    staged.mixer.kind = MixerKind::Custom;
    says(
        start(&staged, Start::default()),
        &["mixer.kind = \"custom\"", "Trainer::start"],
    );
    says(
        start(&staged, mixer(2)),
        &["mixer", "3 sources → 4 channels", "2 sources → 4 channels"],
    );
    says(
        start(&affine(), mixer(3)),
        &["mixer.kind", "needs the kind \"custom\""],
    );
    says(
        start(&custom, mixer(2)),
        &["mixer", "3 sources → 4 channels", "2 sources → 4 channels"],
    );
}

/// An affine map that says nothing about itself: no linear head, no permutation of its inputs.
#[derive(Clone)]
struct Opaque(MlpMixer);

impl Mixer for Opaque {
    fn n_sources(&self) -> usize {
        self.0.n_sources()
    }
    fn n_channels(&self) -> usize {
        self.0.n_channels()
    }
    fn parameters(&self) -> &[f64] {
        self.0.parameters()
    }
    fn parameters_mut(&mut self) -> &mut [f64] {
        self.0.parameters_mut()
    }
    fn initialize(&mut self, seed: u64) {
        self.0.initialize(seed);
    }
    fn forward(&self, s: MatRef<'_, f64>, y: MatMut<'_, f64>, scratch: &mut Vec<f64>) {
        self.0.forward(s, y, scratch);
    }
    fn backward(
        &self,
        s: MatRef<'_, f64>,
        d_y: MatRef<'_, f64>,
        d_s: MatMut<'_, f64>,
        d_parameters: &mut [f64],
        scratch: &mut Vec<f64>,
    ) {
        self.0.backward(s, d_y, d_s, d_parameters, scratch);
    }
    fn clone_box(&self) -> Box<dyn Mixer> {
        Box::new(self.clone())
    }
}

#[test]
fn what_a_mixer_cannot_do_is_not_asked_of_it() {
    let recording = recording(240);
    let start = |config: &Config| {
        let mixer: Option<Box<dyn Mixer>> = Some(Box::new(Opaque(MlpMixer::affine(3, 4))));
        Trainer::start(
            &recording,
            config,
            Start {
                mixer,
                ..Start::default()
            },
        )
        .map(|_| ())
    };
    let mut config = affine();
    config.mixer.kind = MixerKind::Custom;
    config.mixer.elimination = Elimination::LeastSquares;
    says(start(&config), &["mixer.elimination", "gradient"]);
    config.mixer.elimination = Elimination::Gradient;
    config.assignment.rule = AssignmentRule::CorrelationTime;
    says(start(&config), &["assignment.rule", "none"]);
    config.assignment.rule = AssignmentRule::None;
    assert!(start(&config).is_ok());
}

#[test]
fn recordings_without_usable_numbers_are_refused() {
    says(
        Recording::from_mat(Mat::zeros(0, 3)),
        &["0 samples", "at least 1", "empty"],
    );
    says(
        Recording::from_mat(Mat::zeros(3, 0)),
        &["0 channels", "at least 1"],
    );
    for infinite in [f64::INFINITY, f64::NEG_INFINITY] {
        let value = |t: usize, c: usize| if (t, c) == (7, 2) { infinite } else { t as f64 };
        says(
            Recording::from_mat(Mat::from_fn(20, 3, value)),
            &["channel ch3", "sample 7", &infinite.to_string(), "missing"],
        );
    }
}

#[test]
fn recordings_that_are_too_short_are_refused() {
    let mut config = affine();
    config.branches.stride_ratio = 0.5;
    config.branches.patch_sizes = vec![4, 64];
    // 64 + 32 samples hold two patches.
    says(
        separate(&recording(95), &config),
        &[
            "95 samples are too few",
            "patches of 64",
            "stride 32",
            "need 96",
            "remove 64 from branches.patch_sizes",
        ],
    );
    assert!(Trainer::new(&recording(96), &config).is_ok());
}

#[test]
fn gaps_that_leave_no_whole_patches_are_refused() {
    let complete = recording(240);
    // Every tenth sample is missing: patches of 4 fit between the gaps, patches of 16 do not.
    let gappy = Mat::from_fn(240, 4, |t, c| {
        if t % 10 == 0 {
            f64::NAN
        } else {
            complete.observations()[(t, c)]
        }
    });
    says(
        separate(&Recording::from_mat(gappy).unwrap(), &affine()),
        &[
            "no stretch with two whole patches of",
            "fill short gaps",
            "branches.patch_sizes",
        ],
    );
}

/// The channels of a good recording, some of them replaced.
fn spoiled(replace: impl Fn(usize, usize, f64) -> f64) -> Recording {
    let good = recording(240);
    let names = ["Fz", "Cz", "Pz", "Oz"].map(String::from).to_vec();
    Recording::from_mat(Mat::from_fn(240, 4, |t, c| {
        replace(t, c, good.observations()[(t, c)])
    }))
    .unwrap()
    .with_channel_names(names)
    .unwrap()
}

#[test]
fn too_many_sources_are_refused_with_the_rank_the_reason_and_the_remedy() {
    let ask = |n_sources: usize, recording: &Recording| {
        let mut config = affine();
        config.n_sources = n_sources;
        separate(recording, &config)
    };
    let good = spoiled(|_, _, value| value);
    says(
        ask(5, &good),
        &[
            "5 sources",
            "4 channels",
            "rank 4",
            "at most 4 sources",
            "add channels",
        ],
    );

    let constant = spoiled(|_, c, value| if c == 1 { 2.5 } else { value });
    says(
        ask(4, &constant),
        &[
            "4 sources",
            "rank 3",
            "constant: drop channel Cz",
            "at most 3 sources",
        ],
    );
    assert!(ask(3, &constant).is_ok());

    let good_values = good.observations();
    let copied = spoiled(|t, c, value| {
        if c == 3 {
            1.0 - 3.0 * good_values[(t, 0)]
        } else {
            value
        }
    });
    says(
        ask(4, &copied),
        &[
            "rank 3",
            "duplicated: drop channel Oz (a copy of Fz up to scale)",
            "at most 3 sources",
        ],
    );

    // A sum of two others is no copy of either; the rank alone says it.
    let dependent = spoiled(|t, c, value| {
        if c == 2 {
            good_values[(t, 0)] + good_values[(t, 1)]
        } else {
            value
        }
    });
    says(ask(4, &dependent), &["rank 3", "at most 3 sources"]);

    let dead = spoiled(|_, _, _| 0.0);
    says(
        ask(1, &dead),
        &[
            "rank 0",
            "constant: drop channel Fz, Cz, Pz, Oz",
            "channels that vary",
        ],
    );
}
