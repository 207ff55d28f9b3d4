//! `strt open`: the page of a run in a browser, and the same for commands that make one.

use crate::failure::{Failure, Outcome};
use crate::output::{note, print_line};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use strt_report::REPORT;

/// How long a launcher may take to say that it failed. One that still runs has succeeded.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Args)]
pub struct Open {
    /// The folder of a run
    run: PathBuf,
}

impl Open {
    /// Opens the page. Without a browser its path is printed, and the status is 1: a script that
    /// waits for a person must know.
    pub fn run(self) -> Outcome {
        let page = self.run.join(REPORT);
        if !page.is_file() {
            strt_runs::load_summary(&self.run)?;
            return Err(Failure::Failed(format!(
                "{}: expected the page of the run, found no such file; separate the recording again",
                page.display()
            )));
        }
        strt_runs::folder::verify(&self.run, &[REPORT])?;
        let shown = show(&page);
        print_line(&page.display().to_string());
        shown.map_err(|why| Failure::Failed(no_browser(&page, &why)))
    }
}

/// Opens the page of a run that was just made. The run is what was asked for: a browser that is
/// not there is worth a line, not a failure.
pub fn open_report(folder: &Path) {
    let page = folder.join(REPORT);
    if let Err(why) = show(&page) {
        note(&no_browser(&page, &why));
    }
}

fn no_browser(page: &Path, why: &str) -> String {
    format!(
        "{}: cannot show it in a browser: {why}; open this file in one",
        page.display()
    )
}

fn show(page: &Path) -> Result<(), String> {
    if is_without_display() {
        return Err("there is no display here".into());
    }
    open::that_detached_with_timeout(page, PATIENCE).map_err(|error| error.to_string())
}

/// Whether this is a terminal without a desktop, where a launcher would start a browser of text in
/// the terminal, or none. `BROWSER` says that somebody has one all the same; Windows' Linux opens
/// pages in Windows.
fn is_without_display() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let displays = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"];
    cfg!(all(unix, not(target_os = "macos"))) && !displays.into_iter().any(is_set)
}
