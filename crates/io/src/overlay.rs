//! A configuration on top of another: only what is named changes.
//!
//! In: a [`Config`] and a [`Layer`]: a file, a text or one `section.key=value`. Out: the combined
//! configuration. A key that no configuration has is refused together with the nearest one that
//! exists.

use crate::config::{Fault, check_values, read_text};
use crate::error::{Error, Result};
use faer::Mat;
use std::path::{Path, PathBuf};
use strtransformer::{Config, Recording};
use toml::{Table, Value};

/// What is laid on top.
#[derive(Clone, Copy, Debug)]
pub enum Layer<'a> {
    /// A TOML file.
    File(&'a Path),
    /// `section.key=value`, the value as in TOML; a bare word is a string.
    Assignment(&'a str),
    /// TOML that is in no file, and what messages call it.
    Text {
        /// What messages call it.
        name: &'a str,
        /// The TOML.
        text: &'a str,
    },
}

/// `base` with everything that `layer` names.
///
/// ```
/// use strt_io::{Layer, overlay};
/// let base = strtransformer::Config::new(3);
/// let config = overlay(&base, Layer::Assignment("weights.smoothness=0.2"))?;
/// assert_eq!(config.weights.smoothness, 0.2);
/// let error = overlay(&base, Layer::Assignment("weights.smothness=1")).unwrap_err();
/// assert!(error.to_string().contains("did you mean `weights.smoothness`"));
/// # Ok::<(), strt_io::Error>(())
/// ```
///
/// # Errors
/// [`Error::ConfigText`] when the text is not TOML, a key is unknown or a value has the wrong type;
/// [`Error::Refused`] when a value is out of range; [`Error::Io`] or [`Error::NotAFile`] when the
/// file cannot be read.
pub fn overlay(base: &Config, layer: Layer<'_>) -> Result<Config> {
    overlay_all(base, &[layer]).map_err(|blamed| blamed.1)
}

/// `base` with everything that the layers name, the later ones on top. Values are judged together:
/// one layer may need another.
///
/// # Errors
/// As [`overlay`], with the layer that is to blame.
pub fn overlay_all<'a>(
    base: &Config,
    layers: &[Layer<'a>],
) -> Result<Config, Box<(Layer<'a>, Error)>> {
    let mut config = base.clone();
    // The layer that made the values unusable, unless a later one made them usable again.
    let mut blamed = None;
    for &layer in layers {
        let (combined, judged) = lay(&config, layer).map_err(|error| Box::new((layer, error)))?;
        blamed = match judged {
            Ok(()) => None,
            Err(error) => blamed.or(Some((layer, error))),
        };
        config = combined;
    }
    match blamed {
        Some(blamed) => Err(Box::new(blamed)),
        None => Ok(config),
    }
}

/// One layer, and whether the values can run.
fn lay(base: &Config, layer: Layer<'_>) -> Result<(Config, Result<()>)> {
    let (origin, table) = match layer {
        Layer::File(path) => {
            let text = read_text(path)?;
            // The file alone gives the better message for what it has wrong, line and column.
            let table: Table = match text.parse() {
                Ok(table) => table,
                Err(_) => return Err(crate::config::load_config(path).expect_err("not TOML")),
            };
            (path.to_owned(), table)
        }
        Layer::Assignment(text) => (PathBuf::from(text), assignment(text)?),
        Layer::Text { name, text } => (PathBuf::from(name), table(name, text)?),
    };
    let fault = |place: &str, problem: String| Error::ConfigText {
        path: origin.clone(),
        place: place.to_string(),
        problem,
    };
    let known = known_keys();
    let mut named = Vec::new();
    leaves("", &table, &known, &mut named);
    for key in &named {
        if !known
            .iter()
            .any(|k| k == key || k.starts_with(&format!("{key}.")))
        {
            let nearest = nearest(key, &known);
            return Err(fault(
                key,
                format!("there is no such key (did you mean `{nearest}`?)"),
            ));
        }
    }
    let mut merged = Table::try_from(base).expect("a configuration is a table");
    merge(&mut merged, table);
    let text = toml::to_string(&merged).expect("a table can be written");
    let config = crate::config::parse(&text).map_err(|Fault { problem, .. }| {
        let place = named.first().map_or("configuration", String::as_str);
        fault(place, problem)
    })?;
    // No number of sources yet is not a wrong one.
    let judged = check_values(&config, config.n_sources > 0, &origin);
    Ok((config, judged))
}

fn table(name: &str, text: &str) -> Result<Table> {
    text.parse()
        .map_err(|error: toml::de::Error| crate::config::fault(text, &error).at(Path::new(name)))
}

fn assignment(text: &str) -> Result<Table> {
    let fault = |problem: String| Error::ConfigText {
        path: PathBuf::from(text),
        place: "assignment".into(),
        problem,
    };
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| fault("expected section.key=value".into()))?;
    let (key, value) = (key.trim(), value.trim());
    let literal = format!("value = {value}");
    let value = match literal.parse::<Table>() {
        Ok(mut table) => table.remove("value").expect("just written"),
        Err(_) => Value::String(value.to_string()),
    };
    let mut parts: Vec<&str> = key.split('.').collect();
    let last = parts.pop().filter(|part| !part.is_empty());
    let last = last.ok_or_else(|| fault("expected section.key=value".into()))?;
    let mut table = Table::from_iter([(last.to_string(), value)]);
    for part in parts.into_iter().rev() {
        table = Table::from_iter([(part.to_string(), Value::Table(table))]);
    }
    Ok(table)
}

