//! Named f64 tensors and text metadata ↔ the bytes of a safetensors file.
//!
//! [`Encoder`] collects tensors and writes them out; the same contents always give the same bytes,
//! which is why the header is not left to the library's hash map. [`Decoder`] reads through the
//! `safetensors` crate and checks, tensor by tensor, name, type, shape and numbers. Which tensors
//! there are is the business of `model` and `checkpoint`.

use crate::checksum::{self, Seal, UNSEALED};
use crate::config;
use crate::error::{Error, Result};
use faer::{Mat, MatRef};
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensors};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use strtransformer::Config;

/// The version of both formats; there is no other that can be read.
pub(crate) const VERSION: u64 = 2;

const HEADER_LENGTH_BYTES: usize = 8;

/// Every entry that the metadata may have; a checksum only since there are any.
const ENTRIES: [&str; 5] = ["format", "version", "config", "state", checksum::ENTRY];

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Model,
    Checkpoint,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Format::Model => "strtransformer-model",
            Format::Checkpoint => "strtransformer-checkpoint",
        }
    }

    /// What to do about a file that names `found` in place of this format.
    fn remedy(self, found: &str) -> &'static str {
        if found == Format::Model.name() {
            "it is a model: load it with load_model"
        } else if found == Format::Checkpoint.name() {
            "it is a checkpoint: load it with load_checkpoint"
        } else {
            "it comes from another program: give a file that StrTransformer saved"
        }
    }
}

/// Collects the contents of one file.
pub(crate) struct Encoder {
    metadata: BTreeMap<&'static str, String>,
    tensors: BTreeMap<String, TensorInfo>,
    data: Vec<u8>,
}

/// The JSON at the start of a safetensors file.
#[derive(Serialize)]
struct Header<'a> {
    #[serde(rename = "__metadata__")]
    metadata: &'a BTreeMap<&'static str, String>,
    #[serde(flatten)]
    tensors: &'a BTreeMap<String, TensorInfo>,
}

impl Encoder {
    /// A file of this format with this configuration and these scalars.
    pub fn new(format: Format, config: &Config, state: &impl Serialize) -> Encoder {
        let state =
            serde_json::to_string(state).expect("records of numbers, strings and lists are JSON");
        let metadata = [
            ("format", format.name().to_string()),
            ("version", VERSION.to_string()),
            ("config", config::config_to_toml(config)),
            ("state", state),
            (checksum::ENTRY, UNSEALED.to_string()),
        ];
        Encoder {
            metadata: metadata.into(),
            tensors: BTreeMap::new(),
            data: Vec::new(),
        }
    }

    /// Adds a tensor; `values` in row-major order.
    pub fn tensor(
        &mut self,
        name: impl Into<String>,
        shape: &[usize],
        values: impl IntoIterator<Item = f64>,
    ) {
        let start = self.data.len();
        values
            .into_iter()
            .for_each(|value| self.data.extend(value.to_le_bytes()));
        let info = TensorInfo {
            dtype: Dtype::F64,
            shape: shape.to_vec(),
            data_offsets: (start, self.data.len()),
        };
        self.tensors.insert(name.into(), info);
    }

    /// Adds a vector.
    pub fn vector(&mut self, name: &str, values: &[f64]) {
        self.tensor(name, &[values.len()], values.iter().copied());
    }

    /// Adds a matrix.
    pub fn matrix(&mut self, name: &str, values: MatRef<'_, f64>) {
        self.tensor(name, &[values.nrows(), values.ncols()], row_major(values));
    }

    /// Header and data, ready to be read back or written out.
    pub fn finish(self) -> Encoded {
        let header = Header {
            metadata: &self.metadata,
            tensors: &self.tensors,
        };
        let mut header = serde_json::to_vec(&header).expect("names, shapes and strings are JSON");
        // Data starts at a multiple of 8 bytes, so that a reader may map it.
        header.resize(header.len().next_multiple_of(HEADER_LENGTH_BYTES), b' ');
        let mut bytes = Vec::with_capacity(HEADER_LENGTH_BYTES + header.len() + self.data.len());
        bytes.extend((header.len() as u64).to_le_bytes());
        bytes.extend(&header);
        bytes.extend(self.data);
        checksum::seal(&mut bytes, header_of(header.len()));
        Encoded(bytes)
    }
}

/// Where the header is in a file.
fn header_of(length: usize) -> Range<usize> {
    HEADER_LENGTH_BYTES..HEADER_LENGTH_BYTES + length
}

/// The bytes of a file.
pub(crate) struct Encoded(Vec<u8>);

