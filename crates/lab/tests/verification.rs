//! The page of a verification: complete, self-contained, and drawn by a browser without complaint.

#[allow(dead_code)] // the pages of runs need more of it
#[path = "../../report/tests/common/browser.rs"]
mod browser;

use browser::Browser;
use strt_lab::Verification;
use strt_lab::theory::{self, Check, CheckResult, Figure, Variant};

/// Checks that take no time.
fn made(variant: Variant) -> (Vec<Check>, Vec<CheckResult>) {
    let quick = ["decoupling", "reconstruction", "permutations", "gauge"];
    let checks: Vec<Check> = theory::all()
        .into_iter()
        .filter(|check| quick.contains(&check.name))
        .collect();
    let results = checks
        .iter()
        .map(|check| check.run(variant).unwrap())
        .collect();
    (checks, results)
}

fn page(variant: Variant, checks: &[Check], results: &[CheckResult]) -> String {
    let verification = Verification {
        checks,
        results,
        variant,
        command: "strt-lab verify",
        version: "strt-lab 0.1.0",
    };
    verification.to_html().unwrap()
}

#[test]
fn every_number_and_figure_is_on_the_page() {
    let (checks, results) = made(Variant::True);
    let html = page(Variant::True, &checks, &results);
    assert!(html.contains("4 of 4 checks passed") && html.contains("Verification report"));
    let figures: Vec<&Figure> = results.iter().flat_map(|result| &result.figures).collect();
    assert_eq!(html.matches("class=\"chart\"").count(), figures.len());
    for result in &results {
        assert!(html.contains(result.title) && html.contains(&format!("id=\"{}\"", result.name)));
        assert_eq!(
            html.matches(&*escaped(&result.sentence)).count(),
            1,
            "{}",
            result.sentence
        );
        for measured in &result.measurements {
            assert!(html.contains(&escaped(&measured.what)), "{}", measured.what);
        }
    }
    assert!(html.len() < 6_000_000 && html.contains("Content-Security-Policy"));
}

#[test]
fn broken_checks_that_pass_are_bad_news() {
    let (checks, mut results) = made(Variant::Broken);
    let html = page(Variant::Broken, &checks, &results);
    assert!(html.contains("status good") && html.contains("4 of 4 checks failed"));
    results[0].passed = true;
    let html = page(Variant::Broken, &checks, &results);
    assert!(html.contains("status bad") && html.contains("3 of 4 checks failed"));
    let html = page(Variant::True, &checks, &results);
    assert!(html.contains("status bad") && html.contains("1 of 4 checks passed"));
}

#[test]
fn a_browser_draws_it_without_complaint() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let (checks, results) = made(Variant::True);
    let html = page(Variant::True, &checks, &results);
    let mut tab = browser.open(&html, 1280);
    tab.open_all_sections();
    assert_eq!(tab.complaints(), [""; 0]);
}

/// As the template writes text.
fn escaped(text: &str) -> String {
    text.replace('&', "&#38;")
        .replace('<', "&#60;")
        .replace('>', "&#62;")
        .replace('\'', "&#39;")
}
