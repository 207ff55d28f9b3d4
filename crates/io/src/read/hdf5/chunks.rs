//! The numbers of an HDF5 dataset → a [`Table`]: in one piece, or chunk by chunk.
//!
//! A chunk is unpacked into a buffer of its own size; chunks that were never written stay missing.

use super::dataset::{Dataset, Filter, Layout, Type};
use super::file::{Fields, File, UNDEFINED};
use super::objects::node;
use crate::error::Result;
use crate::read::array::can_hold;
use crate::read::numbers::{Block, Number, Order};
use crate::read::source::failed;
use crate::read::table::Table;
use flate2::read::ZlibDecoder;
use std::io::Read;

const DATA: &str = "data of the dataset";

/// Decodes a dataset, seen as `block`.
pub(super) fn fill(
    file: &mut File,
    dataset: &Dataset,
    block: &Block,
    table: &mut Table,
) -> Result<()> {
    let path = file.path().to_owned();
    let Type::Numbers(number, _) = dataset.elements else {
        return Ok(());
    };
    match &dataset.layout {
        Layout::Compact(bytes) => block
            .fill(&mut &bytes[..], table, |_, value| value)
            .map_err(|error| failed(&path, error, DATA)),
        // Never written.
        Layout::Contiguous {
            address: UNDEFINED, ..
        } => Ok(()),
        Layout::Contiguous { address, size } => {
            let place = file.place(*address);
            let mut input = file.source.part(place, *size, DATA)?;
            block
                .fill(&mut input, table, |_, value| value)
                .map_err(|error| failed(&path, error, DATA))
        }
        Layout::Chunked {
            tree: UNDEFINED, ..
        } => Ok(()),
        Layout::Chunked { tree, chunk } => {
            let chunk: Option<Vec<usize>> =
                chunk.iter().map(|&n| usize::try_from(n).ok()).collect();
            let size = chunk.as_ref().and_then(|chunk| {
                chunk
                    .iter()
                    .try_fold(number.size(), |product, &n| product.checked_mul(n))
            });
            let (Some(chunk), Some(size)) = (chunk, size) else {
                return Err(file.damaged(DATA, "chunks that fit into memory", "larger ones"));
            };
            if chunk.len() != dataset.shape.len() || chunk.is_empty() || size == 0 {
                return Err(file.damaged(
                    DATA,
                    "chunks of as many dimensions as the data",
                    "others",
                ));
            }
            let n_chunks = dataset
                .shape
                .iter()
                .zip(&chunk)
                .fold(1, |product: usize, (&n, &width)| {
                    product.saturating_mul(n.div_ceil(width))
                });
            let mut chunks = Chunks {
                n_left: n_chunks,
                dataset,
                block,
                table,
                chunk,
                size,
                number,
            };
            chunks.walk(file, *tree, u64::MAX)
        }
    }
}

/// The chunks of one dataset.
struct Chunks<'a> {
    /// How many more there can be.
    n_left: usize,
    dataset: &'a Dataset,
    block: &'a Block,
    table: &'a mut Table,
    /// Shape of a chunk.
    chunk: Vec<usize>,
    /// Bytes of an unpacked chunk.
    size: usize,
    number: Number,
}

