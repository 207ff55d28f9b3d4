//! What the page says, and what it must not do.

mod common;

use common::{Run, figures, html, small, waves};
use faer::Mat;
use strt_runs::Error;
use strt_runs::results::Results;
use strt_runs::results::scores::ScoredStep;
use strt_runs::results::summary::Input;
use strt_runs::training::Log;
use strt_score::{Reference, match_sources};
use strtransformer::{Config, Recording, Separation};

const NAMES: [&str; 5] = ["Fz", "Cz", "Pz", "Oz", "EOG"];
/// The contract of the page: 6 MB, whatever the recording.
const LARGEST: usize = 6_000_000;

#[test]
fn every_section_is_there() {
    let run = small(Config::new(3), &NAMES, 0);
    let html = run.html();
    let ids = [
        "summary",
        "training",
        "structure",
        "sources",
        "comparison",
        "spectra",
        "mixing",
        "residual",
        "assignment",
        "count",
        "configuration",
        "reproduce",
    ];
    for id in ids {
        assert!(html.contains(&format!("<section id=\"{id}\"")), "{id}");
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
    let html = without_library(&html(&results));
    for markup in ["<script>alert", "<img", "<b>bold", "</script><script>alert"] {
        assert!(!html.contains(markup), "{markup}");
    }
    assert!(html.contains("a&#38;b"), "escaped in text");
    assert!(html.contains("a&amp;b"), "escaped in labels of charts");
}

#[test]
fn nothing_is_loaded() {
    let run = small(Config::new(3), &NAMES, 0);
    let html = without_library(&run.html());
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
fn missing_samples_are_gaps() {
    let complete = small(Config::new(2), &NAMES, 0).html();
    let gappy = small(Config::new(2), &NAMES, 30).html();
    let gap = vec!["null"; 30].join(",");
    assert!(!without_library(&complete).contains(&gap));
    assert!(without_library(&gappy).contains(&gap));
    assert!(gappy.contains("In 30 samples") && gappy.contains("Gaps are missing samples"));
}

#[test]
fn large_recordings_make_pages_of_the_same_size() {
    for (n_samples, n_sources, n_channels) in [(1_000_000, 16, 20), (20_000, 64, 256)] {
        let run = large(n_samples, n_sources, n_channels);
        let html = run.html();
        println!(
            "T = {n_samples}, K = {n_sources}, m = {n_channels}: {} bytes",
            html.len()
        );
        assert!(html.len() < LARGEST, "{} bytes", html.len());
        assert!(
            html.contains("no peak is lost"),
            "the caption says that it was decimated"
        );
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

/// A run as if `n_samples` had been separated for 30,000 steps: a short one, stretched.
fn large(n_samples: usize, n_sources: usize, n_channels: usize) -> Run {
    let names: Vec<String> = (0..n_channels)
        .map(|c| format!("electrode number {c} of the left hemisphere"))
        .collect();
    let short: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = small(Config::new(n_sources), &short, 0);
    let (sources, channels) = waves(n_samples, n_sources, n_channels);
    let mut parts = run.separation.record().clone();
    // Unlike a wave of few digits, a source has all of them.
    parts.sources = Mat::from_fn(n_samples, n_sources, |t, k| {
        -1.234567 * sources[(t, k)] + 0.01 * ((t * t + k) as f64).sin()
    });
    let separation = Separation::from_record(parts).unwrap();
    let reference = Reference::new(sources).unwrap();
    let matching = match_sources(separation.sources(), &reference).unwrap();
    let rows = (0..3000).map(|i| {
        let mut row = run.log.rows()[i % run.log.rows().len()].clone();
        (row.step, row.smoothed_objective) = (10 * i + 1, -27.123456 / (i + 1) as f64);
        row
    });
    let mut log = Log::of_rows(rows.collect());
    log.scores = (0..3000)
        .map(|i| ScoredStep::new(0, 10 * i + 1, &matching))
        .collect();
    Run {
        recording: Recording::from_mat(channels)
            .unwrap()
            .with_channel_names(names)
            .unwrap(),
        separation,
        log,
        reference,
        count: run.count.clone(),
    }
}

/// The page without Plotly's script: what this crate wrote.
fn without_library(html: &str) -> String {
    let start = html
        .find("<script type=\"text/javascript\">")
        .expect("the library has its own element");
    let end = start + html[start..].find("</script>").expect("which ends");
    format!("{}{}", &html[..start], &html[end..])
}
