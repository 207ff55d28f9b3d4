//! `Config`: from preset, configuration and parameters to what the library runs, in that order: the
//! later one wins.
//!
//! Keys are looked up by `strt-io`, which names the nearest one for a key that does not exist. What
//! is said twice and differently is refused rather than ranked. `settings` is the table of them,
//! for documentation.

use crate::recording::Recording;
use crate::{errors, values};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use strt_io::{Layer, config_to_toml, overlay};
use strtransformer::config::{Kind, MixerKind, Setting};
use strtransformer::train::usable_patch_sizes;
use toml::{Table, Value};

/// A configuration that was judged, except against a recording.
#[pyclass(frozen, module = "strtransformer._core")]
pub struct Config {
    pub inner: strtransformer::Config,
    /// Whether the caller chose the patch sizes.
    patch_sizes_named: bool,
    /// Whether the caller's configuration names a seed.
    #[pyo3(get)]
    seed_named: bool,
}

/// Where the caller's configuration comes from.
#[derive(FromPyObject)]
enum Given<'py> {
    #[pyo3(transparent)]
    Dict(Bound<'py, PyDict>),
    #[pyo3(transparent)]
    Text(String),
    #[pyo3(transparent)]
    File(PathBuf),
}

/// A text that can only be TOML, not the name of a file.
fn is_toml(text: &str) -> bool {
    text.contains('\n') || text.contains('=')
}

impl Given<'_> {
    /// `base` with all that is given on top, and the table of what is given.
    fn on(self, base: &strtransformer::Config) -> PyResult<(strtransformer::Config, Table)> {
        let (text, layered) = match self {
            Given::Dict(dict) => {
                let text = values::to_table(&dict)?.to_string();
                let layered = overlay(base, named(&text));
                (text, layered)
            }
            Given::Text(text) if is_toml(&text) => {
                let layered = overlay(base, named(&text));
                (text, layered)
            }
            Given::Text(path) => return Given::File(path.into()).on(base),
            Given::File(path) => {
                let layered = overlay(base, Layer::File(&path));
                (std::fs::read_to_string(&path).unwrap_or_default(), layered)
            }
        };
        let config = layered.map_err(errors::of_io)?;
        let table = text.parse().expect("it was just laid on top");
        Ok((config, table))
    }
}

fn named(text: &str) -> Layer<'_> {
    Layer::Text {
        name: "config",
        text,
    }
}

/// Whether a table has a value at a dotted key.
fn holds(table: &Table, key: &str) -> bool {
    match key.split_once('.') {
        None => table.contains_key(key),
        Some((section, rest)) => {
            matches!(table.get(section), Some(Value::Table(inner)) if holds(inner, rest))
        }
    }
}

fn contradiction(parameter: &str, key: &str) -> PyErr {
    PyValueError::new_err(format!(
        "{parameter}, but `config` sets {key} to another value; say it once, with the parameter"
    ))
}

/// The configuration of a run.
#[pyfunction]
#[pyo3(signature = (
    *, preset, mixer, config=None, n_components=None, max_iter=None, tol=None, n_restarts=None,
    seed=None, threads=0
))]
pub fn configure(
    preset: &str,
    mixer: &str,
    config: Option<Bound<'_, PyAny>>,
    n_components: Option<usize>,
    max_iter: Option<usize>,
    tol: Option<f64>,
    n_restarts: Option<usize>,
    seed: Option<u64>,
    threads: usize,
) -> PyResult<Config> {
    let mut base = match preset {
        "default" => strtransformer::Config::new(0),
        "fast" => strtransformer::Config::fast(0),
        "paper" => strtransformer::Config::paper(0),
        _ => {
            return Err(PyValueError::new_err(format!(
                "preset = '{preset}': expected 'default', 'fast' or 'paper'"
            )));
        }
    };
    base.mixer.kind = match mixer {
        "affine" => MixerKind::Affine,
        "mlp" => MixerKind::Mlp,
        _ => {
            return Err(PyValueError::new_err(format!(
                "mixer = '{mixer}': expected 'affine' (linear mixing) or 'mlp' (nonlinear mixing)"
            )));
        }
    };
    let kind = base.mixer.kind;
    let (mut inner, table) = match config {
        None => (base, Table::new()),
        Some(given) => {
            let found = given.get_type();
            given
                .extract::<Given<'_>>()
                .map_err(|_| {
                    PyValueError::new_err(format!(
                        "config: expected a dict, a TOML text or the path of a TOML file, found \
                         {found}"
                    ))
                })?
                .on(&base)?
        }
    };
    if inner.mixer.kind != kind {
        return Err(contradiction(&format!("mixer = '{mixer}'"), "mixer.kind"));
    }
    let differs = |key: &str, same: bool| holds(&table, key) && !same;
    if let Some(k) = n_components {
        if differs("n_sources", inner.n_sources == k) {
            return Err(contradiction(&format!("n_components = {k}"), "n_sources"));
        }
        inner.n_sources = k;
    }
    if let Some(steps) = max_iter {
        if differs("optimizer.steps", inner.optimizer.steps == Some(steps)) {
            return Err(contradiction(
                &format!("max_iter = {steps}"),
                "optimizer.steps",
            ));
        }
        inner.optimizer.steps = Some(steps);
    }
    let tolerance = &mut inner.optimizer.early_stopping.tolerance;
    if let Some(tol) = tol {
        if differs("optimizer.early_stopping.tolerance", *tolerance == tol) {
            return Err(contradiction(
                &format!("tol = {tol}"),
                "optimizer.early_stopping.tolerance",
            ));
        }
        *tolerance = tol;
    }
    if let Some(restarts) = n_restarts {
        if differs("restarts", inner.restarts == n_restarts) {
            return Err(contradiction(
                &format!("n_restarts = {restarts}"),
                "restarts",
            ));
        }
        inner.restarts = n_restarts;
    }
    let seed_named = holds(&table, "seed");
    if let Some(seed) = seed {
        if differs("seed", inner.seed == seed) {
            return Err(contradiction(&format!("random_state = {seed}"), "seed"));
        }
        inner.seed = seed;
    }
    if threads > 0 || !holds(&table, "threads") {
        inner.threads = threads;
    }
    let mut complete = inner.clone();
    complete.n_sources = complete.n_sources.max(usize::from(n_components.is_none()));
    complete.check_values().map_err(errors::of_core)?;
    Ok(Config {
        inner,
        patch_sizes_named: holds(&table, "branches.patch_sizes"),
        seed_named,
    })
}

