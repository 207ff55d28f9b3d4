//! Sources as a map of the channels: what its volume is, and that a bent mixture is straightened.

mod common;

use common::{neural, recording};
use faer::Mat;
use faer::linalg::solvers::SolveLstsq;
use strt_score::match_sources;
use strt_synth::{MixingKind, Problem, ProblemSpec, SourceKind};
use strtransformer::config::{Coordinates, Init, ScheduleKind, SourceScale};
use strtransformer::internals::Inspect;
use strtransformer::{Config, Recording, Separation, Trainer, separate};

/// A map that is not bent has the volume of its matrix, so that both forms of the separation are
/// the same.
#[test]
fn the_volume_of_a_straight_map_is_the_determinant() {
    let recording = recording(200);
    let separation = |coordinates| {
        let mut config = neural();
        config.sources.coordinates = Some(coordinates);
        let mut trainer = Trainer::new(&recording, &config).unwrap();
        // Sources that are far from uncorrelated.
        let a = Mat::from_fn(3, 3, |i, k| 1.0 + f64::from(i == k));
        trainer.set_parameter("space.a", &a);
        trainer.evaluate_at(0).separation
    };
    let (fiber, neural) = (
        separation(Coordinates::Fiber),
        separation(Coordinates::Neural),
    );
    assert!(fiber > 1.0, "{fiber}");
    // 10⁻⁴ is added to the correlations of the one, 10⁻⁶ to the squared determinant of the other.
    assert!(
        (fiber - neural).abs() < 2e-2 * fiber,
        "{fiber} against {neural}"
    );
}

/// Blocks in which most samples are there may hold no whole patch, and a thinner one may: that one
/// is used.
#[test]
fn a_block_that_offers_windows_is_found() {
    let complete = recording(300);
    let y = complete.observations();
    // Two blocks of 100 with a hole every 6 samples, a third of which 45 samples are there.
    let gone = |t: usize| {
        if t < 200 {
            t.is_multiple_of(6)
        } else {
            t >= 245
        }
    };
    let gappy = Recording::from_mat(Mat::from_fn(300, y.ncols(), |t, c| {
        if gone(t) { f64::NAN } else { y[(t, c)] }
    }));
    let gappy = gappy.unwrap();
    let mut config = neural();
    config.branches.patch_sizes = vec![4, 8];
    (config.branches.crop, config.optimizer.block) = (60, 100);
    let separation = separate(&gappy, &config).unwrap();
    assert!(separation.terms().total.is_finite());
    // Where none does, the message says what is too short.
    config.branches.patch_sizes = vec![4, 8, 28];
    let Err(error) = separate(&gappy, &config) else {
        panic!("should be refused")
    };
    assert!(
        error.to_string().contains("no block of 100 samples"),
        "{error}"
    );
}

/// Noise of changing variance behind a leaky-ReLU layer, which no linear map undoes.
fn bent() -> Problem {
    let spec = ProblemSpec {
        kind: SourceKind::SegmentLaplace,
        mixing: MixingKind::LeakyMlp { layers: 2 },
        n_samples: 2000,
        n_sources: 2,
        n_channels: 2, // more would lie in a plane
        noise: 0.0,
        seed: 905,
    };
    spec.generate().unwrap()
}

fn config() -> Config {
    let mut config = Config::nonlinear(2);
    config.branches.patch_sizes = vec![4, 8];
    config.branches.d_model = 8;
    config.branches.n_heads = 2;
    config.branches.n_layers = 1;
    config.threads = 1;
    config.weights.kernel = Some(0.0); // the energy of the networks is what is looked at
    config.sources.init = Some(Init::Random);
    config.optimizer.schedule.kind = ScheduleKind::Cosine;
    config.optimizer.steps = Some(700);
    config
}

/// Mean correlation of the best linear unmixing, fitted to the true sources.
fn best_linear(problem: &Problem) -> f64 {
    let y = &problem.observations;
    let with_offset = Mat::from_fn(y.nrows(), y.ncols() + 1, |t, c| {
        if c < y.ncols() { y[(t, c)] } else { 1.0 }
    });
    let fitted = &with_offset * with_offset.qr().solve_lstsq(&problem.sources);
    match_sources(fitted.as_ref(), &problem.reference().unwrap())
        .unwrap()
        .mac()
}

#[test]
fn a_bent_mixture_is_straightened() {
    let problem = bent();
    let (recording, reference) = (problem.recording().unwrap(), problem.reference().unwrap());
    let linear = best_linear(&problem);
    let score = |change: fn(&mut Config)| {
        let mut config = config();
        change(&mut config);
        let separation = separate(&recording, &config).unwrap();
        match_sources(separation.sources(), &reference)
            .unwrap()
            .mac()
    };
    let found = score(|_| {});
    let in_blocks = score(|c| (c.branches.crop, c.optimizer.block) = (512, 1000));
    let over_windows = score(|c| c.weights.energy_block = Some(0));
    println!("linear {linear}, neural {found}, in blocks {in_blocks}, over windows {over_windows}");
    assert!(found > linear + 0.01, "{found}, best linear map {linear}");
    assert!(in_blocks > linear, "{in_blocks}, best linear map {linear}");
    assert!(
        over_windows < found - 0.01,
        "blocks of the energy change nothing: {over_windows}, {found}"
    );
}

