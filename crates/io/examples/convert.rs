//! Reads a recording, or some of its channels, and writes it in another format:
//! `cargo run --release --package strt-io --example convert -- recording.edf recording.csv [1-8]`

use std::error::Error;
use strt_io::{ReadOptions, Signals, read_recording, write_signals};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (from, to, channels) = match arguments.as_slice() {
        [from, to] => (from, to, None),
        [from, to, channels] => (from, to, Some(channels.as_str().into())),
        _ => return Err("give two files: one to read and one to write".into()),
    };
    let options = ReadOptions {
        channels,
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
    for note in write_signals(to, &signals)? {
        println!("{note}");
    }
    Ok(())
}
