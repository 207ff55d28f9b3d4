//! The classical methods, one file a question. As starts of a run: `baseline_starts.rs` of the
//! library.
//!
//! `fixtures.safetensors` was written by `make_fixtures.py` with the versions in
//! `requirements.txt`, `octave.safetensors` by `make_octave_fixtures.py`.

mod problems;
mod published;
mod refusals;
mod results;
mod theory;

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use strt_classic::Wasobi;

/// Laplace and uniform sources in turn, mixed by a fixed matrix into as many channels:
/// (observations, sources, mixing).
fn independent(n_samples: usize, k: usize, seed: u64) -> (Mat<f64>, Mat<f64>, Mat<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sources = Mat::from_fn(n_samples, k, |_, source| {
        if source % 2 == 0 {
            let (u, v): (f64, f64) = (rng.random(), rng.random());
            // The difference of exponentials is Laplace.
            ((1.0 - u).ln() - (1.0 - v).ln()) / 2f64.sqrt()
        } else {
            rng.random_range(-1.0..1.0) * 3f64.sqrt()
        }
    });
    let mixing = Mat::from_fn(k, k, |c, s| {
        ((1 + 2 * c + 3 * s + c * s) as f64).sin() + f64::from(c == s)
    });
    (&sources * mixing.transpose(), sources, mixing)
}

/// WASOBI for autoregressive sources without noise, near what its authors publish.
fn published() -> Wasobi {
    Wasobi {
        order: 10,
        ridge: 1e-5,
        ..Wasobi::default()
    }
}
