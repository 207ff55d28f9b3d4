//! From sources to channels: the weights, what they leave over, and the assignment of sources to
//! branches.

use super::chart::{AxisStyle, Chart, Scale, Side, bars, heat_map};
use super::view::{Part, Section, Table};
use super::{source_name, source_numbers};
use crate::Report;
use crate::decimate::thinned;
use crate::number::{percent, significant};

/// Cells up to which a matrix is also given as a table.
const MOST_CELLS: usize = 600;

/// Cells of a heat map: beyond the resolution of a screen, and what keeps the page small for many
/// channels.
const MOST_MAP_CELLS: usize = 16_384;
/// Channels whose residual is shown.
const MOST_BARS: usize = 512;
/// Share of a channel's variance below which rounding alone is left of it.
const NOTHING: f64 = 1e-7;
/// Sources up to which a map of them fits half the page.
const MOST_NARROW: usize = 12;

/// How much of each source is in each channel.
pub fn weights(report: &Report<'_>) -> Section {
    let mixture = report.mixture();
    let n_channels = report.recording.n_channels();
    let numbers = source_numbers(report.n_sources());
    let shown = thinned(n_channels, MOST_MAP_CELLS / numbers.len());
    let names: Vec<String> = shown
        .iter()
        .map(|&c| report.recording.channel_names()[c].clone())
        .collect();
    let weights_of = |&c: &usize| mixture.weights.row(c).iter().copied().collect::<Vec<f64>>();
    let matrix: Vec<Vec<f64>> = shown.iter().map(weights_of).collect();
    let thinning = if shown.len() < n_channels {
        let n = shown.len();
        format!(" {n} of {n_channels} channels are shown, evenly spaced.")
    } else {
        String::new()
    };
    let about = match mixture.linear_share {
        None => {
            "The mixer is affine: these weights, with an offset for each channel, are all of it."
                .into()
        }
        Some(share) => format!(
            "The mixer is nonlinear, so no single matrix describes it. Shown is the linear map \
             from sources to reconstructed channels that fits best; it accounts for {} of the \
             reconstruction's variance.",
            percent(share)
        ),
    };
    let mut parts = vec![
        Part::Text(about),
        Part::Charts(vec![Chart {
            wide: numbers.len() > MOST_NARROW,
            ..heat_map(
                "Weight of each source in each channel",
                "Heat map of mixing weights, one row a channel and one column a source.",
                Side {
                    title: "channel",
                    names: &names,
                },
                Side {
                    title: "source",
                    names: &numbers,
                },
                matrix.clone(),
                Scale::Diverging,
            )
        }]),
        Part::Caption(format!(
            "In standard deviations of the channel per standard deviation of the source, so that \
             channels of different units can be compared. Red and blue are opposite signs; the \
             sign of a whole column is arbitrary.{thinning}"
        )),
    ];
    if names.len() * numbers.len() <= MOST_CELLS {
        parts.push(Part::Table(Table {
            title: "The weights as numbers".into(),
            header: std::iter::once("channel".into())
                .chain((0..numbers.len()).map(source_name))
                .collect(),
            rows: cells(&names, &matrix),
            folded: true,
        }));
    }
    Section {
        id: "mixing",
        title: "Mixing",
        folded: false,
        parts,
    }
}

