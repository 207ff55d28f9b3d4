//! `strt-lab recovery` as a person calls it: tables, page, JSON, and what is kept for the next
//! time.

mod common;

use common::Place;

#[test]
fn recovery_compares_methods_and_goes_on_where_it_ended() {
    let place = Place::new();
    let arguments = [
        "recovery",
        "--families",
        "linear,short",
        "--methods",
        "strt,sobi,fastica",
        "--steps",
        "1",
        "--results",
        "results.jsonl",
        "--page",
        "page.html",
    ];
    let first = place.done(&arguments);
    for words in [
        "| linear | 15 |",
        "| short | 5 |",
        "within 0.005 of best",
        "T = 300",
        "linear with truth",
        "| short | gpclose | 1 | 0.9",
    ] {
        assert!(first.stdout.contains(words), "{words}: {}", first.stdout);
    }
    assert!(
        place
            .text("page.html")
            .contains("Recovery of known sources")
    );
    // What is there is not run again; what a crash cut off is.
    let text = place.text("results.jsonl");
    std::fs::write(place.path("results.jsonl"), &text[..text.len() - 20]).unwrap();
    let second = place.done(&arguments);
    assert!(second.stderr.starts_with("1/1 "), "{}", second.stderr);
    let overview = |text: &str| text.split("All figures").next().map(String::from);
    assert_eq!(overview(&first.stdout), overview(&second.stdout));
    let json = place.done(&[&arguments[..], &["--json"]].concat()).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["records"].as_array().unwrap().len(), 15 * 4 + 5 * 3);
    let limits = json["limits"].as_array().unwrap();
    assert_eq!(limits.len(), 15 + 5);
    for limit in limits {
        let gaussian = ["gp", "gpclose", "ar"].contains(&limit["kind"].as_str().unwrap());
        assert_eq!(limit["bound"].is_number(), gaussian, "{limit}");
    }
    assert!(
        place
            .done(&["recovery", "--families", "list"])
            .stdout
            .contains("nonlinear")
    );
    let ran = place.lab(&["recovery", "--families", "linar"]);
    assert!(
        ran.status == 2 && ran.stderr.contains("linear"),
        "{}",
        ran.stderr
    );
}

/// A program that answers as `benchmarks/peers.py` and `benchmarks/run_rivals.py` do.
#[cfg(unix)]
const PYTHON: &str = r#"#!/bin/sh
case "$*" in
  *"run_rivals.py serve --budget 0.5")
    echo '{"methods": ["tcl"], "versions": "rivals 1"}'
    answer='{"error": "no room for tcl"}' ;;
  *peers.py)
    echo '{"methods": ["picard2"], "versions": "peers 1"}'
    answer='{"error": "no room for picard2"}' ;;
  *) exit 3 ;;
esac
while read -r line; do echo "$answer"; done
"#;

#[cfg(unix)]
#[test]
fn rivals_run_beside_peers_and_what_fails_is_a_gap() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    std::fs::write(place.path("python"), PYTHON).unwrap();
    std::fs::set_permissions(place.path("python"), PermissionsExt::from_mode(0o755)).unwrap();
    let python = place.path("python");
    let arguments = [
        "recovery",
        "--families",
        "square",
        "--methods",
        "sobi",
        "--python",
        python.to_str().unwrap(),
    ];
    let alone = place.done(&arguments);
    assert!(
        alone.stderr.contains("no room for picard2") && !alone.stderr.contains("tcl"),
        "{}",
        alone.stderr
    );
    let both = place.done(&[&arguments[..], &["--rivals", "--rivals-budget", "0.5"]].concat());
    for words in ["no room for picard2", "no room for tcl"] {
        assert!(both.stderr.contains(words), "{words}: {}", both.stderr);
    }
    assert!(
        both.stdout.contains("peers 1, rivals 1") && both.stdout.contains("| square | 5 |"),
        "{}",
        both.stdout
    );
    for (wrong, words) in [
        (&["recovery", "--rivals"][..], "--python"),
        (
            &[
                "recovery",
                "--python",
                "x",
                "--rivals",
                "--rivals-budget",
                "0",
            ],
            "above 0",
        ),
    ] {
        let ran = place.lab(wrong);
        assert!(
            ran.status == 2 && ran.stderr.contains(words),
            "{}",
            ran.stderr
        );
    }
    // The budget decides the script's arguments; with another one this program ends at once.
    let ran = place.lab(&[&arguments[..], &["--rivals"]].concat());
    assert!(
        ran.status != 0 && ran.stderr.contains("requirements-rivals.txt"),
        "{}",
        ran.stderr
    );
}
