//! One WAV file a signal: 24-bit sound, scaled by a factor of its own, which is noted in the file
//! (`INFO`, `ICMT`) and in a table beside the files.

use super::{Signals, check_size, sound};
use crate::atomic;
use crate::error::Result;
use std::io::{self, Write};
use std::path::Path;

/// Bytes of a sample.
const SIZE: usize = 3;

/// The files that [`write_each_wav`] writes: one a signal, and the table of factors last.
pub fn each_wav_files(stem: &str, names: &[String]) -> Vec<String> {
    let signals = names.iter().map(|name| wav_name(stem, name));
    signals.chain([format!("{stem}.wavs.csv")]).collect()
}

fn wav_name(stem: &str, name: &str) -> String {
    let name: String = name
        .chars()
        .map(|letter| match letter {
            '/' | '\\' | ':' | '\0' => '_',
            other => other,
        })
        .collect();
    format!("{stem}.{name}.wav")
}

/// Writes every signal to `<stem>.<name>.wav` in a folder, and to `<stem>.wavs.csv` the factors by
/// which they were multiplied so that none is clipped. Missing samples are silence.
///
/// ```
/// use faer::mat;
/// use strt_io::{Signals, write_each_wav};
///
/// let values = mat![[1.0, 8.0], [-4.0, 2.0]];
/// let names = ["s1".to_string(), "s2".to_string()];
/// let signals = Signals { values: values.as_ref(), names: &names, rate: Some(8000.0) };
/// let directory = tempfile::tempdir()?;
/// write_each_wav(directory.path(), "sources", &signals)?;
///
/// let table = std::fs::read_to_string(directory.path().join("sources.wavs.csv"))?;
/// assert_eq!(table, "file,factor\nsources.s1.wav,0.2475\nsources.s2.wav,0.12375\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`crate::write_signals`] for a WAV file.
pub fn write_each_wav(folder: impl AsRef<Path>, stem: &str, signals: &Signals<'_>) -> Result<()> {
    let folder = folder.as_ref();
    let rate = check(&folder.join(format!("{stem}.wav")), signals)?;
    let mut table = "file,factor\n".to_string();
    for (k, factor) in sound::factors(signals).into_iter().enumerate() {
        let name = &signals.names[k];
        let file_name = wav_name(stem, name);
        atomic::write(&folder.join(&file_name), |file| {
            let values = signals.values.col(k);
            let samples = values.iter().map(|&value| sound::sample(value, factor));
            write(file, rate, &sound::comment(name, factor), samples)
        })?;
        table += &format!("{},{factor}\n", super::csv::quoted(&file_name));
    }
    atomic::write_text(folder.join(format!("{stem}.wavs.csv")), &table)
}

/// Says whether [`write_each_wav`] could write such signals; `path` is named in messages.
///
/// # Errors
/// As [`write_each_wav`], except for what only the disk knows.
pub fn check_each_wav(path: impl AsRef<Path>, signals: &Signals<'_>) -> Result<()> {
    check(path.as_ref(), signals).map(drop)
}

fn check(path: &Path, signals: &Signals<'_>) -> Result<u32> {
    let values = signals.values.subcols(0, signals.values.ncols().min(1));
    check_size(path, &Signals { values, ..*signals }, SIZE as u64, "WAV")?;
    sound::rate(path, signals, u32::MAX / SIZE as u32)
}

fn write(
    file: &mut dyn Write,
    rate: u32,
    comment: &str,
    samples: impl ExactSizeIterator<Item = i64>,
) -> io::Result<()> {
    let size = samples.len() * SIZE;
    // Texts end in a zero, and chunks at even places.
    let mut text = comment.as_bytes().to_vec();
    text.resize((text.len() + 1).next_multiple_of(2), 0);
    let info = [b"INFOICMT", &(text.len() as u32).to_le_bytes()[..], &text].concat();
    let padded = size.next_multiple_of(2);
    let riff = 4 + 24 + 8 + info.len() + 8 + padded;
    file.write_all(b"RIFF")?;
    file.write_all(&(riff as u32).to_le_bytes())?;
    file.write_all(b"WAVEfmt ")?;
    file.write_all(&16u32.to_le_bytes())?;
    file.write_all(&1u16.to_le_bytes())?;
    file.write_all(&1u16.to_le_bytes())?;
    file.write_all(&rate.to_le_bytes())?;
    file.write_all(&(rate * SIZE as u32).to_le_bytes())?;
    file.write_all(&(SIZE as u16).to_le_bytes())?;
    file.write_all(&(sound::WIDTH as u16).to_le_bytes())?;
    file.write_all(b"LIST")?;
    file.write_all(&(info.len() as u32).to_le_bytes())?;
    file.write_all(&info)?;
    file.write_all(b"data")?;
    file.write_all(&(size as u32).to_le_bytes())?;
    for sample in samples {
        file.write_all(&(sample as i32).to_le_bytes()[..SIZE])?;
    }
    file.write_all(&[0][..padded - size])
}
