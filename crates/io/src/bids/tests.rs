//! Datasets made of small texts: what is found in them, and what their tables do to a recording.

use super::{BidsFilter, bids_recordings, is_bids_dataset};
use crate::read::{ReadOptions, Summary, inspect, read_recording};
use crate::{Signals, write_signals};
use faer::Mat;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder with files, each of a path and a text.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// A recording of two channels, `Cz` and `EOG`, with these tables beside and above it.
fn recording(tables: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let folder = folder(&[("set/sub-1/eeg/x", "")]);
    for (path, text) in tables {
        fs::write(folder.path().join("set").join(path), text).unwrap();
    }
    let path = folder
        .path()
        .join("set/sub-1/eeg/sub-1_task-a_run-2_eeg.edf");
    let values = Mat::from_fn(50, 2, |t, c| ((t * (c + 3)) % 7) as f64);
    let signals = Signals {
        values: values.as_ref(),
        names: &["Cz".into(), "EOG".into()],
        rate: Some(10.0),
    };
    write_signals(&path, &signals).unwrap();
    (folder, path)
}

fn bids() -> ReadOptions {
    ReadOptions {
        bids: true,
        ..ReadOptions::default()
    }
}

fn described(tables: &[(&str, &str)]) -> Summary {
    let (_folder, path) = recording(tables);
    inspect(path, &bids()).unwrap()
}

fn refused(tables: &[(&str, &str)], parts: &[&str]) {
    let (_folder, path) = recording(tables);
    let message = read_recording(path, &bids()).unwrap_err().to_string();
    for part in parts {
        assert!(message.contains(part), "\"{message}\" lacks \"{part}\"");
    }
}

fn left_out(summary: &Summary) -> Vec<bool> {
    let channels = summary.channels.iter();
    channels.map(|channel| channel.left_out.is_some()).collect()
}

#[test]
fn the_nearest_table_with_most_entities_is_taken() {
    let all = "name\ttype\nCz\tMISC\nEOG\tMISC\n";
    let task = "name\ttype\nCz\tEEG\nEOG\tEOG\n";
    let other = "name\ttype\nCz\tEEG\nEOG\tEEG\n";
    let above = [("channels.tsv", all), ("task-a_channels.tsv", task)];
    assert_eq!(left_out(&described(&above)), [false, true]);
    let run_1 = ("sub-1/eeg/sub-1_task-a_run-1_channels.tsv", other);
    assert_eq!(left_out(&described(&[above[1], run_1])), [false, true]);
    let run_2 = ("sub-1/eeg/sub-1_task-a_run-2_channels.tsv", other);
    assert_eq!(left_out(&described(&[above[1], run_2])), [false, false]);
    // Without the option nothing is looked for.
    let (_folder, path) = recording(&above);
    let plain = inspect(path, &ReadOptions::default()).unwrap();
    assert_eq!(left_out(&plain), [false, false]);
}

#[test]
fn units_and_unlisted_channels_are_noted() {
    let table = "name\ttype\tunits\nCz\tEEG\tuV\n";
    let summary = described(&[("task-a_channels.tsv", table)]);
    assert_eq!(summary.channels[0].unit.as_deref(), Some("uV"));
    let notes: Vec<String> = summary.notes.iter().map(ToString::to_string).collect();
    let expected = "warning: task-a_channels.tsv does not list `EOG`: they are taken as they are";
    assert!(notes.iter().any(|note| note == expected), "{notes:?}");
}

#[test]
fn positions_of_unknown_coordinates_are_not_used() {
    let electrodes = (
        "sub-1/eeg/sub-1_electrodes.tsv",
        "name\tx\ty\tz\nCz\t0\t0\t9\n",
    );
    let system = "{\"EEGCoordinateSystem\": \"Other\", \"EEGCoordinateUnits\": \"cm\"}";
    let known = system.replace("Other", "CapTrak");
    let beside = "sub-1/eeg/sub-1_coordsystem.json";
    for (tables, expected, position) in [
        (vec![electrodes], "no coordsystem.json", None),
        (
            vec![electrodes, (beside, system)],
            "the coordinates Other in cm",
            None,
        ),
        (
            vec![electrodes, (beside, &known)],
            "positions of 1 electrodes",
            Some([0.0, 0.0, 0.09]),
        ),
    ] {
        let (_folder, path) = recording(&tables);
        let opened = read_recording(path, &bids()).unwrap();
        assert!(
            opened.notes.iter().any(|note| note.text.contains(expected)),
            "{expected}"
        );
        assert_eq!(opened.positions[0], position);
    }
}

#[test]
fn tables_that_are_wrong_are_refused_by_line() {
    let events = "sub-1/eeg/sub-1_task-a_run-2_events.tsv";
    refused(
        &[(events, "time\n1\n")],
        &["events.tsv: line 1", "`onset`", "`time`"],
    );
    refused(
        &[(events, "onset\tduration\n1\t2\n3\n")],
        &["line 3", "2 cells", "found 1"],
    );
    refused(
        &[(events, "onset\nsoon\n")],
        &["line 2, column `onset`", "`soon`"],
    );
    refused(
        &[(events, "onset\tduration\n1\t-2\n")],
        &["line 2, column `duration`", "`-2`"],
    );
    refused(
        &[("task-a_eeg.json", "{\n]")],
        &["task-a_eeg.json: line 2", "JSON"],
    );
    refused(
        &[("channels.tsv", "")],
        &["channels.tsv: line 1", "found none"],
    );
}

#[test]
fn recordings_are_found_by_their_names_in_natural_order() {
    let folder = folder(&[
        ("sub-10/eeg/sub-10_task-a_eeg.edf", ""),
        ("sub-2/ses-b/meg/sub-2_ses-b_task-a_split-01_meg.fif", ""),
        ("sub-2/ses-b/meg/sub-2_ses-b_task-a_split-02_meg.fif", ""),
        ("sub-2/eeg/sub-2_task-a_run-01_eeg.vhdr", ""),
        ("sub-2/eeg/sub-2_task-a_run-01_eeg.eeg", ""),
        ("sub-2/eeg/sub-2_task-b_events.tsv", ""),
        ("derivatives/x/sub-2/eeg/sub-2_task-a_eeg.edf", ""),
        ("sub-2/anat/sub-2_T1w.edf", ""),
    ]);
    assert!(is_bids_dataset(folder.path()) && !is_bids_dataset(&folder.path().join("sub-2")));
    let found = |filter: &BidsFilter| -> Vec<String> {
        let found = bids_recordings(folder.path(), filter).unwrap();
        found
            .iter()
            .map(|recording| recording.name.to_string())
            .collect()
    };
    assert_eq!(
        found(&BidsFilter::default()),
        [
            "sub-2_task-a_run-01_eeg.vhdr",
            "sub-2_ses-b_task-a_split-01_meg.fif",
            "sub-10_task-a_eeg.edf"
        ]
    );
    let only = |subject: &str, run: &str| BidsFilter {
        subject: vec![subject.into()],
        run: vec![run.into()],
        ..BidsFilter::default()
    };
    assert_eq!(found(&only("sub-2", "1")), ["sub-2_task-a_run-01_eeg.vhdr"]);
    let message = bids_recordings(folder.path(), &only("10", "1")).unwrap_err();
    assert!(
        message.to_string().contains("recordings with run-"),
        "{message}"
    );
    let message = bids_recordings(Path::new(folder.path()), &only("3", "1")).unwrap_err();
    assert!(
        message.to_string().contains("one of 2, 10, found `3`"),
        "{message}"
    );
}
