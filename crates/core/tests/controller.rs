//! What the ordered controller promises for every η: properties, checked on random settings and
//! gaps.
//!
//! ```text
//! a_1 < c_1 < … < c_K < a_R      α_max > α_1 > … > α_K > α_min
//! Σ_r π_kr = 1                   P_1 ≤ P̄_k ≤ P_R
//! ```
//!
//! The range that is checked, |η| ≤ 10⁶ with ε = 10⁻³ and 64 sources, lies far beyond what training
//! reaches; the strict order holds as long as ε is more than rounding beside Σδ. With one patch
//! size all centers coincide, since there is one scale only; the slopes stay ordered.

use proptest::prelude::*;
use strt_kernels::gradcheck::{numerical_gradient, relative_error};
use strtransformer::config;
use strtransformer::controller::{Controller, ControllerGradient, ControllerState};

const ROUNDING: f64 = 1e-12;

fn settings() -> impl Strategy<Value = config::Controller> {
    (0.1..50.0, 0.5..5.0, 0.001..0.4).prop_map(|(sharpness, slope_max, slope_min)| {
        config::Controller {
            sharpness,
            slope_max,
            slope_min,
            gap_floor: 1e-3,
            gap_target: 0.5,
            weight_floor: 0.0,
        }
    })
}

/// Ascending patch sizes.
fn patch_sizes(least: usize) -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::btree_set(1..300usize, least..7)
        .prop_map(|sizes| sizes.into_iter().collect())
}

/// K + 1 raw gaps for up to 64 sources.
fn raw_gaps(size: f64) -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(-size..size, 2..66)
}

fn forward(
    patch_sizes: &[usize],
    settings: &config::Controller,
    raw_gaps: &[f64],
) -> (Controller, ControllerState) {
    let controller = Controller::new(raw_gaps.len() - 1, patch_sizes, settings);
    let mut state = ControllerState::default();
    controller.forward(raw_gaps, &mut state);
    (controller, state)
}

fn strictly_ascending(values: impl Iterator<Item = f64>) -> bool {
    values
        .collect::<Vec<f64>>()
        .windows(2)
        .all(|pair| pair[0] < pair[1])
}

/// `low`, the values, `high`.
fn enclosed(low: f64, values: &[f64], high: f64) -> impl Iterator<Item = f64> {
    std::iter::once(low)
        .chain(values.iter().copied())
        .chain(std::iter::once(high))
}

fn check_invariants(patch_sizes: &[usize], settings: &config::Controller, raw_gaps: &[f64]) {
    let (_, state) = forward(patch_sizes, settings, raw_gaps);
    let n_scales = patch_sizes.len();
    let (first, last) = (patch_sizes[0] as f64, patch_sizes[n_scales - 1] as f64);

    assert!(
        strictly_ascending(enclosed(0.0, &state.order, 1.0)),
        "{:?}",
        state.order
    );
    if n_scales > 1 {
        assert!(
            strictly_ascending(enclosed(first.ln(), &state.centers, last.ln())),
            "{:?}",
            state.centers
        );
    }
    let descending: Vec<f64> = state.slopes.iter().rev().copied().collect();
    assert!(
        strictly_ascending(enclosed(
            settings.slope_min,
            &descending,
            settings.slope_max
        )),
        "{:?}",
        state.slopes
    );
    assert_eq!(state.scale_weights.len(), state.order.len() * n_scales);
    for weights in state.scale_weights.chunks_exact(n_scales) {
        assert!(
            weights.iter().all(|w| (0.0..=1.0).contains(w)),
            "{weights:?}"
        );
        assert!(
            (weights.iter().sum::<f64>() - 1.0).abs() < ROUNDING,
            "{weights:?}"
        );
    }
    for &patch in &state.expected_patch {
        let low = first * (1.0 - ROUNDING);
        let high = last * (1.0 + ROUNDING);
        assert!(
            (low..=high).contains(&patch),
            "{patch} not in {first}..={last}"
        );
    }
}

proptest! {
    #[test]
    fn order_slopes_and_scale_weights(
        sizes in patch_sizes(1), settings in settings(), gaps in raw_gaps(20.0),
    ) {
        check_invariants(&sizes, &settings, &gaps);
    }

    #[test]
    fn extreme_gaps(sizes in patch_sizes(2), settings in settings(), gaps in raw_gaps(1e6)) {
        check_invariants(&sizes, &settings, &gaps);
    }

    /// J = ⟨G_π, π⟩ + ⟨g_c, c⟩ + ⟨g_α, α⟩ for random G, against differences in η.
    #[test]
    fn gradient(
        sizes in patch_sizes(1),
        settings in settings(),
        gaps in proptest::collection::vec(-5.0..5.0f64, 2..8),
        seed: u32,
    ) {
        let (controller, state) = forward(&sizes, &settings, &gaps);
        let k = state.centers.len();
        let direction = |n: usize, part: f64| -> Vec<f64> {
            (0..n).map(|i| (f64::from(seed) + part + 1.7 * i as f64).sin()).collect()
        };
        let g_pi = direction(k * sizes.len(), 0.1);
        let (g_c, g_alpha) = (direction(k, 0.2), direction(k, 0.3));
        let mut analytic = vec![0.0; gaps.len()];
        let d_state = ControllerGradient {
            scale_weights: g_pi.clone(),
            centers: g_c.clone(),
            slopes: g_alpha.clone(),
        };
        controller.backward(&gaps, &state, &d_state, &mut analytic);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let value = |x: &[f64]| {
            let (_, state) = forward(&sizes, &settings, x);
            dot(&g_pi, &state.scale_weights)
                + dot(&g_c, &state.centers)
                + dot(&g_alpha, &state.slopes)
        };
        let numerical = numerical_gradient(value, &gaps, 2e-5);
        prop_assert!(relative_error(&analytic, &numerical, 1e-2) < 1e-6);
    }
}

#[test]
fn equal_gaps_give_equally_spaced_centers() {
    let settings = config::Controller {
        gap_floor: 1e-3,
        ..config::Controller::default()
    };
    let controller = Controller::new(3, &[4, 64], &settings);
    let (_, state) = forward(&[4, 64], &settings, &controller.initial_gaps());
    for (k, center) in state.centers.iter().enumerate() {
        let expected = 4f64.ln() + 16f64.ln() * (k + 1) as f64 / 4.0;
        assert!((center - expected).abs() < ROUNDING);
    }
}
