//! HDF5 files: MATLAB 7.3, SNIRF, and plain arrays of other programs.
//!
//! In: a file. Out: a [`Workspace`] whose arrays are places in the file; for [`super::snirf`] the
//! file itself. In files of MATLAB, dimensions are in MATLAB's order.
//!
//! The structure is read by `hdf5-reader`, which knows all versions of groups, headers and chunk
//! indexes, and which kept within all bounds on the damaged copies that `tests/mutated.rs` makes.
//! Here is what it leaves open: how much may be asked for, which arrays a file can really hold, and
//! the numbers straight into a [`Table`]. `hdf5-pure` (0.47) asked for 844 TB on one of those
//! copies, which ends the process. The bindings to the HDF5 library need C.

mod file;
mod fill;

pub(super) use file::{File, Member, number, shape};

use super::array::{Array, can_hold, is_names_name};
use super::matlab::{Numeric, Store, Value, Workspace};
use super::numbers::{Block, Order};
use super::source::Source;
use super::table::Table;
use super::trials::Keeper;
use crate::error::Result;
use hdf5_reader::group::Group;
use hdf5_reader::{Dataset, Datatype};
use std::collections::HashMap;

/// Groups in groups; deeper ones are not for reading.
const DEEPEST: usize = 8;
/// Letters of a text, or structures of an array.
const LONGEST: usize = 4096;
/// Where MATLAB keeps what references point to.
const REFERENCES: &str = "#refs#";

struct Hdf5Store {
    file: File,
    datasets: Vec<Dataset>,
}

/// Reads what a file holds.
pub(crate) fn load(source: Source) -> Result<Workspace> {
    let path = source.path().to_owned();
    let file = File::open(source)?;
    let root = file.root()?;
    let mut loading = Loading {
        // Every object of a sound file is visited once, those of one that leads in circles
        // without end.
        n_left: file.length / 16 + 64,
        root: root.clone(),
        referred: None,
        store: Hdf5Store {
            file,
            datasets: Vec::new(),
        },
    };
    let mut variables = Vec::new();
    for (name, member) in loading.store.file.members(&root)? {
        if !name.starts_with('#') {
            let value = loading.named(&name, member, 0)?;
            variables.push((name, value));
        }
    }
    Ok(Workspace {
        path,
        store: Box::new(loading.store),
        variables,
    })
}

/// What is known while a file is looked through.
struct Loading {
    store: Hdf5Store,
    root: Group,
    /// How many more objects may be visited.
    n_left: u64,
    /// The datasets that references can point to, by their addresses.
    referred: Option<HashMap<u64, Dataset>>,
}

impl Loading {
    fn value(&mut self, member: Member, depth: usize) -> Result<Value> {
        if self.n_left == 0 {
            let path = self.store.file.path();
            let expected = "a structure without circles";
            return Err(super::source::damaged(path, "groups", expected, "circles"));
        }
        self.n_left -= 1;
        let group = match member {
            Member::Dataset(dataset) => {
                let class = dataset.attribute("MATLAB_class").ok();
                let class = class.map(|class| class.read_string().unwrap_or_default());
                if dataset.attribute("MATLAB_empty").is_ok() {
                    return Ok(Value::Other("an empty array"));
                }
                return self.store.array(*dataset, class.as_deref());
            }
            Member::Group(group) => group,
        };
        if group.attribute("MATLAB_sparse").is_ok() {
            return Ok(Value::Other("a sparse array"));
        }
        if depth >= DEEPEST {
            return Ok(Value::Other("a structure inside many others"));
        }
        let mut fields = Vec::new();
        for (name, member) in self.store.file.members(&group)? {
            // An array of structures is a group whose fields list references. Of these only the
            // labels of channels are of use; following all of them would read the whole file.
            if name == "labels"
                && let Member::Dataset(dataset) = &member
                && let Some(labels) = self.labels(dataset)?
            {
                return Ok(labels);
            }
            let value = self.named(&name, member, depth + 1)?;
            fields.push((name, value));
        }
        Ok(Value::Struct(vec![fields]))
    }

    /// A member. References are only followed where its name says that they are names of channels;
    /// following all of them would read the whole file.
    fn named(&mut self, name: &str, member: Member, depth: usize) -> Result<Value> {
        if is_names_name(name)
            && let Member::Dataset(dataset) = &member
            && let Some(values) = self.references(dataset)?
        {
            let text = |value| match value {
                Value::Text(text) => Some(text),
                _ => None,
            };
            let texts: Option<Vec<String>> = values.into_iter().map(text).collect();
            return Ok(texts.map_or(Value::Other("a cell array"), Value::Texts));
        }
        self.value(member, depth)
    }

    /// The texts that a list of references points to, each as the only field of a structure;
    /// `None` when it is no such list.
    fn labels(&mut self, dataset: &Dataset) -> Result<Option<Value>> {
        let element = |value| vec![("labels".to_string(), value)];
        let values = self.references(dataset)?;
        Ok(values.map(|values| Value::Struct(values.into_iter().map(element).collect())))
    }

