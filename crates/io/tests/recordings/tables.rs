//! Tables as devices and people write them: what is read of them, and what is said. The texts are
//! written by hand in the shape of each kind of file.

use crate::{Made, notes, open};
use strt_io::{Opened, ReadOptions, TimeColumn, read_recording, survey};

/// Rows of made-up numbers behind a head: `row(t)` is one line.
fn text(head: &str, n_rows: usize, row: impl Fn(usize) -> String) -> String {
    let rows: Vec<String> = (0..n_rows).map(row).collect();
    format!("{head}{}\n", rows.join("\n"))
}

/// A number that is neither even nor rising.
fn value(t: usize, channel: usize) -> String {
    format!("{:.3}", ((t * t * 31 + channel * 17) % 101) as f64 / 8.0)
}

fn values(t: usize, n: usize, between: &str) -> String {
    let values: Vec<String> = (0..n).map(|channel| value(t, channel)).collect();
    values.join(between)
}

/// Reads a text; the first channel must hold `value(t, 0)`.
fn check(text: &str, names: &[&str], rate: Option<f64>, expected: &[&str]) -> Opened {
    let opened = open(Made::new().file("a.txt", text));
    let found = notes(&opened);
    let recording = &opened.recording;
    assert_eq!(recording.channel_names(), names, "{found:#?}");
    assert_eq!(recording.sampling_rate(), rate, "{found:#?}");
    for t in 0..recording.n_samples() {
        let expected: f64 = value(t, 0).parse().unwrap();
        let value = recording.observations()[(t, 0)];
        assert!(value == expected || value.is_nan(), "row {t}: {value}");
    }
    for note in expected {
        assert!(found.contains(&note.to_string()), "{note}\n{found:#?}");
    }
    let warnings = |notes: &[String]| {
        let warnings = notes.iter().filter(|note| note.starts_with("warning"));
        warnings.count()
    };
    let told: Vec<String> = expected.iter().map(ToString::to_string).collect();
    assert_eq!(warnings(&found), warnings(&told), "{found:#?}");
    opened
}

#[test]
fn openbci() {
    let head = "%OpenBCI Raw EXG Data\n%Number of channels = 4\n%Sample Rate = 250 Hz\n\
                %Board = OpenBCI_GUI$BoardGanglionBLE\n\
                Sample Index, EXG Channel 0, EXG Channel 1, Accel Channel 0, Other, Timestamp, \
                Timestamp (Formatted)\n";
    // The counter starts again, packets come in bursts.
    let text = text(head, 600, |t| {
        let burst = 1_618_000_000.0 + (t / 10) as f64 * 0.0401 + (t % 10) as f64 * 1e-6;
        format!(
            "{}.0, {}, 0.0, {burst:.6}, 2021-04-09 12:00:{:02}.{:03}",
            t % 256,
            values(t, 3, ", "),
            t / 250 % 60,
            t * 4 % 1000
        )
    });
    check(
        &text,
        &["EXG Channel 0", "EXG Channel 1", "Accel Channel 0", "Other"],
        Some(250.0),
        &[
            "delimiter: `,`, header in line 5, 4 comment lines before the table",
            "rate 250 Hz is taken from `Sample Rate = 250 Hz`",
            "column `Sample Index` numbers the rows and is left out",
            "column `Timestamp` holds times too and is left out",
            "column `Timestamp (Formatted)` is the time, in steps of 0.004 s: 250 Hz",
        ],
    );
}

#[test]
fn muse() {
    let head = "TimeStamp,RAW_TP9,RAW_AF7,HeadBandOn,Elements\n";
    let text = text(head, 300, |t| {
        let clock = format!(
            "2018-10-15 12:35:{:02}.{:03}",
            t / 20,
            (t % 20) * 50 + t * 7 % 5
        );
        match t % 100 {
            60 => format!("{clock},,,,/muse/elements/blink"),
            _ => format!("{clock},{},1,", values(t, 2, ",")),
        }
    });
    let opened = check(
        &text,
        &["RAW_TP9", "RAW_AF7", "HeadBandOn"],
        Some(20.0),
        &[
            "channel `Elements` is left out: it holds text",
            "channel `RAW_TP9`: 3 of 300 values are missing",
        ],
    );
    assert_eq!(opened.missing, [3, 3, 3]);
    let events: Vec<(f64, f64, &str)> = opened
        .events
        .iter()
        .map(|event| (event.onset, event.duration, event.name.as_str()))
        .collect();
    let blink = "/muse/elements/blink";
    assert_eq!(
        events,
        [(3.0, 0.0, blink), (8.0, 0.0, blink), (13.0, 0.0, blink)]
    );
    // A label in every row is one event for as long as it stays.
    let labelled = format!(
        "time,a,Label\n{}",
        (0..40)
            .map(|t| format!("{},{},{}\n", t as f64 / 10.0, value(t, 0), t / 20))
            .map(|line| line.replace(",0\n", ",rest\n").replace(",1\n", ",task\n"))
            .collect::<String>()
    );
    let opened = check(&labelled, &["a"], Some(10.0), &[]);
    assert_eq!(opened.events.len(), 2);
    assert_eq!(
        (opened.events[1].onset, opened.events[1].duration),
        (2.0, 2.0)
    );
    assert_eq!(opened.events[1].name, "task");
}

