//! `strt-lab recovery` as a person calls it: tables, page, JSON, and what is kept for the next
//! time.

mod common;

use common::Place;

#[test]
fn recovery_compares_methods_and_goes_on_where_it_ended() {
    let place = Place::new();
    let arguments = [
        "recovery",
        "--families",
        "linear,short",
        "--methods",
        "strt,sobi,fastica",
        "--steps",
        "1",
        "--results",
        "results.jsonl",
        "--page",
        "page.html",
    ];
    let first = place.done(&arguments);
    for words in [
        "| linear | 15 |",
        "| short | 5 |",
        "within 0.005 of best",
        "T = 300",
        "linear with truth",
        "| short | gpclose | 1 | 0.9",
    ] {
        assert!(first.stdout.contains(words), "{words}: {}", first.stdout);
    }
    assert!(
        place
            .text("page.html")
            .contains("Recovery of known sources")
    );
    // What is there is not run again; what a crash cut off is.
    let text = place.text("results.jsonl");
    std::fs::write(place.path("results.jsonl"), &text[..text.len() - 20]).unwrap();
    let second = place.done(&arguments);
    assert!(second.stderr.starts_with("1/1 "), "{}", second.stderr);
    let overview = |text: &str| text.split("All figures").next().map(String::from);
    assert_eq!(overview(&first.stdout), overview(&second.stdout));
    let json = place.done(&[&arguments[..], &["--json"]].concat()).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["records"].as_array().unwrap().len(), 15 * 4 + 5 * 3);
    let limits = json["limits"].as_array().unwrap();
    assert_eq!(limits.len(), 15 + 5);
    for limit in limits {
        let gaussian = ["gp", "gpclose", "ar"].contains(&limit["kind"].as_str().unwrap());
        assert_eq!(limit["bound"].is_number(), gaussian, "{limit}");
    }
    assert!(
        place
            .done(&["recovery", "--families", "list"])
            .stdout
            .contains("nonlinear")
    );
    let ran = place.lab(&["recovery", "--families", "linar"]);
    assert!(
        ran.status == 2 && ran.stderr.contains("linear"),
        "{}",
        ran.stderr
    );
}
