//! A block of numbers, copied with some of them replaced.

use super::{Replacement, is_same};
use crate::read::Note;
use crate::read::numbers::{Block, Number};
use std::io::{self, Read, Write};

/// Bytes that are copied at once.
const BUFFER: usize = 1 << 16;

/// What the numbers of a channel mean: `(number − offset)·step`.
#[derive(Clone, Copy, Debug)]
pub(in crate::read) struct Units {
    pub offset: f64,
    pub step: f64,
}

impl Units {
    /// Numbers that are what they are.
    pub const PLAIN: Units = Units {
        offset: 0.0,
        step: 1.0,
    };

    fn meaning(&self, number: f64) -> f64 {
        (number - self.offset) * self.step
    }

    /// What numbers of a kind can hold, for messages.
    pub fn expected(&self, number: Number) -> String {
        match number.limits() {
            Some((least, most)) => format!(
                "a number from {} to {}, which {number:?} can hold",
                self.meaning(least as f64),
                self.meaning(most as f64),
            ),
            None => format!("a number that {number:?} can hold"),
        }
    }
}

/// Why a copy did not come to its end.
#[derive(Debug)]
pub(in crate::read) enum Trouble {
    Reading(io::Error),
    Writing(io::Error),
    /// A number that the file cannot hold.
    Beyond {
        row: usize,
        channel: usize,
        value: f64,
        expected: String,
    },
}

impl Block {
    /// Copies the block with its new numbers; gives how many were rounded to whole ones.
    pub fn rewrite(
        &self,
        input: &mut dyn Read,
        out: &mut dyn Write,
        new: &Replacement<'_>,
        units: &dyn Fn(usize) -> Units,
    ) -> Result<usize, Trouble> {
        let (size, decode) = (self.number.size(), self.number.decoder(self.endian));
        let n_values = self.n_samples * self.n_channels;
        let at_once = BUFFER / size;
        let mut buffer = vec![0; at_once * size];
        let mut n_rounded = 0;
        for first in (0..n_values).step_by(at_once) {
            let bytes = &mut buffer[..at_once.min(n_values - first) * size];
            input.read_exact(bytes).map_err(Trouble::Reading)?;
            for (i, bytes) in bytes.chunks_exact_mut(size).enumerate() {
                let (row, channel) = self.place(first + i);
                let Some(value) = new.get(row, channel) else {
                    continue;
                };
                let units = units(channel);
                if is_same(units.meaning(decode(bytes)), value) {
                    continue;
                }
                let number = value / units.step + units.offset;
                if !self.number.encode(self.endian, number, bytes) {
                    return Err(Trouble::Beyond {
                        row,
                        channel,
                        value,
                        expected: units.expected(self.number),
                    });
                }
                n_rounded += usize::from(self.number.limits().is_some());
            }
            out.write_all(bytes).map_err(Trouble::Writing)?;
        }
        Ok(n_rounded)
    }

    /// What to say about numbers that were rounded.
    pub fn notes(&self, n_rounded: usize) -> Vec<Note> {
        match n_rounded {
            0 => Vec::new(),
            _ => vec![Note::detected(format!(
                "new numbers are rounded to the steps of the file, which holds {:?}",
                self.number
            ))],
        }
    }
}