/// A source is shown in the scale that is asked for, new rows too, and the mixer still sees what it
/// was trained on.
#[test]
fn the_scale_of_sources_can_be_chosen() {
    let spec = ProblemSpec {
        kind: SourceKind::NonSmooth,
        mixing: MixingKind::Pnl,
        n_samples: 1000,
        n_channels: 6,
        ..ProblemSpec::default()
    };
    let problem = spec.generate().unwrap();
    let (recording, reference) = (problem.recording().unwrap(), problem.reference().unwrap());
    let run = |scale| {
        let mut config = config();
        config.n_sources = 3;
        config.optimizer.steps = Some(400);
        config.sources.scale = scale;
        separate(&recording, &config).unwrap()
    };
    let [objective, half, linear] = [
        SourceScale::Objective,
        SourceScale::Half,
        SourceScale::Linear,
    ]
    .map(run);
    assert!(objective.scales().is_empty() && half.scales().len() == 3);
    assert_eq!(objective.terms(), half.terms());
    // By definition: how well a linear combination of the channels has every source.
    let observations = recording.observations();
    let channels = Mat::from_fn(
        1000,
        7,
        |t, c| if c < 6 { observations[(t, c)] } else { 1.0 },
    );
    let fit = channels.qr();
    let linearity = |separation: &Separation| {
        let sources = separation.sources();
        let residual = sources - &channels * fit.solve_lstsq(sources);
        (0..3)
            .map(|k| 1.0 - residual.col(k).squared_norm_l2() / sources.col(k).squared_norm_l2())
            .collect::<Vec<f64>>()
    };
    let [of_objective, of_half, of_linear] = [&objective, &half, &linear].map(linearity);
    for k in 0..3 {
        assert!(
            of_objective[k] < of_half[k] && of_half[k] < of_linear[k],
            "{of_objective:?}, {of_half:?}, {of_linear:?}"
        );
    }
    let mac = |separation: &Separation| {
        let matching = match_sources(separation.sources(), &reference).unwrap();
        matching.mac()
    };
    println!(
        "objective, half, linear: {:?}",
        [&objective, &half, &linear].map(mac)
    );

    let before = objective.reconstruction().unwrap();
    for separation in [&half, &linear] {
        let after = separation.reconstruction().unwrap();
        let unmixed = separation.unmix(recording.observations()).unwrap().unwrap();
        for t in 0..1000 {
            for c in 0..6 {
                assert!((after[(t, c)] - before[(t, c)]).abs() < 1e-8);
            }
            for k in 0..3 {
                assert!((unmixed[(t, k)] - separation.sources()[(t, k)]).abs() < 1e-8);
            }
        }
    }
}

/// Autoregressions of one spectrum with Laplace innovations, bent: networks leave them mixed, and
/// what is not Gaussian in channels says nothing; in sources that are straight it tells them apart.
#[test]
fn bent_sources_of_one_spectrum_are_told_apart_by_their_innovations() {
    let spec = ProblemSpec {
        kind: SourceKind::LaplaceAr,
        mixing: MixingKind::Mlp2,
        n_samples: 1500,
        n_sources: 2,
        n_channels: 4,
        noise: 0.01,
        seed: 904,
    };
    let problem = spec.generate().unwrap();
    let mut config = Config::nonlinear(2);
    config.restarts = Some(1);
    let separation = separate(&problem.recording().unwrap(), &config).unwrap();
    let found = match_sources(separation.sources(), &problem.reference().unwrap());
    let mac = found.unwrap().mac();
    println!("{mac}");
    assert!(separation.restarts()[0].novel);
    assert!(separation.converged() && mac > 0.97, "{mac}");
}

/// Noise of Laplace's density and changing scale behind two leaky-ReLU layers: a map that makes it
/// Gaussian is the wrong one, and one layer does not straighten it.
#[test]
fn heavy_tails_are_kept_behind_two_layers() {
    let spec = ProblemSpec {
        kind: SourceKind::SegmentLaplace,
        mixing: MixingKind::LeakyMlp { layers: 2 },
        n_samples: 4000,
        n_channels: 6,
        noise: 0.0,
        seed: 906,
        ..ProblemSpec::default()
    };
    let problem = spec.generate().unwrap();
    let recording = problem.recording().unwrap();
    let mac = |layers| {
        let mut config = Config::nonlinear(3);
        (config.restarts, config.sources.layers) = (Some(1), layers);
        let separation = separate(&recording, &config).unwrap();
        assert!(separation.restarts()[0].novel);
        let found = match_sources(separation.sources(), &problem.reference().unwrap());
        (found.unwrap().mac(), separation.config().clone())
    };
    let (found, config) = mac(2);
    assert_eq!(
        (config.mixer.hidden, config.mixer.ridge),
        (vec![32, 32], Some(1e-4))
    );
    let (flat, config) = mac(1);
    assert_eq!(
        (config.mixer.hidden, config.mixer.ridge),
        (vec![32], Some(2e-3))
    );
    println!("{found}, one layer {flat}");
    assert!(found > 0.98 && found > flat, "{found}, one layer {flat}");
}
