//! The page in a real browser; see `common/browser.rs`.

#[path = "common/browser.rs"]
mod browser;
mod common;

use browser::Browser;
use common::small;
use strtransformer::Config;

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let run = small(Config::new(3), &["Fz", "<b>Cz</b>", "Pz", "a & b"], 20);
    let html = run.html();
    browser.check(&html);

    // The test must be able to fail: an error on the page is seen.
    let broken = html.replace(
        "</body>",
        "<script>console.error('planted')</script></body>",
    );
    let messages = browser.console(&broken);
    assert!(messages.iter().any(|line| line.contains("planted")));
}
