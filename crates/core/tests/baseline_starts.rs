//! Runs that start from what a classical method finds (`sources.init`).

mod common;

use faer::Mat;
use strt_classic::{Baseline, Method};
use strt_synth::{ProblemSpec, SourceKind};
use strtransformer::config::Init;
use strtransformer::internals::Inspect;
use strtransformer::preprocess::{ChannelScaling, ChannelScalingOptions, Whitening};
use strtransformer::{Config, Recording, Trainer, separate};

const STARTS: [(Init, &str); 9] = [
    (Init::FastIca, "fastica"),
    (Init::Picard, "picard"),
    (Init::Jade, "jade"),
    (Init::Amuse, "amuse"),
    (Init::Sobi, "sobi"),
    (Init::Nss, "nss"),
    (Init::Wasobi, "wasobi"),
    (Init::Efica, "efica"),
    (Init::MultiCombi, "multicombi"),
];

/// A that the method finds in the whitened components of the recording.
fn expected(recording: &Recording, name: &str, seed: u64) -> Mat<f64> {
    let found = Baseline::parse(name)
        .unwrap()
        .with_seed(seed)
        .separate(recording, 3)
        .unwrap();
    found.unmixing().to_owned()
}

#[test]
fn a_run_starts_where_the_method_ends() {
    for recording in [common::recording(240), common::with_gaps(240)] {
        for (init, name) in STARTS {
            let mut config = common::affine();
            (config.sources.init, config.seed) = (Some(init), 3);
            let trainer = Trainer::new(&recording, &config).unwrap();
            let a = trainer.parameter("space.a").expect("fiber coordinates");
            let expected = expected(&recording, name, 3);
            assert!(
                (&a - &expected).norm_max() < 1e-12,
                "{name}: {a:?} against {expected:?}"
            );
            assert!(trainer.parameter("space.e").is_none());
            // Direct coordinates start at the same sources.
            let mut config = common::paper();
            (config.sources.init, config.seed) = (Some(init), 3);
            let trainer = Trainer::new(&recording, &config).unwrap();
            let s = trainer.parameter("space.s").expect("direct coordinates");
            let scaling =
                ChannelScaling::fit(recording.observations(), ChannelScalingOptions::default())
                    .unwrap();
            let scaled = scaling.apply(recording.observations()).unwrap();
            let whitening = Whitening::fit(scaled.as_ref(), 3, recording.channel_names()).unwrap();
            let whitened = whitening.transform(scaled.as_ref()).unwrap();
            assert!((s - whitened * expected).norm_max() < 1e-10, "{name}");
        }
    }
}

#[test]
fn long_recordings_start_from_a_method_too() {
    let spec = ProblemSpec {
        kind: SourceKind::SegmentLaplace,
        n_samples: 1200,
        n_channels: 3,
        seed: 7,
        ..ProblemSpec::default()
    };
    let recording = spec.generate().unwrap().recording().unwrap();
    let mut config = common::affine();
    (config.optimizer.block, config.branches.crop) = (256, 128);
    for (init, name) in STARTS {
        config.sources.init = Some(init);
        let trainer = Trainer::new(&recording, &config).unwrap();
        let a = trainer.parameter("space.a").expect("fiber coordinates");
        let expected = expected(&recording, name, config.seed);
        assert!(
            (&a - &expected).norm_max() < 1e-6,
            "{name}: {a:?} against {expected:?}"
        );
    }
}

#[test]
fn runs_from_a_start_have_the_same_bits_at_any_number_of_threads() {
    let recording = common::recording(240);
    let mut config = common::affine();
    config.optimizer.steps = Some(4);
    config.restarts = Some(2);
    for (init, name) in STARTS {
        config.sources.init = Some(init);
        config.threads = 1;
        let one = separate(&recording, &config).unwrap();
        config.threads = 3;
        let three = separate(&recording, &config).unwrap();
        assert_eq!(one.sources(), three.sources(), "{name}");
    }
}

#[test]
fn the_key_is_written_and_read_by_its_name() {
    for (init, name) in STARTS {
        let mut config = Config::new(3);
        config.sources.init = Some(init);
        let text = toml::to_string(&config).unwrap();
        assert!(text.contains(&format!("init = \"{name}\"")), "{text}");
        assert_eq!(toml::from_str::<Config>(&text).unwrap(), config);
        assert_eq!(init.baseline(0).unwrap().name(), name);
    }
    assert_eq!(Config::new(3).sources.init, None);
    assert!(toml::from_str::<Config>("[sources]\ninit = \"ica\"").is_err());
    assert!(
        [Init::Random, Init::Pca, Init::Given]
            .iter()
            .all(|init| init.baseline(0).is_none())
    );
}

#[test]
fn a_start_that_fails_is_refused_before_anything_runs() {
    let mut config = common::affine();
    config.sources.init = Some(Init::Sobi);
    config.branches.patch_sizes = vec![4];
    let message = Trainer::new(&common::recording(32), &config)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("sources.init = \"sobi\"") && message.contains("33 complete samples"),
        "{message}"
    );
    assert!(Trainer::new(&common::recording(33), &config).is_ok());
}
