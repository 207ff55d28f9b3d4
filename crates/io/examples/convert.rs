//! Reads a recording and writes it in another format:
//! `cargo run --release --package strt-io --example convert -- recording.edf recording.csv`

use std::error::Error;
use strt_io::{ReadOptions, Signals, read_recording, write_signals};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = arguments.as_slice() else {
        return Err("give two files: one to read and one to write".into());
    };
    let opened = read_recording(from, &ReadOptions::default())?;
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
