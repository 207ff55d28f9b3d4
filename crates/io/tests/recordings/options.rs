//! Channels, rate and span of time, and what a file says about itself.

use crate::{Made, fixture, notes, refusal};
use strt_io::{Format, ReadOptions, inspect, read_recording};

#[test]
fn channels_and_span_are_chosen_in_every_format() {
    for name in [
        "time.csv",
        "plain.npz",
        "plain.mat",
        "v73.mat",
        "beside.set",
        "plain.edf",
        "pcm_16.wav",
        "snappy.parquet",
        "w212.hea",
        "frames.hea",
    ] {
        let whole = read_recording(fixture(name), &ReadOptions::default())
            .unwrap()
            .recording;
        let rate = whole.sampling_rate().unwrap();
        let options = ReadOptions {
            channels: Some("2,1".into()),
            start: Some(4.0 / rate),
            stop: Some(9.0 / rate),
            ..ReadOptions::default()
        };
        let part = read_recording(fixture(name), &options).unwrap().recording;
        assert_eq!((part.n_samples(), part.n_channels()), (5, 2), "{name}");
        for t in 0..5 {
            for (column, channel) in [1, 0].into_iter().enumerate() {
                let (found, expected) = (
                    part.observations()[(t, column)],
                    whole.observations()[(t + 4, channel)],
                );
                assert!(
                    found == expected || (found.is_nan() && expected.is_nan()),
                    "{name}"
                );
            }
        }
        assert_eq!(part.channel_names()[0], whole.channel_names()[1]);
    }
}

#[test]
fn a_rate_that_is_given_wins_and_is_noted() {
    let options = ReadOptions {
        rate: Some(50.0),
        ..ReadOptions::default()
    };
    let opened = read_recording(fixture("time.csv"), &options).unwrap();
    assert_eq!(opened.recording.sampling_rate(), Some(50.0));
    let expected = "warning: the rate of the file, 100 Hz, is replaced by 50 Hz";
    assert!(
        notes(&opened).contains(&expected.to_string()),
        "{:?}",
        notes(&opened)
    );
}

#[test]
fn notes_say_what_was_done() {
    let check = |name: &str, options: &ReadOptions, expected: &[&str]| {
        let opened = read_recording(fixture(name), options).unwrap();
        assert_eq!(notes(&opened), expected, "{name}");
    };
    let plain = ReadOptions::default();
    check(
        "plus.edf",
        &plain,
        &["3 records of 1 s, scaled to physical units", "1 annotation"],
    );
    check(
        "discontinuous.edf",
        &plain,
        &[
            "3 records of 1 s, scaled to physical units",
            "warning: the recording is discontinuous: samples in its 1 gaps are missing",
            "channel `Fz`: 8 of 20 values are missing",
        ],
    );
    check(
        "pcm_16.wav",
        &plain,
        &["16-bit whole numbers at 8000 Hz, scaled to -1…1"],
    );
    check(
        "status.bdf",
        &plain,
        &[
            "3 records of 1 s, scaled to physical units",
            "59 triggers in the status channel",
            "channel `Status` is left out: it holds triggers and states of the device",
        ],
    );
    check(
        "wide.npy",
        &plain,
        &[
            "40 samples × 3 channels of F64; columns are samples, as there are more of them than \
             rows (--transpose=no takes the rows)",
        ],
    );
    check(
        "frames.hea",
        &plain,
        &[
            "scaled to physical units",
            "warning: channel `A` has 2 samples a frame and others have not; they are averaged to \
             100 Hz: choose channels of one rate to have them all",
            "channel `B` is put 3 samples earlier (skew)",
            "channel `B`: 4 of 30 values are missing",
        ],
    );
    check(
        "epochs.set",
        &plain,
        &[
            "2 epochs of 10 samples are pieces of one recording",
            "the numbers are in the .set file",
        ],
    );
    check(
        "plain.mat",
        &plain,
        &[
            "40 samples × 3 channels of F64; rows are samples",
            "variable `data` is read",
            "rate 250 Hz is taken from `fs`",
            "channel `ch2`: 1 of 40 values are missing",
        ],
    );
}

