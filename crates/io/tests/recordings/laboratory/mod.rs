//! BrainVision, FIF, GDF and XDF: files of their reference writers
//! (`fixtures/make_laboratory_fixtures.py`), files made byte by byte, copies with new numbers, and
//! what is refused (`laboratory/refusals.txt`; `STRT_UPDATE=1` writes that file anew).

mod brainvision;
mod fif;
mod gdf;
mod xdf;

use crate::fixtures::differences;
use crate::{Made, fixture, refusal};
use serde_json::Value;
use std::path::{Path, PathBuf};
use strt_io::{Opened, ReadOptions, read_recording};

/// Copies fixtures under other names.
fn copied(made: &Made, from: &str, name: &str) -> PathBuf {
    made.file(name, std::fs::read(fixture(from)).unwrap())
}

/// A copy of a fixture with one text in place of another.
fn replaced(made: &Made, from: &str, name: &str, old: &str, new: &str) -> PathBuf {
    let text = String::from_utf8(std::fs::read(fixture(from)).unwrap()).unwrap();
    assert!(text.contains(old), "{from} has no `{old}`");
    made.file(name, text.replace(old, new))
}

/// Onsets, durations and names.
fn events(opened: &Opened) -> Vec<(f64, f64, String)> {
    opened
        .events
        .iter()
        .map(|event| (event.onset, event.duration, event.name.clone()))
        .collect()
}

/// Everything about events, units and positions that was expected of a file and is not so.
fn other_differences(opened: &Opened, entry: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let found = events(opened);
    let expected = entry["events"].as_array().unwrap();
    let alike = |(found, expected): (&(f64, f64, String), &Value)| {
        let near = |a: f64, b: &Value| (a - b.as_f64().unwrap()).abs() < 1e-6;
        near(found.0, &expected[0])
            && near(found.1, &expected[1])
            && Some(found.2.as_str()) == expected[2].as_str()
    };
    if found.len() != expected.len() || !found.iter().zip(expected).all(alike) {
        wrong.push(format!("events {found:?}, not {expected:?}"));
    }
    if let Some(units) = entry["units"].as_array() {
        let found: Vec<Option<&str>> = opened.units.iter().map(Option::as_deref).collect();
        let units: Vec<Option<&str>> = units.iter().map(Value::as_str).collect();
        if found != units {
            wrong.push(format!("units {found:?}, not {units:?}"));
        }
    }
    if let Some(positions) = entry["positions"].as_array() {
        let alike = |(found, expected): (&Option<[f64; 3]>, &Value)| match found {
            None => expected.is_null(),
            Some(found) => (0..3).all(|i| expected[i].as_f64() == Some(found[i])),
        };
        if !opened.positions.iter().zip(positions).all(alike) {
            wrong.push(format!(
                "positions {:?}, not {positions:?}",
                opened.positions
            ));
        }
    }
    wrong
}

#[test]
fn files_of_reference_writers() {
    let expected = std::fs::read(fixture("laboratory.json")).unwrap();
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    let mut wrong = Vec::new();
    for (name, entry) in expected.as_object().unwrap() {
        let mut found = differences(name, entry);
        let options = ReadOptions {
            variable: entry["options"]["variable"].as_str().map(String::from),
            ..ReadOptions::default()
        };
        if let Ok(opened) = read_recording(fixture(name), &options) {
            found.extend(other_differences(&opened, entry));
        }
        wrong.extend(found.into_iter().map(|text| format!("{name}: {text}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn messages_name_the_place_and_the_remedy() {
    let made = Made::new();
    let files = [
        brainvision::bad_files(&made),
        fif::bad_files(&made),
        gdf::bad_files(&made),
        xdf::bad_files(&made),
    ];
    let messages: Vec<String> = files
        .concat()
        .iter()
        .map(|(path, variable)| {
            let options = ReadOptions {
                variable: variable.map(String::from),
                ..ReadOptions::default()
            };
            refusal(path, &options)
        })
        .collect();
    let snapshot =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/laboratory/refusals.txt");
    if std::env::var_os("STRT_UPDATE").is_some() {
        std::fs::write(&snapshot, messages.join("\n") + "\n").unwrap();
    }
    let expected = std::fs::read_to_string(&snapshot).unwrap();
    for (found, expected) in messages.iter().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(messages.len(), expected.lines().count());
}
