//! Which way round matrices lie, format by format, and that it is said.

use crate::{Made, fixture, notes, open, refusal};
use strt_io::{Layout, ReadOptions, inspect, read_recording, rewrite_recording};

fn asked(transpose: bool) -> ReadOptions {
    ReadOptions {
        transpose: Some(transpose),
        ..ReadOptions::default()
    }
}

/// An NPY file whose numbers count up in the order of the file.
fn npy(shape: &str, n: usize) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend((0..n).flat_map(|i| (i as f64).to_le_bytes()));
    bytes
}

#[test]
fn a_wide_array_is_channels_by_samples() {
    let made = Made::new();
    let path = made.file("a.npy", npy("(8, 9400)", 8 * 9400));
    let opened = open(&path);
    assert_eq!(opened.recording.n_channels(), 8);
    assert_eq!(opened.recording.observations()[(3, 1)], 9403.0);
    let layout = Layout {
        shape: (8, 9400),
        transposed: true,
    };
    assert_eq!(opened.layout, Some(layout));
    assert_eq!(
        inspect(&path, &ReadOptions::default()).unwrap().layout,
        Some(layout)
    );
    // What is asked for stays; that many channels are no recording.
    assert_eq!(
        refusal(&path, &asked(false)),
        "a.npy: channels: expected at most 4096 channels at once, found 9400; if its columns are \
         samples, read it with --transpose; else choose some with --channels"
    );
    let some = ReadOptions {
        channels: Some("1-3".into()),
        ..asked(false)
    };
    let opened = read_recording(&path, &some).unwrap();
    assert_eq!(opened.recording.observations()[(1, 2)], 9402.0);
}

#[test]
fn dimensions_of_length_1_are_dropped() {
    let made = Made::new();
    let opened = open(made.file("a.npy", npy("(1, 2, 300)", 600)));
    assert_eq!(opened.recording.n_channels(), 2);
    assert_eq!(opened.recording.observations()[(4, 1)], 304.0);
    let expected = "dimensions of length 1 of [1, 2, 300] are dropped";
    assert!(notes(&opened).contains(&expected.to_string()));
    let opened = open(made.file("b.npy", npy("(1, 300)", 300)));
    assert_eq!(opened.recording.n_samples(), 300);
}

/// 12 samples of 30 channels, which the shape alone would turn: lists beside them tell.
#[test]
fn lists_beside_an_array_go_before_its_shape() {
    let check = |name: &str, expected: &[&str], first: &str, rate: Option<f64>| {
        let opened = open(fixture(name));
        let recording = &opened.recording;
        let found = notes(&opened);
        assert_eq!(
            (recording.n_samples(), recording.n_channels()),
            (12, 30),
            "{found:?}"
        );
        for channel in 0..30 {
            for t in 0..12 {
                let value = (100 * channel + t) as f64;
                assert_eq!(recording.observations()[(t, channel)], value, "{name}");
            }
        }
        assert_eq!(recording.channel_names()[0], first, "{name}");
        assert_eq!(recording.sampling_rate(), rate, "{name}");
        for note in expected {
            assert!(found.contains(&note.to_string()), "{name}: {found:?}");
        }
    };
    let by_names = |list: &str| {
        format!("12 samples × 30 channels of F64; rows are samples, as `{list}` names 30 channels")
    };
    check(
        "beside_times.npz",
        &[
            "12 samples × 30 channels of F64; rows are samples, as `t` holds 12 times",
            "column `t` is the time, in steps of 0.01 s: 100 Hz",
        ],
        "ch1",
        Some(100.0),
    );
    let taken = "names of the channels are taken from `ch_names`";
    check(
        "beside_names.npz",
        &[&by_names("ch_names"), taken],
        "E1",
        Some(250.0),
    );
    let taken = "names of the channels are taken from `A.colheaders`";
    check(
        "importdata.mat",
        &[&by_names("A.colheaders"), taken],
        "E1",
        None,
    );
    let taken = "names of the channels are taken from `labels`";
    check("names73.mat", &[&by_names("labels"), taken], "E1", None);
}

