//! Runs that are stopped: by Ctrl-C, a request to end, a kill, a reader that goes away; and resumed
//! with the same bits.
#![cfg(unix)]

mod common;

use common::{Place, run, separate};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const FILES: [&str; 12] = [
    "sources.npy",
    "sources.csv",
    "denoised.npy",
    "denoised.csv",
    "denoised_std.npy",
    "mixer.json",
    "model.safetensors",
    "history.csv",
    "scores.csv",
    "config.toml",
    "verdicts.csv",
    "labels.csv",
];

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([format!("-{name}"), child.id().to_string()])
        .status();
    assert!(status.is_ok_and(|status| status.success()));
}

/// Starts a run and waits until it has taken some steps.
fn started(place: &Place, arguments: &[String], line: &str) -> Child {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut child = place
        .command(&words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    while let Some(Ok(found)) = lines.next() {
        if found.contains(line) {
            // Keep reading, so that the program never waits for a reader.
            std::thread::spawn(move || lines.for_each(drop));
            return child;
        }
    }
    let status = child.wait();
    panic!("the run ended before it printed {line:?}: {status:?}");
}

fn arguments(out: &str, steps: &str) -> Vec<String> {
    let words = [
        "separate",
        "data/observations.csv",
        "-k",
        "3",
        "--set",
        "branches.patch_sizes=[4, 8]",
        "--steps",
        steps,
        "--restarts",
        "2",
        "--log-every",
        "7",
        "--reference",
        "data/true_sources.csv",
        "--format",
        "mat",
        "--out",
        out,
    ];
    words.map(String::from).into()
}

fn whole(place: &Place, steps: &str) {
    place.done(
        &arguments("whole", steps)
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    );
}

fn same_bits(place: &Place) {
    for name in FILES.iter().chain(&["sources.mat"]) {
        assert_eq!(
            place.read(&format!("run/{name}")),
            place.read(&format!("whole/{name}")),
            "{name}"
        );
    }
    assert_eq!(place.names("run"), place.names("whole"));
}

#[test]
fn ctrl_c_leaves_results_and_resuming_gives_the_same_bits() {
    let place = Place::new();
    place.problem("300");
    whole(&place, "600");
    // Twice: soon after the start, and late.
    let mut child = started(&place, &arguments("run", "600"), "step 120/1200");
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let summary = place.json("run/summary.json");
    assert_eq!(summary["stop_reason"], "interrupted");
    assert!(place.path("run/report.html").is_file());
    let info = place.done(&["info", "run"]).stdout;
    assert!(
        info.contains("an unfinished run") && info.contains("0 of 2 restarts have ended"),
        "{info}"
    );

    let resume = ["resume", "run"].map(String::from);
    let mut child = started(&place, &resume, "step 840/1200");
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // The former spelling gives the same result.
    let ran = place.done(&["separate", "--resume", "run"]);
    assert!(ran.stderr.contains("resumed after step"), "{}", ran.stderr);
    same_bits(&place);

    let ran = place.strt(&["resume", "run"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("this run has ended"), "{}", ran.stderr);
}

#[test]
fn a_killed_run_is_resumed_from_its_last_checkpoint() {
    let place = Place::new();
    place.problem("300");
    whole(&place, "60");
    let mut words = arguments("run", "60");
    words.extend(["--autosave", "0"].map(String::from));
    let mut child = started(&place, &words, "step 60/120");
    signal(&child, "KILL");
    child.wait().unwrap();
    assert!(!place.path("run").exists());
    // The crash may have come between two files: whatever is ahead of the checkpoint is dropped. By
    // hand this can only be done in the folder of a program that knew no checksums.
    let history = place.text("run.partial/history.csv");
    let last = history.lines().last().unwrap();
    let (restart, rest) = last.split_once(',').unwrap();
    let (_, values) = rest.split_once(',').unwrap();
    place.write(
        "run.partial/history.csv",
        format!("{history}{restart},59,{values}\n"),
    );
    let ran = place.strt(&["resume", "run.partial"]);
    assert_eq!(ran.status, 1);
    let words = "history.csv: expected what strt wrote: its checksum is";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    let mut request = place.json("run.partial/run.json");
    for name in ["tables", "checksum"] {
        request.as_object_mut().unwrap().remove(name).unwrap();
    }
    place.write("run.partial/run.json", request.to_string());

    let words = arguments("run", "60");
    let ran = place.strt(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("`strt resume run.partial`"),
        "{}",
        ran.stderr
    );
    place.done(&["resume", "run.partial", "--quiet"]);
    same_bits(&place);
}

#[test]
fn a_killed_run_prepares_its_recording_again() {
    let place = Place::new();
    place.problem("300");
    let prepared = ["--rate", "100", "--band", "2-40", "--detrend"].map(String::from);
    let words = |out| [arguments(out, "60"), prepared.to_vec()].concat();
    place.done(
        &words("whole")
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    );
    let killed = [words("run"), ["--autosave", "0"].map(String::from).into()].concat();
    let mut child = started(&place, &killed, "step 60/120");
    signal(&child, "KILL");
    child.wait().unwrap();
    place.done(&["resume", "run", "--quiet"]);
    same_bits(&place);
}

#[test]
fn resuming_on_another_recording_is_refused() {
    let place = Place::new();
    place.problem("300");
    let mut child = started(&place, &arguments("run", "600"), "step 60/1200");
    signal(&child, "TERM");
    assert_eq!(
        child.wait().unwrap().code(),
        Some(130),
        "a polite request to end is treated alike"
    );
    place.done(&[
        "generate",
        "gp",
        "--samples",
        "300",
        "--seed",
        "8",
        "--out",
        "data",
        "--overwrite",
        "-q",
    ]);
    let before = place.names("run");
    let ran = place.strt(&["resume", "run"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("run: saved state"), "{}", ran.stderr);
    assert_eq!(place.names("run"), before);
    // A recording that was moved is asked for, and taken from where it is said to be.
    std::fs::remove_dir_all(place.path("data")).unwrap();
    place.problem("300");
    std::fs::rename(place.path("data"), place.path("moved")).unwrap();
    let ran = place.strt(&["resume", "run"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr
            .contains("where is it now? Resume it with `strt resume run RECORDING`"),
        "{}",
        ran.stderr
    );
    let words = [
        "resume",
        "run",
        "moved/observations.csv",
        "--reference",
        "moved/true_sources.csv",
        "-q",
    ];
    place.done(&words);
    let summary = place.json("run/summary.json");
    let reason = summary["stop_reason"].as_str().unwrap();
    assert!(["settled", "step_limit"].contains(&reason), "{reason}");
}

#[test]
fn a_finished_result_is_not_replaced_by_an_unfinished_one() {
    let place = Place::new();
    place.problem("300");
    run(&place, &["-o", "run", "-q"]);
    let finished = place.read("run/sources.npy");
    let mut words = arguments("run", "600");
    words.push("--overwrite".into());
    let mut child = started(&place, &words, "step 60/1200");
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(place.read("run/sources.npy"), finished);
    // Another start discards it, and what was begun cannot be taken for what it was asked later.
    let mut child = started(
        &place,
        &[&words[..], &["--seed".into(), "5".into()]].concat(),
        "step 60/1200",
    );
    signal(&child, "KILL");
    child.wait().unwrap();
    assert!(!place.path("run.partial/checkpoint.safetensors").exists());
    let mut child = started(&place, &words, "step 60/1200");
    signal(&child, "INT");
    child.wait().unwrap();
    // Both names lead to it.
    place.done(&["resume", "run", "--quiet"]);
    assert_ne!(place.read("run/sources.npy"), finished);
    assert!(!place.path("run.partial").exists());
    assert_eq!(place.json("run/summary.json")["seed"], 0);
}

#[test]
fn readers_that_go_away_and_odd_names_do_not_end_a_run() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    place.problem("300");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    if let Ok(full) = full {
        let words = separate(&["-o", "run"]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let status = place
            .command(&words)
            .stderr(full)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(0));
        assert!(place.path("run/summary.json").is_file());
    }
    let odd = std::ffi::OsStr::from_bytes(b"w\xff.csv");
    std::fs::copy(
        place.path("data/observations.csv"),
        place.path("").join(odd),
    )
    .unwrap();
    let output = place
        .command(&["separate", "-k", "3"])
        .arg(odd)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected a path in UTF-8"));
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let place = Place::new();
    place.problem("300");
    let mut child = started(&place, &arguments("run", "600"), "step 60/1200");
    let words = arguments("run", "600");
    let ran = place.strt(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("another strt is writing there"),
        "{}",
        ran.stderr
    );
    signal(&child, "KILL");
    child.wait().unwrap();
    std::thread::sleep(Duration::from_millis(50));
    // Nothing was saved yet, so the folder is used again.
    assert!(place.path("run.partial").is_dir());
    run(&place, &["-o", "run", "-q"]);
    assert!(!place.path("run.partial").exists());
}

#[test]
fn a_run_killed_before_its_first_autosave_is_resumed_from_its_beginning() {
    let place = Place::new();
    place.problem("300");
    whole(&place, "600");
    let mut child = started(&place, &arguments("run", "600"), "step 60/1200");
    signal(&child, "KILL");
    child.wait().unwrap();
    assert_eq!(place.names("run.partial"), [".strt", "run.json"]);
    let ran = place.strt(&["info", "run.partial"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("an unfinished run"), "{}", ran.stderr);
    let ran = place.done(&["resume", "run"]);
    assert!(
        ran.stderr.contains("resumed after step 0"),
        "{}",
        ran.stderr
    );
    same_bits(&place);
}
