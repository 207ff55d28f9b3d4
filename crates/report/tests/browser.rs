//! The page in a real browser: every chart is drawn, answers the pointer, follows the colour scheme, and nothing complains.
//!
//! Needs Chromium (`CHROMIUM`, or one of its usual names in the path); without it the test says so and passes.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::small;
use strtransformer::Config;

/// Lets the page tell about itself: what a script can see ends up in the title of the dumped document.
const PROBE: &str = r##"<script>
window.addEventListener("load", () => setTimeout(() => {
  const charts = [...document.querySelectorAll(".chart")];
  const drawn = charts.filter((chart) => chart.querySelector(".main-svg .xy path")
    || chart.querySelector(".main-svg image"));
  Plotly.Fx.hover(charts[0], [{ curveNumber: 0, pointNumber: 1 }]);
  const hover = document.querySelectorAll(".hoverlayer text").length;
  const page = getComputedStyle(document.body).backgroundColor;
  const label = getComputedStyle(document.querySelector(".xtick text")).fill;
  document.title = JSON.stringify({ charts: charts.length, drawn: drawn.length, hover, page, label });
}, 500));
</script>"##;

fn chromium() -> Option<String> {
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "/usr/bin/chromium",
    ]
    .map(String::from);
    let runs = |name: &String| {
        Command::new(name)
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    };
    std::env::var("CHROMIUM").into_iter().chain(names).find(runs)
}

fn open(program: &str, page: &Path, extra: &[&str]) -> Output {
    let profile = tempfile::tempdir().unwrap();
    Command::new(program)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
        ])
        .args([
            "--enable-logging=stderr",
            "--v=0",
            "--virtual-time-budget=30000",
            "--window-size=1200,900",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(extra)
        .arg("--dump-dom")
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap()
}

/// Messages of the page's console.
fn console(output: &Output) -> Vec<String> {
    let log = String::from_utf8_lossy(&output.stderr);
    log.lines()
        .filter(|line| line.contains("CONSOLE"))
        .map(String::from)
        .collect()
}

/// What the probe saw.
fn seen(output: &Output) -> serde_json::Value {
    let document = String::from_utf8_lossy(&output.stdout);
    let title = document
        .split("<title>")
        .nth(1)
        .and_then(|rest| rest.split("</title>").next());
    serde_json::from_str(title.expect("the dumped document has a title")).expect("set by the probe")
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(program) = chromium() else {
        eprintln!("skipped: no Chromium found; set CHROMIUM to its path");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, html: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, html).unwrap();
        path
    };
    let run = small(Config::new(3), &["Fz", "<b>Cz</b>", "Pz", "a & b"], 20);
    let html = run.report().to_html().unwrap();
    let expected = html.matches("class=\"chart\"").count();
    assert!(expected > 15, "{expected} charts");
    let page = write("page.html", html.replace("</body>", &format!("{PROBE}</body>")));

    let light = open(&program, &page, &[]);
    assert_eq!(console(&light), [""; 0], "messages of the page");
    let (light, dark) = (seen(&light), seen(&open(&program, &page, &["--force-dark-mode"])));
    for seen in [&light, &dark] {
        assert_eq!(seen["charts"], expected, "{seen}");
        assert_eq!(seen["drawn"], expected, "{seen}");
        assert!(seen["hover"].as_u64().is_some_and(|count| count > 0), "{seen}");
    }
    assert_eq!(light["page"], "rgb(255, 255, 255)");
    assert_ne!(light["page"], dark["page"], "the page is dark");
    assert_ne!(light["label"], dark["label"], "and so are its charts");

    // The test must be able to fail: an error on the page is seen.
    let broken = html.replace("</body>", "<script>console.error('planted')</script></body>");
    let output = open(&program, &write("broken.html", broken), &[]);
    assert!(console(&output).iter().any(|line| line.contains("planted")));
}
