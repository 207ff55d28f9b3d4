//! Inverses of symmetric positive definite Toeplitz matrices, entry by entry, without storing one.
//!
//! In: the first row r of an n × n matrix. Out: its inverse along one diagonal after the other. n
//! numbers describe it: the solution a of R·a = e·(1, 0, …, 0)ᵀ with a_0 = 1 (N. Levinson, 1946;
//! J. Durbin, 1960). From them, with b_0 = 0 and b_i = a_{n−i} (I. Gohberg and A. Semencul, 1972;
//! W. F. Trench, 1964),
//!
//! ```text
//! (R⁻¹)_{0,j} = a_j/e,     (R⁻¹)_{i+1,j+1} = (R⁻¹)_{i,j} + (a_{i+1}·a_{j+1} − b_{i+1}·b_{j+1})/e.
//! ```
//!
//! So all n² entries take O(n²) operations and O(n) memory.

/// The inverse of a Toeplitz matrix.
pub struct ToeplitzInverse {
    /// a_0 … a_{n−1}, over √e; e is the error of the best linear prediction from n − 1 samples.
    predictor: Vec<f64>,
}

impl ToeplitzInverse {
    /// Of the matrix whose first row is `row`; `None` when it is not positive definite in floating
    /// point numbers.
    pub fn new(row: &[f64]) -> Option<Self> {
        let mut predictor = vec![1.0];
        let mut error = *row.first()?;
        for order in 1..row.len() {
            if error.is_nan() || error <= 0.0 {
                return None;
            }
            let ahead: f64 = (0..order).map(|i| predictor[i] * row[order - i]).sum();
            let reflection = -ahead / error;
            predictor.push(0.0);
            // a_i ← a_i + k·a_{order−i}, in place from both ends.
            for i in 0..=order / 2 {
                let (low, high) = (predictor[i], predictor[order - i]);
                predictor[i] = low + reflection * high;
                predictor[order - i] = high + reflection * low;
            }
            error *= 1.0 - reflection * reflection;
        }
        let scale = error.sqrt();
        predictor.iter_mut().for_each(|a| *a /= scale);
        (error > 0.0).then_some(Self { predictor })
    }

    /// (R⁻¹)_{i, i+d} for i = 0 … n − 1 − d, into `entries`.
    pub fn diagonal(&self, d: usize, entries: &mut Vec<f64>) {
        let (a, n) = (&self.predictor, self.predictor.len());
        let mut entry = a[0] * a[d];
        entries.clear();
        entries.push(entry);
        let (first, second) = (a[1..n - d].iter(), a[d + 1..].iter());
        let (third, fourth) = (a[d + 1..].iter().rev(), a[1..n - d].iter().rev());
        entries.extend(
            first
                .zip(second)
                .zip(third.zip(fourth))
                .map(|((a, b), (c, d))| {
                    entry += a * b - c * d;
                    entry
                }),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_one() {
        for n in [1, 2, 3, 4, 9, 20] {
            // A smooth kernel with a little noise: as badly conditioned as those of the benchmark.
            let row: Vec<f64> = (0..n)
                .map(|lag| {
                    (-(lag as f64 / 5.0).powi(2) / 2.0).exp() + if lag == 0 { 1e-4 } else { 0.0 }
                })
                .collect();
            let inverse = ToeplitzInverse::new(&row).unwrap();
            let mut dense = vec![vec![0.0; n]; n];
            let mut entries = Vec::new();
            for d in 0..n {
                inverse.diagonal(d, &mut entries);
                assert_eq!(entries.len(), n - d);
                for (i, &entry) in entries.iter().enumerate() {
                    (dense[i][i + d], dense[i + d][i]) = (entry, entry);
                }
            }
            for (i, dense_row) in dense.iter().enumerate() {
                for j in 0..n {
                    let product: f64 = (0..n).map(|l| dense_row[l] * row[l.abs_diff(j)]).sum();
                    let expected = f64::from(u8::from(i == j));
                    assert!(
                        (product - expected).abs() < 1e-7,
                        "n = {n}: ({i}, {j}) is {product}"
                    );
                }
            }
        }
    }

    #[test]
    fn matrices_that_are_not_positive_definite_have_none() {
        assert!(ToeplitzInverse::new(&[]).is_none());
        assert!(ToeplitzInverse::new(&[1.0, 1.0, 1.0]).is_none());
        assert!(ToeplitzInverse::new(&[1.0, 2.0]).is_none());
        assert!(ToeplitzInverse::new(&[f64::NAN, 0.0]).is_none());
    }
}
