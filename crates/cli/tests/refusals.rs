//! Bad input: one message each, exit status 1 or 2, and nothing left behind. The messages are in
//! `snapshots/refusals.txt`.

mod common;

use common::{Place, fixture, refused, snapshot};
use std::fmt::Write;
use strt_testing::{Missing, skip};

/// Words that differ from run to run.
fn anonymous(text: &str) -> String {
    text.replace(&fixture(""), "FIXTURES/")
}

#[test]
fn every_refusal_is_one_message_and_leaves_nothing() {
    let place = Place::new();
    place.problem("300");
    place.write("empty.csv", "");
    place.write("ragged.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n");
    place.write("word.csv", "Fz,Cz\n1,2\n3,broken\n4,5\n");
    place.write("text.npy", "a,b\n1,2\n3,4\n");
    place.write("short.csv", "a,b\n1,2\n3,5\n2,9\n");
    place.write("constant.csv", format!("a,b\n{}", "1,2\n".repeat(100)));
    place.write("bad.toml", "[weights]\nsmothness = 1\n");
    place.write("broken.toml", "seed = = 1\n");
    std::fs::create_dir(place.path("folder")).unwrap();
    std::fs::create_dir(place.path("taken")).unwrap();
    place.write("taken/file", "x");
    for name in [
        "fortran.npy",
        "plain.npz",
        "plain.mat",
        "v73.mat",
        "plain.edf",
        "plain.bdf",
        "pcm_16.wav",
        "none.parquet",
        "inside.set",
    ] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        place.write(&format!("cut_{name}"), &bytes[..bytes.len() * 2 / 3]);
    }
    std::fs::copy(fixture("w16.hea"), place.path("w16.hea")).unwrap();
    let bytes = std::fs::read(fixture("w16.dat")).unwrap();
    place.write("w16.dat", &bytes[..bytes.len() / 2]);
    place.write("cut.csv", "a,b,c\n1,2,3\n4,5,6\n7,8");
    // An EDF that says it has no channels.
    let mut edf = std::fs::read(fixture("plain.edf")).unwrap();
    edf[252..256].copy_from_slice(b"0   ");
    edf[184..192].copy_from_slice(b"256     ");
    edf.truncate(256);
    place.write("no_channels.edf", edf);
    let objects = fixture("objects.npy");

    let good = "data/observations.csv";
    let cases: Vec<Vec<&str>> = vec![
        vec!["absent.csv", "-k", "2"],
        vec!["folder", "-k", "2"],
        vec!["empty.csv", "-k", "2"],
        vec!["ragged.csv", "-k", "2"],
        vec!["word.csv", "-k", "2"],
        vec!["text.npy", "-k", "2"],
        vec!["no_channels.edf", "-k", "2"],
        vec![&objects, "-k", "2"],
        vec!["cut.csv", "-k", "2"],
        vec!["cut_fortran.npy", "-k", "2"],
        vec!["cut_plain.npz", "-k", "2"],
        vec!["cut_plain.mat", "-k", "2"],
        vec!["cut_v73.mat", "-k", "2"],
        vec!["cut_plain.edf", "-k", "2"],
        vec!["cut_plain.bdf", "-k", "2"],
        vec!["cut_pcm_16.wav", "-k", "2"],
        vec!["cut_none.parquet", "-k", "2"],
        vec!["cut_inside.set", "-k", "2"],
        vec!["w16.hea", "-k", "2"],
        vec![good, "-k", "0"],
        vec![good, "-k", "-1"],
        vec![good, "-k", "many"],
        vec![good, "-k", "7"],
        vec![good],
        vec!["short.csv", "-k", "2"],
        vec!["constant.csv", "-k", "1"],
        vec!["constant.csv", "-k", "auto"],
        vec![good, "-k", "2", "--config", "bad.toml"],
        vec![good, "-k", "2", "--config", "broken.toml"],
        vec![good, "-k", "2", "--config", "absent.toml"],
        vec![good, "-k", "2", "--set", "weights.smothness=1"],
        vec![good, "-k", "2", "--set", "weights.smoothness=-1"],
        vec![good, "-k", "2", "--set", "mixer.kind=custom"],
        vec![good, "-k", "2", "--steps", "0"],
        vec![good, "-k", "2", "--restarts", "0"],
        vec![good, "-k", "2", "--rate", "-5"],
        vec![good, "-k", "2", "--channels", "Fz"],
        vec![good, "-k", "2", "--start", "1"],
        vec![
            good, "-k", "2", "--rate", "100", "--start", "2", "--stop", "1",
        ],
        vec![good, "-k", "2", "--format", "xls"],
        vec![good, "-k", "2", "--format", "wav"],
        vec![good, "-k", "2", "--log-every", "0"],
        vec![good, "-k", "2", "--reference", "absent.csv"],
        vec![good, "-k", "2", "--reference", "short.csv"],
        vec![good, "-k", "2", "--reference", "average"],
        vec![good, "-k", "2", "--bad-segments", "annotation"],
        vec![good, "-k", "2", "--notch", "50Hz"],
        vec![good, "-k", "2", "--notch", "50"],
        vec![good, "-k", "2", "--out", "taken"],
        vec![good, "-k", "2", "--out", "taken", "--overwrite"],
        vec![good, "-k", "2", "--out", "empty.csv"],
        vec![good, "-k", "2", "--out", "empty.csv/inside"],
        vec![good, "-k", "2", "--out", "/"],
        vec![good, "-k", "2", "--presett", "paper"],
        vec!["--resume", "absent"],
        vec!["--resume", "folder"],
        vec!["--resume", "folder", "--steps", "5"],
        vec!["--resume"],
    ];
    let before = place.names("");
    let mut text = String::new();
    for case in cases {
        let arguments = [&["separate"][..], &case].concat();
        // Where a case should be refused and is not, it must not take long.
        let quick = ["--set", "optimizer.steps=1"];
        let arguments = if case.contains(&"--resume") || case.contains(&"--steps") {
            arguments
        } else {
            [&arguments[..], &quick].concat()
        };
        let ran = place.strt(&arguments);
        let shown = anonymous(&case.join(" "));
        assert!(
            [1, 2].contains(&ran.status),
            "strt separate {shown}: status {}\n{}\n{}",
            ran.status,
            ran.stdout,
            ran.stderr
        );
        assert_eq!(ran.stdout, "", "strt separate {shown}");
        assert_eq!(
            place.names(""),
            before,
            "strt separate {shown} left something"
        );
        // What was detected comes first; the message is what follows.
        let message = ran
            .stderr
            .find("error: ")
            .map_or("", |at| &ran.stderr[at..]);
        assert!(
            !message.is_empty() && !ran.stderr.contains("panicked"),
            "{shown}: {}",
            ran.stderr
        );
        writeln!(
            text,
            "$ strt separate {shown}\n{}[{}]\n",
            anonymous(message),
            ran.status
        )
        .unwrap();
    }
    snapshot("refusals.txt", &text);
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.write("secret.csv", "a,b\n1,2\n3,4\n");
    std::fs::set_permissions(
        place.path("secret.csv"),
        std::fs::Permissions::from_mode(0o000),
    )
    .unwrap();
    if std::fs::read(place.path("secret.csv")).is_ok() {
        skip(Missing::Permissions);
        return;
    }
    let ran = place.strt(&["separate", "secret.csv", "-k", "1"]);
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("secret.csv: cannot read"),
        "{}",
        ran.stderr
    );
}

