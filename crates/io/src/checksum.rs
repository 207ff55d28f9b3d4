//! Checksums: a byte that changed after a file was written is noticed.
//!
//! CRC-32 (ISO 3309, the one of gzip and PNG), written as eight hexadecimal digits. It notices any
//! change of up to 32 bits in a row, and all but one in 2³² of the others; against somebody who
//! wants to deceive it is no help, and is not meant to be.
//!
//! A file of JSON, or with JSON in it, can carry its own: the value of the entry `checksum`, taken
//! over all bytes with zeros in the place of its digits. [`seal`] puts it in, [`check`] looks
//! whether it still holds. Which files have one, and what is done about one that does not hold, is
//! decided elsewhere.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

/// What stands in the place of the digits until a file is sealed.
pub const UNSEALED: &str = "00000000";

/// Name of the entry.
pub(crate) const ENTRY: &str = "checksum";

/// How much of a file is held in memory.
const BUFFER: usize = 1 << 16;

/// What the checksum of a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal {
    /// The file is as it was written.
    Whole,
    /// It was changed.
    Broken,
    /// It has no checksum.
    Absent,
}

/// The checksum of these bytes.
pub fn of_bytes(bytes: &[u8]) -> String {
    digits(crc32fast::hash(bytes))
}

/// The checksum of a file, which is read in pieces.
///
/// # Errors
/// When it cannot be read.
pub fn of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(digits(hasher.finalize())),
            Ok(length) => hasher.update(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Puts the checksum of a file into its last entry `"checksum": "00000000"`; `json` is where its
/// JSON is. A file without that entry is left as it is.
pub fn seal(bytes: &mut [u8], json: Range<usize>) {
    if let Some(place) = place(bytes, json) {
        let sum = sum_without(bytes, &place);
        bytes[place].copy_from_slice(sum.as_bytes());
    }
}

/// Whether a file is as it was sealed.
pub fn check(bytes: &[u8], json: Range<usize>) -> Seal {
    match place(bytes, json) {
        None => Seal::Absent,
        Some(place) if sum_without(bytes, &place).as_bytes() == &bytes[place.clone()] => {
            Seal::Whole
        }
        Some(_) => Seal::Broken,
    }
}

/// Where the digits are. A quote inside a text of JSON has a backslash before it, so that what is
/// looked for is never a part of one.
fn place(bytes: &[u8], json: Range<usize>) -> Option<Range<usize>> {
    let key = format!("\"{ENTRY}\":");
    let within = &bytes[json.clone()];
    let mut found = None;
    for at in positions(within, key.as_bytes()) {
        let mut start = at + key.len();
        start += usize::from(within.get(start) == Some(&b' '));
        let end = start + 2 + UNSEALED.len();
        if let Some(value) = within.get(start..end)
            && value.first() == Some(&b'"')
            && value.last() == Some(&b'"')
        {
            found = Some(json.start + start + 1..json.start + end - 1);
        }
    }
    found
}

fn positions<'a>(text: &'a [u8], key: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let windows = text.windows(key.len()).enumerate();
    windows.filter_map(move |(at, window)| (window == key).then_some(at))
}

fn sum_without(bytes: &[u8], place: &Range<usize>) -> String {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..place.start]);
    hasher.update(UNSEALED.as_bytes());
    hasher.update(&bytes[place.end..]);
    digits(hasher.finalize())
}

fn digits(sum: u32) -> String {
    format!("{sum:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_checksum_of_gzip() {
        // The check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
        assert_eq!(of_bytes(b"123456789"), "cbf43926");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let bytes: Vec<u8> = (0..3 * BUFFER + 5).map(|i| (i * i) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(of_file(&path).unwrap(), of_bytes(&bytes));
        assert!(of_file(directory.path()).is_err());
    }

    #[test]
    fn any_changed_bit_of_a_sealed_file_is_noticed() {
        // Compact and indented, with the name in a text and in an entry before the last one.
        let texts = [
            r#"{"a":"\"checksum\":\"0","b":{"checksum":"12345678"},"checksum":"00000000"}"#,
            "{\n  \"a\": 1,\n  \"checksum\": \"00000000\"\n}\n",
        ];
        for text in texts {
            let mut bytes = [text.as_bytes(), &[0, 255, 7]].concat();
            let json = 0..text.len();
            seal(&mut bytes, json.clone());
            assert_ne!(&bytes[..text.len()], text.as_bytes());
            assert_eq!(check(&bytes, json.clone()), Seal::Whole);
            for bit in 0..8 * bytes.len() {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert_ne!(check(&bytes, json.clone()), Seal::Whole, "bit {bit}");
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
        assert_eq!(check(b"{}", 0..2), Seal::Absent);
        let mut without = *b"{}";
        seal(&mut without, 0..2);
        assert_eq!(&without, b"{}");
    }
}
