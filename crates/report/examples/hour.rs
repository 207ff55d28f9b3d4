//! Writes the page of an hour at 500 Hz of 64 sources in 64 channels, to be looked at and timed. It
//! takes 8 GB of memory and some minutes; the tests make smaller ones.
//!
//! ```sh
//! cargo run --release --workspace --example hour -- page.html
//! ```

#[path = "../tests/common/mod.rs"]
mod common;

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or("page.html".into());
    let html = common::long(3600 * 500, 64, 64).html();
    println!("{path}: {} bytes", html.len());
    std::fs::write(path, html)
}
