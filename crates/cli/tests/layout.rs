//! A recording that lies on its side: the decision is made once and kept by all that reads the
//! recording of the run, or another one under its model.

mod common;

use common::{FAST, Place, refused};
use strt_io::{ReadOptions, read_recording};

/// An NPY file of channels × samples.
fn on_its_side(place: &Place, from: &str, to: &str, samples: usize) {
    let opened = read_recording(place.path(from), &ReadOptions::default()).unwrap();
    let values = opened.recording.observations();
    let channels = values.ncols();
    let header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({channels}, {samples}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for channel in 0..channels {
        for t in 0..samples {
            bytes.extend(values[(t, channel)].to_le_bytes());
        }
    }
    place.write(to, bytes);
}

#[test]
fn a_run_keeps_its_layout() {
    let place = Place::new();
    place.problem("300");
    on_its_side(&place, "data/observations.csv", "side.npy", 300);
    on_its_side(&place, "data/true_sources.csv", "truth.npy", 300);
    on_its_side(&place, "data/observations.csv", "few.npy", 5);

    let run = ["separate", "side.npy", "--reference", "truth.npy"];
    let arguments = [&run[..], &FAST].concat();
    place.done(&arguments);
    let summary = place.json("side.strt/summary.json");
    assert_eq!(summary["input"]["options"]["transpose"], true);
    assert_eq!(summary["channels"], 6);
    assert_eq!(summary["samples"], 300);

    // The cleaned copy lies as the recording does.
    place.done(&["clean", "side.strt", "--remove", "s1", "-q"]);
    assert_eq!(
        place.read("side_clean.npy").len(),
        place.read("side.npy").len()
    );
    let cleaned = read_recording(place.path("side_clean.npy"), &ReadOptions::default()).unwrap();
    assert_eq!(cleaned.recording.n_channels(), 6);

    // Six channels of five samples: the model has six channels.
    place.done(&["transform", "side.strt", "few.npy", "-o", "few.csv", "-q"]);
    let sources = read_recording(place.path("few.csv"), &ReadOptions::default()).unwrap();
    assert_eq!(sources.recording.n_samples(), 5);
    place.done(&["clean", "side.strt", "few.npy", "--remove", "s1", "-q"]);
    assert_eq!(
        place.read("few_clean.npy").len(),
        place.read("few.npy").len()
    );

    // True sources are of as many samples as the estimated ones.
    let told = place
        .done(&["evaluate", "side.strt", "truth.npy", "--json"])
        .stdout;
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["samples"], 300);
    assert_eq!(told["sources"].as_array().unwrap().len(), 3);
}

#[test]
fn thousands_of_channels_are_not_separated() {
    let place = Place::new();
    let row: Vec<String> = (0..5000).map(|i| (i * i % 97).to_string()).collect();
    let row = row.join(",") + "\n";
    place.write("wide.csv", row.repeat(3));
    refused(
        &place,
        &["separate", "wide.csv", "--transpose=no", "-k", "2"],
        1,
        "wide.csv: channels: expected at most 4096 channels at once, found 5000; if its columns \
         are samples, read it with --transpose; else choose some with --channels",
    );
}

/// Trials are one recording in pieces, from the file to its cleaned copy.
#[test]
fn a_run_on_trials() {
    let place = Place::new();
    place.problem("300");
    let opened = read_recording(place.path("data/observations.csv"), &ReadOptions::default());
    let values = opened.unwrap().recording.observations().to_owned();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (10, 6, 30), }";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for trial in 0..10 {
        for channel in 0..6 {
            for t in 0..30 {
                bytes.extend(values[(30 * trial + t, channel)].to_le_bytes());
            }
        }
    }
    place.write("trials.npy", bytes);
    place.done(&[&["separate", "trials.npy"][..], &FAST].concat());
    place.done(
        &[
            &["separate", "data/observations.csv", "-o", "whole.strt"][..],
            &FAST,
        ]
        .concat(),
    );
    let summary = place.json("trials.strt/summary.json");
    assert_eq!(summary["samples"], 300);
    assert_eq!(summary["channels"], 6);
    assert_eq!(summary["input"]["options"]["transpose"], true);
    // Numbers are those of the whole recording; what is learned is not.
    assert_ne!(
        place.read("trials.strt/sources.csv"),
        place.read("whole.strt/sources.csv")
    );
    place.done(&["clean", "trials.strt", "--remove", "s1", "-q"]);
    let cleaned = read_recording(place.path("trials_clean.npy"), &ReadOptions::default()).unwrap();
    assert!(cleaned.recording.pieces().lengths().eq([30; 10]));
}
