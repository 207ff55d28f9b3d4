//! StrTransformer: unsupervised blind source separation in which the source matrix is optimised
//! directly, together with an observation mixer and one masked-patch Transformer per source and
//! scale that acts as its structural energy, under an ordered multi-scale controller.
//!
//! # Use
//!
//! ```
//! use strtransformer::{Config, Recording, separate};
//! # let wave = |i: i32, rate: f64| (f64::from(i) * rate).sin();
//! # let sources = (0..400).map(|i| (wave(i, 0.9), wave(i, 0.05)));
//! # let values: Vec<f64> = sources.flat_map(|(a, b)| [a + b, a - 0.5 * b, b]).collect();
//! let recording = Recording::from_rows(&values, 3)?; // samples × 3 channels, row by row
//! let mut config = Config::new(2); // two sources; Config::nonlinear(2) for nonlinear mixing
//! # config.optimizer.steps = Some(3);
//! config.seed = 7;
//! let separation = separate(&recording, &config)?;
//! println!("{:?}, converged: {}", separation.sources(), separation.converged());
//! # Ok::<(), strtransformer::Error>(())
//! ```
//!
//! A custom mixer: [`mixer::Mixer`]. Watching a run: [`train::Observer`]. Stopping and continuing:
//! [`Trainer`] and [`train::Checkpoint`] (files are written by `strt-io`). Known sources, for
//! scoring only: `strt-score`.
//!
//! # The method
//!
//! A recording Y (T×m) is explained by sources S (T×K), one column a source, through a row-wise
//! mixer M_θ. With Z the sources standardised to mean 0 and variance 1, a run minimises
//!
//! ```text
//! J = ‖Y − M_θ(Z)‖² / (2ν_y)                                  reconstruction
//!   + λ_str · 1/K Σ_k Σ_r w_kr φ(ℓ_kr)                        structure
//!   + λ_sep · L_sep(C)   + λ_smooth · mean (D_o Z)²           separation, smoothness
//!   + λ_ent · 1/K Σ_k H(π_k) + λ_gap · mean_k max(0, Δ_c − (c_{k+1} − c_k))²     scale penalties
//! ```
//!
//! over S, θ, the networks Ψ and the controller's raw gaps η. The weights are w = (1 − f)π + f/R:
//! the controller's π, and a share f of uniform weight by which every source is judged at all
//! scales (0 in the paper). Where the mixer's output layer is eliminated, its ridge is part of the
//! reconstruction.
//!
//! **Structural energy.** Source k is cut into N_r patches of P_r samples with stride q_r = max(1,
//! ⌊ρP_r + ½⌋). A share ρ_mask of them is hidden, and the network of branch (k, r) predicts the
//! hidden patches u_i from the others:
//!
//! ```text
//! ℓ_kr = 1/(|M|·P_r) Σ_{i∈M} ‖û_i − u_i‖²          |M| = max(1, ⌊ρ_mask·N_r + ½⌋)
//! ```
//!
//! φ(ℓ) is ℓ as printed in the paper, or ln(ℓ + κ), the Gaussian log-likelihood of the patch error
//! (default), over all that a branch reads in a step or as a mean over blocks of it, which sees a
//! variance that changes with time. The network is a pre-norm Transformer whose attention logits
//! are q_i·k_j/√d_h − α_k|i − j| + B^mask: the locality slope α_k is the source's own, and B^mask
//! is −∞ for patches that touch missing samples and, with causal attention, for later ones.
//!
//! **Ordered controller.** δ = softplus(η) + ε (K+1 gaps δ_0 … δ_K), u_k = Σ_{j<k} δ_j / Σ_j δ_j,
//! and with a_r = ln P_r
//!
//! ```text
//! c_k = a_min + (a_max − a_min)·u_k
//! π_kr ∝ exp(−τ (a_r − c_k)²)
//! α_k = α_max^(1−u_k) · α_min^(u_k)
//! ```
//!
//! so that c_1 < … < c_K and α_1 > … > α_K whatever η is: low branch, short scale.
//!
//! **Separation.** C = ZᵀZ/T. L_sep is ‖C − I‖² (paper) or −ln det(C + 10⁻⁴ I) (default). With φ =
//! ln and weight λ_str/K the latter makes J a likelihood; the default weight is 1.5 times that,
//! which is more robust in short recordings.
//!
//! **Coordinates.** S = Zw·A for an affine mixer, with Zw the whitened principal components: A
//! (K×K) moves whole sources at once. A nonlinear one has *neural* coordinates,
//!
//! ```text
//! S = Zw·A + tanh(Zw·U + b)·V
//! L_sep = −1/T Σ_t ln(d_t² + 10⁻²ᴷ)        d_t = det(∂s_t/∂z_t)/Π_k σ_k
//! ```
//!
//! a smooth map of the components that is bent from a second stage on, and once more by
//! S + tanh(S·U + b)·V, where what is judged can tell a map that bends so much from a wrong one. Its
//! volume takes the place of det C (for V = 0 they are the same), so that J remains a likelihood.
//! Such a source is determined up to a monotone map of its own; which one it is shown in is a setting ([`scale`]).
//! In *fiber* coordinates S = Zw·A + E with E (T×K) free in every sample, each source at the pace
//! at which its networks predict it; in *direct* ones S itself is free, as in the paper. The linear
//! output layer of the mixer is eliminated by least squares in every step (variable projection), so
//! that by the envelope theorem ∂J/∂S is the partial derivative at the solved layer.
//!
//! The preset `paper` ([`Config::paper`]) is the objective and Algorithm 1 as printed; every
//! difference to the default is a switch of [`Config`].
//!
//! **Noise.** S follows the channels, noise and all. [`Separation::denoise`] gives the posterior
//! mean of the sources of an affine model, ŝ(f) = P(f)(P(f) + N)⁻¹x(f), with N from what K sources
//! leave of the channels and P the spectra of the sources, and its standard deviation; it fills
//! missing samples.
//!
//! # What is where
//!
//! | module | what it does |
//! |---|---|
//! | [`recording`], [`preprocess`] | checked input; centering, scaling, whitening, all invertible |
//! | [`prepare`] | filters, resampling, references and bad segments, before all that |
//! | [`config`] | one serialisable value for the whole run, checked once |
//! | [`energy`] | what makes a source a source: the branch networks, or an energy of your own |
//! | [`mixer`] | the observation mixer, or one of your own |
//! | [`controller`], [`objective`] | ordered scales; the terms of J |
//! | [`train`] | steps, schedules, moves, restarts, checkpoints, observers |
//! | [`separation`], [`transform`] | the immutable result, and sources of new data |
//! | [`trajectories`] | the energy of any trajectory under the trained branches; H and Δ of the paper |
//! | [`clean`] | a recording without some of its sources |
//! | [`scale`] | the monotone maps that nonlinear sources are shown in |
//! | [`verdict`] | which sources to trust: error bars, replication, a finding in words |
//! | [`denoise`] | sources without the noise of the channels, gaps filled, and their spread |
//!
//! The first three are modules of `strt-signal`. Beside this crate: `strt-classic` (classical
//! methods from FastICA to MULTICOMBI, to compare with and to start from), `strt-score` (scores
//! against known sources), `strt-synth` (problems with known answers).
//!
//! Deliberately absent: true sources and scores, files, printing, clocks and global random numbers.

mod adam_group;
pub mod clean;
pub mod config;
pub mod controller;
pub mod denoise;
pub mod energy;
pub mod error;
#[cfg(feature = "internals")]
pub mod internals;
mod linalg;
pub mod mixer;
pub mod objective;
pub mod scale;
mod scale_penalties;
pub mod separation;
mod space;
pub mod tensors;
pub mod train;
pub mod trajectories;
pub mod transform;
pub mod verdict;
mod view;

pub use config::Config;
pub use error::{Error, Result};
pub use separation::Separation;
pub use strt_signal::random::restart_seed;
pub use strt_signal::{Pieces, Recording, prepare, preprocess, recording};
pub use train::{Trainer, separate};
