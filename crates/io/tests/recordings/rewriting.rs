//! Recordings copied with new numbers: nothing else changes, and what cannot be held is refused
//! without a file.

use crate::{Made, fixture, open};
use faer::{Mat, MatRef};
use std::path::{Path, PathBuf};
use strt_io::{ReadOptions, read_recording, rewrite_recording};

/// Files whose numbers can be replaced, with the step between two numbers that they can hold.
const FILES: [(&str, f64); 30] = [
    ("fortran.npy", 0.0),
    ("big_fortran.npy", 0.0),
    ("npy_bf4.npy", 1e-5),
    ("npy_lf2.npy", 0.1),
    ("npy_bi2.npy", 1.0),
    ("npy_li8.npy", 1.0),
    ("one_dimension.npy", 0.0),
    ("pcm_u8.wav", 1.0 / 128.0),
    ("pcm_16.wav", 1.0 / 32768.0),
    ("pcm_24.wav", 1.0 / 8_388_608.0),
    ("pcm_32.wav", 1e-9),
    ("float.wav", 1e-6),
    ("double.wav", 0.0),
    ("extensible.wav", 1.0 / 32768.0),
    ("plain.edf", 0.1),
    ("plus.edf", 0.1),
    ("discontinuous.edf", 0.1),
    ("plain.bdf", 0.1),
    ("plus.bdf", 0.1),
    ("plain.mat", 0.0),
    ("vector.mat", 0.0),
    ("inside.set", 1e-5),
    ("fields.set", 1e-5),
    ("epochs.set", 1e-5),
    ("mne_short_raw.fif", 1e-8),
    ("mne_single_raw.fif", 1e-11),
    ("mne_double_raw.fif", 1e-18),
    ("mne_gap_raw.fif", 1e-11),
    ("comma.csv", 0.01),
    ("tabs.tsv", 0.01),
];

fn all() -> ReadOptions {
    ReadOptions::default()
}

fn copy_to(made: &Made, name: &str) -> PathBuf {
    made.0.path().join(format!("out_{name}"))
}