#[test]
fn biopac() {
    let head = "resting.acq\n0.5 msec/sample\n2 channels\nECG, X, RSPEC-R\nmV\nRSP, X\nVolts\n\
                min\tCH1\tCH2\t\n\t50\t50\t\n";
    let text = text(head, 50, |t| {
        format!("{:.9}\t{}\t", t as f64 / 120_000.0, values(t, 2, "\t"))
    });
    let opened = check(
        &text,
        &["ECG, X, RSPEC-R", "RSP, X"],
        Some(2000.0),
        &[
            "delimiter: tab, header in line 8, 7 lines of other text before the table",
            "rate 2000 Hz is taken from `0.5 msec/sample`",
            "line 9 counts the samples and is passed over",
            "every line ends with a delimiter; the empty last column is left out",
        ],
    );
    assert_eq!(opened.units[0].as_deref(), Some("mV"));
    assert_eq!(opened.recording.n_samples(), 50);
}

#[test]
fn labchart() {
    let head = "Interval=\t0.001 s\nExcelDateTime=\t4.3591000000000000e+004\t05/05/2019 00:00:00\n\
                TimeFormat=\tStartOfBlock\nDateFormat=\t\nChannelTitle=\tECG\tPulse\n\
                Range=\t10.000 V\t2.000 V\n";
    let text = text(head, 40, |t| {
        format!("{}\t{}", t as f64 / 1000.0, values(t, 2, "\t"))
    });
    check(
        &text,
        &["ECG", "Pulse"],
        Some(1000.0),
        &[
            "delimiter: tab, no header, 6 lines of other text before the table",
            "names are taken from the lines before the table",
            "rate 1000 Hz is taken from `Interval=\t0.001 s`",
            "column `time` is the time, in steps of 0.001 s: 1000 Hz",
        ],
    );
}

#[test]
fn empatica() {
    let expected = "the first two rows are the start in seconds since 1970 and the rate: 32 Hz";
    let head = "1544027337.000000, 1544027337.000000, 1544027337.000000\n\
                32.000000, 32.000000, 32.000000\n";
    let acceleration = text(head, 100, |t| values(t, 3, ","));
    let opened = check(
        &acceleration,
        &["ch1", "ch2", "ch3"],
        Some(32.0),
        &[expected],
    );
    assert_eq!(opened.recording.n_samples(), 100);
    let head = "1544027337.000000\n64.000000\n";
    let pulse = text(head, 100, |t| value(t, 0));
    let expected = "the first two rows are the start in seconds since 1970 and the rate: 64 Hz";
    check(&pulse, &["ch1"], Some(64.0), &[expected]);
    // Plain numbers that begin with a large one are left as they are.
    let opened = open(Made::new().file("a.csv", "1544027337\n64.5\n1\n3\n2\n"));
    assert_eq!(opened.recording.n_samples(), 5);
}

#[test]
fn prices_by_day() {
    let head = "Date,Open,High,Volume,Ticker\n";
    // Monday to Friday.
    let row = |t: usize| {
        let day = 1 + t + 2 * (t / 5);
        (
            2 + day / 28,
            1 + day % 28,
            format!("{},100{t},AAPL", values(t, 2, ",")),
        )
    };
    let unequal = "warning: column `Date` is taken as the time, but its steps are not equal: no \
                   rate is known and the rows are taken as equally spaced";
    let text_of = |date: &dyn Fn(usize, usize) -> String| {
        text(head, 60, |t| {
            let (month, day, rest) = row(t);
            format!("{},{rest}", date(month, day))
        })
    };
    let names = ["Open", "High", "Volume"];
    let left_out = "channel `Ticker` is left out: it holds text";
    for date in [
        &(|month: usize, day: usize| format!("2020-{month:02}-{day:02}"))
            as &dyn Fn(usize, usize) -> String,
        &|month, day| format!("{day:02}.{month:02}.2020"),
        &|month, day| format!("{month}/{day}/2020"),
        &|month, day| format!("{day}/{month}/2020"),
    ] {
        check(&text_of(date), &names, None, &[unequal, left_out]);
    }
    let open = "warning: column `Date` is taken as the time, but its days and months cannot be \
                told apart: no rate is known; write the dates as 2024-12-31, or give the rate";
    let both = text("Date,Open\n", 10, |t| {
        format!("{}/{}/2020,{}", t + 1, t + 1, value(t, 0))
    });
    check(&both, &["Open"], None, &[open]);
}

#[test]
fn climate_by_month_with_codes() {
    let text = text("month;temp;rain\n", 48, |t| {
        let rain = if t % 10 == 3 {
            "-999".into()
        } else {
            value(t, 1)
        };
        let (year, month) = (1990 + t / 12, 1 + t % 12);
        format!("{year}-{month:02};{};{rain}", value(t, 0))
    });
    let code = "warning: channel `rain`: 5 values are -999, far from all others: if that stands \
                for missing values, leave these empty or write NaN";
    let opened = check(
        &text,
        &["temp", "rain"],
        None,
        &[
            "column `month` is the time, in steps of a month; time is counted in samples",
            code,
        ],
    );
    // Nothing is repaired.
    assert_eq!(opened.missing, [0, 0]);
    assert_eq!(opened.recording.observations()[(3, 1)], -999.0);
}

