//! Recordings of known origin: each channel alone as a source, and the sources of recordings that
//! have to be separated first.
//!
//! In: the folder of recordings. Out: two tables. A file that is not there is named as such.

use std::fmt::Write;
use std::path::Path;
use strt_cli::failure::Outcome;
use strt_io::{Opened, ReadOptions, read_recording};
use strt_label::{Kind, Label, Subject, label};
use strt_runs::results::labels::of_run;
use strtransformer::{Config, separate};

/// A channel of a file, its rate where the file does not say, and the labels that are right; none
/// where there should be no label.
struct Known {
    file: &'static str,
    channel: usize,
    rate: Option<f64>,
    what: &'static str,
    right: &'static [Kind],
}

const fn known(
    file: &'static str,
    channel: usize,
    rate: Option<f64>,
    what: &'static str,
    right: &'static [Kind],
) -> Known {
    Known {
        file,
        channel,
        rate,
        what,
        right,
    }
}

const BIOSPPY: Option<f64> = Some(1000.0);
const NEUROKIT: Option<f64> = Some(100.0);
const RESTING: &str = "neurokit_bio/bio_resting_5min_100hz.csv";
const ICU: &str = "physionet_wfdb/03700181.hea";
const PTB: &str = "physionet_wfdb/s0010_re.hea";
const SLOW: &[Kind] = &[Kind::Drift, Kind::Trend];

/// Channels of known origin.
const CHANNELS: &[Known] = &[
    known("biosppy_bio/ecg.txt", 0, BIOSPPY, "ECG", &[Kind::Heart]),
    known(RESTING, 0, NEUROKIT, "ECG", &[Kind::Heart]),
    known(
        "daisy_fecg/FOETAL_ECG.dat",
        0,
        None,
        "ECG, abdomen",
        &[Kind::Heart],
    ),
    known(
        "daisy_fecg/FOETAL_ECG.dat",
        7,
        None,
        "ECG, chest",
        &[Kind::Heart],
    ),
    known(ICU, 0, None, "ECG", &[Kind::Heart]),
    known(PTB, 0, None, "ECG", &[Kind::Heart]),
    known(PTB, 7, None, "ECG", &[Kind::Heart]),
    known(
        "biosppy_bio/ppg.txt",
        0,
        BIOSPPY,
        "pulse (PPG)",
        &[Kind::Heart],
    ),
    known(RESTING, 1, NEUROKIT, "pulse (PPG)", &[Kind::Heart]),
    known(ICU, 1, None, "arterial pressure", &[Kind::Heart]),
    known(
        "biosppy_bio/bcg.txt",
        0,
        BIOSPPY,
        "ballistocardiogram",
        &[Kind::Heart],
    ),
    known(
        "biosppy_bio/pcg.txt",
        0,
        BIOSPPY,
        "heart sounds",
        &[Kind::Heart],
    ),
    known(
        "biosppy_bio/resp.txt",
        0,
        BIOSPPY,
        "breath",
        &[Kind::Breath],
    ),
    known(RESTING, 2, NEUROKIT, "breath", &[Kind::Breath]),
    known(ICU, 2, None, "breath", &[Kind::Breath]),
    known(
        "biosppy_bio/emg.txt",
        0,
        BIOSPPY,
        "muscle (EMG)",
        &[Kind::Muscle],
    ),
    known(
        "biosppy_bio/emg_1.txt",
        0,
        BIOSPPY,
        "muscle (EMG)",
        &[Kind::Muscle],
    ),
    known(
        "neurokit_bio/eog_100hz.csv",
        0,
        NEUROKIT,
        "eyes (vertical EOG)",
        &[Kind::Blink],
    ),
    known("biosppy_bio/eda.txt", 0, BIOSPPY, "skin conductance", SLOW),
    known(
        "climate/co2.csv",
        0,
        None,
        "carbon dioxide, weekly",
        &[Kind::Trend],
    ),
    known(
        "climate/sunspots.csv",
        0,
        None,
        "sunspots, yearly",
        &[Kind::Rhythm],
    ),
    known(
        "biosppy_bio/eeg_ec.txt",
        0,
        Some(125.0),
        "EEG, one channel",
        &[],
    ),
    known(
        "cmu_arctic_speech/cmu_arctic_us_aew_a0001.wav",
        0,
        None,
        "speech",
        &[],
    ),
    known(
        "cmu_arctic_speech/cmu_arctic_us_aew_a0002.wav",
        0,
        None,
        "speech",
        &[],
    ),
    known(
        "cmu_arctic_speech/cmu_arctic_us_aew_a0003.wav",
        0,
        None,
        "speech",
        &[],
    ),
    known(
        "cmu_arctic_speech/cmu_arctic_us_axb_a0004.wav",
        0,
        None,
        "speech",
        &[],
    ),
    known(
        "cmu_arctic_speech/cmu_arctic_us_axb_a0005.wav",
        0,
        None,
        "speech",
        &[],
    ),
    known(
        "cmu_arctic_speech/cmu_arctic_us_axb_a0006.wav",
        0,
        None,
        "speech",
        &[],
    ),
    known("aalto_cocktail_wav/source5.wav", 0, None, "sound", &[]),
    known("aalto_cocktail_wav/source7.wav", 0, None, "sound", &[]),
    known("aalto_cocktail_wav/source9.wav", 0, None, "sound", &[]),
];

