//! Bits of a byte stream, the most significant first.

use super::checksum::Checksums;
use std::io::{self, BufRead};

/// Takes bits from a stream. Never holds more than the bits that were asked for need, so that a
/// frame ends where its bytes do.
pub(super) struct Bits<R> {
    input: R,
    held: u64,
    n_held: u32,
    /// Of the bytes since [`Bits::begin`].
    pub sums: Checksums,
}

impl<R: BufRead> Bits<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            held: 0,
            n_held: 0,
            sums: Checksums::default(),
        }
    }

    /// Begins a frame at a whole byte; `false` at the end of the stream.
    pub fn begin(&mut self) -> io::Result<bool> {
        (self.held, self.n_held) = (0, 0);
        self.sums = Checksums::default();
        Ok(!self.input.fill_buf()?.is_empty())
    }

    /// Forgets the rest of a byte.
    pub fn align(&mut self) {
        self.n_held -= self.n_held % 8;
    }

    /// Up to 32 bits.
    pub fn take(&mut self, count: u32) -> io::Result<u64> {
        while self.n_held < count {
            self.load()?;
        }
        self.n_held -= count;
        Ok(self.held >> self.n_held & ((1 << count) - 1))
    }

    /// Up to 33 bits in two's complement.
    pub fn take_signed(&mut self, count: u32) -> io::Result<i64> {
        if count == 0 {
            return Ok(0);
        }
        let bits = if count > 32 {
            self.take(count - 32)? << 32 | self.take(32)?
        } else {
            self.take(count)?
        };
        let unused = 64 - count;
        Ok((bits << unused) as i64 >> unused)
    }

    /// Zeros before the next one.
    pub fn unary(&mut self) -> io::Result<u64> {
        let mut count = 0;
        loop {
            let held = self.held & ((1u64 << self.n_held) - 1);
            if held != 0 {
                let zeros = self.n_held - 1 - held.ilog2();
                self.n_held -= zeros + 1;
                return Ok(count + u64::from(zeros));
            }
            count += u64::from(self.n_held);
            self.n_held = 0;
            self.load()?;
        }
    }

    fn load(&mut self) -> io::Result<()> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        self.sums.add(byte[0]);
        self.held = self.held << 8 | u64::from(byte[0]);
        self.n_held += 8;
        Ok(())
    }
}

/// Collects bits to bytes.
#[derive(Default)]
pub(super) struct BitWriter {
    pub bytes: Vec<u8>,
    held: u64,
    n_held: u32,
}

impl BitWriter {
    /// The lowest `count` bits of a number, up to 32.
    pub fn put(&mut self, bits: u64, count: u32) {
        self.held = self.held << count | bits & ((1 << count) - 1);
        self.n_held += count;
        while self.n_held >= 8 {
            self.n_held -= 8;
            self.bytes.push((self.held >> self.n_held) as u8);
        }
    }

    /// So many zeros and a one.
    pub fn put_unary(&mut self, mut zeros: u64) {
        while zeros >= 32 {
            self.put(0, 32);
            zeros -= 32;
        }
        self.put(1, zeros as u32 + 1);
    }

    /// Fills the last byte with zeros.
    pub fn align(&mut self) {
        self.put(0, (8 - self.n_held % 8) % 8);
    }
}
