//! Second moments of the sources and the way back from gradients in them.
//!
//! ```text
//! P = ZwᵀS/T = C_zzA + C_ze    Q = SᵀS/T = AᵀP + C_zeᵀA + C_ee
//! s̄ = Aᵀz̄ + ē                  C_sy = AᵀC_zy + C_yeᵀ
//! ```
//!
//! and of the standardised ones z = (s − μ)/(σ + ε). In: A and the moments of Zw and E. Out: those
//! of S and Z; then, from J's gradient in Q, C_sy, s̄ and the divisors, what reaches A. It knows
//! nothing of the terms of J.

use super::basis::Basis;
use super::free::FreeMoments;
use crate::view::gauge::Gauge;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// Moments of what the mixer may read, u = s or z, or J's gradient in them.
#[derive(Clone, Debug)]
pub(super) struct InputMoments {
    /// mean u uᵀ (K×K).
    pub uu: Mat<f64>,
    /// mean u yᵀ (K×m).
    pub uy: Mat<f64>,
    /// mean u (K).
    pub mean: Vec<f64>,
}

impl InputMoments {
    pub fn new(n_sources: usize, n_channels: usize) -> InputMoments {
        InputMoments {
            uu: Mat::zeros(n_sources, n_sources),
            uy: Mat::zeros(n_sources, n_channels),
            mean: vec![0.0; n_sources],
        }
    }

    fn clear(&mut self) {
        self.uu.fill(0.0);
        self.uy.fill(0.0);
        self.mean.fill(0.0);
    }
}

/// Moments of S and Z with their gradients.
pub(super) struct SourceMoments {
    /// μ and σ + ε.
    pub gauge: Gauge,
    /// A; 0 in direct coordinates (K×K).
    pub a: Mat<f64>,
    /// P (K×K).
    pub p: Mat<f64>,
    /// Q, C_sy and s̄.
    pub s: InputMoments,
    /// Moments of Z.
    pub z: InputMoments,
    /// ∂J/∂(Q, C_sy, s̄).
    pub d_s: InputMoments,
    /// ∂J/∂(σ_k + ε).
    pub d_divisor: Vec<f64>,
    /// ∂J/∂A other than through the moments above.
    pub d_a: Mat<f64>,
}

impl SourceMoments {
    pub fn new(n_sources: usize, n_channels: usize, epsilon: f64) -> SourceMoments {
        let square = || Mat::zeros(n_sources, n_sources);
        let moments = || InputMoments::new(n_sources, n_channels);
        SourceMoments {
            gauge: Gauge::new(n_sources, epsilon),
            a: square(),
            p: square(),
            s: moments(),
            z: moments(),
            d_s: moments(),
            d_divisor: vec![0.0; n_sources],
            d_a: square(),
        }
    }

    fn n_sources(&self) -> usize {
        self.s.mean.len()
    }