#[test]
fn units_below_the_names_markers_and_decimal_commas() {
    let head = "Gerät: X3\nAbtastrate: 500 Hz\nZeit;EKG;Marke\n(s);(mV);\n";
    let text = text(head, 30, |t| {
        let line = format!("{:.3};{};{}", t as f64 / 500.0, value(t, 0), t / 10);
        line.replace('.', ",")
    });
    let opened = check(
        &text,
        &["EKG"],
        Some(500.0),
        &[
            "delimiter: `;`, decimal comma, header in line 3, 2 lines of other text before the table",
            "rate 500 Hz is taken from `Abtastrate: 500 Hz`",
            "channel `Marke` is left out: its name says that it holds events",
        ],
    );
    assert_eq!(opened.units, [Some("mV".to_string())]);
    // It is there when it is asked for.
    let made = Made::new();
    let options = ReadOptions {
        channels: Some("Marke".into()),
        ..ReadOptions::default()
    };
    let opened = read_recording(made.file("a.csv", &text), &options).unwrap();
    assert_eq!(opened.recording.observations()[(29, 0)], 2.0);
}

#[test]
fn columns_without_values_and_times_elsewhere() {
    let text = text("a,empty,b,clock,Unnamed: 4\n", 20, |t| {
        format!("{},,{},09:00:{:02}.5,x", value(t, 0), value(t, 1), t)
    });
    check(
        &text,
        &["a", "b"],
        Some(1.0),
        &[
            "column `clock` is the time, in steps of 1 s: 1 Hz",
            "channel `empty` is left out: it is empty",
            "channel `Unnamed: 4` is left out: it holds text",
        ],
    );
    let made = Made::new();
    let none = ReadOptions {
        time_column: Some(TimeColumn::Absent),
        ..ReadOptions::default()
    };
    let opened = read_recording(made.file("a.csv", &text), &none).unwrap();
    assert_eq!(opened.recording.sampling_rate(), None);
    let expected = "channel `clock` is left out: it holds dates";
    assert!(notes(&opened).contains(&expected.to_string()));
}

#[test]
fn gaps_in_the_time_and_rates_that_disagree() {
    let text_of = |head: &str| {
        text(head, 200, |t| {
            let gap = if t >= 90 { 2.0 } else { 0.0 };
            format!("{},{}", t as f64 / 100.0 + gap, values(t, 2, ","))
        })
    };
    let gap = "warning: column `time` is the time at 100 Hz with 1 gap, the longest of 2.01 s: the \
               rows before and behind a gap are joined as if there were none";
    check(&text_of("time,a,b\n"), &["a", "b"], Some(100.0), &[gap]);
    let differ = "warning: the lines before the table say 250 Hz, the time column 100 Hz: the time \
                  column is believed";
    let said = text_of("# fs = 250\ntime,a,b\n");
    check(&said, &["a", "b"], Some(100.0), &[gap, differ]);
    let several = "warning: the lines before the table name several rates: none is taken; give \
                   the rate";
    let text = text("# fs = 250\n# sampling rate: 500 Hz\na,b\n", 20, |t| {
        values(t, 2, ",")
    });
    check(&text, &["a", "b"], None, &[several]);
}

/// What `strt info` tells of the numbers.
#[test]
fn numbers_are_surveyed() {
    let made = Made::new();
    let text = text("a,flat,same,event,rain\n", 30, |t| {
        let missing = if t % 7 == 2 {
            String::new()
        } else {
            value(t, 0)
        };
        let rain = if t == 5 { "9999".into() } else { value(t, 3) };
        format!("{missing},5,{missing},{},{rain}", t % 3)
    });
    let path = made.file("a.csv", &text);
    let (summary, numbers) = survey(&path, &ReadOptions::default()).unwrap();
    let channels = numbers.unwrap().channels;
    assert_eq!(summary.channels.len(), 5);
    let of = |channel: usize| channels[channel].clone().unwrap();
    assert_eq!((of(0).n_missing, of(0).n_read), (4, 30));
    assert_eq!((of(0).is_flat, of(1).is_flat), (false, true));
    assert_eq!((of(2).duplicate_of, of(0).duplicate_of), (Some(0), None));
    assert_eq!(of(4).code, Some((9999.0, 1)));
    assert_eq!(channels[3], None);
    // A cell that is no number is told, and the rest is there.
    let path = made.file("b.csv", "a,b\n1,2\n3,x\n4,6\n");
    let (summary, numbers) = survey(&path, &ReadOptions::default()).unwrap();
    assert_eq!(summary.channels.len(), 2);
    assert!(
        numbers
            .unwrap_err()
            .to_string()
            .contains("line 3, column `b`")
    );
}
