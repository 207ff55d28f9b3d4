//! What came out, as Markdown tables.

use super::Judged;
use std::fmt::Write;
use strtransformer::verdict::Finding;

/// Bounds of the classes of error bars.
const BARS: [f64; 6] = [0.0, 0.05, 0.1, 0.2, 0.32, 1.01];

/// All tables.
pub fn all(sources: &[Judged]) -> String {
    let cost: f64 = one_a_problem(sources).map(|s| s.verdict_seconds).sum();
    let runs: f64 = one_a_problem(sources).map(|s| s.run_seconds).sum();
    format!(
        "{}\n{}\nVerdicts took {:.1} % of the time of the runs.\n",
        findings(sources),
        error_bars(sources),
        100.0 * cost / runs
    )
}

fn one_a_problem(sources: &[Judged]) -> impl Iterator<Item = &Judged> {
    sources.iter().filter(|s| s.source == 1)
}

/// `3 of 4 (75 %)`.
fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => "-".into(),
        n => format!("{part} of {n} ({:.0} %)", 100.0 * part as f64 / n as f64),
    }
}

/// By family and length, how many findings are right.
fn findings(sources: &[Judged]) -> String {
    let mut table = String::from(
        "| family | T | resolved, and right | not resolved, and right | of these mixed / not \
         replicated / noise |\n|---|---|---|---|---|\n",
    );
    let mut groups: Vec<(&str, usize)> = sources.iter().map(|s| (s.family, s.samples)).collect();
    groups.dedup();
    for (family, samples) in groups {
        let of = |s: &&Judged| s.family == family && s.samples == samples;
        row(
            &mut table,
            family,
            &samples.to_string(),
            sources.iter().filter(of),
        );
    }
    row(&mut table, "**all**", "", sources.iter());
    table
}

fn row<'a>(
    table: &mut String,
    family: &str,
    samples: &str,
    sources: impl Iterator<Item = &'a Judged>,
) {
    let (resolved, others): (Vec<&Judged>, Vec<&Judged>) =
        sources.partition(|s| s.finding == Finding::Resolved);
    let is = |finding: Finding| others.iter().filter(|s| s.finding == finding).count();
    let right = resolved.iter().filter(|s| s.is_true()).count();
    let wrong = others.iter().filter(|s| !s.is_true()).count();
    writeln!(
        table,
        "| {family} | {samples} | {} | {} | {} / {} / {} |",
        share(right, resolved.len()),
        share(wrong, others.len()),
        is(Finding::Mixed),
        is(Finding::NotReplicated),
        is(Finding::Noise)
    )
    .expect("a string takes text");
}

/// By expected interference, what there is; classes without sources are left out.
fn error_bars(sources: &[Judged]) -> String {
    let mut table = String::from(
        "| expected interference | sources | expected, median | actual, median | actual within \
         twice the expected |\n|---|---|---|---|---|\n",
    );
    for bounds in BARS.windows(2) {
        let inside: Vec<&Judged> = sources
            .iter()
            .filter(|s| s.finding != Finding::Noise)
            .filter(|s| (bounds[0]..bounds[1]).contains(&s.interference))
            .collect();
        if inside.is_empty() {
            continue;
        }
        let within = inside
            .iter()
            .filter(|s| s.error() <= 2.0 * s.interference)
            .count();
        writeln!(
            table,
            "| {:.2} to {:.2} | {} | {:.3} | {:.3} | {} |",
            bounds[0],
            bounds[1].min(1.0),
            inside.len(),
            median(inside.iter().map(|s| s.interference)),
            median(inside.iter().map(|s| s.error())),
            share(within, inside.len())
        )
        .expect("a string takes text");
    }
    table
}

/// Of at least one value.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        n if n % 2 == 1 => values[n / 2],
        n => 0.5 * (values[n / 2 - 1] + values[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(finding: Finding, correlation: f64) -> Judged {
        Judged {
            family: "gp",
            samples: 500,
            seed: 1,
            source: 1,
            finding,
            correlation,
            interference: 0.15,
            evidence: Some(2.0),
            structure: 9.0,
            replication: None,
            run_seconds: 2.0,
            verdict_seconds: 0.5,
        }
    }

    #[test]
    fn right_findings_are_counted() {
        let sources = [
            source(Finding::Resolved, 0.99),
            source(Finding::Resolved, 0.5),
            source(Finding::Mixed, 0.5),
            source(Finding::Noise, 0.99),
        ];
        let text = all(&sources);
        let expected = "| gp | 500 | 1 of 2 (50 %) | 1 of 2 (50 %) | 1 / 0 / 1 |";
        assert!(text.contains(expected), "{text}");
        assert!(
            text.contains("| 0.10 to 0.20 | 3 | 0.150 | 0.866 | 1 of 3 (33 %) |"),
            "{text}"
        );
        assert!(text.contains("took 25.0 %"), "{text}");
    }
}
