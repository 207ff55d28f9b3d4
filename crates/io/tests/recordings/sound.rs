//! Sound, EDF and packed files that this crate writes, read back; events of SNIRF; segments of
//! WFDB.

use crate::{Made, fixture, notes, open};
use faer::Mat;
use std::fs;
use strt_io::{
    ReadOptions, Signals, each_wav_files, read_recording, rewrite_recording, write_each_wav,
    write_signals,
};

fn names(count: usize) -> Vec<String> {
    (1..=count).map(|k| format!("s{k}")).collect()
}

/// Loud and quiet signals of several kinds.
fn values(n_samples: usize, n_signals: usize) -> Mat<f64> {
    Mat::from_fn(n_samples, n_signals, |t, k| {
        let size = [3.7, 0.02, 1e5][k % 3];
        size * ((t as f64 * 0.03 * (k + 1) as f64).sin() + 0.2 * ((t * 7919 % 101) as f64 / 50.0))
    })
}

/// The largest difference of two matrices after one column of the first is multiplied by a factor.
fn difference(found: &Mat<f64>, expected: &Mat<f64>, factor: impl Fn(usize) -> f64) -> f64 {
    assert_eq!(found.shape(), expected.shape());
    let mut largest: f64 = 0.0;
    for k in 0..expected.ncols() {
        for t in 0..expected.nrows() {
            let size = (found[(t, k)] - factor(k) * expected[(t, k)]).abs();
            largest = largest.max(if size.is_nan() { f64::INFINITY } else { size });
        }
    }
    largest
}

fn peak(values: &Mat<f64>, k: usize) -> f64 {
    let sizes = values.col(k).iter().map(|value| value.abs());
    sizes.fold(0.0, f64::max)
}

#[test]
fn flac_holds_each_signal_in_its_own_scale() {
    let made = Made::new();
    let (values, names) = (values(10_000, 3), names(3));
    let path = made.0.path().join("out.flac");
    let signals = Signals {
        values: values.as_ref(),
        names: &names,
        rate: Some(44_100.0),
    };
    let told = write_signals(&path, &signals).unwrap();
    let factor = |k: usize| 0.99 / peak(&values, k);
    let expected = format!("s1 is scaled by {}; s2", factor(0));
    assert!(told[0].to_string().contains(&expected), "{told:?}");
    let opened = open(&path);
    assert_eq!(opened.recording.sampling_rate(), Some(44_100.0));
    let found = opened.recording.observations().to_owned();
    assert!(difference(&found, &values, factor) < 2f64.powi(-22));
}

#[test]
fn one_wav_a_signal_with_a_table_of_factors() {
    let made = Made::new();
    let (mut values, names) = (values(777, 2), names(2));
    values[(5, 1)] = f64::NAN;
    let signals = Signals {
        values: values.as_ref(),
        names: &names,
        rate: Some(8000.0),
    };
    write_each_wav(made.0.path(), "sources", &signals).unwrap();
    let files = each_wav_files("sources", &names);
    assert_eq!(
        files,
        ["sources.s1.wav", "sources.s2.wav", "sources.wavs.csv"]
    );
    let table = fs::read_to_string(made.0.path().join(&files[2])).unwrap();
    for (k, line) in table.lines().skip(1).enumerate() {
        let (file, factor) = line.split_once(',').unwrap();
        assert_eq!(file, files[k]);
        let factor: f64 = factor.parse().unwrap();
        let found = open(made.0.path().join(file))
            .recording
            .observations()
            .to_owned();
        let expected = Mat::from_fn(777, 1, |t, _| match values[(t, k)] {
            value if value.is_nan() => 0.0,
            value => value,
        });
        assert!(
            difference(&found, &expected, |_| factor) < 2f64.powi(-21),
            "{file}"
        );
        assert!((peak(&found, 0) - 0.99).abs() < 1e-6, "{file}");
    }
}

#[test]
fn edf_keeps_names_rates_and_sixteen_bits() {
    let made = Made::new();
    for (rate, n_samples, filled) in [(256.0, 2560, 0), (250.1, 5002, 0), (256.0, 2557, 3)] {
        let (values, names) = (values(n_samples, 3), names(3));
        let path = made.0.path().join("out.edf");
        let signals = Signals {
            values: values.as_ref(),
            names: &names,
            rate: Some(rate),
        };
        let told = write_signals(&path, &signals).unwrap();
        assert_eq!(told.len(), 1 + usize::from(filled > 0), "{told:?}");
        let opened = open(&path);
        let recording = &opened.recording;
        assert_eq!(recording.sampling_rate(), Some(rate));
        assert_eq!(recording.channel_names(), names);
        assert_eq!(recording.n_samples(), n_samples + filled);
        for k in 0..3 {
            let column: Vec<f64> = values.col(k).iter().copied().collect();
            let (least, most) = column
                .iter()
                .fold((f64::MAX, f64::MIN), |(a, b), &x| (a.min(x), b.max(x)));
            for (t, expected) in column.iter().enumerate() {
                let off = (recording.observations()[(t, k)] - expected).abs();
                assert!(off <= (most - least) / 60_000.0, "{k} {t}: {off}");
            }
        }
    }
}

