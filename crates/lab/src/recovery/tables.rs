//! The results as tables: one line a family and method, and one figure a family and method to see
//! them all.

use super::limits::Limit;
use super::record::Record;
use strt_score::permutation_stability;

/// Distance to the best method within which a problem counts as won.
const NEAR: f64 = 0.005;

/// A table with its title, for Markdown and for the page.
pub struct Table {
    pub title: String,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// Families and methods in the order in which they first come.
fn distinct(records: &[Record], part: impl Fn(&Record) -> &String) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for record in records {
        if !names.contains(part(record)) {
            names.push(part(record).clone());
        }
    }
    names
}

pub fn families(records: &[Record]) -> Vec<String> {
    distinct(records, |record| &record.key.family)
}

pub fn methods(records: &[Record]) -> Vec<String> {
    distinct(records, |record| &record.key.method)
}

fn of<'a>(records: &'a [Record], family: &str, method: &str) -> Vec<&'a Record> {
    let wanted = |record: &&Record| record.key.family == family && record.key.method == method;
    records.iter().filter(wanted).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / n as f64)
}

/// Mean MAC of every family (rows) and method (columns); `None` where nothing was run.
pub fn mean_mac(records: &[Record]) -> Vec<Vec<Option<f64>>> {
    let methods = methods(records);
    families(records)
        .iter()
        .map(|family| {
            let mac = |method: &String| {
                mean(
                    of(records, family, method)
                        .into_iter()
                        .map(|record| record.mac),
                )
            };
            methods.iter().map(mac).collect()
        })
        .collect()
}

/// Share of the problems of a family in which a method is within 0.005 of the best, whatever the
/// run.
fn share_won(records: &[Record], family: &str, method: &str) -> Option<f64> {
    let wins = of(records, family, method).into_iter().map(|record| {
        let rivals = records
            .iter()
            .filter(|other| other.key.family == family && other.key.problem == record.key.problem);
        let best = rivals
            .map(|other| other.mac)
            .fold(f64::NEG_INFINITY, f64::max);
        f64::from(u8::from(record.mac >= best - NEAR))
    });
    mean(wins)
}

/// Share of pairs of runs of one problem that put the same source into the same branch.
fn stability(records: &[Record], family: &str, method: &str) -> Option<f64> {
    let runs = of(records, family, method);
    let problems = distinct(records, |record| &record.key.problem);
    let shares = problems.iter().filter_map(|problem| {
        let matches: Vec<&[Option<usize>]> = runs
            .iter()
            .filter(|record| record.key.problem == *problem)
            .map(|record| record.matched.as_slice())
            .collect();
        permutation_stability(&matches).ok()
    });
    mean(shares)
}

/// What is left when a method gets a single line: how often it wins where the mixing is linear, and
/// its means.
pub fn in_short(records: &[Record], is_linear: &dyn Fn(&str) -> bool) -> Table {
    let families = families(records);
    let (linear, nonlinear): (Vec<&String>, Vec<&String>) =
        families.iter().partition(|family| is_linear(family));
    let row = |method: &String| {
        let runs = |families: &[&String]| -> Vec<&Record> {
            families
                .iter()
                .flat_map(|family| of(records, family, method))
                .collect()
        };
        let shares = linear.iter().flat_map(|family| {
            let n = of(records, family, method).len();
            std::iter::repeat_n(share_won(records, family, method).unwrap_or_default(), n)
        });
        let family_mean = |families: &[&String]| {
            let means = families.iter().filter_map(|family| {
                mean(
                    of(records, family, method)
                        .into_iter()
                        .map(|record| record.mac),
                )
            });
            mean(means).map_or("–".into(), |mac| format!("{mac:.4}"))
        };
        vec![
            method.clone(),
            runs(&linear).len().to_string(),
            mean(shares).map_or("–".into(), |share| format!("{:.0} %", 100.0 * share)),
            family_mean(&linear),
            runs(&nonlinear).len().to_string(),
            family_mean(&nonlinear),
        ]
    };
    Table {
        title: "In short; means over families".into(),
        header: [
            "method",
            "runs, linear mixing",
            "within 0.005 of best",
            "mean MAC",
            "runs, nonlinear mixing",
            "mean MAC",
        ]
        .map(String::from)
        .into(),
        rows: methods(records).iter().map(row).collect(),
    }
}

