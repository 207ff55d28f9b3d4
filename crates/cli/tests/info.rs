//! `strt info` on recordings: what it tells, in few lines and in JSON.

mod common;

use common::{Place, fixture};
use serde_json::json;

/// A table of so many rows; `cell(t, channel)`.
fn table(names: &[String], rows: usize, cell: impl Fn(usize, usize) -> String) -> String {
    let row = |t| {
        let cells: Vec<String> = (0..names.len()).map(|channel| cell(t, channel)).collect();
        cells.join(",") + "\n"
    };
    let rows: String = (0..rows).map(row).collect();
    format!("{}\n{rows}", names.join(","))
}

fn value(t: usize, channel: usize) -> String {
    ((t * t * 7 + channel * channel * 3 + t * channel) % 1009).to_string()
}

#[test]
fn numbers_are_told() {
    let place = Place::new();
    let names = ["time", "Fz", "flat", "copy", "Marker"].map(String::from);
    let text = table(&names, 500, |t, channel| match channel {
        0 => (t as f64 / 100.0).to_string(),
        2 => "3".into(),
        4 => "go".into(),
        _ if t == 7 => "NA".into(),
        _ => value(t, 1),
    });
    place.write("a.csv", text);
    let told = place.done(&["info", "a.csv"]).stdout;
    let expected = "\
a.csv: text (CSV, TSV)
  delimiter: `,`, header in line 1
  column `time` is the time, in steps of 0.01 s: 100 Hz

channels   3, 1 left out
length     5 s, 500 samples at 100 Hz
missing    2 values (0.13 %), in Fz (1), copy (1)
flat       flat
duplicate  copy = Fz
events     1: go (1)

channel    name  samples    rate  unit
1            Fz      500  100 Hz     -                1 missing
2          flat      500  100 Hz     -                     flat
3          copy      500  100 Hz     -  1 missing, same as Fz
4        Marker      500  100 Hz     -  left out: it holds text
";
    let plain = |text: &str| -> Vec<String> {
        let lines = text.lines();
        lines
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    assert_eq!(plain(&told), plain(expected), "{told}");

    let json = place.done(&["info", "a.csv", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["samples"], 500);
    assert_eq!(json["seconds"], 5.0);
    assert_eq!(json["sampling_rate"], 100.0);
    assert_eq!(json["channels"][0]["missing"], 1);
    assert_eq!(json["channels"][1]["flat"], true);
    assert_eq!(json["channels"][2]["duplicate_of"], "Fz");
    assert_eq!(json["channels"][3]["left_out"], "it holds text");
    assert_eq!(json["layout"]["transposed"], false);
    assert_eq!(json["events"][0], json!({ "name": "go", "count": 1 }));
    assert_eq!(json["problem"], serde_json::Value::Null);

    let told = place.done(&["info", "a.csv", "--header-only"]).stdout;
    assert!(
        !told.contains("missing") && !told.contains("duplicate"),
        "{told}"
    );
    assert!(told.contains("length     5 s"), "{told}");
}

#[test]
fn many_channels_are_told_in_groups() {
    let place = Place::new();
    let names: Vec<String> = (1..=300).map(|i| format!("MEG{i}")).collect();
    let text = table(&names, 400, |t, channel| match channel {
        99 => "0".into(),
        _ => value(t, channel),
    });
    place.write("a.csv", text);
    let told = place.done(&["info", "a.csv"]).stdout;
    assert!(told.lines().count() < 20, "{told}");
    for words in [
        "MEG1 … MEG99",
        "MEG101 …",
        "flat       MEG100",
        "--all lists every channel",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let all = place.done(&["info", "a.csv", "--all"]).stdout;
    assert!(all.lines().count() > 300 && all.contains("MEG250"), "{all}");
}

#[test]
fn what_cannot_be_read_is_told_with_the_rest() {
    let place = Place::new();
    place.write("a.csv", "a,b\n1,2\n3,x\n4,6\n");
    let told = place.done(&["info", "a.csv"]).stdout;
    assert!(
        told.contains("problem: a.csv: line 3, column `b`"),
        "{told}"
    );
    assert!(
        told.contains("length     3 samples, rate unknown (--rate gives it)"),
        "{told}"
    );
    // Channels of several rates, each looked at.
    let told = place.done(&["info", &fixture("rates.edf")]).stdout;
    assert!(told.contains("channels of several rates"), "{told}");
    assert!(
        told.contains("10 Hz") && told.contains("missing    no values"),
        "{told}"
    );
}

#[test]
fn the_layout_is_told() {
    let place = Place::new();
    let line = |channel: usize| -> String {
        let cells: Vec<String> = (0..900).map(|t| value(t, channel)).collect();
        cells.join(" ") + "\n"
    };
    place.write("a.txt", (0..4).map(line).collect::<String>());
    let told = place.done(&["info", "a.txt"]).stdout;
    assert!(
        told.contains("900 samples × 4 channels; columns are samples"),
        "{told}"
    );
    let json = place.done(&["info", "a.txt", "--json"]).stdout;
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    let expected = json!({ "rows": 4, "columns": 900, "transposed": true });
    assert_eq!(found["layout"], expected);
    let told = place.done(&["info", "a.txt", "--transpose=no"]).stdout;
    assert!(
        told.contains("900\n") || told.contains("channels   900"),
        "{told}"
    );
    let ran = place.strt(&["info", "a.txt", "--transpose=perhaps"]);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
}

/// No run takes so many channels: whoever looks first is told so.
#[test]
fn more_channels_than_are_read_at_once() {
    let place = Place::new();
    let names: Vec<String> = (0..4097).map(|channel| format!("v{channel}")).collect();
    place.write("wide.csv", table(&names, 3, value));
    let told = place.done(&["info", "wide.csv"]).stdout;
    let expected =
        "channels   4097: more than the 4096 that are read at once (--channels takes some)";
    assert!(told.contains(expected), "{told}");
}