#[test]
fn what_sound_and_edf_cannot_hold_is_refused() {
    let made = Made::new();
    let check = |name: &str, values: &Mat<f64>, rate, expected: &str| {
        let names = names(values.ncols());
        let signals = Signals {
            values: values.as_ref(),
            names: &names,
            rate,
        };
        let message = write_signals(made.0.path().join(name), &signals).unwrap_err();
        assert!(message.to_string().contains(expected), "{message}");
    };
    let plain = values(40, 1);
    let mut gap = plain.clone();
    gap[(3, 0)] = f64::NAN;
    check(
        "a.flac",
        &values(40, 9),
        Some(100.0),
        "expected 1 to 8 signals in a FLAC file, found 9",
    );
    check(
        "a.flac",
        &plain,
        Some(2e6),
        "expected 1 to 1048575 samples per second",
    );
    check(
        "a.edf",
        &gap,
        Some(100.0),
        "expected no missing samples, for which EDF has no mark",
    );
    check(
        "a.edf",
        &plain,
        None,
        "expected a sampling rate, which EDF needs",
    );
    check(
        "a.edf",
        &plain,
        Some(std::f64::consts::PI),
        "whole samples in a time of at most 8",
    );
    check(
        "a.edf",
        &(faer::Scale(1e12) * &plain),
        Some(100.0),
        "range fits into 8 characters",
    );
    assert_eq!(fs::read_dir(made.0.path()).unwrap().count(), 0);
}

#[test]
fn packed_recordings_are_copied_as_their_name_says() {
    let made = Made::new();
    for (input, out) in [
        ("table.csv.gz", "copy.csv.gz"),
        ("table.csv.gz", "copy.csv"),
        ("table.csv.zst", "copy.csv.zst"),
        ("array.npy.zst", "copy.npy.gz"),
    ] {
        let out = made.0.path().join(out);
        let options = ReadOptions::default();
        let recording = open(fixture(input)).recording;
        let doubled = faer::Scale(2.0) * recording.observations();
        rewrite_recording(fixture(input), &options, doubled.as_ref(), &out).unwrap();
        let is_packed = [&b"\x1f\x8b"[..], b"\x28\xb5\x2f\xfd"]
            .iter()
            .any(|magic| fs::read(&out).unwrap().starts_with(magic));
        assert_eq!(is_packed, out.extension().unwrap() != "csv", "{out:?}");
        let again = open(&out).recording;
        let found = again.observations().to_owned();
        assert_eq!(difference(&found, &doubled, |_| 1.0), 0.0, "{out:?}");
    }
}

#[test]
fn stimuli_are_told_from_the_first_sample_read() {
    let told = |options: &ReadOptions| -> Vec<(i64, i64, String)> {
        let opened = read_recording(fixture("probe.snirf"), options).unwrap();
        let events = opened.events.into_iter();
        let in_ms = |seconds: f64| (seconds * 1000.0).round() as i64;
        events
            .map(|event| (in_ms(event.onset), in_ms(event.duration), event.name))
            .collect()
    };
    let all = [(500, 400, "tap"), (1000, 500, "rest"), (1600, 200, "tap")];
    let all: Vec<_> = all.map(|(a, b, name)| (a, b, name.to_string())).to_vec();
    assert_eq!(told(&ReadOptions::default()), all);
    let late = ReadOptions {
        start: Some(1.2),
        ..ReadOptions::default()
    };
    let expected: Vec<_> = all[1..]
        .iter()
        .map(|(onset, duration, name)| (onset - 1200, *duration, name.clone()))
        .collect();
    assert_eq!(told(&late), expected);
}

#[test]
fn a_span_of_a_record_of_segments_is_that_of_the_whole() {
    let whole = open(fixture("varied.hea")).recording;
    for (start, stop) in [(0.0, 0.05), (0.08, 0.15), (0.12, 0.21)] {
        let options = ReadOptions {
            start: Some(start),
            stop: Some(stop),
            channels: Some("V".into()),
            ..ReadOptions::default()
        };
        let part = read_recording(fixture("varied.hea"), &options).unwrap();
        let first = (start * 100.0).round() as usize;
        for t in 0..part.recording.n_samples() {
            let (found, expected) = (
                part.recording.observations()[(t, 0)],
                whole.observations()[(first + t, 2)],
            );
            assert_eq!(found.to_bits(), expected.to_bits(), "{start} {t}");
        }
    }
    let told = notes(&open(fixture("perframe.hea")));
    let rate = "channel `A` has 3 samples in each of 1 frames a second: 3 Hz";
    assert!(told.iter().any(|note| note.contains(rate)), "{told:?}");
}
