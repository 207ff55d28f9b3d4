//! The variables of a MATLAB file, whichever way they are stored, and the choice of one of them as
//! a recording.
//!
//! [`Workspace`] is what the readers of MATLAB 5 and of HDF5 give: names and small values in
//! memory, large arrays only as places in the file ([`Store`]). A variable is taken as samples ×
//! channels; a vector is one channel.

use super::array::{self, Array, choose, is_rate_name};
use super::numbers::Block;
use super::rewrite::Replacement;
use super::table::{Contents, Reader, Table, Variable};
use super::{Note, ReadOptions};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// A value of a variable or of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Numeric(Numeric),
    Text(String),
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
pub(crate) fn open(workspace: Workspace, options: &ReadOptions) -> Result<Box<dyn Reader>> {
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
    let block = array.block(&path, &place, options.transpose)?;
    let rate = rate(&found);
    let mut contents = array::contents(
        &block,
        rate.as_ref().map(|(_, rate)| *rate),
        options.transpose,
    );
    contents.detected(format!("{place} is read"));
    if vector {
        contents.detected("the row vector is taken as one channel");
    }
    if let Some((name, rate)) = rate {
        contents.detected(format!("rate {rate} Hz is taken from `{name}`"));
    }
    contents.variables = variables;
    let id = numeric.id;
    Ok(Box::new(MatlabReader::new(
        workspace.store,
        Some((id, block)),
        contents,
    )))
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
    found.iter().find_map(|(name, value)| {
        let last = name.rsplit('.').next().unwrap_or(name);
        match value {
            Value::Numeric(Numeric {
                scalar: Some(rate), ..
            }) if is_rate_name(last) && rate.is_finite() && *rate > 0.0 => {
                Some((name.clone(), *rate))
            }
            _ => None,
        }
    })
}

fn not_numeric(path: &Path, name: &str, value: &Value) -> Error {
    let found = match value {
        Value::Text(_) => "text",
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
