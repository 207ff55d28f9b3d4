//! A BIDS dataset: found, chosen from, described by its tables, separated, cleaned.

mod common;

use common::{Place, refused};

/// A dataset of two subjects with two runs each, and one of another task, in EDF of our own.
fn dataset() -> Place {
    let place = Place::new();
    place.problem("400");
    let signals = strt_io::read_recording(place.path("data/observations.csv"), &Default::default());
    let recording = signals.unwrap().recording;
    let names = ["Fp1", "Fp2", "Cz", "Pz", "EOG", "Oz"].map(String::from);
    let folder = |path: &str| std::fs::create_dir_all(place.path(path)).unwrap();
    for subject in ["01", "02"] {
        folder(&format!("set/sub-{subject}/eeg"));
        for name in ["task-rest_run-1", "task-rest_run-2", "task-odd"] {
            let path = format!("set/sub-{subject}/eeg/sub-{subject}_{name}_eeg.edf");
            let signals = strt_io::Signals {
                values: recording.observations(),
                names: &names,
                rate: Some(100.0),
            };
            strt_io::write_signals(place.path(&path), &signals).unwrap();
        }
    }
    place.write(
        "set/dataset_description.json",
        "{\"Name\": \"x\", \"BIDSVersion\": \"1.10.0\"}",
    );
    let channels = "name\ttype\tunits\tstatus\nFp1\tEEG\tn/a\tgood\nFp2\tEEG\tn/a\tbad\n\
                    Cz\tEEG\tn/a\tgood\nPz\tEEG\tn/a\tn/a\nEOG\tEOG\tn/a\tgood\n\
                    Oz\tEEG\tn/a\tgood\n";
    place.write("set/task-rest_channels.tsv", channels);
    place.write(
        "set/sub-01/eeg/sub-01_task-rest_run-1_events.tsv",
        "onset\tduration\ttrial_type\tvalue\n0.5\t0\ttone\t1\n1.25\tn/a\tn/a\t7\nn/a\t0\tlost\t1\n",
    );
    place.write(
        "set/task-rest_eeg.json",
        "{\"SamplingFrequency\": 250, \"PowerLineFrequency\": 50, \"TaskName\": \"rest\"}",
    );
    place.write(
        "set/sub-01/eeg/sub-01_space-CTF_electrodes.tsv",
        "name\tx\ty\tz\nCz\t0\t0\t120\nFp1\t90\t30\tn/a\nOz\t-90\t-10\t20\n",
    );
    place.write(
        "set/sub-01/eeg/sub-01_space-CTF_coordsystem.json",
        "{\"EEGCoordinateSystem\": \"CTF\", \"EEGCoordinateUnits\": \"mm\"}",
    );
    place
}

const RUN: &str =
    "set/derivatives/strtransformer/sub-01/eeg/sub-01_task-rest_run-1_desc-strt_eeg.strt";
const FAST: [&str; 5] = ["-k", "2", "--preset", "fast", "-q"];

