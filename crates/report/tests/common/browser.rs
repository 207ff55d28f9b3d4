//! A page in headless Chromium: every chart is drawn, answers the pointer, follows the colour
//! scheme, and nothing complains.
//!
//! Needs Chromium (`CHROMIUM`, or one of its usual names in the path); without it the tests are
//! skipped, and counted as such.

use std::path::Path;
use std::process::{Command, Output};
use strt_testing::{Missing, skip};

/// Lets the page tell about itself: what a script can see ends up in the title of the dumped
/// document.
const PROBE: &str = r##"<script>
window.addEventListener("load", () => setTimeout(() => {
  const charts = [...document.querySelectorAll(".chart")];
  const drawn = charts.filter((chart) => chart.querySelector(".main-svg .xy path")
    || chart.querySelector(".main-svg image"));
  Plotly.Fx.hover(charts[0], [{ curveNumber: 0, pointNumber: 1 }]);
  const hover = document.querySelectorAll(".hoverlayer text").length;
  const page = getComputedStyle(document.body).backgroundColor;
  const label = getComputedStyle(document.querySelector(".xtick text")).fill;
  const counts = { charts: charts.length, drawn: drawn.length };
  document.title = JSON.stringify({ ...counts, hover, page, label });
}, 500));
</script>"##;

/// A browser that can be started.
pub struct Browser {
    program: String,
}

impl Browser {
    /// Chromium, where there is one; otherwise the calling test is skipped.
    #[track_caller]
    pub fn find() -> Option<Browser> {
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
        let found = std::env::var("CHROMIUM")
            .into_iter()
            .chain(names)
            .find(runs);
        if found.is_none() {
            skip(Missing::Browser);
        }
        found.map(|program| Browser { program })
    }

    fn open(&self, page: &Path, extra: &[&str]) -> Output {
        let profile = tempfile::tempdir().unwrap();
        Command::new(&self.program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--no-first-run",
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
    pub fn console(&self, html: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.html");
        std::fs::write(&page, html).unwrap();
        console(&self.open(&page, &[]))
    }

    /// Checks a page that has this many charts, in light and in dark.
    pub fn check(&self, html: &str) {
        let expected = html.matches("class=\"chart\"").count();
        assert!(expected > 15, "{expected} charts");
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.html");
        std::fs::write(&page, html.replace("</body>", &format!("{PROBE}</body>"))).unwrap();
        let light = self.open(&page, &[]);
        assert_eq!(console(&light), [""; 0], "messages of the page");
        let (light, dark) = (
            seen(&light),
            seen(&self.open(&page, &["--force-dark-mode"])),
        );
        for seen in [&light, &dark] {
            assert_eq!(seen["charts"], expected, "{seen}");
            assert_eq!(seen["drawn"], expected, "{seen}");
            assert!(
                seen["hover"].as_u64().is_some_and(|count| count > 0),
                "{seen}"
            );
        }
        assert_eq!(light["page"], "rgb(255, 255, 255)");
        assert_ne!(light["page"], dark["page"], "the page is dark");
        assert_ne!(light["label"], dark["label"], "and so are its charts");
    }
}

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
