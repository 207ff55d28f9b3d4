//! The program as a person calls it: what it prints and how it exits.

use std::process::{Command, Output};

fn strt(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_strt"))
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// Runs the program and checks its exit status and what it printed where.
fn check(arguments: &[&str], status: i32, on_stdout: &[&str], on_stderr: &[&str]) {
    let output = strt(arguments);
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(
        output.status.code(),
        Some(status),
        "{arguments:?}\n{stdout}\n{stderr}"
    );
    for text in on_stdout {
        assert!(
            stdout.contains(text),
            "{arguments:?}: stdout should contain {text:?}:\n{stdout}"
        );
    }
    for text in on_stderr {
        assert!(
            stderr.contains(text),
            "{arguments:?}: stderr should contain {text:?}:\n{stderr}"
        );
    }
}

#[test]
fn demo_prints_the_sources_the_score_and_how_the_run_ended() {
    let words = [
        "|correlation|",
        "(MAC)",
        "Amari distance",
        "3 steps",
        "stopped: all steps taken",
        "converged: no",
    ];
    check(&["demo", "--steps", "3"], 0, &words, &[]);
}

#[test]
fn demo_gives_the_same_result_with_any_number_of_threads() {
    let table = |threads: &str| {
        let output = strt(&["demo", "--steps", "3", "--threads", threads]);
        let text = String::from_utf8(output.stdout).expect("text");
        // All but the line with the time.
        text.lines()
            .filter(|line| !line.contains("steps in"))
            .map(String::from)
            .collect::<Vec<_>>()
    };
    assert_eq!(table("1"), table("3"));
}

#[test]
fn recovery_prints_a_table_per_suite_and_preset() {
    let arguments = [
        "bench",
        "recovery",
        "--suite",
        "linear",
        "--linear-seeds",
        "1",
        "--steps",
        "1",
    ];
    let words = [
        "linear suite, preset default",
        "linear suite, preset paper",
        "nonsmooth linear",
        "mean MAC",
    ];
    check(&arguments, 0, &words, &["5/5"]);
}

#[test]
fn a_value_that_cannot_run_is_an_error_and_a_wrong_argument_a_usage_error() {
    check(
        &["demo", "--steps", "0"],
        1,
        &[],
        &["error: configuration: optimizer.steps = 0", "at least 1"],
    );
    check(&["demo", "--stebs", "1"], 2, &[], &["--stebs", "--steps"]);
    check(
        &["bench", "recovery", "--linear-seeds", "0"],
        2,
        &[],
        &["--linear-seeds"],
    );
    check(&[], 2, &[], &["Usage: strt"]);
}