#[test]
fn a_container_is_listed_without_a_choice() {
    let summary = inspect(fixture("packed.mat"), &ReadOptions::default()).unwrap();
    let names: Vec<&str> = summary
        .variables
        .iter()
        .map(|variable| variable.name.as_str())
        .collect();
    assert_eq!(summary.format, Format::Mat5);
    assert_eq!(names, ["x", "y", "note", "s.deep"]);
    assert_eq!(summary.variables[1].shape, [40, 2]);
    assert!(summary.channels.is_empty());
    assert_eq!(
        refusal(&fixture("packed.mat"), &ReadOptions::default()),
        "packed.mat: variable: expected the name of one array, found several arrays: `x` [40, \
         3], `y` [40, 2], `note` \
         [], `s.deep` [40, 3]; name the one that holds the recording"
    );
}

#[test]
fn a_wfdb_record_is_found_by_any_of_its_names() {
    for name in ["frames", "frames.hea", "frames.dat"] {
        let opened = read_recording(fixture(name), &ReadOptions::default()).unwrap();
        assert_eq!(
            (opened.format, opened.recording.n_channels()),
            (Format::Wfdb, 3),
            "{name}"
        );
        assert_eq!(opened.units[0].as_deref(), Some("mV"));
    }
}

#[test]
fn requests_that_cannot_be_met() {
    let check = |name: &str, options: ReadOptions, expected: &str| {
        assert_eq!(refusal(&fixture(name), &options), expected);
    };
    let plain = ReadOptions::default;
    check(
        "time.csv",
        ReadOptions {
            channels: Some("Fz,Cx".into()),
            ..plain()
        },
        "time.csv: channels: expected a name or a number of the 3 channels, found `Cx`; did you \
         mean `Cz`?",
    );
    check(
        "time.csv",
        ReadOptions {
            start: Some(5.0),
            ..plain()
        },
        "time.csv: start and stop: expected a span inside the recording, of 0.2 s, found 5 to \
         the end s; correct it",
    );
    check(
        "tabs.tsv",
        ReadOptions {
            stop: Some(1.0),
            ..plain()
        },
        "tabs.tsv: stop: expected a recording with a sampling rate, found none in the file; give its \
         rate (--rate)",
    );
    check(
        "time.csv",
        ReadOptions {
            stop: Some(f64::NAN),
            ..plain()
        },
        "time.csv: stop: expected a number of seconds from 0, found NaN; correct it",
    );
    check(
        "time.csv",
        ReadOptions {
            rate: Some(-1.0),
            ..plain()
        },
        "time.csv: rate: expected a finite number above 0, found -1; give samples per second, or \
         leave it out",
    );
    check(
        "packed.npz",
        ReadOptions {
            variable: Some("egg".into()),
            ..plain()
        },
        "packed.npz: variable: expected one of eeg, other, fs, found `egg`; did you mean `eeg`?",
    );
    check(
        "snappy.parquet",
        ReadOptions {
            channels: Some("word".into()),
            ..plain()
        },
        "snappy.parquet: column `word`: expected numbers, found it holds no numbers; leave the \
         column out",
    );
}

/// Recorders that were switched off leave sizes open; what is there is read, with a warning.
#[test]
fn headers_that_were_never_finished() {
    let made = Made::new();
    let check = |name: &str, at: usize, patch: &[u8], warning: &str| {
        let whole = crate::open(fixture(name));
        let mut bytes = std::fs::read(fixture(name)).unwrap();
        bytes[at..at + patch.len()].copy_from_slice(patch);
        let opened = crate::open(made.file(name, bytes));
        assert_eq!(
            opened.recording.observations(),
            whole.recording.observations(),
            "{name}"
        );
        assert!(
            notes(&opened).contains(&warning.to_string()),
            "{:?}",
            notes(&opened)
        );
    };
    check(
        "plain.edf",
        236,
        b"-1      ",
        "warning: the number of records is not in the header: the 3 whole records of the file \
         are read",
    );
    for size in [[0; 4], [255; 4]] {
        check(
            "pcm_16.wav",
            40,
            &size,
            "warning: the size of the data is not in the header: all bytes to the end are read",
        );
    }
}
