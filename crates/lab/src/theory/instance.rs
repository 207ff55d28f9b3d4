//! Small problems for the checks: an objective with every term off, and random matrices.

use faer::{Mat, MatRef};
use rand_distr::{Distribution, StandardNormal};
use strt_kernels::{Buffer, Layout};
use strt_signal::random::{Stream, rng};
use strtransformer::config::{Config, EngineKind, Preprocess, UpdateRule};
use strtransformer::internals::Inspect;
use strtransformer::{Recording, Trainer};

/// The preset `paper` on the f64 engine with tiny networks and every term switched off. Channels
/// are taken as they are.
pub(super) fn bare(n_sources: usize) -> Config {
    let mut config = Config::paper(n_sources);
    // The claims are about the objective, not about the way to its minimum.
    config.optimizer.rule = UpdateRule::Adam;
    config.engine = EngineKind::Reference;
    config.threads = 1;
    config.preprocess = Preprocess {
        center: false,
        scale: false,
    };
    config.branches.patch_sizes = vec![2, 4];
    config.branches.d_model = 8;
    config.branches.n_heads = 2;
    config.branches.n_layers = 1;
    config.weights.observation_variance = Some(f64::INFINITY);
    config.weights.structure = Some(0.0);
    config.weights.separation = Some(0.0);
    config.weights.smoothness = 0.0;
    config.weights.entropy = 0.0;
    config.weights.gap = 0.0;
    // ε only guards against constant sources; as small as this it cannot be seen beside any
    // deviation.
    config.sources.epsilon = f64::MIN_POSITIVE;
    config
}

/// Independent standard normal numbers.
pub(super) fn normal(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = rng(seed, Stream::Check);
    Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
}

/// Channels that carry no meaning, for objectives without a reconstruction.
pub(super) fn any_channels(n_samples: usize, n_sources: usize) -> crate::Result<Recording> {
    Ok(Recording::from_mat(normal(n_samples, n_sources, 1))?)
}

/// S of a run in direct coordinates.
pub(super) fn sources(trainer: &Trainer) -> Mat<f64> {
    trainer
        .parameter("space.s")
        .expect("the checks that use this ask for direct coordinates")
}

/// Replaces S of a run in direct coordinates.
pub(super) fn set_sources(trainer: &mut Trainer, s: &Mat<f64>) {
    trainer.set_parameter("space.s", s);
}

/// ∂J/∂S at the present parameters with the draws of step 0.
pub(super) fn source_gradient(trainer: &mut Trainer) -> Mat<f64> {
    trainer.evaluate_at(0);
    gradient(trainer, "space.s")
}

/// ∂J/∂(the parameter of this name) at the last evaluation.
pub(super) fn gradient(trainer: &Trainer, name: &str) -> Mat<f64> {
    let gradient = trainer.gradient();
    let known = gradient.get(name).expect("the gradient of a parameter");
    known.to_owned()
}

/// The Hessian of J in the entries of S, by central differences of the gradient. Entry (t, k) has
/// the number `place(t, k)`.
pub(super) fn source_hessian(
    trainer: &mut Trainer,
    step: f64,
    place: impl Fn(usize, usize) -> usize,
) -> Mat<f64> {
    let mut s = sources(trainer);
    let (t, k) = s.shape();
    let mut hessian = Mat::zeros(t * k, t * k);
    for (i, j) in entries(t, k) {
        let middle = s[(i, j)];
        let (above, below) = (middle + step, middle - step);
        let mut at = |value: f64| {
            s[(i, j)] = value;
            set_sources(trainer, &s);
            source_gradient(trainer)
        };
        let (upper, lower) = (at(above), at(below));
        s[(i, j)] = middle;
        set_sources(trainer, &s);
        for (row, column) in entries(t, k) {
            hessian[(place(row, column), place(i, j))] =
                (upper[(row, column)] - lower[(row, column)]) / (above - below);
        }
    }
    hessian
}

/// All places of a matrix, column by column.
pub(super) fn entries(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..columns).flat_map(move |j| (0..rows).map(move |i| (i, j)))
}

/// max_ij |a_ij − b_ij| / max_ij |b_ij|.
pub(super) fn relative_difference(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (a - b).norm_max() / b.norm_max()
}

/// Row by row, as figures hold a matrix.
pub(super) fn rows_of(matrix: MatRef<'_, f64>) -> Vec<Vec<f64>> {
    matrix
        .row_iter()
        .map(|row| row.iter().copied().collect())
        .collect()
}

/// The slope of a straight line through (x, y) by least squares.
pub(super) fn slope(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (x_mean, y_mean) = (mean(x), mean(y));
    let (mut above, mut below) = (0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        above += (x - x_mean) * (y - y_mean);
        below += (x - x_mean) * (x - x_mean);
    }
    above / below
}

/// Decimal logarithms.
pub(super) fn log10(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.log10()).collect()
}

/// Every order of 0 … n − 1, the identity first.
pub(super) fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        all = all
            .iter()
            .flat_map(|begun: &Vec<usize>| {
                (0..n)
                    .filter(|i| !begun.contains(i))
                    .map(|i| [&begun[..], &[i]].concat())
            })
            .collect();
    }
    all
}

/// Where the parameters of one branch lie.
pub(super) fn layout(trainer: &Trainer, branch: usize) -> Layout {
    let branches = trainer.transformer().engine().branches();
    Layout::new(branches.scale_of(branch).patch, &branches.network)
}

/// The parameters of every branch network.
pub(super) fn networks(trainer: &Trainer) -> Vec<Vec<f64>> {
    let engine = trainer.transformer().engine();
    (0..engine.branches().n_branches())
        .map(|branch| {
            let mut values = vec![0.0; layout(trainer, branch).len()];
            engine.read(Buffer::Parameters, branch, &mut values);
            values
        })
        .collect()
}

/// Gives every branch network the parameters it had in another run.
pub(super) fn set_networks(trainer: &mut Trainer, networks: &[Vec<f64>]) {
    for (branch, values) in networks.iter().enumerate() {
        set_vector(trainer, &format!("energy.network.{branch}"), values);
    }
}

/// Replaces the parameters of this name, a vector.
pub(super) fn set_vector(trainer: &mut Trainer, name: &str, values: &[f64]) {
    let column = MatRef::from_column_major_slice(values, values.len(), 1);
    trainer.set_parameter(name, &column.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_all_permutations() {
        assert_eq!(orders(2), [vec![0, 1], vec![1, 0]]);
        let mut four = orders(4);
        assert_eq!((four.len(), &four[0]), (24, &vec![0, 1, 2, 3]));
        four.sort();
        four.dedup();
        assert_eq!(four.len(), 24);
    }

    #[test]
    fn a_line_has_its_slope() {
        assert!((slope(&[1.0, 2.0, 4.0], &[5.0, 3.0, -1.0]) + 2.0).abs() < 1e-12);
    }
}
