//! Folders of runs: told apart, made sure of, loaded, and refused when they are damaged.

mod common;

use common::*;
use std::fs;
use strt_runs::{Ensured, Error, Order, Place as Found, Unwatched, ensure, inspect, load, start};

#[test]
fn finished_unfinished_and_absent_are_told_apart_and_made_sure_of() {
    let (place, data) = (Place::new(), Data::new(0));
    let target = place.path("run");
    assert_eq!(inspect(&target).unwrap(), Found::Absent);
    fs::create_dir(&target).unwrap();
    assert_eq!(inspect(&target).unwrap(), Found::Absent, "an empty folder");

    let order = data.order();
    let made = ensure(&order, &target, &mut Stopper::after(3)).unwrap();
    assert!(matches!(made, Ensured::Made(written) if written.unfinished));
    assert_eq!(inspect(&target).unwrap(), Found::Unfinished(target.clone()));

    let mut watcher = Stopper::default();
    let made = ensure(&order, &target, &mut watcher).unwrap();
    assert!(matches!(made, Ensured::Made(written) if !written.unfinished));
    assert_eq!(watcher.events[0], "Resumed");
    assert_eq!(inspect(&target).unwrap(), Found::Finished(target.clone()));
    start(&order, &place.path("whole"), &mut Unwatched).unwrap();
    place.assert_alike("run", "whole");

    let mut watcher = Stopper::default();
    let Ensured::There(loaded) = ensure(&order, &target, &mut watcher).unwrap() else {
        panic!("the run was made again");
    };
    assert_eq!((watcher.steps, loaded.place), (0, target.clone()));

    // A run that may replace it is kept beside it until it has ended.
    let mut other = Order {
        overwrite: true,
        ..data.order()
    };
    other.config.seed = 9;
    let made = ensure(&other, &target, &mut Stopper::after(3)).unwrap();
    let partial = place.path("run.partial");
    assert!(matches!(made, Ensured::Made(written) if written.place == partial));
    assert_eq!(inspect(&target).unwrap(), Found::Unfinished(partial));
    ensure(&other, &target, &mut Unwatched).unwrap();
    assert_eq!(place.json("run/summary.json")["seed"], 9);
    assert_eq!(place.names(""), ["run", "whole"]);

    fs::create_dir(place.path("mine")).unwrap();
    fs::write(place.path("mine/notes.txt"), "x").unwrap();
    refused(
        inspect(&place.path("mine")),
        &["mine: the folder exists", "choose another path"],
    );
}

#[test]
fn another_run_is_not_taken_for_the_one_that_was_asked_for() {
    let (place, data) = (Place::new(), Data::new(0));
    let (finished, unfinished) = (place.path("finished"), place.path("unfinished"));
    start(&data.order(), &finished, &mut Unwatched).unwrap();
    start(&data.order(), &unfinished, &mut Stopper::after(3)).unwrap();
    for target in [&finished, &unfinished] {
        let before = names(target);
        let mut order = data.order();
        order.config.optimizer.steps = Some(13);
        let error = refused(
            ensure(&order, target, &mut Unwatched),
            &[
                "finished: ",
                "optimizer.steps is 12 there, 13 was asked for",
                "with overwrite",
            ],
        );
        assert!(matches!(error, Error::Different { .. }));
        let other = Data::new(1);
        refused(
            ensure(&other.order(), target, &mut Unwatched),
            &["holds other values"],
        );
        let mut order = data.order();
        order.config.threads = 2;
        assert_eq!(names(target), before);
        ensure(&order, target, &mut Unwatched).expect("threads never change a result");
    }
}