impl Encoded {
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub fn write_to(&self, file: &mut dyn Write) -> io::Result<()> {
        file.write_all(&self.0)
    }
}

fn row_major(values: MatRef<'_, f64>) -> impl Iterator<Item = f64> {
    (0..values.nrows()).flat_map(move |i| (0..values.ncols()).map(move |j| values[(i, j)]))
}

/// Which numbers a tensor may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    Finite,
    /// NaN marks a missing sample.
    FiniteOrMissing,
    /// Results of a run that may have diverged.
    Any,
}

impl Numbers {
    fn allows(self, value: f64) -> bool {
        match self {
            Numbers::Finite => value.is_finite(),
            Numbers::FiniteOrMissing => !value.is_infinite(),
            Numbers::Any => true,
        }
    }
}

/// Where the bytes come from, which decides what to do about a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A file.
    File,
    /// An encoder: what was written is read back before it replaces anything.
    Memory,
}

impl Origin {
    pub fn remedy(self) -> &'static str {
        match self {
            Origin::File => {
                "the file is damaged or was edited: use another copy of it, or save it again"
            }
            Origin::Memory => {
                "nothing was written, since it could not be loaded again: the run has diverged or \
                 its state was changed by hand"
            }
        }
    }
}

/// Reads the contents of one file.
pub(crate) struct Decoder<'a> {
    path: &'a Path,
    origin: Origin,
    header: Metadata,
    /// What the checksum of the file says.
    seal: Seal,
    data: &'a [u8],
    unread: BTreeSet<String>,
}