/// Dotted names of everything that a configuration can hold, automatic values included.
fn known_keys() -> Vec<String> {
    let config = with_automatic_values(&Config::new(1));
    let table = Table::try_from(&config).expect("a configuration is a table");
    let mut keys = Vec::new();
    leaves("", &table, &[], &mut keys);
    keys
}

/// `base` with a value wherever it has none yet: those that are chosen for its mixer and
/// coordinates in a recording of 1000 samples of 6 channels.
pub(crate) fn with_automatic_values(base: &Config) -> Config {
    let mut plain = Config::new(if base.n_sources == 0 {
        3
    } else {
        base.n_sources
    });
    plain.mixer.kind = base.mixer.kind;
    plain.sources.coordinates = base.sources.coordinates;
    plain.weights.separation_form = base.weights.separation_form;
    let channels = Mat::from_fn(1000, 6, |t, c| (0.1 * (t * (c + 1)) as f64).sin());
    let filled = Recording::from_mat(channels).map(|example| plain.check(&example));
    let filled = filled.expect("a plain recording is usable");
    let filled = filled
        .expect("a plain configuration can run")
        .config()
        .clone();

    let mut config = base.clone();
    config.mixer.ridge = config.mixer.ridge.or(filled.mixer.ridge);
    config.sources.coordinates = config.sources.coordinates.or(filled.sources.coordinates);
    config.sources.unlock = config.sources.unlock.or(filled.sources.unlock);
    let (weights, chosen) = (&mut config.weights, filled.weights);
    weights.observation_variance = weights.observation_variance.or(chosen.observation_variance);
    weights.structure = weights.structure.or(chosen.structure);
    weights.separation = weights.separation.or(chosen.separation);
    weights.kappa = weights.kappa.or(chosen.kappa);
    weights.energy_block = weights.energy_block.or(chosen.energy_block);
    config.optimizer.steps = config.optimizer.steps.or(filled.optimizer.steps);
    let rates = &mut config.optimizer.rates;
    rates.sources = rates.sources.or(filled.optimizer.rates.sources);
    config
}

