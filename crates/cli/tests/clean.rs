//! `strt clean`: what goes, what stays, and what is refused.

mod common;

use common::{FAST, Place, fixture, refused, run, separated};
use std::path::Path;
use strt_io::{ReadOptions, read_recording};
use strtransformer::Recording;

fn read(path: &Path) -> Recording {
    read_recording(path, &ReadOptions::default())
        .unwrap()
        .recording
}

/// Largest difference of two recordings.
fn apart(a: &Recording, b: &Recording) -> f64 {
    let (a, b) = (a.observations(), b.observations());
    assert_eq!(a.shape(), b.shape());
    let rows = (0..a.nrows()).flat_map(|t| (0..a.ncols()).map(move |c| (t, c)));
    rows.fold(0.0, |worst: f64, at| worst.max((a[at] - b[at]).abs()))
}

#[test]
fn sources_are_removed_and_the_rest_stays() {
    let place = separated();
    let ran = place.done(&["clean", "observations.strt", "--remove", "s2"]);
    let out = "observations_clean.csv";
    assert_eq!(ran.stdout, format!("{out}: 1 of 3 sources removed (s2)\n"));
    // What the mixer says of the source is what has gone.
    let mixer = place.json("observations.strt/mixer.json");
    let sources = read(&place.path("observations.strt/sources.csv"));
    let s = sources.observations().col(1);
    let mean = s.iter().sum::<f64>() / 300.0;
    let (before, after) = (
        read(&place.path("data/observations.csv")),
        read(&place.path(out)),
    );
    for (c, row) in mixer["matrix"].as_array().unwrap().iter().enumerate() {
        for t in 0..300 {
            let gone = row[1].as_f64().unwrap() * (s[t] - mean);
            let expected = before.observations()[(t, c)] - gone;
            assert!(
                (after.observations()[(t, c)] - expected).abs() < 1e-9,
                "[{t}, {c}]"
            );
        }
    }
    place.done(&[
        "clean",
        "observations.strt",
        "--keep",
        "s1,s3",
        "-o",
        "kept.csv",
        "-q",
    ]);
    assert_eq!(place.read("kept.csv"), place.read(out));
    place.done(&[
        "clean",
        "observations.strt",
        "--keep",
        "s1,s2,s3",
        "-o",
        "all.csv",
    ]);
    assert_eq!(place.read("all.csv"), place.read("data/observations.csv"));
    // Other formats hold the channels.
    place.done(&[
        "clean",
        "observations.strt",
        "--remove",
        "s2",
        "-o",
        "clean.mat",
    ]);
    assert!(apart(&read(&place.path("clean.mat")), &after) == 0.0);
}

#[test]
fn another_recording_and_the_rest_of_a_file() {
    let place = separated();
    place.done(
        &[
            &[
                "separate",
                "data/observations.csv",
                "--rate",
                "10",
                "--stop",
                "20",
                "-o",
                "part",
            ][..],
            &FAST,
        ]
        .concat(),
    );
    let ran = place.done(&["clean", "part", "--remove", "s1", "-o", "first.csv"]);
    assert!(
        ran.stderr
            .contains("the 200 samples that were read are cleaned"),
        "{}",
        ran.stderr
    );
    place.done(&[
        "clean",
        "part",
        "data/observations.csv",
        "--remove",
        "s1",
        "-o",
        "whole.csv",
    ]);
    let lines = |name: &str| {
        place
            .text(name)
            .lines()
            .map(String::from)
            .collect::<Vec<_>>()
    };
    let (input, first, whole) = (
        lines("data/observations.csv"),
        lines("first.csv"),
        lines("whole.csv"),
    );
    assert_eq!(first[201..], input[201..]);
    assert!(
        first[1..201]
            .iter()
            .zip(&input[1..201])
            .all(|(a, b)| a != b)
    );
    assert!(whole[1..].iter().zip(&input[1..]).all(|(a, b)| a != b));
    // Channels in another order, and one that took no part.
    let turned: String = input
        .iter()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let extra = if cells[1] == "ch1" { "extra" } else { "7" };
            format!("{},{extra},{},{}\n", cells[0], cells[2], cells[1])
                .trim_end()
                .to_string()
                + &format!(",{}\n", cells[3..].join(","))
        })
        .collect();
    place.write("turned.csv", turned);
    let arguments = [
        "clean",
        "observations.strt",
        "turned.csv",
        "--remove",
        "s1,s3",
    ];
    let ran = place.done(&arguments);
    assert!(ran.stderr.contains("taken by name"), "{}", ran.stderr);
    place.done(&["clean", "observations.strt", "--remove", "s1,s3", "-q"]);
    let (turned, plain) = (lines("turned_clean.csv"), lines("observations_clean.csv"));
    for (turned, plain) in turned[1..].iter().zip(&plain[1..]) {
        let (turned, plain): (Vec<&str>, Vec<&str>) =
            (turned.split(',').collect(), plain.split(',').collect());
        assert_eq!((turned[0], turned[1]), (plain[0], "7"));
        let near =
            |a: &str, b: &str| (a.parse::<f64>().unwrap() - b.parse::<f64>().unwrap()).abs() < 1e-9;
        assert!(near(turned[2], plain[2]) && near(turned[3], plain[1]));
    }
}

