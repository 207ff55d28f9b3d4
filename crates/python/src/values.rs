//! Python values ↔ TOML values, for configurations. `None` in a dict leaves the key out: its
//! default stays.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml::{Table, Value};

/// How deep dicts and lists may be nested: deeper ones hold themselves, and no configuration needs
/// more.
const DEEPEST: usize = 16;

/// A dict, nested or with dotted keys, as a table.
pub fn to_table(dict: &Bound<'_, PyDict>) -> PyResult<Table> {
    table_at(dict, 0)
}

fn table_at(dict: &Bound<'_, PyDict>, depth: usize) -> PyResult<Table> {
    let mut table = Table::new();
    for (key, value) in dict {
        let key: String = key.extract().map_err(|_| {
            PyValueError::new_err(format!(
                "config: expected names such as \"weights.smoothness\" as keys, found {key}"
            ))
        })?;
        if !value.is_none() {
            place(&mut table, &key, to_toml(&key, &value, depth + 1)?)?;
        }
    }
    Ok(table)
}

/// Puts a value where its dotted key says.
fn place(table: &mut Table, key: &str, value: Value) -> PyResult<()> {
    let twice = || {
        PyValueError::new_err(format!(
            "config: `{key}` is given twice, once inside a dict and once with dots; give it once"
        ))
    };
    if let Some((section, rest)) = key.split_once('.') {
        let inner = table
            .entry(section)
            .or_insert_with(|| Value::Table(Table::new()));
        return match inner {
            Value::Table(inner) => place(inner, rest, value).map_err(|_| twice()),
            _ => Err(twice()),
        };
    }
    match (table.get_mut(key), value) {
        (None, value) => {
            table.insert(key.into(), value);
            Ok(())
        }
        (Some(Value::Table(old)), Value::Table(new)) => new
            .into_iter()
            .try_for_each(|(key, value)| place(old, &key, value)),
        _ => Err(twice()),
    }
}

fn to_toml(key: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err(format!(
            "config: {key}: expected at most {DEEPEST} dicts or lists inside each other, found \
             more; does one hold itself?"
        )));
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        let number = value.extract().map_err(|_| {
            PyValueError::new_err(format!(
                "config: {key} = {value}: expected a whole number of at most 63 bits"
            ))
        })?;
        return Ok(Value::Integer(number));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Value::String(value.extract()?));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return Ok(Value::Table(table_at(dict, depth)?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value
            .try_iter()?
            .map(|item| to_toml(key, &item?, depth + 1));
        return Ok(Value::Array(items.collect::<PyResult<_>>()?));
    }
    // NumPy's numbers and arrays; its longest floats have no other form.
    if value.hasattr("tolist")? {
        let plain = value.call_method0("tolist")?;
        if !plain.get_type().is(value.get_type()) {
            return to_toml(key, &plain, depth + 1);
        }
        if let Ok(number) = value.extract() {
            return Ok(Value::Float(number));
        }
    }
    Err(PyValueError::new_err(format!(
        "config: {key} = {value}: expected a number, a bool, a string, a list or a dict, found {}",
        value.get_type()
    )))
}

/// A TOML value as plain Python.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => number.into_pyobject(py)?.into_any(),
        Value::Boolean(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Value::Datetime(date) => date.to_string().into_pyobject(py)?.into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| to_python(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::Table(table) => table_to_python(py, table)?.into_any(),
    })
}

/// A TOML table as a dict.
pub fn table_to_python<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in table {
        dict.set_item(key, to_python(py, value)?)?;
    }
    Ok(dict)
}
