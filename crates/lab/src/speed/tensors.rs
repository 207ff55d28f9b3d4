//! A drawn step as a safetensors file, for the other side of the comparison. Names as in
//! `benchmarks/step/problem.py`.

use super::drawn::DrawnStep;
use faer::MatRef;
use safetensors::{Dtype, View};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use strt_kernels::Layout;

/// One tensor, row-major.
struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    fn of_values(values: impl IntoIterator<Item = f64>, shape: &[usize]) -> Tensor {
        Tensor {
            dtype: Dtype::F64,
            shape: shape.to_vec(),
            bytes: values.into_iter().flat_map(f64::to_le_bytes).collect(),
        }
    }

    fn of_matrix(matrix: MatRef<'_, f64>) -> Tensor {
        let (rows, columns) = matrix.shape();
        let by_row = (0..rows).flat_map(|i| (0..columns).map(move |j| matrix[(i, j)]));
        Tensor::of_values(by_row, &[rows, columns])
    }

    fn of_integers(values: impl IntoIterator<Item = u64>, shape: &[usize]) -> Tensor {
        Tensor {
            dtype: Dtype::I64,
            shape: shape.to_vec(),
            bytes: values.into_iter().flat_map(u64::to_le_bytes).collect(),
        }
    }
}

impl View for Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Writes the step to a file.
pub fn write(step: &DrawnStep, path: &Path) -> Result<(), Box<dyn Error>> {
    let branches = &step.branches;
    let (n_sources, n_scales) = (branches.n_sources, branches.scales.len());
    let jobs = [n_sources, n_scales];
    let mut tensors: Vec<(String, Tensor)> = vec![
        (
            "observations".into(),
            Tensor::of_matrix(step.observations.as_ref()),
        ),
        ("whitened".into(), Tensor::of_matrix(step.whitened.as_ref())),
        ("fiber".into(), Tensor::of_matrix(step.fiber.as_ref())),
        (
            "raw_gaps".into(),
            Tensor::of_values(step.raw_gaps.iter().copied(), &[n_sources + 1]),
        ),
        (
            "starts".into(),
            Tensor::of_integers(step.starts.iter().map(|&s| s as u64), &jobs),
        ),
        (
            "shifts".into(),
            Tensor::of_integers(step.jobs.iter().map(|j| j.shift as u64), &jobs),
        ),
    ];
    for (b, (network, job)) in step.networks.iter().zip(&step.jobs).enumerate() {
        let place = format!("{}.{}", b / n_scales, b % n_scales);
        let masked = Tensor::of_integers(job.masked.iter().map(|&i| i.into()), &[job.masked.len()]);
        tensors.push((format!("masked.{place}"), masked));
        for spec in Layout::new(branches.scale_of(b).patch, &branches.network).tensors() {
            let values = network[spec.range.clone()].iter().copied();
            let name = format!("branches.{place}.{}", spec.name);
            tensors.push((name, Tensor::of_values(values, &spec.shape)));
        }
    }
    let scales: Vec<Value> = branches
        .scales
        .iter()
        .map(|s| json!({ "patch": s.patch, "stride": s.stride, "n_patches": s.n_patches }))
        .collect();
    let metadata = HashMap::from([
        ("config".to_string(), serde_json::to_string(&step.config)?),
        ("scales".to_string(), serde_json::to_string(&scales)?),
    ]);
    std::fs::write(path, safetensors::serialize(tensors, Some(metadata))?)?;
    Ok(())
}
