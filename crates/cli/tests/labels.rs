//! Labels and events as the program tells them: in the table, in the files of the folder, in
//! `info`.

mod common;

use common::Place;
use std::f64::consts::TAU;

/// Two channels: the hum of the mains and a slow wave, mixed; 20 s at 250 Hz.
fn hum(place: &Place) {
    let mut text = String::from("a,b\n");
    for t in 0..5000 {
        let time = f64::from(t) / 250.0;
        let (hum, wave) = ((TAU * 50.0 * time).sin(), (TAU * 7.3 * time).sin());
        text.push_str(&format!(
            "{:.6},{:.6}\n",
            hum + 0.5 * wave,
            wave - 0.4 * hum
        ));
    }
    place.write("hum.csv", text);
}

fn separate(place: &Place, more: &[&str]) -> common::Ran {
    let fixed = [
        "separate", "hum.csv", "-k", "2", "--preset", "fast", "--out", "run",
    ];
    place.strt(&fixed.iter().chain(more).copied().collect::<Vec<_>>())
}

#[test]
fn sources_look_like_something() {
    let place = Place::new();
    hum(&place);
    let ran = separate(&place, &["--rate", "250"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for words in ["looks like", "line noise, 50 Hz (100 %)", "rhythm, 7.3 Hz"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    let csv = place.text("run/labels.csv");
    assert_eq!(
        csv.lines().next(),
        Some("source,label,confidence,frequency,reason")
    );
    assert!(csv.contains(",line noise,1.000,50.0000,\""), "{csv}");
    let labels = &place.json("run/summary.json")["labels"];
    assert_eq!(labels.as_array().unwrap().len(), 2);
    let line = labels
        .as_array()
        .unwrap()
        .iter()
        .find(|l| l["kind"] == "line_noise")
        .unwrap();
    assert!(
        line["reason"]
            .as_str()
            .unwrap()
            .contains("within 0.8 Hz of 50 Hz"),
        "{line}"
    );
    assert!(
        place
            .text("run/report.html")
            .contains("line noise, 50 Hz, confidence 100 %")
    );
}

#[test]
fn without_a_rate_rhythms_are_told_in_samples() {
    let place = Place::new();
    hum(&place);
    let ran = separate(&place, &[]);
    assert!(
        ran.stdout.contains("rhythm, 0.2 cycles per sample"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("line noise"), "{}", ran.stdout);
}
