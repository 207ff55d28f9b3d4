//! Masked patch energy: ℓ = 1/(|M|P) Σ_{i∈M} ‖û_i − u_i‖².

/// Some rows of predicted and targets (rows × P), and `count` = |M|P of all rows → their part of ℓ, summed in f64;
/// `predicted` becomes d_predicted = 2/(|M|P)·(û − u) in place. The gradient of the targets is its negative.
pub fn forward_backward(predicted: &mut [f32], targets: &[f32], count: usize) -> f64 {
    let factor = (2.0 / count as f64) as f32;
    let mut total = 0.0;
    for (p, &target) in predicted.iter_mut().zip(targets) {
        let difference = *p - target;
        total += f64::from(difference) * f64::from(difference);
        *p = factor * difference;
    }
    total / count as f64
}
