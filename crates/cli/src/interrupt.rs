//! Ctrl-C (and a polite request to terminate): the first one asks the run to end after its step,
//! the second one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Catches Ctrl-C from now on.
pub fn watch() {
    // Where it cannot be caught, the program ends as any other does; a second call finds it already
    // caught.
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

/// Whether the run should end.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
