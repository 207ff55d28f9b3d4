//! Files that change after they were written, and runs that are killed or cannot be written whole:
//! everything is noticed, and nothing is lost.

mod common;

use common::*;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use strt_runs::folder::verify_all;
use strt_runs::{
    Caller, Ensured, Error, Order, Place as Found, ResumeOptions, Unwatched, Watcher, Wording,
    ensure, inspect, load, resume, start,
};
use strtransformer::train::StepReport;

/// Flips one bit at a time, in the first and last bytes of a file and in some between, and asks
/// whether `is_noticed`.
fn flip(path: &Path, is_noticed: &mut dyn FnMut() -> bool) {
    let good = fs::read(path).unwrap();
    let some = (0..good.len()).step_by(good.len() / 9 + 1);
    for (i, at) in some.chain([good.len() - 1]).enumerate() {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (i % 8);
        fs::write(path, &bytes).unwrap();
        assert!(is_noticed(), "{}: byte {at}", path.display());
    }
    fs::write(path, good).unwrap();
}

#[test]
fn a_flipped_bit_in_any_file_of_a_finished_run_is_noticed() {
    let (place, data) = (Place::new(), Data::new(0));
    let run = place.path("run");
    start(&data.order(), &run, &mut Unwatched).unwrap();
    let read_by_load = ["summary.json", "model.safetensors", "history.csv", ".strt"];
    for name in names(&run) {
        let path = run.join(&name);
        flip(&path, &mut || verify_all(&run).is_err());
        if read_by_load.contains(&name.as_str()) {
            flip(&path, &mut || load(&run).is_err());
        }
    }
    let found = verify_all(&run).unwrap().unwrap();
    assert_eq!(found.whole + 1, names(&run).len(), "all but the mark");
    assert!(found.gone.is_empty());

    fs::write(run.join("page.txt"), "4 sources\n").unwrap();
    refused(
        verify_all(&run),
        &[
            "page.txt: expected what strt wrote: its checksum is",
            "another copy",
        ],
    );
    fs::remove_file(run.join("page.txt")).unwrap();
    let found = verify_all(&run).unwrap().unwrap();
    assert_eq!(found.gone, ["page.txt"]);
    load(&run).expect("what is not read may be missing");
    // Without its mark, or with one of an earlier program, a folder is taken as it is.
    let mark: serde_json::Value = serde_json::from_slice(&place.read("run/.strt")).unwrap();
    let mut earlier = mark.as_object().unwrap().clone();
    earlier.remove("checksums");
    refused(
        verify_all_with(&run, &earlier),
        &[".strt", "its own checksum does not hold"],
    );
    earlier.remove("checksum");
    assert!(verify_all_with(&run, &earlier).unwrap().is_none());
    fs::remove_file(run.join(".strt")).unwrap();
    assert!(verify_all(&run).unwrap().is_none());
    load(&run).unwrap();
}

fn verify_all_with(
    run: &Path,
    mark: &serde_json::Map<String, serde_json::Value>,
) -> strt_runs::Result<Option<strt_runs::folder::Verified>> {
    fs::write(run.join(".strt"), serde_json::to_vec(mark).unwrap()).unwrap();
    verify_all(run)
}

#[test]
fn a_flipped_bit_in_what_a_run_is_resumed_from_is_noticed() {
    let (place, data) = (Place::new(), Data::new(0));
    let run = place.path("run");
    // Late enough that one restart has ended.
    start(&data.order(), &run, &mut Stopper::after(14)).unwrap();
    let files = [
        "run.json",
        "checkpoint.safetensors",
        "best.safetensors",
        "history.csv",
    ];
    for name in files {
        let path = run.join(name);
        flip(&path, &mut || {
            resume(&run, &options(&data), &mut Unwatched).is_err()
        });
    }
    resume(&run, &options(&data), &mut Unwatched).unwrap();
    start(&data.order(), &place.path("whole"), &mut Unwatched).unwrap();
    place.assert_alike("run", "whole");
}

fn options(data: &Data) -> ResumeOptions<'_> {
    ResumeOptions {
        source: Some(data.source()),
        reference: None,
        threads: Some(1),
        autosave: data.order().autosave,
        caller: &CALLER,
    }
}

/// Panics at a step, which leaves on disk what a kill leaves.
struct Killed {
    at: usize,
    steps: usize,
}

