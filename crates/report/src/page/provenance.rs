//! Where the result comes from: number of sources, configuration, command and versions.

use super::chart::{AxisStyle, Places, Series, lines};
use super::view::{Part, Section, Table};
use crate::number::{grouped, significant};
use crate::{Report, palette};
use strt_io::config_to_toml;
use strt_runs::results::count::ComponentSummary;

/// Eigenvalues that are drawn; the rest is noise by any method.
const MOST_EIGENVALUES: usize = 256;

/// Why there are as many sources as there are; `None` when the number was given.
pub fn source_count(report: &Report<'_>) -> Option<Section> {
    let estimate = report.summary().source_count.as_ref()?;
    let shown = &estimate.eigenvalues[..estimate.eigenvalues.len().min(MOST_EIGENVALUES)];
    let mut parts = vec![Part::Text(format!(
        "{}: {} sources. {}",
        estimate.method,
        grouped(estimate.n_sources),
        estimate.reasoning
    ))];
    if !estimate.components.is_empty() {
        parts.extend(evidence(&estimate.components));
    }
    if !shown.is_empty() {
        let series = |name: &str, color: String, range: std::ops::Range<usize>| Series {
            name: name.into(),
            x: Places::Even {
                first: (range.start + 1) as f64,
                step: 1.0,
            },
            y: shown[range].to_vec(),
            color,
            width: 2.0,
        };
        let kept = estimate.n_sources.min(shown.len());
        // The second line starts where the first ends, so that the curve has no hole.
        let rest = kept.saturating_sub(1)..shown.len();
        parts.push(Part::Charts(vec![lines(
            "Eigenvalues of the channels' covariance",
            "Line chart of the eigenvalues in descending order, on a logarithmic axis.",
            vec![
                series("left out", palette::NEUTRAL.into(), rest),
                series("kept", palette::source(0, 1), 0..kept),
            ],
            AxisStyle::linear("component"),
            AxisStyle::log("eigenvalue"),
        )]));
        parts.push(Part::Caption(
            "The coloured part of the curve was kept. A number is well founded when the curve has \
             a step or an elbow behind it."
                .into(),
        ));
        let rows = shown
            .iter()
            .enumerate()
            .map(|(i, &value)| vec![(i + 1).to_string(), significant(value, 4)]);
        parts.push(Part::Table(Table {
            title: "The eigenvalues as numbers".into(),
            header: vec!["component".into(), "eigenvalue".into()],
            rows: rows.collect(),
            folded: true,
        }));
    }
    Some(Section {
        id: "count",
        title: "Number of sources",
        folded: true,
        parts,
    })
}

/// How far the components stand out of noise, as a chart and as numbers.
fn evidence(components: &[ComponentSummary]) -> [Part; 3] {
    let ratio = |component: &ComponentSummary| component.strength / component.limit;
    let series = |name: &str, y: Vec<f64>, color: String| Series {
        name: name.into(),
        x: Places::Even {
            first: 1.0,
            step: 1.0,
        },
        y,
        color,
        width: 2.0,
    };
    let chart = lines(
        "How far components stand out of noise",
        "Line chart of the structure of each component in units of what noise stays below, on a \
         logarithmic axis.",
        vec![
            series(
                "noise stays below",
                vec![1.0; components.len()],
                palette::NEUTRAL.into(),
            ),
            series(
                "structure",
                components.iter().map(ratio).collect(),
                palette::source(0, 1),
            ),
        ],
        AxisStyle::whole("component", components.len()),
        AxisStyle::log("structure"),
    );
    let rows = components.iter().enumerate().map(|(i, component)| {
        let decision = match (component.kept, component.replicated) {
            (true, true) => "in both halves",
            (true, false) => "source",
            (false, _) => "noise",
        };
        vec![
            (i + 1).to_string(),
            component.witness.clone(),
            significant(component.strength, 3),
            significant(component.limit, 3),
            decision.into(),
        ]
    });
    let header = [
        "component",
        "seen by",
        "strength",
        "noise below",
        "taken for",
    ];
    [
        Part::Charts(vec![chart]),
        Part::Caption(
            "Components are taken out one after the other, until the strongest that is left could \
             be noise."
                .into(),
        ),
        Part::Table(Table {
            title: "The components as numbers".into(),
            header: header.map(String::from).into(),
            rows: rows.collect(),
            folded: true,
        }),
    ]
}

/// The configuration of the run.
pub fn configuration(report: &Report<'_>) -> Section {
    let parts = vec![
        Part::Text("Every value of the run, defaults included.".into()),
        Part::Code(config_to_toml(report.separation.config())),
    ];
    Section {
        id: "configuration",
        title: "Configuration",
        folded: true,
        parts,
    }
}

/// How to get the same result again.
pub fn reproduction(report: &Report<'_>) -> Section {
    let (summary, input) = (report.summary(), report.summary().input.name());
    let mut parts = Vec::new();
    match summary.command.as_str() {
        "" => parts.push(Part::Text("The command was not recorded.".into())),
        command => {
            parts.push(Part::Text(
                "The same command on the same file gives the same sources, at any number of \
                 threads."
                    .into(),
            ));
            parts.push(Part::Code(command.into()));
        }
    }
    let mut facts = vec![format!(
        "Seed of the run that was kept: {}",
        report.separation.seed()
    )];
    facts.extend((!input.is_empty()).then(|| format!("Input: {input}")));
    facts.extend(summary.input.notes.iter().cloned());
    facts.extend(summary.versions.lines());
    parts.push(Part::List(facts));
    if report.separation.restarts().len() > 1 {
        parts.push(Part::Table(restarts(report)));
    }
    Section {
        id: "reproduce",
        title: "How to reproduce this run",
        folded: false,
        parts,
    }
}

fn restarts(report: &Report<'_>) -> Table {
    let rows = report.separation.restarts().iter().map(|restart| {
        let kept = if restart.restart == report.separation.restart() {
            "kept"
        } else {
            ""
        };
        vec![
            (restart.restart + 1).to_string(),
            restart.seed.to_string(),
            significant(restart.objective, 6),
            if restart.converged { "yes" } else { "no" }.into(),
            restart
                .agreement
                .map_or_else(String::new, |agreement| significant(agreement, 3)),
            kept.into(),
        ]
    });
    Table {
        title: "Restarts; the one with the lowest objective is kept".into(),
        header: [
            "restart",
            "seed",
            "objective",
            "settled",
            "in common with the kept one",
            "",
        ]
        .map(String::from)
        .into(),
        rows: rows.collect(),
        folded: false,
    }
}