    /// Moments and gauge of S = Zw·A + E; the gradients are 0.
    pub fn read(&mut self, a: Option<&Mat<f64>>, free: Option<&FreeMoments>, basis: &Basis) {
        let k = self.n_sources();
        self.a.fill(0.0);
        self.p.fill(0.0);
        for moments in [&mut self.s, &mut self.d_s] {
            moments.clear();
        }
        self.d_divisor.fill(0.0);
        self.d_a.fill(0.0);
        let add = |to: &mut Mat<f64>, left: faer::MatRef<'_, f64>, right: &Mat<f64>| {
            matmul(to.as_mut(), Accum::Add, left, right, 1.0, Par::Seq);
        };
        if let Some(a) = a {
            self.a.copy_from(a);
            add(&mut self.p, basis.zz.as_ref(), a);
            add(&mut self.s.uy, a.transpose(), &basis.zy);
            for j in 0..k {
                self.s.mean[j] = (0..k).map(|i| a[(i, j)] * basis.z_mean[i]).sum();
            }
        }
        if let Some(free) = free {
            self.p += &free.ze;
            self.s.uy += free.ye.transpose();
            add(&mut self.s.uu, free.ze.transpose(), &self.a);
            self.s.uu += &free.ee;
            (0..k).for_each(|j| self.s.mean[j] += free.mean[(j, 0)]);
        }
        add(&mut self.s.uu, self.a.transpose(), &self.p);
        if !self.gauge.fixed {
            for j in 0..k {
                let mean = self.s.mean[j];
                let variance = self.s.uu[(j, j)] - mean * mean;
                (self.gauge.mean[j], self.gauge.deviation[j]) = (mean, variance.max(0.0).sqrt());
            }
        }
        self.standardize(basis);
    }

    fn standardize(&mut self, basis: &Basis) {
        let (k, m) = self.s.uy.shape();
        for i in 0..k {
            let (mean_i, divisor_i) = self.gauge.of(i);
            self.z.mean[i] = (self.s.mean[i] - mean_i) / divisor_i;
            for c in 0..m {
                self.z.uy[(i, c)] = (self.s.uy[(i, c)] - mean_i * basis.y_mean[c]) / divisor_i;
            }
            for j in 0..k {
                let (mean_j, divisor_j) = self.gauge.of(j);
                let centred = self.s.uu[(i, j)] - mean_i * self.s.mean[j] - self.s.mean[i] * mean_j;
                self.z.uu[(i, j)] = (centred + mean_i * mean_j) / (divisor_i * divisor_j);
            }
        }
    }

    /// Adds weight·d, a symmetric gradient in mean zzᵀ.
    pub fn add_correlation_gradient(&mut self, weight: f64, d: &Mat<f64>) {
        for i in 0..self.n_sources() {
            let divisor_i = self.gauge.divisor(i);
            for j in 0..self.n_sources() {
                let (mean_j, divisor_j) = self.gauge.of(j);
                let d = weight * d[(i, j)];
                let d_q = d / (divisor_i * divisor_j);
                self.d_s.uu[(i, j)] += d_q;
                self.d_s.mean[i] -= 2.0 * d_q * mean_j;
                self.d_divisor[i] -= 2.0 * d * self.z.uu[(i, j)] / divisor_i;
            }
        }
    }

    /// Adds a gradient in all moments of z.
    pub fn add_standardized_gradient(&mut self, d: &InputMoments, basis: &Basis) {
        self.add_correlation_gradient(1.0, &d.uu);
        let (k, m) = self.s.uy.shape();
        for j in 0..k {
            let divisor = self.gauge.divisor(j);
            for c in 0..m {
                let d = d.uy[(j, c)] / divisor;
                self.d_s.uy[(j, c)] += d;
                self.d_divisor[j] -= d * self.z.uy[(j, c)];
                if !self.gauge.fixed {
                    self.d_s.mean[j] -= d * basis.y_mean[c];
                }
            }
            if self.gauge.fixed {
                self.d_s.mean[j] += d.mean[j] / divisor; // otherwise mean z is 0 whatever S is
            }
        }
    }

    /// Adds a gradient in all moments of s.
    pub fn add_gradient(&mut self, d: &InputMoments) {
        self.d_s.uu += &d.uu;
        self.d_s.uy += &d.uy;
        self.d_s
            .mean
            .iter_mut()
            .zip(&d.mean)
            .for_each(|(slot, d)| *slot += d);
    }

    /// From Σ_t d_z and Σ_t d_z·z over some samples of z_k: what reaches its mean and divisor.
    pub fn add_gauge_gradient(&mut self, k: usize, sum: f64, dot: f64) {
        let divisor = self.gauge.divisor(k);
        if !self.gauge.fixed {
            self.d_s.mean[k] -= sum / divisor;
        }
        self.d_divisor[k] -= dot / divisor;
    }

    /// L_smooth = 1/K Σ_k a_kᵀ D_zz a_k, over (σ_k + ε)² if standardised, where E is absent; adds
    /// weight · gradient.
    pub fn smoothness(&mut self, basis: &Basis, weight: f64, standardized: bool) -> f64 {
        let k = self.n_sources();
        let mut value = 0.0;
        for j in 0..k {
            let divisor = if standardized {
                self.gauge.divisor(j)
            } else {
                1.0
            };
            let scale = 1.0 / (divisor * divisor * k as f64);
            let mut square = 0.0;
            for i in 0..k {
                let image: f64 = (0..k)
                    .map(|l| basis.differences[(i, l)] * self.a[(l, j)])
                    .sum();
                square += self.a[(i, j)] * image;
                self.d_a[(i, j)] += 2.0 * weight * scale * image;
            }
            value += scale * square;
            if standardized {
                self.d_divisor[j] -= 2.0 * weight * scale * square / divisor;
            }
        }
        value
    }

    /// Ends the collecting: divisors are carried over to Q and s̄, and from here on `d_s.uu` stands
    /// for d_Q + d_Qᵀ, which is what multiplies S.
    pub fn close(&mut self) {
        let k = self.n_sources();
        if !self.gauge.fixed {
            // σ² = Q_kk − s̄²; a constant source has no direction in which its deviation changes.
            for j in (0..k).filter(|&j| self.gauge.deviation[j] > 0.0) {
                let d = self.d_divisor[j] / self.gauge.deviation[j];
                self.d_s.uu[(j, j)] += 0.5 * d;
                self.d_s.mean[j] -= d * self.s.mean[j];
            }
        }
        let d_q = &mut self.d_s.uu;
        for j in 0..k {
            for i in 0..=j {
                let both = d_q[(i, j)] + d_q[(j, i)];
                (d_q[(i, j)], d_q[(j, i)]) = (both, both);
            }
        }
    }

    /// d_A = P·(d_Q + d_Qᵀ) + z̄·d_s̄ᵀ + C_zy·d_C_syᵀ and what reached A directly; after
    /// [`SourceMoments::close`].
    pub fn fiber_gradient(&self, basis: &Basis, d_a: &mut Mat<f64>) {
        d_a.copy_from(&self.d_a);
        let uy = self.d_s.uy.transpose();
        matmul(
            d_a.as_mut(),
            Accum::Add,
            &self.p,
            &self.d_s.uu,
            1.0,
            Par::Seq,
        );
        matmul(d_a.as_mut(), Accum::Add, &basis.zy, uy, 1.0, Par::Seq);
        for j in 0..self.n_sources() {
            for i in 0..self.n_sources() {
                d_a[(i, j)] += basis.z_mean[i] * self.d_s.mean[j];
            }
        }
    }
}
