//! Several recordings in one call: together as pieces of one recording, one run each, by pattern.

mod common;

use common::{FAST, Place, Ran, SMALL, refused};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// A place with one recording of 900 samples cut into three files of 200, 300 and 400; the second
/// one has its channels in another order. `whole.csv` holds all of it.
fn three() -> Place {
    let place = Place::new();
    place.problem("900");
    let text = place.text("data/observations.csv");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let (names, rows) = (&rows[0], &rows[1..]);
    // Without the time that the file may begin with.
    let first = names
        .iter()
        .position(|name| name.starts_with("ch"))
        .expect("channels");
    let order: Vec<usize> = (first..names.len()).collect();
    let turned: Vec<usize> = order.iter().rev().copied().collect();
    let csv = |order: &[usize], rows: &[Vec<&str>]| {
        let line = |cells: &Vec<&str>| {
            let cells: Vec<&str> = order.iter().map(|&c| cells[c]).collect();
            cells.join(",")
        };
        let lines: Vec<String> = std::iter::once(names).chain(rows).map(line).collect();
        format!("{}\n", lines.join("\n"))
    };
    place.write("part1.csv", csv(&order, &rows[..200]));
    place.write("part2.csv", csv(&turned, &rows[200..500]));
    place.write("part10.csv", csv(&order, &rows[500..]));
    place.write("whole.csv", csv(&order, rows));
    place
}

const PARTS: [&str; 3] = ["part1.csv", "part2.csv", "part10.csv"];

fn together(place: &Place, more: &[&str]) -> Ran {
    let words = [
        &["separate"],
        &PARTS[..],
        &["--together", "--rate", "100"],
        &FAST,
        more,
    ];
    place.done(&words.concat())
}

/// The numbers of a CSV, row by row.
fn numbers(place: &Place, name: &str) -> Vec<Vec<f64>> {
    let text = place.text(name);
    let row = |line: &str| {
        line.split(',')
            .map(|cell| cell.parse().expect(cell))
            .collect()
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn files_are_separated_transformed_and_cleaned_together() {
    let place = three();
    together(&place, &["--out", "run"]);
    let summary = place.json("run/summary.json");
    assert_eq!(summary["samples"], 900);
    let files = &summary["input"]["together"]["files"];
    for (i, (first, samples)) in [(0, 200), (200, 300), (500, 400)].into_iter().enumerate() {
        assert_eq!(files[i]["path"], PARTS[i]);
        assert_eq!(
            (&files[i]["first_sample"], &files[i]["samples"]),
            (&first.into(), &samples.into())
        );
    }
    let pieces = place.text("run/pieces.csv");
    assert!(pieces.starts_with("file,first_sample,samples,fingerprint\n\"part1.csv\",0,200,"));
    assert!(place.text("run/report.html").contains("file part10.csv"));

    // The sources of every file are those of its samples, here in single precision.
    let all = numbers(&place, "run/sources.csv");
    place.done(&[
        "transform",
        "run",
        "part*.csv",
        "--out-dir",
        "made",
        "--rate",
        "100",
        "-q",
    ]);
    for (name, rows) in [("part1", 0..200), ("part2", 200..500), ("part10", 500..900)] {
        let written = place.path(&format!("made/{name}.sources.npy"));
        let found = strt_io::read_recording(&written, &Default::default())
            .unwrap()
            .recording;
        let width = found.n_channels();
        for (t, row) in rows.enumerate() {
            for k in 0..width {
                let expected = all[row][all[row].len() - width + k];
                assert!(
                    (found.observations()[(t, k)] - expected).abs() < 1e-5,
                    "{name} {t} {k}"
                );
            }
        }
    }

    // Where nothing is removed every file is as it was; else each is cleaned in its own layout.
    place.done(&[
        "clean",
        "run",
        "--keep",
        "s1,s2,s3",
        "--out-dir",
        "kept",
        "-q",
    ]);
    place.done(&[
        "clean",
        "run",
        "--remove",
        "s2",
        "--out-dir",
        "cleaned",
        "-q",
    ]);
    for name in ["part1", "part2", "part10"] {
        let before = place.read(&format!("{name}.csv"));
        assert_eq!(
            place.read(&format!("kept/{name}_clean.csv")),
            before,
            "{name}"
        );
        let cleaned = place.text(&format!("cleaned/{name}_clean.csv"));
        assert_ne!(cleaned.as_bytes(), before);
        let header = |text: &str| text.lines().next().map(str::to_owned);
        assert_eq!(
            header(&cleaned),
            header(&String::from_utf8(before).unwrap())
        );
    }
    // What goes is what goes from the whole recording.
    place.done(&[
        "clean",
        "run",
        "whole.csv",
        "--remove",
        "s2",
        "-o",
        "all.csv",
        "-q",
    ]);
    let all = numbers(&place, "all.csv");
    for (name, rows) in [("part1", 0..200), ("part10", 500..900)] {
        let found = numbers(&place, &format!("cleaned/{name}_clean.csv"));
        for (found, expected) in found.iter().zip(&all[rows]) {
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{name}");
            }
        }
    }
    // A named file is cleaned as it is with the others.
    place.done(&[
        "clean",
        "run",
        "part2.csv",
        "--remove",
        "s2",
        "-o",
        "two.csv",
        "-q",
    ]);
    assert_eq!(place.read("two.csv"), place.read("cleaned/part2_clean.csv"));
}

#[test]
fn one_mixing_of_all_files_is_found() {
    let place = three();
    together(&place, &["--out", "run"]);
    // Against the whole recording, of which the files are the parts.
    place.done(
        &[
            &["separate", "whole.csv", "--out", "whole", "--rate", "100"][..],
            &FAST,
        ]
        .concat(),
    );
    let (parts, whole) = (
        numbers(&place, "run/sources.csv"),
        numbers(&place, "whole/sources.csv"),
    );
    for k in 0..3 {
        let column = |rows: &[Vec<f64>], k: usize| -> Vec<f64> {
            rows.iter().map(|row| row[row.len() - 3 + k]).collect()
        };
        let best = (0..3)
            .map(|other| correlation(&column(&parts, k), &column(&whole, other)).abs())
            .fold(0.0, f64::max);
        assert!(best > 0.95, "source {k}: {best}");
    }
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let dot = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
    };
    dot(a, mean_a, b, mean_b) / (dot(a, mean_a, a, mean_a) * dot(b, mean_b, b, mean_b)).sqrt()
}

