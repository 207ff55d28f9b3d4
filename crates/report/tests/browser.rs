//! The page in a real browser; see `common/browser.rs`.

#[path = "common/browser.rs"]
mod browser;
mod common;

use browser::{Browser, Tab};
use common::{Run, few, html, long, noted, plain, small};
use serde_json::{Value, json};
use strt_io::{Signals, write_signals};
use strt_report::Report;
use strt_report::notes::{Event, Notes};
use strt_runs::results::Results;
use strt_runs::results::summary::Input;
use strtransformer::Config;

const NAMES: [&str; 4] = ["Fz", "<b>Cz</b>", "Pz", "a & b"];

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let page = small(Config::new(3), &NAMES, 20).html();
    browser.check(&page);

    // The test must be able to fail: an error on the page is seen.
    let planted = "<script>console.error('planted')</script></body>";
    let mut tab = browser.open(&page.replace("</body>", planted), 1280);
    assert!(tab.complaints().iter().any(|line| line.contains("planted")));
}

#[test]
fn recordings_of_all_kinds_look_right() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let many: Vec<String> = (0..64).map(|c| format!("E{c}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for run in [
        small(Config::new(1), &NAMES, 0),
        small(Config::nonlinear(2), &NAMES, 0),
        small(Config::new(64), &many, 0),
        plain(300, 3),
    ] {
        let input = Input::in_memory("recording", &run.recording);
        let results = Results::new(&run.recording, &run.separation, &run.log, input);
        browser.check(&html(&results));
    }
}

#[test]
fn sources_are_rejected_with_the_keyboard() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let mut tab = browser.open(&small(Config::new(3), &NAMES, 0).html(), 1280);
    tab.evaluate("document.querySelector('.keep-all').focus()");
    // The save button, then the first card.
    tab.evaluate("document.querySelector('.save').focus()");
    tab.key("Tab");
    assert_eq!(focused(&mut tab), 0, "one card can be reached");
    let outline = "getComputedStyle(document.activeElement).outlineStyle";
    assert_eq!(tab.evaluate(outline), "solid", "the focus can be seen");
    tab.key("ArrowRight");
    assert_eq!(focused(&mut tab), 1);
    tab.key("r");
    assert_eq!(rejected(&mut tab), json!([1]));
    tab.key("a");
    assert_eq!(rejected(&mut tab), json!([]));
    tab.key("ArrowDown");
    tab.key(" ");
    tab.key("ArrowDown");
    assert_eq!((focused(&mut tab), rejected(&mut tab)), (2, json!([2])));
    tab.key("ArrowLeft");
    tab.key("r");
    tab.key("r");
    assert_eq!(rejected(&mut tab), json!([1, 2]));
    let command = tab.evaluate("document.querySelector('.decisions code').textContent");
    assert_eq!(command, "strt clean RUN --remove s2,s3");

    // Another visit finds them again; another run's sources do not.
    tab.load();
    assert_eq!(rejected(&mut tab), json!([1, 2]));
    assert_eq!(tab.complaints(), [""; 0]);
}

#[test]
fn decisions_are_saved_with_the_mouse() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let run = small(Config::new(3), &NAMES, 0);
    let results = run.results();
    let mut findings = results.findings().unwrap();
    findings.run = Some("it's a run".into());
    let page = strt_report::Report::new(&results, &findings);
    let mut tab = browser.open(&page.to_html().unwrap(), 1280);
    tab.click(".card:nth-child(3) .toggle");
    tab.click(".card:nth-child(1) .toggle");
    tab.click(".card:nth-child(1) .toggle");
    let pressed = "document.querySelector('.card.rejected .toggle').getAttribute('aria-pressed')";
    assert_eq!(tab.evaluate(pressed), "true");
    tab.click(".save");
    let saved: Value = serde_json::from_str(&tab.saved("decisions.json")).unwrap();
    let expected = json!({
        "strt": "decisions", "version": 1, "run": "it's a run",
        "fingerprint": format!("{:016x}", run.recording.fingerprint()),
        "sources": [
            { "name": "s1", "keep": true }, { "name": "s2", "keep": true },
            { "name": "s3", "keep": false },
        ],
    });
    assert_eq!(saved, expected);
    let command = tab.evaluate("document.querySelector('.decisions code').textContent");
    assert_eq!(command, r"strt clean 'it'\''s a run' --remove s3");
    tab.click(".keep-all");
    assert_eq!(rejected(&mut tab), json!([]));
    assert_eq!(tab.complaints(), [""; 0]);
}

