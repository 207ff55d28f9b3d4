//! Numbers in JSON: what is not finite is written as null, and null is read as NaN.

use serde::{Deserialize, Deserializer, Serialize};
use strtransformer::train::Terms;
use strtransformer::train::{RestartSummary, StopReason};

/// A number or null.
pub fn number<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    let number = Option::<f64>::deserialize(input)?;
    Ok(number.unwrap_or(f64::NAN))
}

/// Numbers or nulls.
pub fn numbers<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<f64>, D::Error> {
    let numbers = Vec::<Option<f64>>::deserialize(input)?;
    let known = numbers.into_iter();
    Ok(known.map(|number| number.unwrap_or(f64::NAN)).collect())
}

/// [`Terms`] as JSON.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Terms")]
pub struct TermsRecord {
    #[serde(deserialize_with = "number")]
    total: f64,
    #[serde(deserialize_with = "number")]
    reconstruction: f64,
    #[serde(deserialize_with = "number")]
    structure: f64,
    #[serde(deserialize_with = "number")]
    separation: f64,
    #[serde(deserialize_with = "number")]
    smoothness: f64,
    #[serde(deserialize_with = "number")]
    entropy: f64,
    #[serde(deserialize_with = "number")]
    gap: f64,
}

/// A list of [`RestartSummary`] as JSON.
pub mod restarts {
    use super::{RestartSummary, StopReason, number};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(remote = "RestartSummary")]
    struct Record {
        restart: usize,
        seed: u64,
        #[serde(deserialize_with = "number")]
        objective: f64,
        stop: StopReason,
        converged: bool,
        #[serde(default)]
        agreement: Option<f64>,
    }

    #[derive(Deserialize)]
    struct Entry(#[serde(with = "Record")] RestartSummary);

    pub fn serialize<S: Serializer>(
        restarts: &[RestartSummary],
        output: S,
    ) -> Result<S::Ok, S::Error> {
        restarts.serialize(output)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        input: D,
    ) -> Result<Vec<RestartSummary>, D::Error> {
        let entries = Vec::<Entry>::deserialize(input)?;
        Ok(entries.into_iter().map(|Entry(restart)| restart).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Sample {
        #[serde(deserialize_with = "number")]
        one: f64,
        #[serde(deserialize_with = "numbers")]
        several: Vec<f64>,
        #[serde(with = "TermsRecord")]
        terms: Terms,
        #[serde(with = "restarts")]
        restarts: Vec<RestartSummary>,
    }

    #[test]
    fn what_is_not_finite_is_null_and_comes_back_as_nan() {
        let terms = Terms {
            total: f64::INFINITY,
            gap: 0.1 + 0.2,
            ..Terms::default()
        };
        let restart = RestartSummary {
            restart: 1,
            seed: u64::MAX,
            objective: f64::NAN,
            stop: StopReason::Diverged,
            converged: false,
            agreement: Some(0.5),
        };
        let sample = Sample {
            one: f64::NAN,
            several: vec![1.0 / 3.0, f64::NEG_INFINITY],
            terms,
            restarts: vec![restart],
        };
        let text = serde_json::to_string(&sample).unwrap();
        assert_eq!(text.matches("null").count(), 4, "{text}");
        let back: Sample = serde_json::from_str(&text).unwrap();
        assert!(back.one.is_nan() && back.several[1].is_nan());
        assert_eq!(back.several[0], 1.0 / 3.0);
        assert!(back.terms.total.is_nan() && back.terms.gap == 0.1 + 0.2);
        assert!(back.restarts[0].objective.is_nan());
        assert_eq!(
            (back.restarts[0].seed, back.restarts[0].stop),
            (u64::MAX, StopReason::Diverged)
        );
        assert_eq!(back.restarts[0].agreement, Some(0.5));
    }
}
