//! A browser for the tests of the report.

use crate::steps::{apt_install, works};

/// Installs Chromium where there is none. Without it the tests of the report in a browser are
/// skipped, and say so.
pub fn provide() {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    if std::env::var_os("CHROMIUM").is_some()
        || names.iter().any(|name| works(name, &["--version"]))
    {
        return;
    }
    if !apt_install(&["chromium"]) {
        eprintln!(
            "xtask: it could not be installed; the tests that open the report in a browser will be skipped"
        );
    }
}
