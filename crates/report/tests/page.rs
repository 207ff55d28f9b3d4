//! What the page says, and what it must not do.

mod common;

use common::{few, figures, html, long, noted, plain, small};
use strt_label::Kind;
use strt_report::notes::{Notes, Verdict};
use strt_report::{Error as ReportError, Report};
use strt_runs::Error;
use strt_runs::results::Results;
use strt_runs::results::labels::LabelSummary;
use strt_runs::results::summary::Input;
use strt_runs::training::Log;
use strtransformer::{Config, Separation};

const NAMES: [&str; 5] = ["Fz", "Cz", "Pz", "Oz", "EOG"];
/// The contract of the page: 48 MB, whatever the recording.
const LARGEST: usize = 48_000_000;

#[test]
fn every_section_is_there() {
    let run = small(Config::new(3), &NAMES, 0);
    let html = run.html();
    let ids = [
        "summary",
        "sources",
        "explorer",
        "comparison",
        "mixing",
        "residual",
        "spectra",
        "count",
        "training",
        "structure",
        "assignment",
        "configuration",
        "reproduce",
    ];
    let mut last = 0;
    for id in ids {
        let place = html.find(&format!("<section id=\"{id}\""));
        assert!(place.is_some_and(|place| place > last), "{id} in its place");
        last = place.unwrap();
        assert!(
            html.contains(&format!("href=\"#{id}\"")),
            "{id} in the contents"
        );
    }
    for part in [
        "400 samples of 5 channels",
        "3 sources were separated",
        "The run did not converge",
        "of the variance of the channels",
        "the mean absolute correlation is",
        "strt separate recording.csv --sources 3",
        "seed = 0",
        "frequency (Hz)",
        "The mixer is affine",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(
        html.contains("<section id=\"training\" aria-labelledby=\"training-title\">\n<details")
    );
    // A run judges its own sources, and says what they look like where they look like something.
    assert!(html.contains("class=\"verdict"));
    let labelled = run.results().findings().unwrap().summary.labels.len();
    assert_eq!(html.matches("class=\"label\"").count(), labelled);
}

#[test]
fn labels_events_and_positions_are_those_of_the_run() {
    let run = small(Config::new(3), &NAMES, 0);
    let mut results = run.results();
    results.input.events = vec![strt_io::Event {
        onset: -0.5,
        duration: 2.0,
        name: "lights </script> off".into(),
    }];
    let mut findings = results.findings().unwrap();
    findings.summary.labels = vec![LabelSummary {
        source: "s2".into(),
        label: "heart, 72 a minute".into(),
        kind: Kind::Heart,
        confidence: 0.97,
        frequency: Some(1.2),
        reason: "beats <72> times a minute".into(),
    }];
    let html = Report::new(&results, &findings).to_html().unwrap();
    assert_eq!(html.matches("class=\"label\"").count(), 1);
    assert!(
        html.contains("heart, 72 a minute, confidence 97 %")
            && html.contains("beats &#60;72&#62; times")
    );
    assert!(html.contains(r#""name":"lights"#) && !html.contains("lights </script>"));
    assert!(
        html.contains(r#""sample":0"#),
        "one that began before is drawn at the beginning"
    );
}

#[test]
fn positions_of_the_file_are_preferred_to_names() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let run = small(Config::new(3), &names, 0);
    let mut results = run.results();
    assert!(html(&results).contains(r#""places":null"#));
    let place = |i: usize| {
        let (angle, around) = (0.2 + 0.15 * i as f64, 2.0 * i as f64);
        let (side, up) = (0.09 * f64::sin(angle), 0.09 * f64::cos(angle));
        Some([side * around.sin(), side * around.cos(), up])
    };
    results.input.positions = (0..9).map(place).collect();
    assert!(html(&results).contains(r#""places":[["#));
}

#[test]
fn what_is_unknown_is_left_out() {
    let run = small(Config::nonlinear(2), &NAMES, 0);
    let log = Log::default();
    let input = Input::in_memory("", &run.recording);
    let results = Results::new(&run.recording, &run.separation, &log, input);
    let html = html(&results);
    assert!(
        !html.contains("<section id=\"comparison\"") && !html.contains("<section id=\"count\"")
    );
    assert!(html.contains("No history of the steps was kept"));
    assert!(html.contains("The mixer is nonlinear"));
    let figures = figures(&results);
    assert_eq!(
        figures.iter().map(|figure| figure.name).collect::<Vec<_>>(),
        ["sources"]
    );
}

#[test]
fn names_from_outside_cannot_become_markup() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
    let run = small(Config::new(2), &[evil, "a&b", "c\"d", "<b>bold</b>"], 0);
    let mut results = run.results();
    (results.input.path, results.command) = (evil.into(), evil.into());
    (results.input_warnings, results.input.notes) = (vec![evil.into()], vec![evil.into()]);
    let html = html(&results);
    for markup in ["<script>alert", "<img", "<b>bold", "</script><script>alert"] {
        assert!(!html.contains(markup), "{markup}");
    }
    assert!(html.contains("a&#38;b"), "escaped in text");
    assert!(html.contains("\"a&b\""), "text in data of scripts");
}

#[test]
fn nothing_is_loaded() {
    let run = small(Config::new(3), &NAMES, 0);
    let html = run.html();
    for load in [
        "http://",
        "https://",
        " src=",
        "@import",
        "url(",
        "fetch(",
        "<link",
        "<iframe",
        "XMLHttpRequest",
    ] {
        assert!(!html.contains(load), "{load}");
    }
    let links = html.matches("href=\"").count();
    assert_eq!(
        links,
        html.matches("href=\"#").count(),
        "links stay on the page"
    );
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn missing_samples_are_said() {
    let complete = small(Config::new(2), &NAMES, 0).html();
    let gappy = small(Config::new(2), &NAMES, 30).html();
    assert!(!complete.contains("Gaps are missing samples"));
    assert!(gappy.contains("In 30 samples") && gappy.contains("Gaps are missing samples"));
}

#[test]
fn what_told_the_sources_apart_is_said() {
    let mut run = small(Config::new(2), &NAMES, 0);
    let said = "innovations that are not Gaussian, or forecasts";
    assert!(!run.html().contains(said));
    let mut record = run.separation.record().clone();
    record.restarts[0].novel = true;
    run.separation = Separation::from_record(record).unwrap();
    assert!(run.html().contains(said));
}

/// The order is said as the time scales on the cards are.
#[test]
fn the_order_is_true() {
    let run = small(Config::fast(3), &NAMES, 0);
    let (times, html) = (times(&run.html()), run.html());
    assert!(times.is_sorted(), "{times:?}");
    assert!(html.contains("They are ordered by time scale"));

    // The other way round, as a run may leave them.
    let mut record = run.separation.record().clone();
    record.sources = faer::Mat::from_fn(400, 3, |t, k| record.sources[(t, 2 - k)]);
    let separation = strtransformer::Separation::from_record(record).unwrap();
    let turned = Results {
        separation: &separation,
        ..run.results()
    };
    let html = self::html(&turned);
    assert!(!self::times(&html).is_sorted());
    assert!(!html.contains("They are ordered by time scale"));
    assert!(html.contains("early in the run, and have changed since: s1 ("));
}

/// The correlation times of the cards.
fn times(html: &str) -> Vec<usize> {
    let after = html.split("data-time=\"").skip(1);
    after
        .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
        .collect()
}

/// As many sources as there are waves leave rounding, of which no chart is drawn.
#[test]
fn what_is_left_over_is_drawn_where_something_is() {
    let nothing = small(Config::new(3), &NAMES, 0).html();
    let words = "Nothing is left over: the sources reproduce every channel";
    let chart = "Bar chart of the unexplained share";
    assert!(nothing.contains(words) && !nothing.contains(chart));
    let something = few(Config::new(2), &NAMES, 0, 3).html();
    assert!(!something.contains(words) && something.contains(chart));
}

#[test]
fn what_others_found_is_shown() {
    let run = small(Config::new(2), &NAMES, 0);
    let html = noted(&run, "a blink & more");
    for part in [
        "mixed with s2",
        "a blink &#38; more, confidence 87 %",
        "Other parts or runs have it with a |correlation| of 0.75. 60 % of the recordings put \
         together from blocks of this one have it. 1 of 3 other restarts have it.",
        "\"name\":\"a blink & more\",\"sample\":40",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(
        !html.contains("Which to trust:"),
        "of one source nothing is known"
    );
    // A verdict for each source or none.
    let results = run.results();
    let findings = results.findings().unwrap();
    let verdict = Verdict {
        finding: "noise".into(),
        interference: 0.5,
        replication: Some(0.1),
        found_again: None,
        restarts: None,
        reruns: None,
        words: String::new(),
    };
    let mixed = Verdict {
        finding: "mixed with s1, s3".into(),
        ..verdict.clone()
    };
    let notes = Notes {
        verdicts: vec![Some(mixed), Some(verdict.clone())],
        ..Notes::default()
    };
    let both = Report::new(&results, &findings).with_notes(notes).unwrap();
    let words = "Which to trust: 1 mixed with others, 1 noise.";
    assert!(both.to_html().unwrap().contains(words));
    let notes = Notes {
        verdicts: vec![Some(verdict)],
        ..Notes::default()
    };
    let refused = Report::new(&results, &findings).with_notes(notes).err();
    let Some(ReportError::Notes {
        expected: 2,
        found: 1,
        ..
    }) = refused
    else {
        panic!("notes of another run were taken");
    };
}

#[test]
fn short_recordings_without_a_rate_are_shown_whole() {
    let run = plain(300, 3);
    let html = run.html();
    assert!(html.contains("The whole of each source is shown"));
    assert!(html.contains("samples 1 to 300") && html.contains("cycles per sample"));
    assert!(!html.contains("class=\"play\""));
}

#[test]
fn large_recordings_make_pages_of_the_same_size() {
    for (n_samples, n_sources, n_channels) in [(1_000_000, 16, 20), (20_000, 64, 256)] {
        let whole = n_samples * (n_sources + n_channels) <= 1 << 24;
        let run = long(n_samples, n_sources, n_channels);
        let html = run.html();
        println!(
            "T = {n_samples}, K = {n_sources}, m = {n_channels}: {} bytes",
            html.len()
        );
        assert!(html.len() < LARGEST, "{} bytes", html.len());
        let says = html.contains("are too many for a page");
        assert_ne!(says, whole, "the caption says when samples are left out");
    }
}

#[test]
fn pieces_of_different_runs_are_refused() {
    let (three, two) = (
        small(Config::new(3), &NAMES, 0),
        small(Config::new(2), &NAMES, 0),
    );
    let mixed = Results {
        separation: &two.separation,
        ..three.results()
    };
    let Err(error) = mixed.findings() else {
        panic!("pieces of two runs were taken for one");
    };
    assert!(matches!(error, Error::Mismatch { .. }), "{error}");
    assert!(error.to_string().contains("expected 2, found 3"), "{error}");
}

#[test]
fn figures_are_pictures() {
    let run = small(Config::new(3), &NAMES, 30);
    let figures = figures(&run.results());
    let names: Vec<&str> = figures.iter().map(|figure| figure.name).collect();
    assert_eq!(names, ["training", "structure", "sources"]);
    for figure in figures {
        assert!(figure.png.starts_with(b"\x89PNG\r\n\x1a\n"));
        assert!(
            figure.svg.starts_with("<svg width=\"720\"")
                && figure.svg.trim_end().ends_with("</svg>")
        );
        assert!(
            figure
                .svg
                .contains(&format!("<title>{}</title>", figure.caption))
        );
        assert!(figure.svg.contains("<polyline"));
    }
}