/// Recordings that are separated first, and what is known to be in them.
const MIXTURES: [(&str, usize, &str); 3] = [
    (
        "daisy_fecg/FOETAL_ECG.dat",
        8,
        "hearts of a mother (81 a minute) and a child (134)",
    ),
    (
        "eeglab_eeg32/eeglab_data.set",
        32,
        "EEG with blinks, 32 channels",
    ),
    (PTB, 8, "one heart in 15 leads"),
];

/// Both tables.
pub fn table(data: &Path) -> Outcome<String> {
    Ok(format!("{}\n{}", channels(data)?, mixtures(data)?))
}

fn said(label: Option<&Label>) -> String {
    label.map_or_else(
        || "no label".into(),
        |label| format!("{} ({:.0} %)", label.name(), 100.0 * label.confidence),
    )
}

fn channels(data: &Path) -> Outcome<String> {
    let mut table =
        String::from("| recording | what it is | what was said | right |\n|---|---|---|---|\n");
    for known in CHANNELS {
        let (found, right) = match open(data, known.file, known.rate)? {
            None => ("the file is not there".into(), "-"),
            Some(opened) => {
                let recording = &opened.recording;
                let column = recording.observations().col(known.channel);
                let source: Vec<f64> = column.iter().copied().collect();
                let found = label(&Subject::alone(&source, recording.sampling_rate()));
                let right = match &found {
                    Some(label) => known.right.contains(&label.kind),
                    None => known.right.is_empty(),
                };
                (said(found.as_ref()), if right { "yes" } else { "no" })
            }
        };
        let name = match known.channel {
            0 => known.file.to_string(),
            channel => format!("{}, channel {}", known.file, channel + 1),
        };
        writeln!(table, "| {name} | {} | {found} | {right} |", known.what)
            .expect("a string takes text");
    }
    Ok(table)
}

fn mixtures(data: &Path) -> Outcome<String> {
    let mut table = String::from("| separated by `fast` | sources | labels |\n|---|---|---|\n");
    for (file, count, what) in MIXTURES {
        let row = match open(data, file, None)? {
            None => "- | the file is not there".into(),
            Some(opened) => {
                let labels = of_separated(&opened, count)?;
                let named: Vec<String> = labels
                    .iter()
                    .enumerate()
                    .filter_map(|(k, label)| {
                        Some(format!("s{} {}", k + 1, said(Some(label.as_ref()?))))
                    })
                    .collect();
                format!("{} | {}", labels.len(), named.join("; "))
            }
        };
        writeln!(table, "| {file}: {what} | {row} |").expect("a string takes text");
    }
    Ok(table)
}

fn of_separated(opened: &Opened, count: usize) -> Outcome<Vec<Option<Label>>> {
    let recording = &opened.recording;
    let separation = separate(recording, &Config::fast(count))?;
    Ok(of_run(recording, &separation, &opened.positions)?)
}

fn open(data: &Path, file: &str, rate: Option<f64>) -> Outcome<Option<Opened>> {
    let path = data.join(file);
    if !path.is_file() {
        return Ok(None);
    }
    let options = ReadOptions {
        rate,
        ..ReadOptions::default()
    };
    Ok(Some(read_recording(&path, &options)?))
}
