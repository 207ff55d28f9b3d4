//! `strt-lab speed` as a person calls it: what it says, not how fast it is.

use std::process::{Command, Output};

fn speed(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_strt-lab"))
        .arg("speed")
        .args(arguments)
        .output()
        .expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// A Python that is not there.
const NO_PYTHON: [&str; 2] = ["--python", "/no/such/python"];

#[test]
fn help_names_every_section() {
    let help = stdout(&speed(&["--help"]));
    for section in [
        "step",
        "rate",
        "length",
        "memory",
        "sources",
        "instructions",
    ] {
        assert!(help.contains(section), "{section} in\n{help}");
    }
}

#[test]
fn without_python_it_says_how_to_install_it_and_times_the_rest() {
    let arguments = ["--only", "step", "--repeats", "1", "--threads", "1"];
    let output = speed(&[&arguments[..], &NO_PYTHON].concat());
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    for words in [
        "Not compared with PyTorch",
        "pip install -r benchmarks/requirements.txt",
        "--python",
        "median ms",
        "strt ",
    ] {
        assert!(text.contains(words), "{words:?} in\n{text}");
    }
}

#[test]
fn json_is_one_object_with_machine_and_sections() {
    let arguments = [
        "--json",
        "--only",
        "step,rate",
        "--repeats",
        "1",
        "--threads",
        "1,2",
    ];
    let output = speed(&[&arguments[..], &NO_PYTHON].concat());
    assert_eq!(output.status.code(), Some(0));
    let object: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert!(object["machine"]["cores"].as_u64().is_some_and(|n| n >= 1));
    assert!(object["machine"]["python"]["missing"].is_string());
    let times = object["sections"]["step"]["dense"]["times"]
        .as_array()
        .expect("a list");
    assert_eq!(times.len(), 2);
    assert!(
        times
            .iter()
            .all(|line| line["times"]["best_s"].as_f64() > Some(0.0))
    );
    let lines = object["sections"]["rate"]["lines"]
        .as_array()
        .expect("a list");
    assert!(lines.iter().all(|line| line["share"].as_f64() > Some(0.0)));
}

#[test]
fn a_section_that_does_not_exist_is_a_usage_error() {
    let output = speed(&["--only", "stop"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("instructions"));
}

/// A worker that computes something else must not be timed in silence.
#[cfg(unix)]
#[test]
fn a_different_objective_ends_with_the_figures_and_status_1() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let python = folder.path().join("python");
    let answer = r#"{"python": "3", "torch": "0", "seconds": [0.01], "attention": "none",
        "variants": [{"attention": "none", "objective": 12345.5, "gradient_norms": {}}]}"#;
    let script = format!(
        "#!/bin/sh\nwhile read -r request; do echo '{}'; done\n",
        answer.replace('\n', "")
    );
    std::fs::write(&python, script).expect("a script");
    std::fs::set_permissions(&python, PermissionsExt::from_mode(0o755)).expect("a program");
    let python = python.to_str().expect("a path in UTF-8");
    let output = speed(&[
        "--only",
        "step",
        "--repeats",
        "1",
        "--threads",
        "1",
        "--python",
        python,
    ]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("error: step:") && stderr.contains("12345.5"),
        "{stderr}"
    );
    assert!(stdout(&output).contains("NOT THE SAME STEP"));
}