    /// What a list of references points to; `None` when it is no such list.
    fn references(&mut self, dataset: &Dataset) -> Result<Option<Vec<Value>>> {
        let count = dataset.num_elements().unwrap_or(u64::MAX);
        if !matches!(dataset.dtype(), Datatype::Reference { .. }) || count > LONGEST as u64 {
            return Ok(None);
        }
        let addresses = self.store.small(dataset, count as usize)?;
        let mut values = Vec::new();
        for address in addresses {
            values.push(match self.referred()?.get(&(address as u64)).cloned() {
                Some(value) => self.value(Member::Dataset(Box::new(value)), DEEPEST)?,
                None => Value::Other("a reference to nothing"),
            });
        }
        Ok(Some(values))
    }

    fn referred(&mut self) -> Result<&HashMap<u64, Dataset>> {
        if self.referred.is_none() {
            let datasets = match self.root.group(REFERENCES) {
                Ok(group) => {
                    let wrong = self.store.file.wrong(format!("group `{REFERENCES}`"));
                    group.datasets().map_err(wrong)?
                }
                Err(_) => Vec::new(),
            };
            let by_address = datasets.into_iter().map(|d| (d.address(), d));
            self.referred = Some(by_address.collect());
        }
        Ok(self.referred.get_or_insert_default())
    }
}

impl Hdf5Store {
    fn array(&mut self, dataset: Dataset, class: Option<&str>) -> Result<Value> {
        if matches!(dataset.dtype(), Datatype::Reference { .. }) {
            return Ok(Value::Other("a cell array or an array of structures"));
        }
        let (number, endian) = match number(dataset.dtype()) {
            Ok(found) => found,
            Err(what) => return Ok(Value::Other(what)),
        };
        if dataset.num_elements().is_ok_and(|count| count == 0) {
            return Ok(Value::Other("an empty array"));
        }
        let too_large = Ok(Value::Other(
            "an array that is larger than the file can hold",
        ));
        let Some(mut shape) = shape(&dataset) else {
            return too_large;
        };
        let column_major = class.is_some();
        if column_major {
            shape.reverse();
        }
        let array = Array {
            number,
            endian,
            shape,
            column_major,
            keeper: if column_major {
                Keeper::Matlab
            } else {
                Keeper::NumPy
            },
        };
        let n_values = match array.n_values() {
            Some(n_values) if is_held(&self.file, &dataset, n_values, number.size()) => n_values,
            _ => return too_large,
        };
        if class == Some("char") && n_values <= LONGEST {
            let units = self.small(&dataset, n_values)?;
            let units: Vec<u16> = units.iter().map(|&unit| unit as u16).collect();
            return Ok(Value::Text(String::from_utf16_lossy(&units)));
        }
        let scalar = match n_values {
            1 => self.small(&dataset, 1)?.first().copied(),
            _ => None,
        };
        self.datasets.push(dataset);
        let id = self.datasets.len() - 1;
        Ok(Value::Numeric(Numeric { array, scalar, id }))
    }

    /// All numbers of a small dataset.
    fn small(&self, dataset: &Dataset, count: usize) -> Result<Vec<f64>> {
        small(&self.file, dataset, count)
    }
}

/// Whether a file can hold so many numbers in a dataset.
pub(super) fn is_held(file: &File, dataset: &Dataset, n_values: usize, size: usize) -> bool {
    let bytes = (n_values as u64).saturating_mul(size as u64);
    match dataset.chunks() {
        Some(_) => can_hold(file.length, bytes),
        None => bytes <= file.length,
    }
}

/// All numbers of a small dataset of `count` elements, in the order of the file.
pub(super) fn small(file: &File, dataset: &Dataset, count: usize) -> Result<Vec<f64>> {
    let (number, endian) = match number(dataset.dtype()) {
        Ok(found) => found,
        Err(_) => return Ok(Vec::new()),
    };
    let block = Block {
        number,
        endian,
        order: Order::Planar,
        n_samples: count,
        n_channels: 1,
    };
    let mut table = Table::new(file.path(), 0..count, 1, &[0])?;
    if count > 0 {
        fill::fill(file, dataset, &block, &mut table)?;
    }
    let column = table.column(0).map(|column| column.to_vec());
    Ok(column.unwrap_or_default())
}

/// Decodes a dataset, seen as `block`.
pub(super) fn fill_table(
    file: &File,
    dataset: &Dataset,
    block: &Block,
    table: &mut Table,
) -> Result<()> {
    fill::fill(file, dataset, block, table)
}

impl Store for Hdf5Store {
    fn fill(&mut self, id: usize, block: &Block, table: &mut Table) -> Result<()> {
        fill::fill(&self.file, &self.datasets[id], block, table)
    }
}
