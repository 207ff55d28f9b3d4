//! Lines on standard output and standard error, from a program that must not panic when nobody
//! reads them any more (`strt … | head`), and command lines that can be typed again.

use std::io::{ErrorKind, Write};

pub use strt_runs::shell_line;

/// Writes to standard output. A reader that has gone away is no reason to stop.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            note(&format!("error: standard output: cannot write: {error}"));
            std::process::exit(1);
        }
        _ => {}
    }
}

/// Writes a line to standard output.
pub fn print_line(text: &str) {
    print(&format!("{text}\n"));
}

/// Writes a line to standard error: a courtesy, whose failure must not end a run.
pub fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