#[test]
fn missing_values_stay_missing_or_are_filled() {
    let place = separated();
    let text = place.text("data/observations.csv");
    let gappy: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(number, line)| {
            let mut cells: Vec<&str> = line.split(',').collect();
            if number == 50 {
                cells[3] = "NA";
            }
            cells.join(",")
        })
        .collect();
    place.write("gappy.csv", gappy.join("\n"));
    place.done(&[&["separate", "gappy.csv"][..], &FAST].concat());
    let ran = place.done(&["clean", "gappy.strt", "--remove", "s1"]);
    assert!(
        ran.stderr.contains("1 samples with missing values"),
        "{}",
        ran.stderr
    );
    let line = |name: &str| place.text(name).lines().nth(50).unwrap().to_string();
    assert_eq!(line("gappy_clean.csv"), "49,NA,NA,NA,NA,NA,NA");
    place.done(&[
        "clean",
        "gappy.strt",
        "--remove",
        "s1",
        "--fill",
        "-o",
        "filled.csv",
    ]);
    assert!(!line("filled.csv").contains("NA"), "{}", line("filled.csv"));
    run(&place, &["--mixer", "mlp", "-o", "bent", "-q"]);
    place.done(&["clean", "bent", "--remove", "s1", "-o", "bent.csv"]);
    assert_ne!(place.read("bent.csv"), place.read("data/observations.csv"));
    refused(
        &place,
        &["clean", "bent", "--remove", "s1", "--fill", "-o", "x.csv"],
        1,
        "expected an affine mixer",
    );
}

#[test]
fn edf_and_wav_keep_their_form() {
    for name in ["plus.edf", "pcm_16.wav"] {
        let place = Place::new();
        let bytes = std::fs::read(fixture(name)).unwrap();
        place.write(name, &bytes);
        let run = name.replace(['.'], "_");
        let run = format!("{run}_run");
        let arguments = [
            "separate", name, "-k", "1", "--preset", "fast", "-q", "-o", &run,
        ];
        let ran = place.strt(&arguments);
        if ran.status != 0 {
            panic!("{name}: {}", ran.stderr);
        }
        place.done(&["clean", &run, "--keep", "s1", "-o", &format!("same_{name}")]);
        assert_eq!(place.read(&format!("same_{name}")), bytes, "{name}");
        place.done(&["clean", &run, "--remove", "s1"]);
        let (stem, ending) = name.split_once('.').unwrap();
        let cleaned = place.read(&format!("{stem}_clean.{ending}"));
        assert!(cleaned.len() == bytes.len() && cleaned != bytes, "{name}");
    }
}

/// A BrainVision recording is three files; none of them is replaced unasked.
#[test]
fn brainvision_becomes_three_files() {
    let place = Place::new();
    for ending in ["vhdr", "vmrk", "eeg"] {
        let name = format!("bv_float.{ending}");
        std::fs::copy(fixture(&name), place.path(&name)).unwrap();
    }
    place.done(&[&["separate", "bv_float.eeg", "-o", "run"][..], &FAST].concat());
    let clean = ["clean", "run", "--remove", "s1", "-o", "clean.vhdr"];
    place.done(&clean);
    let header = String::from_utf8(place.read("clean.vhdr")).unwrap();
    assert!(header.contains("DataFile=clean.eeg") && header.contains("MarkerFile=clean.vmrk"));
    let (before, after) = (
        read(&place.path("bv_float.vhdr")),
        read(&place.path("clean.vhdr")),
    );
    assert_eq!(before.channel_names(), after.channel_names());
    assert!(apart(&before, &after) > 0.1);
    std::fs::remove_file(place.path("clean.vhdr")).unwrap();
    refused(&place, &clean, 1, "clean.vmrk: the file exists");
}

