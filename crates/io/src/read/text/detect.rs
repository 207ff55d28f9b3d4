//! How a text is written: delimiter, decimal comma, comments, whether a line holds names. Decided
//! from its first lines and never changed afterwards; what does not fit later is an error with its
//! line.

use super::cells::{Cell, Delimiter, judge};
use super::rows::cells;

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub delimiter: Delimiter,
    pub decimal_comma: bool,
}

/// What can stand between cells, and whether numbers may have a decimal comma; the first of equals
/// is taken.
const DIALECTS: [(Delimiter, bool); 9] = [
    (Delimiter::Byte(b'\t'), false),
    (Delimiter::Byte(b';'), false),
    (Delimiter::Byte(b','), false),
    (Delimiter::Byte(b'|'), false),
    (Delimiter::Space, false),
    (Delimiter::None, false),
    (Delimiter::Byte(b'\t'), true),
    (Delimiter::Byte(b';'), true),
    (Delimiter::Space, true),
];

/// Whether a line is for people only.
pub(super) fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), Some(b'#' | b'%'))
}

/// The way of writing under which most lines have the same number of cells and most cells are
/// numbers.
pub(super) fn dialect(lines: &[(u64, Vec<u8>)], asked: Option<char>) -> Dialect {
    let asked = asked.map(|delimiter| match delimiter {
        ' ' => Delimiter::Space,
        other => Delimiter::Byte(u8::try_from(other).unwrap_or(b',')),
    });
    let mut best = (0.0, asked.unwrap_or(Delimiter::None), false);
    let own = asked.map(|delimiter| [(delimiter, false), (delimiter, true)]);
    for &(delimiter, decimal_comma) in own.as_ref().map_or(&DIALECTS[..], |own| &own[..]) {
        let score = score(lines, delimiter, decimal_comma, asked.is_some());
        if score > best.0 {
            best = (score, delimiter, decimal_comma);
        }
    }
    Dialect {
        delimiter: best.1,
        decimal_comma: best.2,
    }
}

fn score(lines: &[(u64, Vec<u8>)], delimiter: Delimiter, decimal_comma: bool, asked: bool) -> f64 {
    let lines: Vec<Vec<Vec<u8>>> = lines
        .iter()
        .map(|(_, line)| cells(line, delimiter))
        .collect();
    let mut counts: Vec<usize> = lines.iter().map(Vec::len).collect();
    counts.sort_unstable();
    let longest = counts.chunk_by(|a, b| a == b).max_by_key(|run| run.len());
    let Some(run) = longest else { return 0.0 };
    if run[0] < 2 && delimiter != Delimiter::None && !asked {
        return 0.0;
    }
    // Other lines stand before the table; lines without any value are names, or text too.
    let (mut good, mut all) = (0, 0);
    for line in lines.iter().filter(|line| line.len() == run[0]) {
        let judged = line.iter().map(|cell| judge(cell, decimal_comma));
        let (n_good, n_values) = judged.fold((0, 0), |(good, values), cell| match cell {
            Cell::Text => (good, values),
            Cell::Missing => (good + 1, values),
            _ => (good + 1, values + 1),
        });
        if n_values > 0 {
            good += n_good;
            all += line.len();
        }
    }
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    share(run.len(), lines.len()) * share(good, all)
}

/// Whether a first line holds names: nothing in it is a number, or it starts with a word, or (as
/// pandas writes it) it counts the columns, after an empty cell or above a line of numbers that are
/// not whole.
pub(super) fn is_header(line: &[u8], next: Option<&[u8]>, dialect: Dialect) -> bool {
    let judged: Vec<Cell> = cells(line, dialect.delimiter)
        .iter()
        .map(|cell| judge(cell, dialect.decimal_comma))
        .collect();
    let number = |cell: &Cell| matches!(cell, Cell::Number(_) | Cell::Infinite | Cell::Instant(_));
    let count_from = |first: f64, cells: &[Cell]| {
        let mut cells = cells.iter().enumerate();
        cells.all(|(i, cell)| *cell == Cell::Number(i as f64 + first))
    };
    let counts =
        || judged.len() > 1 && (count_from(0.0, &judged[1..]) || count_from(1.0, &judged[1..]));
    let above_fractions = || {
        let fraction = |cell: &Vec<u8>| {
            let judged = judge(cell, dialect.decimal_comma);
            matches!(judged, Cell::Number(number) if number.fract() != 0.0)
        };
        next.is_some_and(|line| cells(line, dialect.delimiter).iter().all(fraction))
    };
    match judged.first() {
        Some(Cell::Text) => true,
        Some(Cell::Missing) => {
            counts() || (!judged.iter().any(number) && judged.contains(&Cell::Text))
        }
        _ => judged.len() > 1 && count_from(0.0, &judged) && above_fractions(),
    }
}
