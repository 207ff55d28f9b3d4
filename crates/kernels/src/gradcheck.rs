//! Finite differences: the judge of every hand-written gradient.

/// Five-point central differences of `f` in every coordinate of `x`:
/// f′ ≈ [f(x−2h) − 8f(x−h) + 8f(x+h) − f(x+2h)] / 12h, with error O(h⁴).
pub fn numerical_gradient(mut f: impl FnMut(&[f64]) -> f64, x: &[f64], h: f64) -> Vec<f64> {
    let mut point = x.to_vec();
    (0..x.len())
        .map(|i| {
            let mut at = |offset: f64| {
                point[i] = x[i] + offset;
                f(&point)
            };
            let slope = (at(-2.0 * h) - 8.0 * at(-h) + 8.0 * at(h) - at(2.0 * h)) / (12.0 * h);
            point[i] = x[i];
            slope
        })
        .collect()
}

/// ‖a − b‖ / max(‖a‖, ‖b‖, floor): relative in size, absolute for gradients that vanish.
pub fn relative_error(a: &[f64], b: &[f64], floor: f64) -> f64 {
    assert_eq!(a.len(), b.len(), "gradients of different length");
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
    let difference = norm(&mut a.iter().zip(b).map(|(x, y)| x - y));
    difference
        / norm(&mut a.iter().copied())
            .max(norm(&mut b.iter().copied()))
            .max(floor)
}
