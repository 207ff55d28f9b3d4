//! BrainVision: any of the three files, files under other names, copies with new numbers.

use super::{copied, events, replaced};
use crate::{Made, fixture, notes, open};
use faer::Mat;
use std::path::{Path, PathBuf};
use strt_io::{Format, ReadOptions, read_recording, rewrite_recording};

const STEMS: [(&str, &str, f64); 6] = [
    ("bv_int16", "eeg", 0.01),
    ("bv_float", "eeg", 1e-5),
    ("bv_vector", "eeg", 0.1),
    ("bv_unsigned", "eeg", 0.1),
    ("bv_rows", "dat", 1e-3),
    ("bv_text", "dat", 1e-3),
];

/// All files of a recording under another name, with or without changes of the names in them.
fn renamed(made: &Made, stem: &str, data: &str, to: &str) -> PathBuf {
    for ending in ["vmrk", data] {
        copied(made, &format!("{stem}.{ending}"), &format!("{to}.{ending}"));
    }
    copied(made, &format!("{stem}.vhdr"), &format!("{to}.vhdr"))
}

pub fn bad_files(made: &Made) -> Vec<(PathBuf, Option<&'static str>)> {
    copied(made, "bv_int16.vmrk", "bv_int16.vmrk");
    copied(made, "bv_text.vmrk", "bv_text.vmrk");
    let data = |name: &str| copied(made, "bv_int16.eeg", name);
    data("bv_int16.eeg");
    copied(made, "bv_text.dat", "bv_text.dat");
    let int16 = |name: &str, old: &str, new: &str| replaced(made, "bv_int16.vhdr", name, old, new);
    let text = |name: &str, old: &str, new: &str| replaced(made, "bv_text.vhdr", name, old, new);
    let files = vec![
        int16("lost.vhdr", "DataFile=bv_int16.eeg", "DataFile=other.eeg"),
        made.file("alone.eeg", [0; 64]),
        made.file(
            "alone.vmrk",
            "Brain Vision Data Exchange Marker File, Version 1.0\n",
        ),
        int16(
            "interval.vhdr",
            "SamplingInterval=20000",
            "SamplingInterval=x",
        ),
        int16(
            "frequencies.vhdr",
            "[Common Infos]",
            "[Common Infos]\nDataType=FREQUENCYDOMAIN",
        ),
        int16("orientation.vhdr", "MULTIPLEXED", "DIAGONAL"),
        int16("format.vhdr", "=BINARY", "=MORSE"),
        int16("numbers.vhdr", "INT_16", "INT_12"),
        int16(
            "headers.vhdr",
            "[Binary Infos]",
            "[Binary Infos]\nSegmentHeaderSize=8",
        ),
        int16(
            "channels.vhdr",
            "NumberOfChannels=3",
            "NumberOfChannels=300000000000",
        ),
        int16("none.vhdr", "NumberOfChannels=3", "NumberOfChannels=0"),
        int16(
            "points.vhdr",
            "NumberOfChannels=3",
            "NumberOfChannels=3\nDataPoints=99999999",
        ),
        text("skip.vhdr", "SkipLines=1", "SkipLines=0"),
        text("columns.vhdr", "SkipColumns=0", "SkipColumns=1"),
        text("decimal.vhdr", "DecimalSymbol=,", "DecimalSymbol=x"),
        text("mark.vhdr", "DecimalSymbol=,", "DecimalSymbol=."),
        made.file("other.vhdr", "a,b\n1,2\n"),
    ];
    files.into_iter().map(|path| (path, None)).collect()
}

#[test]
fn any_of_the_three_files_opens_the_recording() {
    let expected = open(fixture("bv_int16.vhdr"));
    assert_eq!(expected.format, Format::BrainVision);
    for ending in ["eeg", "vmrk"] {
        let opened = open(fixture(&format!("bv_int16.{ending}")));
        assert_eq!(
            opened.recording.observations(),
            expected.recording.observations()
        );
        assert_eq!(opened.events, expected.events);
    }
    // A file of numbers with an ending that other formats have, too.
    assert_eq!(open(fixture("bv_text.dat")).format, Format::BrainVision);
}