#[test]
fn decisions_of_the_page_are_followed_and_those_of_other_runs_refused() {
    let place = separated();
    let own = read(&place.path("data/observations.csv")).fingerprint();
    let write = |run: &str, more: &str, sources: &str| {
        let text = format!(
            "{{\"strt\":\"decisions\",\"version\":1,\"run\":\"{run}\",{more}\"sources\":[{sources}]}}"
        );
        place.write("decisions.json", text);
    };
    let all = "{\"name\":\"s1\",\"keep\":true},{\"name\":\"s2\",\"keep\":false,\"note\":\"eyes\"},\
               {\"name\":\"s3\",\"keep\":false}";
    let clean = [
        "clean",
        "observations.strt",
        "--decisions",
        "decisions.json",
    ];
    write(
        "observations.strt",
        &format!("\"fingerprint\":\"{own:016x}\","),
        all,
    );
    let ran = place.done(&clean);
    assert!(
        ran.stdout.contains("2 of 3 sources removed (s2, s3)"),
        "{}",
        ran.stdout
    );
    std::fs::remove_file(place.path("observations_clean.csv")).unwrap();

    write("other.strt", "", all);
    refused(
        &place,
        &clean,
        1,
        "run: expected `observations.strt`, found `other.strt`; these",
    );
    write("observations.strt", "\"fingerprint\":\"12\",", all);
    refused(
        &place,
        &clean,
        1,
        "these decisions are about another recording",
    );
    write("observations.strt", "", "{\"name\":\"s1\",\"keep\":true}");
    refused(
        &place,
        &clean,
        1,
        "expected each source of the run once, s1 to s3, found s1;",
    );
    write("observations.strt", "", "{\"name\":\"s1\"}");
    refused(&place, &clean, 1, "missing field `keep`");
    place.write("decisions.json", "{\"strt\":\"decisions\",\"version\":2}");
    refused(&place, &clean, 1, "found version 2; save it again");
    place.write("decisions.json", "{}");
    refused(&place, &clean, 1, "found JSON of another kind");
    place.write("decisions.json", "s1");
    refused(&place, &clean, 1, "found no JSON");
    std::fs::remove_file(place.path("decisions.json")).unwrap();
    refused(&place, &clean, 1, "decisions.json: cannot read");
}

#[test]
fn what_cannot_be_cleaned_is_refused() {
    let place = separated();
    let clean = |more: &[&'static str]| [&["clean", "observations.strt"][..], more].concat();
    refused(&place, &clean(&[]), 2, "required arguments");
    refused(
        &place,
        &clean(&["--remove", "s1", "--keep", "s2"]),
        2,
        "cannot be used with",
    );
    refused(
        &place,
        &clean(&["--remove", "s1,s4"]),
        2,
        "--remove: expected names of the sources of observations.strt, s1 to s3, found `s4`",
    );
    refused(
        &place,
        &clean(&["--remove", "s1", "--start", "1"]),
        2,
        "expected a RECORDING",
    );
    refused(
        &place,
        &clean(&["--remove", "s1", "-o", "no/x.csv"]),
        1,
        "expected a folder",
    );
    refused(
        &place,
        &clean(&["--remove", "s1", "-o", "x.xls"]),
        1,
        "a name that ends in",
    );
    refused(
        &place,
        &clean(&[
            "--remove",
            "s1",
            "-o",
            "data/observations.csv",
            "--overwrite",
        ]),
        1,
        "expected another file than the recording",
    );
    refused(
        &place,
        &["clean", "data", "--remove", "s1"],
        1,
        "no such file in it",
    );
    place.write("narrow.csv", "a,b\n1,2\n3,4\n5,7\n");
    refused(
        &place,
        &clean(&["narrow.csv", "--remove", "s1"]),
        1,
        "expected the 6 channels",
    );
    place.write("observations_clean.csv", "here");
    refused(
        &place,
        &clean(&["--remove", "s1"]),
        1,
        "replace it with --overwrite",
    );
    place.done(&clean(&["--remove", "s1", "--overwrite"]));
    assert_ne!(place.text("observations_clean.csv"), "here");
    let changed = place.text("data/observations.csv").replacen('.', "9.", 1);
    place.write("data/observations.csv", changed);
    refused(
        &place,
        &clean(&["--remove", "s1", "-o", "x.csv"]),
        1,
        "expected the recording of observations.strt, found another: its channel ch1 holds",
    );
    std::fs::remove_file(place.path("data/observations.csv")).unwrap();
    refused(
        &place,
        &clean(&["--remove", "s1", "-o", "x.csv"]),
        1,
        "found no file data/observations.csv; give the RECORDING",
    );
}
