//! A Parquet file with other numbers in some of its columns.
//!
//! In: a file whose footer has been read, and the new numbers. Out: a file with the same schema,
//! groups of rows and metadata. A column of a group in which nothing changes is copied byte for
//! byte; another is encoded anew ([`super::replace`]), packed as it was. Indexes of pages and Bloom
//! filters, which readers can do without, are not made again.

use super::replace::{Changed, Numbers, changed};
use super::{Decoder, caught};
use crate::error::Result;
use crate::read::Note;
use crate::read::rewrite::{Replacement, Trouble, write_file};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::writer::SerializedFileWriter;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

impl Decoder {
    /// Writes the file to `out`; `columns` has the column of every channel.
    pub fn rewrite(
        &self,
        columns: &[usize],
        new: &Replacement<'_>,
        out: &Path,
    ) -> Result<Vec<Note>> {
        let rounded = write_file(out, |file| {
            self.rewrite_groups(columns, new, file)
                .map_err(|trouble| trouble.told(&self.path, out, new))
        })?;
        let note = "new numbers are rounded in columns that hold whole ones";
        Ok(rounded.then(|| Note::detected(note)).into_iter().collect())
    }

    /// Says whether a number was rounded.
    fn rewrite_groups(
        &self,
        columns: &[usize],
        new: &Replacement<'_>,
        file: &mut (dyn Write + Send),
    ) -> Result<bool, Trouble> {
        let metadata = self.reader.metadata();
        let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
        let mut writer =
            SerializedFileWriter::new(file, schema, self.properties()).map_err(writing)?;
        let (mut first, mut rounded) = (0, false);
        for (index, group) in metadata.row_groups().iter().enumerate() {
            let n_rows = group.num_rows() as usize;
            let mut copy = writer.next_row_group().map_err(writing)?;
            for (at, chunk) in group.columns().iter().enumerate() {
                let channel = columns.iter().position(|&column| column == at);
                let channel = channel.filter(|&channel| new.wants(channel));
                let changed = match channel {
                    Some(channel) => {
                        let numbers = Numbers::new(new, channel, first..first + n_rows);
                        self.changed(index, at, &numbers)?
                    }
                    None => None,
                };
                let Some(changed) = changed else {
                    let chunk = as_it_is(chunk, n_rows);
                    copy.append_column(&self.bytes, chunk).map_err(writing)?;
                    continue;
                };
                rounded |= changed.rounded;
                if let Some(mut column) = copy.next_column().map_err(writing)? {
                    (changed.write)(&mut column).map_err(writing)?;
                    column.close().map_err(writing)?;
                }
            }
            copy.close().map_err(writing)?;
            first += n_rows;
        }
        writer.close().map_err(writing)?;
        Ok(rounded)
    }

    /// A column of a group with its new numbers; `None` where they are the ones it has.
    fn changed(
        &self,
        group: usize,
        at: usize,
        numbers: &Numbers<'_>,
    ) -> Result<Option<Changed>, Trouble> {
        let Ok(kind) = self.columns[at].kind else {
            return Ok(None);
        };
        let mut outcome = Ok(None);
        caught(|| {
            let chunk = self.reader.get_row_group(group)?.get_column_reader(at)?;
            outcome = changed(chunk, kind, numbers)?;
            Ok(())
        })
        .map_err(|error| Trouble::Reading(io::Error::other(error)))?;
        outcome
    }

    /// What the file says of itself, and how its columns are packed.
    fn properties(&self) -> Arc<WriterProperties> {
        let metadata = self.reader.metadata();
        let about = metadata.file_metadata();
        let mut properties = WriterProperties::builder()
            .set_created_by("StrTransformer".into())
            .set_key_value_metadata(about.key_value_metadata().cloned())
            // Measured numbers seldom repeat.
            .set_dictionary_enabled(false);
        for chunk in metadata
            .row_groups()
            .iter()
            .flat_map(|group| group.columns())
        {
            properties =
                properties.set_column_compression(chunk.column_path().clone(), chunk.compression());
        }
        Arc::new(properties.build())
    }
}

/// A chunk for [`parquet::file::writer::SerializedRowGroupWriter::append_column`].
fn as_it_is(chunk: &ColumnChunkMetaData, n_rows: usize) -> ColumnCloseResult {
    ColumnCloseResult {
        bytes_written: chunk.compressed_size() as u64,
        rows_written: n_rows as u64,
        metadata: chunk.clone(),
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    }
}

fn writing(error: ParquetError) -> Trouble {
    Trouble::Writing(io::Error::other(error))
}
