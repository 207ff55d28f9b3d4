//! `strt-lab verify`: exit status, table, JSON and page. What the checks measure is tested in the
//! library.

mod common;

use common::Place;

#[test]
fn checks_pass_and_their_broken_variants_fail() {
    let place = Place::new();
    let ran = place.done(&["verify", "--only", "gauge,decoupling", "--out", "page.html"]);
    for words in [
        "check",
        "bounds kept",
        "pass",
        "decoupling: With 3 sources",
        "gauge: J falls at 12 of 12",
        "page.html",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("FAIL") && !ran.stdout.contains("not kept"));
    let page = place.text("page.html");
    assert!(
        page.contains("2 of 2 checks passed")
            && page.contains("strt-lab -- verify --only gauge,decoupling")
    );

    let ran = place.done(&[
        "verify",
        "--only",
        "gauge",
        "--broken",
        "--out",
        "broken.html",
    ]);
    assert!(ran.stdout.contains("FAIL") && ran.stdout.contains("not kept: L_str"));
    assert!(
        ran.stdout
            .contains("broken on purpose: the fall is claimed of standardised sources")
    );
    assert!(place.text("broken.html").contains("1 of 1 check failed"));
}

#[test]
fn json_holds_every_number_and_figure() {
    let place = Place::new();
    let read = |arguments: &[&str]| -> serde_json::Value {
        let ran = place.done(&[&["verify", "--json", "--only", "gauge"], arguments].concat());
        serde_json::from_str(&ran.stdout).expect("JSON only")
    };
    for (json, passed) in [(read(&[]), true), (read(&["--broken"]), false)] {
        assert_eq!(
            (&json["as_expected"], &json["broken"]),
            (&true.into(), &(!passed).into())
        );
        let check = &json["checks"][0];
        assert_eq!(
            (&check["name"], &check["passed"]),
            (&"gauge".into(), &passed.into())
        );
        assert!(
            check["seconds"].is_f64() && check["figures"][0]["lines"]["lines"][0]["y"].is_array()
        );
        let numbers = check["measurements"].as_array().unwrap();
        assert!(numbers.iter().all(|number| number["value"].is_f64()));
        assert_eq!(numbers.iter().all(|number| number["holds"] == true), passed);
    }
}

#[test]
fn a_check_that_does_not_exist_is_a_usage_error() {
    let ran = Place::new().lab(&["verify", "--only", "gravity"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("decoupling"), "{}", ran.stderr);
}