/// Largest difference; missing values must be the same ones.
fn apart(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    assert_eq!(a.shape(), b.shape());
    let mut worst: f64 = 0.0;
    for c in 0..a.ncols() {
        for t in 0..a.nrows() {
            assert_eq!(a[(t, c)].is_nan(), b[(t, c)].is_nan(), "[{t}, {c}]");
            if !a[(t, c)].is_nan() {
                worst = worst.max((a[(t, c)] - b[(t, c)]).abs());
            }
        }
    }
    worst
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn the_same_numbers_give_the_same_bytes() {
    for (name, _) in FILES {
        let (made, path) = (Made::new(), fixture(name));
        let (recording, out) = (open(&path).recording, copy_to(&made, name));
        let notes = rewrite_recording(&path, &all(), recording.observations(), &out).unwrap();
        assert!(notes.is_empty(), "{name}: {notes:?}");
        if name == "inside.set" {
            // Packed: what is unpacked counts.
            assert_eq!(
                apart(
                    open(&out).recording.observations(),
                    recording.observations()
                ),
                0.0
            );
        } else {
            assert!(bytes(&out) == bytes(&path), "{name}");
        }
    }
}

#[test]
fn new_numbers_are_read_back_to_the_steps_of_the_file() {
    for (name, step) in FILES {
        let (made, path) = (Made::new(), fixture(name));
        let (before, out) = (open(&path), copy_to(&made, name));
        let old = before.recording.observations();
        let new = Mat::from_fn(old.nrows(), old.ncols(), |t, c| old[(t, c)] * 0.61);
        rewrite_recording(&path, &all(), new.as_ref(), &out).unwrap();
        let after = open(&out);
        let found = apart(after.recording.observations(), new.as_ref());
        assert!(found <= step / 2.0 * (1.0 + 1e-6), "{name}: {found}");
        assert!(apart(after.recording.observations(), old) > 0.0, "{name}");
        assert_eq!(after.notes, before.notes, "{name}");
        assert_eq!(after.units, before.units, "{name}");
        let names = before.recording.channel_names();
        assert_eq!(after.recording.channel_names(), names, "{name}");
        let rate = before.recording.sampling_rate();
        assert_eq!(after.recording.sampling_rate(), rate, "{name}");
        let same_size = name == "inside.set" || ["csv", "tsv"].contains(&&name[name.len() - 3..]);
        assert!(
            same_size || bytes(&out).len() == bytes(&path).len(),
            "{name}"
        );
    }
}

#[test]
fn other_channels_and_samples_keep_their_bytes() {
    for (name, _) in FILES {
        let path = fixture(name);
        let whole = open(&path).recording;
        if whole.n_channels() < 2 {
            continue;
        }
        let (made, second) = (Made::new(), whole.channel_names()[1].clone());
        let rate = whole.sampling_rate().unwrap_or(1.0);
        let options = ReadOptions {
            channels: Some(format!("\"{second}\"").into()),
            rate: Some(rate),
            start: Some(3.0 / rate),
            stop: Some(9.0 / rate),
            ..all()
        };
        let part = read_recording(&path, &options).unwrap().recording;
        assert_eq!((part.n_samples(), part.n_channels()), (6, 1), "{name}");
        let new = faer::Scale(0.5) * part.observations();
        let out = copy_to(&made, name);
        rewrite_recording(&path, &options, new.as_ref(), &out).unwrap();
        let (found, old) = (open(&out).recording, whole.observations());
        let found = found.observations();
        let mut n_changed = 0;
        for t in 0..old.nrows() {
            for c in 0..old.ncols() {
                let (found, old) = (found[(t, c)], old[(t, c)]);
                let same = found == old || (found.is_nan() && old.is_nan());
                assert!(same || (c == 1 && (3..9).contains(&t)), "{name} [{t}, {c}]");
                n_changed += usize::from(!same);
            }
        }
        assert!(n_changed > 0, "{name}");
    }
}

#[test]
fn a_packed_variable_among_others_is_packed_again() {
    let (made, path) = (Made::new(), fixture("packed.mat"));
    let deep = ReadOptions {
        variable: Some("s.deep".into()),
        ..all()
    };
    let old = read_recording(&path, &deep).unwrap().recording;
    let new = faer::Scale(3.0) * old.observations();
    let out = made.0.path().join("out.mat");
    rewrite_recording(&path, &deep, new.as_ref(), &out).unwrap();
    let found = read_recording(&out, &deep).unwrap().recording;
    assert_eq!(apart(found.observations(), new.as_ref()), 0.0);
    for variable in ["x", "y"] {
        let other = ReadOptions {
            variable: Some(variable.into()),
            ..all()
        };
        let (before, after) = (read_recording(&path, &other), read_recording(&out, &other));
        let (before, after) = (before.unwrap().recording, after.unwrap().recording);
        assert_eq!(apart(before.observations(), after.observations()), 0.0);
    }
}

/// Beside the recording, whose numbers the copy must not name: they would be read in place of its
/// own.
#[test]
fn a_data_set_in_two_files_becomes_two_files() {
    let made = Made::new();
    for name in ["beside.set", "beside.fdt"] {
        std::fs::copy(fixture(name), made.0.path().join(name)).unwrap();
    }
    let path = made.0.path().join("beside.set");
    let old = open(&path).recording;
    let new = faer::Scale(0.25) * old.observations();
    for stem in ["clean", "a much longer name than before: µ", "b"] {
        let out = made.0.path().join(format!("{stem}.set"));
        rewrite_recording(&path, &all(), new.as_ref(), &out).unwrap();
        let found = open(&out);
        assert!(apart(found.recording.observations(), new.as_ref()) < 1e-5);
        assert_eq!(found.recording.channel_names(), old.channel_names());
        let numbers = format!("the numbers are in `{stem}.fdt`");
        let told = found.notes.iter().any(|note| note.text == numbers);
        assert!(told, "{:?}", found.notes);
        assert_eq!(
            bytes(&out.with_extension("fdt")).len(),
            bytes(&fixture("beside.fdt")).len()
        );
    }
    // Under its own name, in another folder, nothing has to be renamed.
    let folder = made.0.path().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let out = folder.join("beside.set");
    rewrite_recording(&path, &all(), new.as_ref(), &out).unwrap();
    assert_eq!(bytes(&out), bytes(&path));
}

#[test]
fn a_text_keeps_all_but_its_numbers() {
    let check = |name: &str, text: &str, channels: Option<&str>, expected: &str| {
        let made = Made::new();
        let path = made.file(name, text);
        let options = ReadOptions {
            channels: channels.map(Into::into),
            ..all()
        };
        let old = read_recording(&path, &options).unwrap().recording;
        let new = faer::Scale(-2.0) * old.observations();
        let out = copy_to(&made, name);
        rewrite_recording(&path, &options, new.as_ref(), &out).unwrap();
        assert_eq!(String::from_utf8(bytes(&out)).unwrap(), expected);
    };
    check(
        "a.csv",
        "\u{feff}# made by hand\r\ntime,\"Fz, left\" ,Cz\r\n\r\n0.0, \"1.50\" ,2\r\n% so\r\n0.1,NA,3\r\n\
         0.2,2.5,4",
        None,
        "\u{feff}# made by hand\r\ntime,\"Fz, left\" ,Cz\r\n\r\n0.0, \"-3.00\" ,-4\r\n% so\r\n0.1,NA,-6\r\n\
         0.2,-5.00,-8",
    );
    check(
        "b.csv",
        "t;x;y\n0,1;1,25;a\n0,2;-0,5;b\n0,3;1e3;c\n",
        Some("x"),
        "t;x;y\n0,1;-2,50e+00;a\n0,2;1,00e+00;b\n0,3;-2,00e+03;c\n",
    );
    check(
        "c.txt",
        "   1.50   20.25\n  -7.25    3.00\n   0.50 -600.00\n",
        None,
        "  -3.00  -40.50\n  14.50   -6.00\n  -1.00 1200.00\n",
    );
    check(
        "d.csv",
        "id,\"a \"\"b\"\"\",c\n\"one\ntwo\",1,2\n\"x, y\",3,4\n",
        Some("2-3"),
        "id,\"a \"\"b\"\"\",c\n\"one\ntwo\",-2,-4\n\"x, y\",-6,-8\n",
    );
}

#[test]
fn missing_values_are_written_as_the_text_has_them_and_can_be_filled() {
    let made = Made::new();
    let path = made.file("a.csv", "a,b\n1.5,2\nNA,3\n4,\n5,6\n");
    let out = made.0.path().join("b.csv");
    let old = open(&path).recording;
    let mut new = old.observations().to_owned();
    (new[(1, 1)], new[(2, 0)], new[(2, 1)]) = (f64::NAN, f64::NAN, 7.25);
    rewrite_recording(&path, &all(), new.as_ref(), &out).unwrap();
    let text = String::from_utf8(bytes(&out)).unwrap();
    assert_eq!(text, "a,b\n1.5,2\nNA,NA\n,7\n5,6\n");
}

/// A signal of digital limits −100 to 100 for −10 to 10 µV.
fn narrow_edf(made: &Made) -> PathBuf {
    let mut file = bytes(&fixture("plain.edf"));
    let n_signals: usize = String::from_utf8_lossy(&file[252..256])
        .trim()
        .parse()
        .unwrap();
    for (before, text) in [(104, "-10"), (112, "10"), (120, "-100"), (128, "100")] {
        let start = 256 + before * n_signals;
        file[start..start + 8].copy_from_slice(format!("{text:<8}").as_bytes());
    }
    made.file("narrow.edf", file)
}

#[test]
fn limits_of_edf_are_widened_as_far_as_its_numbers_go() {
    let made = Made::new();
    let path = narrow_edf(&made);
    let old = open(&path).recording;
    let mut new = old.observations().to_owned();
    new[(5, 0)] = 1234.56;
    let out = made.0.path().join("out.edf");
    let notes = rewrite_recording(&path, &all(), new.as_ref(), &out).unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].text.contains("beyond -10 to 10"), "{}", notes[0]);
    assert!(
        notes[0].text.contains("widened to -3276.8 to 3276.7"),
        "{}",
        notes[0]
    );
    let found = open(&out).recording;
    assert!((found.observations()[(5, 0)] - 1234.6).abs() < 1e-9);
    assert!(apart(found.observations(), new.as_ref()) < 0.05);
    // All but the limits and one number are as they were.
    let (before, after) = (bytes(&path), bytes(&out));
    let n_other = before.iter().zip(&after).filter(|(a, b)| a != b).count();
    assert!(
        before.len() == after.len() && n_other <= 4 * 8 + 2,
        "{n_other}"
    );

    new[(6, 0)] = -4000.0;
    let out = made.0.path().join("beyond.edf");
    let error = rewrite_recording(&path, &all(), new.as_ref(), &out).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("sample 7 (counted from 1): expected a value from -3276.8 to 3276.7")
            && message.contains("found -4000; write another format"),
        "{message}"
    );
    assert!(!out.exists());
}

