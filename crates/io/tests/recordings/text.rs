//! Text: what is detected, and that it is said.

use crate::{Made, notes, open};
use strt_io::{ReadOptions, TimeColumn, read_recording};

/// The text is read as these columns (NaN is missing), and these notes are made.
fn check(text: &str, names: &[&str], columns: &[&[f64]], expected_notes: &[&str]) {
    let opened = open(Made::new().file("a.txt", text));
    assert_eq!(opened.recording.channel_names(), names, "{text}");
    for (channel, column) in columns.iter().enumerate() {
        let found = opened.recording.observations().col(channel).to_owned();
        assert_eq!(found.nrows(), column.len(), "{text}");
        for (t, value) in column.iter().enumerate() {
            let same = found[t] == *value || (found[t].is_nan() && value.is_nan());
            assert!(same, "{text}: row {t}: {} is not {value}", found[t]);
        }
    }
    assert_eq!(notes(&opened), expected_notes, "{text}");
}

const NAN: f64 = f64::NAN;

#[test]
fn ways_of_writing() {
    check(
        "a,b\n1,2\n3.5,-4e1\n",
        &["a", "b"],
        &[&[1.0, 3.5], &[2.0, -40.0]],
        &["delimiter: `,`, header in line 1"],
    );
    check(
        "1;2\n3;4",
        &["ch1", "ch2"],
        &[&[1.0, 3.0], &[2.0, 4.0]],
        &["delimiter: `;`, no header"],
    );
    check(
        "x;y\n1,5;2\n3,25;4,5\n",
        &["x", "y"],
        &[&[1.5, 3.25], &[2.0, 4.5]],
        &["delimiter: `;`, decimal comma, header in line 1"],
    );
    check(
        "1\t2\n3\t\n",
        &["ch1", "ch2"],
        &[&[1.0, 3.0], &[2.0, NAN]],
        &[
            "delimiter: tab, no header",
            "channel `ch2`: 1 of 2 values are missing",
        ],
    );
    check(
        "  7   8.5 \r\n  2   3\r\n  9 1\r\n",
        &["ch1", "ch2"],
        &[&[7.0, 2.0, 9.0], &[8.5, 3.0, 1.0]],
        &["delimiter: white space, no header"],
    );
    check(
        "3\n1\n\n2\n\n",
        &["ch1"],
        &[&[3.0, 1.0, 2.0]],
        &[
            "delimiter: none (one column), no header",
            "warning: blank lines between rows are passed over: 1",
        ],
    );
    check(
        "\u{feff}\"a, 1\",\"say \"\"b\"\"\"\n1,?\nNA,2\n3,4\n",
        &["a, 1", "say \"b\""],
        &[&[1.0, NAN, 3.0], &[NAN, 2.0, 4.0]],
        &[
            "delimiter: `,`, header in line 1",
            "channel `a, 1`: 1 of 3 values are missing",
            "channel `say \"b\"`: 1 of 3 values are missing",
        ],
    );
    check(
        "a,a,a_2\n1,2,3\n4,5,6\n",
        &["a", "a_3", "a_2"],
        &[&[1.0, 4.0], &[2.0, 5.0], &[3.0, 6.0]],
        &[
            "delimiter: `,`, header in line 1",
            "warning: another channel `a` is renamed to `a_3`",
        ],
    );
    check(
        "a,b,\n1,2,\n3,4,\n",
        &["a", "b"],
        &[&[1.0, 3.0], &[2.0, 4.0]],
        &[
            "delimiter: `,`, header in line 1",
            "every line ends with a delimiter; the empty last column is left out",
        ],
    );
    check(
        ",0,1\n0,5,6\n1,7,8\n2,9,1\n",
        &["0", "1"],
        &[&[5.0, 7.0, 9.0], &[6.0, 8.0, 1.0]],
        &[
            "delimiter: `,`, header in line 1",
            "column `` numbers the rows and is left out",
        ],
    );
    check(
        "# Sampling Rate (Hz):= 1000.00\n# Labels:= ECG\n5\n6\n",
        &["ECG"],
        &[&[5.0, 6.0]],
        &[
            "delimiter: none (one column), no header, 2 comment lines before the table",
            "names are taken from the lines before the table",
            "rate 1000 Hz is taken from `Sampling Rate (Hz):= 1000.00`",
        ],
    );
}

