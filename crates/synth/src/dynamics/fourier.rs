//! The discrete Fourier transform of any length, in O(n·log n).
//!
//! In: real and imaginary parts, which are overwritten. Powers of two by the algorithm of Cooley
//! and Tukey; other lengths as a convolution of such a length (L. I. Bluestein, 1970). Plain loops
//! with sines and cosines of `libm`: the same bits on every machine, which a library that chooses
//! its instructions at run time does not give.

use std::f64::consts::PI;

/// What transforms of one length share.
pub(super) struct Transform {
    n: usize,
    /// cos and sin of 2πk/m for k < m/2, m the power of two below.
    turns: Vec<(f64, f64)>,
    /// For lengths that are no power of two.
    chirp: Option<Chirp>,
}

/// exp(−iπj²/n) for j < n, and the transform of its conjugate, continued as an even function over m
/// ≥ 2n − 1 points.
struct Chirp {
    values: Vec<(f64, f64)>,
    spectrum: (Vec<f64>, Vec<f64>),
}

impl Transform {
    /// For n ≥ 1 values.
    pub(super) fn new(n: usize) -> Self {
        let m = if n.is_power_of_two() {
            n
        } else {
            (2 * n - 1).next_power_of_two()
        };
        let turns = (0..m / 2)
            .map(|k| {
                let angle = 2.0 * PI * k as f64 / m as f64;
                (libm::cos(angle), libm::sin(angle))
            })
            .collect();
        let mut transform = Self {
            n,
            turns,
            chirp: None,
        };
        if m != n {
            transform.chirp = Some(transform.new_chirp(m));
        }
        transform
    }

    fn new_chirp(&self, m: usize) -> Chirp {
        let n = self.n as u64;
        let values: Vec<(f64, f64)> = (0..n)
            .map(|j| {
                // exp(iπx) has the period 2 in x, so j² may be taken modulo 2n, which loses
                // nothing.
                let angle = PI * (j * j % (2 * n)) as f64 / n as f64;
                (libm::cos(angle), -libm::sin(angle))
            })
            .collect();
        let (mut re, mut im) = (vec![0.0; m], vec![0.0; m]);
        for (j, &(cos, minus_sin)) in values.iter().enumerate() {
            for place in [j, (m - j) % m] {
                (re[place], im[place]) = (cos, -minus_sin);
            }
        }
        self.power_of_two(&mut re, &mut im);
        Chirp {
            values,
            spectrum: (re, im),
        }
    }

    /// X_k = Σ_t x_t·exp(−2πi·kt/n).
    pub(super) fn forward(&self, re: &mut [f64], im: &mut [f64]) {
        let Some(chirp) = &self.chirp else {
            return self.power_of_two(re, im);
        };
        // kt = (k² + t² − (k − t)²)/2: X_k = c_k·Σ_t (c_t·x_t)·conj(c_{k−t}), c the chirp.
        let m = chirp.spectrum.0.len();
        let (mut a_re, mut a_im) = (vec![0.0; m], vec![0.0; m]);
        for (t, &c) in chirp.values.iter().enumerate() {
            (a_re[t], a_im[t]) = times((re[t], im[t]), c);
        }
        self.power_of_two(&mut a_re, &mut a_im);
        for k in 0..m {
            let spectrum = (chirp.spectrum.0[k], chirp.spectrum.1[k]);
            (a_re[k], a_im[k]) = times((a_re[k], a_im[k]), spectrum);
        }
        // The inverse is the transform with real and imaginary parts exchanged, over m.
        self.power_of_two(&mut a_im, &mut a_re);
        for (k, &c) in chirp.values.iter().enumerate() {
            (re[k], im[k]) = times((a_re[k] / m as f64, a_im[k] / m as f64), c);
        }
    }

    /// x_t = (1/n)·Σ_k X_k·exp(2πi·kt/n).
    pub(super) fn inverse(&self, re: &mut [f64], im: &mut [f64]) {
        self.forward(im, re);
        for value in re.iter_mut().chain(im) {
            *value /= self.n as f64;
        }
    }

    /// The transform of a length that is twice the number of turns (or 1).
    fn power_of_two(&self, re: &mut [f64], im: &mut [f64]) {
        let m = re.len();
        if m < 2 {
            return;
        }
        let unused_bits = usize::BITS - m.trailing_zeros();
        for i in 0..m {
            let j = i.reverse_bits() >> unused_bits;
            if i < j {
                re.swap(i, j);
                im.swap(i, j);
            }
        }
        let mut half = 1;
        while half < m {
            let stride = m / (2 * half);
            for start in (0..m).step_by(2 * half) {
                for k in 0..half {
                    let (cos, sin) = self.turns[k * stride];
                    let (low, high) = (start + k, start + k + half);
                    let (odd_re, odd_im) = times((re[high], im[high]), (cos, -sin));
                    (re[high], im[high]) = (re[low] - odd_re, im[low] - odd_im);
                    (re[low], im[low]) = (re[low] + odd_re, im[low] + odd_im);
                }
            }
            half *= 2;
        }
    }
}

fn times((a, b): (f64, f64), (c, d): (f64, f64)) -> (f64, f64) {
    (a * c - b * d, a * d + b * c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_agrees_with_the_sum_and_is_inverted() {
        for n in [1, 2, 3, 4, 5, 7, 8, 12, 30, 64, 101, 360] {
            let input: Vec<(f64, f64)> = (0..n)
                .map(|t| (libm::sin(1.3 * t as f64), libm::cos(0.7 * (t * t) as f64)))
                .collect();
            let (mut re, mut im): (Vec<f64>, Vec<f64>) = input.iter().copied().unzip();
            let transform = Transform::new(n);
            transform.forward(&mut re, &mut im);
            for k in 0..n {
                let mut sum = (0.0, 0.0);
                for (t, &x) in input.iter().enumerate() {
                    let angle = -2.0 * PI * (k * t % n) as f64 / n as f64;
                    let term = times(x, (libm::cos(angle), libm::sin(angle)));
                    sum = (sum.0 + term.0, sum.1 + term.1);
                }
                assert!((sum.0 - re[k]).abs() < 1e-11 * n as f64, "n = {n}, k = {k}");
                assert!((sum.1 - im[k]).abs() < 1e-11 * n as f64, "n = {n}, k = {k}");
            }
            transform.inverse(&mut re, &mut im);
            for (t, x) in input.iter().enumerate() {
                assert!(
                    (re[t] - x.0).abs() < 1e-12 && (im[t] - x.1).abs() < 1e-12,
                    "n = {n}"
                );
            }
        }
    }
}
