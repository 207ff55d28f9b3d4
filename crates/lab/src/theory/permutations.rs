//! Residual permutation group: which exchanges of sources leave the structural loss as it is.
//!
//! With the descriptor ω_k = (c_k, α_k, π_k, networks of branch k), L_str(S) = 1/K Σ_k E(s^(k);
//! ω_k), and the permutations P with L_str(SP) = L_str(S) for all S are
//!
//! ```text
//! G_Ω = {P : ω_P(k) = ω_k for all k},     {I} when the descriptors are pairwise distinct
//! ```
//!
//! L_str is evaluated for all K! orders of the columns of random S, all branches with the same
//! hidden patches (a mask belongs to the energy, not to a branch). First with distinct descriptors,
//! then with two branches made equal: the controller keeps centers apart as long as its gaps are
//! positive, so a gap of exactly 0 (η → −∞, ε → 0) is forced. Broken: the two branches share
//! center, slope and weights, but keep networks of their own.

use super::instance::{
    any_channels, bare, networks, normal, orders, rows_of, set_networks, set_sources,
};
use super::{Axis, Bound, Check, Figure, Findings, Side, Variant, tiny};
use crate::Result;
use faer::Mat;
use strtransformer::Trainer;
use strtransformer::internals::{Draws, Inspect};

pub(super) const CHECK: Check = Check {
    name: "permutations",
    title: "Which permutations the ordered structure leaves",
    claim: "L_str is invariant for all S under exactly those permutations that exchange branches \
            of equal descriptor (proposition on the residual permutation group); with distinct \
            descriptors only the identity is left.",
    broken: "two branches are claimed equal but have networks of their own",
    experiment,
};

const N_SAMPLES: usize = 24;
const N_SOURCES: usize = 4;
/// Random S tried: a permutation counts as preserving when it preserves all of them.
const N_TRIALS: u64 = 4;
/// Relative change of L_str up to which it counts as unchanged: sums are taken in another order.
const ROUNDING: f64 = 1e-13;

fn experiment(variant: Variant) -> Result<Findings> {
    let distinct = Case::new(false, false)?;
    let equal = Case::new(true, variant == Variant::True)?;
    let (one, two) = (distinct.study(), equal.study());
    let swap = [1, 0, 2, 3];
    // The group that the proposition names: those that may exchange the first two branches.
    let outside_one = |order: &[usize]| order != [0, 1, 2, 3];
    let outside_two = |order: &[usize]| outside_one(order) && order != swap;

    let mut findings = Findings::default();
    findings.measure(
        "distinct descriptors: permutations that preserve L_str",
        one.preserving() as f64,
        Bound::Is(1.0),
    );
    findings.measure(
        "smallest change by any other",
        one.least(outside_one),
        Bound::AtLeast(1e-6),
    );
    findings.measure(
        "two equal descriptors: permutations that preserve L_str",
        two.preserving() as f64,
        Bound::Is(2.0),
    );
    findings.measure(
        "change by exchanging the two",
        two.of(&swap),
        Bound::AtMost(ROUNDING),
    );
    findings.measure(
        "smallest change by any other",
        two.least(outside_two),
        Bound::AtLeast(1e-6),
    );
    findings.measure(
        "L_str against 1/K Σ H_kP(k), all permutations",
        one.inconsistency.max(two.inconsistency),
        Bound::AtMost(ROUNDING),
    );
    findings.sentence = format!(
        "Of {} permutations of {N_SOURCES} sources, {} preserves L_str when all descriptors differ \
         (any other changes it by at least {:.1e}), and {} when two branches {} (exchanging them \
         changes it by {}).",
        one.orders.len(),
        one.preserving(),
        one.least(outside_one),
        two.preserving(),
        match variant {
            Variant::True => "are made equal",
            Variant::Broken => "share everything but their networks",
        },
        tiny(two.of(&swap)),
    );
    findings.figures = vec![
        one.bars("Change of L_str by each permutation, distinct descriptors"),
        two.bars("Change of L_str by each permutation, branches 1 and 2 equal"),
        one.map("Cost H of source j in branch k, distinct descriptors"),
        two.map("Cost H of source j in branch k, branches 1 and 2 equal"),
    ];
    Ok(findings)
}

/// A run whose branches are distinct, or whose first two share the controller's part of the
/// descriptor and, when asked, the networks.
struct Case {
    trainer: Trainer,
}

/// L_str of every order of the sources.
struct Study {
    orders: Vec<Vec<usize>>,
    /// |L_str(SP) − L_str(S)| / L_str(S), the largest over all S.
    change: Vec<f64>,
    /// |L_str(SP) − 1/K Σ_k H_kP(k)| / L_str(S), the largest of all.
    inconsistency: f64,
    /// H of the last S.
    cost: Mat<f64>,
}

