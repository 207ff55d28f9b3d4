//! A gradient check that every mixer, ours or a user's, can be put through.

use super::Mixer;
use faer::Mat;
use rand_distr::{Distribution, StandardNormal};
use strt_kernels::gradcheck::{numerical_gradient, relative_error};
use strt_signal::random::{Stream, rng};

/// Relative errors of a mixer's gradients against central finite differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientErrors {
    /// ‖analytic − numerical‖/‖numerical‖ in the sources.
    pub sources: f64,
    /// Relative error of the gradient in the parameters.
    pub parameters: f64,
}

impl GradientErrors {
    /// The larger of the two; below 1e-6 for a right backward pass of a smooth mixer.
    pub fn worst(&self) -> f64 {
        self.sources.max(self.parameters)
    }
}

/// Compares `backward` with five-point differences of `forward` on `rows` random samples, through
/// the random linear functional Σ G∘Ŷ.
pub fn check_gradients(mixer: &dyn Mixer, rows: usize, seed: u64) -> GradientErrors {
    let (k, m) = (mixer.n_sources(), mixer.n_channels());
    let mut rng = rng(seed, Stream::Check);
    let mut random = |r, c| Mat::<f64>::from_fn(r, c, |_, _| StandardNormal.sample(&mut rng));
    let (sources, direction) = (random(rows, k), random(rows, m));
    let mut scratch = Vec::new();

    let mut y = Mat::zeros(rows, m);
    mixer.forward(sources.as_ref(), y.as_mut(), &mut scratch);
    let mut d_sources = Mat::zeros(rows, k);
    let mut d_parameters = vec![0.0; mixer.parameters().len()];
    mixer.backward(
        sources.as_ref(),
        direction.as_ref(),
        d_sources.as_mut(),
        &mut d_parameters,
        &mut scratch,
    );

    let mut value = |mixer: &dyn Mixer, s: &Mat<f64>| {
        mixer.forward(s.as_ref(), y.as_mut(), &mut scratch);
        (0..m)
            .map(|c| {
                (0..rows)
                    .map(|t| direction[(t, c)] * y[(t, c)])
                    .sum::<f64>()
            })
            .sum::<f64>()
    };
    let flat = |s: &Mat<f64>| {
        (0..k)
            .flat_map(|j| s.col(j).iter().copied())
            .collect::<Vec<_>>()
    };
    let by_source = numerical_gradient(
        |x| value(mixer, &Mat::from_fn(rows, k, |t, j| x[j * rows + t])),
        &flat(&sources),
        1e-4,
    );
    let mut moved = mixer.clone_box();
    let by_parameter = numerical_gradient(
        |x| {
            moved.parameters_mut().copy_from_slice(x);
            value(&*moved, &sources)
        },
        mixer.parameters(),
        1e-4,
    );
    GradientErrors {
        sources: relative_error(&flat(&d_sources), &by_source, 1e-9),
        parameters: relative_error(&d_parameters, &by_parameter, 1e-9),
    }
}