#[test]
fn what_a_file_cannot_hold_is_refused_and_leaves_nothing() {
    let made = Made::new();
    let refused = |name: &str, change: &dyn Fn(&mut Mat<f64>), expected: &str| {
        let (path, out) = (fixture(name), made.0.path().join(name));
        let mut new = open(&path).recording.observations().to_owned();
        change(&mut new);
        let error = rewrite_recording(&path, &all(), new.as_ref(), &out).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(expected), "{name}: {message}");
        assert!(!out.exists(), "{name}");
    };
    let set = |value: f64| move |new: &mut Mat<f64>| new[(2, 0)] = value;
    refused(
        "pcm_16.wav",
        &set(1.5),
        "channel `ch1`, sample 3 (counted from 1): expected a number from -1 to 0.999969482421875, \
         which I16 can hold, found 1.5; write another format",
    );
    refused("pcm_16.wav", &set(f64::NAN), "found a missing value");
    refused("npy_bu2.npy", &set(-1.0), "a number from 0 to 65535");
    refused("npy_lf4.npy", &set(1e40), "a number that F32 can hold");
    refused(
        "plain.edf",
        &set(f64::NAN),
        "knows no missing values, found a missing value",
    );
    refused("types.parquet", &set(1e40), "a number that F32 can hold");
    refused(
        "npy_bool.npy",
        &set(0.5),
        "expected numbers, found true and false",
    );
    let fill = |new: &mut Mat<f64>| {
        for c in 0..new.ncols() {
            new.col_mut(c)
                .iter_mut()
                .filter(|v| v.is_nan())
                .for_each(|v| *v = 0.0);
        }
    };
    refused(
        "discontinuous.edf",
        &fill,
        "the file holds no samples there",
    );
    for name in ["plain.npz", "v73.mat", "w16.hea", "gdf_1.gdf"] {
        refused(
            name,
            &|_| {},
            "would have to be made anew; write another format",
        );
    }
    let (path, short) = (fixture("plain.edf"), Mat::<f64>::zeros(3, 1));
    let out = made.0.path().join("short.edf");
    let error = rewrite_recording(&path, &all(), short.as_ref(), &out).unwrap_err();
    assert!(
        error.to_string().contains("the file has changed"),
        "{error}"
    );
    let copy = made.file("own.npy", bytes(&fixture("fortran.npy")));
    let recording = open(&copy).recording;
    let error = rewrite_recording(&copy, &all(), recording.observations(), &copy).unwrap_err();
    assert!(
        error.to_string().contains("found the recording itself"),
        "{error}"
    );
}

