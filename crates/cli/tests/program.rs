//! The small commands, and what all have in common: help, versions, exit status.

mod common;

use common::{Place, SMALL, fixture, snapshot};

/// Every command, by the words that lead to it.
const COMMANDS: [&[&str]; 15] = [
    &[],
    &["separate"],
    &["resume"],
    &["demo"],
    &["compare"],
    &["evaluate"],
    &["generate"],
    &["transform"],
    &["energy"],
    &["clean"],
    &["open"],
    &["info"],
    &["config"],
    &["completions"],
    &["man"],
];

#[test]
fn help_is_what_was_read_and_committed() {
    let place = Place::new();
    let mut text = String::new();
    for command in COMMANDS {
        let arguments = [command, &["--help"]].concat();
        text.push_str(&format!("$ strt {}\n\n", arguments.join(" ")));
        text.push_str(&place.done(&arguments).stdout);
        text.push('\n');
    }
    snapshot("help.txt", &text);
}

#[test]
fn without_a_command_the_help_is_a_usage_error() {
    let ran = Place::new().strt(&[]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("Usage: strt"), "{}", ran.stderr);
}

#[test]
fn the_demo_writes_the_folder_and_prints_where_it_is() {
    let place = Place::new();
    let ran = place.done(&["demo", "--steps", "3", "--figures"]);
    for words in [
        "Case study",
        "|correlation|",
        "(MAC)",
        "Amari distance",
        "3 steps",
        "all steps taken; not converged",
        "strt-demo/report.html",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    let names = place.names("strt-demo");
    for name in [
        "sources.npy",
        "observations.csv",
        "true_sources.csv",
        "scores.csv",
        "training.svg",
        "training.png",
        "structure.svg",
        "structure.png",
        "sources.svg",
        "sources.png",
        "summary.json",
        "report.html",
    ] {
        assert!(names.iter().any(|other| other == name), "{name}: {names:?}");
    }
    // Its own folder is replaced without asking, that of a person is not.
    let ran = place.done(&["demo", "--steps", "2", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON only");
    assert_eq!(json["steps"], 2);
    std::fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/thesis.txt", "work");
    let ran = place.strt(&["demo", "--steps", "2", "--out", "mine"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("was not written by strt"),
        "{}",
        ran.stderr
    );
    assert_eq!(place.names("mine"), ["thesis.txt"]);
    place.problem("100");
    let ran = place.strt(&["demo", "--steps", "2", "--out", "data"]);
    assert!(
        ran.status == 1 && ran.stderr.contains("--overwrite"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_demo_of_one_law_is_compared_with_classical_methods() {
    let place = Place::new();
    let arguments = ["demo", "--case", "dynamics", "--steps", "2"];
    let ran = place.done(&arguments);
    for words in [
        "runs of the Lorenz system",
        "Amari distance",
        "MAC of classical",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    // Nothing that these methods use tells the sources apart.
    for method in ["fastica", "picard", "sobi"] {
        let line = ran.stdout.lines().find(|line| line.starts_with(method));
        let mac: f64 = line
            .unwrap()
            .split_whitespace()
            .last()
            .unwrap()
            .parse()
            .unwrap();
        assert!((0.5..0.95).contains(&mac), "{method}: {mac}");
    }
    let quiet = place.done(&[&arguments[..], &["--json"]].concat());
    assert!(!quiet.stdout.contains("classical"), "{}", quiet.stdout);
    let scales = place.done(&["demo", "--case", "scales", "--steps", "2"]);
    assert!(!scales.stdout.contains("classical"), "{}", scales.stdout);
    let wrong = place.strt(&["demo", "--case", "dynamic"]);
    assert_eq!(wrong.status, 2);
    for words in ["scales", "'dynamics'"] {
        assert!(wrong.stderr.contains(words), "{words}: {}", wrong.stderr);
    }
}

#[test]
fn the_demo_gives_the_same_result_with_any_number_of_threads() {
    let place = Place::new();
    for threads in ["1", "3"] {
        place.done(&[
            "demo",
            "--steps",
            "3",
            "--threads",
            threads,
            "--out",
            threads,
            "-q",
        ]);
    }
    for name in ["sources.npy", "history.csv", "scores.csv"] {
        assert_eq!(
            place.read(&format!("1/{name}")),
            place.read(&format!("3/{name}"))
        );
    }
}

#[test]
fn evaluate_matches_sources_whatever_their_order_and_sign() {
    let place = Place::new();
    let rows = |f: &dyn Fn(f64) -> String| (0..50).map(|t| f(f64::from(t))).collect::<String>();
    place.write(
        "true.csv",
        format!(
            "a,b\n{}",
            rows(&|t| format!("{},{}\n", t.sin(), (0.3 * t).cos()))
        ),
    );
    place.write(
        "found.csv",
        format!(
            "x,y\n{}",
            rows(&|t| format!("{},{}\n", -2.0 * (0.3 * t).cos(), t.sin() + 5.0))
        ),
    );
    let ran = place.done(&["evaluate", "found.csv", "true.csv"]);
    snapshot("evaluate.txt", &ran.stdout);
    let ran = place.done(&["evaluate", "found.csv", "true.csv", "--json"]);
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!((json["mac"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert_eq!(json["sources"][0]["reference"], "b");
    assert_eq!(json["sources"][0]["sign"], -1.0);
}

#[test]
fn every_generator_writes_a_problem_that_can_be_separated() {
    let place = Place::new();
    let kinds = [
        ("gp", "linear"),
        ("gpclose", "pnl"),
        ("sines", "mlp2"),
        ("ar", "mlp3"),
        ("nonsmooth", "linear"),
        ("switchingar", "leakymlp2"),
        ("segmentlaplace", "leakymlp3"),
        ("segmentgaussian", "tanhmlp3"),
        ("lorenz", "asinh"),
        ("lorenzsurrogates", "linear"),
    ];
    for (kind, mixing) in kinds {
        let arguments = [
            "generate",
            kind,
            "--mixing",
            mixing,
            "--samples",
            "400",
            "-k",
            "2",
            "--channels",
            "3",
            "--noise",
            "0.1",
            "--seed",
            "5",
            "--out",
            kind,
        ];
        place.done(&arguments);
        let problem = place.json(&format!("{kind}/problem.json"));
        assert_eq!(problem["mixing"], mixing);
        assert_eq!(problem["matrix"].is_null(), mixing != "linear");
        let again = [&arguments[..], &["--overwrite", "-q"]].concat();
        let before = place.read(&format!("{kind}/observations.npy"));
        assert_eq!(place.strt(&arguments).status, 1, "the folder exists");
        place.done(&again);
        assert_eq!(place.read(&format!("{kind}/observations.npy")), before);
        let input = format!("{kind}/observations.npy");
        let reference = format!("{kind}/true_sources.csv");
        let arguments = [
            "separate",
            &input,
            "-k",
            "2",
            "--reference",
            &reference,
            "--out",
            "run",
            "--overwrite",
            "-q",
        ];
        place.done(&[&arguments[..], &SMALL].concat());
        assert!(
            place.json("run/summary.json")["scores"]["mac"]
                .as_f64()
                .unwrap()
                > 0.0
        );
    }
}

#[test]
fn transform_gives_the_sources_of_the_same_recording_again() {
    let place = Place::new();
    place.problem("300");
    place.done(
        &[
            &[
                "separate",
                "data/observations.csv",
                "-k",
                "3",
                "-o",
                "run",
                "-q",
            ][..],
            &SMALL,
        ]
        .concat(),
    );
    place.done(&[
        "transform",
        "run",
        "data/observations.csv",
        "--out",
        "again.csv",
    ]);
    let json = place
        .done(&["evaluate", "again.csv", "run/sources.csv", "--json"])
        .stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["worst"].as_f64().unwrap() > 1.0 - 1e-9, "{json}");
    // Channels are found by name, in any order and among others.
    let text = place.text("data/observations.csv");
    let shuffled: String = text
        .lines()
        .map(|line| {
            let mut cells: Vec<&str> = line.split(',').skip(1).collect();
            cells.reverse();
            let extra = if line.starts_with("sample") {
                "extra"
            } else {
                "0.5"
            };
            format!("{},{extra}\n", cells.join(","))
        })
        .collect();
    place.write("shuffled.csv", shuffled);
    let ran = place.done(&[
        "transform",
        "run/model.safetensors",
        "shuffled.csv",
        "--out",
        "third.csv",
    ]);
    assert!(ran.stderr.contains("taken by name"), "{}", ran.stderr);
    assert_eq!(place.text("third.csv"), place.text("again.csv"));
    // The default name, once only.
    place.done(&["transform", "run", "shuffled.csv", "-q"]);
    let ran = place.strt(&["transform", "run", "shuffled.csv"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("shuffled.sources.npy: the file exists"),
        "{}",
        ran.stderr
    );
    // A recording of other channels is refused.
    place.write("few.csv", "a,b\n1,2\n2,3\n4,1\n");
    let ran = place.strt(&["transform", "run", "few.csv"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("expected the 6 channels of the model"),
        "{}",
        ran.stderr
    );
}

#[test]
fn transform_optimises_sources_that_are_free_in_every_sample() {
    let place = Place::new();
    place.problem("300");
    let run = [
        "separate",
        "data/observations.csv",
        "-k",
        "3",
        "--mixer",
        "mlp",
        "--set",
        "sources.coordinates=fiber",
        "-o",
        "run",
        "-q",
    ];
    place.done(&[&run[..], &SMALL].concat());
    assert!(
        !place.names("run").contains(&"mixer.json".to_string()),
        "only affine mixers are a matrix"
    );
    let ran = place.done(&[
        "transform",
        "run",
        "data/observations.csv",
        "--steps",
        "3",
        "--out",
        "new.npy",
    ]);
    assert!(
        ran.stdout.contains("300 samples of 3 sources: new.npy"),
        "{}",
        ran.stdout
    );
}

#[test]
fn info_says_what_files_of_every_kind_hold() {
    let place = Place::new();
    place.problem("300");
    place.done(
        &[
            &[
                "separate",
                "data/observations.csv",
                "-k",
                "2",
                "-o",
                "run",
                "-q",
            ][..],
            &SMALL,
        ]
        .concat(),
    );
    let methods = ["--methods", "sobi,amuse", "--out", "compared", "-q"];
    place.done(
        &[
            &["compare", "data/observations.csv", "-k", "2"][..],
            &methods,
        ]
        .concat(),
    );
    for (file, words) in [
        (fixture("plain.edf"), "EDF"),
        (fixture("packed.npz"), "--variable"),
        (fixture("v73.mat"), "MATLAB"),
        ("run".into(), "a finished run"),
        ("run/model.safetensors".into(), "a model of 2 sources"),
        ("data".into(), "a problem generated by strt"),
        ("compared".into(), "methods compared by strt"),
    ] {
        let ran = place.done(&["info", &file]);
        assert!(ran.stdout.contains(words), "{file}: {}", ran.stdout);
        let json = place.done(&["info", &file, "--json"]).stdout;
        serde_json::from_str::<serde_json::Value>(&json).expect("JSON");
    }
    let ran = place.strt(&["info", "."]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("expected files, the folder of a run"),
        "{}",
        ran.stderr
    );
    // A summary of another layout is refused by the field that is missing.
    place.write("run/summary.json", "{\"command\": \"strt separate\"}");
    let ran = place.strt(&["info", "run"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr
            .contains("run/summary.json: expected what strt wrote: missing field"),
        "{}",
        ran.stderr
    );
    place.write("other.safetensors", "not tensors");
    assert_eq!(place.strt(&["info", "other.safetensors"]).status, 1);
}

#[test]
fn the_printed_configuration_is_one_that_can_be_used() {
    let place = Place::new();
    place.problem("300");
    for preset in ["default", "paper"] {
        let text = place.done(&["config", "--preset", preset]).stdout;
        assert!(
            text.contains("# Share of patches that are hidden"),
            "{text}"
        );
        place.write("own.toml", text);
        let file = [
            "separate",
            "data/observations.csv",
            "-k",
            "2",
            "--config",
            "own.toml",
            "-o",
            "file",
            "-q",
        ];
        let named = [
            "separate",
            "data/observations.csv",
            "-k",
            "2",
            "--preset",
            preset,
            "-o",
            "named",
            "-q",
        ];
        for arguments in [file, named] {
            place.done(&[&arguments[..], &["--steps", "2", "--overwrite"]].concat());
        }
        assert_eq!(
            place.text("file/config.toml"),
            place.text("named/config.toml")
        );
        assert_eq!(
            place.read("file/sources.npy"),
            place.read("named/sources.npy")
        );
    }
}

#[test]
fn completions_and_manual_pages_name_the_commands() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.done(&["completions", shell]).stdout;
        assert!(
            script.contains("separate") && script.contains("overwrite"),
            "{shell}"
        );
    }
    assert!(place.done(&["man"]).stdout.contains(".TH strt 1"));
    place.done(&["man", "--out", "pages"]);
    assert!(
        place
            .names("pages")
            .contains(&"strt-separate.1".to_string())
    );
}

#[test]
fn compare_scores_methods_with_and_without_a_reference() {
    let place = Place::new();
    place.problem("400");
    let fixed = [
        "compare",
        "data/observations.csv",
        "-k",
        "3",
        "--steps",
        "3",
    ];
    let ran = place.done(
        &[
            &fixed[..],
            &["--reference", "data/true_sources.csv", "--out", "scored"],
        ]
        .concat(),
    );
    for words in ["MAC", "stability", "sobi", "scored/compare.html"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    let summary = place.json("scored/summary.json");
    let methods = summary["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 11);
    let sobi = methods
        .iter()
        .find(|method| method["method"] == "sobi")
        .unwrap();
    assert!(sobi["mac"].as_f64().unwrap() > 0.9);
    let files = place.names("scored");
    for file in [
        "picard.npy",
        "picard.csv",
        "picard_mixing.csv",
        "strt_denoised.csv",
    ] {
        assert!(files.contains(&file.to_string()), "{file}: {files:?}");
    }
    let refused = place.strt(&[&fixed[..], &["--format", "edf", "--overwrite"]].concat());
    assert!(
        refused.status == 1 && refused.stderr.contains("which EDF needs"),
        "{}",
        refused.stderr
    );
    let ran = place.done(&[&fixed[..], &["--methods", "sobi,amuse", "-q", "--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(
        json["methods"][0]["mac"].is_null()
            && json["methods"][0]["predictability"].as_f64().unwrap() > 0.5
    );
    assert!(json["agreement"][0][1].as_f64().unwrap() > 0.5);
    assert!(
        place
            .text("observations.compare/compare.html")
            .contains("Sources side by side")
    );
    let ran = place.strt(&["compare", "data/observations.csv", "-k", "9", "--overwrite"]);
    assert!(
        ran.status == 1 && ran.stderr.contains("at most 6 sources"),
        "{}",
        ran.stderr
    );
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_not_an_error() {
    use std::process::Stdio;
    let place = Place::new();
    let mut child = place
        .command(&["config"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
