//! Recordings that are prepared: the same for `separate`, `resume`, `transform` and `clean`, and
//! what is refused.

mod common;

use common::{FAST, Place, fixture, refused};
use faer::{Mat, MatRef};
use std::path::Path;
use strt_io::{ReadOptions, Signals, read_recording, write_signals};
use strtransformer::Recording;
use strtransformer::prepare::{Band, Preparation, Reference};

const RATE: f64 = 250.0;
const N: usize = 20 * 250;

/// Two sources of noise with changing strength, drift and a line, in four channels with offsets,
/// all at 250 Hz.
fn disturbed(seed: f64) -> Mat<f64> {
    let wave = |t: usize, hz: f64| (t as f64 / RATE * hz * std::f64::consts::TAU).sin();
    let noise =
        |t: usize, k: f64| ((t as f64 + 17.0 * k + seed) * 12.9898).sin() * 43758.5453 % 1.0;
    Mat::from_fn(N, 4, |t, c| {
        let c = c as f64;
        let first = noise(t, 1.0) * (1.0 + 0.9 * wave(t, 0.7));
        let second = wave(t, 11.0) * (1.0 + 0.8 * wave(t, 0.31));
        let other = noise(t, 2.0 + c);
        100.0 * c
            + (1.0 - 0.4 * c) * first
            + (0.3 + 0.5 * c) * second
            + 0.2 * other
            + 3.0 * (1.0 + c) * wave(t, 0.02)
            + wave(t, 50.0)
    })
}

fn names() -> Vec<String> {
    ["Fz", "Cz", "Pz", "Oz"].map(String::from).into()
}

fn place() -> Place {
    let place = Place::new();
    for (name, seed) in [("a", 0.0), ("b", 1000.0)] {
        let values = disturbed(seed);
        let signals = Signals {
            values: values.as_ref(),
            names: &names(),
            rate: Some(RATE),
        };
        write_signals(place.path(&format!("{name}.csv")), &signals).unwrap();
    }
    place
}

const PREPARED: [&str; 7] = [
    "--band",
    "1-40",
    "--notch",
    "50",
    "--resample",
    "125",
    "--detrend",
];

fn separate(place: &Place, more: &[&str]) {
    place.done(&[&["separate", "a.csv"][..], &["-k", "2"], &FAST[2..], more].concat());
}

fn read(path: &Path) -> Recording {
    let opened = read_recording(path, &ReadOptions::default());
    opened.unwrap().recording
}

/// Columns less their means.
fn centred(values: MatRef<'_, f64>) -> Mat<f64> {
    let n = values.nrows() as f64;
    let means: Vec<f64> = values
        .col_iter()
        .map(|c| c.iter().sum::<f64>() / n)
        .collect();
    Mat::from_fn(values.nrows(), values.ncols(), |t, c| {
        values[(t, c)] - means[c]
    })
}

/// Largest difference.
fn apart(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    assert_eq!(a.shape(), b.shape());
    let places = (0..a.nrows()).flat_map(|t| (0..a.ncols()).map(move |c| (t, c)));
    places.fold(0.0, |worst: f64, at| worst.max((a[at] - b[at]).abs()))
}

/// What a user of the library would have done to the recording of `place`.
fn by_hand(name: &Path, reference: Option<Reference>) -> Recording {
    let preparation = Preparation {
        detrend: true,
        notch: vec![50.0],
        band: Some(Band {
            low: Some(1.0),
            high: Some(40.0),
        }),
        resample: Some(125.0),
        reference,
        ..Preparation::default()
    };
    preparation.apply(&read(name)).unwrap().recording
}

