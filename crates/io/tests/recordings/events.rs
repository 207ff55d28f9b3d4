//! Events and positions of electrodes, as files of each format have them.

use crate::{Made, fixture, notes, open};
use std::path::Path;
use strt_io::{Event, ReadOptions, read_recording};
use strt_testing::{Missing, skip};

fn event(onset: f64, duration: f64, name: &str) -> Event {
    Event {
        onset,
        duration,
        name: name.into(),
    }
}

#[test]
fn annotations_of_edf_and_bdf() {
    for name in ["plus.edf", "plus.bdf"] {
        assert_eq!(
            open(fixture(name)).events,
            [event(0.5, 0.0, "here")],
            "{name}"
        );
    }
    // Of a span, those that touch it, told from its beginning.
    let options = ReadOptions {
        start: Some(0.25),
        ..ReadOptions::default()
    };
    let part = read_recording(fixture("plus.edf"), &options).unwrap();
    assert_eq!(part.events, [event(0.25, 0.0, "here")]);
    let options = ReadOptions {
        start: Some(1.0),
        ..ReadOptions::default()
    };
    assert!(
        read_recording(fixture("plus.edf"), &options)
            .unwrap()
            .events
            .is_empty()
    );
}

#[test]
fn durations_several_texts_and_late_starts() {
    // The annotation of the first record, in the place of the one that is there.
    let with = |first: &str| {
        let made = Made::new();
        let mut bytes = std::fs::read(fixture("discontinuous.edf")).unwrap();
        bytes[768..784].copy_from_slice(format!("{first:\0<16}").as_bytes());
        let path = made.file("changed.edf", bytes);
        open(&path)
    };
    let opened = with("+0\u{14}a\u{14}b\u{14}\0");
    assert_eq!(opened.events, [event(0.0, 0.0, "a"), event(0.0, 0.0, "b")]);
    let opened = with("-0.5\u{14}\u{14}\0+1\u{15}2\u{14}c\u{14}");
    assert_eq!(
        opened.events,
        [event(1.5, 2.0, "c")],
        "{:?}",
        notes(&opened)
    );
    let opened = with("+0\u{14}\u{14}\0nonsense");
    assert!(opened.events.is_empty());
    let expected = "warning: 1 annotations are not as EDF+ has them and are left out";
    assert!(
        notes(&opened).contains(&expected.to_string()),
        "{:?}",
        notes(&opened)
    );
}

#[test]
fn triggers_of_the_status_channel() {
    let opened = open(fixture("status.bdf"));
    assert_eq!(opened.events.len(), 59);
    let [first, ..] = &opened.events[..] else {
        panic!()
    };
    assert_eq!((first.onset, first.name.as_str()), (0.05, "23550"));
}

#[test]
fn annotations_beside_a_wfdb_record() {
    let made = Made::new();
    for ending in ["hea", "dat"] {
        let name = format!("w16.{ending}");
        made.file(&name, std::fs::read(fixture(&name)).unwrap());
    }
    let record = made.0.path().join("w16.hea");
    let rate = open(&record).recording.sampling_rate().unwrap();
    assert!(open(&record).events.is_empty());
    // N after 5 samples and V after 4 more.
    let words = [1u16 << 10 | 5, 5 << 10 | 4, 0];
    made.file("w16.atr", words.map(u16::to_le_bytes).concat());
    let opened = open(&record);
    assert_eq!(
        opened.events,
        [event(5.0 / rate, 0.0, "N"), event(9.0 / rate, 0.0, "V")]
    );
    assert!(notes(&opened).contains(&"2 annotations in `w16.atr`".to_string()));
    // What is no annotation file does not keep the record from being read.
    made.file("w16.atr", [7u8, 4, 1]);
    let opened = open(&record);
    assert!(opened.events.is_empty());
    let warned = notes(&opened);
    assert!(
        warned
            .iter()
            .any(|n| n.contains("w16.atr") && n.contains("not read")),
        "{warned:?}"
    );
}

#[test]
fn events_and_electrodes_of_an_eeglab_data_set() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/eeglab_eeg32");
    let path = root.join("eeglab_data.set");
    if !path.exists() {
        skip(Missing::Recordings);
        return;
    }
    let opened = open(&path);
    // As scipy's loadmat has them.
    assert_eq!(opened.events.len(), 154);
    let first = &opened.events[0];
    assert_eq!(first.name, "square");
    assert!((first.onset - 128.00875 / 128.0).abs() < 1e-9, "{first:?}");
    assert_eq!(opened.positions.iter().flatten().count(), 32);
    // F3: to the left, to the front, up.
    let [x, y, z] = opened.positions[2].unwrap();
    let expected = [-0.5670596456, 0.6770663131, 0.4690677627].map(|share: f64| 0.085 * share);
    for (found, expected) in [x, y, z].iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{:?}", opened.positions[2]);
    }
}