/// Columns that change are made anew, in their groups and packed as they were; text stays.
#[test]
fn tables_of_parquet_keep_their_other_columns() {
    for name in [
        "none",
        "snappy",
        "gzip",
        "zstd",
        "groups",
        "encodings",
        "types",
    ] {
        let name = format!("{name}.parquet");
        let (made, path) = (Made::new(), fixture(&name));
        let (before, out) = (open(&path), copy_to(&made, &name));
        let old = before.recording.observations();
        rewrite_recording(&path, &all(), old, &out).unwrap();
        assert_eq!(apart(open(&out).recording.observations(), old), 0.0);
        // One number changes: whole numbers are rounded, truth values stay as they are.
        for c in 0..old.ncols() {
            let mut new = old.to_owned();
            new[(20, c)] = if name == "types.parquet" && c == 3 {
                1.0 - old[(20, c)]
            } else {
                27.25
            };
            let is_whole = (0..old.nrows()).all(|t| old[(t, c)].round() == old[(t, c)]);
            let notes = rewrite_recording(&path, &all(), new.as_ref(), &out).unwrap();
            if is_whole {
                new[(20, c)] = new[(20, c)].round();
            }
            let after = open(&out);
            assert!(
                apart(after.recording.observations(), new.as_ref()) == 0.0,
                "{name} {c}"
            );
            assert_eq!(after.notes, before.notes, "{name} {c}");
            let truth = name == "types.parquet" && c == 3;
            assert_eq!(
                notes.len(),
                usize::from(is_whole && !truth),
                "{name} {c}: {notes:?}"
            );
            let rate = before.recording.sampling_rate();
            assert_eq!(after.recording.sampling_rate(), rate, "{name}");
        }
    }
}

/// The annotations of EDF+ and BDF+ are copied byte for byte.
#[test]
fn annotations_are_copied() {
    let made = Made::new();
    for (name, size) in [("plus.edf", 2), ("plus.bdf", 3), ("discontinuous.edf", 2)] {
        let (path, out) = (fixture(name), made.0.path().join(name));
        let old = open(&path).recording;
        let new = faer::Scale(0.5) * old.observations();
        rewrite_recording(&path, &all(), new.as_ref(), &out).unwrap();
        let (before, after) = (annotations(&path, size), annotations(&out, size));
        assert!(
            !before.is_empty() && before.iter().any(|text| text.starts_with(b"+")),
            "{name}"
        );
        assert_eq!(before, after, "{name}");
    }
}

/// The annotation signals of every record.
fn annotations(path: &Path, size: usize) -> Vec<Vec<u8>> {
    let bytes = bytes(path);
    let text = |at: usize, width: usize| String::from_utf8_lossy(&bytes[at..at + width]);
    let n_signals: usize = text(252, 4).trim().parse().unwrap();
    let signals: Vec<(bool, usize)> = (0..n_signals)
        .map(|i| {
            let per_record: usize = text(256 + 216 * n_signals + 8 * i, 8)
                .trim()
                .parse()
                .unwrap();
            let is_annotations = text(256 + 16 * i, 16).contains("Annotations");
            (is_annotations, per_record * size)
        })
        .collect();
    let (mut at, mut found) = (256 * (n_signals + 1), Vec::new());
    while at < bytes.len() {
        for &(is_annotations, size) in &signals {
            if is_annotations {
                found.push(bytes[at..at + size].to_vec());
            }
            at += size;
        }
    }
    found
}
