//! GDF: what its header may leave open, and damaged ones.

use super::copied;
use crate::{Made, fixture, notes, open};
use std::path::PathBuf;

/// A copy of a fixture with bytes replaced.
fn patched(made: &Made, name: &str, at: usize, patch: &[u8]) -> PathBuf {
    let mut bytes = std::fs::read(fixture("gdf_2.gdf")).unwrap();
    bytes[at..at + patch.len()].copy_from_slice(patch);
    made.file(name, bytes)
}

pub fn bad_files(made: &Made) -> Vec<(PathBuf, Option<&'static str>)> {
    let n_signals = 3;
    let types = 256 + 220 * n_signals;
    let table = 1024 + 5 * 10 * 2 * n_signals;
    let cut = std::fs::read(fixture("gdf_2.gdf")).unwrap();
    let files = vec![
        patched(made, "version.gdf", 4, b"9.99"),
        patched(made, "header.gdf", 184, &[1, 0]),
        patched(made, "signals.gdf", 252, &[0, 0]),
        patched(made, "type.gdf", types, &18u32.to_le_bytes()),
        patched(made, "records.gdf", 236, &1_000_000_000i64.to_le_bytes()),
        patched(made, "mode.gdf", table, &[9]),
        patched(made, "events.gdf", table + 1, &[0xff, 0xff, 0xff]),
        patched(
            made,
            "limits.gdf",
            256 + 112 * n_signals,
            &(-10f64).to_le_bytes(),
        ),
        made.file("cut.gdf", &cut[..1100]),
        made.file("short.gdf", &cut[..100]),
    ];
    files.into_iter().map(|path| (path, None)).collect()
}

#[test]
fn records_without_a_number_and_durations_of_both_kinds() {
    let made = Made::new();
    let opened = open(patched(&made, "open.gdf", 236, &(-1i64).to_le_bytes()));
    // The table of events is taken for a part of a record, of which there is no whole one.
    assert_eq!(opened.recording.n_samples(), 50);
    assert!(
        notes(&opened)
            .iter()
            .any(|note| note.contains("the 5 whole records"))
    );
    let mut bytes = std::fs::read(copied(&made, "gdf_2.gdf", "real.gdf")).unwrap();
    bytes[4..8].copy_from_slice(b"2.51");
    assert_eq!(
        open(made.file("rational.gdf", &bytes))
            .recording
            .sampling_rate(),
        Some(50.0)
    );
    bytes[244..252].copy_from_slice(&0.1f64.to_le_bytes());
    assert_eq!(
        open(made.file("real.gdf", &bytes))
            .recording
            .sampling_rate(),
        Some(100.0)
    );
}

#[test]
fn a_table_of_events_with_times_of_day() {
    let made = Made::new();
    let expected = open(fixture("gdf_2.gdf")).events;
    let mut bytes = std::fs::read(fixture("gdf_2.gdf")).unwrap();
    bytes[1024 + 5 * 10 * 2 * 3] = 7;
    bytes.extend([0; 16]);
    assert_eq!(open(made.file("times.gdf", &bytes)).events, expected);
    assert_eq!(expected.len(), 2);
}
