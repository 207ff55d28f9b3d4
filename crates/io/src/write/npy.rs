//! NPY: 32-bit numbers, T×K, row by row.

use super::Signals;
use std::io::{self, Write};

pub(super) fn write(file: &mut dyn Write, signals: &Signals<'_>) -> io::Result<()> {
    let (rows, columns) = signals.values.shape();
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    // Magic, version, length and header together fill a multiple of 64 bytes; the last one is a
    // line end.
    let padding = 64 - (10 + header.len() + 1) % 64;
    header += &" ".repeat(padding);
    header.push('\n');
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(&(header.len() as u16).to_le_bytes())?;
    file.write_all(header.as_bytes())?;
    for row in signals.values.row_iter() {
        for value in row.iter() {
            file.write_all(&(*value as f32).to_le_bytes())?;
        }
    }
    Ok(())
}
