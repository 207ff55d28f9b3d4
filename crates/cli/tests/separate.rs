//! `strt separate` from end to end: the files it leaves, every format it reads, what it replaces.

mod common;

use common::{Place, SMALL, fixture, run, separate};
use serde_json::Value;

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
            "mat,parquet,wav,wavs,flac,edf",
        ],
    );
    assert_eq!(
        place.names("run"),
        [
            ".strt",
            "config.toml",
            "denoised.csv",
            "denoised.edf",
            "denoised.flac",
            "denoised.mat",
            "denoised.npy",
            "denoised.parquet",
            "denoised.s1.wav",
            "denoised.s2.wav",
            "denoised.s3.wav",
            "denoised.wav",
            "denoised.wavs.csv",
            "denoised_std.npy",
            "history.csv",
            "labels.csv",
            "mixer.json",
            "model.safetensors",
            "report.html",
            "scores.csv",
            "sources.csv",
            "sources.edf",
            "sources.flac",
            "sources.mat",
            "sources.npy",
            "sources.parquet",
            "sources.s1.wav",
            "sources.s2.wav",
            "sources.s3.wav",
            "sources.wav",
            "sources.wavs.csv",
            "summary.json",
            "verdicts.csv",
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
            "strt separate data/observations.csv --sources 3 --steps 4 --set \
             'branches.patch_sizes=[4, 8]'"
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
    assert_eq!(
        place.read("again/sources.npy"),
        place.read("run/sources.npy")
    );
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
        summary["source_count"]["eigenvalues"]
            .as_array()
            .unwrap()
            .len(),
        6
    );
    let shares = summary["source_count"]["shares"].as_array().unwrap();
    assert_eq!(shares[0]["n_sources"], 3);
    assert_eq!(summary["source_count"]["components"][3]["kept"], false);
    assert!(place.text("run/report.html").contains("Structure in time"));
}

#[test]
fn the_number_can_be_estimated_from_eigenvalues_too() {
    let place = Place::new();
    place.problem("1000");
    let arguments = "separate data/observations.csv -k mdl -o run";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let ran = place.done(&[&arguments[..], &SMALL].concat());
    assert!(ran.stderr.contains("sources: 3. 3 of 6"), "{}", ran.stderr);
    let summary = place.json("run/summary.json");
    assert_eq!(summary["source_count"]["n_sources"], 3);
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
