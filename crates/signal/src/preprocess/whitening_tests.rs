//! Tests of [`Whitening`]: identity covariance, round trips, and refusals that name their cause.

use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::*;

fn gaussian(n_samples: usize, n_channels: usize, seed: u64) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Channels of unequal size and mean, correlated through a shared term.
    let shared: Vec<f64> = (0..n_samples)
        .map(|_| StandardNormal.sample(&mut rng))
        .collect();
    Mat::from_fn(n_samples, n_channels, |t, channel| {
        let own: f64 = StandardNormal.sample(&mut rng);
        (1.0 + channel as f64) * (own + 0.5 * shared[t]) + 10.0 * channel as f64
    })
}

fn names(n_channels: usize) -> Vec<String> {
    (0..n_channels)
        .map(|channel| format!("name{channel}"))
        .collect()
}

fn refused(prepared: &Mat<f64>, n_components: usize, expected_parts: &[&str]) {
    let error =
        Whitening::fit(prepared.as_ref(), n_components, &names(prepared.ncols())).unwrap_err();
    assert!(
        matches!(error, Error::LowRank(_) | Error::NoSources),
        "{error}"
    );
    let message = error.to_string();
    for part in expected_parts {
        assert!(
            message.contains(part),
            "\"{message}\" should contain \"{part}\""
        );
    }
}

fn assert_identity_covariance(whitened: &Mat<f64>, n_complete: usize) {
    let product = whitened.transpose() * whitened;
    for row in 0..whitened.ncols() {
        for column in 0..whitened.ncols() {
            let expected = if row == column { 1.0 } else { 0.0 };
            let found = product[(row, column)] / n_complete as f64;
            assert!(
                (found - expected).abs() < 1e-10,
                "({row}, {column}): {found}"
            );
        }
    }
}

#[test]
fn whitened_components_have_identity_covariance() {
    // Sizes around the block length, and a single channel.
    for (n_samples, n_channels, n_components) in [
        (2, 1, 1),
        (50, 1, 1),
        (50, 4, 4),
        (1023, 3, 2),
        (1024, 5, 3),
        (1025, 6, 6),
        (3000, 8, 5),
    ] {
        let prepared = gaussian(n_samples, n_channels, 1);
        let whitening =
            Whitening::fit(prepared.as_ref(), n_components, &names(n_channels)).unwrap();
        let whitened = whitening.transform(prepared.as_ref()).unwrap();
        assert_eq!(
            (whitened.nrows(), whitened.ncols()),
            (n_samples, n_components)
        );
        assert_identity_covariance(&whitened, n_samples);
        assert!(
            whitening
                .eigenvalues()
                .is_sorted_by(|early, late| early >= late)
        );
        assert_eq!(whitening.eigenvalues().len(), n_channels);
    }
}

#[test]
fn missing_rows_take_no_part_and_become_zero() {
    let complete = gaussian(1500, 4, 2);
    let is_missing = |t: usize| t % 11 == 5;
    let mut gappy = complete.clone();
    for t in (0..1500).filter(|&t| is_missing(t)) {
        gappy[(t, t % 4)] = f64::NAN;
        gappy[(t, (t + 1) % 4)] = 1e9;
    }
    let kept: Vec<usize> = (0..1500).filter(|&t| !is_missing(t)).collect();
    let dropped = Mat::from_fn(kept.len(), 4, |row, channel| complete[(kept[row], channel)]);

    let whitening = Whitening::fit(gappy.as_ref(), 3, &names(4)).unwrap();
    let whitened = whitening.transform(gappy.as_ref()).unwrap();
    assert_identity_covariance(&whitened, kept.len());
    assert!((0..3).all(|component| whitened[(5, component)] == 0.0));
    let expected = Whitening::fit(dropped.as_ref(), 3, &names(4)).unwrap();
    for (found, expected) in whitening.eigenvalues().iter().zip(expected.eigenvalues()) {
        assert!((found / expected - 1.0).abs() < 1e-12);
    }
}

#[test]
fn signs_are_fixed_by_the_largest_loading() {
    let prepared = gaussian(300, 5, 3);
    let negated = Mat::from_fn(300, 5, |t, channel| -prepared[(t, channel)]);
    let whitening = Whitening::fit(prepared.as_ref(), 5, &names(5)).unwrap();
    for column in whitening.matrix().col_iter() {
        let largest = column.iter().copied().fold(0.0f64, |best, value| {
            if value.abs() > best.abs() {
                value
            } else {
                best
            }
        });
        assert!(largest > 0.0);
    }
    // The covariance of −Y is that of Y, so the map must be the same.
    let other = Whitening::fit(negated.as_ref(), 5, &names(5)).unwrap();
    for (one, two) in whitening.matrix().col_iter().zip(other.matrix().col_iter()) {
        assert!(
            one.iter()
                .zip(two.iter())
                .all(|(one, two)| (one - two).abs() < 1e-12)
        );
    }
    assert_eq!(sign_of([-0.5, 0.5 + 1e-12].into_iter()), -1.0);
    assert_eq!(sign_of([-0.4, 0.5].into_iter()), 1.0);
}

