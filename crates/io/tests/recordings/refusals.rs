//! Bad files, one a case. The messages are in `refusals.txt`, one a line; `STRT_UPDATE=1` writes
//! that file anew, for reading before it is committed.

use crate::{Made, fixture, refusal};
use std::fs;
use std::path::{Path, PathBuf};
use strt_io::ReadOptions;
use strt_testing::{Missing, skip};

/// A copy of a fixture with some bytes replaced.
fn patched(made: &Made, from: &str, name: &str, patches: &[(usize, &[u8])]) -> PathBuf {
    let mut bytes = fs::read(fixture(from)).unwrap();
    for (at, patch) in patches {
        bytes[*at..at + patch.len()].copy_from_slice(patch);
    }
    made.file(name, bytes)
}

/// The first part of a fixture.
fn cut(made: &Made, from: &str, name: &str, keep: f64) -> PathBuf {
    let bytes = fs::read(fixture(from)).unwrap();
    let length = (bytes.len() as f64 * keep) as usize;
    made.file(name, &bytes[..length])
}

fn texts(made: &Made) -> Vec<PathBuf> {
    let wide: String = (0..300).map(|i| format!("{i},")).collect();
    vec![
        made.file("empty.csv", ""),
        made.file("blank.csv", "\n \n\n"),
        made.file("comments.csv", "# nothing\n# here\n"),
        made.file("header_only.csv", "a,b,c\n"),
        made.file("ragged.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n"),
        made.file(
            "ragged_late.csv",
            format!("a,b\n{}1,2,3\n", "1,2\n".repeat(100)),
        ),
        made.file("cut.csv", "a,b,c\n1,2,3\n4,5,6\n7,8"),
        made.file("ragged_header.csv", "a,b\n1,2,3\n4,5,6\n"),
        made.file(
            "wide_first.csv",
            format!("{wide}\n{}", "1,2\n".repeat(1000)),
        ),
        made.file(
            "row_before_names.csv",
            "Device 7\n1,2\na,b\n1,2\n3,4\n5,6\n",
        ),
        made.file("bad_first_row.csv", "a,b\n1,bad\n3,4\n5,6\n"),
        made.file(
            "line_in_the_middle.csv",
            "a,b\n1,2\nInterval: 1 s\n3,4\n5,6\n",
        ),
        made.file("channel_with_word.csv", "Fz,5,2,3\nCz,4,x,6\n"),
        made.file("wide.csv", {
            let names: Vec<String> = (0..5000).map(|i| format!("voxel{i}")).collect();
            let row = vec!["1"; 5000].join(",");
            format!("{}\n{row}\n{row}\n", names.join(","))
        }),
        made.file("word.csv", "Fz,Cz\n1,2\n3,broken\n4,5\n"),
        made.file(
            "long_word.csv",
            format!("Fz,Cz\n1,2\n3,{}\n", "x".repeat(100)),
        ),
        made.file("unit.csv", "Fz,Cz\n1,2\n3,4 mV\n"),
        made.file("infinite.csv", "Fz,Cz\n1,2\n3,-inf\n"),
        made.file("overflow.csv", "Fz,Cz\n1,2\n1e999,5\n"),
        made.file("late_date.csv", "Fz,when\n1,5\n2,2020-01-02\n"),
        made.file(
            "late_comma.csv",
            "a;b\n1;2\n3;4\n".to_string() + &"5;6\n".repeat(180) + "7,5;8\n",
        ),
        made.file("all_missing.csv", "a,b\n,\n,NA\n"),
        made.file("no_complete.csv", "a,b\n1,\n,2\n"),
        made.file("quote.csv", "a,b\n1,\"2\n3,4\n"),
        made.file("mac.csv", "a,b\r1,2\r3,4\r"),
        made.file("utf16.csv", b"\xff\xfea\0,\0b\0\n\0"),
        made.file("names.txt", "the quick brown fox\n"),
    ]
}

fn kinds(made: &Made) -> Vec<PathBuf> {
    let csv = "a,b\n1,2\n3,4\n";
    let npy = fs::read(fixture("fortran.npy")).unwrap();
    vec![
        made.0.path().join("absent.csv"),
        {
            fs::create_dir(made.0.path().join("directory.edf")).unwrap();
            made.0.path().join("directory.edf")
        },
        made.file("text.npy", csv),
        made.file("text.edf", csv),
        made.file("text.mat", csv),
        made.file("text.wav", csv),
        made.file("text.parquet", csv),
        made.file("array.csv", &npy),
        made.file("array.bdf", &npy),
        made.file("photo.dat", b"\x89PNG\r\n\x1a\n"),
        made.file("packed.csv", b"\x1f\x8b\x08\0"),
        made.file("archive.csv", b"7z\xbc\xaf\x27\x1c"),
        made.file("song.wav", b"ID3\x04\0"),
        made.file("noise.dat", [0, 1, 2, 3, 200, 201]),
        made.file("noise.bin", [0, 1, 2, 3, 200, 201]),
        made.file("page.csv", "<!DOCTYPE html>\n<p>1,2</p>\n"),
        made.file("events.json", "{\"a\": [1, 2, 3]}\n"),
        made.file("sound.aiff", b"FORM\0\0\0\x10AIFF"),
        made.file("old.mat", [0u8, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]),
        made.file("sheet.xlsx", {
            let mut bytes = b"PK\x05\x06".to_vec();
            bytes.resize(22, 0);
            bytes
        }),
    ]
}

