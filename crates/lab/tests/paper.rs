//! `docs/paper.md` says where things are: every file, item and setting that it names must exist.
//! `strt-lab paper` as a person calls it.

mod common;

use common::Place;
use std::path::{Path, PathBuf};
use strtransformer::config::settings;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Everything between backticks.
fn quoted(page: &str) -> Vec<&str> {
    page.split('`').skip(1).step_by(2).collect()
}

/// What is wrong with `path` or `path::item`, if anything.
fn fault(name: &str) -> Option<String> {
    let (path, item) = match name.split_once("::") {
        Some((path, item)) => (path, Some(item)),
        None => (name, None),
    };
    let Ok(text) = std::fs::read_to_string(root().join(path)) else {
        return Some(format!("{name}: there is no such file"));
    };
    let item = item?;
    let is_there = ["fn", "struct", "enum", "trait", "const"]
        .iter()
        .any(|keyword| {
            text.match_indices(&format!("{keyword} {item}"))
                .any(|(at, found)| {
                    let after = text[at + found.len()..].chars().next();
                    after.is_some_and(|c| !(c.is_alphanumeric() || c == '_'))
                })
        });
    (!is_there).then(|| format!("{name}: the file has no such item"))
}

#[test]
fn every_name_on_the_page_exists() {
    let page = std::fs::read_to_string(root().join("docs/paper.md")).unwrap();
    let names = quoted(&page);
    let files = names.iter().filter(|name| name.starts_with("crates/"));
    let faults: Vec<String> = files.clone().filter_map(|name| fault(name)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(files.count() > 40, "the page has lost its tables");

    let keys: Vec<String> = settings().map(|setting| setting.key.to_string()).collect();
    let of_section = |name: &str| {
        let section = name.split('.').next().unwrap_or(name);
        let known = |key: &&String| key.split('.').next() == Some(section);
        name.contains('.') && !name.contains(' ') && keys.iter().any(|key| known(&key))
    };
    for name in names.into_iter().filter(|name| of_section(name)) {
        let key = name.split('=').next().unwrap_or(name);
        assert!(
            keys.iter().any(|known| known == key),
            "`{key}` is no setting"
        );
    }
}

#[test]
fn variants_are_tried_once() {
    let place = Place::new();
    let arguments = [
        "paper",
        "search",
        "--only",
        "Adam, schedule",
        "--only",
        "Adam, data",
    ];
    let arguments = [
        &arguments[..],
        &["--steps", "2", "--problems", "1", "--results", "kept.jsonl"],
    ]
    .concat();
    let first = place.done(&arguments);
    let row = "| Adam, schedule | optimizer.rule=adam optimizer.schedule.kind=cosine | 1 | 0.";
    assert!(first.stdout.contains(row), "{}", first.stdout);
    assert!(
        first.stdout.contains("noise = 0 | 1 | 0."),
        "{}",
        first.stdout
    );
    let second = place.done(&arguments);
    assert_eq!(
        (second.stdout, second.stderr),
        (first.stdout, String::new())
    );
    let nothing = place.lab(&["paper", "search", "--only", "nothing of the kind"]);
    assert_eq!(nothing.status, 2, "{}", nothing.stderr);
}

#[test]
fn a_name_that_does_not_exist_is_noticed() {
    for wrong in [
        "crates/core/src/nothing.rs",
        "crates/core/src/controller.rs::forwar",
    ] {
        assert!(fault(wrong).is_some(), "{wrong}");
    }
}