#[test]
fn every_sample_is_in_the_page_and_channels_are_cleaned() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let run = small(Config::new(3), &NAMES, 20);
    let mut tab = browser.open(&run.html(), 1280);
    tab.click(".card:nth-child(2) .toggle");
    tab.click(".explorer .clean");
    assert_eq!(
        tab.evaluate("document.querySelector('.what').value"),
        "channels"
    );
    let (matrix, _) = run.separation.mixing().unwrap();
    let sources = run.separation.sources();
    let kept: Vec<usize> = (0..400).filter(|&t| !run.recording.is_missing(t)).collect();
    let mean = kept.iter().map(|&t| sources[(t, 1)]).sum::<f64>() / kept.len() as f64;
    for c in 0..4 {
        let numbers = |what: &str| {
            format!(
                "(() => {{ const s = {what}; \
                 const number = (v) => isMissing(v) ? null : s.offset + s.step * v; \
                 return [...s.points].map(number); }})()"
            )
        };
        tab.wait_for(&format!("tools.samples.without({c}, [1]) !== undefined"));
        let recorded = tab.evaluate(&numbers(&format!("tools.samples.series[{}]", 3 + c)));
        let cleaned = tab.evaluate(&numbers(&format!("tools.samples.without({c}, [1])")));
        let column = run.recording.observations();
        let column = column.col(c);
        let most = kept
            .iter()
            .fold(0.0, |most: f64, &t| most.max(column[t].abs()));
        for t in 0..400 {
            assert_eq!(cleaned[t].is_null(), run.recording.is_missing(t), "{c} {t}");
            let Some(cleaned) = cleaned[t].as_f64() else {
                continue;
            };
            let expected = column[t] - matrix[(c, 1)] * (sources[(t, 1)] - mean);
            assert!(
                (cleaned - expected).abs() < 2e-4 * most,
                "{c} {t}: {cleaned} {expected}"
            );
            assert!((recorded[t].as_f64().unwrap() - column[t]).abs() < 1e-4 * most);
        }
    }
    assert_eq!(tab.complaints(), [""; 0]);
}

#[test]
fn the_explorer_moves_and_zooms_to_single_samples() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let mut tab = browser.open(&small(Config::new(3), &NAMES, 0).html(), 1280);
    assert_eq!(view(&mut tab), (0.0, 400.0));
    tab.click(".explorer .closer");
    assert_eq!(view(&mut tab), (100.0, 300.0));
    tab.drag(".viewport canvas", 0.5, 0.7);
    let (from, to) = view(&mut tab);
    assert!(
        from < 80.0 && (to - from - 200.0).abs() < 0.01,
        "{from} {to}"
    );
    tab.wheel_zoom(".viewport canvas", -200.0);
    let (closer_from, closer_to) = view(&mut tab);
    assert!(closer_to - closer_from < 150.0, "{closer_from} {closer_to}");
    tab.evaluate("document.querySelector('.viewport').focus()");
    for _ in 0..12 {
        tab.key("+");
    }
    let (from, to) = view(&mut tab);
    assert!(
        (to - from - 10.0).abs() < 0.01,
        "ten samples are the fewest: {from} {to}"
    );
    tab.key("ArrowRight");
    assert!((view(&mut tab).0 - from - 2.0).abs() < 0.01);
    tab.hover(".viewport canvas", 0.5, 0.1);
    let told = tab.evaluate("document.querySelector('.readout').textContent");
    assert!(told.as_str().unwrap().starts_with("s1 · "), "{told}");
    tab.key("0");
    assert_eq!(view(&mut tab), (0.0, 400.0));
    // From a card to its stretch.
    tab.click(".card:nth-child(2) .explore");
    assert_eq!(view(&mut tab).1 - view(&mut tab).0, 400.0_f64.min(1250.0));
    assert_eq!(tab.complaints(), [""; 0]);
}

#[test]
fn notes_are_shown_and_hostile_words_stay_words() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let evil = "</script><img src=x onerror=console.error('run')>";
    let run = few(Config::new(2), &[evil, "b", "c"], 0, 3);
    let mut tab = browser.open(&noted(&run, evil), 1280);
    tab.open_all_sections();
    for selector in [".verdict", ".label", ".note"] {
        let found = tab.evaluate(&format!("document.querySelector({selector:?}).textContent"));
        assert!(
            found.as_str().is_some_and(|words| !words.is_empty()),
            "{selector}"
        );
    }
    assert_eq!(tab.evaluate("document.images.length"), 0);
    assert_eq!(tab.evaluate("tools.recording.events[0].name"), evil);
    tab.hover(".viewport canvas", 0.5, 0.1);
    tab.hover("#mixing .chart", 0.3, 0.3);
    tab.hover("#residual .chart", 0.3, 0.5);
    assert_eq!(tab.complaints(), [""; 0]);
}

