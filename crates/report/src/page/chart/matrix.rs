//! Charts of matrices and of one value for each name: heat maps and bars.

use super::{AxisStyle, Chart, VALUE_DIGITS, chart};
use crate::number::ChartNumber;
use serde_json::json;

/// Digits of a cell: more than colours can show.
const CELL_DIGITS: i32 = 4;

/// The colours of a heat map.
pub enum Scale {
    /// From little to much: Cividis, dark to bright.
    Sequential {
        /// The ends, or those of the data.
        range: Option<(f64, f64)>,
    },
    /// Symmetric about 0: ColorBrewer's red and blue, which all kinds of colour vision can tell
    /// apart.
    Diverging,
}

/// The names along one side of a heat map.
pub struct Side<'a> {
    /// What they are.
    pub title: &'a str,
    /// One for each row or column.
    pub names: &'a [String],
}

/// A matrix as colours, rows from top to bottom. Crowded names are thinned out; the pointer tells
/// each.
pub fn heat_map(
    title: &str,
    description: &str,
    y: Side<'_>,
    x: Side<'_>,
    z: Vec<Vec<f64>>,
    scale: Scale,
) -> Chart {
    let height = (y.names.len() * 26).clamp(180, 640) + 64;
    let finite = || {
        z.iter()
            .flatten()
            .copied()
            .filter(|value| value.is_finite())
    };
    let (diverging, (low, high)) = match scale {
        Scale::Sequential { range: Some(range) } => (false, range),
        Scale::Sequential { range: None } => (
            false,
            finite().fold((f64::INFINITY, f64::NEG_INFINITY), |range, value| {
                (range.0.min(value), range.1.max(value))
            }),
        ),
        Scale::Diverging => {
            let largest = finite().fold(0.0, |most: f64, value| most.max(value.abs()));
            (true, (-largest, largest))
        }
    };
    let z: Vec<Vec<ChartNumber>> = z
        .iter()
        .map(|row| ChartNumber::all(row, CELL_DIGITS))
        .collect();
    let spec = json!({
        "kind": "heat", "diverging": diverging,
        "range": ChartNumber::all(&[low, high], VALUE_DIGITS),
        "x": { "title": x.title, "names": x.names },
        "y": { "title": y.title, "names": y.names },
        "z": z,
    });
    chart(title, description, height, &spec)
}

/// One bar for each name.
pub fn bars(
    title: &str,
    description: &str,
    names: &[String],
    heights: &[f64],
    x: &str,
    y: AxisStyle,
) -> Chart {
    let spec = json!({
        "kind": "bars", "names": names, "heights": ChartNumber::all(heights, VALUE_DIGITS),
        "x": { "title": x }, "y": y,
    });
    chart(title, description, 300, &spec)
}