/// Dotted names of the values in a table. A table that is itself a known value, such as a schedule,
/// is one name.
fn leaves(prefix: &str, table: &Table, known: &[String], out: &mut Vec<String>) {
    for (key, value) in table {
        let name = match prefix {
            "" => key.clone(),
            _ => format!("{prefix}.{key}"),
        };
        match value {
            Value::Table(inner) if !known.contains(&name) && !is_choice(&name) => {
                leaves(&name, inner, known, out);
            }
            _ => out.push(name),
        }
    }
}

/// Values whose own keys depend on which variant they are; serde judges them.
fn is_choice(name: &str) -> bool {
    name == "optimizer.schedule"
}

fn merge(base: &mut Table, layer: Table) {
    for (key, value) in layer {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(base)), Value::Table(layer)) if key != "schedule" => {
                merge(base, layer)
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// The known key at the least edit distance, ties to the first.
fn nearest<'a>(key: &str, known: &'a [String]) -> &'a str {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_string();
    known
        .iter()
        .min_by_key(|name| {
            strsim::levenshtein(name, key).min(1 + strsim::levenshtein(&last(name), &last(key)))
        })
        .map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> Result<Config> {
        overlay(&Config::new(3), Layer::Assignment(text))
    }

    #[test]
    fn every_kind_of_value_can_be_set() {
        assert_eq!(set("seed=7").unwrap().seed, 7);
        assert_eq!(
            set("branches.patch_sizes=[4, 8]")
                .unwrap()
                .branches
                .patch_sizes,
            [4, 8]
        );
        assert!(
            !set("sources.standardize = false")
                .unwrap()
                .sources
                .standardize
        );
        assert_eq!(set("weights.kappa=0.5").unwrap().weights.kappa, Some(0.5));
        let config = set("mixer.kind=mlp").unwrap();
        assert_eq!(config.mixer.kind, strtransformer::config::MixerKind::Mlp);
        let config = set("optimizer.rates.fiber=0.1").unwrap();
        assert_eq!((config.optimizer.rates.fiber, config.n_sources), (0.1, 3));
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_the_nearest_key() {
        for (text, expected) in [
            ("sed=7", "`seed`"),
            ("smoothness=1", "`weights.smoothness`"),
            ("optimiser.steps=5", "`optimizer.steps`"),
            ("branches.patches=[4]", "`branches."),
            ("seed", "section.key=value"),
            ("seed=x", "invalid type"),
            ("mixer.kind=linear", "unknown variant"),
            ("optimizer.steps=0", "at least 1"),
            ("=3", "section.key=value"),
        ] {
            let error = set(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_changes_only_what_it_names() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("own.toml");
        std::fs::write(&path, "seed = 5\n[weights]\nsmoothness = 0.7\n").unwrap();
        let mut base = Config::paper(4);
        let config = overlay(&base, Layer::File(&path)).unwrap();
        (base.seed, base.weights.smoothness) = (5, 0.7);
        assert_eq!(config, base);
        std::fs::write(&path, "[wieghts]\nsmoothness = 0.7\n").unwrap();
        let error = overlay(&base, Layer::File(&path)).unwrap_err().to_string();
        assert!(
            error.contains("own.toml") && error.contains("`weights.smoothness`"),
            "{error}"
        );
        let text = "seed = 6\n[weights]\nsmothness = 0.7\n";
        let error = overlay(&base, Layer::Text { name: "mine", text })
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("mine: ") && error.contains("`weights.smoothness`"),
            "{error}"
        );
        let text = "seed = 6\nseed 7\n";
        let error = overlay(&base, Layer::Text { name: "mine", text })
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 2"), "{error}");
        let text = "seed = 6\n";
        assert_eq!(
            overlay(&base, Layer::Text { name: "mine", text })
                .unwrap()
                .seed,
            6
        );
        std::fs::write(&path, "seed = = 5\n").unwrap();
        let error = overlay(&base, Layer::File(&path)).unwrap_err().to_string();
        assert!(error.contains("line 1"), "{error}");
    }
}
