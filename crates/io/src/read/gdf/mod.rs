//! GDF 1.x and 2.x of BioSig: biosignals in records of fixed length, with a table of events.
//!
//! In: a file. Out: numbers in the physical units of the header, and events. Channels of different
//! rates cannot be read together: that is for the caller to choose. Channels without samples in the
//! records (sparse ones) are left out.
//!
//! Written by hand: there is no crate for it.

mod events;
mod header;
mod sample;

use super::assemble::check_limits;
use super::source::{Source, damaged, failed};
use super::table::{Channel, Contents, Reader, Table};
use crate::error::Result;
use header::Header;
use std::io::Read;

/// A GDF file.
pub(crate) struct GdfReader {
    source: Source,
    header: Header,
    /// Bytes of one record.
    record: u64,
    n_records: u64,
    contents: Contents,
}

impl GdfReader {
    pub fn open(mut source: Source) -> Result<Self> {
        let path = source.path().to_owned();
        let header = header::read(&mut source)?;
        let record = header.signals.iter().try_fold(0u64, |sum, signal| {
            sum.checked_add((signal.per_record as u64).checked_mul(signal.sample.size() as u64)?)
        });
        let record = match record {
            Some(record) if record > 0 => record,
            _ => {
                let found = record.map_or("more than any file", |_| "none");
                let place = "header, samples per record";
                return Err(damaged(&path, place, "some samples in each record", found));
            }
        };
        let mut contents = Contents::default();
        let n_records = match header.n_records {
            Some(n_records) => {
                let size = n_records.saturating_mul(record);
                source.require(header.size, size, &format!("{n_records} data records"))?;
                n_records
            }
            None => {
                let available = (source.length() - header.size) / record;
                contents.warn(format!(
                    "the number of records is not in the header: \
                     the {available} whole records of the file are read"
                ));
                available
            }
        };
        let mut reader = Self {
            source,
            header,
            record,
            n_records,
            contents,
        };
        reader.describe();
        reader.read_events()?;
        Ok(reader)
    }

    /// Channels and what is to be said about them.
    fn describe(&mut self) {
        let duration = self.header.duration;
        for signal in &self.header.signals {
            let is_sparse = signal.per_record == 0;
            self.contents.channels.push(Channel {
                name: signal.label.clone(),
                unit: signal.unit.clone(),
                rate: (duration > 0.0 && !is_sparse).then(|| signal.per_record as f64 / duration),
                n_samples: self.n_records as usize * signal.per_record,
                left_out: is_sparse.then_some("it has no samples in the records"),
                position: None,
            });
        }
        self.contents.detected(format!(
            "GDF {}: {} records of {duration} s, scaled to physical units",
            self.header.version, self.n_records
        ));
        if duration == 0.0 {
            self.contents.warn("records last 0 s: no rate is known");
        }
    }

    fn read_events(&mut self) -> Result<()> {
        if self.header.n_records.is_none() {
            return Ok(());
        }
        let at = self.header.size + self.n_records * self.record;
        let rate = self
            .contents
            .channels
            .iter()
            .find_map(|channel| channel.rate);
        let events = events::read(&mut self.source, at, self.header.version, rate)?;
        if !events.is_empty() {
            self.contents.detected(format!(
                "{} events of the table, named by their codes",
                events.len()
            ));
        }
        self.contents.events = events;
        Ok(())
    }
}

impl Reader for GdfReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        let path = self.source.path().to_owned();
        for (channel, signal) in self.header.signals.iter().enumerate() {
            if table.wants(channel) {
                check_limits(&path, &signal.label, signal.physical, signal.digital)?;
            }
        }
        let mut input = self.source.stream(self.header.size)?;
        // Of a record that is not there the size may be anything.
        let length = if self.n_records > 0 { self.record } else { 0 };
        let mut bytes = vec![0; length as usize];
        for record in 0..self.n_records as usize {
            input
                .read_exact(&mut bytes)
                .map_err(|error| failed(&path, error, &format!("record {}", record + 1)))?;
            let mut rest = &bytes[..];
            for (channel, signal) in self.header.signals.iter().enumerate() {
                let (size, decode) = (signal.sample.size(), signal.sample.decoder());
                let (samples, others) = rest.split_at(signal.per_record * size);
                rest = others;
                if !table.wants(channel) {
                    continue;
                }
                let first = record * signal.per_record;
                for (i, sample) in samples.chunks_exact(size).enumerate() {
                    table.set(first + i, channel, signal.meaning(decode(sample)));
                }
            }
        }
        Ok(())
    }
}
