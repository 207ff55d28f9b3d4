//! The package as a caller of `strt-runs`: what its arguments are called in messages and warnings,
//! and what draws its pages.

use strt_runs::{Caller, Wording};

/// This package.
pub static PACKAGE: Caller = Caller {
    wording: Wording {
        out: "path",
        overwrite: "overwrite=True",
        steps: "max_iter",
        sources: "n_components",
        resume: |folder| format!("strt resume {}", folder.display()),
        resume_with_recording: |folder| format!("strt resume {} RECORDING", folder.display()),
        settings: |pairs| {
            let parameter = |key: &str| match key {
                "optimizer.steps" => Some("max_iter"),
                "mixer.kind" => Some("mixer"),
                _ => None,
            };
            let quoted = |value: &str| match value.parse::<f64>() {
                Ok(_) => value.to_string(),
                Err(_) => format!("'{value}'"),
            };
            let (named, others): (Vec<_>, Vec<_>) =
                pairs.iter().partition(|(key, _)| parameter(key).is_some());
            let named = named
                .iter()
                .filter_map(|(key, value)| Some(format!("{}={}", parameter(key)?, quoted(value))));
            let others: Vec<String> = others
                .iter()
                .map(|(key, value)| format!("'{key}': {}", quoted(value)))
                .collect();
            let config = (!others.is_empty()).then(|| format!("config={{{}}}", others.join(", ")));
            named.chain(config).collect::<Vec<_>>().join(", ")
        },
    },
    pages: strt_report::pages,
};
