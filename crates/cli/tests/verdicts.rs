//! Verdicts as the program tells them: in the table, in `verdicts.csv` and in `summary.json`.

mod common;

use common::Place;

/// `strt separate` by the kernel energy alone on two well separated sources.
fn separate(place: &Place, out: &str, more: &[&str]) -> common::Ran {
    let fixed = [
        "separate",
        "data/observations.csv",
        "-k",
        "2",
        "--preset",
        "fast",
        "--out",
        out,
    ];
    let words: Vec<&str> = fixed.iter().chain(more).copied().collect();
    place.strt(&words)
}

fn place() -> Place {
    let place = Place::new();
    let words = "generate ar -k 2 --samples 1000 --out data --quiet";
    place.done(&words.split(' ').collect::<Vec<_>>());
    place
}

#[test]
fn every_source_has_a_finding() {
    let place = place();
    let ran = separate(&place, "run", &[]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("finding"), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("resolved").count(), 2, "{}", ran.stdout);
    let csv = place.text("run/verdicts.csv");
    let mut lines = csv.lines();
    let header = "source,finding,mixed_with,interference,replication,found_again,restarts_found,\
                  restarts_compared,reruns,evidence,beyond_twins,structure";
    assert_eq!(lines.next(), Some(header));
    for (name, line) in ["s1", "s2"].into_iter().zip(lines) {
        assert!(line.starts_with(&format!("{name},resolved,,0.")), "{line}");
    }
    let summary = place.json("run/summary.json");
    let verdict = &summary["verdicts"][1];
    assert_eq!(
        (&verdict["source"], &verdict["finding"]),
        (&"s2".into(), &"resolved".into())
    );
    assert_eq!(verdict["kind"], "resolved");
    assert!(
        verdict["words"]
            .as_str()
            .unwrap()
            .contains("every other source")
    );
    assert!(verdict["interference"].as_f64().unwrap() < 0.3);
    assert!(verdict["found_again"].as_f64().unwrap() > 0.9);
    assert!(verdict["reruns"].is_null() && verdict["restarts"].is_null());
    let files = summary["files"].as_array().unwrap();
    assert!(files.contains(&"verdicts.csv".into()));
}

#[test]
fn further_runs_and_drawn_recordings_are_made_as_they_are_asked_for() {
    let place = place();
    let ran = separate(&place, "run", &["--replicates", "0", "--reruns", "2"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let verdict = &place.json("run/summary.json")["verdicts"][0];
    assert_eq!(verdict["reruns"], 1.0);
    assert!(verdict["found_again"].is_null());
}

#[test]
fn sources_are_not_judged_where_nobody_wants_it() {
    let place = place();
    let ran = separate(&place, "run", &["--no-verdicts"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(!ran.stdout.contains("finding"), "{}", ran.stdout);
    assert!(!place.path("run/verdicts.csv").exists());
    assert!(place.json("run/summary.json")["verdicts"].is_null());
    let ran = separate(&place, "other", &["--no-verdicts", "--replicates", "2"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
    assert!(!place.path("other").exists());
    let ran = separate(&place, "other", &["--no-verdicts", "--reruns", "2"]);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
}