/// Separates on a file system of so many kB, in a name space of our own, so that no rights are
/// needed, then runs a script there. `None` where nothing may be mounted.
#[cfg(target_os = "linux")]
fn on_a_small_disk(place: &Place, size: u32, options: &str, then: &str) -> Option<common::Ran> {
    use std::process::Command;
    place.problem("300");
    std::fs::create_dir(place.path("disk")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size={size}k tmpfs disk || exit 99
         strt() {{ {} \"$@\"; }}
         strt separate data/observations.csv -k 2 --steps 2 --out disk/run {options}
         status=$?
         {then}
         exit $status",
        env!("CARGO_BIN_EXE_strt")
    );
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(place.path(""))
        .output();
    let ran = match output {
        Ok(output) if output.status.code() == Some(99) => None,
        Ok(output) => Some(common::Ran::new(output)),
        Err(_) => None,
    };
    ran.filter(|ran| !ran.stderr.contains("unshare"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_model_and_what_fits() {
    let place = Place::new();
    // Room for the model and small files, not for the page. Once there is more, the rest is made up
    // for without training.
    let then = "strt transform disk/run.partial data/observations.csv --out new.npy -q || exit 98
                ls -A disk/run.partial
                mount -o remount,size=9000k disk || exit 99
                strt resume disk/run -q || exit 97
                ls -A disk disk/run";
    let Some(ran) = on_a_small_disk(&place, MODEL_BUT_NO_PAGE, "-q", then) else {
        skip(Missing::SmallDisk);
        return;
    };
    assert_eq!(ran.status, 1, "{}\n{}", ran.stdout, ran.stderr);
    for words in [
        "No space left on device",
        "there is space",
        "missing: ",
        "report.html; written: history.csv, model.safetensors, config.toml",
        "resume it with `strt resume disk/run.partial`",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    let (full, made_up) = ran.stdout.split_once("disk:\n").unwrap();
    assert!(full.contains("model.safetensors") && !full.contains("report.html"));
    assert!(
        made_up.starts_with("run\n") && made_up.contains("report.html"),
        "{made_up}"
    );
    assert!(!made_up.contains("run.json"), "{made_up}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_without_room_for_the_model_keeps_what_was_asked_for() {
    let place = Place::new();
    let Some(ran) = on_a_small_disk(&place, 100, "-q", "ls -A disk/run.partial") else {
        skip(Missing::SmallDisk);
        return;
    };
    assert_eq!(ran.status, 1, "{}\n{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("missing: model.safetensors"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains("run.json"), "{}", ran.stdout);
}

/// A checkpoint takes more than the model: training is not lost because it does not fit.
#[cfg(target_os = "linux")]
#[test]
fn a_checkpoint_that_does_not_fit_does_not_end_the_run() {
    let place = Place::new();
    let then = "ls -A disk/run.partial";
    let Some(ran) = on_a_small_disk(&place, MODEL_BUT_NO_PAGE, "--autosave 0", then) else {
        skip(Missing::SmallDisk);
        return;
    };
    assert_eq!(ran.status, 1, "{}\n{}", ran.stdout, ran.stderr);
    let told = "warning: no checkpoint was saved, and the run goes on: ";
    assert_eq!(ran.stderr.matches(told).count(), 1, "{}", ran.stderr);
    for words in [
        "checkpoint.safetensors: cannot write: No space left on device",
        "report.html; written: history.csv, model.safetensors, config.toml",
        "resume it with `strt resume disk/run.partial`",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    assert!(ran.stdout.contains("model.safetensors"), "{}", ran.stdout);
}

/// In kB, for the run of [`on_a_small_disk`].
#[cfg(target_os = "linux")]
const MODEL_BUT_NO_PAGE: u32 = 960;

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_cannot_be_written_is_refused_before_any_work() {
    let place = common::separated();
    let recording = "data/observations.csv";
    for arguments in [
        &["separate", recording, "-k", "3", "--out", "/proc/run"][..],
        &["compare", recording, "-k", "3", "--out", "/proc/run"],
        &["generate", "gp", "--out", "/proc/run"],
        // The folder above does not exist either: still it is this one that is named.
        &[
            "separate",
            recording,
            "-k",
            "3",
            "--out",
            "/proc/run/deeper",
        ],
        &[
            "transform",
            "observations.strt",
            recording,
            "--out",
            "/proc/run.npy",
        ],
        &[
            "clean",
            "observations.strt",
            "--remove",
            "s1",
            "--out",
            "/proc/run.csv",
        ],
    ] {
        let out = arguments.last().unwrap();
        refused(&place, arguments, 1, out);
        let ran = place.strt(arguments);
        assert!(ran.stderr.contains("check that"), "{}", ran.stderr);
        // Not a line about the recording: it was not read.
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

/// Values whose squares no f64 can hold.
#[test]
fn denormal_and_huge_values_are_scaled() {
    let place = Place::new();
    place.problem("300");
    let text = place.text("data/observations.csv");
    for (name, factor) in [("tiny", 1e-310), ("huge", 1e300), ("largest", 2e307)] {
        let lines = text.lines().enumerate().map(|(i, line)| {
            let scaled = |(c, cell): (usize, &str)| match cell.parse::<f64>() {
                Ok(value) if c > 0 && i > 0 => (value * factor).to_string(),
                _ => cell.to_string(),
            };
            let cells: Vec<String> = line.split(',').enumerate().map(scaled).collect();
            cells.join(",") + "\n"
        });
        let file = format!("{name}.csv");
        place.write(&file, lines.collect::<String>());
        let out = format!("{name}.run");
        place.done(&[&["separate", &file, "-o", &out][..], &common::FAST].concat());
        let agreement = place.json(&format!("{out}/summary.json"))["explained_variance"].clone();
        assert!(agreement.as_f64().unwrap() > 0.9, "{name}: {agreement}");
        place.done(&["clean", &out, "--remove", "s1", "-q"]);
    }
    place.done(&[&["separate", "data/observations.csv"][..], &common::FAST].concat());
    for name in ["tiny", "huge", "largest"] {
        let ran = place.done(&["evaluate", &format!("{name}.run"), "observations.strt"]);
        assert!(
            ran.stdout.contains("3 of 3 sources are the same"),
            "{name}: {}",
            ran.stdout
        );
    }
}
