//! `strtransformer._core`: the library for Python. A thin shell: arrays and settings in, the
//! library's results out, and the interpreter free while the library works. Deliberately absent:
//! numerics, and anything that a user sees without the Python package `strtransformer` around it.

mod arrays;
mod baselines;
mod errors;
mod fit;
mod folders;
mod history;
mod jobs;
mod metrics;
mod model;
mod program;
mod recording;
mod settings;
mod synth;
mod values;
mod watch;
mod wording;

use pyo3::prelude::*;

/// The compiled part of the package `strtransformer`.
#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::baselines::{Decomposition, decompose, decompose_by, mix_rows, unmix_rows};
    #[pymodule_export]
    use super::fit::fit;
    #[pymodule_export]
    use super::folders::{load, report, save, write};
    #[pymodule_export]
    use super::jobs::{FolderBusyError, ensure_run, inspect_run};
    #[pymodule_export]
    use super::metrics::{
        PyMatching, align, amari_distance, amari_from_mixing, explained_variance, match_sources,
        residual_dependence, si_sdr, temporal_predictability,
    };
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::program::main;
    #[pymodule_export]
    use super::recording::{Recording, read};
    #[pymodule_export]
    use super::settings::{Config, configure, settings};
    #[pymodule_export]
    use super::synth::{generate, source_kinds};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
