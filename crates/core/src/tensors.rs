//! Named matrices: what a part of a run hands to a checkpoint and takes back from it.
//!
//! Every part (space, energy, mixer, controller) names its own tensors and checks their shapes when
//! it takes them back, so a checkpoint and the file that holds it need not know which parts there
//! are. A parameter `x` has the state of its optimiser beside it: `x.first`, `x.second` and
//! `x.updates` of Adam, `x.counts` and `x.squares` of its sparse form.

use crate::{Error, Result};
use faer::{Mat, MatRef};
use std::collections::BTreeMap;

/// Up to here every whole number is a `f64`.
const MOST_UPDATES: u64 = 1 << 53;

/// Named matrices, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors {
    entries: BTreeMap<String, Mat<f64>>,
}

impl Tensors {
    /// Adds a matrix, or replaces the one of this name.
    pub fn put(&mut self, name: impl Into<String>, value: Mat<f64>) {
        self.entries.insert(name.into(), value);
    }

    /// Adds a vector, as one column.
    pub fn put_vector(&mut self, name: impl Into<String>, values: &[f64]) {
        self.put(name, Mat::from_fn(values.len(), 1, |i, _| values[i]));
    }

    /// Adds a number of updates, which a `f64` holds exactly up to 2⁵³.
    pub fn put_count(&mut self, name: impl Into<String>, count: u64) {
        self.put_vector(name, &[count as f64]);
    }

    /// The matrix of this name.
    pub fn get(&self, name: &str) -> Option<MatRef<'_, f64>> {
        self.entries.get(name).map(|value| value.as_ref())
    }

    /// Copies the matrix of this name, which must have the shape of `to`.
    ///
    /// # Errors
    /// When there is none, or its shape is another one.
    pub fn read(&self, name: &str, to: &mut Mat<f64>) -> Result<()> {
        let from = self.of_shape(name, to.shape())?;
        to.copy_from(from);
        Ok(())
    }

    /// Copies the vector of this name, which must be as long as `to`.
    ///
    /// # Errors
    /// When there is none, or its length is another one.
    pub fn read_vector(&self, name: &str, to: &mut [f64]) -> Result<()> {
        let from = self.of_shape(name, (to.len(), 1))?;
        to.iter_mut()
            .enumerate()
            .for_each(|(i, slot)| *slot = from[(i, 0)]);
        Ok(())
    }

    /// The number of updates of this name.
    ///
    /// # Errors
    /// When there is none, or it is not a number of updates.
    pub fn read_count(&self, name: &str) -> Result<u64> {
        let mut value = [0.0];
        self.read_vector(name, &mut value)?;
        let count = value[0] as u64;
        if count as f64 != value[0] || count > MOST_UPDATES {
            return Err(Error::TensorValue {
                name: name.into(),
                expected: "a number of updates",
                found: value[0],
            });
        }
        Ok(count)
    }

    /// The matrix of this name and shape.
    fn of_shape(&self, name: &str, expected: (usize, usize)) -> Result<MatRef<'_, f64>> {
        let value = self
            .get(name)
            .ok_or_else(|| Error::MissingTensor { name: name.into() })?;
        if value.shape() != expected {
            return Err(Error::TensorShape {
                name: name.into(),
                expected,
                found: value.shape(),
            });
        }
        Ok(value)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, MatRef<'_, f64>)> {
        self.entries
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_read_back_and_nothing_else() {
        let mut tensors = Tensors::default();
        tensors.put("a", Mat::from_fn(2, 3, |i, j| (i + 10 * j) as f64));
        tensors.put_vector("v", &[1.5, f64::NAN]);
        tensors.put_count("n", 7);
        let mut a = Mat::zeros(2, 3);
        tensors.read("a", &mut a).unwrap();
        assert_eq!(a[(1, 2)], 21.0);
        let mut v = [0.0; 2];
        tensors.read_vector("v", &mut v).unwrap();
        assert!(v[0] == 1.5 && v[1].is_nan());
        assert_eq!(tensors.read_count("n").unwrap(), 7);

        let missing = tensors.read("b", &mut a).unwrap_err().to_string();
        assert!(missing.contains('b'), "{missing}");
        let shape = tensors.read_vector("a", &mut v).unwrap_err().to_string();
        assert!(
            shape.contains("2 × 3") && shape.contains("2 × 1"),
            "{shape}"
        );
        assert!(tensors.read_count("v").is_err(), "a vector is no count");
        tensors.put_vector("half", &[0.5]);
        let value = tensors.read_count("half").unwrap_err().to_string();
        assert!(value.contains("0.5"), "{value}");
    }
}
