//! How the number of sources was found: what `summary.json` and the terminal say of it.

use super::json::{number, numbers};
use serde::{Deserialize, Serialize};
use strtransformer::preprocess::{CountMethod, SourceCount, Structure, Witness};

/// Shares below this are left out of a sentence.
const LEAST_SHARE: f64 = 0.01;

/// The estimated number of sources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountSummary {
    /// How it was estimated.
    pub method: String,
    /// Why this number, in words.
    pub reasoning: String,
    /// The number.
    pub n_sources: usize,
    /// In which share of the resampled recordings which number was found, the most frequent first;
    /// empty for an estimate from eigenvalues.
    #[serde(default)]
    pub shares: Vec<ShareSummary>,
    /// The components that were looked at one after the other; empty for an estimate from
    /// eigenvalues.
    #[serde(default)]
    pub components: Vec<ComponentSummary>,
    /// Variances of the principal components, descending.
    #[serde(deserialize_with = "numbers")]
    pub eigenvalues: Vec<f64>,
    /// The number that they suggest alone (minimum description length).
    #[serde(default)]
    pub by_eigenvalues: Option<usize>,
    /// Bits for each number of sources, from 0.
    #[serde(deserialize_with = "numbers")]
    pub description_length: Vec<f64>,
    /// Samples that count as independent.
    #[serde(deserialize_with = "number")]
    pub effective_samples: f64,
}

/// How often a number of sources was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareSummary {
    /// The number.
    pub n_sources: usize,
    /// From 0 to 1.
    pub share: f64,
}

/// What tells one component from noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComponentSummary {
    /// `spectrum`, `variance` or `distribution`.
    pub witness: String,
    /// How far it deviates from noise.
    #[serde(deserialize_with = "number")]
    pub strength: f64,
    /// What noise stays below.
    #[serde(deserialize_with = "number")]
    pub limit: f64,
    /// Whether it counts as a source.
    pub kept: bool,
    /// Whether it counts because both halves of the recording have it.
    pub replicated: bool,
}

impl From<&SourceCount> for CountSummary {
    fn from(count: &SourceCount) -> CountSummary {
        let (method, reasoning) = match &count.structure {
            Some(structure) => ("Structure in time".into(), of_structure(count, structure)),
            None => (
                "Minimum description length (Wax and Kailath)".into(),
                of_eigenvalues(count),
            ),
        };
        let structure = count.structure.as_ref();
        CountSummary {
            method,
            reasoning,
            n_sources: count.n_sources,
            shares: structure.map_or_else(Vec::new, shares),
            components: structure.map_or_else(Vec::new, components),
            eigenvalues: count.eigenvalues.clone(),
            by_eigenvalues: Some(count.description.n_sources),
            description_length: count.description.lengths.clone(),
            effective_samples: count.description.effective_samples,
        }
    }
}

impl CountSummary {
    /// What is to be known where the mixing is not linear.
    pub(crate) fn warn_of_bends(&mut self) {
        self.reasoning.push_str(
            " The count is that of a linear mixing: behind a nonlinear one bends have structure \
             of their own, and it is too high.",
        );
    }
}

fn shares(structure: &Structure) -> Vec<ShareSummary> {
    let share = |share: &strtransformer::preprocess::Share| ShareSummary {
        n_sources: share.n_sources,
        share: share.share,
    };
    structure.shares.iter().map(share).collect()
}

fn components(structure: &Structure) -> Vec<ComponentSummary> {
    let steps = structure.steps.iter();
    steps
        .map(|step| ComponentSummary {
            witness: match step.witness {
                Witness::Spectrum => "spectrum",
                Witness::Variance => "variance",
                Witness::Distribution => "distribution",
            }
            .into(),
            strength: step.strength,
            limit: step.limit,
            kept: step.kept,
            replicated: step.replicated,
        })
        .collect()
}

fn of_eigenvalues(count: &SourceCount) -> String {
    format!(
        "{} of {} components describe the channels in the fewest bits: they carry {:.1} % of the \
         variance, and what is left looks like noise of equal strength in all directions. \
         Successive samples resemble each other, so {} samples count as {:.0} independent ones. \
         Where the noise of the channels differs in strength, this estimate is too high.",
        count.n_sources,
        count.eigenvalues.len(),
        100.0 * count.explained,
        count.n_complete,
        count.description.effective_samples
    )
}

