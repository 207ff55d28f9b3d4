//! The variables of a MATLAB file, whichever way they are stored, and the choice of one of them as
//! a recording.
//!
//! [`Workspace`] is what the readers of MATLAB 5 and of HDF5 give: names and small values in
//! memory, large arrays only as places in the file ([`Store`]). A vector is one channel; how a
//! matrix lies is decided by what stands beside it (a list of times or of names) and by its shape.

use super::array::{
    Array, choose, is_names_name, is_rate_name, is_time_name, last_part, name_channels,
    without_times,
};
use super::layout::Evidence;
use super::numbers::{Block, Order};
use super::rewrite::Replacement;
use super::table::{Contents, Reader, Table, Variable};
use super::{Note, ReadOptions, time};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// A value of a variable or of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Numeric(Numeric),
    Text(String),
    /// A cell array of texts.
    Texts(Vec<String>),
    /// One list of fields an element.
    Struct(Vec<Vec<(String, Value)>>),
    /// Something that is not read, in words.
    Other(&'static str),
}

/// An array of real numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Numeric {
    pub array: Array,
    /// The number, where there is only one.
    pub scalar: Option<f64>,
    /// What the store knows it by.
    pub id: usize,
}

/// Where the numbers are.
pub(crate) trait Store {
    /// Decodes the array `id`, seen as `block`.
    fn fill(&mut self, id: usize, block: &Block, table: &mut Table) -> Result<()>;

    /// Writes the file to `out` with new numbers in the array `id`, seen as `block`; `None` where
    /// that cannot be done.
    fn rewrite(
        &mut self,
        _id: usize,
        _block: &Block,
        _new: &Replacement<'_>,
        _out: &Path,
    ) -> Result<Option<Vec<Note>>> {
        Ok(None)
    }
}

/// The variables of a file.
pub(crate) struct Workspace {
    pub path: PathBuf,
    pub store: Box<dyn Store>,
    pub variables: Vec<(String, Value)>,
}

impl Value {
    /// A field of a structure.
    pub fn field(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Struct(elements) => elements
                .first()?
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, value)| value),
            _ => None,
        }
    }
}

/// Chooses a variable and reads it.
pub(crate) fn open(mut workspace: Workspace, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    let path = workspace.path.clone();
    if options.variable.is_none()
        && let Some((_, value @ Value::Struct(_))) =
            workspace.variables.iter().find(|(name, _)| name == "EEG")
        && value.field("srate").is_some()
    {
        return super::eeglab::of_workspace(workspace);
    }
    let mut found = Vec::new();
    for (name, value) in &workspace.variables {
        flatten(name, value, &mut found);
    }
    let variables: Vec<Variable> = found
        .iter()
        .map(|(name, value)| Variable {
            name: name.clone(),
            shape: match value {
                Value::Numeric(numeric) => numeric.array.shape.clone(),
                _ => Vec::new(),
            },
        })
        .collect();
    if variables.is_empty() {
        return Err(Error::content(
            &path,
            "variables",
            "at least one",
            "none",
            "check that this is the file that was meant",
        ));
    }
    let is_candidate =
        |i: usize| matches!(found[i].1, Value::Numeric(numeric) if numeric.array.is_candidate());
    let Some(chosen) = choose(&path, options, &variables, is_candidate)? else {
        let contents = Contents {
            variables,
            undecided: true,
            ..Contents::default()
        };
        return Ok(Box::new(MatlabReader::new(workspace.store, None, contents)));
    };
    let (name, value) = &found[chosen];
    let numeric = match value {
        Value::Numeric(numeric) => numeric,
        other => return Err(not_numeric(&path, name, other)),
    };
    let place = format!("variable `{name}`");
    let mut array = numeric.array.clone();
    let vector = array.shape.len() == 2 && array.shape[0] == 1;
    if vector {
        array.shape.remove(0);
    }
    let beside = Beside::find(&found, chosen);
    let (block, mut contents) = array.recording(
        &path,
        &place,
        options.transpose,
        &beside.evidence(),
        beside.rate.as_ref().map(|(_, rate)| *rate),
    )?;
    contents.detected(format!("{place} is read"));
    if vector {
        contents.detected("the row vector is taken as one channel");
    }
    if let Some((name, rate)) = &beside.rate {
        contents.detected(format!("rate {rate} Hz is taken from `{name}`"));
    }
    if let Some((name, names)) = &beside.names {
        name_channels(&mut contents, name, names);
    }
    contents.variables = variables;
    let id = numeric.id;
    if let (None, Some((name, times))) = (&beside.rate, &beside.times)
        && times.array.n_values() == Some(contents.trial.unwrap_or(block.n_samples))
    {
        let values = vector_of(&path, workspace.store.as_mut(), times)?;
        time::asked(name, &values).rate_of_all(&mut contents);
    }
    if beside.names.is_some() {
        let store = &mut workspace.store;
        without_times(&path, &mut contents, options, &mut |table| {
            store.fill(id, &block, table)
        })?;
    }
    Ok(Box::new(MatlabReader::new(
        workspace.store,
        Some((id, block)),
        contents,
    )))
}

