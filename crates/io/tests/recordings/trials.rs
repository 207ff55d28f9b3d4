//! Files of trials, which are pieces of one recording, and arrays of tables with their time.

use crate::{Made, fixture, notes, open};
use faer::Mat;
use strt_io::{ReadOptions, join, read_recording, rewrite_recording};

/// Sample `t` of all trials together, of trials of 10 samples.
fn value(t: usize, channel: usize) -> f64 {
    (100 * (t / 10) + 20 * channel + t % 10) as f64
}

#[test]
fn trials_of_every_program_are_pieces() {
    let check = |name: &str, rate: Option<f64>, note: &str| {
        let opened = open(fixture(name));
        let recording = &opened.recording;
        assert_eq!(
            (recording.n_samples(), recording.n_channels()),
            (30, 2),
            "{name}"
        );
        assert!(recording.pieces().lengths().eq([10, 10, 10]), "{name}");
        for t in 0..30 {
            for channel in 0..2 {
                let found = recording.observations()[(t, channel)];
                assert_eq!(found, value(t, channel), "{name}");
            }
        }
        assert_eq!(recording.sampling_rate(), rate, "{name}");
        let note = format!(
            "3 trials of 10 samples × 2 channels of F64, pieces of one recording; dimensions are \
             {note}"
        );
        assert_eq!(notes(&opened)[0], note, "{name}");
    };
    let mne = "trials, channels and samples, as MNE has them";
    check("trials.npy", None, mne);
    check("trials_fortran.npy", None, mne);
    check("trials.h5", None, mne);
    let times = "trials, channels and samples, as `times` holds 10 times";
    check("trials.npz", Some(50.0), times);
    let eeglab = "channels, samples and trials, as EEGLAB has them";
    check("trials.mat", None, eeglab);
    let both = "trials, channels and samples, as `timelock.label` names 2 channels and \
                `timelock.time` holds 10 times";
    check("trials_fieldtrip.mat", Some(50.0), both);
    let epochs = open(fixture("epochs.set")).recording;
    assert!(epochs.pieces().lengths().eq([10, 10]));
}

#[test]
fn a_span_keeps_the_ends_of_trials() {
    let options = ReadOptions {
        rate: Some(10.0),
        start: Some(0.8),
        stop: Some(2.2),
        ..ReadOptions::default()
    };
    let recording = read_recording(fixture("trials.npy"), &options).unwrap();
    let recording = recording.recording;
    assert!(recording.pieces().lengths().eq([2, 10, 2]));
    assert_eq!(recording.observations()[(0, 1)], value(8, 1));
}

/// The copy has the dimensions of the file, and only the new numbers are others.
#[test]
fn trials_are_rewritten_in_their_places() {
    let made = Made::new();
    let plain = ReadOptions::default();
    for name in ["trials.npy", "trials_fortran.npy", "trials.mat"] {
        let path = fixture(name);
        let out = made.file(name, "");
        std::fs::remove_file(&out).unwrap();
        let new = Mat::from_fn(30, 2, |t, channel| 0.5 + value(t, channel));
        rewrite_recording(&path, &plain, new.as_ref(), &out).unwrap();
        let again = open(&out).recording;
        assert!(again.pieces().lengths().eq([10, 10, 10]), "{name}");
        for t in 0..30 {
            for channel in 0..2 {
                let found = again.observations()[(t, channel)];
                assert_eq!(found, 0.5 + value(t, channel), "{name}");
            }
        }
    }
}

#[test]
fn trials_of_several_files_stay_apart() {
    let files = ["trials.npy", "trials.mat"].map(|name| {
        let path = fixture(name);
        (path.clone(), open(path))
    });
    let joined = join(files.to_vec()).unwrap();
    let recording = &joined.opened.recording;
    assert!(recording.pieces().lengths().eq([10; 6]));
    assert_eq!(joined.pieces.len(), 2);
}

#[test]
fn the_time_among_named_columns_is_no_channel() {
    for (name, list) in [
        ("importdata_time.mat", "colheaders"),
        ("names_time.npz", "ch_names"),
    ] {
        let opened = open(fixture(name));
        let recording = &opened.recording;
        assert_eq!(recording.channel_names(), ["A", "B"], "{name}");
        assert_eq!(recording.sampling_rate(), Some(200.0), "{name}");
        assert_eq!(recording.observations()[(3, 1)], 23.0, "{name}");
        let found = notes(&opened);
        for expected in [
            &format!("names of the channels are taken from `{list}`"),
            "column `Time` is the time, in steps of 0.005 s: 200 Hz",
            "channel `Time` is left out: it holds the time",
            "channel `Trigger` is left out: its name says that it holds events",
        ] {
            assert!(found.contains(&expected.to_string()), "{name}: {found:?}");
        }
        let all = ReadOptions {
            time_column: Some("none".to_string().into()),
            channels: Some("Time,Trigger".into()),
            ..ReadOptions::default()
        };
        let recording = read_recording(fixture(name), &all).unwrap().recording;
        assert_eq!(recording.observations()[(2, 0)], 0.01, "{name}");
        assert_eq!(recording.sampling_rate(), None, "{name}");
    }
}

/// A note for each of many channels would hide all others.
#[test]
fn many_channels_of_one_name_are_told_together() {
    let made = Made::new();
    let table = |n: usize| format!("{}\n{}\n{}\n", vec!["A"; n].join(","), row(n, 1), row(n, 2));
    fn row(n: usize, first: usize) -> String {
        let cells: Vec<String> = (0..n).map(|i| (first * i).to_string()).collect();
        cells.join(",")
    }
    let few = open(made.file("few.csv", table(9)));
    let renamed = |opened: &strt_io::Opened| -> Vec<String> {
        let all = notes(opened).into_iter();
        all.filter(|note| note.contains("renamed")).collect()
    };
    assert_eq!(renamed(&few).len(), 8);
    let many = open(made.file("many.csv", table(10)));
    assert_eq!(
        renamed(&many),
        [
            "warning: 9 channels have the names of others and are renamed, from `A` to `A_2` up to \
          `A` to `A_10`"
        ]
    );
}
