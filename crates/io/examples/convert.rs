//! Reads a recording and writes it in another format:
//! `cargo run --release --package strt-io --example convert -- recording.edf recording.csv`
//! A third word names the array or stream to take from a file that holds several.

use std::error::Error;
use strt_io::{ReadOptions, Signals, read_recording, write_signals};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (from, to, variable) = match arguments.as_slice() {
        [from, to] => (from, to, None),
        [from, to, variable] => (from, to, Some(variable.clone())),
        _ => return Err("give two files: one to read and one to write".into()),
    };
    let options = ReadOptions {
        variable,
        ..ReadOptions::default()
    };
    let opened = read_recording(from, &options)?;
    for note in &opened.notes {
        println!("{note}");
    }
    let recording = &opened.recording;
    let signals = Signals {
        values: recording.observations(),
        names: recording.channel_names(),
        rate: recording.sampling_rate(),
    };
    write_signals(to, &signals)?;
    Ok(())
}
