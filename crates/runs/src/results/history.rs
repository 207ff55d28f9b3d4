//! `history.csv`: one row per logged step, every diagnostic of the method.

use crate::error::Result;
use crate::numbers_csv;
use std::path::Path;
use strtransformer::train::{HistoryRow, Terms};

/// Columns of every run.
const SCALARS: [&str; 12] = [
    "restart",
    "step",
    "objective",
    "reconstruction",
    "structure",
    "separation",
    "smoothness",
    "entropy",
    "gap",
    "smoothed_objective",
    "gradient_norm",
    "assignment_margin",
];
/// One column a source, such as `center_1`.
const BY_SOURCE: [&str; 4] = ["branch_structure", "center", "slope", "expected_patch"];
/// One column a source and patch size, such as `weight_1_p4`.
const BY_SCALE: [&str; 2] = ["weight", "energy"];

/// The rows as text.
pub fn to_csv(rows: &[HistoryRow], n_sources: usize, patch_sizes: &[usize]) -> String {
    let mut text = header(n_sources, patch_sizes);
    text.push('\n');
    for row in rows {
        text.push_str(&numbers_csv::line(values(row)));
    }
    text
}

fn header(n_sources: usize, patch_sizes: &[usize]) -> String {
    let mut columns: Vec<String> = SCALARS.map(String::from).into();
    for name in BY_SOURCE {
        columns.extend((1..=n_sources).map(|k| format!("{name}_{k}")));
    }
    for name in BY_SCALE {
        for k in 1..=n_sources {
            columns.extend(patch_sizes.iter().map(|p| format!("{name}_{k}_p{p}")));
        }
    }
    columns.join(",")
}

fn values(row: &HistoryRow) -> impl Iterator<Item = f64> + '_ {
    let terms = &row.terms;
    let scalars = [
        (row.restart + 1) as f64,
        row.step as f64,
        terms.total,
        terms.reconstruction,
        terms.structure,
        terms.separation,
        terms.smoothness,
        terms.entropy,
        terms.gap,
        row.smoothed_objective,
        row.gradient_norm,
        row.assignment_margin,
    ];
    let by_source = [
        &row.branch_structure,
        &row.centers,
        &row.slopes,
        &row.expected_patch,
    ];
    let by_scale = [&row.scale_weights, &row.energy];
    scalars
        .into_iter()
        .chain(by_source.into_iter().flatten().copied())
        .chain(by_scale.into_iter().flatten().copied())
}

/// The rows of a file that [`to_csv`] wrote; `remedy` is what to do where it was changed.
pub(crate) fn read(
    path: &Path,
    n_sources: usize,
    patch_sizes: &[usize],
    remedy: &'static str,
) -> Result<Vec<HistoryRow>> {
    let rows = numbers_csv::read(path, &header(n_sources, patch_sizes), remedy)?;
    Ok(rows
        .iter()
        .map(|values| row(values, n_sources, patch_sizes.len()))
        .collect())
}

fn row(values: &[f64], n_sources: usize, n_scales: usize) -> HistoryRow {
    let (scalars, mut rest) = values.split_at(SCALARS.len());
    let mut take = |n: usize| {
        let (part, after) = rest.split_at(n);
        rest = after;
        part.to_vec()
    };
    HistoryRow {
        restart: (scalars[0] as usize).saturating_sub(1),
        step: scalars[1] as usize,
        terms: Terms {
            total: scalars[2],
            reconstruction: scalars[3],
            structure: scalars[4],
            separation: scalars[5],
            smoothness: scalars[6],
            entropy: scalars[7],
            gap: scalars[8],
        },
        smoothed_objective: scalars[9],
        gradient_norm: scalars[10],
        assignment_margin: scalars[11],
        branch_structure: take(n_sources),
        centers: take(n_sources),
        slopes: take(n_sources),
        expected_patch: take(n_sources),
        scale_weights: take(n_sources * n_scales),
        energy: take(n_sources * n_scales),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers_csv::TO_RESUME;

    #[test]
    fn rows_come_back_with_the_same_bits() {
        let value = |i: usize| (i as f64 * 0.7).sin() / 3.0;
        let row = |step: usize| HistoryRow {
            restart: 1,
            step,
            terms: Terms {
                total: value(step),
                gap: 1e-300,
                ..Terms::default()
            },
            smoothed_objective: value(step + 1),
            gradient_norm: f64::INFINITY,
            assignment_margin: -0.0,
            branch_structure: vec![value(2), value(3)],
            centers: vec![value(4), value(5)],
            slopes: vec![value(6), value(7)],
            expected_patch: vec![value(8), value(9)],
            scale_weights: (0..6).map(value).collect(),
            energy: (6..12).map(value).collect(),
        };
        let rows = vec![row(1), row(10)];
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.csv");
        std::fs::write(&path, to_csv(&rows, 2, &[4, 8, 16])).unwrap();
        assert_eq!(read(&path, 2, &[4, 8, 16], TO_RESUME).unwrap(), rows);
        let error = read(&path, 3, &[4, 8, 16], TO_RESUME)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("history.csv: line 1") && error.contains("remove it to resume"),
            "{error}"
        );
    }
}