#[test]
fn what_was_written_is_loaded() {
    let (place, data) = (Place::new(), Data::new(0));
    let written = start(&data.order(), &place.path("run"), &mut Unwatched).unwrap();
    let loaded = load(&place.path("run")).unwrap();
    assert_eq!(loaded.separation.sources(), written.separation.sources());
    assert_eq!(loaded.log.rows(), written.log.rows());
    assert_eq!(loaded.log.steps, written.log.steps);
    assert!(loaded.log.scores.is_empty() && !loaded.unfinished);
    assert_eq!(loaded.summary, written.summary);
    let stopped = start(
        &data.order(),
        &place.path("stopped"),
        &mut Stopper::after(3),
    )
    .unwrap();
    let loaded = load(&stopped.place).unwrap();
    assert!(loaded.unfinished && loaded.separation.steps() == 3);
}

#[test]
fn a_damaged_folder_is_refused_by_name() {
    let (place, data) = (Place::new(), Data::new(0));
    let run = place.path("run");
    start(&data.order(), &run, &mut Unwatched).unwrap();
    refused(
        load(&place.path("absent")),
        &["absent: expected the folder of a run, with summary.json, found no such folder"],
    );
    refused(
        load(&place.path("")),
        &["found no such file in it", "give the folder"],
    );
    let damage = |name: &str, change: &dyn Fn(String) -> String, words: &[&str]| {
        let path = run.join(name);
        let good = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&good).into_owned();
        fs::write(&path, change(text)).unwrap();
        refused(load(&run), words);
        fs::write(&path, good).unwrap();
        load(&run).expect("repaired");
    };
    let cut = |text: String| text.chars().take(text.len() / 2).collect();
    damage(
        "summary.json",
        &cut,
        &["summary.json: expected what strt wrote", "another copy"],
    );
    damage(
        "summary.json",
        &|text| text.replace("\"steps\": 12", "\"steps\": 11"),
        &["summary.json", "steps is 11, but 12 in model.safetensors"],
    );
    // A folder of before there were verdicts, and checksums, is read as it is.
    fs::remove_file(run.join(".strt")).unwrap();
    let summary = fs::read_to_string(run.join("summary.json")).unwrap();
    let mut old: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert!(old.as_object_mut().unwrap().remove("verdicts").is_some());
    fs::write(run.join("summary.json"), old.to_string()).unwrap();
    assert!(load(&run).unwrap().summary.verdicts.is_none());
    fs::write(run.join("summary.json"), summary).unwrap();
    damage(
        "model.safetensors",
        &cut,
        &["model.safetensors: expected a safetensors file"],
    );
    damage(
        "history.csv",
        &|text| text.replace("objective", "objektive"),
        &[
            "history.csv: line 1: expected the names of the columns",
            "another copy",
        ],
    );
    fs::remove_file(run.join("history.csv")).unwrap();
    refused(load(&run), &["history.csv: cannot read"]);
}

#[test]
fn events_and_positions_are_kept_with_a_run() {
    let (place, mut data) = (Place::new(), Data::new(0));
    let event = |onset: f64, name: &str| strt_io::Event {
        onset,
        duration: 0.25,
        name: name.into(),
    };
    data.input.events = vec![event(0.5, "left, \"hand\"\n"), event(1.25, "rt")];
    data.input.positions = vec![None, Some([0.01, -0.02, 0.0899999999])];
    data.input
        .positions
        .resize(data.recording.n_channels(), None);
    // Also of a run that was stopped, resumed from memory and finished.
    let run = place.path("run");
    start(&data.order(), &run, &mut Stopper::after(3)).unwrap();
    assert_eq!(load(&run).unwrap().summary.input, data.input);
    ensure(&data.order(), &run, &mut Unwatched).unwrap();
    let loaded = load(&run).unwrap();
    assert!(!loaded.unfinished);
    assert_eq!(loaded.summary.input, data.input);
    assert!(loaded.summary.files.contains(&"events.json".into()));
    assert!(
        fs::read_to_string(run.join("labels.csv"))
            .unwrap()
            .starts_with("source,label,")
    );

    fs::write(run.join("events.json"), "[{\"onset\": 1").unwrap();
    refused(
        load(&run),
        &["events.json: expected what strt wrote", "another copy"],
    );
    fs::remove_file(run.join("events.json")).unwrap();
    assert!(load(&run).unwrap().summary.input.events.is_empty());
}