/// What is kept beside the recording under a name that says what it is.
struct Beside<'a> {
    rate: Option<(String, f64)>,
    times: Option<(&'a str, Numeric)>,
    names: Option<(&'a str, Vec<String>)>,
}

impl<'a> Beside<'a> {
    fn find(found: &'a [(String, &Value)], chosen: usize) -> Self {
        let others = || {
            let all = found.iter().enumerate();
            all.filter(move |(i, _)| *i != chosen)
                .map(|(_, found)| found)
        };
        let times = others().find_map(|(name, value)| match value {
            Value::Numeric(numeric) if is_time_name(last_part(name)) => {
                let long = numeric.array.shape.iter().filter(|&&n| n != 1).count();
                (long == 1).then(|| (name.as_str(), numeric.clone()))
            }
            _ => None,
        });
        let names = others().find_map(|(name, value)| match value {
            Value::Texts(names) if is_names_name(last_part(name)) => {
                let names = names.iter().map(|name| name.trim().to_string());
                Some((name.as_str(), names.collect()))
            }
            _ => None,
        });
        Self {
            rate: rate(found),
            times,
            names,
        }
    }

    fn evidence(&self) -> Vec<Evidence> {
        let names = self.names.iter();
        let names = names.map(|(name, names)| Evidence::Names(name.to_string(), names.len()));
        let times = self.times.iter().filter_map(|(name, numeric)| {
            Some(Evidence::Times(name.to_string(), numeric.array.n_values()?))
        });
        names.chain(times).collect()
    }
}

/// The numbers of a vector.
fn vector_of(path: &Path, store: &mut dyn Store, vector: &Numeric) -> Result<Vec<f64>> {
    let n_samples = vector.array.n_values().unwrap_or(0);
    let block = Block {
        number: vector.array.number,
        endian: vector.array.endian,
        order: Order::Planar,
        n_samples,
        n_channels: 1,
    };
    let mut table = Table::new(path, 0..n_samples, 1, &[0])?;
    store.fill(vector.id, &block, &mut table)?;
    Ok(table
        .column(0)
        .map(|column| column.to_vec())
        .unwrap_or_default())
}

/// Fields of structures get the name `structure.field`.
fn flatten<'a>(name: &str, value: &'a Value, found: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Struct(elements) if elements.len() == 1 => {
            for (field, value) in &elements[0] {
                flatten(&format!("{name}.{field}"), value, found);
            }
        }
        _ => found.push((name.to_string(), value)),
    }
}

/// A single number whose name says that it is the rate.
fn rate(found: &[(String, &Value)]) -> Option<(String, f64)> {
    found.iter().find_map(|(name, value)| match value {
        Value::Numeric(Numeric {
            scalar: Some(rate), ..
        }) if is_rate_name(last_part(name)) && rate.is_finite() && *rate > 0.0 => {
            Some((name.clone(), *rate))
        }
        _ => None,
    })
}

fn not_numeric(path: &Path, name: &str, value: &Value) -> Error {
    let found = match value {
        Value::Text(_) | Value::Texts(_) => "text",
        Value::Struct(_) => "an array of structures",
        Value::Other(what) => what,
        Value::Numeric(_) => "numbers",
    };
    Error::content(
        path,
        format!("variable `{name}`"),
        "an array of real numbers",
        found,
        "name another variable",
    )
}

/// An array of a MATLAB file.
pub(crate) struct MatlabReader {
    store: Box<dyn Store>,
    /// What is read; `None` when nothing was chosen.
    chosen: Option<(usize, Block)>,
    contents: Contents,
}

impl MatlabReader {
    pub fn new(store: Box<dyn Store>, chosen: Option<(usize, Block)>, contents: Contents) -> Self {
        Self {
            store,
            chosen,
            contents,
        }
    }
}

impl Reader for MatlabReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        match &self.chosen {
            Some((id, block)) => self.store.fill(*id, block, table),
            None => Ok(()),
        }
    }

    fn rewrite(&mut self, new: &Replacement<'_>, out: &Path) -> Result<Option<Vec<Note>>> {
        match &self.chosen {
            Some((id, block)) => self.store.rewrite(*id, block, new, out),
            None => Ok(None),
        }
    }
}
