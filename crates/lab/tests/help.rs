//! The help of every command, as it was read and committed; `STRT_UPDATE=1` writes it anew.

mod common;

use common::Place;
use std::path::Path;

#[test]
fn help_is_what_was_read_and_committed() {
    let place = Place::new();
    let commands = [
        &[][..],
        &["recovery"],
        &["count"],
        &["paper"],
        &["speed"],
        &["verify"],
    ];
    let help = |command: &[&str]| {
        let arguments = [command, &["--help"]].concat();
        let shown = place.done(&arguments).stdout;
        format!("$ strt-lab {}\n\n{shown}\n", arguments.join(" "))
    };
    let text: String = commands.into_iter().map(help).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/help.txt");
    if std::env::var_os("STRT_UPDATE").is_some() {
        std::fs::write(&path, &text).expect("the snapshot can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{} differs:\n{text}", path.display());
}
