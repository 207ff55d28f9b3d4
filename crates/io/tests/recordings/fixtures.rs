//! Files that other programs wrote (`fixtures/make_fixtures.py`, `make_fixtures_more.py`) give the
//! values that those programs put into them.

use crate::fixture;
use serde_json::Value;
use strt_io::{ReadOptions, inspect, read_recording};

fn options(entry: &Value) -> ReadOptions {
    let text = |key: &str| entry["options"][key].as_str();
    ReadOptions {
        variable: text("variable").map(String::from),
        channels: text("channels").map(Into::into),
        transpose: entry["options"]["transpose"].as_bool(),
        ..ReadOptions::default()
    }
}

/// Everything that was expected of `name` and is not so.
pub fn differences(name: &str, entry: &Value) -> Vec<String> {
    let options = options(entry);
    let opened = match read_recording(fixture(name), &options) {
        Ok(opened) => opened,
        Err(error) => return vec![error.to_string()],
    };
    let recording = &opened.recording;
    let mut differences = Vec::new();
    let names: Vec<&str> = entry["names"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    if recording.channel_names() != names {
        differences.push(format!(
            "names {:?}, not {names:?}",
            recording.channel_names()
        ));
    }
    if recording.sampling_rate() != entry["rate"].as_f64() {
        differences.push(format!(
            "rate {:?}, not {}",
            recording.sampling_rate(),
            entry["rate"]
        ));
    }
    let rows = entry["values"].as_array().unwrap();
    let (found, expected) = (
        (recording.n_samples(), recording.n_channels()),
        (rows.len(), rows[0].as_array().unwrap().len()),
    );
    if found != expected {
        differences.push(format!("shape {found:?}, not {expected:?}"));
        return differences;
    }
    let tolerance = entry["tolerance"].as_f64().unwrap();
    let mut missing = vec![0; expected.1];
    for (t, row) in rows.iter().enumerate() {
        for (channel, value) in row.as_array().unwrap().iter().enumerate() {
            let found = recording.observations()[(t, channel)];
            let same = match value.as_f64() {
                Some(value) => (found - value).abs() <= tolerance,
                None => found.is_nan(),
            };
            missing[channel] += usize::from(found.is_nan());
            if !same && differences.len() < 3 {
                differences.push(format!("[{t}, {channel}] is {found}, not {value}"));
            }
        }
    }
    if opened.missing != missing {
        differences.push(format!("missing {:?}, not {missing:?}", opened.missing));
    }
    let summary = inspect(fixture(name), &options).unwrap();
    let of_summary: Vec<&str> = summary
        .channels
        .iter()
        .map(|channel| channel.name.as_str())
        .collect();
    if !names.iter().all(|name| of_summary.contains(name)) || summary.format != opened.format {
        differences.push(format!("the summary names {of_summary:?}"));
    }
    differences
}

#[test]
fn files_of_other_programs() {
    let mut wrong = Vec::new();
    for list in ["expected.json", "expected_more.json"] {
        let expected = std::fs::read(fixture(list)).unwrap();
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        for (name, entry) in expected.as_object().unwrap() {
            for difference in differences(name, entry) {
                wrong.push(format!("{name}: {difference}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