/// pandas writes the numbers of unnamed columns, from 0. Above whole numbers they may as well be
/// data.
#[test]
fn columns_that_are_counted() {
    check(
        "0,1\n0.5,2.5\n1.5,3.5\n",
        &["0", "1"],
        &[&[0.5, 1.5], &[2.5, 3.5]],
        &["delimiter: `,`, header in line 1"],
    );
    check(
        "a,b\n0,1\n0.5,2.5\n1.5,3.5\n",
        &["a", "b"],
        &[&[0.0, 0.5, 1.5], &[1.0, 2.5, 3.5]],
        &["delimiter: `,`, header in line 1"],
    );
    check(
        "0,1\n5,2\n",
        &["ch1", "ch2"],
        &[&[0.0, 5.0], &[1.0, 2.0]],
        &["delimiter: `,`, no header"],
    );
}

#[test]
fn time_columns() {
    let rate_of = |text: &str| {
        let opened = open(Made::new().file("a.csv", text));
        (
            opened.recording.sampling_rate(),
            opened.recording.n_channels(),
        )
    };
    assert_eq!(rate_of("time,a\n0,1\n0.004,2\n0.008,3\n"), (Some(250.0), 1));
    assert_eq!(rate_of("0,1\n0.004,2\n0.008,3\n"), (Some(250.0), 1));
    assert_eq!(rate_of("Time (ms),a\n10,1\n12,2\n14,3\n"), (Some(500.0), 1));
    assert_eq!(
        rate_of("time,a\n2020-01-01 00:00:00.0,1\n2020-01-01 00:00:00.5,2\n"),
        (Some(2.0), 1)
    );
    assert_eq!(
        rate_of("date,a\n19580329,1\n19580405,2\n19580510,3\n"),
        (None, 1)
    );
    assert_eq!(rate_of("a,time\n1,0\n2,1\n"), (Some(1.0), 1));
    assert_eq!(rate_of("a,s\n1,0\n2,1\n"), (None, 2));
    assert_eq!(rate_of("t,a\n5,1\n3,2\n"), (None, 2));

    let path = Made::new();
    let path = path.file("a.csv", "a,clock\n1,0\n2,0.5\n3,1\n");
    let named = ReadOptions {
        time_column: Some(TimeColumn::Named("clock".into())),
        ..ReadOptions::default()
    };
    let opened = read_recording(&path, &named).unwrap();
    assert_eq!(opened.recording.channel_names(), ["a"]);
    assert_eq!(opened.recording.sampling_rate(), Some(2.0));
    let made = Made::new();
    let path = made.file("b.csv", "time,a\n0,1\n1,2\n");
    let absent = ReadOptions {
        time_column: Some(TimeColumn::Absent),
        ..ReadOptions::default()
    };
    assert_eq!(
        read_recording(&path, &absent)
            .unwrap()
            .recording
            .n_channels(),
        2
    );
}

#[test]
fn what_is_asked_for_is_not_detected() {
    let made = Made::new();
    let path = made.file("a.csv", "1,2\n3,4\n5,6\n");
    let asked = |delimiter, header| ReadOptions {
        delimiter,
        header,
        ..ReadOptions::default()
    };
    let opened = read_recording(&path, &asked(Some(','), Some(true))).unwrap();
    assert_eq!(opened.recording.channel_names(), ["1", "2"]);
    assert_eq!(opened.recording.n_samples(), 2);
    let path = made.file("b.csv", "1:2\n3:4\n");
    let opened = read_recording(&path, &asked(Some(':'), None)).unwrap();
    assert_eq!(opened.recording.n_channels(), 2);
}

/// What looks like the magic of a binary format at first sight.
#[test]
fn texts_that_resemble_other_formats() {
    let made = Made::new();
    let columns: String = (0..24).map(|_| "       1").collect();
    let opened = open(made.file("a.txt", format!("0{columns}\n3{columns}\n").repeat(15)));
    assert_eq!(opened.recording.n_channels(), 25);
    let mut header = "x".repeat(126) + "IM,b\n";
    header += "1,2\n3,5\n2,4\n";
    assert_eq!(open(made.file("b.txt", header)).recording.n_channels(), 2);
}