#[test]
fn texts_with_a_line_a_channel() {
    let made = Made::new();
    let line = |channel: usize, n: usize| -> String {
        let cells: Vec<String> = (0..n)
            .map(|t| format!("{:.2}", ((t * t + 7 * channel) % 50) as f64 / 4.0))
            .collect();
        cells.join(",")
    };
    let lines = |labels: bool| -> String {
        let line = |channel: usize| match labels {
            true => format!("E{channel},{}", line(channel, 400)),
            false => line(channel, 400),
        };
        (0..3).map(|channel| line(channel) + "\n").collect()
    };
    let check = |text: String, name: &str, rate: Option<f64>, note: &str| {
        let opened = open(made.file("a.csv", &text));
        let recording = &opened.recording;
        let found = notes(&opened);
        assert_eq!(
            (recording.n_samples(), recording.n_channels()),
            (400, 3),
            "{found:?}"
        );
        assert_eq!(recording.observations()[(3, 2)], 23.0 / 4.0);
        assert_eq!(recording.channel_names()[1], name);
        assert_eq!(recording.sampling_rate(), rate, "{found:?}");
        assert!(found.iter().any(|found| found.contains(note)), "{found:?}");
    };
    check(
        lines(false),
        "ch2",
        None,
        "as there are more of them than rows",
    );
    check(
        lines(true),
        "E1",
        None,
        "columns are samples, as `the first column` names 3 channels",
    );
    let counted: Vec<String> = (0..400).map(|i| i.to_string()).collect();
    let counted = counted.join(",");
    let note = "line 1 numbers the samples and is left out";
    check(format!(",{counted}\n{}", lines(true)), "E1", None, note);
    check(format!("{counted}\n{}", lines(false)), "ch2", None, note);
    let times: Vec<String> = (0..400)
        .map(|i| format!("{:.3}", i as f64 / 250.0))
        .collect();
    let times = times.join(",");
    let note = "line 1 rises in equal steps of 0.004: taken as the time in seconds, 250 Hz";
    check(
        format!("{times}\n{}", lines(false)),
        "ch2",
        Some(250.0),
        note,
    );
    check(
        format!("E,{times}\n{}", lines(true)),
        "E1",
        Some(250.0),
        note,
    );
    // Commented, with a rate.
    let text = format!("# fs: 125\n{}", lines(false));
    check(
        text,
        "ch2",
        Some(125.0),
        "rate 125 Hz is taken from `fs: 125`",
    );

    // Names of columns are names of channels, however few the rows are.
    let names: Vec<String> = (0..400).map(|i| format!("v{i}")).collect();
    let opened = open(made.file("b.csv", format!("{}\n{}", names.join(","), lines(false))));
    assert_eq!(opened.recording.n_channels(), 400);
    // So is a time in the first column.
    let rows: String = (0..20)
        .map(|t| format!("{},{}\n", t as f64 / 10.0, line(t, 50)))
        .collect();
    let opened = open(made.file("c.csv", rows));
    assert_eq!(opened.recording.n_channels(), 50);
    assert_eq!(opened.recording.sampling_rate(), Some(10.0));
}

#[test]
fn a_text_with_a_line_a_channel_is_rewritten_in_its_own_way() {
    let made = Made::new();
    let text = "# in mV\nFz, 1.50 , 2.25,NA,4.00\nCz,5,6,7,8\n";
    let path = made.file("a.csv", text);
    let options = ReadOptions {
        channels: Some("Fz".into()),
        ..ReadOptions::default()
    };
    let recording = read_recording(&path, &options).unwrap().recording;
    assert_eq!(recording.n_samples(), 4);
    let doubled = faer::Scale(2.0) * recording.observations();
    let out = made.0.path().join("b.csv");
    rewrite_recording(&path, &options, doubled.as_ref(), &out).unwrap();
    assert_eq!(
        std::fs::read_to_string(out).unwrap(),
        "# in mV\nFz, 3.00 , 4.50,NA,8.00\nCz,5,6,7,8\n"
    );
}

/// Options of runs that were made when the layout was yes or no.
#[test]
fn old_options_are_read() {
    let read = |text: &str| serde_json::from_str::<ReadOptions>(text).unwrap().transpose;
    assert_eq!(read("{\"transpose\": true}"), Some(true));
    assert_eq!(read("{\"transpose\": false}"), Some(false));
    assert_eq!(read("{\"transpose\": null}"), None);
    assert_eq!(read("{}"), None);
}