fn arrays(made: &Made) -> Vec<PathBuf> {
    let npy = |header: &str, data: usize| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.resize(bytes.len() + data, 0);
        bytes
    };
    let huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 3), }";
    let large = "{'descr': '<f8', 'fortran_order': True, 'shape': (1000000, 100), }";
    vec![
        fixture("objects.npy"),
        fixture("complex.npy"),
        fixture("records.npy"),
        fixture("infinite.npy"),
        cut(made, "fortran.npy", "cut.npy", 0.6),
        cut(made, "fortran.npy", "cut_header.npy", 0.05),
        made.file("huge.npy", npy(huge, 64)),
        made.file("large.npy", npy(large, 64)),
        made.file(
            "four_dimensions.npy",
            npy(
                "{'descr': '|i1', 'fortran_order': False, 'shape': (5, 3, 2, 10), }",
                300,
            ),
        ),
        made.file(
            "no_trials.npy",
            npy(
                "{'descr': '|i1', 'fortran_order': False, 'shape': (0, 3, 20), }",
                0,
            ),
        ),
        made.file(
            "huge_trials.npy",
            npy(
                "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 3, 4294967296), }",
                64,
            ),
        ),
        made.file(
            "many.npy",
            npy(
                "{'descr': '|i1', 'fortran_order': False, 'shape': (5000, 6000), }",
                30_000_000,
            ),
        ),
        made.file(
            "empty_shape.npy",
            npy(
                "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }",
                0,
            ),
        ),
        made.file(
            "scalar.npy",
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 8),
        ),
        made.file(
            "no_shape.npy",
            npy("{'descr': '<f8', 'fortran_order': False}", 8),
        ),
        made.file(
            "text_type.npy",
            npy(
                "{'descr': '<U4', 'fortran_order': False, 'shape': (2,), }",
                32,
            ),
        ),
        cut(made, "plain.npz", "cut.npz", 0.7),
        cut(made, "plain.mat", "cut.mat", 0.7),
        cut(made, "packed.mat", "cut_packed.mat", 0.5),
        fixture("complex.mat"),
        cut(made, "v73.mat", "cut_v73.mat", 0.5),
        cut(made, "plain.h5", "cut.h5", 0.3),
        fixture("lost.set"),
        cut(made, "inside.set", "cut.set", 0.6),
        {
            fs::copy(fixture("beside.set"), made.0.path().join("beside.set")).unwrap();
            cut(made, "beside.fdt", "beside.fdt", 0.5);
            made.0.path().join("beside.set")
        },
        fixture("beside.fdt"),
        cut(made, "dense.h5", "cut_dense.h5", 0.7),
        cut(made, "probe.snirf", "cut.snirf", 0.6),
        {
            fs::copy(fixture("plain.h5"), made.0.path().join("plain.snirf")).unwrap();
            made.0.path().join("plain.snirf")
        },
        cut(made, "snappy.parquet", "cut.parquet", 0.8),
        patched(made, "none.parquet", "damaged.parquet", &[(4, &[255; 40])]),
    ]
}