impl Chunks<'_> {
    fn walk(&mut self, file: &mut File, address: u64, level_above: u64) -> Result<()> {
        let rank = self.chunk.len();
        let key = 8 + 8 * (rank as u64 + 1);
        let (level, entries) = node(file, address, level_above, 1, key)?;
        for entry in entries.chunks_exact(key as usize + 8) {
            let mut fields = Fields::new(entry);
            let (packed, mask) = (fields.number(4).unwrap_or(0), fields.number(4).unwrap_or(0));
            let offset: Vec<u64> = (0..rank).map(|_| fields.number(8).unwrap_or(0)).collect();
            let child = fields
                .take(8)
                .and_then(|_| fields.number(8))
                .unwrap_or(UNDEFINED);
            if level > 0 {
                self.walk(file, child, level)?;
                continue;
            }
            let inside = offset
                .iter()
                .zip(&self.dataset.shape)
                .all(|(&at, &n)| at < n as u64);
            if !inside || self.n_left == 0 {
                let expected = "chunks inside the data, each once";
                return Err(file.damaged(DATA, expected, format!("one at {offset:?}")));
            }
            self.n_left -= 1;
            let offset: Vec<usize> = offset.iter().map(|&at| at as usize).collect();
            let bytes = file.bytes(child, packed, DATA)?;
            let bytes = self.unpacked(file, bytes, mask)?;
            self.place(&offset, &bytes);
        }
        Ok(())
    }

    /// Undoes the filters, the last one first.
    fn unpacked(&self, file: &File, mut bytes: Vec<u8>, mask: u64) -> Result<Vec<u8>> {
        for (at, filter) in self.dataset.filters.iter().enumerate().rev() {
            if at < 64 && mask >> at & 1 == 1 {
                continue;
            }
            match filter {
                Filter::Fletcher => bytes.truncate(bytes.len().saturating_sub(4)),
                Filter::Shuffle => bytes = unshuffled(&bytes, self.number.size()),
                Filter::Deflate => {
                    if !can_hold(bytes.len() as u64, self.size as u64) {
                        let found = format!("{} packed bytes", bytes.len());
                        return Err(file.damaged(
                            DATA,
                            "a chunk that its packed bytes can hold",
                            found,
                        ));
                    }
                    // Fletcher-32 may lie inside: four bytes more than the data.
                    let mut unpacked = Vec::with_capacity(self.size + 4);
                    ZlibDecoder::new(&bytes[..])
                        .take(self.size as u64 + 4)
                        .read_to_end(&mut unpacked)
                        .map_err(|error| failed(file.path(), error, DATA))?;
                    bytes = unpacked;
                }
            }
        }
        if bytes.len() != self.size {
            return Err(file.damaged(
                DATA,
                &format!("chunks of {} bytes", self.size),
                format!("one of {} bytes", bytes.len()),
            ));
        }
        Ok(bytes)
    }

    /// Puts the part of a chunk that lies inside the data into the table.
    fn place(&mut self, offset: &[usize], bytes: &[u8]) {
        let shape = &self.dataset.shape;
        let last = shape.len() - 1;
        let decode = self.number.decoder(self.block.endian);
        let width = self.chunk[last];
        let n_inside = width.min(shape[last] - offset[last]);
        // Runs along the last dimension; the others are counted like the digits of a number.
        let mut digits = vec![0; last];
        for run in bytes.chunks_exact(width * self.number.size()) {
            let inside = (0..last).all(|axis| offset[axis] + digits[axis] < shape[axis]);
            if inside {
                let first = (0..last).fold(0, |index, axis| {
                    index * shape[axis] + offset[axis] + digits[axis]
                });
                let first = first * shape[last] + offset[last];
                for (i, number) in run
                    .chunks_exact(self.number.size())
                    .take(n_inside)
                    .enumerate()
                {
                    let (sample, channel) = match self.block.order {
                        Order::Interleaved => (
                            (first + i) / self.block.n_channels,
                            (first + i) % self.block.n_channels,
                        ),
                        Order::Planar => (
                            (first + i) % self.block.n_samples,
                            (first + i) / self.block.n_samples,
                        ),
                    };
                    self.table.set(sample, channel, decode(number));
                }
            }
            for axis in (0..last).rev() {
                digits[axis] += 1;
                if digits[axis] < self.chunk[axis] {
                    break;
                }
                digits[axis] = 0;
            }
        }
    }
}

/// Bytes of equal weight lie together; puts those of one number together.
fn unshuffled(bytes: &[u8], size: usize) -> Vec<u8> {
    let count = bytes.len() / size;
    let mut numbers = bytes.to_vec();
    for i in 0..count {
        for byte in 0..size {
            numbers[i * size + byte] = bytes[byte * count + i];
        }
    }
    numbers
}
