//! HDF5 files: MATLAB 7.3, and plain arrays of other programs.
//!
//! In: a file. Out: a [`Workspace`] whose arrays are places in the file. Only what MATLAB and h5py
//! write by default is understood: superblocks 0 to 3, old-style groups, data in one piece or in
//! chunks under a version 1 tree, deflate and shuffle. In files of MATLAB, dimensions are in
//! MATLAB's order.
//!
//! Written by hand after a trial of the crates, each given 20,000 damaged copies of the files of
//! `tests/fixtures` as `tests/mutated.rs` makes them. `hdf5-pure` (0.47) asked for 844 TB on one of
//! them, which ends the process, and takes 65 seconds of a processor to build. `hdf5-reader` (0.12)
//! held all bounds and reads newer layouts too, but costs 30 seconds with `ndarray`, which nothing
//! else here needs, for the thousand lines of this module. The bindings to the HDF5 library need C.

mod chunks;
mod dataset;
mod file;
mod objects;

use super::array::{Array, can_hold, is_names_name};
use super::matlab::{Numeric, Store, Value, Workspace};
use super::numbers::{Block, Endian, Number, Order};
use super::source::Source;
use super::table::Table;
use crate::error::Result;
use dataset::{Dataset, Layout, Type, attribute};
use file::File;
use objects::{members, messages};

/// Groups in groups; deeper ones are not for reading.
const DEEPEST: usize = 8;
/// Letters of a text, or structures of an array.
const LONGEST: usize = 4096;

struct Hdf5Store {
    file: File,
    datasets: Vec<Dataset>,
}

/// Reads what a file holds.
pub(crate) fn load(source: Source) -> Result<Workspace> {
    let path = source.path().to_owned();
    let (file, root) = File::open(source)?;
    let mut store = Hdf5Store {
        file,
        datasets: Vec::new(),
    };
    let messages = messages(&mut store.file, root)?;
    let Some(members) = members(&mut store.file, &messages)? else {
        return Err(store.file.damaged("root", "a group", "another object"));
    };
    let mut variables = Vec::new();
    for (name, address) in members {
        // MATLAB keeps what references point to in `#refs#`.
        if !name.starts_with('#') {
            let value = store.named(&name, address, 0)?;
            variables.push((name, value));
        }
    }
    Ok(Workspace {
        path,
        store: Box::new(store),
        variables,
    })
}

impl Hdf5Store {
    /// The object at an address. References are only followed where the name says that they are
    /// names of channels; following all of them would read the whole file.
    fn named(&mut self, name: &str, address: u64, depth: usize) -> Result<Value> {
        if !is_names_name(name) {
            return self.value(address, depth);
        }
        let Some(addresses) = self.references(address)? else {
            return self.value(address, depth);
        };
        let mut texts = Vec::new();
        for address in addresses {
            match self.value(address, DEEPEST)? {
                Value::Text(text) => texts.push(text),
                _ => return Ok(Value::Other("a cell array")),
            }
        }
        Ok(Value::Texts(texts))
    }

    /// The object at an address.
    fn value(&mut self, address: u64, depth: usize) -> Result<Value> {
        let messages = messages(&mut self.file, address)?;
        let class = attribute(&messages, "MATLAB_class");
        if let Some(dataset) = dataset::parse(&self.file, &messages)? {
            let is_empty = attribute(&messages, "MATLAB_empty").is_some();
            if is_empty {
                return Ok(Value::Other("an empty array"));
            }
            return self.array(dataset, class.as_deref());
        }
        let Some(members) = members(&mut self.file, &messages)? else {
            return Ok(Value::Other("neither an array nor a structure"));
        };
        if attribute(&messages, "MATLAB_sparse").is_some() {
            return Ok(Value::Other("a sparse array"));
        }
        if depth >= DEEPEST {
            return Ok(Value::Other("a structure inside many others"));
        }
        let mut fields = Vec::new();
        for (name, address) in members {
            // An array of structures is a group whose fields list references. Of these only the
            // labels of channels are of use; following all of them would read the whole file.
            if name == "labels"
                && let Some(labels) = self.references(address)?
            {
                let mut elements = Vec::new();
                for label in labels {
                    elements.push(vec![(name.clone(), self.value(label, DEEPEST)?)]);
                }
                return Ok(Value::Struct(elements));
            }
            let value = self.named(&name, address, depth + 1)?;
            fields.push((name, value));
        }
        Ok(Value::Struct(vec![fields]))
    }

