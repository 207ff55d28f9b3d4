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