#[pymethods]
impl Config {
    /// Number of sources; 0 where it has not been chosen.
    #[getter]
    fn n_sources(&self) -> usize {
        self.inner.n_sources
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.inner.seed
    }

    #[getter]
    fn threads(&self) -> usize {
        self.inner.threads
    }

    #[getter]
    fn center(&self) -> bool {
        self.inner.preprocess.center
    }

    #[getter]
    fn scale(&self) -> bool {
        self.inner.preprocess.scale
    }

    /// This configuration with another number of sources.
    fn with_n_sources(&self, n_sources: usize) -> Config {
        let mut inner = self.inner.clone();
        inner.n_sources = n_sources;
        Config { inner, ..*self }
    }

    /// This configuration with another seed.
    fn with_seed(&self, seed: u64) -> Config {
        let mut inner = self.inner.clone();
        inner.seed = seed;
        Config { inner, ..*self }
    }

    /// The configuration for a recording, and the patch sizes that were left out because it has no
    /// two whole patches of them. Sizes that the caller chose are not touched: the library refuses
    /// those that cannot be used.
    fn for_recording(&self, recording: &Recording) -> (Config, Vec<usize>) {
        let mut inner = self.inner.clone();
        let usable = usable_patch_sizes(&recording.inner, &inner);
        if self.patch_sizes_named || usable.is_empty() {
            return (Config { inner, ..*self }, Vec::new());
        }
        let sizes = std::mem::replace(&mut inner.branches.patch_sizes, usable.clone());
        let left_out = sizes
            .into_iter()
            .filter(|size| !usable.contains(size))
            .collect();
        (Config { inner, ..*self }, left_out)
    }

    /// Every value, as TOML.
    fn to_toml(&self) -> String {
        config_to_toml(&self.inner)
    }

    /// Every value, in nested dicts.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(py, &self.inner)
    }
}

/// Every value of a configuration, in nested dicts.
pub fn to_dict<'py>(
    py: Python<'py>,
    config: &strtransformer::Config,
) -> PyResult<Bound<'py, PyDict>> {
    // TOML's own values end at 63 bits, seeds do not.
    let without_seed = strtransformer::Config {
        seed: 0,
        ..config.clone()
    };
    let table = Table::try_from(without_seed).map_err(|error| {
        PyValueError::new_err(format!(
            "the configuration cannot be shown as a dict: {error}"
        ))
    })?;
    let dict = values::table_to_python(py, &table)?;
    dict.set_item("seed", config.seed)?;
    Ok(dict)
}

/// All settings that `config` can hold, each as a dict: its dotted `key`, its `default` (`None`
/// where it is chosen automatically, by the rule `automatic`), what is `expected`, the `choices`
/// of a word, what it means (`doc`) and `since` which version there is it.
#[pyfunction]
pub fn settings(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let entries = strtransformer::config::settings().map(|setting| entry(py, setting));
    PyList::new(py, entries.collect::<PyResult<Vec<_>>>()?)
}

fn entry<'py>(py: Python<'py>, setting: &Setting) -> PyResult<Bound<'py, PyDict>> {
    let default = setting.value(&strtransformer::Config::default());
    let default = default.and_then(|text| format!("value = {text}").parse::<Table>().ok());
    let default = default.as_ref().and_then(|table| table.get("value"));
    let choices: Option<Vec<&str>> = match setting.kind {
        Kind::OneOf(choices) => Some(choices.iter().map(|choice| choice.name).collect()),
        _ => None,
    };
    let dict = PyDict::new(py);
    dict.set_item("key", setting.key)?;
    dict.set_item(
        "default",
        default.map(|v| values::to_python(py, v)).transpose()?,
    )?;
    dict.set_item(
        "automatic",
        setting.automatic.map(|automatic| automatic.rule),
    )?;
    dict.set_item("expected", setting.expected())?;
    dict.set_item("choices", choices)?;
    dict.set_item("doc", setting.summary())?;
    dict.set_item("since", setting.since)?;
    Ok(dict)
}
