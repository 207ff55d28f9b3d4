//! MATLAB 5: `signals` (T×K, double), `names` (1×K cell of text) and, where the rate is known,
//! `fs`. Not packed.

use super::{Signals, check_size};
use crate::error::Result;
use std::io::{self, Write};
use std::path::Path;

// Types of elements and classes of arrays.
const INT8: u32 = 1;
const INT32: u32 = 5;
const UINT32: u32 = 6;
const DOUBLE: u32 = 9;
const MATRIX: u32 = 14;
const UTF16: u32 = 17;
const CELL_CLASS: u32 = 1;
const CHAR_CLASS: u32 = 4;
const DOUBLE_CLASS: u32 = 6;

/// Sizes of this format have 32 bits.
pub(super) fn check(path: &Path, signals: &Signals<'_>) -> Result<()> {
    check_size(path, signals, 8, "MATLAB 5")
}

pub(super) fn write(file: &mut dyn Write, signals: &Signals<'_>) -> io::Result<()> {
    let mut header =
        format!("{:124}", "MATLAB 5.0 MAT-file, written by StrTransformer").into_bytes();
    header.extend(0x0100u16.to_le_bytes());
    header.extend(b"IM");
    file.write_all(&header)?;

    let (rows, columns) = signals.values.shape();
    let size = rows * columns * 8;
    let head = array_head(DOUBLE_CLASS, [rows, columns], "signals");
    file.write_all(&tag(MATRIX, head.len() + 8 + size))?;
    file.write_all(&head)?;
    file.write_all(&tag(DOUBLE, size))?;
    for column in signals.values.col_iter() {
        for value in column.iter() {
            file.write_all(&value.to_le_bytes())?;
        }
    }
    let mut names = array_head(CELL_CLASS, [1, columns], "names");
    for name in signals.names {
        let units: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut text = array_head(CHAR_CLASS, [1, units.len() / 2], "");
        text.extend(element(UTF16, &units));
        names.extend(element(MATRIX, &text));
    }
    file.write_all(&element(MATRIX, &names))?;
    if let Some(rate) = signals.rate {
        let mut array = array_head(DOUBLE_CLASS, [1, 1], "fs");
        array.extend(element(DOUBLE, &rate.to_le_bytes()));
        file.write_all(&element(MATRIX, &array))?;
    }
    Ok(())
}

fn tag(kind: u32, size: usize) -> Vec<u8> {
    [kind.to_le_bytes(), (size as u32).to_le_bytes()].concat()
}

/// An element with its tag and its padding.
fn element(kind: u32, bytes: &[u8]) -> Vec<u8> {
    let mut element = tag(kind, bytes.len());
    element.extend(bytes);
    element.resize(element.len().next_multiple_of(8), 0);
    element
}

/// Flags, dimensions and name.
fn array_head(class: u32, shape: [usize; 2], name: &str) -> Vec<u8> {
    let flags: Vec<u8> = [class, 0]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let shape: Vec<u8> = shape
        .iter()
        .flat_map(|&n| (n as u32).to_le_bytes())
        .collect();
    [
        element(UINT32, &flags),
        element(INT32, &shape),
        element(INT8, name.as_bytes()),
    ]
    .concat()
}
