//! NumPy's NPZ files: ZIP archives of NPY arrays.
//!
//! The array to read is the only one that can be a recording, or the one that is named; a single
//! number called `fs` or the like gives the rate, a list called `t` or `ch_names` or the like tells
//! which side of it is time. Stored and deflated members; nothing else is
//! unpacked.

use super::array::{
    Array, can_hold, choose, is_names_name, is_rate_name, is_time_name, name_channels,
    without_times,
};
use super::layout::Evidence;
use super::numbers::Block;
use super::source::{Source, cut_short, damaged, failed};
use super::table::{Contents, Reader, Table, Variable};
use super::{ReadOptions, npy, time};
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;
use zip::result::ZipError;

type Archive = ZipArchive<BufReader<File>>;

/// An NPZ file with its array chosen.
pub(crate) struct NpzReader {
    path: PathBuf,
    archive: Archive,
    /// Member of the archive, and what it holds.
    member: usize,
    block: Option<Block>,
    contents: Contents,
}

/// An NPY array of the archive.
struct Member {
    index: usize,
    name: String,
    /// Bytes in the archive.
    packed: u64,
    /// Its header, or why that cannot be read.
    array: Result<Array>,
    /// The number, where the name says that it is a rate.
    rate: Option<f64>,
}

impl NpzReader {
    pub fn open(source: Source, options: &ReadOptions) -> Result<Self> {
        let path = source.path().to_owned();
        let length = source.length();
        let archive = ZipArchive::new(BufReader::new(source.into_file()));
        let mut archive = archive.map_err(|error| {
            let expected = "a ZIP archive with its directory at the end";
            cut_short(&path, "archive", expected.into(), error.to_string())
        })?;
        let mut members = members(&path, &mut archive, length)?;
        let variables: Vec<Variable> = members
            .iter()
            .map(|member| Variable {
                name: member.name.clone(),
                shape: member
                    .array
                    .as_ref()
                    .map_or(Vec::new(), |array| array.shape.clone()),
            })
            .collect();
        let is_candidate = |i: usize| members[i].array.as_ref().is_ok_and(Array::is_candidate);
        let Some(chosen) = choose(&path, options, &variables, is_candidate)? else {
            let contents = Contents {
                variables,
                undecided: true,
                ..Contents::default()
            };
            return Ok(Self {
                path,
                archive,
                member: 0,
                block: None,
                contents,
            });
        };
        let rate = members
            .iter()
            .find_map(|member| Some((member.name.clone(), member.rate?)));
        let names = names(&path, &mut archive, &members)?;
        let times = members.iter().enumerate().find_map(|(i, member)| {
            let array = member.array.as_ref().ok()?;
            let is_list = array.shape.iter().filter(|&&n| n != 1).count() == 1;
            (i != chosen && is_list && is_time_name(&member.name)).then_some((
                member.name.clone(),
                member.index,
                array.n_values()?,
            ))
        });
        let member = members.swap_remove(chosen);
        let place = format!("array `{}`", member.name);
        let evidence: Vec<Evidence> = names
            .iter()
            .map(|(name, names)| Evidence::Names(name.clone(), names.len()))
            .chain(
                times
                    .iter()
                    .map(|(name, _, n)| Evidence::Times(name.clone(), *n)),
            )
            .collect();
        let known = rate.as_ref().map(|(_, rate)| *rate);
        let (block, mut contents) =
            member
                .array?
                .recording(&path, &place, options.transpose, &evidence, known)?;
        if !block
            .size()
            .is_some_and(|size| can_hold(member.packed, size))
        {
            let expected = format!("data for shape {:?}", variables[chosen].shape);
            return Err(damaged(
                &path,
                place,
                expected,
                format!("{} packed bytes", member.packed),
            ));
        }
        contents.detected(format!("{place} is read"));
        if let Some((name, rate)) = &rate {
            contents.detected(format!("rate {rate} Hz is taken from `{name}`"));
        }
        if let Some((name, names)) = &names {
            name_channels(&mut contents, name, names);
        }
        if let (None, Some((name, index, n))) = (&rate, &times)
            && *n == contents.trial.unwrap_or(block.n_samples)
        {
            let values = vector(&path, &mut archive, *index, name)?;
            time::asked(name, &values).rate_of_all(&mut contents);
        }
        contents.variables = variables;
        if names.is_some() {
            let (archive, index) = (&mut archive, member.index);
            without_times(&path, &mut contents, options, &mut |table| {
                fill(&path, archive, index, &block, table)
            })?;
        }
        Ok(Self {
            path,
            archive,
            member: member.index,
            block: Some(block),
            contents,
        })
    }
}