/// One figure a family and method, beside the best linear unmixing of each family.
pub fn overview(records: &[Record], limits: &[Limit]) -> Table {
    let methods = methods(records);
    let mut header = ["family", "problems", "linear with truth"]
        .map(String::from)
        .to_vec();
    header.extend(methods.iter().cloned());
    let rows = families(records)
        .iter()
        .zip(mean_mac(records))
        .map(|(family, means)| {
            let problems = records.iter().filter(|record| record.key.family == *family);
            let mut names: Vec<&String> = problems.map(|record| &record.key.problem).collect();
            names.sort();
            names.dedup();
            let best = means
                .iter()
                .flatten()
                .copied()
                .fold(f64::NEG_INFINITY, f64::max);
            let cell = |mac: &Option<f64>| match mac {
                Some(mac) if *mac >= best - NEAR => format!("**{mac:.4}**"),
                Some(mac) => format!("{mac:.4}"),
                None => "–".into(),
            };
            let linear = limits.iter().filter(|limit| limit.family == *family);
            let linear = mean(linear.map(|limit| limit.linear_with_truth));
            let linear = linear.map_or("–".into(), |mac| format!("{mac:.4}"));
            let mut row = vec![family.clone(), names.len().to_string(), linear];
            row.extend(means.iter().map(cell));
            row
        })
        .collect();
    Table {
        title: "Mean MAC; bold: within 0.005 of the best".into(),
        header,
        rows,
    }
}

/// The problems for which the Cramér–Rao bound is known, by family and kind of sources: the bound,
/// the best linear unmixing, and the mean MAC of every method on these problems; `None` where there
/// are no such problems.
pub fn bounds(records: &[Record], limits: &[Limit]) -> Option<Table> {
    let methods = methods(records);
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for limit in limits.iter().filter(|limit| limit.bound.is_some()) {
        let group = (limit.family.as_str(), limit.kind.as_str());
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let row = |&(family, kind): &(&str, &str)| {
        let known: Vec<&Limit> = limits
            .iter()
            .filter(|limit| limit.family == family && limit.kind == kind && limit.bound.is_some())
            .collect();
        let shown = |mac: Option<f64>| mac.map_or("–".into(), |mac| format!("{mac:.4}"));
        let mac = |method: &String| {
            let runs = of(records, family, method).into_iter();
            let runs = runs.filter(|record| {
                known
                    .iter()
                    .any(|limit| limit.problem == record.key.problem)
            });
            shown(mean(runs.map(|record| record.mac)))
        };
        let mut row = vec![
            family.to_string(),
            kind.to_string(),
            known.len().to_string(),
            shown(mean(known.iter().filter_map(|limit| limit.bound))),
            shown(mean(known.iter().map(|limit| limit.linear_with_truth))),
        ];
        row.extend(methods.iter().map(mac));
        row
    };
    let mut header = [
        "family",
        "sources",
        "problems",
        "bound",
        "linear with truth",
    ]
    .map(String::from)
    .to_vec();
    header.extend(methods.iter().cloned());
    (!groups.is_empty()).then(|| Table {
        title: "Mean MAC where its Cramér–Rao bound is known: Gaussian sources, linear mixing"
            .into(),
        header,
        rows: groups.iter().map(row).collect(),
    })
}

/// All figures of every family and method.
pub fn details(records: &[Record]) -> Table {
    let header = [
        "family",
        "method",
        "runs",
        "mean MAC",
        "lowest MAC",
        "worst source",
        "within 0.005 of best",
        "rank MAC",
        "denoised MAC",
        "Amari",
        "SI-SDR dB",
        "branch order",
        "stability",
        "converged",
        "mean s",
    ];
    let mut rows = Vec::new();
    for family in families(records) {
        for method in methods(records) {
            let runs = of(records, &family, &method);
            if runs.is_empty() {
                continue;
            }
            let shown = |value: Option<f64>, digits: usize| match value {
                Some(value) => format!("{value:.digits$}"),
                None => "–".into(),
            };
            let average = |part: &dyn Fn(&Record) -> Option<f64>| {
                mean(runs.iter().filter_map(|record| part(record)))
            };
            let lowest = |part: &dyn Fn(&Record) -> f64| {
                runs.iter()
                    .map(|record| part(record))
                    .fold(f64::INFINITY, f64::min)
            };
            let percent = |share: Option<f64>| match share {
                Some(share) => format!("{:.0} %", 100.0 * share),
                None => "–".into(),
            };
            rows.push(vec![
                family.clone(),
                method.clone(),
                runs.len().to_string(),
                shown(average(&|record| Some(record.mac)), 4),
                shown(Some(lowest(&|record| record.mac)), 4),
                shown(Some(lowest(&|record| record.worst)), 4),
                percent(share_won(records, &family, &method)),
                shown(average(&|record| Some(record.rank_mac)), 4),
                shown(average(&|record| record.denoised_mac), 4),
                shown(average(&|record| record.amari), 4),
                shown(average(&|record| Some(record.si_sdr)), 1),
                shown(average(&|record| record.order), 2),
                shown(stability(records, &family, &method), 2),
                percent(average(&|record| {
                    Some(f64::from(u8::from(record.converged)))
                })),
                shown(average(&|record| Some(record.seconds)), 2),
            ]);
        }
    }
    Table {
        title: "All figures".into(),
        header: header.map(String::from).into(),
        rows,
    }
}

/// A table as Markdown.
pub fn markdown(table: &Table) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = format!("{}\n\n{}", table.title, line(&table.header));
    text.push_str(&format!("|{}\n", "---|".repeat(table.header.len())));
    table.rows.iter().for_each(|row| text.push_str(&line(row)));
    text
}

