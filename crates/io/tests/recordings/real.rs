//! Real recordings, where they are there. They are not part of the project.

use crate::notes;
use std::path::{Path, PathBuf};
use strt_io::{Format, Opened, ReadOptions, read_recording};
use strt_testing::{Missing, skip};

/// Reads a real recording; `None`, and the calling test is skipped, when it is not there.
fn real(name: &str) -> Option<Opened> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path: PathBuf = root.join(name);
    if !path.with_extension("hea").exists() && !path.exists() {
        skip(Missing::Recordings);
        return None;
    }
    Some(read_recording(&path, &ReadOptions::default()).unwrap())
}

fn check(
    name: &str,
    format: Format,
    shape: (usize, usize),
    rate: Option<f64>,
    names: &[&str],
) -> Option<Opened> {
    let opened = real(name)?;
    let recording = &opened.recording;
    assert_eq!(opened.format, format, "{name}");
    assert_eq!(
        (recording.n_samples(), recording.n_channels()),
        shape,
        "{name}"
    );
    assert_eq!(
        recording.sampling_rate(),
        rate,
        "{name}: {:?}",
        notes(&opened)
    );
    let found: Vec<&str> = recording
        .channel_names()
        .iter()
        .map(String::as_str)
        .collect();
    assert_eq!(found[..names.len()], *names, "{name}");
    Some(opened)
}

#[test]
fn foetal_ecg() {
    let opened = check(
        "daisy_fecg/FOETAL_ECG.dat",
        Format::Text,
        (2500, 8),
        Some(250.0),
        &["ch1"],
    );
    if let Some(opened) = opened {
        assert_eq!(opened.recording.observations()[(1, 3)], -10.555);
    }
}

#[test]
fn eeglab() {
    let name = "eeglab_eeg32/eeglab_data.set";
    check(
        name,
        Format::Eeglab,
        (30504, 32),
        Some(128.0),
        &["FPz", "EOG1", "F3"],
    );
}

#[test]
fn eeglab_without_its_numbers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/eeglab_eeg32");
    let path = root.join("eeglab_data_epochs_ica.set");
    if !path.exists() {
        skip(Missing::Recordings);
        return;
    }
    let message = read_recording(&path, &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("EEG.data: expected a file `eeglab_data_epochs_ica.fdt` beside it"),
        "{message}"
    );
}

#[test]
fn wfdb() {
    // Values of wfdb-python's rdrecord.
    let opened = check(
        "physionet_wfdb/03700181",
        Format::Wfdb,
        (75000, 3),
        Some(125.0),
        &["MCL1", "ABP", "RESP"],
    );
    if let Some(opened) = opened {
        assert_eq!(opened.missing, [0, 0, 4]);
    }
    check(
        "physionet_wfdb/s0010_re.hea",
        Format::Wfdb,
        (38400, 15),
        Some(1000.0),
        &["i", "ii", "iii"],
    );
}

#[test]
fn biosppy() {
    for (name, samples, rate, label) in [
        ("ecg", 15000, 1000.0, "ECG"),
        ("eeg_ec", 38219, 125.0, "EEG"),
        ("resp", 60000, 1000.0, "Resp"),
        ("bcg", 15000, 1000.0, "BCG"),
    ] {
        let name = format!("biosppy_bio/{name}.txt");
        if let Some(opened) = real(&name) {
            assert_eq!(opened.recording.n_samples(), samples, "{name}");
            assert_eq!(opened.recording.sampling_rate(), Some(rate), "{name}");
            assert_eq!(
                opened.recording.channel_names()[0].to_lowercase(),
                label.to_lowercase(),
                "{name}"
            );
        }
    }
}

#[test]
fn neurokit() {
    let name = "neurokit_bio/bio_resting_5min_100hz.csv";
    check(name, Format::Text, (30000, 3), None, &["ECG", "PPG", "RSP"]);
    check(
        "neurokit_bio/eog_100hz.csv",
        Format::Text,
        (12000, 1),
        None,
        &["vEOG"],
    );
}

#[test]
fn sound() {
    check(
        "aalto_cocktail_wav/source5.wav",
        Format::Wav,
        (50000, 1),
        Some(8000.0),
        &["ch1"],
    );
    let name = "cmu_arctic_speech/cmu_arctic_us_axb_a0005.wav";
    check(name, Format::Wav, (25041, 1), Some(16000.0), &["ch1"]);
}

#[test]
fn climate() {
    check(
        "climate/elnino.csv",
        Format::Text,
        (61, 12),
        None,
        &["JAN", "FEB"],
    );
    check(
        "climate/sunspots.csv",
        Format::Text,
        (309, 1),
        None,
        &["SUNACTIVITY"],
    );
    // Dates such as 19580329, a week apart.
    let weekly = Some(1.0 / (7.0 * 86_400.0));
    if let Some(opened) = check("climate/co2.csv", Format::Text, (2284, 1), weekly, &["co2"]) {
        assert_eq!(opened.missing, [59]);
        assert!(
            notes(&opened)[1].contains("`date` is the time, in steps of 604800 s"),
            "{:?}",
            notes(&opened)
        );
    }
}
