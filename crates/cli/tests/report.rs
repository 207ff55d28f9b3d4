//! The report of a real run in a real browser, the page that a person opens.

#[allow(dead_code)] // the report's own test uses more of it
#[path = "../../report/tests/common/browser.rs"]
mod browser;
mod common;

use browser::Browser;
use common::{Place, SMALL};

#[test]
fn the_report_of_a_run_works_in_a_browser() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let place = Place::new();
    place.done(&["demo", "--steps", "40", "--quiet"]);
    browser.check(&place.text("strt-demo/report.html"));
    // Without a reference, with an estimated number of sources, a rate and a gap.
    let text = place.text("strt-demo/observations.csv");
    let gap: String = text
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            300..340 => format!(
                "{},,{}\n",
                i,
                line.splitn(3, ',').nth(2).unwrap_or_default()
            ),
            _ => format!("{line}\n"),
        })
        .collect();
    place.write("gap.csv", gap);
    let arguments = [
        "separate",
        "gap.csv",
        "--sources",
        "auto",
        "--rate",
        "100",
        "--mixer",
        "mlp",
        "-q",
    ];
    place.done(&[&arguments[..], &SMALL].concat());
    let html = place.text("gap.strt/report.html");
    browser.check(&html);
    assert!(html.len() < 6_000_000 && html.contains("Structure in time"));
}
