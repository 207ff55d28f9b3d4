//! Adam state of one f64 parameter group (A, S or E, θ, η). The networks keep theirs in the engine.

use crate::Result;
use crate::linalg::permute::permute_columns;
use crate::tensors::Tensors;
use faer::{Mat, MatMut, MatRef};
use strt_kernels::AdamStep;
use strt_signal::columns::{col, col_mut};

/// Moments of a group, shaped like its parameters, and how many updates it has had.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AdamGroup {
    pub first: Mat<f64>,
    pub second: Mat<f64>,
    pub count: u64,
}

impl AdamGroup {
    pub fn new(rows: usize, columns: usize) -> AdamGroup {
        AdamGroup {
            first: Mat::zeros(rows, columns),
            second: Mat::zeros(rows, columns),
            count: 0,
        }
    }

    /// One update of the matrix `parameters` with `scale` × `gradient`; `step.count` is filled in
    /// here.
    pub fn update(
        &mut self,
        step: AdamStep,
        scale: f64,
        gradient: MatRef<'_, f64>,
        parameters: MatMut<'_, f64>,
    ) {
        self.update_columns(step, scale, gradient, parameters, |_| 1.0);
    }

    /// One update with the share `pace(c)` of the rate in column c.
    pub fn update_columns(
        &mut self,
        step: AdamStep,
        scale: f64,
        gradient: MatRef<'_, f64>,
        mut parameters: MatMut<'_, f64>,
        pace: impl Fn(usize) -> f64,
    ) {
        self.count += 1;
        for c in 0..gradient.ncols() {
            let step = AdamStep {
                rate: pace(c) * step.rate,
                count: self.count,
                ..step
            };
            let parameters = col_mut(parameters.as_mut(), c);
            let (first, second) = (
                col_mut(self.first.as_mut(), c),
                col_mut(self.second.as_mut(), c),
            );
            step.apply(scale, col(gradient, c), parameters, first, second);
        }
    }

    /// One update of a flat vector, held as one column.
    pub fn update_vector(
        &mut self,
        step: AdamStep,
        scale: f64,
        gradient: &[f64],
        parameters: &mut [f64],
    ) {
        let n = gradient.len();
        self.update(
            step,
            scale,
            MatRef::from_column_major_slice(gradient, n, 1),
            MatMut::from_column_major_slice_mut(parameters, n, 1),
        );
    }

    /// Column k takes over the moments of column `order[k]`.
    pub fn permute_columns(&mut self, order: &[usize]) {
        permute_columns(&mut self.first, order);
        permute_columns(&mut self.second, order);
    }

    /// Puts the moments of parameter `name` into a checkpoint.
    pub fn save(&self, name: &str, to: &mut Tensors) {
        to.put(format!("{name}.first"), self.first.clone());
        to.put(format!("{name}.second"), self.second.clone());
        to.put_count(format!("{name}.updates"), self.count);
    }

    /// Takes back what [`AdamGroup::save`] has put.
    pub fn restore(&mut self, name: &str, from: &Tensors) -> Result<()> {
        from.read(&format!("{name}.first"), &mut self.first)?;
        from.read(&format!("{name}.second"), &mut self.second)?;
        self.count = from.read_count(&format!("{name}.updates"))?;
        Ok(())
    }
}
