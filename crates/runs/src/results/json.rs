//! Numbers in JSON: what is not finite is written as null, and null is read as NaN. Most readers
//! hold every number as an f64, so that a whole number beyond 2⁵³ is written as text.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
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

/// A seed: a number that every reader of JSON holds exactly, or else its digits as text.
pub mod seed {
    use super::*;

    /// The largest whole number up to which an f64 has them all.
    const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(u64),
        Digits(String),
    }

    pub fn serialize<S: Serializer>(seed: &u64, output: S) -> Result<S::Ok, S::Error> {
        if *seed <= EXACT {
            output.serialize_u64(*seed)
        } else {
            output.serialize_str(&seed.to_string())
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
        match Written::deserialize(input)? {
            Written::Number(seed) => Ok(seed),
            Written::Digits(digits) => digits.parse().map_err(serde::de::Error::custom),
        }
    }
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

    #[derive(Serialize, Deserialize)]
    #[serde(remote = "RestartSummary")]
    struct Record {
        restart: usize,
        #[serde(with = "super::seed")]
        seed: u64,
        #[serde(deserialize_with = "number")]
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

    #[derive(Serialize, Deserialize)]
    struct Entry(#[serde(with = "Record")] RestartSummary);

    pub fn serialize<S: Serializer>(
        restarts: &[RestartSummary],
        output: S,
    ) -> Result<S::Ok, S::Error> {
        output.collect_seq(restarts.iter().cloned().map(Entry))
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
            novel: true,
            agreement: Some(0.5),
            agreement_by_source: vec![0.5, 0.75],
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
        assert_eq!(back.restarts[0].agreement_by_source, [0.5, 0.75]);
    }

    #[test]
    fn seeds_survive_readers_that_know_only_f64() {
        #[derive(Serialize, Deserialize)]
        struct Sample(#[serde(with = "seed")] u64);
        let limit = 1_u64 << 53;
        for (seed, text) in [
            (7, "7"),
            (limit, "9007199254740992"),
            (limit + 1, "\"9007199254740993\""),
            (u64::MAX, "\"18446744073709551615\""),
        ] {
            assert_eq!(serde_json::to_string(&Sample(seed)).unwrap(), text);
            let back: Sample = serde_json::from_str(text).unwrap();
            assert_eq!(back.0, seed);
        }
        // As it was written before.
        let back: Sample = serde_json::from_str("18446744073709551615").unwrap();
        assert_eq!(back.0, u64::MAX);
        assert!(serde_json::from_str::<Sample>("\"seven\"").is_err());
    }
}
