//! Scalars as JSON: numbers that JSON does not know, and the records that models and checkpoints
//! share.
//!
//! Finite numbers come back with the same bits; `"NaN"`, `"inf"` and `"-inf"` stand for the others,
//! which a run that has not taken a step, or has diverged, may hold.

use serde::{Deserialize, Serialize};
use strtransformer::objective::Terms;
use strtransformer::train::{RestartSummary, StopReason};

/// One f64.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Number(#[serde(with = "number")] pub f64);

mod number {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            serializer.serialize_f64(*value)
        } else {
            serializer.serialize_str(&value.to_string())
        }
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Finite(f64),
        Word(String),
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Finite(value) => Ok(value),
            Written::Word(word) => match &word[..] {
                "NaN" => Ok(f64::NAN),
                "inf" => Ok(f64::INFINITY),
                "-inf" => Ok(f64::NEG_INFINITY),
                _ => Err(D::Error::custom(format!("`{word}` is not a number"))),
            },
        }
    }
}

/// [`Terms`] as JSON.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Terms", deny_unknown_fields)]
pub(crate) struct TermsRecord {
    #[serde(with = "number")]
    total: f64,
    #[serde(with = "number")]
    reconstruction: f64,
    #[serde(with = "number")]
    structure: f64,
    #[serde(with = "number")]
    separation: f64,
    #[serde(with = "number")]
    smoothness: f64,
    #[serde(with = "number")]
    entropy: f64,
    #[serde(with = "number")]
    gap: f64,
}

/// [`RestartSummary`] as JSON.
#[derive(Serialize, Deserialize)]
#[serde(remote = "RestartSummary", deny_unknown_fields)]
struct RestartRecord {
    restart: usize,
    seed: u64,
    #[serde(with = "number")]
    objective: f64,
    stop: StopReason,
    converged: bool,
    #[serde(default)]
    novel: bool,
    #[serde(default)]
    agreement: Option<f64>,
    #[serde(default)]
    agreement_by_source: Vec<f64>,
}

/// One entry of a list of restarts.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Restart(#[serde(with = "RestartRecord")] pub RestartSummary);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back_with_its_bits() {
        let values = [
            0.1 + 0.2,
            -0.0,
            5e-324,
            f64::MAX,
            1.0 / 3.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            2.0f64.powi(60) + 2048.0,
            9.5e-7 / 3.0,
        ];
        for value in values {
            let text = serde_json::to_string(&Number(value)).unwrap();
            let Number(back) = serde_json::from_str(&text).unwrap();
            assert_eq!(back.to_bits(), value.to_bits(), "{text}");
        }
        assert!(serde_json::from_str::<Number>("\"many\"").is_err());
        assert!(serde_json::from_str::<Number>("null").is_err());
    }
}