#[test]
fn what_does_not_fit_together_is_refused_by_file() {
    let place = three();
    let text = place.text("part2.csv");
    place.write("less.csv", text.replace("ch1", "other"));
    let base = [
        "separate",
        "part1.csv",
        "--together",
        "-k",
        "3",
        "--preset",
        "fast",
    ];
    let with = |more: &[&'static str]| [&base[..], more].concat();
    refused(
        &place,
        &with(&["less.csv"]),
        1,
        "less.csv: channels: expected the 6 of part1.csv",
    );
    refused(
        &place,
        &with(&["part1.csv"]),
        2,
        "part1.csv: expected every recording once",
    );
    refused(
        &place,
        &with(&["absent*.csv"]),
        1,
        "absent*.csv: expected files that the pattern",
    );
    refused(
        &place,
        &with(&["[.csv"]),
        2,
        "[.csv: expected a pattern of files",
    );
    place.write("bad.tsv", "onset\tduration\n0\t1\n");
    let bad = ["part2.csv", "--rate", "100", "--bad-segments", "bad.tsv"];
    refused(
        &place,
        &with(&bad),
        2,
        "--bad-segments bad.tsv: expected one recording",
    );
    // The channels that all have.
    let common = ["less.csv", "--common-channels", "--out", "common", "-q"];
    place.done(&with(&common));
    assert_eq!(place.json("common/summary.json")["channels"], 5);
    // Several files for one file.
    let out = ["clean", "common", "--remove", "s1", "--out", "one.csv"];
    refused(
        &place,
        &out,
        2,
        "--out one.csv: expected one recording, found 2",
    );
}

/// A text with another last digit.
fn changed(text: &str) -> String {
    let text = text.trim_end();
    let (rest, last) = text.split_at(text.len() - 1);
    format!("{rest}{}\n", if last == "1" { "2" } else { "1" })
}

#[test]
fn the_file_that_has_changed_is_named() {
    let place = three();
    together(&place, &["--out", "run"]);
    place.write("part2.csv", changed(&place.text("part2.csv")));
    let ran = place.strt(&["clean", "run", "--remove", "s1", "--out-dir", "."]);
    assert_eq!(ran.status, 1);
    let message = "error: part2.csv: expected the recording of run";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    let more = ["--together", "--rate", "100", "--out", "run", "--continue"];
    let ran = place.strt(&[&["separate"], &PARTS[..], &more, &FAST].concat());
    assert_eq!(ran.status, 1);
    let message = "part2.csv holds other values";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
}

#[test]
fn a_killed_run_of_several_files_is_resumed_with_the_same_bits() {
    let place = three();
    let words = |out: &'static str| {
        let more = ["--together", "-k", "3", "--steps", "60", "--out", out];
        [&["separate"], &PARTS[..], &more, &SMALL[2..]].concat()
    };
    place.done(&words("unbroken"));
    let mut child = place
        .command(&[&words("killed")[..], &["--autosave", "0"]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let is_there = |line: &std::io::Result<String>| {
        line.as_ref().is_ok_and(|line| line.contains("step 30/60"))
    };
    assert!(
        lines.any(|line| is_there(&line)),
        "the run ended before its middle"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.path("killed").exists());

    let kept = place.text("part10.csv");
    place.write("part10.csv", changed(&kept));
    let ran = place.strt(&["resume", "killed"]);
    assert_eq!(ran.status, 1);
    let message = "part10.csv holds other values";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    place.write("moved.csv", kept);
    refused(
        &place,
        &["resume", "killed", "part1.csv"],
        1,
        "it was made of 3 files together, one file was asked for",
    );
    place.done(&[
        "resume",
        "killed",
        "part1.csv",
        "part2.csv",
        "moved.csv",
        "-q",
    ]);
    for name in ["sources.npy", "model.safetensors", "mixer.json"] {
        let path = |run: &str| format!("{run}/{name}");
        assert_eq!(
            place.read(&path("killed")),
            place.read(&path("unbroken")),
            "{name}"
        );
    }
}

#[test]
fn several_files_are_one_run_each_and_a_second_call_does_what_is_left() {
    let place = three();
    place.write("part3.csv", "ch1,ch2\n1,x\n");
    let call = [&["separate", "part*.csv", "--out", "runs"][..], &FAST[..4]].concat();
    let ran = place.strt(&call);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("1 of 4 runs failed"), "{}", ran.stderr);
    let order: Vec<&str> = ran
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        order,
        [
            "recording",
            "part1.csv",
            "part2.csv",
            "part3.csv",
            "part10.csv"
        ]
    );
    assert_eq!(
        place.names("runs"),
        ["part1.strt", "part10.strt", "part2.strt"]
    );

    let first = place.read("runs/part1.strt/summary.json");
    std::fs::remove_dir_all(place.path("runs/part2.strt")).unwrap();
    std::fs::remove_file(place.path("part3.csv")).unwrap();
    let ran = place.done(&[&call[..], &["--json"]].concat());
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let states: Vec<&str> = (0..3).map(|i| told[i]["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["made before", "made", "made before"]);
    assert_eq!(place.read("runs/part1.strt/summary.json"), first);
    // What is in the folders of runs is no recording.
    let ran = place.done(&["info", "**/*.csv"]);
    assert!(!ran.stdout.contains("part1.strt"), "{}", ran.stdout);
    assert!(ran.stdout.contains("part10.csv"), "{}", ran.stdout);

    refused(
        &place,
        &[&call[..], &["--open"]].concat(),
        2,
        "--open: expected one recording",
    );
    refused(&place, &[&call[..], &["--set", "x=1"]].concat(), 2, "--set");
}

#[test]
fn info_lists_several_recordings_and_says_which_cannot_be_read() {
    let place = three();
    place.write("broken.csv", "");
    let ran = place.strt(&["info", "part1.csv", "part2.csv", "broken.csv"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("1 of 3 files"), "{}", ran.stderr);
    assert_eq!(ran.stdout.lines().count(), 4, "{}", ran.stdout);
    assert!(
        ran.stdout
            .lines()
            .any(|line| line.starts_with("broken.csv") && line.contains("empty"))
    );
}