impl Watcher for Killed {
    fn step(&mut self, _: &StepReport<'_>) {
        self.steps += 1;
        assert!(self.steps < self.at, "killed");
    }

    fn interrupted(&mut self) -> bool {
        false
    }

    fn event(&mut self, _: strt_runs::Event<'_>) {}
}

#[test]
fn a_run_killed_before_its_first_checkpoint_is_begun_again() {
    let (place, data) = (Place::new(), Data::new(0));
    let run = place.path("run");
    let kill = || {
        let mut killed = Killed { at: 5, steps: 0 };
        let ended = catch_unwind(AssertUnwindSafe(|| start(&data.order(), &run, &mut killed)));
        assert!(ended.is_err());
        assert_eq!(place.names("run.partial"), [".strt", "run.json"]);
    };
    kill();
    refused(load(&run), &["found an unfinished run in", "run.partial"]);
    // Nothing was made yet that a new run would have to spare.
    assert_eq!(inspect(&run).unwrap(), Found::Absent);
    let other = Data::new(1);
    refused(
        resume(&run, &options(&other), &mut Unwatched),
        &["run.partial", "its recording holds other values"],
    );
    let mut watcher = Stopper::default();
    let contents = resume(&run, &options(&data), &mut watcher).unwrap();
    assert_eq!((watcher.events[0].as_str(), watcher.steps), ("Resumed", 24));
    assert!(!contents.unfinished);
    start(&data.order(), &place.path("whole"), &mut Unwatched).unwrap();
    place.assert_alike("run", "whole");

    fs::remove_dir_all(&run).unwrap();
    kill();
    flip(&place.path("run.partial/run.json"), &mut || {
        resume(&run, &options(&data), &mut Unwatched).is_err()
    });
    ensure(&data.order(), &run, &mut Unwatched).unwrap();
    place.assert_alike("run", "whole");
}

#[test]
fn a_run_killed_while_its_folder_was_made_is_told_from_none_at_all() {
    let (place, data) = (Place::new(), Data::new(0));
    let (run, partial) = (place.path("run"), place.path("run.partial"));
    let resumed = |given: &Path| resume(given, &options(&data), &mut Unwatched);
    refused(resumed(&run), &["there is no such folder"]);
    fs::create_dir(&partial).unwrap();
    fs::write(partial.join(".strt"), "").unwrap();
    for given in [&run, &partial] {
        let words = "killed before anything of it was on disk. Start it again";
        refused(resumed(given), &[words]);
    }
    start(&data.order(), &run, &mut Unwatched).unwrap();
    assert!(!partial.exists());
}

/// Draws nothing, as on a full disk.
static WITHOUT_A_PAGE: Caller = Caller {
    wording: Wording::LIBRARY,
    pages: |_, _| Err("there is no paper".into()),
};

#[test]
fn results_that_cannot_be_written_leave_the_others_and_are_made_up_for() {
    let (place, data) = (Place::new(), Data::new(0));
    let run = place.path("run");
    let order = Order {
        caller: &WITHOUT_A_PAGE,
        ..data.order()
    };
    let words = [
        "there is no paper",
        "missing: the page; written: history.csv, model.safetensors",
        "resume it with `resume",
    ];
    let error = refused(start(&order, &run, &mut Unwatched), &words);
    assert!(matches!(error, Error::Kept { .. }));
    let partial = place.path("run.partial");
    assert_eq!(inspect(&run).unwrap(), Found::Unfinished(partial.clone()));
    let kept = load(&partial).unwrap();
    assert!(kept.unfinished && kept.summary.warnings.iter().any(|w| w.contains("the page")));
    // A new run does not discard it unasked.
    refused(
        start(&data.order(), &run, &mut Unwatched),
        &["an unfinished run"],
    );
    refused(
        ensure(&Data::new(1).order(), &run, &mut Unwatched),
        &["holds other values"],
    );

    // Without another step.
    let mut watcher = Stopper::default();
    let made = ensure(&data.order(), &run, &mut watcher).unwrap();
    assert!(matches!(made, Ensured::Made(contents) if !contents.unfinished));
    assert_eq!(watcher.steps, 0);
    start(&data.order(), &place.path("whole"), &mut Unwatched).unwrap();
    place.assert_alike("run", "whole");
    let steps = |name: &str| place.json(&format!("{name}/summary.json"))["steps"].clone();
    assert_eq!(steps("run"), steps("whole"));
}