/// Decodes a member, seen as `block`.
fn fill(
    path: &Path,
    archive: &mut Archive,
    member: usize,
    block: &Block,
    table: &mut Table,
) -> Result<()> {
    let failed = |error| failed(path, error, "data of the array");
    let mut entry = archive
        .by_index(member)
        .map_err(|error| unzipping(path, error, "data of the array"))?;
    npy::header(path, "header", &mut entry)?;
    block
        .fill(&mut entry, table, |_, value| value)
        .map_err(failed)?;
    // To the end, where the checksum is compared.
    io::copy(&mut entry, &mut io::sink()).map_err(failed)?;
    Ok(())
}

/// The arrays of an archive in a file of `length` bytes; only their headers are unpacked.
fn members(path: &Path, archive: &mut Archive, length: u64) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let unzipping = |error| unzipping(path, error, &format!("member {}", index + 1));
        let mut entry = archive.by_index(index).map_err(unzipping)?;
        let full = entry.name().map_err(unzipping)?.into_owned();
        let Some(name) = full.strip_suffix(".npy") else {
            continue;
        };
        let place = format!("array `{name}`");
        let packed = entry.compressed_size();
        if packed > length {
            let expected = format!("at most {length} packed bytes, the length of the file");
            return Err(damaged(path, place, expected, packed.to_string()));
        }
        let array = npy::header(path, &place, &mut entry).map(|(array, _)| array);
        let mut rate = None;
        if let Ok(array) = &array
            && array.n_values() == Some(1)
            && is_rate_name(name)
        {
            let mut bytes = vec![0; array.number.size()];
            entry
                .read_exact(&mut bytes)
                .map_err(|error| failed(path, error, &place))?;
            let value = array.number.decoder(array.endian)(&bytes);
            rate = Some(value).filter(|rate| rate.is_finite() && *rate > 0.0);
        }
        members.push(Member {
            index,
            name: name.to_string(),
            packed,
            array,
            rate,
        });
    }
    if members.is_empty() {
        return Err(Error::kind(
            path,
            "an NPZ archive",
            "a ZIP archive without any .npy member",
            "unpack it first, or use the file that was meant",
        ));
    }
    Ok(members)
}

/// The names of the channels, where a list of texts is called so.
fn names(
    path: &Path,
    archive: &mut Archive,
    members: &[Member],
) -> Result<Option<(String, Vec<String>)>> {
    for member in members {
        if !is_names_name(&member.name) || member.array.is_ok() {
            continue;
        }
        let place = format!("array `{}`", member.name);
        let mut entry = archive
            .by_index(member.index)
            .map_err(|error| unzipping(path, error, &place))?;
        if let Some(names) = npy::texts(path, &place, &mut entry)? {
            return Ok(Some((member.name.clone(), names)));
        }
    }
    Ok(None)
}

/// The numbers of a list.
fn vector(path: &Path, archive: &mut Archive, index: usize, name: &str) -> Result<Vec<f64>> {
    let place = format!("array `{name}`");
    let mut entry = archive
        .by_index(index)
        .map_err(|error| unzipping(path, error, &place))?;
    let packed = entry.compressed_size();
    let (array, _) = npy::header(path, &place, &mut entry)?;
    let (size, n_values) = (array.number.size(), array.n_values().unwrap_or(usize::MAX));
    if !can_hold(packed, (n_values as u64).saturating_mul(size as u64)) {
        let expected = format!("data for shape {:?}", array.shape);
        return Err(damaged(
            path,
            place,
            expected,
            format!("{packed} packed bytes"),
        ));
    }
    let mut values = Vec::new();
    let (decode, mut number) = (array.number.decoder(array.endian), vec![0; size]);
    let mut input = BufReader::new(entry);
    for _ in 0..n_values {
        input
            .read_exact(&mut number)
            .map_err(|error| failed(path, error, &place))?;
        values.push(decode(&number));
    }
    Ok(values)
}

fn unzipping(path: &Path, error: ZipError, place: &str) -> Error {
    match error {
        ZipError::Io(error) => failed(path, error, place),
        other => damaged(
            path,
            place,
            "a member that can be unpacked",
            other.to_string(),
        ),
    }
}

impl Reader for NpzReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        match &self.block {
            Some(block) => fill(&self.path, &mut self.archive, self.member, block, table),
            None => Ok(()),
        }
    }
}
