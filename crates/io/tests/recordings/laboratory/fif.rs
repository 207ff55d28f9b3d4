//! FIF, made tag by tag: several files, parts that were not recorded, types of numbers.

use super::copied;
use crate::{Made, fixture, notes, open};
use std::path::PathBuf;
use strt_io::{ReadOptions, read_recording, rewrite_recording};

fn tag(kind: i32, of_type: i32, data: &[u8]) -> Vec<u8> {
    let head = [kind, of_type, data.len() as i32, 0]
        .map(i32::to_be_bytes)
        .concat();
    [head, data.to_vec()].concat()
}

fn int(kind: i32, value: i32) -> Vec<u8> {
    tag(kind, 3, &value.to_be_bytes())
}

fn block(kind: i32, contents: &[Vec<u8>]) -> Vec<u8> {
    [int(104, kind), contents.concat(), int(105, kind)].concat()
}

fn channel(name: &str, kind: i32, cal: f32) -> Vec<u8> {
    let mut data = [1, 1, kind].map(i32::to_be_bytes).concat();
    data.extend([1.0f32, cal].map(f32::to_be_bytes).concat());
    data.extend([0; 4 + 48]);
    data.extend([107i32, 0].map(i32::to_be_bytes).concat());
    data.extend(name.bytes().chain(std::iter::repeat(0)).take(16));
    tag(203, 30, &data)
}

/// Numbers of a buffer: `of_type` and bytes.
fn buffer(of_type: i32, values: &[f64]) -> Vec<u8> {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|&value| match of_type {
            2 | 16 => (value as i16).to_be_bytes().to_vec(),
            3 => (value as i32).to_be_bytes().to_vec(),
            4 => (value as f32).to_be_bytes().to_vec(),
            _ => value.to_be_bytes().to_vec(),
        })
        .collect();
    tag(300, of_type, &bytes)
}

/// A file of two channels, `A` and `B`, whose second has steps of 0.5.
fn file(raw: &[Vec<u8>], rest: &[Vec<u8>]) -> Vec<u8> {
    let info = [
        int(200, 2),
        tag(201, 4, &100f32.to_be_bytes()),
        channel("A", 2, 1.0),
        channel("B", 202, 0.5),
    ];
    let measurement = [vec![block(101, &info), block(102, raw)], rest.to_vec()].concat();
    [tag(100, 31, &[0; 20]), block(100, &measurement)].concat()
}

fn next(name: &str) -> Vec<u8> {
    block(118, &[int(115, 2), tag(118, 10, name.as_bytes())])
}

pub fn bad_files(made: &Made) -> Vec<(PathBuf, Option<&'static str>)> {
    let good = [buffer(4, &[1.0, 2.0])];
    let other = |name: &str, of_type: i32, bytes: &[u8]| {
        made.file(name, file(&[tag(300, of_type, bytes)], &[]))
    };
    let mut cut = file(&good, &[]);
    cut.truncate(cut.len() - 45);
    let mut back = file(&good, &[]);
    // The second tag points to itself.
    back[36 + 12..36 + 16].copy_from_slice(&36i32.to_be_bytes());
    let skip = |count: i32| [good[0].clone(), int(301, count), good[0].clone()];
    let files = vec![
        copied(made, "mne_epochs-epo.fif", "epochs-epo.fif"),
        made.file("nothing.fif", file(&[], &[])),
        other("complex.fif", 20, &[0; 32]),
        other("type.fif", 99, &[0; 32]),
        other("half.fif", 4, &[0; 12]),
        made.file("cut.fif", cut),
        made.file("back.fif", back),
        made.file("alone.fif", file(&good, &[next("alone-1.fif")])),
        made.file("own.fif", file(&good, &[next("own.fif")])),
        made.file("far.fif", file(&skip(1_000_000), &[])),
        made.file("backwards.fif", file(&skip(-3), &[])),
        made.file("text.fif", "1,2\n3,4\n"),
    ];
    files.into_iter().map(|path| (path, None)).collect()
}

#[test]
fn all_types_and_both_ways_to_skip() {
    for of_type in [2, 16, 3, 4, 5] {
        let made = Made::new();
        let raw = [
            int(208, 7),
            int(301, 2),
            buffer(of_type, &[1.0, 2.0, -3.0, 4.0]),
            int(301, 1),
            buffer(of_type, &[5.0, 6.0, 7.0, 8.0]),
            int(303, 1),
            buffer(of_type, &[9.0, 10.0]),
        ];
        let path = made.file("a.fif", file(&raw, &[]));
        let opened = open(path);
        let values = opened.recording.observations();
        let expected = [1.0, -3.0, f64::NAN, f64::NAN, 5.0, 7.0, f64::NAN, 9.0];
        assert_eq!(values.shape(), (8, 2), "{of_type}");
        for (t, expected) in expected.into_iter().enumerate() {
            let found = values[(t, 0)];
            assert!(
                found == expected || (found.is_nan() && expected.is_nan()),
                "{of_type} {t}"
            );
        }
        assert_eq!((values[(0, 1)], values[(7, 1)]), (1.0, 5.0), "{of_type}");
        assert!(
            notes(&opened)
                .iter()
                .any(|note| note.contains("3 samples were not recorded"))
        );
    }
}

#[test]
fn a_recording_in_several_files_is_read_to_its_end() {
    let made = Made::new();
    let part = |value: f64, rest: &[Vec<u8>]| file(&[buffer(5, &[value, value])], rest);
    let path = made.file("a.fif", part(1.0, &[next("a-1.fif")]));
    // The second names the third by its number only, and the one before it.
    let before = block(118, &[int(115, 1), tag(118, 10, b"a.fif")]);
    let after = block(118, &[int(115, 2), int(117, 2)]);
    let second = made.file("a-1.fif", part(2.0, &[before, after]));
    made.file("a-2.fif", part(3.0, &[]));
    let opened = open(&path);
    let values = opened.recording.observations();
    assert_eq!(
        (0..3).map(|t| values[(t, 0)]).collect::<Vec<_>>(),
        [1.0, 2.0, 3.0]
    );
    assert!(notes(&opened).contains(&"3 files: a.fif, a-1.fif, a-2.fif".to_string()));
    let later = notes(&open(second));
    assert!(
        later.iter().any(|note| note.contains("a later file")),
        "{later:?}"
    );
    let out = made.0.path().join("b.fif");
    let error = rewrite_recording(&path, &ReadOptions::default(), values, &out).unwrap_err();
    assert!(
        error.to_string().contains("found one in 3 files"),
        "{error}"
    );
    assert!(!out.exists());
}

#[test]
fn triggers_and_bad_channels_are_read_when_they_are_asked_for() {
    let names = |options: &ReadOptions| {
        let opened = read_recording(fixture("mne_gap_raw.fif"), options).unwrap();
        opened.recording.channel_names().to_vec()
    };
    let long = "A channel with a long name";
    assert_eq!(names(&ReadOptions::default()), ["Fz", "Pz", long]);
    let asked = ReadOptions {
        channels: Some("Cz,STI 014".into()),
        ..ReadOptions::default()
    };
    assert_eq!(names(&asked), ["Cz", "STI 014"]);
    let found = notes(&open(fixture("mne_gap_raw.fif")));
    let expected = "channel `Cz` is left out: it is marked as bad in the file";
    assert!(found.iter().any(|note| note == expected), "{found:?}");
}
