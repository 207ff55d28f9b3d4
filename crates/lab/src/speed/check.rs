//! Whether two programs compute the same step: J, its terms and the size of its gradient from the
//! same tensors.

use super::drawn::StepResult;
use super::worker::Worker;
use serde_json::{Value, json};

/// Allowed relative difference of J (both sides run in f32 where it counts).
const OBJECTIVE: f64 = 1e-5;

/// Allowed relative difference of a gradient norm: sums of many f32 products of either sign.
const GRADIENT: f64 = 1e-3;

/// What a comparison found.
pub struct Check {
    /// Largest relative difference of J over all variants.
    pub objective: f64,
    /// Largest relative difference of a gradient norm.
    pub gradient: f64,
    /// What differs too much, with its figures.
    pub failures: Vec<String>,
    pub json: Value,
}

/// |found − expected| / max(|expected|, tiny); anything that is not a number counts as infinite.
fn difference(found: &Value, expected: f64) -> f64 {
    let found = found.as_f64().unwrap_or(f64::NAN);
    match (found - expected).abs() / expected.abs().max(1e-12) {
        d if d.is_nan() => f64::INFINITY,
        d => d,
    }
}

/// Asks for every variant of the forms and compares.
pub fn check(worker: &mut Worker, forms: &[&str], expected: &StepResult) -> Result<Check, String> {
    let mut check = Check {
        objective: 0.0,
        gradient: 0.0,
        failures: Vec::new(),
        json: Value::Null,
    };
    let mut answers = serde_json::Map::new();
    for &form in forms {
        let answer = match worker.ask(&json!({ "command": "check", "form": form })) {
            Ok(answer) => answer,
            // Compiling needs more than PyTorch; where it fails the others are compared all the
            // same.
            Err(why) if form == "compiled" => {
                answers.insert(form.into(), json!({ "trouble": why }));
                continue;
            }
            Err(why) => return Err(why),
        };
        let variants = answer["variants"].as_array().cloned().unwrap_or_default();
        if variants.is_empty() {
            return Err(format!("PyTorch checked no variant of {form}"));
        }
        for variant in &variants {
            check.compare(form, variant, expected);
        }
        answers.insert(form.into(), variants.into());
    }
    check.json = json!({
        "largest_difference": { "objective": check.objective, "gradient_norm": check.gradient },
        "allowed_difference": { "objective": OBJECTIVE, "gradient_norm": GRADIENT },
        "same": check.failures.is_empty(),
        "strt": expected.json(),
        "pytorch": answers,
    });
    Ok(check)
}

impl Check {
    fn compare(&mut self, form: &str, variant: &Value, expected: &StepResult) {
        let attention = variant["attention"].as_str().unwrap_or("?");
        let objective = difference(&variant["objective"], expected.terms.total);
        self.objective = self.objective.max(objective);
        if objective > OBJECTIVE {
            self.failures.push(format!(
                "{form} ({attention}): J is {} in PyTorch and {} here, terms {} and {:?}",
                variant["objective"], expected.terms.total, variant["terms"], expected.terms
            ));
        }
        for (name, norm) in expected.norms {
            let found = &variant["gradient_norms"][name];
            let gradient = difference(found, norm);
            self.gradient = self.gradient.max(gradient);
            if gradient > GRADIENT {
                self.failures.push(format!(
                    "{form} ({attention}): the gradient of {name} has norm {found} in PyTorch and \
                     {norm} here"
                ));
            }
        }
    }

    /// The result in one sentence.
    pub fn text(&self) -> String {
        let figures = format!(
            "J differs by {:.1e} at most (allowed {OBJECTIVE:.0e}), gradient norms by {:.1e} \
             ({GRADIENT:.0e})",
            self.objective, self.gradient
        );
        if self.failures.is_empty() {
            format!("Checked: same objective from the same tensors; {figures}.\n")
        } else {
            format!(
                "NOT THE SAME STEP: {figures}.\n{}\n",
                self.failures.join("\n")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strtransformer::train::Terms;

    fn expected() -> StepResult {
        let terms = Terms {
            total: -20.0,
            ..Terms::default()
        };
        StepResult {
            terms,
            norms: [("fiber", 1.0), ("raw_gaps", 2.0), ("networks", 3.0)],
        }
    }

    fn failures(objective: Value, networks: f64) -> usize {
        let mut check = Check {
            objective: 0.0,
            gradient: 0.0,
            failures: Vec::new(),
            json: Value::Null,
        };
        let norms = json!({ "fiber": 1.0, "raw_gaps": 2.0, "networks": networks });
        let variant =
            json!({ "attention": "sdpa", "objective": objective, "gradient_norms": norms });
        check.compare("loop", &variant, &expected());
        check.failures.len()
    }

    #[test]
    fn a_difference_beyond_single_precision_is_a_failure() {
        assert_eq!(failures(json!(-20.0001), 3.0001), 0);
        assert_eq!(failures(json!(-20.001), 3.0), 1);
        assert_eq!(failures(json!(-20.0), 3.1), 1);
        assert_eq!(failures(Value::Null, 3.0), 1);
    }
}
