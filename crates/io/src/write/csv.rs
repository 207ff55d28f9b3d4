//! CSV: a header, then the time in seconds (or the number of the sample where no rate is known) and
//! the values, each with as many digits as it takes to read the same number back.

use super::Signals;
use std::io::{self, Write};

pub(super) fn write(file: &mut dyn Write, signals: &Signals<'_>) -> io::Result<()> {
    write!(file, "{}", signals.rate.map_or("sample", |_| "time"))?;
    for name in signals.names {
        write!(file, ",{}", quoted(name))?;
    }
    writeln!(file)?;
    for (t, row) in signals.values.row_iter().enumerate() {
        match signals.rate {
            Some(rate) => write!(file, "{}", t as f64 / rate)?,
            None => write!(file, "{t}")?,
        }
        for value in row.iter() {
            write!(file, ",{value}")?;
        }
        writeln!(file)?;
    }
    Ok(())
}

/// A name that cannot be taken for anything else.
pub(super) fn quoted(name: &str) -> String {
    let name = name.replace(['\n', '\r'], " ");
    if name.contains([',', '"', '#', '%', ';']) || name.trim() != name || name.is_empty() {
        return format!("\"{}\"", name.replace('"', "\"\""));
    }
    name
}
