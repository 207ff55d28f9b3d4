//! `strt energy`, and the paper's figures of a run.

mod common;

use common::{Place, run, separated};

#[test]
fn of_the_sources_of_a_run_and_of_a_file() {
    let place = Place::new();
    place.problem("300");
    run(&place, &["-o", "run", "-q"]);
    let ran = place.done(&["energy", "run", "--draws", "4"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let words = |line: usize| lines[line].split_whitespace().count();
    assert!(lines[0].starts_with("H") && words(0) == 4, "{}", ran.stdout);
    assert!(
        lines[1].starts_with("branch 1") && words(1) == 5,
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("margin of this assignment"),
        "{}",
        ran.stdout
    );

    // The sources from their file are the same trajectories.
    let own = place
        .done(&["energy", "run", "--draws", "4", "--json"])
        .stdout;
    let own: serde_json::Value = serde_json::from_str(&own).unwrap();
    let arguments = ["energy", "run", "run/sources.npy", "--draws", "4", "--json"];
    let file: serde_json::Value = serde_json::from_str(&place.done(&arguments).stdout).unwrap();
    let number = |all: &serde_json::Value, k: usize, j: usize| all["cost"][k][j].as_f64().unwrap();
    for (k, j) in [(0, 0), (0, 2), (2, 1)] {
        let (expected, found) = (number(&own, k, j), number(&file, k, j));
        assert!(
            (found / expected - 1.0).abs() < 1e-4,
            "{found} for {expected}"
        );
    }
    assert_eq!(own["errors"][2][0].as_array().unwrap().len(), 2);
    assert!(own["margin"].is_f64());

    let true_sources = [
        "energy",
        "run",
        "data/true_sources.csv",
        "--channels",
        "1-2",
        "--json",
    ];
    let some: serde_json::Value = serde_json::from_str(&place.done(&true_sources).stdout).unwrap();
    assert!(some["margin"].is_null());
    assert_eq!(some["cost"][0].as_array().unwrap().len(), 2);
}

#[test]
fn what_has_no_energy_is_refused() {
    let place = separated();
    let refusals = [
        (
            &["energy", "observations.strt"][..],
            1,
            "observations.strt: energy: expected networks",
        ),
        (
            &["energy", "observations.strt", "--channels", "1"],
            2,
            "expected a file too",
        ),
        (&["energy", "nowhere.safetensors"], 1, "nowhere.safetensors"),
    ];
    for (arguments, status, text) in refusals {
        let ran = place.strt(arguments);
        assert_eq!(ran.status, status, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(text), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn figures_are_written_where_they_are_asked_for() {
    let place = Place::new();
    place.problem("300");
    run(&place, &["-o", "plain", "-q"]);
    let reference = ["--reference", "data/true_sources.csv"];
    run(
        &place,
        &[&["-o", "drawn", "-q", "--figures"][..], &reference].concat(),
    );
    let pictures = |folder: &str| -> Vec<String> {
        let names = place.names(folder).into_iter();
        names
            .filter(|name| name.ends_with(".svg") || name.ends_with(".png"))
            .collect()
    };
    assert_eq!(pictures("plain"), Vec::<String>::new());
    let expected = ["sources", "structure", "training"];
    let expected = expected
        .iter()
        .flat_map(|name| [format!("{name}.png"), format!("{name}.svg")]);
    assert_eq!(pictures("drawn"), expected.collect::<Vec<_>>());
    // A font draws text, so that the picture has the words of its panels.
    assert!(place.text("drawn/training.svg").contains("(MAC)"));
    assert!(place.text("drawn/sources.svg").contains("Reference 1"));
}