impl Case {
    fn new(equal_controller: bool, equal_networks: bool) -> Result<Case> {
        let mut config = bare(N_SOURCES);
        config.weights.structure = Some(1.0);
        config.controller.gap_floor = f64::MIN_POSITIVE;
        let mut trainer = Trainer::new(&any_channels(N_SAMPLES, N_SOURCES)?, &config)?;
        if equal_controller {
            let gaps = trainer.parameter("controller.raw_gaps");
            let mut gaps = gaps.expect("the controller has gaps");
            gaps[(1, 0)] = -1e4; // softplus gives exactly 0, so that u_2 = u_1
            trainer.set_parameter("controller.raw_gaps", &gaps);
        }
        if equal_networks {
            let n_scales = config.branches.patch_sizes.len();
            let mut all = networks(&trainer);
            for r in 0..n_scales {
                all[n_scales + r] = all[r].clone();
            }
            set_networks(&mut trainer, &all);
        }
        Ok(Case { trainer })
    }

    /// L_str and Σ_r π_kr ℓ_kr of every branch, the columns of S in this order.
    fn structure(&mut self, s: &Mat<f64>, order: &[usize]) -> (f64, Vec<f64>) {
        let permuted = Mat::from_fn(s.nrows(), s.ncols(), |t, k| s[(t, order[k])]);
        set_sources(&mut self.trainer, &permuted);
        let scales = self
            .trainer
            .transformer()
            .engine()
            .branches()
            .scales
            .clone();
        let same_masks = move |draws: &mut Draws| {
            for job in 0..N_SOURCES * scales.len() {
                let n_patches = scales[job % scales.len()].n_patches;
                let masked: Vec<u32> = (0..n_patches as u32).filter(|i| i % 3 == 1).collect();
                draws.set(job, 0, 0, &masked, n_patches);
            }
        };
        let terms = self.trainer.evaluate_with_draws(same_masks);
        (
            terms.structure,
            self.trainer.report().branch_structure.to_vec(),
        )
    }

    fn study(mut self) -> Study {
        let orders = orders(N_SOURCES);
        let mut study = Study {
            change: vec![0.0; orders.len()],
            inconsistency: 0.0,
            cost: Mat::zeros(N_SOURCES, N_SOURCES),
            orders,
        };
        for trial in 0..N_TRIALS {
            let s = normal(N_SAMPLES, N_SOURCES, 20 + trial);
            // H_kj: source j in branch k, from the cyclic orders.
            for shift in 0..N_SOURCES {
                let order: Vec<usize> = (0..N_SOURCES).map(|k| (k + shift) % N_SOURCES).collect();
                let (_, branches) = self.structure(&s, &order);
                (0..N_SOURCES).for_each(|k| study.cost[(k, order[k])] = branches[k]);
            }
            let (identity, _) = self.structure(&s, &study.orders[0]);
            for (n, order) in study.orders.iter().enumerate() {
                let (value, _) = self.structure(&s, order);
                let sum: f64 = (0..N_SOURCES).map(|k| study.cost[(k, order[k])]).sum();
                study.change[n] = study.change[n].max((value - identity).abs() / identity);
                let apart = (value - sum / N_SOURCES as f64).abs() / identity;
                study.inconsistency = study.inconsistency.max(apart);
            }
        }
        study
    }
}

impl Study {
    fn preserving(&self) -> usize {
        self.change
            .iter()
            .filter(|&&change| change <= ROUNDING)
            .count()
    }

    fn of(&self, order: &[usize]) -> f64 {
        let place = self.orders.iter().position(|other| other == order);
        place.map_or(f64::NAN, |n| self.change[n])
    }

    /// The smallest change among the permutations that `counts`.
    fn least(&self, counts: impl Fn(&[usize]) -> bool) -> f64 {
        let changes = self.orders.iter().zip(&self.change);
        changes
            .filter(|(order, _)| counts(order))
            .map(|(_, &change)| change)
            .fold(f64::INFINITY, f64::min)
    }

    fn bars(&self, title: &str) -> Figure {
        let name = |order: &Vec<usize>| {
            order
                .iter()
                .map(|k| (k + 1).to_string())
                .collect::<String>()
        };
        Figure::Bars {
            title: title.into(),
            x: "order of the sources".into(),
            y: Axis::log("relative change, at least 1e-17"),
            names: self.orders.iter().map(name).collect(),
            heights: self.change.iter().map(|change| change.max(1e-17)).collect(),
        }
    }

    fn map(&self, title: &str) -> Figure {
        Figure::Map {
            title: title.into(),
            rows: Side::numbers("branch", N_SOURCES),
            columns: Side::numbers("source", N_SOURCES),
            values: rows_of(self.cost.as_ref()),
            signed: false,
        }
    }
}