#[test]
fn too_many_sources_are_refused_with_the_reason_and_the_remedy() {
    let prepared = gaussian(200, 3, 4);
    refused(
        &prepared,
        4,
        &["4 sources", "3 channels", "rank 3", "at most 3 sources"],
    );
    refused(&prepared, 0, &["at least 1"]);

    let copied = Mat::from_fn(200, 4, |t, channel| match channel {
        3 => 7.0 - 2.0 * prepared[(t, 1)],
        _ => prepared[(t, channel)],
    });
    refused(
        &copied,
        4,
        &[
            "4 sources",
            "rank 3",
            "name3 (a copy of name1",
            "at most 3 sources",
        ],
    );
    assert!(Whitening::fit(copied.as_ref(), 3, &names(4)).is_ok());

    let constant = Mat::from_fn(200, 3, |t, channel| {
        if channel == 1 {
            0.1
        } else {
            prepared[(t, channel)]
        }
    });
    refused(
        &constant,
        3,
        &[
            "rank 2",
            "constant: drop channel name1",
            "at most 2 sources",
        ],
    );

    let tiny = Mat::from_fn(
        200,
        3,
        |t, channel| if channel == 2 { 1e-6 } else { 1.0 } * prepared[(t, channel)],
    );
    refused(&tiny, 3, &["rank 2", "scale the channels", "name2"]);

    let short = gaussian(3, 5, 5);
    refused(
        &short,
        4,
        &[
            "rank 2",
            "3 complete samples",
            "longer recording",
            "at most 2 sources",
        ],
    );
    assert!(Whitening::fit(short.as_ref(), 2, &names(5)).is_ok());

    refused(
        &Mat::zeros(10, 2),
        1,
        &["rank 0", "channels that vary", "name0, name1"],
    );
    refused(&Mat::full(1, 1, 3.0), 1, &["rank 0"]);
}

#[test]
fn wrong_shapes_and_saved_states_are_refused() {
    let prepared = gaussian(100, 4, 6);
    let whitening = Whitening::fit(prepared.as_ref(), 2, &names(4)).unwrap();
    assert!(matches!(
        whitening.transform(Mat::zeros(3, 3).as_ref()),
        Err(Error::Columns { .. })
    ));
    assert!(matches!(
        whitening.invert(Mat::zeros(3, 3).as_ref()),
        Err(Error::Columns { .. })
    ));
    assert!(Whitening::fit(prepared.as_ref(), 2, &names(3)).is_err());
    assert!(Whitening::fit_with_tolerance(prepared.as_ref(), 2, &names(4), f64::NAN).is_err());
    assert!(Whitening::fit(Mat::full(3, 1, f64::NAN).as_ref(), 1, &names(1)).is_err());
    assert!(Whitening::fit(Mat::full(3, 1, f64::INFINITY).as_ref(), 1, &names(1)).is_err());

    let (mean, matrix) = (whitening.mean().to_vec(), whitening.matrix().to_owned());
    let eigenvalues = whitening.eigenvalues().to_vec();
    let reloaded =
        Whitening::from_parts(mean.clone(), matrix.clone(), eigenvalues.clone()).unwrap();
    assert_eq!(reloaded, whitening);
    assert!(
        Whitening::from_parts(mean[1..].to_vec(), matrix.clone(), eigenvalues.clone()).is_err()
    );
    assert!(Whitening::from_parts(mean.clone(), matrix.clone(), vec![0.0; 4]).is_err());
    assert!(Whitening::from_parts(vec![f64::NAN; 4], matrix, eigenvalues).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn round_trip_restores_channels_when_nothing_is_dropped(seed: u64, n_channels in 1..6usize) {
        let prepared = gaussian(40, n_channels, seed);
        let whitening = Whitening::fit(prepared.as_ref(), n_channels, &names(n_channels)).unwrap();
        let whitened = whitening.transform(prepared.as_ref()).unwrap();
        let back = whitening.invert(whitened.as_ref()).unwrap();
        for t in 0..40 {
            for channel in 0..n_channels {
                prop_assert!((back[(t, channel)] - prepared[(t, channel)]).abs() < 1e-8);
            }
        }
        prop_assert!((whitening.explained_variance_ratio() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn components_survive_a_round_trip_through_the_channels(seed: u64) {
        let prepared = gaussian(40, 6, seed);
        let whitening = Whitening::fit(prepared.as_ref(), 2, &names(6)).unwrap();
        let whitened = whitening.transform(prepared.as_ref()).unwrap();
        let channels = whitening.invert(whitened.as_ref()).unwrap();
        let again = whitening.transform(channels.as_ref()).unwrap();
        for t in 0..40 {
            for component in 0..2 {
                prop_assert!((again[(t, component)] - whitened[(t, component)]).abs() < 1e-8);
            }
        }
    }
}
