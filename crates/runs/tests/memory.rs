//! Runs of recordings in memory: the same folders as of files, stopped and resumed with the same
//! bits.

mod common;

use common::*;
use std::time::Duration;
use strt_io::{ReadOptions, Signals, read_recording, write_signals};
use strt_runs::results::Results;
use strt_runs::training::Log;
use strt_runs::{
    Error, Format, Order, ResumeOptions, Source, Truth, Unwatched, resume, save, start,
};
use strt_score::Reference;
use strt_synth::ProblemSpec;
use strtransformer::train::StopReason;

fn reference() -> Reference {
    let spec = ProblemSpec {
        n_samples: 200,
        ..ProblemSpec::default()
    };
    spec.generate().unwrap().reference().unwrap()
}

#[test]
fn a_run_from_memory_leaves_the_files_of_a_run_from_a_file() {
    let (place, data) = (Place::new(), Data::new(0));
    let file = place.path("recording.mat");
    let signals = Signals {
        values: data.recording.observations(),
        names: data.recording.channel_names(),
        rate: None,
    };
    write_signals(&file, &signals).unwrap();
    let from_file = Order {
        source: Source::File(&file),
        reading: ReadOptions {
            rate: Some(100.0),
            ..ReadOptions::default()
        },
        formats: vec![Format::Mat],
        ..data.order()
    };
    let mut watcher = Stopper::default();
    start(&from_file, &place.path("file"), &mut watcher).unwrap();
    assert_eq!(
        watcher.events,
        [
            "Reading", "Read", "Training", "Trained", "Writing", "Written"
        ]
    );
    // Names come from the file, or are those of the recording; all else is the same.
    let read = read_recording(&file, &from_file.reading).unwrap().recording;
    let data = Data {
        input: strt_runs::results::summary::Input::in_memory("array", &read),
        recording: read,
    };
    let order = Order {
        formats: vec![Format::Mat],
        ..data.order()
    };
    let written = start(&order, &place.path("memory"), &mut Unwatched).unwrap();
    place.assert_alike("file", "memory");
    assert_eq!(
        place.names(""),
        ["file", "memory", "recording.mat"],
        "nothing else is left"
    );
    assert_eq!(
        (written.unfinished, written.separation.stop_reason()),
        (false, StopReason::StepLimit)
    );
    assert_eq!(written.place, place.path("memory"));
    let summary = place.json("memory/summary.json");
    assert_eq!(summary["command"], "fit(x, n_sources=3)");
    assert_eq!(
        (&summary["input"]["path"], &summary["input"]["format"]),
        (&"array".into(), &"memory".into())
    );
    // Warnings speak to whoever called.
    let warnings = summary["warnings"].to_string();
    assert!(
        warnings.contains("try optimizer.steps = 24") && !warnings.contains("--"),
        "{warnings}"
    );
}

#[test]
fn a_run_that_the_watcher_stops_is_resumed_with_the_same_bits() {
    let (place, data, truth) = (Place::new(), Data::new(0), reference());
    let known = Truth::Memory {
        reference: &truth,
        name: "truth",
    };
    let order = Order {
        reference: Some(known),
        // A pause after every step is not a stop.
        autosave: Duration::ZERO,
        ..data.order()
    };
    let whole = start(&order, &place.path("whole"), &mut Unwatched).unwrap();
    let written = start(&order, &place.path("run"), &mut Stopper::after(7)).unwrap();
    assert!(written.unfinished && written.summary.stop_reason == StopReason::Interrupted);
    assert_eq!((written.log.steps, written.place), (7, place.path("run")));
    let kept = place.json("run/run.json");
    assert_eq!(
        (&kept["input"], &kept["reference"]),
        (&"memory".into(), &"memory".into())
    );

    // Whoever resumes it gives the data again: all of them, and the same ones.
    let folder = place.path("run");
    let error = refused(
        resume(&folder, &ResumeOptions::default(), &mut Unwatched),
        &["run: expected the recording", "held in memory"],
    );
    assert!(matches!(error, Error::InMemory { .. }));
    let mut again = ResumeOptions {
        source: Some(data.source()),
        ..ResumeOptions::default()
    };
    refused(
        resume(&folder, &again, &mut Unwatched),
        &["expected the reference"],
    );
    again.reference = Some(known);
    let other = Data::new(1);
    let wrong = ResumeOptions {
        source: Some(other.source()),
        ..again.clone()
    };
    refused(
        resume(&folder, &wrong, &mut Unwatched),
        &["run: saved state"],
    );

    // Stopped once more in the second restart.
    let mut watcher = Stopper::after(9);
    assert!(resume(&folder, &again, &mut watcher).unwrap().unfinished);
    assert_eq!(watcher.events[..2], ["Resumed", "Training"]);
    let written = resume(&folder, &again, &mut Unwatched).unwrap();
    assert!(!written.unfinished);
    assert_eq!(written.log.rows(), whole.log.rows());
    place.assert_alike("run", "whole");
    assert_eq!(
        place.json("run/summary.json")["scores"]["reference"],
        "truth"
    );
    refused(
        resume(&folder, &again, &mut Unwatched),
        &["this run has ended", "with more steps"],
    );
}

#[test]
fn a_result_in_memory_is_saved_as_the_folder_of_a_run() {
    let (place, data) = (Place::new(), Data::new(0));
    let written = start(&data.order(), &place.path("run"), &mut Unwatched).unwrap();
    let mut log = Log::of_rows(written.log.rows().to_vec());
    (log.steps, log.seconds) = (written.log.steps, written.log.seconds);
    let results = Results {
        command: "fit(x, n_sources=3)".into(),
        caller: &CALLER,
        ..Results::new(
            &data.recording,
            &written.separation,
            &log,
            data.input.clone(),
        )
    };
    save(&place.path("saved"), false, &results).unwrap();
    place.assert_alike("run", "saved");
    assert_eq!(
        place.read("run/summary.json"),
        place.read("saved/summary.json")
    );
    assert_eq!(place.read("run/page.txt"), place.read("saved/page.txt"));
    let error = refused(
        save(&place.path("saved"), false, &results),
        &["saved: the folder exists; choose another path, or replace it with overwrite"],
    );
    assert!(!error.is_request());
    save(&place.path("saved"), true, &results).unwrap();
    // Pieces of another run leave nothing.
    let other = strtransformer::Recording::from_mat(faer::Mat::from_fn(50, 6, |t, c| {
        ((t * (c + 2)) as f64).sin()
    }));
    let other = other.unwrap();
    let wrong = Results {
        recording: &other,
        ..results
    };
    assert!(save(&place.path("wrong"), false, &wrong).is_err());
    assert_eq!(place.names(""), ["run", "saved"]);
}
