//! What is written is read back, and what cannot be written leaves no file.

use crate::{Made, open};
use faer::Mat;
use strt_io::{Signals, write_signals};

fn names() -> Vec<String> {
    ["s1", "a, \"b\"", "µ"].map(String::from).to_vec()
}

fn values() -> Mat<f64> {
    Mat::from_fn(200_000, 3, |t, k| match (t, k) {
        (7, 1) => f64::NAN,
        _ => ((t * 7 + k * 3) % 1001) as f64 / 64.0 - 5.0,
    })
}

#[test]
fn every_format_is_read_back() {
    let made = Made::new();
    let (values, names) = (values(), names());
    for (ending, keeps_names, rate) in [
        ("npy", false, None),
        ("csv", true, Some(250.0)),
        ("csv", true, None),
        ("mat", false, Some(250.5)),
        ("parquet", true, Some(250.0)),
        ("parquet", true, None),
        ("wav", false, Some(8000.0)),
    ] {
        let path = made.0.path().join(format!("out.{ending}"));
        let signals = Signals {
            values: values.as_ref(),
            names: &names,
            rate,
        };
        write_signals(&path, &signals).unwrap();
        let opened = open(&path);
        let recording = &opened.recording;
        assert_eq!(recording.sampling_rate(), rate, "{ending}");
        assert_eq!(
            (recording.n_samples(), recording.n_channels()),
            (200_000, 3),
            "{ending}"
        );
        for t in 0..values.nrows() {
            for k in 0..3 {
                let (found, expected) = (recording.observations()[(t, k)], values[(t, k)]);
                assert!(
                    found == expected || (found.is_nan() && expected.is_nan()),
                    "{ending} [{t}, {k}]"
                );
            }
        }
        if keeps_names {
            assert_eq!(recording.channel_names(), names, "{ending}");
        }
    }
}

#[test]
fn refusals_leave_no_file() {
    let made = Made::new();
    let (values, names) = (Mat::<f64>::zeros(4, 1), vec!["a".to_string()]);
    let check = |name: &str, rate, expected: &str| {
        let path = made.0.path().join(name);
        let signals = Signals {
            values: values.as_ref(),
            names: &names,
            rate,
        };
        let message = write_signals(&path, &signals).unwrap_err().to_string();
        let message = message.replace(&format!("{}/", made.0.path().display()), "");
        assert!(message.starts_with(expected), "{message}");
    };
    check(
        "a.xlsx",
        None,
        "a.xlsx: expected a name that ends in .npy, .csv, .mat, .parquet, .wav, .flac, .edf, \
         found .xlsx; choose one of them",
    );
    check(
        "a",
        None,
        "a: expected a name that ends in .npy, .csv, .mat, .parquet, .wav, .flac, .edf, found a \
         name without an ending",
    );
    check(
        "a.wav",
        None,
        "a.wav: rate: expected a sampling rate, which sound needs, found none; give a rate, or \
         write another format",
    );
    check(
        "a.wav",
        Some(99.5),
        "a.wav: rate: expected a whole number of samples per second, found 99.5",
    );
    check(
        "absent/a.npy",
        None,
        "absent/a.npy: cannot write: No such file or directory",
    );
    assert_eq!(std::fs::read_dir(made.0.path()).unwrap().count(), 0);
}
