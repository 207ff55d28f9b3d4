//! The footer of a Parquet file: its columns and where their pages are.

use super::thrift::{Input, Value};
use crate::error::Result;
use crate::read::source::{Source, cut_short, damaged};
use std::path::Path;

/// How values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Physical {
    Bool,
    Int32,
    Int64,
    Float,
    Double,
}

/// How pages are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    None,
    Snappy,
    Gzip,
    Zstd,
}

/// A column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub name: String,
    pub kind: Result<Kind, &'static str>,
    /// Values may be missing.
    pub optional: bool,
}

/// What the numbers of a column are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kind {
    pub physical: Physical,
    pub unsigned: bool,
    /// Seconds of one unit, when the column holds times.
    pub seconds: Option<f64>,
}

/// The pages of one column in one group of rows.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub codec: Result<Codec, i64>,
    pub offset: u64,
    pub size: u64,
}

/// What the footer says.
#[derive(Debug)]
pub(super) struct Footer {
    pub n_rows: usize,
    pub columns: Vec<Column>,
    /// For every group of rows: its rows and the chunk of every column.
    pub groups: Vec<(usize, Vec<Chunk>)>,
}

pub(super) fn read(source: &mut Source) -> Result<Footer> {
    let path = source.path().to_owned();
    let length = source.length();
    let end = match length {
        12.. => source.bytes(length - 8, 8, "end of the file")?,
        _ => return Err(damaged(&path, "end of the file", "a footer", "the end")),
    };
    if &end[4..] != b"PAR1" {
        let found = match &end[4..] {
            b"PARE" => "an encrypted file",
            _ => "other bytes",
        };
        return Err(cut_short(
            &path,
            "end of the file",
            "`PAR1`".into(),
            found.into(),
        ));
    }
    let size = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    let start = (length - 8).checked_sub(size).filter(|&start| start >= 4);
    let start = start.ok_or_else(|| {
        damaged(
            &path,
            "footer",
            "one inside the file",
            format!("{size} bytes"),
        )
    })?;
    let bytes = source.bytes(start, size, "footer")?;
    let footer = Input::new(&bytes)
        .structure()
        .ok_or_else(|| damaged(&path, "footer", "a structure of Thrift", "other bytes"))?;
    parse(&path, &footer, length)
}

fn parse(path: &Path, footer: &Value, length: u64) -> Result<Footer> {
    let wrong = |what: &str| damaged(path, "footer", what.to_string(), "none that makes sense");
    let schema = footer.list(2).ok_or_else(|| wrong("a schema"))?;
    let columns = columns(schema).ok_or_else(|| wrong("a tree of columns"))?;
    let total = footer
        .int(3)
        .and_then(|n_rows| usize::try_from(n_rows).ok());
    let n_rows = total.ok_or_else(|| wrong("a number of rows"))?;
    let mut groups = Vec::new();
    for group in footer.list(4).ok_or_else(|| wrong("groups of rows"))? {
        let rows = group.int(3).and_then(|rows| usize::try_from(rows).ok());
        let chunks: Option<Vec<Chunk>> = group
            .list(1)
            .and_then(|chunks| chunks.iter().map(chunk).collect());
        let (Some(rows), Some(chunks)) = (rows, chunks) else {
            return Err(wrong("a group of rows with its columns"));
        };
        if chunks.len() != columns.len() {
            return Err(wrong("a chunk for every column"));
        }
        for chunk in &chunks {
            if chunk
                .offset
                .checked_add(chunk.size)
                .is_none_or(|end| end > length)
            {
                let expected = format!("columns inside the {length} bytes of the file");
                let found = format!("{} bytes from byte {}", chunk.size, chunk.offset);
                return Err(cut_short(path, "footer", expected, found));
            }
        }
        groups.push((rows, chunks));
    }
    let sum = groups
        .iter()
        .try_fold(0usize, |sum, (rows, _)| sum.checked_add(*rows));
    if sum != Some(n_rows) {
        return Err(damaged(
            path,
            "footer",
            format!("{n_rows} rows in all groups"),
            format!("{sum:?}"),
        ));
    }
    Ok(Footer {
        n_rows,
        columns,
        groups,
    })
}

/// Leaves of the schema, in order. What lies deeper than one level is no column of numbers.
fn columns(schema: &[Value]) -> Option<Vec<Column>> {
    let mut columns = Vec::new();
    let mut at = 1;
    while at < schema.len() {
        let element = &schema[at];
        at += 1;
        let name = element.text(4)?;
        match element.int(5).filter(|&children| children > 0) {
            None => columns.push(column(name, element)),
            Some(children) => {
                let mut open = children;
                while open > 0 {
                    let inner = schema.get(at)?;
                    at += 1;
                    open += inner.int(5).filter(|&children| children > 0).unwrap_or(0) - 1;
                    if inner.int(5).is_none_or(|children| children <= 0) {
                        columns.push(Column {
                            name: format!("{name}.{}", inner.text(4)?),
                            kind: Err("it is part of a list or a structure"),
                            optional: true,
                        });
                    }
                }
            }
        }
    }
    Some(columns)
}

fn column(name: String, element: &Value) -> Column {
    let physical = match element.int(1) {
        Some(0) => Ok(Physical::Bool),
        Some(1) => Ok(Physical::Int32),
        Some(2) => Ok(Physical::Int64),
        Some(4) => Ok(Physical::Float),
        Some(5) => Ok(Physical::Double),
        _ => Err("it holds no numbers"),
    };
    // Converted types: 5 decimal, 6 date, 9 and 10 timestamps, 11 to 14 unsigned; the newer logical
    // types add units.
    let converted = element.int(6);
    let logical = element.field(10);
    let unit = logical
        .and_then(|logical| logical.field(8))
        .and_then(|stamp| stamp.field(2));
    let seconds = match (converted, unit) {
        (_, Some(unit)) if unit.field(1).is_some() => Some(1e-3),
        (_, Some(unit)) if unit.field(2).is_some() => Some(1e-6),
        (_, Some(unit)) if unit.field(3).is_some() => Some(1e-9),
        (Some(9), _) => Some(1e-3),
        (Some(10), _) => Some(1e-6),
        (Some(6), _) => Some(86_400.0),
        _ => None,
    };
    let kind = match (physical, element.int(3), converted) {
        (Err(why), _, _) => Err(why),
        (_, Some(2), _) => Err("it holds lists"),
        (_, _, Some(5)) => Err("it holds decimals"),
        (Ok(physical), _, _) => Ok(Kind {
            physical,
            unsigned: matches!(converted, Some(11..=14)),
            seconds,
        }),
    };
    Column {
        name,
        kind,
        optional: element.int(3) == Some(1),
    }
}

fn chunk(value: &Value) -> Option<Chunk> {
    let data = value.field(3)?;
    let codec = match data.int(4)? {
        0 => Ok(Codec::None),
        1 => Ok(Codec::Snappy),
        2 => Ok(Codec::Gzip),
        6 => Ok(Codec::Zstd),
        other => Err(other),
    };
    let data_page = u64::try_from(data.int(9)?).ok()?;
    let dictionary = data
        .int(11)
        .and_then(|at| u64::try_from(at).ok())
        .filter(|&at| at > 0);
    Some(Chunk {
        codec,
        offset: dictionary.map_or(data_page, |at| at.min(data_page)),
        size: u64::try_from(data.int(7)?).ok()?,
    })
}