#[test]
fn a_run_says_and_keeps_how_its_recording_was_prepared() {
    let place = place();
    let ran = place.done(
        &[
            &["separate", "a.csv", "-k", "2", "--preset", "fast"][..],
            &PREPARED,
        ]
        .concat(),
    );
    let done = "straight lines removed, notch 50, 100 Hz (FIR of 1651 samples), band 1-40 Hz (FIR \
                of 825 samples), resampled from 250 to 125 Hz";
    assert!(
        ran.stderr.contains(&format!("  prepared: {done}\n")),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("2500 samples × 4 channels, 125 Hz"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("drift"), "{}", ran.stderr);
    let summary = place.json("a.strt/summary.json");
    assert_eq!(summary["input"]["options"]["prepare"]["band"], "1-40");
    assert_eq!(summary["input"]["prepared"].as_array().unwrap().len(), 4);
    let page = place.text("a.strt/report.html");
    assert!(page.contains(&format!("It was prepared for separation: {done}.")));
    // What was separated is what the library makes of the file.
    let model = strt_io::load_model(place.path("a.strt/model.safetensors")).unwrap();
    let expected = by_hand(&place.path("a.csv"), None);
    assert_eq!(strt_runs::recording_differs(&model, &expected), None);
}

#[test]
fn drift_and_lines_are_warned_of_until_they_are_prepared_for() {
    let place = place();
    let ran = place.done(&["separate", "a.csv", "-k", "2", "--preset", "fast"]);
    for part in [
        "warning: drift: up to ",
        "in channel `Cz` and 2 more; unless that is what is looked for, `band` (such as 1-)",
        "warning: line noise: a line at 50 Hz has up to ",
    ] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    let warnings = place.json("a.strt/summary.json")["warnings"].to_string();
    assert!(warnings.contains("line noise"), "{warnings}");
}

#[test]
fn new_data_are_prepared_as_the_run_was() {
    let place = place();
    separate(&place, &PREPARED);
    place.done(&["transform", "a.strt", "b.csv", "-q", "-o", "b.npy"]);
    let model = strt_io::load_model(place.path("a.strt/model.safetensors")).unwrap();
    let expected = model
        .unmix(by_hand(&place.path("b.csv"), None).observations())
        .unwrap()
        .unwrap();
    let found = read(&place.path("b.npy"));
    assert_eq!(found.n_samples(), 2500);
    for (t, k) in [(0, 0), (1234, 1), (2499, 0)] {
        assert!((found.observations()[(t, k)] - expected[(t, k)]).abs() < 1e-5);
    }
    // Its own recording gives its own sources.
    place.done(&["transform", "a.strt", "a.csv", "-q", "-o", "own.npy"]);
    let own = read(&place.path("own.npy"));
    assert!((own.observations()[(700, 1)] - model.sources()[(700, 1)]).abs() < 1e-5);
}

#[test]
fn the_same_command_again_prepares_to_the_same_bits() {
    let place = place();
    let small = ["--set", "branches.patch_sizes=[4, 8]", "-q"];
    let start = [
        &["separate", "a.csv", "-k", "2", "--steps", "6", "-o", "r"][..],
        &small,
        &PREPARED,
    ];
    place.done(&start.concat());
    // The same again is found finished only if it prepares to the same bits.
    let again = [&start.concat()[..], &["--continue"]].concat();
    place.done(&again);
    let other: Vec<&str> = again
        .iter()
        .map(|word| if *word == "1-40" { "1-30" } else { word })
        .collect();
    refused(&place, &other, 1, "holds other values");
}

#[test]
fn sources_go_out_of_the_file_as_it_is() {
    for reference in [None, Some("average"), Some("Pz")] {
        let place = place();
        let more = reference.map_or(vec![], |name| vec!["--rereference", name]);
        separate(&place, &[&PREPARED[..], &more].concat());
        // Nothing removed: byte for byte.
        place.done(&["clean", "a.strt", "--keep", "s1,s2", "-q", "-o", "same.csv"]);
        assert_eq!(place.read("same.csv"), place.read("a.csv"), "{reference:?}");
        place.done(&["clean", "a.strt", "--remove", "s2", "-q"]);
        let (before, after) = (read(&place.path("a.csv")), read(&place.path("a_clean.csv")));
        assert_eq!(after.n_samples(), N);
        // Offsets stay, as drift and lines do but for what the source has of them.
        for c in 0..4 {
            let mean = |recording: &Recording| {
                recording.observations().col(c).iter().sum::<f64>() / N as f64
            };
            assert!((mean(&before) - mean(&after)).abs() < 1e-6, "{reference:?}");
        }
        // Prepared as the run was, the cleaned file is the cleaned recording of the run.
        let reference = match reference {
            None => None,
            Some("average") => Some(Reference::Average),
            _ => Some(Reference::Channel(2)),
        };
        let model = strt_io::load_model(place.path("a.strt/model.safetensors")).unwrap();
        let prepared = by_hand(&place.path("a.csv"), reference);
        let expected = model.clean(&prepared, model.sources(), &[1]).unwrap();
        let found = by_hand(&place.path("a_clean.csv"), reference);
        // But for offsets, which a filter takes out of what is in the file.
        let found = centred(found.observations());
        let worst = apart(found.as_ref(), centred(expected.as_ref()).as_ref());
        assert!(worst < 1e-4, "{reference:?}: {worst}");
        let change = apart(found.as_ref(), centred(prepared.observations()).as_ref());
        assert!(change > 0.1, "something was removed: {change}");
        // Against one channel, that channel keeps its bytes.
        if reference == Some(Reference::Channel(2)) {
            let column = |r: &Recording| r.observations().col(2).to_owned();
            assert_eq!(column(&before), column(&after));
        }
    }
}

#[test]
fn what_cannot_be_cleaned_so_is_refused_or_written_prepared() {
    let place = place();
    let bent = ["--mixer", "mlp", "--steps", "4", "--restarts", "1", "-q"];
    let small = ["--set", "branches.patch_sizes=[4, 8]", "--band", "1-40"];
    place.done(&[&["separate", "a.csv", "-k", "2"][..], &bent, &small].concat());
    let clean = ["clean", "a.strt", "--remove", "s1"];
    refused(
        &place,
        &clean,
        1,
        "found one on a prepared recording: the model is not a linear map",
    );
    let ran = place.done(&[&clean[..], &["-o", "clean.npy"]].concat());
    assert!(
        ran.stderr.contains("the recording as it was prepared"),
        "{}",
        ran.stderr
    );
    assert_eq!(read(&place.path("clean.npy")).n_samples(), N);
    refused(
        &place,
        &[&clean[..], &["--fill"]].concat(),
        2,
        "--fill: expected a run on a recording",
    );
}

#[test]
fn channels_and_spans_are_left_out() {
    let place = place();
    place.write(
        "bad.tsv",
        "onset\tduration\tdescription\n2\t1.5\tBAD_move\n",
    );
    let ran = place.done(&[
        "separate",
        "a.csv",
        "-k",
        "2",
        "--preset",
        "fast",
        "--exclude",
        "Oz",
        "--bad-segments",
        "bad.tsv",
        "--start",
        "1",
    ]);
    assert!(
        ran.stderr
            .contains("1 bad segment taken as missing (1.5 s)"),
        "{}",
        ran.stderr
    );
    let sources = read(&place.path("a.strt/sources.csv"));
    // From 1 s on, 2 s is sample 250.
    assert!(!sources.is_missing(249) && sources.is_missing(250) && sources.is_missing(624));
    assert_eq!(sources.n_missing(), 375);
    let summary = place.json("a.strt/summary.json");
    assert_eq!(summary["channels"], 3);
    assert_eq!(
        summary["input"]["options"]["prepare"]["bad_segments"]["spans"],
        serde_json::json!([[2.0, 1.5]])
    );
    // The table is not needed any more, and what was bad is cleaned as well.
    std::fs::remove_file(place.path("bad.tsv")).unwrap();
    place.done(&["clean", "a.strt", "--remove", "s1", "-q"]);
    assert_eq!(read(&place.path("a_clean.csv")).n_missing(), 0);
}

/// Markers whose name begins with BAD are spans to leave out; others are events.
#[test]
fn annotations_say_what_is_bad() {
    let place = place();
    let values = disturbed(0.0);
    place.write(
        "c.vhdr",
        "Brain Vision Data Exchange Header File Version 1.0\n[Common Infos]\nDataFile=c.eeg\n\
         MarkerFile=c.vmrk\nDataFormat=BINARY\nDataOrientation=MULTIPLEXED\n\
         NumberOfChannels=4\nSamplingInterval=4000\n[Binary Infos]\n\
         BinaryFormat=IEEE_FLOAT_32\n[Channel Infos]\nCh1=Fz,,1,µV\nCh2=Cz,,1,µV\n\
         Ch3=Pz,,1,µV\nCh4=Oz,,1,µV\n",
    );
    place.write(
        "c.vmrk",
        "Brain Vision Data Exchange Marker File, Version 1.0\n[Common Infos]\nDataFile=c.eeg\n\
         [Marker Infos]\nMk1=Stimulus,S  1,101,1,0\nMk2=Comment,BAD_move,501,375,0\n\
         Mk3=Comment,not bad,2001,250,0\n",
    );
    let samples = (0..N).flat_map(|t| (0..4).map(move |c| (t, c)));
    let bytes = samples.flat_map(|at| (values[at] as f32).to_le_bytes());
    place.write("c.eeg", bytes.collect::<Vec<u8>>());
    let separate = |recording: &str| {
        let arguments = ["separate", recording, "-k", "2", "--preset", "fast"];
        place.done(&[&arguments[..], &["--bad-segments", "annotations"]].concat())
    };
    let ran = separate("c.vhdr");
    let words = "1 bad segment taken as missing (1.5 s)";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    let sources = read(&place.path("c.strt/sources.csv"));
    assert!(!sources.is_missing(499) && sources.is_missing(500) && sources.is_missing(874));
    assert_eq!(sources.n_missing(), 375);

    // A table knows no annotations: that is said, not passed over.
    let ran = separate("a.csv");
    assert!(ran.stderr.contains("nothing is marked"), "{}", ran.stderr);
}

/// An EDF file of 20 records of 1 s: signals of these names and rates, each a sine of its own
/// frequency.
fn edf(signals: &[(&str, usize, f64)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut field = |text: &str, width: usize| bytes.extend(format!("{text:<width$}").into_bytes());
    let size = (256 * (signals.len() + 1)).to_string();
    for (text, width) in [
        ("0", 8),
        ("X", 80),
        ("X", 80),
        ("01.01.20", 8),
        ("00.00.00", 8),
    ] {
        field(text, width);
    }
    for (text, width) in [(&*size, 8), ("", 44), ("20", 8), ("1", 8)] {
        field(text, width);
    }
    field(&signals.len().to_string(), 4);
    signals.iter().for_each(|(name, ..)| field(name, 16));
    for (text, width) in [
        ("", 80),
        ("uV", 8),
        ("-2", 8),
        ("2", 8),
        ("-32768", 8),
        ("32767", 8),
        ("", 80),
    ] {
        signals.iter().for_each(|_| field(text, width));
    }
    signals
        .iter()
        .for_each(|(_, rate, _)| field(&rate.to_string(), 8));
    signals.iter().for_each(|_| field("", 32));
    for record in 0..20 {
        for (_, rate, hz) in signals {
            for i in 0..*rate {
                let seconds = record as f64 + i as f64 / *rate as f64;
                let value = (seconds * hz * std::f64::consts::TAU).sin();
                bytes.extend(((value * 16383.75 - 0.5).round() as i16).to_le_bytes());
            }
        }
    }
    bytes
}

#[test]
fn channels_of_several_rates_are_brought_to_one() {
    let place = Place::new();
    place.write(
        "a.edf",
        edf(&[("A", 100, 7.0), ("B", 100, 3.1), ("C", 25, 2.0)]),
    );
    let separate = ["separate", "a.edf", "-k", "2", "--preset", "fast"];
    refused(
        &place,
        &separate,
        1,
        "found A, B at 100 Hz (2000 samples); C at 25 Hz (500 samples); take the channels of one \
         rate with --channels, or bring all to one with --resample",
    );
    let mut options = ReadOptions {
        start: Some(2.0),
        ..ReadOptions::default()
    };
    options.prepare.resample = Some("max".parse().unwrap());
    let read_so = read_recording(place.path("a.edf"), &options).unwrap();
    assert_eq!(read_so.prepared, ["C resampled from 25 to 100 Hz"]);
    let values = read_so.recording.observations();
    assert_eq!(
        (values.shape(), read_so.recording.sampling_rate()),
        ((1800, 3), Some(100.0))
    );
    for t in 400..1400 {
        let exact = (t as f64 / 100.0 * 2.0 * std::f64::consts::TAU).sin();
        assert!(
            (values[(t, 2)] - exact).abs() < 5e-4,
            "{t}: {} {exact}",
            values[(t, 2)]
        );
    }
    let ran = place.done(&[&separate[..], &["--resample", "max", "--band", "1-"]].concat());
    let done = "prepared: C resampled from 25 to 100 Hz, band 1- Hz (FIR of 331 samples)";
    assert!(ran.stderr.contains(done), "{}", ran.stderr);
    // The file has no samples that all channels have.
    let clean = ["clean", "a.strt", "--remove", "s1"];
    refused(
        &place,
        &clean,
        1,
        "found one on a prepared recording: a.edf: channels: expected one",
    );
    place.done(&[&clean[..], &["-o", "clean.npy"]].concat());
    assert_eq!(read(&place.path("clean.npy")).n_samples(), 2000);
    // A filter reaches further than this file.
    refused(
        &place,
        &[
            "separate",
            &fixture("rates.edf"),
            "-k",
            "2",
            "--resample",
            "max",
        ],
        1,
        "rates.edf: resample: expected stretches without missing values that are longer than half \
         the filter, 51 samples of the lower rate, found none in Pz, 30 samples at 10 Hz",
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_the_option() {
    let place = place();
    place.write("none.csv", "1,2\n");
    let check = |arguments: &[&str], status: i32, expected: &str| {
        let start = ["separate", "a.csv", "-k", "2"];
        refused(&place, &[&start[..], arguments].concat(), status, expected);
    };
    check(
        &["--band", "40-1"],
        2,
        "band: expected rising frequencies above 0 in Hz",
    );
    check(
        &["--band", "-200"],
        1,
        "a.csv: band: expected frequencies below 125 Hz, half the sampling rate, found -200;",
    );
    check(
        &["--band", "1-200"],
        1,
        "a.csv: band: expected frequencies below 125 Hz",
    );
    check(
        &["--band", "0.01-"],
        1,
        "a.csv: band: expected a stretch of at least 41251 samples (165 s)",
    );
    check(
        &["--notch", "125"],
        1,
        "a.csv: notch: expected frequencies from 1 Hz to below 125 Hz",
    );
    check(
        &["--resample", "quick"],
        2,
        "resample: expected samples per second above 0, or max",
    );
    check(
        &["--resample", "3.14159265"],
        1,
        "a.csv: resample: expected a rate that is 250 Hz times",
    );
    check(
        &["--rereference", "Fp"],
        1,
        "a.csv: rereference: expected one of Fz, Cz, Pz, Oz, found `Fp`",
    );
    check(
        &["--exclude", "Qz"],
        1,
        "a.csv: exclude: expected a name or a number of the 4 channels",
    );
    check(&["--exclude", "1-4"], 1, "not all channels are excluded");
    check(
        &["--bad-segments", "no.csv"],
        1,
        "no.csv: bad-segments: expected a table of bad segments, or the word `annotations`",
    );
    check(
        &["--bad-segments", "none.csv"],
        1,
        "none.csv: first lines: expected a line that names",
    );
    place.write("rateless.csv", "x,y\n1,2\n2,1\n3,5\n");
    refused(
        &place,
        &["separate", "rateless.csv", "-k", "2", "--band", "1-4"],
        1,
        "rateless.csv: band: expected a recording with a sampling rate, found none; give the rate",
    );
}