#[test]
fn renamed_files_are_found_with_a_warning() {
    let made = Made::new();
    let path = renamed(&made, "bv_int16", "eeg", "other");
    let opened = open(&path);
    let expected = [
        "warning: `bv_int16.eeg` is not there: `other.eeg`, which is named as the header, is read",
        "warning: `bv_int16.vmrk` is not there: the markers are read from `other.vmrk`",
    ];
    assert_eq!(notes(&opened)[..2], expected);
    assert_eq!(opened.events.len(), 2);
    assert_eq!(open(path.with_extension("eeg")).events.len(), 2);
    // Without markers the numbers are still there.
    std::fs::remove_file(path.with_extension("vmrk")).unwrap();
    let opened = open(&path);
    assert!(opened.events.is_empty());
    assert!(notes(&opened)[1].ends_with("`bv_int16.vmrk` is not there: no events are known"));
    // A header under another name than its files is found by what it names.
    let made = Made::new();
    let path = renamed(&made, "bv_int16", "eeg", "bv_int16");
    std::fs::rename(&path, made.0.path().join("first.vhdr")).unwrap();
    assert_eq!(open(path.with_extension("eeg")).events.len(), 2);
}

#[test]
fn segments_and_breaks_are_told() {
    let made = Made::new();
    copied(&made, "bv_vector.eeg", "bv_vector.eeg");
    copied(&made, "bv_vector.vmrk", "bv_vector.vmrk");
    let text: String = std::fs::read(fixture("bv_vector.vhdr"))
        .unwrap()
        .into_iter()
        .map(char::from)
        .collect();
    let text = text.replace("[Common Infos]", "[Common Infos]\nSegmentDataPoints=20");
    let path = made.file("segments.vhdr", text);
    assert!(
        notes(&open(&path))
            .iter()
            .any(|note| note.contains("segments of 20 samples"))
    );
    let made = Made::new();
    let path = renamed(&made, "bv_text", "dat", "bv_text");
    replaced(
        &made,
        "bv_text.vmrk",
        "bv_text.vmrk",
        "Mk2=Stimulus,S  7",
        "Mk2=New Segment,",
    );
    let opened = open(&path);
    assert!(
        notes(&opened)
            .iter()
            .any(|note| note.contains("interrupted 1 times"))
    );
    assert_eq!(events(&opened)[0], (0.2, 0.0, "New Segment".to_string()));
}

#[test]
fn positions_come_from_the_coordinates() {
    let made = Made::new();
    copied(&made, "bv_int16.eeg", "bv_int16.eeg");
    let coordinates = "[Coordinates]\nCh1=100,90,0\nCh2=1,0,0\nCh3=0,0,0\n[Channel Infos]";
    let path = replaced(
        &made,
        "bv_int16.vhdr",
        "a.vhdr",
        "[Channel Infos]",
        coordinates,
    );
    let positions = open(path).positions;
    let near = |found: Option<[f64; 3]>, expected: [f64; 3]| {
        found.is_some_and(|found| (0..3).all(|i| (found[i] - expected[i]).abs() < 1e-9))
    };
    assert!(near(positions[0], [0.1, 0.0, 0.0]), "{positions:?}");
    assert!(near(positions[1], [0.0, 0.0, 0.095]), "{positions:?}");
    assert_eq!(positions[2], None);
}

