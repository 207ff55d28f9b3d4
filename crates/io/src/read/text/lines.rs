//! A text with a line a channel: whether it is one, and what its lines are.
//!
//! In: what the first pass found. Out: which way round the table lies, and the channels where lines
//! are channels. Names of columns that are words decide that columns are channels; texts at the
//! beginning of all lines, under numbers or nothing, that lines are. Otherwise the shape decides
//! ([`layout`]).

use super::Plan;
use super::cells::{Cell, judge};
use super::grid::Grid;
use super::scan::Scan;
use crate::read::layout::{self, Evidence, Layout};
use crate::read::table::{Channel, Contents};
use crate::read::time;
use crate::read::{Note, NoteKind, ReadOptions, TimeColumn};
use std::collections::HashSet;

/// With so few rows equal steps in a column may be chance.
const FEW_ROWS: usize = 8;

/// Decides which way round the table lies; the note is of a decision that has to be said.
pub(super) fn layout(plan: &Plan, found: &Scan, options: &ReadOptions) -> (Layout, Option<Note>) {
    let first = usize::from(found.is_labelled());
    let shape = (found.n_rows, found.n_columns - first);
    let as_it_is = |transposed| Layout { shape, transposed };
    if options.transpose == Some(false) {
        return (as_it_is(false), None);
    }
    let is_asked = options.transpose == Some(true);
    let names_are_words = !plan.names.is_empty() && numbers(plan, first).is_none();
    let time_is_named = matches!(options.time_column, Some(TimeColumn::Named(_)));
    if !is_asked && (names_are_words || time_is_named || has_time_column(found, shape)) {
        return (as_it_is(false), None);
    }
    let mut evidence = Vec::new();
    let distinct: HashSet<&String> = found.labels.iter().collect();
    if found.is_labelled() && distinct.len() == found.n_rows && shape.1 > shape.0 {
        evidence.push(Evidence::Names("the first column".into(), found.n_rows));
    }
    let (layout, note) = layout::decide(shape, options.transpose, &evidence, "");
    let is_worth_saying = layout.transposed || note.kind == NoteKind::Warning;
    (layout, is_worth_saying.then_some(note))
}

/// Whether the first column of a table without names is plainly the time.
fn has_time_column(found: &Scan, (rows, columns): (usize, usize)) -> bool {
    let is_chance = rows <= FEW_ROWS && columns >= 4 * rows;
    let first = found.times.first().filter(|(at, _)| *at == 0);
    !is_chance && first.is_some_and(|(_, moments)| moments.are_even())
}

/// The names of the columns from `first` on, where they are all numbers.
fn numbers(plan: &Plan, first: usize) -> Option<Vec<f64>> {
    let names = plan.names.get(first..)?;
    let number = |name: &String| match judge(name.as_bytes(), plan.dialect.decimal_comma) {
        Cell::Number(number) => Some(number),
        _ => None,
    };
    let numbers: Option<Vec<f64>> = names.iter().map(number).collect();
    numbers.filter(|numbers| !numbers.is_empty())
}

/// Makes the channels of a text with a line a channel.
pub(super) fn channels(contents: &mut Contents, plan: &Plan, found: &Scan) -> Grid {
    let first_column = usize::from(found.is_labelled());
    let has_end = found.last_is_empty && found.n_columns > first_column + 1;
    if has_end {
        contents.detected("every line ends with a delimiter; the empty last column is left out");
    }
    let samples = first_column..found.n_columns - usize::from(has_end);
    let (times, place, of_header) = match plan.start.header {
        Some((line, _)) => (numbers(plan, first_column), format!("line {line}"), true),
        None => (
            Some(found.first_row[samples.clone()].to_vec()),
            format!("line {}", plan.first_row_line),
            false,
        ),
    };
    let mut first = 0;
    let mut rate = plan.start.rate.or(plan.said.rate);
    if let Some((of_line, note)) = times
        .filter(|times| times.len() > FEW_ROWS)
        .and_then(|times| time_line(&times, &place))
    {
        first = usize::from(!of_header);
        rate = of_line.or(rate);
        contents.notes.push(note);
    } else if of_header {
        contents.detected(format!("{place} names the samples and is not used"));
    }
    for row in first..found.n_rows {
        let label = found.labels.get(row).filter(|_| found.is_labelled());
        let label = label.map(|label| label.trim().to_string());
        contents.channels.push(Channel {
            name: label
                .filter(|label| !label.is_empty())
                .unwrap_or_else(|| format!("ch{}", row - first + 1)),
            rate,
            n_samples: samples.len(),
            ..Channel::default()
        });
    }
    Grid::Lines { first, samples }
}

/// Whether the numbers of a line are times, or count the samples.
fn time_line(values: &[f64], place: &str) -> Option<(Option<f64>, Note)> {
    let counts = values.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
    if counts && values[0].fract() == 0.0 {
        let text = format!("{place} numbers the samples and is left out");
        return Some((None, Note::detected(text)));
    }
    let (rate, note) = time::unnamed_rate(place, values)?;
    Some((Some(rate), note))
}
