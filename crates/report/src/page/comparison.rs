//! The page of a comparison: what several methods make of one recording, side by side.

use super::chart::{Scale, Side, Waveform, heat_map, rows};
use super::view::{Page, Part, Section, Status, Table};
use super::{source_name, source_numbers};
use crate::decimate::envelope;
use crate::{Result, palette};
use faer::MatRef;

/// Points of all waveforms of the page together.
const POINT_BUDGET: usize = 60_000;
const MOST_POINTS: usize = 3000;

/// What one method found.
pub struct ComparedMethod<'a> {
    /// Its name.
    pub name: String,
    /// T×K; NaN where samples are missing. Shown in the order and with the signs that match the
    /// first method.
    pub sources: MatRef<'a, f64>,
    /// Sources of this method in the order of the first one's; `None` where there is no partner.
    pub order: Vec<Option<usize>>,
    /// 1 or −1 for every entry of `order`.
    pub sign: Vec<f64>,
}

/// What several methods make of one recording.
pub struct ComparisonPage<'a> {
    /// The recording, in a few words.
    pub input: String,
    /// Program, machine and what the scores mean, one paragraph each.
    pub about: Vec<String>,
    /// The methods; the first one sets the order.
    pub methods: Vec<ComparedMethod<'a>>,
    /// Samples per second, where known.
    pub sampling_rate: Option<f64>,
    /// Header and rows of the scores, one row a method.
    pub scores: (Vec<String>, Vec<Vec<String>>),
    /// |correlation| of the sources of two methods, averaged over matched pairs.
    pub agreement: Vec<Vec<f64>>,
}

impl ComparisonPage<'_> {
    /// One self-contained HTML page.
    ///
    /// # Errors
    /// When the page cannot be written.
    pub fn to_html(&self) -> Result<String> {
        let names: Vec<String> = self
            .methods
            .iter()
            .map(|method| method.name.clone())
            .collect();
        let mut summary: Vec<Part> = self.about.iter().cloned().map(Part::Text).collect();
        summary.push(Part::Table(Table {
            title: "Scores".into(),
            header: self.scores.0.clone(),
            rows: self.scores.1.clone(),
            folded: false,
        }));
        let map = heat_map(
            "Agreement of the methods",
            "Heat map of the mean absolute correlation between the matched sources of every two \
             methods.",
            Side {
                title: "method",
                names: &names,
            },
            Side {
                title: "method",
                names: &names,
            },
            self.agreement.clone(),
            Scale::Sequential {
                range: Some((0.0, 1.0)),
            },
        );
        summary.extend([
            Part::Charts(vec![map]),
            Part::Caption("Sources on which all methods agree need no further argument.".into()),
        ]);
        let page = Page::new(
            format!("Methods compared on {}", self.input),
            Status {
                class: "good",
                text: format!("{} methods", self.methods.len()),
            },
            vec![
                Section {
                    id: "scores",
                    title: "Scores",
                    folded: false,
                    parts: summary,
                },
                self.sources(),
            ],
            "Made by StrTransformer. This file loads nothing from the network.".into(),
        );
        page.write()
    }

    /// One chart a source of the first method, one row a method.
    fn sources(&self) -> Section {
        let n_sources = self.methods.first().map_or(0, |method| method.order.len());
        let most = (POINT_BUDGET / (n_sources * self.methods.len()).max(1)).clamp(200, MOST_POINTS);
        let chart = |k: usize| {
            let lines = self.methods.iter().enumerate().map(|(m, method)| {
                let waveform = method.order[k].map(|j| {
                    let values: Vec<f64> = method
                        .sources
                        .col(j)
                        .iter()
                        .map(|value| method.sign[k] * value)
                        .collect();
                    Waveform {
                        name: method.name.clone(),
                        drawn: envelope(&standardized(&values), most),
                        color: palette::source(m, self.methods.len()),
                        width: 1.3,
                    }
                });
                (method.name.clone(), waveform.into_iter().collect())
            });
            let description = format!(
                "What every method finds for {}, under each other over time.",
                source_name(k)
            );
            rows(
                &source_name(k),
                &description,
                lines.collect(),
                self.sampling_rate.map(|rate| 1.0 / rate),
            )
        };
        let mut parts = vec![Part::Caption(format!(
            "Sources {} of the first method, each above the ones of the other methods that \
             resemble it most; all have mean 0, standard deviation 1 and the sign of the first.",
            source_numbers(n_sources).join(", ")
        ))];
        parts.push(Part::Charts((0..n_sources).map(chart).collect()));
        Section {
            id: "sources",
            title: "Sources side by side",
            folded: false,
            parts,
        }
    }
}

/// Mean 0 and standard deviation 1 over the values that are not NaN.
fn standardized(values: &[f64]) -> Vec<f64> {
    let kept = || values.iter().filter(|value| !value.is_nan());
    let n = kept().count().max(1) as f64;
    let mean = kept().sum::<f64>() / n;
    let deviation = (kept().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    let divisor = if deviation > 0.0 { deviation } else { 1.0 };
    values
        .iter()
        .map(|value| (value - mean) / divisor)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn methods_are_shown_in_the_order_and_sign_of_the_first() {
        let first = Mat::from_fn(50, 2, |t, k| (t as f64 * [0.3, 0.05][k]).sin());
        let second = Mat::from_fn(50, 2, |t, k| -first[(t, 1 - k)]);
        let page = ComparisonPage {
            input: "two <waves>".into(),
            about: vec!["Two methods.".into()],
            methods: vec![
                ComparedMethod {
                    name: "strt".into(),
                    sources: first.as_ref(),
                    order: vec![Some(0), Some(1)],
                    sign: vec![1.0, 1.0],
                },
                ComparedMethod {
                    name: "sobi".into(),
                    sources: second.as_ref(),
                    order: vec![Some(1), None],
                    sign: vec![-1.0, 1.0],
                },
            ],
            sampling_rate: Some(10.0),
            scores: (
                vec!["method".into()],
                vec![vec!["strt".into()], vec!["sobi".into()]],
            ),
            agreement: vec![vec![1.0, 1.0], vec![1.0, 1.0]],
        };
        let html = page.to_html().unwrap();
        assert!(html.contains("two &lt;waves&gt;") || html.contains("two &#60;waves&#62;"));
        assert_eq!(html.matches("class=\"chart\"").count(), 3);
        assert!(html.len() < 6_000_000);
    }
}
