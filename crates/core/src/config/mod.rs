//! The whole run as one serialisable value: [`Config`], plain data with one documented default per
//! field.
//!
//! A `Config` may hold anything; [`Config::check`] turns it, once, into a [`Plan`] that can run,
//! with every automatic value filled in for the recording at hand. Only a `Plan` can be trained.
//! Fields that are `Option` are automatic when absent; their doc comment says what is then chosen.
//!
//! `settings.rs` is the table of all settings, and [`SECTIONS`] and [`settings`] are what is known
//! of them; comments, messages, keys and the reference page are made from these.
//!
//! Deliberately absent: file formats (any serde format will do) and anything that runs.

mod bounds;
mod check;
mod choices;
mod error;
mod presets;
mod relations;
mod settings;
mod table;
mod value;

pub use bounds::Bounds;
pub use check::Plan;
pub use choices::{
    Activation, AssignmentRule, Coordinates, Elimination, EnergyForm, EngineKind, Freedom, Init,
    MixerKind, Preset, ScheduleKind, SeparationForm, Smoothness, SourceScale, UpdateRule,
};
pub use error::{ConfigError, Reason};
pub(crate) use settings::{AFFINE_KERNEL, BENT_KERNEL, LONG_KERNEL};
pub use settings::{
    Assignment, Branches, Config, Controller, EarlyStopping, MixerConfig, Optimizer, Preprocess,
    Rates, SECTIONS, Schedule, Sources, Weights, settings,
};
pub use table::{Automatic, Facts, Section, Setting};
pub use value::{Choice, Kind, Value};