/// What the reconstruction leaves of each channel.
pub fn residual(report: &Report<'_>) -> Section {
    let mixture = report.mixture();
    if mixture.residual.iter().all(|&share| share < NOTHING) {
        let words = "Nothing is left over: the sources reproduce every channel but for rounding, as \
                     they do wherever there are as many of them as independent channels.";
        return Section {
            id: "residual",
            title: "Reconstruction residual",
            folded: false,
            parts: vec![Part::Text(words.into())],
        };
    }
    let mut shown: Vec<usize> = (0..report.recording.n_channels()).collect();
    let mut which = "";
    if shown.len() > MOST_BARS {
        shown.sort_by(|&a, &b| mixture.residual[b].total_cmp(&mixture.residual[a]));
        shown.truncate(MOST_BARS);
        which = " Only the channels with the largest shares are shown.";
    }
    let names: Vec<String> = shown
        .iter()
        .map(|&c| report.recording.channel_names()[c].clone())
        .collect();
    let shares: Vec<f64> = shown.iter().map(|&c| 100.0 * mixture.residual[c]).collect();
    let rows = shown
        .iter()
        .zip(&names)
        .map(|(&c, name)| vec![name.clone(), percent(mixture.residual[c])]);
    let chart = bars(
        "Share of variance not explained",
        "Bar chart of the unexplained share of variance of every channel.",
        &names,
        &shares,
        "channel",
        AxisStyle::linear("% of variance"),
    );
    Section {
        id: "residual",
        title: "Reconstruction residual",
        folded: false,
        parts: vec![
            Part::Charts(vec![Chart {
                wide: true,
                ..chart
            }]),
            Part::Caption(format!(
                "Noise of the channels stays here, and so does whatever fewer sources than needed \
                 cannot express. A single high bar is a channel that shares little with the \
                 others; high bars throughout ask for more sources.{which}"
            )),
            Part::Table(Table {
                title: "Share of variance not explained, channel by channel".into(),
                header: vec!["channel".into(), "not explained".into()],
                rows: rows.collect(),
                folded: names.len() > 12,
            }),
        ],
    }
}

/// Which source fits which branch, and how clearly.
pub fn assignment(report: &Report<'_>) -> Section {
    let cost = report.separation.assignment_cost();
    let numbers = source_numbers(report.n_sources());
    let matrix: Vec<Vec<f64>> = (0..cost.nrows())
        .map(|k| cost.row(k).iter().copied().collect())
        .collect();
    let margin = report.separation.assignment_margin();
    let verdict = match margin {
        _ if report.n_sources() == 1 => "With one source there is nothing to exchange.".into(),
        m if m > 0.0 => format!(
            "The present assignment is the cheapest: any exchange of sources would cost at least \
             {} more.",
            significant(m, 3)
        ),
        m if m.is_finite() => format!(
            "Another assignment would be cheaper by {}. A run orders its sources by time scale, \
             which need not be the cheapest order: prediction of a slow source can profit most \
             from short patches.",
            significant(-m, 3)
        ),
        _ => "The costs are not finite.".into(),
    };
    let mut parts = vec![
        Part::Text(verdict),
        Part::Charts(vec![Chart {
            wide: numbers.len() > MOST_NARROW,
            ..heat_map(
                "Assignment cost H, networks going with their sources",
                "Heat map of the cost of giving each source to each branch.",
                Side {
                    title: "branch",
                    names: &numbers,
                },
                Side {
                    title: "source",
                    names: &numbers,
                },
                matrix.clone(),
                Scale::Sequential { range: None },
            )
        }]),
        Part::Caption(
            "H is the prediction error of a source under its own networks, weighted by the patch \
             sizes that a branch looks at: a network goes with its source, as in the moves of a \
             run. The assignment is clear where the diagonal is dark and the rest of its row and \
             column bright; the margin Δ says how clear. The H of the paper's theorem is another \
             one: there every source is judged by the networks of the branch, which `strt energy` \
             shows."
                .into(),
        ),
    ];
    if numbers.len() * numbers.len() <= MOST_CELLS {
        let branches: Vec<String> = numbers
            .iter()
            .map(|number| format!("branch {number}"))
            .collect();
        parts.push(Part::Table(Table {
            title: format!(
                "The costs as numbers; margin Δ = {}",
                significant(margin, 3)
            ),
            header: std::iter::once("branch".into())
                .chain((0..numbers.len()).map(source_name))
                .collect(),
            rows: cells(&branches, &matrix),
            folded: true,
        }));
    }
    Section {
        id: "assignment",
        title: "Assignment of sources to branches",
        folded: true,
        parts,
    }
}

fn cells(names: &[String], matrix: &[Vec<f64>]) -> Vec<Vec<String>> {
    let numbers = |row: &Vec<f64>| {
        row.iter()
            .map(|&value| significant(value, 3))
            .collect::<Vec<_>>()
    };
    names
        .iter()
        .zip(matrix)
        .map(|(name, row)| std::iter::once(name.clone()).chain(numbers(row)).collect())
        .collect()
}
