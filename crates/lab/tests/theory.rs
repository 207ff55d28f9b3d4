//! Every claim passes as it stands, and fails when one thing that it needs is taken away.

use strt_lab::theory::{self, Bound, CheckResult, Figure, Variant};

fn run(name: &str, variant: Variant) -> CheckResult {
    let check = theory::all().into_iter().find(|check| check.name == name);
    let result = check.expect("the check exists").run(variant).unwrap();
    println!("{name} {variant:?}: {}", result.sentence);
    for measured in &result.measurements {
        println!(
            "  {:<70} {:>12.4e}  {:?} {}",
            measured.what, measured.value, measured.bound, measured.holds
        );
    }
    result
}

/// The numbers that break their bounds when the claim is broken, by the words they begin with.
fn check(name: &str, breaks: &[&str]) {
    let result = run(name, Variant::True);
    assert!(result.passed, "{result:#?}");
    assert!(
        result
            .measurements
            .iter()
            .any(|measured| measured.bound != Bound::Noted)
    );
    assert!(!result.sentence.is_empty() && !result.figures.is_empty());
    for figure in &result.figures {
        match figure {
            Figure::Lines { lines, .. } => {
                assert!(lines.iter().all(|line| line.x.len() == line.y.len()))
            }
            Figure::Map {
                rows,
                columns,
                values,
                ..
            } => {
                assert_eq!(values.len(), rows.names.len());
                assert!(values.iter().all(|row| row.len() == columns.names.len()));
            }
            Figure::Bars { names, heights, .. } => assert_eq!(names.len(), heights.len()),
        }
    }
    let broken = run(name, Variant::Broken);
    assert!(!broken.passed, "{broken:#?}");
    for words in breaks {
        let measured = broken
            .measurements
            .iter()
            .find(|measured| measured.what.starts_with(words));
        assert!(
            !measured.expect("it is measured in both variants").holds,
            "{words}"
        );
    }
}

#[test]
fn structure_decouples() {
    check(
        "decoupling",
        &[
            "entries of a gradient column",
            "largest entry between blocks",
        ],
    );
}

#[test]
fn reconstruction_couples() {
    check("reconstruction", &["GᵀG/ν against"]);
}

#[test]
fn small_noise_selects_from_the_fiber() {
    check(
        "fiber",
        &["largest squared residual", "largest (J", "slope"],
    );
}

#[test]
fn only_equal_descriptors_can_be_exchanged() {
    check(
        "permutations",
        &["two equal descriptors", "change by exchanging"],
    );
}

#[test]
fn the_linear_route() {
    check("linear", &["smallest distance", "distance of Q"]);
}

#[test]
fn the_nonlinear_route() {
    check("nonlinear", &["Spearman MAC of the recovered", "lead over"]);
}

#[test]
fn the_printed_objective_has_no_minimiser() {
    check("gauge", &["of 12 times", "L_str goes", "L_smooth goes"]);
}

#[test]
fn the_same_numbers_every_time() {
    for name in ["decoupling", "permutations"] {
        assert_eq!(run(name, Variant::True), run(name, Variant::True));
    }
}
