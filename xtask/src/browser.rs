//! A browser for the tests of the report.

use crate::steps::{apt_install, works};

/// Installs Chromium where there is none. The tests that miss it nevertheless are skipped, and are
/// counted as such.
pub fn provide() {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    if std::env::var_os("CHROMIUM").is_some()
        || names.iter().any(|name| works(name, &["--version"]))
    {
        return;
    }
    if !apt_install(&["chromium"]) {
        eprintln!("xtask: Chromium could not be installed; name one by the variable CHROMIUM");
    }
}
