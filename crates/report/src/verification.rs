//! A verification: the results of `strt_lab::theory`, turned into a page.

use crate::{Result, page};
use strt_lab::theory::{Check, CheckResult, Variant};

/// Checks that were made, and how.
pub struct Verification<'a> {
    /// The checks.
    pub checks: &'a [Check],
    /// What came out of each.
    pub results: &'a [CheckResult],
    /// As claimed, or broken on purpose.
    pub variant: Variant,
    /// The command that repeats them.
    pub command: &'a str,
    /// Program and version.
    pub version: &'a str,
}

impl Verification<'_> {
    /// One self-contained HTML page.
    ///
    /// # Errors
    /// When the template cannot be filled in.
    pub fn to_html(&self) -> Result<String> {
        page::write_verification(self)
    }
}
