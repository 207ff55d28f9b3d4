//! What an Ogg Vorbis file claims, compared with what a decoder should be asked to hold.
//!
//! In: the bytes of a file. Out: nothing, or in words why it is not given to the decoder. A
//! codebook of 60 bytes can claim tables of gigabytes, which the decoder makes before it needs
//! them; such claims are found by walking through the pages and the codebooks of the one stream
//! that a file may have (Xiph, "Vorbis I specification", section 3.2.1; RFC 3533 for the pages).

use std::io::{self, Read};

/// Numbers in the tables of all codebooks; those of the usual encoders have some hundred thousand.
const MOST_NUMBERS: u64 = 1 << 22;
/// Headers are some kilobytes long.
const LONGEST_HEADERS: usize = 1 << 20;

/// Walks through a file.
pub(super) fn check(mut input: impl Read) -> io::Result<()> {
    let mut packets: Vec<Vec<u8>> = vec![Vec::new()];
    let mut n_pages = 0u64;
    loop {
        let mut head = [0; 27];
        if input.read(&mut head[..1])? == 0 {
            break;
        }
        input.read_exact(&mut head[1..])?;
        if !head.starts_with(b"OggS") {
            return Err(refused("bytes between the pages"));
        }
        if head[5] & 2 != 0 && n_pages > 0 {
            return Err(refused("several streams"));
        }
        n_pages += 1;
        let mut lengths = vec![0; usize::from(head[26])];
        input.read_exact(&mut lengths)?;
        for length in lengths {
            let mut part = [0; 255];
            let part = &mut part[..usize::from(length)];
            input.read_exact(part)?;
            // Identification, comments and setup; sound follows.
            if packets.len() <= 3 {
                if let Some(last) = packets.last_mut() {
                    last.extend_from_slice(part);
                }
                if packets.iter().map(Vec::len).sum::<usize>() > LONGEST_HEADERS {
                    return Err(refused("headers of more than a megabyte"));
                }
                if length < 255 {
                    packets.push(Vec::new());
                }
            }
        }
    }
    match packets.get(2) {
        Some(setup) => codebooks(setup).ok_or_else(|| refused("a header that ends too soon"))?,
        None => Err(refused("no setup of the decoder")),
    }
}

fn refused(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Walks through the codebooks; `None` where they end too soon.
fn codebooks(setup: &[u8]) -> Option<io::Result<()>> {
    let mut bits = Bits {
        bytes: setup,
        at: 7 * 8,
    };
    let mut n_numbers = 0u64;
    for _ in 0..=bits.take(8)? {
        if bits.take(24)? != 0x56_4342 {
            return Some(Err(refused("no codebook where one should begin")));
        }
        let (n_dimensions, n_entries) = (bits.take(16)?, bits.take(24)?);
        n_numbers += n_entries.max(1) * n_dimensions.max(1);
        if n_numbers > MOST_NUMBERS {
            return Some(Err(refused("codebooks larger than any encoder writes")));
        }
        if bits.take(1)? == 1 {
            bits.take(5)?;
            let mut at = 0;
            while at < n_entries {
                let left = n_entries - at;
                at += bits.take(64 - u64::from(left.leading_zeros()))?;
            }
        } else {
            let is_sparse = bits.take(1)? == 1;
            for _ in 0..n_entries {
                if !is_sparse || bits.take(1)? == 1 {
                    bits.take(5)?;
                }
            }
        }
        let n_values = match bits.take(4)? {
            0 => continue,
            1 => roots(n_entries, n_dimensions),
            2 => n_entries * n_dimensions,
            _ => return Some(Err(refused("a codebook of an unknown kind"))),
        };
        bits.take(32)?;
        bits.take(32)?;
        let width = bits.take(4)? + 1;
        bits.take(1)?;
        bits.at = bits.at.checked_add(n_values * width)?;
    }
    Some(Ok(()))
}

/// The largest number whose power `n_dimensions` is at most `n_entries`.
fn roots(n_entries: u64, n_dimensions: u64) -> u64 {
    let fits = |root: u64| {
        let power = (0..n_dimensions).try_fold(1u64, |power, _| {
            power.checked_mul(root).filter(|&power| power <= n_entries)
        });
        power.is_some()
    };
    (1..=n_entries)
        .take_while(|&root| fits(root))
        .last()
        .unwrap_or(0)
}

/// Bits, the least significant first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: u64,
}

impl Bits<'_> {
    fn take(&mut self, count: u64) -> Option<u64> {
        let mut value = 0;
        for i in 0..count {
            let byte = self.bytes.get((self.at / 8) as usize)?;
            value |= u64::from(byte >> (self.at % 8) & 1) << i;
            self.at += 1;
        }
        Some(value)
    }
}