/// Many events in view are marks above the rows, which lines would hide; closer they are lines.
#[test]
fn dense_events_leave_the_rows_to_be_seen() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let run = small(Config::new(2), &NAMES, 0);
    let event = |sample: usize| Event {
        sample,
        name: "square".into(),
    };
    let results = run.results();
    let findings = results.findings().unwrap();
    let notes = Notes {
        events: (0..400).step_by(4).map(event).collect(),
        ..Notes::default()
    };
    let report = Report::new(&results, &findings).with_notes(notes).unwrap();
    let mut tab = browser.open(&report.to_html().unwrap(), 1280);
    tab.wait_for("document.querySelector('.explorer').dataset.events === 'marks'");
    tab.evaluate("tools.explorer.show(100, 180)");
    tab.wait_for("document.querySelector('.explorer').dataset.events === 'lines'");
    assert_eq!(tab.complaints(), [""; 0]);
}

#[test]
fn single_samples_of_long_recordings_come_from_their_file() {
    let Some(browser) = Browser::find() else {
        return;
    };
    // More numbers than a page holds one by one.
    let run: Run = long(2_200_000, 3, 5);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sources.npy");
    let names: Vec<String> = (1..=3).map(|k| format!("s{k}")).collect();
    let signals = Signals {
        values: run.separation.sources(),
        names: &names,
        rate: None,
    };
    write_signals(&path, &signals).unwrap();
    let mut tab = browser.open(&run.html(), 1280);
    assert_eq!(tab.evaluate("tools.recording.bucket"), 4);
    tab.evaluate("tools.explorer.show(1_000_000, 1_000_020)");
    tab.choose_file(".explorer .file", &path);
    let finest = "tools.explorer.seriesOf(1).levels[0].size";
    tab.wait_for(&format!("{finest} === 1"));
    let value = tab.evaluate("valueAt(tools.explorer.seriesOf(1), 1_000_007)");
    let expected = run.separation.sources()[(1_000_007, 1)];
    assert!(
        (value.as_f64().unwrap() - expected).abs() < 1e-5,
        "{value} {expected}"
    );

    // Another file is refused, and says why.
    let other = folder.path().join("other.npy");
    let few = run.separation.sources().subrows(0, 100);
    write_signals(
        &other,
        &Signals {
            values: few,
            ..signals
        },
    )
    .unwrap();
    tab.choose_file(".explorer .file", &other);
    tab.wait_for("document.querySelector('.readout').textContent.includes('found 100 × 3')");
    assert_eq!(tab.complaints(), [""; 0]);
}

#[test]
fn sources_of_a_sound_can_be_played() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let run = small(Config::new(2), &NAMES, 20);
    assert!(!run.html().contains("class=\"play\""), "250 Hz is no sound");
    let run = Run {
        recording: run.recording.clone().with_sampling_rate(4000.0).unwrap(),
        ..run
    };
    let mut tab = browser.open(&run.html(), 1280);
    tab.wait_for("tools.samples.get(0) !== undefined");
    let sound = "(() => { const values = tools.samples.get(0).levels[0].low; \
         const s = soundOf(new AudioContext(), values, 4000), v = s.getChannelData(0); \
         return [s.sampleRate, s.duration, Math.max(...v.map(Math.abs)), v[220]]; })()";
    let sound = tab.evaluate(sound);
    assert_eq!((&sound[0], &sound[1]), (&json!(8000), &json!(0.1)));
    assert!((sound[2].as_f64().unwrap() - 0.9).abs() < 1e-4, "{sound}");
    assert_eq!(sound[3], 0, "missing samples are silent");
    tab.evaluate(
        "window.heard = []; const start = AudioBufferSourceNode.prototype.start; \
         AudioBufferSourceNode.prototype.start = function () { heard.push(this.buffer.length); \
         this.loop = true; start.call(this); }",
    );
    tab.click(".card:nth-child(2) .play");
    tab.wait_for("document.querySelector('.card:nth-child(2) .play').textContent === '■ Stop'");
    assert_eq!(tab.evaluate("heard"), json!([800]));
    tab.click(".card:nth-child(2) .play");
    tab.wait_for("document.querySelector('.card:nth-child(2) .play').textContent === '▶ Play'");
    assert_eq!(tab.complaints(), [""; 0]);
}

/// The number of the card that has the focus.
fn focused(tab: &mut Tab) -> u64 {
    let number = tab.evaluate("Number(document.activeElement.dataset.number)");
    number.as_u64().expect("a card has the focus")
}

fn rejected(tab: &mut Tab) -> Value {
    tab.evaluate("tools.decisions.list()")
}

/// The samples that the explorer shows.
fn view(tab: &mut Tab) -> (f64, f64) {
    tab.settle();
    let view = tab.evaluate("[tools.explorer.view.from, tools.explorer.view.to]");
    (view[0].as_f64().unwrap(), view[1].as_f64().unwrap())
}