fn of_structure(count: &SourceCount, structure: &Structure) -> String {
    let (k, channels) = (structure.n_sources, count.eigenvalues.len());
    if !structure.sufficient {
        return format!(
            "{} samples are too few to tell structure from chance in {} independent directions of \
             {channels} channels: all of them are kept.",
            structure.n_judged, structure.rank
        );
    }
    let kept = structure.steps.iter().filter(|step| step.kept).count();
    let left = structure.steps.last().filter(|step| !step.kept);
    let mut sentences = vec![match (kept, left) {
        (0, _) => format!(
            "Nothing in {channels} channels differs from white Gaussian noise; there must be one \
             source, but do not expect to find one."
        ),
        (_, None) if structure.rank < channels => format!(
            "{channels} channels have {k} independent directions, and all of them have structure \
             that noise has not."
        ),
        (_, None) => format!(
            "All {k} channels' worth have structure that noise has not: nothing can be left out."
        ),
        (_, Some(step)) => format!(
            "{k} of {channels} channels' worth: what is left does not differ from white Gaussian \
             noise (strength {:.1}, noise stays below {:.1}).",
            step.strength, step.limit
        ),
    }];
    sentences.extend(certainty(structure));
    let replicated = structure
        .steps
        .iter()
        .filter(|step| step.replicated)
        .count();
    if replicated > 0 {
        sentences.push(format!(
            "{replicated} of them would pass for noise, and are kept because both halves of the \
             recording have them."
        ));
    }
    if structure.n_judged < count.n_complete {
        sentences.push(format!(
            "{} of {} samples were looked at.",
            structure.n_judged, count.n_complete
        ));
    }
    let other = count.description.n_sources;
    if count.method == CountMethod::Structure && other != k {
        sentences.push(format!("Eigenvalues alone (mdl) would say {other}."));
    }
    sentences.join(" ")
}

/// How sure the number is; `None` where nothing was resampled.
fn certainty(structure: &Structure) -> Option<String> {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let of = |k: usize| structure.shares.iter().find(|share| share.n_sources == k);
    structure.shares.first()?;
    let same = of(structure.n_sources).map_or(0.0, |share| share.share);
    let mut text = format!(
        "The same number in {} of {} recordings put together from blocks of this one",
        percent(same),
        structure.n_resamples
    );
    let others = structure.shares.iter();
    for share in others.filter(|s| s.n_sources != structure.n_sources && s.share >= LEAST_SHARE) {
        text.push_str(&format!(
            "; {} in {}",
            share.n_sources,
            percent(share.share)
        ));
    }
    text.push('.');
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use strt_synth::{ProblemSpec, SourceKind};
    use strtransformer::preprocess::ChannelScalingOptions;

    fn summary(n_samples: usize, n_channels: usize, method: CountMethod) -> CountSummary {
        let spec = ProblemSpec {
            kind: SourceKind::Ar,
            n_samples,
            n_channels,
            ..ProblemSpec::default()
        };
        let recording = spec.generate().unwrap().recording().unwrap();
        let options = ChannelScalingOptions::default();
        CountSummary::from(&SourceCount::estimate(&recording, options, method).unwrap())
    }

    #[test]
    fn the_words_say_what_was_found_and_how_sure_it_is() {
        let count = summary(1000, 6, CountMethod::Structure);
        assert!(
            count.reasoning.starts_with("3 of 6 channels' worth"),
            "{}",
            count.reasoning
        );
        assert!(
            count.reasoning.contains("% of 200 recordings"),
            "{}",
            count.reasoning
        );
        assert_eq!((count.components.len(), count.by_eigenvalues), (4, Some(3)));
        let whole = summary(1000, 3, CountMethod::Structure);
        assert!(
            whole.reasoning.contains("All 3 channels' worth"),
            "{}",
            whole.reasoning
        );
        assert!(
            whole.reasoning.contains("(mdl) would say 2"),
            "{}",
            whole.reasoning
        );
        let short = summary(40, 9, CountMethod::Structure);
        assert!(short.reasoning.contains("too few"), "{}", short.reasoning);
        let eigenvalues = summary(1000, 6, CountMethod::Mdl);
        assert!(eigenvalues.shares.is_empty() && eigenvalues.reasoning.contains("fewest bits"));
    }

    #[test]
    fn summaries_of_earlier_versions_are_read() {
        let text = r#"{"method": "m", "reasoning": "r", "n_sources": 2, "eigenvalues": [2.0, 1.0],
            "description_length": [1.0, null], "effective_samples": 12.5}"#;
        let count: CountSummary = serde_json::from_str(text).unwrap();
        assert!(count.shares.is_empty() && count.by_eigenvalues.is_none());
    }
}
