//! What was counted, as Markdown tables.

use super::Counted;
use std::fmt::{Display, Write};

/// Bounds of the classes of certainty.
const CERTAINTY: [f64; 5] = [0.0, 0.5, 0.8, 0.95, 1.01];

/// All tables.
pub fn all(counted: &[Counted]) -> String {
    let families = grouped(counted, "family", |c| c.family);
    let noises = grouped(counted, "noise", |c| format!("{:.0} %", 100.0 * c.noise));
    let samples = grouped(counted, "T", |c| c.samples);
    let channels = grouped(counted, "channels", |c| match c.channels {
        m if m == c.sources => "as many as sources",
        m if m == c.sources + 2 => "two more",
        _ => "twice as many",
    });
    let sources = grouped(counted, "sources", |c| c.sources);
    let seconds: f64 = counted.iter().map(|c| c.seconds).sum();
    format!(
        "{families}\n{noises}\n{samples}\n{channels}\n{sources}\n{}\nA count took {:.2} s in the \
         mean.\n",
        certainty(counted),
        seconds / counted.len().max(1) as f64
    )
}

fn share(part: usize, whole: usize) -> String {
    format!("{:.0} %", 100.0 * part as f64 / whole as f64)
}

/// One row for every value of `key`, in the order in which they occur, and one for all.
fn grouped<K: Display>(counted: &[Counted], title: &str, key: impl Fn(&Counted) -> K) -> String {
    let mut table = format!(
        "| {title} | problems | exact | within ±1 | too few | too many | mdl exact | mdl within ±1 \
         |\n|---|---|---|---|---|---|---|---|\n"
    );
    let mut names: Vec<String> = Vec::new();
    for name in counted.iter().map(|c| key(c).to_string()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let inside = counted.iter().filter(|c| key(c).to_string() == name);
        row(&mut table, &name, &inside.collect::<Vec<_>>());
    }
    row(&mut table, "**all**", &counted.iter().collect::<Vec<_>>());
    table
}

fn row(table: &mut String, name: &str, counted: &[&Counted]) {
    let n = counted.len();
    let number = |is: &dyn Fn(&Counted) -> bool| counted.iter().filter(|c| is(c)).count();
    writeln!(
        table,
        "| {name} | {n} | {} | {} | {} | {} | {} | {} |",
        share(number(&|c| c.found == c.sources), n),
        share(number(&|c| c.found.abs_diff(c.sources) <= 1), n),
        number(&|c| c.found < c.sources),
        number(&|c| c.found > c.sources),
        share(number(&|c| c.mdl == c.sources), n),
        share(number(&|c| c.mdl.abs_diff(c.sources) <= 1), n),
    )
    .expect("a string takes text");
}

/// By the share of resampled recordings with the number that was found, how often it is right;
/// classes without problems are left out.
fn certainty(counted: &[Counted]) -> String {
    let mut table = String::from(
        "| resampled recordings that agree | problems | exact | within ±1 |\n|---|---|---|---|\n",
    );
    for bounds in CERTAINTY.windows(2) {
        let inside: Vec<&Counted> = counted
            .iter()
            .filter(|c| (bounds[0]..bounds[1]).contains(&c.share))
            .collect();
        if inside.is_empty() {
            continue;
        }
        let exact = inside.iter().filter(|c| c.found == c.sources).count();
        let near = inside
            .iter()
            .filter(|c| c.found.abs_diff(c.sources) <= 1)
            .count();
        writeln!(
            table,
            "| {:.0} to {:.0} % | {} | {} | {} |",
            100.0 * bounds[0],
            100.0 * bounds[1].min(1.0),
            inside.len(),
            share(exact, inside.len()),
            share(near, inside.len())
        )
        .expect("a string takes text");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_and_wrong_numbers_are_counted() {
        let one = |found: usize, mdl: usize, share: f64| Counted {
            family: "gp",
            samples: 1000,
            sources: 3,
            channels: 5,
            noise: 0.1,
            seed: 1,
            found,
            mdl,
            share,
            seconds: 0.5,
        };
        let text = all(&[
            one(3, 2, 1.0),
            one(4, 9, 0.6),
            one(1, 3, 0.97),
            one(3, 3, 1.0),
        ]);
        assert!(
            text.contains("| gp | 4 | 50 % | 75 % | 1 | 1 | 50 % | 75 % |"),
            "{text}"
        );
        assert!(text.contains("| two more | 4 |"), "{text}");
        assert!(text.contains("| 95 to 100 % | 3 | 67 % | 67 % |"), "{text}");
        assert!(text.contains("| 50 to 80 % | 1 | 0 % | 100 % |"), "{text}");
        assert!(text.contains("took 0.50 s"), "{text}");
    }
}
