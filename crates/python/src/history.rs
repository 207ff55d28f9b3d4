//! The history of a run ↔ arrays by name: one row a recorded step.

use numpy::ndarray::{ArrayD, IxDyn};
use numpy::{IntoPyArray, PyReadonlyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use strtransformer::train::{HistoryRow, Terms};

/// One number of every row, by name.
type One = fn(&mut HistoryRow) -> &mut f64;
const NUMBERS: [(&str, One); 10] = [
    ("objective", |row| &mut row.terms.total),
    ("reconstruction", |row| &mut row.terms.reconstruction),
    ("structure", |row| &mut row.terms.structure),
    ("separation", |row| &mut row.terms.separation),
    ("smoothness", |row| &mut row.terms.smoothness),
    ("entropy", |row| &mut row.terms.entropy),
    ("gap", |row| &mut row.terms.gap),
    ("smoothed_objective", |row| &mut row.smoothed_objective),
    ("gradient_norm", |row| &mut row.gradient_norm),
    ("assignment_margin", |row| &mut row.assignment_margin),
];

/// Several numbers of every row, by name; those with true are K×R.
type Several = fn(&mut HistoryRow) -> &mut Vec<f64>;
const VECTORS: [(&str, bool, Several); 6] = [
    ("branch_structure", false, |row| &mut row.branch_structure),
    ("scale_centers", false, |row| &mut row.centers),
    ("locality_slope", false, |row| &mut row.slopes),
    ("expected_patch_size", false, |row| &mut row.expected_patch),
    ("scale_weights", true, |row| &mut row.scale_weights),
    ("energy", true, |row| &mut row.energy),
];

/// The rows as a dict of arrays with the rows in the first dimension.
pub fn to_dict<'py>(
    py: Python<'py>,
    rows: &[HistoryRow],
    n_sources: usize,
    n_scales: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let mut rows = rows.to_vec();
    let n = rows.len();
    let dict = PyDict::new(py);
    let steps = |get: fn(&HistoryRow) -> usize| -> Vec<i64> {
        rows.iter().map(|row| get(row) as i64).collect()
    };
    let (restart, step) = (steps(|row| row.restart), steps(|row| row.step));
    dict.set_item("restart", restart.into_pyarray(py))?;
    dict.set_item("step", step.into_pyarray(py))?;
    for (name, get) in NUMBERS {
        let values: Vec<f64> = rows.iter_mut().map(|row| *get(row)).collect();
        dict.set_item(name, values.into_pyarray(py))?;
    }
    for (name, by_scale, get) in VECTORS {
        let values: Vec<f64> = rows.iter_mut().flat_map(|row| get(row).clone()).collect();
        let shape = if by_scale {
            vec![n, n_sources, n_scales]
        } else {
            vec![n, n_sources]
        };
        let array =
            ArrayD::from_shape_vec(IxDyn(&shape), values).expect("every row has as many values");
        dict.set_item(name, array.into_pyarray(py))?;
    }
    Ok(dict)
}

/// The rows from such a dict.
pub fn from_dict(dict: &Bound<'_, PyDict>) -> PyResult<Vec<HistoryRow>> {
    let array = |name: &str| {
        dict.get_item(name)?.ok_or_else(|| {
            PyValueError::new_err(format!("history: expected an array `{name}`, found none"))
        })
    };
    let restart: Vec<i64> = array("restart")?.extract()?;
    let step: Vec<i64> = array("step")?.extract()?;
    let n = restart.len();
    let mut rows: Vec<HistoryRow> = restart
        .iter()
        .zip(&step)
        .map(|(&restart, &step)| HistoryRow {
            restart: restart as usize,
            step: step as usize,
            terms: Terms::default(),
            smoothed_objective: 0.0,
            gradient_norm: 0.0,
            assignment_margin: 0.0,
            branch_structure: Vec::new(),
            centers: Vec::new(),
            slopes: Vec::new(),
            expected_patch: Vec::new(),
            scale_weights: Vec::new(),
            energy: Vec::new(),
        })
        .collect();
    let values = |name: &str| -> PyResult<Vec<f64>> {
        let object = array(name)?;
        let array: PyReadonlyArrayDyn<'_, f64> = object.extract()?;
        let values: Vec<f64> = array.as_array().iter().copied().collect();
        if values.len().is_multiple_of(n.max(1)) && (n > 0 || values.is_empty()) {
            return Ok(values);
        }
        Err(PyValueError::new_err(format!(
            "history: `{name}` has {} values, which are not {n} rows",
            values.len()
        )))
    };
    for (name, get) in NUMBERS {
        for (row, value) in rows.iter_mut().zip(values(name)?) {
            *get(row) = value;
        }
    }
    for (name, _, get) in VECTORS {
        let values = values(name)?;
        for (row, part) in rows
            .iter_mut()
            .zip(values.chunks((values.len() / n.max(1)).max(1)))
        {
            *get(row) = part.to_vec();
        }
    }
    Ok(rows)
}
