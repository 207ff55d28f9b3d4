//! `strt separate` from end to end: the files it leaves, every format it reads, runs that are stopped and resumed.

mod common;

use common::{Place, Ran, SMALL, fixture};
use serde_json::Value;

fn separate(more: &[&str]) -> Vec<String> {
    let fixed = ["separate", "data/observations.csv", "--sources", "3"];
    let words = fixed.iter().chain(&SMALL).chain(more);
    words.map(|word| word.to_string()).collect()
}

fn run(place: &Place, more: &[&str]) -> Ran {
    let arguments = separate(more);
    place.done(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The numbers of a 32-bit NPY file, row by row.
fn npy(bytes: &[u8]) -> (String, Vec<f32>) {
    let header = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    let text = String::from_utf8_lossy(&bytes[10..10 + header]).into_owned();
    let values = bytes[10 + header..].chunks_exact(4);
    let values = values
        .map(|four| f32::from_le_bytes(four.try_into().unwrap()))
        .collect();
    (text, values)
}

#[test]
fn the_folder_has_every_file_of_the_contract() {
    let place = Place::new();
    place.problem("300");
    let ran = run(
        &place,
        &[
            "--out",
            "run",
            "--reference",
            "data/true_sources.csv",
            "--rate",
            "250",
            "--format",
            "mat,parquet,wav",
        ],
    );
    assert_eq!(
        place.names("run"),
        [
            ".strt",
            "config.toml",
            "history.csv",
            "mixer.json",
            "model.safetensors",
            "report.html",
            "scores.csv",
            "sources.csv",
            "sources.mat",
            "sources.npy",
            "sources.parquet",
            "sources.wav",
            "summary.json",
        ]
    );
    // What was detected is said, the progress too, and where the report is.
    for words in [
        "300 samples × 6 channels, 250 Hz",
        "delimiter: `,`",
        "step 4/4",
        "steps/s",
        "reconstruction",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    for words in ["run/report.html", "warning: not converged", "--steps 8"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }

    let (header, sources) = npy(&place.read("run/sources.npy"));
    assert!(
        header.contains("'<f4'") && header.contains("(300, 3)"),
        "{header}"
    );
    let csv = place.text("run/sources.csv");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("time,s1,s2,s3"));
    let second: Vec<f64> = lines
        .nth(1)
        .unwrap()
        .split(',')
        .map(|cell| cell.parse().unwrap())
        .collect();
    assert_eq!(second[0], 0.004);
    assert_eq!(second[1] as f32, sources[3]);

    // The mixer gives the channels back: 3 sources explain them but for the noise.
    let mixer = place.json("run/mixer.json");
    assert_eq!(mixer["channels"].as_array().unwrap().len(), 6);
    assert_eq!(mixer["sources"], serde_json::json!(["s1", "s2", "s3"]));
    let observed: Vec<f64> = place
        .text("data/observations.csv")
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .skip(1)
        .map(|cell| cell.parse().unwrap())
        .collect();
    for (c, value) in observed.iter().enumerate() {
        let terms = (0..3).map(|k| mixer["matrix"][c][k].as_f64().unwrap() * f64::from(sources[k]));
        let rebuilt = terms.sum::<f64>() + mixer["offset"][c].as_f64().unwrap();
        assert!(
            (rebuilt - value).abs() < 0.2,
            "channel {c}: {rebuilt} for {value}"
        );
    }

    let summary = place.json("run/summary.json");
    for key in [
        "versions",
        "command",
        "input",
        "restarts",
        "warnings",
        "objective",
        "branches",
        "scores",
        "files",
    ] {
        assert!(!summary[key].is_null(), "{key}");
    }
    assert_eq!(summary["samples"], 300);
    assert_eq!(summary["channels"], 6);
    assert_eq!(summary["sources"], 3);
    assert_eq!(summary["seed"], 0);
    assert_eq!(summary["stop_reason"], "step_limit");
    assert_eq!(summary["converged"], false);
    assert_eq!(summary["branches"][2]["source"], "s3");
    assert!(summary["branches"][0]["slope"].as_f64() > summary["branches"][2]["slope"].as_f64());
    assert!(summary["objective"]["structure"].is_number());
    assert!(summary["wall_seconds"].as_f64().unwrap() > 0.0);
    assert!(summary["steps_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(summary["scores"]["per_source"].as_array().unwrap().len(), 3);
    let command = summary["command"].as_str().unwrap();
    assert!(
        command.starts_with(
            "strt separate data/observations.csv --sources 3 --steps 4 --set 'branches.patch_sizes=[4, 8]'"
        ),
        "{command}"
    );

    let history = place.text("run/history.csv");
    let header: Vec<&str> = history.lines().next().unwrap().split(',').collect();
    for column in [
        "restart",
        "step",
        "objective",
        "structure",
        "center_1",
        "slope_3",
        "weight_2_p4",
        "energy_3_p8",
    ] {
        assert!(header.contains(&column), "{column}");
    }
    assert_eq!(history.lines().count(), 3, "header, first and last step");
    let report = place.text("run/report.html");
    assert!(report.len() < 6_000_000 && report.contains(command.split(" --set").next().unwrap()));

    // The configuration that was written gives the same sources again.
    place.done(&[
        "separate",
        "data/observations.csv",
        "--config",
        "run/config.toml",
        "--rate",
        "250",
        "-o",
        "again",
        "-q",
    ]);
    assert_eq!(place.read("again/sources.npy"), place.read("run/sources.npy"));
}

#[test]
fn json_is_the_summary_and_quiet_is_silent() {
    let place = Place::new();
    place.problem("300");
    let ran = run(&place, &["--out", "run", "--json", "--quiet"]);
    let printed: Value = serde_json::from_str(&ran.stdout).expect("JSON only");
    assert_eq!(printed, place.json("run/summary.json"));
    assert_eq!(ran.stderr, "");
    let ran = run(&place, &["--quiet"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert!(
        place.path("observations.strt/summary.json").is_file(),
        "the default folder"
    );
}

#[test]
fn the_number_of_sources_can_be_estimated() {
    let place = Place::new();
    place.problem("1000");
    let arguments = [
        "separate",
        "data/observations.csv",
        "--sources",
        "auto",
        "-o",
        "run",
    ];
    let ran = place.done(&[&arguments[..], &SMALL].concat());
    assert!(ran.stderr.contains("sources: 3."), "{}", ran.stderr);
    let summary = place.json("run/summary.json");
    assert_eq!(summary["source_count"]["n_sources"], 3);
    assert_eq!(
        summary["source_count"]["eigenvalues"].as_array().unwrap().len(),
        6
    );
    assert!(place.text("run/report.html").contains("description length"));
}

#[test]
fn later_settings_win_over_earlier_ones() {
    let place = Place::new();
    place.problem("300");
    place.write("own.toml", "seed = 5\n[weights]\nsmoothness = 0.7\n");
    run(
        &place,
        &[
            "-o",
            "run",
            "-q",
            "--config",
            "own.toml",
            "--set",
            "weights.entropy=0.5",
            "--set",
            "seed=6",
            "--seed",
            "7",
        ],
    );
    let text = place.text("run/config.toml");
    for line in [
        "seed = 7",
        "smoothness = 0.7",
        "entropy = 0.5",
        "n_sources = 3",
        "steps = 4",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}: {text}");
    }
}

#[test]
fn channels_and_time_can_be_chosen_and_missing_values_are_counted() {
    let place = Place::new();
    place.problem("400");
    let with_gap: String = place
        .text("data/observations.csv")
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            match i {
                151..=160 => format!("{},,{}\n", cells[0], cells[2..].join(",")),
                _ => format!("{line}\n"),
            }
        })
        .collect();
    place.write("gap.csv", with_gap);
    let arguments = [
        "separate",
        "gap.csv",
        "-k",
        "2",
        "-o",
        "run",
        "--rate",
        "100",
        "--channels",
        "ch1,3-5",
        "--start",
        "0.5",
        "--stop",
        "3.5",
    ];
    let ran = place.done(&[&arguments[..], &SMALL].concat());
    assert!(
        ran.stderr.contains("10 samples with missing values"),
        "{}",
        ran.stderr
    );
    let summary = place.json("run/summary.json");
    assert_eq!(
        summary["input"]["channel_names"],
        serde_json::json!(["ch1", "ch3", "ch4", "ch5"])
    );
    assert_eq!(
        (&summary["samples"], &summary["input"]["missing_samples"]),
        (&300.into(), &10.into())
    );
    let (_, sources) = npy(&place.read("run/sources.npy"));
    let missing: Vec<usize> = (0..300).filter(|&t| sources[2 * t].is_nan()).collect();
    assert_eq!(missing, (100..110).collect::<Vec<_>>());
}

#[test]
fn a_reference_of_the_whole_recording_is_cut_like_the_recording() {
    let place = Place::new();
    place.problem("400");
    let span = [
        "--rate",
        "100",
        "--start",
        "1",
        "--stop",
        "3",
        "--reference",
        "data/true_sources.npy",
        "-o",
        "run",
        "-q",
    ];
    run(&place, &span);
    let summary = place.json("run/summary.json");
    assert_eq!(summary["samples"], 200);
    let text = place.text("data/true_sources.csv");
    let cut: Vec<&str> = text
        .lines()
        .enumerate()
        .filter(|(i, _)| *i == 0 || (101..301).contains(i))
        .map(|(_, line)| line)
        .collect();
    place.write("cut.csv", cut.join("\n"));
    let span = [
        "--rate",
        "100",
        "--start",
        "1",
        "--stop",
        "3",
        "--reference",
        "cut.csv",
        "-o",
        "again",
        "-q",
    ];
    run(&place, &span);
    // The same but for the 32 bits of the NPY file.
    let mac = |name: &str| place.json(name)["scores"]["mac"].as_f64().unwrap();
    assert!((mac("run/summary.json") - mac("again/summary.json")).abs() < 1e-6);
}

#[test]
fn every_format_is_separated() {
    let place = Place::new();
    let files: [(&str, &[&str]); 25] = [
        ("comma.csv", &[]),
        ("tabs.tsv", &[]),
        ("savetxt.txt", &[]),
        ("fortran.npy", &[]),
        ("big_fortran.npy", &[]),
        ("npy_bi4.npy", &[]),
        ("plain.npz", &[]),
        ("packed.npz", &["--variable", "eeg"]),
        ("plain.mat", &[]),
        ("packed.mat", &["--variable", "x"]),
        ("v73.mat", &[]),
        ("plain.edf", &[]),
        ("plus.edf", &[]),
        ("plain.bdf", &[]),
        ("pcm_u8.wav", &[]),
        ("pcm_24.wav", &[]),
        ("float.wav", &[]),
        ("zstd.parquet", &[]),
        ("inside.set", &[]),
        ("beside.set", &[]),
        ("w16.hea", &[]),
        ("w24.hea", &[]),
        ("w32.hea", &[]),
        ("w80.hea", &[]),
        ("w212.hea", &[]),
    ];
    for (name, options) in files {
        let input = fixture(name);
        let fixed = [
            "separate",
            &input,
            "-k",
            "1",
            "-o",
            "run",
            "--overwrite",
            "-q",
            "--steps",
            "1",
            "--set",
            "branches.patch_sizes=[2, 4]",
        ];
        place.done(&[&fixed[..], options].concat());
        let summary = place.json("run/summary.json");
        let (header, _) = npy(&place.read("run/sources.npy"));
        let shape = format!("({}, 1)", summary["samples"]);
        assert!(header.contains(&shape), "{name}: {header}");
    }
}

#[test]
fn restarts_are_listed_and_the_best_is_kept() {
    let place = Place::new();
    place.problem("300");
    let ran = run(&place, &["-o", "run", "--restarts", "3"]);
    assert!(ran.stdout.contains("of 3 kept"), "{}", ran.stdout);
    let summary = place.json("run/summary.json");
    let restarts = summary["restarts"].as_array().unwrap();
    let objective = |restart: &Value| restart["objective"].as_f64().unwrap();
    let best = restarts
        .iter()
        .min_by(|a, b| objective(a).total_cmp(&objective(b)))
        .unwrap();
    assert_eq!(best["restart"], summary["kept_restart"]);
    assert_eq!(place.text("run/history.csv").lines().count(), 1 + 3 * 2);
}

#[test]
fn a_folder_is_replaced_only_when_asked_and_only_if_strt_wrote_it() {
    let place = Place::new();
    place.problem("300");
    run(&place, &["-o", "run", "-q"]);
    let first = place.read("run/sources.npy");
    let refuse = |more: &[&str], words: &str| {
        let arguments = separate(more);
        let ran = place.strt(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert!([1, 2].contains(&ran.status), "{more:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{more:?}: {}", ran.stderr);
    };
    refuse(
        &["-o", "run"],
        "the folder exists; choose another --out, or replace it with --overwrite",
    );
    run(&place, &["-o", "run", "-q", "--overwrite", "--seed", "9"]);
    assert_ne!(place.read("run/sources.npy"), first);
    assert_eq!(
        place
            .names("")
            .iter()
            .filter(|name| name.starts_with("run"))
            .count(),
        1
    );
    std::fs::create_dir(place.path("mine")).unwrap();
    run(&place, &["-o", "mine", "-q", "--overwrite"]); // an empty folder may be filled
    place.write("file", "x");
    // Whatever a person put into a folder of strt, or beside it, stays.
    place.write("mine/thesis.txt", "work");
    refuse(
        &["-o", "mine", "--overwrite"],
        "holds `thesis.txt`, which strt did not write, so it is not replaced",
    );
    std::fs::create_dir(place.path("new.partial")).unwrap();
    place.write("new.partial/thesis.txt", "work");
    refuse(&["-o", "new"], "new.partial: expected nothing there");
    assert_eq!(place.names("new.partial"), ["thesis.txt"]);
    refuse(&["-o", "run.partial"], "kept for unfinished folders");
    refuse(
        &["-o", "data", "--overwrite"],
        "the folder holds data/observations.csv",
    );
    assert!(place.path("data/observations.csv").is_file());
    std::fs::create_dir(place.path("project")).unwrap();
    place.write("project/summary.json", "{}");
    refuse(&["-o", "project", "--overwrite"], "was not written by strt");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(place.path("run"), place.path("link")).unwrap();
        run(&place, &["-o", "link", "-q", "--overwrite", "--seed", "3"]);
        assert!(place.path("link").is_symlink() && place.path("run/summary.json").is_file());
        std::os::unix::fs::symlink(place.path("nowhere"), place.path("dangling")).unwrap();
        refuse(&["-o", "dangling"], "cannot follow the link");
    }
    refuse(
        &["-o", "file", "--overwrite"],
        "expected a folder or nothing, found a file",
    );
}

#[cfg(unix)]
mod stopped {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    const FILES: [&str; 7] = [
        "sources.npy",
        "sources.csv",
        "mixer.json",
        "model.safetensors",
        "history.csv",
        "scores.csv",
        "config.toml",
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
        // Once in the first restart, once in the second.
        let mut child = started(&place, &arguments("run", "600"), "step 120/600");
        signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let summary = place.json("run/summary.json");
        assert_eq!(summary["stop_reason"], "interrupted");
        assert!(place.path("run/report.html").is_file());
        let info = place.done(&["info", "run"]).stdout;
        assert!(
            info.contains("an unfinished run") && info.contains("restart 1 of 2"),
            "{info}"
        );

        let resume = ["separate", "--resume", "run"].map(String::from);
        let mut child = started(&place, &resume, "restart 2");
        signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let ran = place.done(&["separate", "--resume", "run"]);
        assert!(ran.stderr.contains("resumed after step"), "{}", ran.stderr);
        same_bits(&place);

        let ran = place.strt(&["separate", "--resume", "run"]);
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
        let mut child = started(&place, &words, "restart 2");
        signal(&child, "KILL");
        child.wait().unwrap();
        assert!(!place.path("run").exists());
        // The crash may have come between two files: whatever is ahead of the checkpoint is dropped.
        let history = place.text("run.partial/history.csv");
        let last = history.lines().last().unwrap();
        let (restart, rest) = last.split_once(',').unwrap();
        let (_, values) = rest.split_once(',').unwrap();
        place.write(
            "run.partial/history.csv",
            format!("{history}{restart},59,{values}\n"),
        );

        let words = arguments("run", "60");
        let ran = place.strt(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ran.status, 1);
        assert!(ran.stderr.contains("--resume run.partial"), "{}", ran.stderr);
        place.done(&["separate", "--resume", "run.partial", "--quiet"]);
        same_bits(&place);
    }

    #[test]
    fn resuming_on_another_recording_is_refused() {
        let place = Place::new();
        place.problem("300");
        let mut child = started(&place, &arguments("run", "600"), "step 30/600");
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
        let ran = place.strt(&["separate", "--resume", "run"]);
        assert_eq!(ran.status, 1);
        assert!(ran.stderr.contains("run: saved state"), "{}", ran.stderr);
        assert_eq!(place.names("run"), before);
        // A recording that was moved is asked for, and taken from where it is said to be.
        std::fs::remove_dir_all(place.path("data")).unwrap();
        place.problem("300");
        std::fs::rename(place.path("data"), place.path("moved")).unwrap();
        let ran = place.strt(&["separate", "--resume", "run"]);
        assert_eq!(ran.status, 1);
        assert!(ran.stderr.contains("where is it now"), "{}", ran.stderr);
        let words = [
            "separate",
            "moved/observations.csv",
            "--resume",
            "run",
            "--reference",
            "moved/true_sources.csv",
            "-q",
        ];
        place.done(&words);
        assert_eq!(place.json("run/summary.json")["stop_reason"], "step_limit");
    }

    #[test]
    fn a_finished_result_is_not_replaced_by_an_unfinished_one() {
        let place = Place::new();
        place.problem("300");
        run(&place, &["-o", "run", "-q"]);
        let finished = place.read("run/sources.npy");
        let mut words = arguments("run", "600");
        words.push("--overwrite".into());
        let mut child = started(&place, &words, "step 30/600");
        signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(place.read("run/sources.npy"), finished);
        // Another start discards it, and what was begun cannot be taken for what it was asked later.
        let mut child = started(
            &place,
            &[&words[..], &["--seed".into(), "5".into()]].concat(),
            "step 30/600",
        );
        signal(&child, "KILL");
        child.wait().unwrap();
        assert!(!place.path("run.partial/checkpoint.safetensors").exists());
        let mut child = started(&place, &words, "step 30/600");
        signal(&child, "INT");
        child.wait().unwrap();
        // Both names lead to it.
        place.done(&["separate", "--resume", "run", "--quiet"]);
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
        std::fs::copy(place.path("data/observations.csv"), place.path("").join(odd)).unwrap();
        let output = place.command(&["separate", "-k", "3"]).arg(odd).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains("expected a path in UTF-8"));
    }

    #[test]
    fn two_runs_do_not_share_a_folder() {
        let place = Place::new();
        place.problem("300");
        let mut child = started(&place, &arguments("run", "600"), "step 30/600");
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
        // Nothing to resume was left yet, so the folder is used again.
        assert!(place.path("run.partial").is_dir());
        run(&place, &["-o", "run", "-q"]);
        assert!(!place.path("run.partial").exists());
    }
}