    fn array(&mut self, dataset: Dataset, class: Option<&str>) -> Result<Value> {
        let (number, endian) = match dataset.elements {
            Type::Numbers(number, endian) => (number, endian),
            Type::References => return Ok(Value::Other("a cell array or an array of structures")),
            Type::Other(what) => return Ok(Value::Other(what)),
        };
        let mut shape = dataset.shape.clone();
        let column_major = class.is_some();
        if column_major {
            shape.reverse();
        }
        let array = Array {
            number,
            endian,
            shape,
            column_major,
        };
        let n_values = array.n_values();
        let size = n_values.and_then(|n_values| n_values.checked_mul(number.size()));
        let is_held = match (&dataset.layout, size) {
            (_, None) => false,
            (Layout::Compact(bytes), Some(size)) => size <= bytes.len(),
            (Layout::Contiguous { size: held, .. }, Some(size)) => {
                size as u64 <= *held && *held <= self.file.source.length()
            }
            (Layout::Chunked { .. }, Some(size)) => {
                can_hold(self.file.source.length(), size as u64)
            }
        };
        let n_values = match n_values {
            Some(n_values) if is_held => n_values,
            _ => {
                return Ok(Value::Other(
                    "an array that is larger than the file can hold",
                ));
            }
        };
        if class == Some("char") && n_values <= LONGEST {
            let units: Vec<u16> = self
                .small(&dataset, &array)?
                .iter()
                .map(|&unit| unit as u16)
                .collect();
            return Ok(Value::Text(String::from_utf16_lossy(&units)));
        }
        let scalar = match n_values {
            1 => self.small(&dataset, &array)?.first().copied(),
            _ => None,
        };
        self.datasets.push(dataset);
        let id = self.datasets.len() - 1;
        Ok(Value::Numeric(Numeric { array, scalar, id }))
    }

    /// All numbers of a small dataset.
    fn small(&mut self, dataset: &Dataset, array: &Array) -> Result<Vec<f64>> {
        let n_samples = array.n_values().unwrap_or(0);
        let block = Block {
            number: array.number,
            endian: array.endian,
            order: Order::Planar,
            n_samples,
            n_channels: 1,
        };
        let mut table = Table::new(self.file.path(), 0..n_samples, 1, &[0])?;
        if n_samples > 0 {
            chunks::fill(&mut self.file, dataset, &block, &mut table)?;
        }
        Ok(table
            .column(0)
            .map(|column| column.to_vec())
            .unwrap_or_default())
    }

    /// The addresses that a list of references holds; `None` when the object is no such list.
    fn references(&mut self, address: u64) -> Result<Option<Vec<u64>>> {
        let messages = messages(&mut self.file, address)?;
        let Some(dataset) = dataset::parse(&self.file, &messages)? else {
            return Ok(None);
        };
        let count = dataset
            .shape
            .iter()
            .try_fold(1usize, |product, &n| product.checked_mul(n));
        let count = match (dataset.elements, count) {
            (Type::References, Some(count)) if count <= LONGEST => count,
            _ => return Ok(None),
        };
        // Addresses are whole numbers far below 2^53.
        let array = Array {
            number: Number::U64,
            endian: Endian::Little,
            shape: vec![count],
            column_major: false,
        };
        let addresses = Dataset {
            elements: Type::Numbers(array.number, array.endian),
            ..dataset
        };
        let addresses = self.small(&addresses, &array)?;
        Ok(Some(
            addresses
                .into_iter()
                .map(|address| address as u64)
                .collect(),
        ))
    }
}

impl Store for Hdf5Store {
    fn fill(&mut self, id: usize, block: &Block, table: &mut Table) -> Result<()> {
        let dataset = self.datasets[id].clone();
        chunks::fill(&mut self.file, &dataset, block, table)
    }
}