#[test]
fn the_tables_of_a_dataset_say_what_the_recording_holds() {
    let place = dataset();
    place.done(
        &[
            &["separate", "set", "--subject", "01", "--task", "rest"][..],
            &FAST,
        ]
        .concat(),
    );
    let input = &place.json(&format!("{RUN}/summary.json"))["input"];
    assert_eq!(
        input["channel_names"],
        serde_json::json!(["Fp1", "Cz", "Pz", "Oz"])
    );
    let notes = input["notes"].to_string();
    for part in [
        "channel `Fp2` is left out: its status in channels.tsv is bad",
        "channel `EOG` is left out: channels.tsv gives it a type of its own",
        "events from sub-01_task-rest_run-1_events.tsv: 2",
        "events without an onset are left out: 1",
        "task-rest_eeg.json gives a rate of 250 Hz; the file has 100 Hz",
        "line frequency 50 Hz",
        "positions of 2 electrodes",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    let events = place.json(&format!("{RUN}/events.json"));
    assert_eq!(
        (&events[0]["name"], &events[1]["name"]),
        (&"tone".into(), &"7".into())
    );
    // To the right, to the front, up, in metres: the CTF axes point to the front and to the left.
    assert_eq!(
        input["positions"],
        serde_json::json!([null, [0.0, 0.0, 0.12], null, [0.01, -0.09, 0.02]])
    );

    // Derivatives: a dataset of its own, with names that BIDS knows.
    let description = place.json("set/derivatives/strtransformer/dataset_description.json");
    assert_eq!(description["DatasetType"], "derivative");
    assert_eq!(description["GeneratedBy"][0]["Name"], "StrTransformer");
    let made = place.names("set/derivatives/strtransformer/sub-01/eeg");
    assert_eq!(
        made,
        [
            "sub-01_task-rest_run-1_desc-strt_eeg.strt",
            "sub-01_task-rest_run-2_desc-strt_eeg.strt",
        ]
    );
    assert!(!place.path("set/derivatives/strtransformer/sub-02").exists());
    let ran = place.done(&["clean", RUN, "--remove", "s1"]);
    assert!(
        ran.stdout
            .contains("sub-01_task-rest_run-1_desc-strt_eeg.edf: 1 of 2"),
        "{}",
        ran.stdout
    );
    let cleaned =
        "set/derivatives/strtransformer/sub-01/eeg/sub-01_task-rest_run-1_desc-strt_eeg.edf";
    let read = |path: &str| strt_io::read_recording(place.path(path), &Default::default()).unwrap();
    let (after, before) = (
        read(cleaned),
        read("set/sub-01/eeg/sub-01_task-rest_run-1_eeg.edf"),
    );
    assert_eq!(
        after.recording.channel_names(),
        before.recording.channel_names()
    );
    let column = |opened: &strt_io::Opened, c: usize| -> Vec<f64> {
        opened
            .recording
            .observations()
            .col(c)
            .iter()
            .copied()
            .collect()
    };
    assert_eq!(
        column(&after, 4),
        column(&before, 4),
        "the EOG was not part of it"
    );
    assert_ne!(column(&after, 2), column(&before, 2));
}

#[test]
fn runs_of_a_task_go_together_where_that_is_asked_for() {
    let place = dataset();
    place.done(
        &[
            &["separate", "set", "--together", "--out", "out"][..],
            &FAST,
        ]
        .concat(),
    );
    let made = place.names("out/sub-02/eeg");
    assert_eq!(
        made,
        [
            "sub-02_task-odd_desc-strt_eeg.strt",
            "sub-02_task-rest_desc-strt_eeg.strt"
        ]
    );
    let summary = place.json("out/sub-02/eeg/sub-02_task-rest_desc-strt_eeg.strt/summary.json");
    assert_eq!(summary["samples"], 800);
    let run = "out/sub-02/eeg/sub-02_task-rest_desc-strt_eeg.strt";
    place.done(&["clean", run, "--remove", "s1", "-q"]);
    let cleaned = place.names("out/sub-02/eeg");
    assert!(
        cleaned.contains(&"sub-02_task-rest_run-2_desc-strt_eeg.edf".into()),
        "{cleaned:?}"
    );
}

#[test]
fn a_dataset_is_listed_and_what_it_has_not_is_refused() {
    let place = dataset();
    let ran = place.done(&["info", "set", "--task", "rest", "--run", "1"]);
    assert!(
        ran.stdout
            .starts_with("set: a BIDS dataset, 2 recordings\n"),
        "{}",
        ran.stdout
    );
    let line = ran
        .stdout
        .lines()
        .find(|line| line.contains("sub-01_task-rest_run-1"));
    assert!(line.unwrap().contains("2 left out"), "{}", ran.stdout);
    let with = |more: &[&'static str]| [&["separate", "set"], more, &FAST[..]].concat();
    refused(
        &place,
        &with(&["--subject", "07"]),
        1,
        "expected one of 01, 02, found `07`",
    );
    refused(
        &place,
        &with(&["--session", "1"]),
        1,
        "recordings with ses-",
    );
    refused(
        &place,
        &with(&["data/observations.csv"]),
        2,
        "set: expected a BIDS dataset alone",
    );
    refused(
        &place,
        &with(&["--out", "set"]),
        2,
        "found the dataset itself",
    );
    let words = [
        "separate",
        "data/observations.csv",
        "--task",
        "rest",
        "-k",
        "2",
    ];
    refused(&place, &words, 2, "expected the folder of a BIDS dataset");
    place.write("set/task-rest_channels.tsv", "label\nFp1\n");
    let ran = place.strt(&with(&["--task", "rest", "--subject", "02"]));
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr
            .contains("task-rest_channels.tsv: line 1: expected names"),
        "{}",
        ran.stderr
    );
    let words = ["separate", "data/observations.csv", "--bids", "-k", "2"];
    refused(
        &place,
        &words,
        1,
        "bids: expected a name such as sub-01_task-rest_eeg.edf",
    );
}
