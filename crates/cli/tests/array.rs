//! `separate --continue` in an array of jobs: killed, queued again, submitted again. The script is
//! the one of the guide.
#![cfg(unix)]

mod common;

use common::{Place, SMALL};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The script of docs/python.md, with small networks, enough steps to be killed in the middle, and
/// checkpoints all the time.
fn script() -> String {
    let guide = include_str!("../../../docs/python.md");
    let start = guide
        .find("#SBATCH --array")
        .expect("the guide has a script for SLURM");
    let end = start + guide[start..].find("```").expect("it ends");
    guide[start..end].replace(
        "--continue",
        "--continue --autosave 0 --steps 40 --set 'branches.patch_sizes=[4, 8]'",
    )
}

/// An array task, as the batch system would start it.
fn task(place: &Place, number: usize) -> Child {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_strt"));
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    Command::new("sh")
        .args(["-c", &format!("exec {}", script_command())])
        .current_dir(place.path(""))
        .env("PATH", path)
        .env("SLURM_ARRAY_TASK_ID", number.to_string())
        .env("SLURM_CPUS_PER_TASK", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the script starts")
}

/// Its only command.
fn script_command() -> String {
    let script = script();
    let lines = script.lines().filter(|line| !line.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n").trim().to_string()
}

/// Waits for the end of a task; what it printed on standard error.
fn ended(child: Child) -> String {
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

#[test]
fn a_killed_task_goes_on_and_a_finished_one_is_left_alone() {
    let place = Place::new();
    place.done(&["generate", "gp", "--out", "data", "--samples", "300"]);
    std::fs::copy(
        place.path("data/observations.csv"),
        place.path("recording.csv"),
    )
    .unwrap();

    let (mut first, second) = (task(&place, 0), task(&place, 1));
    let checkpoint = place.path("runs/seed-0.partial/checkpoint.safetensors");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !checkpoint.is_file() {
        assert!(Instant::now() < deadline, "no checkpoint");
        std::thread::sleep(Duration::from_millis(5));
    }
    first.kill().unwrap(); // SIGKILL, as when a node is lost
    first.wait().unwrap();
    ended(second);
    assert_eq!(place.names("runs"), ["seed-0.partial", "seed-1"]);
    let written = std::fs::metadata(place.path("runs/seed-1/summary.json")).unwrap();

    // Queued again, and the whole array submitted again.
    let text = ended(task(&place, 0));
    assert!(text.contains("resumed after step"), "{text}");
    for number in 0..2 {
        let text = ended(task(&place, number));
        assert!(
            text.contains("this run is finished; nothing was done"),
            "{text}"
        );
    }
    let now = std::fs::metadata(place.path("runs/seed-1/summary.json")).unwrap();
    assert_eq!(written.modified().unwrap(), now.modified().unwrap());

    // The same bits as without the kill.
    let plain = script_command()
        .replace("runs/seed-$SLURM_ARRAY_TASK_ID", "whole")
        .replace("strt ", &format!("{} ", env!("CARGO_BIN_EXE_strt")));
    let status = Command::new("sh")
        .args(["-c", &plain])
        .current_dir(place.path(""))
        .env("SLURM_ARRAY_TASK_ID", "0")
        .env("SLURM_CPUS_PER_TASK", "1")
        .output()
        .unwrap();
    assert!(status.status.success());
    for file in ["sources.npy", "model.safetensors", "history.csv"] {
        let (a, b) = (format!("runs/seed-0/{file}"), format!("whole/{file}"));
        assert!(place.read(&a) == place.read(&b), "{file} differs");
    }
}

#[test]
fn another_run_of_that_name_is_not_taken_for_it() {
    let place = Place::new();
    place.done(&["generate", "gp", "--out", "data", "--samples", "300"]);
    let separate = |more: &[&str]| {
        let words = [
            "separate",
            "data/observations.csv",
            "-k",
            "3",
            "--out",
            "run",
            "--continue",
        ];
        place.strt(&[&words[..], &SMALL, more].concat())
    };
    assert_eq!(separate(&[]).status, 0);
    let again = separate(&["--json"]);
    assert_eq!(again.status, 0);
    assert!(again.stdout.contains("\"seed\": 0"), "{}", again.stdout);
    let other = separate(&["--seed", "1"]);
    assert_eq!(other.status, 1);
    assert!(
        other.stderr.contains("seed is 0 there, 1 was asked for"),
        "{}",
        other.stderr
    );
    let replaced = separate(&["--seed", "1", "--overwrite"]);
    assert_eq!(replaced.status, 0, "{}", replaced.stderr);
    assert_eq!(place.json("run/summary.json")["seed"], 1);
}