fn signals(made: &Made) -> Vec<PathBuf> {
    let record = |name: &str, header: &str, data: usize| {
        made.file(&format!("{name}.dat"), vec![0; data]);
        made.file(&format!("{name}.hea"), header)
    };
    vec![
        made.file(
            "alone.hea",
            "alone 1 100 10\nalone.dat 16 200 16 0 0 0 0 I\n",
        ),
        patched(
            made,
            "plain.edf",
            "no_channels.edf",
            &[(252, b"0   "), (184, b"256     ")],
        ),
        patched(made, "plain.edf", "many_channels.edf", &[(252, b"9999")]),
        patched(
            made,
            "plain.edf",
            "word_in_header.edf",
            &[(236, b"three   ")],
        ),
        patched(
            made,
            "plain.edf",
            "too_many_records.edf",
            &[(236, b"99999999")],
        ),
        patched(
            made,
            "plain.edf",
            "no_range.edf",
            &[(256 + 3 * 120, b"0       "), (256 + 3 * 128, b"0       ")],
        ),
        cut(made, "plain.edf", "cut.edf", 0.9),
        cut(made, "plain.edf", "cut_header.edf", 0.3),
        cut(made, "plain.bdf", "cut.bdf", 0.9),
        fixture("rates.edf"),
        patched(
            made,
            "discontinuous.edf",
            "far_away.edf",
            &[(768 + 2 * 24, b"+9999999\x14")],
        ),
        patched(
            made,
            "discontinuous.edf",
            "backwards.edf",
            &[(768 + 2 * 24, b"+1\x14")],
        ),
        fixture("ulaw.wav"),
        cut(made, "pcm_16.wav", "cut.wav", 0.5),
        cut(made, "pcm_16.wav", "cut_header.wav", 0.1),
        patched(made, "pcm_16.wav", "no_channels.wav", &[(22, &[0, 0])]),
        patched(
            made,
            "pcm_u8.wav",
            "many_channels.wav",
            &[(22, &[2, 43]), (32, &[2, 43])],
        ),
        record("segments", "segments/3 2 100 10\n~ 5\n", 10),
        record("gaps", "gaps/2 2 100 10\n~ 5\n~ 5\n", 10),
        record("lost_segment", "lost_segment/1 1 100 10\nabsent 10\n", 10),
        record("outside", "outside/1 1 100 10\n../absent 10\n", 10),
        {
            record("part", "part 1 100 10\npart.dat 16 200 12 0 0 0 0 A\n", 20);
            record("long_gap", "long_gap/2 1 100\npart 10\n~ 5000\n", 10)
        },
        record("other_length", "other_length/1 1 100 9\npart 9\n", 10),
        record("inside", "inside/1 1 100 10\nlong_gap 10\n", 10),
        record(
            "layout_alone",
            "layout_alone 1 100 10\n~ 0 200 12 0 0 0 0 A\n",
            10,
        ),
        record(
            "no_stream",
            "no_stream 1 100 10\nno_stream.dat 516 200 12 0 0 0 0 A\n",
            40,
        ),
        {
            fs::copy(fixture("w524.dat"), made.0.path().join("wide_stream.dat")).unwrap();
            let header = "wide_stream 2 100 10\nwide_stream.dat 516 200 12 0 0 0 0 A\n\
                          wide_stream.dat 516 200 12 0 0 0 0 B\n";
            made.file("wide_stream.hea", header)
        },
        cut(made, "pcm_16.flac", "cut.flac", 0.8),
        patched(made, "pcm_24.flac", "damaged.flac", &[(300, &[1, 2, 3])]),
        cut(made, "pcm_s8.flac", "cut_header.flac", 0.1),
        cut(made, "vorbis.ogg", "cut.ogg", 0.5),
        patched(made, "vorbis.ogg", "opus.ogg", &[(28, b"OpusHead")]),
        cut(made, "table.csv.gz", "cut.csv.gz", 0.9),
        cut(made, "table.csv.zst", "cut.csv.zst", 0.9),
        patched(made, "table.csv.zst", "damaged.csv.zst", &[(40, &[7; 8])]),
        patched(made, "array.npy.gz", "table_in_name.csv.gz", &[]),
        record(
            "few_lines",
            "few_lines 2 100 10\nfew_lines.dat 16 200 12 0 0 0 0 A\n",
            40,
        ),
        record(
            "format_9",
            "format_9 1 100 10\nformat_9.dat 9 200 12 0 0 0 0 A\n",
            40,
        ),
        record(
            "elsewhere",
            "elsewhere 1 100 10\n/etc/passwd 16 200 12 0 0 0 0 A\n",
            40,
        ),
        record(
            "short",
            "short 1 100 1000\nshort.dat 212 200 12 0 0 0 0 A\n",
            40,
        ),
        record(
            "huge",
            "huge 1 100 9999999999999999999\nhuge.dat 16 200 12 0 0 0 0 A\n",
            40,
        ),
        made.file(
            "no_signals.hea",
            "no_signals 1 100 10\nabsent.dat 16 200 12 0 0 0 0 A\n",
        ),
    ]
}

#[test]
fn messages_name_the_place_and_the_remedy() {
    let made = Made::new();
    let files = [texts(&made), kinds(&made), arrays(&made), signals(&made)].concat();
    let messages: Vec<String> = files
        .iter()
        .map(|path| refusal(path, &ReadOptions::default()))
        .collect();
    let snapshot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/refusals.txt");
    if std::env::var_os("STRT_UPDATE").is_some() {
        fs::write(&snapshot, messages.join("\n") + "\n").unwrap();
    }
    let expected = fs::read_to_string(&snapshot).unwrap();
    for (found, expected) in messages.iter().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(messages.len(), expected.lines().count());
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let made = Made::new();
    let path = made.file("secret.csv", "1,2\n3,4\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&path).is_ok() {
        skip(Missing::Permissions);
        return;
    }
    assert_eq!(
        refusal(&path, &ReadOptions::default()),
        "secret.csv: cannot read: Permission denied (os error 13); check that the file exists \
         and that you may read it"
    );
}