#[cfg(test)]
mod tests {
    use super::super::record::Key;
    use super::*;

    fn record(problem: &str, method: &str, run: u64, mac: f64, matched: [usize; 2]) -> Record {
        Record {
            key: Key {
                family: "linear".into(),
                problem: problem.into(),
                method: method.into(),
                run,
                settings: String::new(),
            },
            mac,
            worst: mac,
            rank_mac: mac,
            denoised_mac: None,
            amari: None,
            si_sdr: 0.0,
            order: None,
            matched: matched.map(Some).into(),
            converged: true,
            seconds: 1.0,
        }
    }

    #[test]
    fn wins_and_stability_are_counted_by_problem() {
        let records = [
            record("a", "strt", 0, 0.990, [0, 1]),
            record("a", "strt", 1, 0.980, [1, 0]),
            record("b", "strt", 0, 0.900, [0, 1]),
            record("b", "strt", 1, 0.900, [0, 1]),
            record("a", "sobi", 0, 0.986, [0, 1]),
            record("b", "sobi", 0, 0.950, [0, 1]),
        ];
        assert_eq!(share_won(&records, "linear", "strt"), Some(0.25));
        assert_eq!(share_won(&records, "linear", "sobi"), Some(1.0));
        assert_eq!(stability(&records, "linear", "strt"), Some(0.5));
        assert_eq!(stability(&records, "linear", "sobi"), None);
        let limit = |problem: &str, kind: &str, bound, linear_with_truth| Limit {
            family: "linear".into(),
            problem: problem.into(),
            kind: kind.into(),
            bound,
            linear_with_truth,
        };
        let limits = [
            limit("a", "ar", Some(0.995), 0.999),
            limit("b", "sines", None, 0.997),
        ];
        let text = markdown(&overview(&records, &limits));
        assert!(
            text.contains("| linear | 2 | 0.9980 | 0.9425 | **0.9680** |"),
            "{text}"
        );
        let bounds = bounds(&records, &limits).unwrap();
        let row = ["linear", "ar", "1", "0.9950", "0.9990", "0.9850", "0.9860"];
        assert_eq!(bounds.rows, [row]);
        assert!(super::bounds(&records, &limits[1..]).is_none());
        assert_eq!(details(&records).rows.len(), 2);
        let short = in_short(&records, &|family| family == "linear");
        assert_eq!(short.rows[0], ["strt", "4", "25 %", "0.9425", "0", "–"]);
    }
}
