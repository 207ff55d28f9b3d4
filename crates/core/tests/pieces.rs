//! Recordings in pieces: what is found does not depend on what lies beside a boundary, and pieces
//! of eight samples are enough where there are many.

mod common;

use common::{affine, neural, nonlinear};
use faer::Mat;
use std::ops::Range;
use strt_score::match_sources;
use strt_synth::{MixingKind, ProblemSpec, SourceKind};
use strtransformer::verdict::VerdictOptions;
use strtransformer::{Config, Error, Recording, separate};

fn spec(n_samples: usize) -> ProblemSpec {
    ProblemSpec {
        kind: SourceKind::Ar,
        mixing: MixingKind::Linear,
        n_samples,
        n_sources: 3,
        n_channels: 4,
        noise: 0.02,
        seed: 5,
    }
}

/// Equal pieces of a problem.
fn pieces_of(spec: &ProblemSpec, length: usize) -> Recording {
    let whole = spec.generate().unwrap().recording().unwrap();
    let lengths = vec![length; spec.n_samples / length];
    whole.with_pieces(&lengths).unwrap()
}

/// The pieces in another order, each as it is.
fn other_order(recording: &Recording) -> Vec<Range<usize>> {
    let ranges = recording.pieces().ranges();
    let third = ranges.len() / 3;
    let (first, last) = (ranges.clone().take(third), ranges.skip(third));
    let mut ranges: Vec<Range<usize>> = last.chain(first).collect();
    ranges.reverse();
    ranges
}

/// A recording of them.
fn shuffled(recording: &Recording) -> Recording {
    let ranges = other_order(recording);
    let lengths: Vec<usize> = ranges.iter().map(ExactSizeIterator::len).collect();
    let rows: Vec<usize> = ranges.into_iter().flatten().collect();
    let y = recording.observations();
    let values = Mat::from_fn(rows.len(), y.ncols(), |t, c| y[(rows[t], c)]);
    let moved = Recording::from_mat(values).unwrap();
    moved.with_pieces(&lengths).unwrap()
}

#[test]
fn the_order_of_pieces_changes_nothing_but_rounding() {
    let mut fast = Config::fast(3);
    fast.threads = 1;
    let recording = pieces_of(&spec(1200), 30);
    let mixing = |recording: &Recording| {
        let found = separate(recording, &fast).unwrap();
        found.mixing().unwrap().0
    };
    let (one, other) = (mixing(&recording), mixing(&shuffled(&recording)));
    // Blocks of variance, of which one form is made, hold other samples; the spectrum decides here.
    assert!((&one - &other).norm_max() < 1e-4 * one.norm_max());
    // The whole recording reads across the boundaries, and finds something else.
    let whole = spec(1200).generate().unwrap().recording().unwrap();
    assert!((&one - mixing(&whole)).norm_max() > 1e-3 * one.norm_max());
}

#[test]
fn eight_samples_are_a_piece() {
    let recording = pieces_of(&spec(800), 8);
    let mut default = affine();
    default.branches = Config::new(3).branches;
    let mut neural = neural();
    neural.branches = default.branches.clone();
    let mut free = nonlinear();
    free.branches = default.branches.clone();
    for config in [Config::fast(3), default, neural, free] {
        let found = separate(&recording, &config).unwrap();
        assert_eq!(found.config().branches.patch_sizes, [4]);
        assert_eq!(found.pieces(), recording.pieces());
        let verdicts = found.verdicts(&recording, VerdictOptions::default());
        assert_eq!(verdicts.unwrap().len(), 3);
    }
    let shorter = pieces_of(&spec(800), 5);
    let found = separate(&shorter, &affine()).unwrap();
    assert_eq!(found.config().branches.patch_sizes, [2]);
}

#[test]
fn patches_that_do_not_fit_are_refused_by_the_length_of_the_pieces() {
    let recording = pieces_of(&spec(800), 20);
    let mut config = affine();
    config.branches.patch_sizes = vec![4, 16];
    let error = separate(&recording, &config).err().expect("a refusal");
    assert!(matches!(
        error,
        Error::ShortPieces {
            longest: 20,
            n_pieces: 40,
            patch: 16,
            ..
        }
    ));
    let message = error.to_string();
    for part in ["40 pieces", "20 samples", "need 32", "branches.patch_sizes"] {
        assert!(message.contains(part), "\"{message}\" lacks \"{part}\"");
    }
}

#[test]
fn denoising_a_piece_does_not_see_its_neighbours() {
    let spec = ProblemSpec {
        n_channels: 6,
        noise: 0.3,
        ..spec(1000)
    };
    let recording = pieces_of(&spec, 100);
    let found = separate(&recording, &Config::fast(3)).unwrap();
    let together = found.denoise(&recording).unwrap();
    let shuffled = found.denoise(&shuffled(&recording)).unwrap();
    let order = other_order(&recording).into_iter().flatten();
    for (t, from) in order.enumerate() {
        for k in 0..3 {
            let (one, other) = (together.sources()[(from, k)], shuffled.sources()[(t, k)]);
            assert!((one - other).abs() < 1e-9, "sample {t}: {one} and {other}");
        }
    }
    let whole = Recording::from_mat(recording.observations().to_owned()).unwrap();
    let across = found.denoise(&whole).unwrap();
    assert!((across.sources() - together.sources()).norm_max() > 1e-3);
}

/// What docs/recovery.md says of pieces, printed by `--nocapture`.
#[test]
fn sources_are_recovered_from_many_short_pieces() {
    println!("| sources | pieces | `fast` | default |");
    println!("|---|---|---|---|");
    for kind in [SourceKind::Ar, SourceKind::Gp] {
        for length in [4000, 100, 8] {
            let spec = ProblemSpec {
                kind,
                n_sources: 5,
                n_channels: 8,
                seed: 1,
                ..spec(4000)
            };
            let reference = spec.generate().unwrap().reference().unwrap();
            let recording = pieces_of(&spec, length);
            let mac = |config: &Config| {
                let found = separate(&recording, config).unwrap();
                match_sources(found.sources(), &reference).unwrap().mac()
            };
            let (fast, default) = (mac(&Config::fast(5)), mac(&Config::new(5)));
            let (pieces, name) = (4000 / length, format!("{kind:?}").to_lowercase());
            println!("| {name} | {pieces} of {length} | {fast:.3} | {default:.3} |");
            assert!(fast > 0.95 && default > 0.95, "{name}, {length}");
        }
    }
}