impl<'a> Decoder<'a> {
    /// Checks that the bytes are a safetensors file of this format and of a version that is known.
    pub fn new(
        path: &'a Path,
        bytes: &'a [u8],
        format: Format,
        origin: Origin,
    ) -> Result<Decoder<'a>> {
        let (header_length, header) =
            SafeTensors::read_metadata(bytes).map_err(|reason| Error::Unreadable {
                path: path.to_owned(),
                reason: reason.to_string(),
            })?;
        let decoder = Decoder {
            path,
            origin,
            seal: checksum::check(bytes, header_of(header_length)),
            data: &bytes[HEADER_LENGTH_BYTES + header_length..],
            unread: header.offset_keys().into_iter().collect(),
            header,
        };
        let found = decoder.metadata("format");
        if found != Some(format.name()) {
            return Err(Error::Foreign {
                path: path.to_owned(),
                expected: format.name(),
                found: found.map_or("a file that names no format".into(), |name| {
                    format!("`{name}`")
                }),
                remedy: format.remedy(found.unwrap_or_default()),
            });
        }
        let version = decoder.text("version")?;
        match version.parse::<u64>() {
            Ok(VERSION) => Ok(decoder),
            Ok(found) => Err(Error::Version {
                path: path.to_owned(),
                found,
                supported: VERSION,
            }),
            _ => Err(decoder.content(
                "metadata `version`",
                VERSION.to_string(),
                format!("`{version}`"),
            )),
        }
    }

    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// A fault at `place`.
    pub fn content(
        &self,
        place: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Error {
        Error::Content {
            path: self.path.to_owned(),
            place: place.into(),
            expected: expected.into(),
            found: found.into(),
            remedy: self.origin.remedy().into(),
        }
    }

    fn metadata(&self, key: &str) -> Option<&str> {
        self.header
            .metadata()
            .as_ref()
            .and_then(|map| map.get(key))
            .map(String::as_str)
    }

    fn text(&self, key: &str) -> Result<&str> {
        self.metadata(key)
            .ok_or_else(|| self.content(format!("metadata `{key}`"), "an entry", "none"))
    }

    /// The configuration, its values checked.
    pub fn config(&self) -> Result<Config> {
        let config = config::parse(self.text("config")?).map_err(|fault| Error::ConfigText {
            path: self.path.to_owned(),
            place: format!("metadata `config`, {}", fault.place),
            problem: fault.problem,
        })?;
        config.check_values().map_err(Error::refused(self.path))?;
        // Every file holds more than K numbers; from here on K may be computed with.
        if config.n_sources >= self.n_values() {
            let expected = format!("numbers for n_sources = {}", config.n_sources);
            return Err(self.content(
                "tensors",
                expected,
                format!("{} numbers in all", self.n_values()),
            ));
        }
        Ok(config)
    }

    /// The scalars.
    pub fn state<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(self.text("state")?).map_err(|reason| {
            self.content(
                "metadata `state`",
                "the scalars of this format as JSON",
                reason.to_string(),
            )
        })
    }

    /// How many numbers the file can hold: a bound for sizes that are read from it.
    pub fn n_values(&self) -> usize {
        self.data.len() / size_of::<f64>()
    }

    /// The shape of a tensor, if there is one of this name.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.header.info(name).map(|info| &info.shape[..])
    }

    /// A tensor of this shape, row-major.
    pub fn tensor(&mut self, name: &str, shape: &[usize], numbers: Numbers) -> Result<Vec<f64>> {
        let place = || format!("tensor `{name}`");
        let info = self
            .header
            .info(name)
            .ok_or_else(|| self.content(place(), format!("shape {shape:?}"), "no such tensor"))?;
        if info.dtype != Dtype::F64 {
            return Err(self.content(place(), "type F64", format!("type {}", info.dtype)));
        }
        if info.shape != shape {
            let (expected, found) = (
                format!("shape {shape:?}"),
                format!("shape {:?}", info.shape),
            );
            return Err(self.content(place(), expected, found));
        }
        let (start, end) = info.data_offsets;
        let bytes = self.data.get(start..end).ok_or_else(|| {
            self.content(
                place(),
                "data inside the file",
                format!("bytes {start}..{end}"),
            )
        })?;
        let (values, _) = bytes.as_chunks();
        let values: Vec<f64> = values
            .iter()
            .map(|&value| f64::from_le_bytes(value))
            .collect();
        if let Some(at) = values.iter().position(|&value| !numbers.allows(value)) {
            let place = format!("tensor `{name}`, element {at} (row-major, from 0)");
            return Err(self.content(place, "a finite number", values[at].to_string()));
        }
        self.unread.remove(name);
        Ok(values)
    }

    /// A vector of any length.
    pub fn vector(&mut self, name: &str, numbers: Numbers) -> Result<Vec<f64>> {
        match self.shape(name) {
            Some(&[length]) => self.tensor(name, &[length], numbers),
            Some(shape) => {
                let found = format!("shape {shape:?}");
                Err(self.content(
                    format!("tensor `{name}`"),
                    "a shape of one dimension",
                    found,
                ))
            }
            None => Err(self.content(format!("tensor `{name}`"), "a vector", "no such tensor")),
        }
    }

    /// A matrix of this shape.
    pub fn matrix(
        &mut self,
        name: &str,
        rows: usize,
        columns: usize,
        numbers: Numbers,
    ) -> Result<Mat<f64>> {
        let values = self.tensor(name, &[rows, columns], numbers)?;
        Ok(MatRef::from_row_major_slice(&values, rows, columns).to_owned())
    }

    /// A matrix of any shape.
    pub fn any_matrix(&mut self, name: &str, numbers: Numbers) -> Result<Mat<f64>> {
        match self.shape(name) {
            Some(&[rows, columns]) => self.matrix(name, rows, columns, numbers),
            Some(shape) => {
                let found = format!("shape {shape:?}");
                Err(self.content(
                    format!("tensor `{name}`"),
                    "a shape of two dimensions",
                    found,
                ))
            }
            None => Err(self.content(format!("tensor `{name}`"), "a matrix", "no such tensor")),
        }
    }

    /// Names of the tensors that nobody has read and that begin like this, sorted.
    pub fn names_with_prefix(&self, prefix: &str) -> Vec<String> {
        let unread = self.unread.iter();
        unread
            .filter(|name| name.starts_with(prefix))
            .cloned()
            .collect()
    }

    /// Ends the reading: a tensor that nobody asked for is a fault, and so is a checksum that does
    /// not hold. That comes last, because every other fault has a place.
    pub fn finish(self) -> Result<()> {
        if let Some(name) = self.unread.first() {
            return Err(self.content(
                format!("tensor `{name}`"),
                "only the tensors of this format",
                "a tensor that does not belong to it",
            ));
        }
        let metadata = self.header.metadata().iter().flatten();
        for (key, _) in metadata {
            if !ENTRIES.contains(&key.as_str()) {
                return Err(self.content(
                    "metadata",
                    format!("the entries {}", ENTRIES.join(", ")),
                    format!("`{key}`"),
                ));
            }
        }
        // Without the entry it was written by an earlier program, and cannot be judged.
        let is_sealed = self.metadata(checksum::ENTRY).is_some();
        if is_sealed && self.seal != Seal::Whole {
            return Err(self.content(
                "checksum",
                "that of the file as it was saved",
                "another one: some of its bytes have changed",
            ));
        }
        Ok(())
    }
}
