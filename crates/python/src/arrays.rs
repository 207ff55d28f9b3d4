//! NumPy arrays ↔ matrices of the library. Copies both ways: arrays are row by row, matrices column
//! by column.
//!
//! Only float64 and float32 come in (float32 is widened without loss); what goes out is float64. It
//! judges nothing: the library does.

use faer::{Mat, MatRef};
use numpy::ndarray::{ArrayView2, ArrayView3};
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A matrix that came as a two-dimensional array.
pub struct Matrix(pub Mat<f64>);

impl<'py> FromPyObject<'_, 'py> for Matrix {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Matrix> {
        if let Ok(array) = object.extract::<PyReadonlyArray2<'py, f64>>() {
            return Ok(Matrix(copied(array.as_array())));
        }
        if let Ok(array) = object.extract::<PyReadonlyArray2<'py, f32>>() {
            return Ok(Matrix(copied(array.as_array())));
        }
        Err(refused(&object, "two dimensions"))
    }
}

/// Trials that came as an array of three dimensions (trials, channels, samples), one below the
/// other.
pub struct Trials {
    /// All samples × channels.
    pub rows: Mat<f64>,
    /// Samples of every trial.
    pub lengths: Vec<usize>,
}

impl<'py> FromPyObject<'_, 'py> for Trials {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Trials> {
        if let Ok(array) = object.extract::<PyReadonlyArray3<'py, f64>>() {
            return Ok(laid_end_to_end(array.as_array()));
        }
        if let Ok(array) = object.extract::<PyReadonlyArray3<'py, f32>>() {
            return Ok(laid_end_to_end(array.as_array()));
        }
        Err(refused(
            &object,
            "three dimensions (trials, channels, samples)",
        ))
    }
}

fn laid_end_to_end<T: Copy + Into<f64>>(array: ArrayView3<'_, T>) -> Trials {
    let (n_trials, n_channels, n_samples) = array.dim();
    // Without samples there are no rows, and the recording says so.
    let rows = Mat::from_fn(n_trials * n_samples, n_channels, |row, c| {
        array[(row / n_samples, c, row % n_samples)].into()
    });
    Trials {
        rows,
        lengths: vec![n_samples; n_trials],
    }
}

/// A vector that came as a one-dimensional array.
pub struct Vector(pub Vec<f64>);

impl<'py> FromPyObject<'_, 'py> for Vector {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Vector> {
        if let Ok(array) = object.extract::<PyReadonlyArray1<'py, f64>>() {
            return Ok(Vector(array.as_array().to_vec()));
        }
        if let Ok(array) = object.extract::<PyReadonlyArray1<'py, f32>>() {
            return Ok(Vector(
                array.as_array().iter().map(|&value| value.into()).collect(),
            ));
        }
        Err(refused(&object, "one dimension"))
    }
}

fn copied<T: Copy + Into<f64>>(array: ArrayView2<'_, T>) -> Mat<f64> {
    Mat::from_fn(array.nrows(), array.ncols(), |t, c| array[(t, c)].into())
}

fn refused(object: &Bound<'_, PyAny>, dimensions: &str) -> PyErr {
    let attribute = |name: &str| object.getattr(name).map(|value| value.to_string());
    let found = match (attribute("dtype"), attribute("shape")) {
        (Ok(dtype), Ok(shape)) => format!("an array of dtype {dtype} and shape {shape}"),
        _ => object.get_type().to_string(),
    };
    PyTypeError::new_err(format!(
        "expected a NumPy array of {dimensions} with dtype float64 or float32, found {found}; \
         convert it with numpy.asarray(…, dtype=float)"
    ))
}

/// A matrix as a float64 array.
pub fn to_array<'py>(py: Python<'py>, matrix: MatRef<'_, f64>) -> Bound<'py, PyArray2<f64>> {
    let shape = [matrix.nrows(), matrix.ncols()];
    let values: Vec<f64> = matrix
        .row_iter()
        .flat_map(|row| row.iter().copied())
        .collect();
    PyArray1::from_vec(py, values)
        .reshape(shape)
        .expect("as many values as the shape says")
}

/// Numbers as a float64 array.
pub fn to_vector<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_slice(py, values)
}