/// The files of a copy that is called `out`.
fn copy(made: &Made, data: &str) -> [PathBuf; 3] {
    ["vhdr", "vmrk", data].map(|ending| made.0.path().join("out").with_extension(ending))
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn a_copy_with_the_same_numbers_differs_in_names_of_files_only() {
    for (stem, data, _) in STEMS {
        let made = Made::new();
        let input = fixture(&format!("{stem}.vhdr"));
        let old = open(&input);
        let [header, markers, numbers] = copy(&made, data);
        let all = ReadOptions::default();
        // Any of the three names will do.
        let out = if stem == "bv_float" {
            &numbers
        } else {
            &header
        };
        rewrite_recording(&input, &all, old.recording.observations(), out).unwrap();
        assert_eq!(
            bytes(&numbers),
            bytes(&fixture(&format!("{stem}.{data}"))),
            "{stem}"
        );
        for (file, ending) in [(&header, "vhdr"), (&markers, "vmrk")] {
            let letters = |path: &Path| bytes(path).into_iter().map(char::from).collect::<String>();
            let before = letters(&fixture(&format!("{stem}.{ending}")));
            let expected = before
                .replace(&format!("={stem}.{data}"), &format!("=out.{data}"))
                .replace(&format!("={stem}.vmrk"), "=out.vmrk");
            assert_ne!(expected, before);
            assert_eq!(letters(file), expected, "{stem}");
        }
        let new = open(&header);
        assert_eq!((new.notes, new.events), (old.notes, old.events), "{stem}");
    }
}

#[test]
fn new_numbers_are_read_back_and_others_keep_their_bytes() {
    for (stem, data, step) in STEMS {
        let made = Made::new();
        let input = fixture(&format!("{stem}.vhdr"));
        let options = ReadOptions {
            channels: Some("Cz".into()),
            start: Some(0.1),
            stop: Some(0.4),
            ..ReadOptions::default()
        };
        let part = read_recording(&input, &options).unwrap().recording;
        let new = faer::Scale(0.61) * part.observations();
        let [header, ..] = copy(&made, data);
        rewrite_recording(&input, &options, new.as_ref(), &header).unwrap();
        let (old, found) = (open(&input).recording, open(&header).recording);
        let (old, found) = (old.observations(), found.observations());
        for t in 0..old.nrows() {
            for c in 0..old.ncols() {
                if c == 1 && (5..20).contains(&t) {
                    let error = (found[(t, c)] - new[(t - 5, 0)]).abs();
                    assert!(
                        error <= step / 2.0 * (1.0 + 1e-6),
                        "{stem} [{t}, {c}]: {error}"
                    );
                } else {
                    assert_eq!(found[(t, c)], old[(t, c)], "{stem} [{t}, {c}]");
                }
            }
        }
        assert!(
            (0..15).any(|t| found[(t + 5, 1)] != old[(t + 5, 1)]),
            "{stem}"
        );
    }
}

#[test]
fn what_cannot_be_written_leaves_nothing() {
    let made = Made::new();
    let path = fixture("bv_int16.vhdr");
    let mut new: Mat<f64> = open(&path).recording.observations().to_owned();
    let [header, markers, numbers] = copy(&made, "eeg");
    new[(3, 2)] = 1e6;
    let refused = |new: &Mat<f64>, out: &Path, expected: &str| {
        let error = rewrite_recording(&path, &ReadOptions::default(), new.as_ref(), out);
        let message = error.unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
        assert!(!header.exists() && !markers.exists() && !numbers.exists());
    };
    refused(
        &new,
        &header,
        "channel `Pz`, sample 4 (counted from 1): expected a number from -327.68",
    );
    new[(3, 2)] = f64::NAN;
    refused(&new, &header, "found a missing value");
    new[(3, 2)] = 0.0;
    refused(&new, &fixture("bv_int16.eeg"), "found one of its own");
    // The header cannot be written: a directory has its name.
    std::fs::create_dir(&header).unwrap();
    let error = rewrite_recording(&path, &ReadOptions::default(), new.as_ref(), &header);
    assert!(error.unwrap_err().to_string().contains("found a directory"));
    assert!(!markers.exists() && !numbers.exists());
}
