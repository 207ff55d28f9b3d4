//! A table whose rows are samples: what each of its columns is.
//!
//! In: names and what the first pass found. Out: the channels, those that are no signals marked as
//! left out, the rate, and notes. Times and numbers of rows are no channels at all.

use super::Plan;
use super::dates::Times;
use super::grid::Grid;
use super::scan::{Held, Scan, Text};
use crate::read::events::Event;
use crate::read::table::{Channel, Contents};
use crate::read::time::{self, Axis};
use crate::read::{Note, ReadOptions, TimeColumn};

/// Rates of the two places that may name one may differ by so much: clocks of devices do.
const SAME_RATE: f64 = 0.01;

/// Makes the channels.
pub(super) fn channels(
    contents: &mut Contents,
    plan: &Plan,
    found: &mut Scan,
    options: &ReadOptions,
) -> Grid {
    let names = &plan.names;
    let n_columns = without_empty_end(contents, plan, found);
    let (left_out, rate) = times(contents, plan, found, options);
    let mut channels = Vec::with_capacity(found.n_columns);
    for column in 0..found.n_columns {
        if left_out.contains(&column) || column >= n_columns {
            channels.push(None);
            continue;
        }
        let position = contents.channels.len();
        channels.push(Some(position));
        let name = names.get(column).filter(|name| !name.is_empty());
        let unit = plan.units.as_ref().and_then(|units| units.get(column));
        contents.channels.push(Channel {
            left_out: no_signal(found.columns[column], name),
            name: name
                .cloned()
                .unwrap_or_else(|| format!("ch{}", position + 1)),
            unit: unit.filter(|unit| !unit.is_empty()).cloned(),
            rate,
            n_samples: found.n_rows,
            ..Channel::default()
        });
    }
    if let Some(rate) = rate {
        contents.events = events(plan, found, rate);
    }
    Grid::Columns(channels)
}

/// The texts of columns that are called events, or hold a text now and then. The same text in
/// several rows is one event that lasts.
fn events(plan: &Plan, found: &Scan, rate: f64) -> Vec<Event> {
    let tells_events = |column: usize| {
        let held = found.columns[column];
        let name = plan.names.get(column);
        !held.has_number
            && (name.is_some_and(|name| time::names_events(name))
                || 2 * held.n_texts < found.n_rows)
    };
    let texts = found.texts.iter().filter(|text| tells_events(text.column));
    let event = |text: &Text| Event {
        onset: text.row as f64 / rate,
        duration: if text.n_rows == 1 {
            0.0
        } else {
            text.n_rows as f64 / rate
        },
        name: text.text.clone(),
    };
    texts.map(event).collect()
}

/// The columns without an empty last one, which a delimiter at the end of every line makes.
fn without_empty_end(contents: &mut Contents, plan: &Plan, found: &Scan) -> usize {
    let has_end = found.n_columns > 1
        && found.last_is_empty
        && plan.names.last().is_none_or(|last| last.is_empty());
    if has_end {
        contents.detected("every line ends with a delimiter; the empty last column is left out");
    }
    found.n_columns - usize::from(has_end)
}

/// Why a column is no signal.
fn no_signal(held: Held, name: Option<&String>) -> Option<&'static str> {
    match held {
        Held {
            has_number: false,
            n_texts: 1..,
            ..
        } => Some("it holds text"),
        Held {
            has_number: false,
            n_dates: 1..,
            ..
        } => Some("it holds dates"),
        Held {
            has_number: false, ..
        } => Some("it is empty"),
        _ => name
            .is_some_and(|name| time::names_events(name))
            .then_some("its name says that it holds events"),
    }
}

/// The columns that are times or numbers of the rows, and the rate.
fn times(
    contents: &mut Contents,
    plan: &Plan,
    found: &mut Scan,
    options: &ReadOptions,
) -> (Vec<usize>, Option<f64>) {
    let named = matches!(options.time_column, Some(TimeColumn::Named(_)));
    let is_only = found.n_columns < 2;
    let mut axes: Vec<(usize, Axis)> = Vec::new();
    for (at, moments) in std::mem::take(&mut found.times) {
        let name = plan.names.get(at).map(String::as_str);
        let shown = shown(plan, at);
        let axis = match (moments.settled(), name) {
            (Times::Open, _) => time::open_dates(&shown),
            (Times::Seconds(values), _) => time::in_seconds(&shown, &values),
            (Times::Numbers(values), Some(name)) if named => time::asked(name, &values),
            (Times::Numbers(values), Some(name)) => time::judge_named(name, &values),
            (Times::Numbers(values), None) if at == 0 && !is_only => time::judge_unnamed(&values),
            _ => Axis::Channel,
        };
        axes.push((at, axis));
    }
    axes.retain(|(_, axis)| *axis != Axis::Channel);
    let left_out: Vec<usize> = axes.iter().map(|(at, _)| *at).collect();
    let with_rate = axes
        .iter()
        .position(|(_, axis)| matches!(axis, Axis::Time(Some(_), _)));
    let mut rate = None;
    for (i, (at, axis)) in axes.into_iter().enumerate() {
        let is_another = with_rate.is_some_and(|first| first != i);
        if is_another && matches!(axis, Axis::Time(..)) {
            let name = shown(plan, at);
            contents.detected(format!("column `{name}` holds times too and is left out"));
        } else if let Some(Some(found)) = axis.settle(contents) {
            rate = Some(found);
        }
    }
    (left_out, agreed(contents, rate, plan))
}

/// What to call a column: its name, or its number from 1.
fn shown(plan: &Plan, at: usize) -> String {
    let name = plan.names.get(at).filter(|name| !name.is_empty());
    name.cloned().unwrap_or_else(|| (at + 1).to_string())
}

/// The rate of the time column, or else the one that stands before the table.
fn agreed(contents: &mut Contents, of_column: Option<f64>, plan: &Plan) -> Option<f64> {
    let said = plan.start.rate.or(plan.said.rate);
    if let (Some(of_column), Some(said)) = (of_column, said)
        && (of_column / said - 1.0).abs() > SAME_RATE
    {
        contents.notes.push(Note::warning(format!(
            "the lines before the table say {said} Hz, the time column {of_column} Hz: the time \
             column is believed"
        )));
    }
    of_column.or(said)
}
