//! XDF: which stream is read, and damaged files.

use crate::{Made, fixture, notes};
use std::path::PathBuf;
use strt_io::{ReadOptions, inspect, read_recording};

fn stream(name: &str) -> ReadOptions {
    ReadOptions {
        variable: Some(name.into()),
        ..ReadOptions::default()
    }
}

fn chunk(tag: u16, contents: &[u8]) -> Vec<u8> {
    let length = (contents.len() + 2) as u32;
    [
        &[4],
        &length.to_le_bytes()[..],
        &tag.to_le_bytes(),
        contents,
    ]
    .concat()
}

fn header(id: u32, name: &str, format: &str, count: &str, rate: &str) -> Vec<u8> {
    let xml = format!(
        "<info><name>{name}</name><channel_count>{count}</channel_count>\
         <nominal_srate>{rate}</nominal_srate><channel_format>{format}</channel_format></info>"
    );
    chunk(2, &[&id.to_le_bytes(), xml.as_bytes()].concat())
}

/// Samples of one channel of doubles, with time stamps.
fn samples(id: u32, rows: &[(f64, f64)]) -> Vec<u8> {
    let mut contents = id.to_le_bytes().to_vec();
    contents.extend([1, rows.len() as u8]);
    for (time, value) in rows {
        contents.push(8);
        contents.extend(time.to_le_bytes());
        contents.extend(value.to_le_bytes());
    }
    chunk(3, &contents)
}

fn file(parts: &[Vec<u8>]) -> Vec<u8> {
    [b"XDF:".to_vec(), parts.concat()].concat()
}

pub fn bad_files(made: &Made) -> Vec<(PathBuf, Option<&'static str>)> {
    let good = header(1, "a", "double64", "1", "10");
    let rows = samples(1, &[(0.0, 1.0), (0.1, 2.0)]);
    let far = samples(1, &[(0.0, 1.0), (0.1, 2.0), (1e9, 3.0)]);
    let mut short = samples(1, &[(0.0, 1.0)]);
    // Two samples are claimed where there is one.
    short[4 + 2 + 4 + 2] = 2;
    vec![
        (fixture("streams.xdf"), None),
        (fixture("streams.xdf"), Some("EGG")),
        (fixture("streams.xdf"), Some("Markers")),
        (made.file("empty.xdf", file(&[])), None),
        (
            made.file("no_samples.xdf", file(std::slice::from_ref(&good))),
            None,
        ),
        (
            made.file(
                "irregular.xdf",
                file(&[header(1, "a", "double64", "1", "0"), rows.clone()]),
            ),
            Some("a"),
        ),
        (
            made.file("format.xdf", file(&[header(1, "a", "int12", "1", "10")])),
            None,
        ),
        (
            made.file("count.xdf", file(&[header(1, "a", "int8", "-4", "10")])),
            None,
        ),
        (
            made.file("rate.xdf", file(&[header(1, "a", "int8", "1", "fast")])),
            None,
        ),
        (
            made.file(
                "xml.xdf",
                file(&[chunk(2, b"\x01\0\0\0<info><name>a</info>")]),
            ),
            None,
        ),
        (
            made.file("twice.xdf", file(&[good.clone(), good.clone()])),
            None,
        ),
        (
            made.file("unknown.xdf", file(&[samples(5, &[(0.0, 1.0)])])),
            None,
        ),
        (made.file("claimed.xdf", file(&[good.clone(), short])), None),
        (
            made.file(
                "length.xdf",
                [&file(std::slice::from_ref(&good))[..], &[3, 0]].concat(),
            ),
            None,
        ),
        (made.file("far.xdf", file(&[good, far])), None),
    ]
}

#[test]
fn streams_are_listed_and_chosen_by_name() {
    let summary = inspect(fixture("streams.xdf"), &ReadOptions::default()).unwrap();
    let found: Vec<(&str, &[usize])> = summary
        .variables
        .iter()
        .map(|variable| (variable.name.as_str(), &variable.shape[..]))
        .collect();
    assert_eq!(
        found,
        [("EEG", &[80, 3][..]), ("Temperature", &[20, 1][..])]
    );
    let opened = read_recording(fixture("streams.xdf"), &stream("Temperature")).unwrap();
    assert_eq!(opened.recording.sampling_rate(), Some(10.0));
    assert_eq!(opened.recording.observations()[(19, 0)], 229.0);
    // The markers are 0.2 and 12.2 s after its first sample, one of them after its last.
    assert!(
        (opened.events[0].onset - 0.2).abs() < 1e-6,
        "{:?}",
        opened.events
    );
}

#[test]
fn streams_of_one_name_have_their_numbers() {
    let made = Made::new();
    let stream_of = |id| {
        [
            header(id, "a", "double64", "1", "10"),
            samples(id, &[(0.0, id.into())]),
        ]
    };
    let path = made.file("two.xdf", file(&[stream_of(3), stream_of(8)].concat()));
    let opened = read_recording(&path, &stream("a#8"));
    assert_eq!(opened.unwrap().recording.observations()[(0, 0)], 8.0);
}

#[test]
fn a_file_that_breaks_off_is_read_up_to_there() {
    let made = Made::new();
    let bytes = std::fs::read(fixture("streams.xdf")).unwrap();
    let path = made.file("cut.xdf", &bytes[..bytes.len() - 10]);
    let opened = read_recording(&path, &stream("EEG")).unwrap();
    let found = notes(&opened);
    assert!(
        found
            .iter()
            .any(|note| note.contains("the file ends inside the chunk")),
        "{found:?}"
    );
    // Time that goes back leaves no gap.
    let rows = [
        samples(1, &[(50.0, 1.0), (50.1, 2.0)]),
        samples(1, &[(3.0, 3.0), (3.1, 4.0)]),
    ];
    let good = header(1, "a", "double64", "1", "1000");
    let path = made.file("back.xdf", file(&[&[good][..], &rows].concat()));
    let opened = read_recording(&path, &ReadOptions::default()).unwrap();
    assert_eq!(opened.recording.n_samples(), 4);
    assert!(
        notes(&opened)
            .iter()
            .any(|note| note.contains("time goes back 1 times"))
    );
}
