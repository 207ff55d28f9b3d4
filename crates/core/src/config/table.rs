//! What is known of a setting, and the macro that defines the sections of the configuration
//! together with the table of what is known of them.
//!
//! In: the entries of `settings.rs`. Out: one plain struct per section, and [`SECTIONS`], from
//! which everything comes that a person reads about a setting: comments of a configuration file,
//! keys, messages, the reference page, the documentation of other languages.
//!
//! [`SECTIONS`]: super::SECTIONS

use super::{Bounds, Config, ConfigError, Kind, Reason};
use crate::Recording;

/// What automatic values may depend on besides the configuration: facts of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// T.
    pub n_samples: usize,
    /// m.
    pub n_channels: usize,
    /// Samples with a missing channel, among the T.
    pub n_missing: usize,
    /// Samples of a typical piece; T where the recording is one.
    pub piece: usize,
}

impl Facts {
    /// A recording to which examples refer.
    pub const EXAMPLE: Facts = Facts {
        n_samples: 1000,
        n_channels: 6,
        n_missing: 0,
        piece: 1000,
    };

    /// Those of a recording.
    pub fn of(recording: &Recording) -> Facts {
        Facts {
            n_samples: recording.n_samples(),
            n_channels: recording.n_channels(),
            n_missing: recording.n_missing(),
            piece: recording.pieces().typical(),
        }
    }

    /// Samples in which every channel has a value.
    pub fn n_complete(&self) -> usize {
        self.n_samples - self.n_missing
    }

    /// Values of complete samples.
    pub fn n_observed(&self) -> usize {
        self.n_complete() * self.n_channels
    }
}

/// How a setting is chosen when it is left out.
#[derive(Clone, Copy, Debug)]
pub struct Automatic {
    /// The rule in words.
    pub rule: &'static str,
    /// Sets the value unless there is one. Rules read what stands above them in the table.
    pub(super) fill: fn(&mut Config, &Facts),
}

/// All that is known of one setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its dotted name, such as `weights.smoothness`.
    pub key: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Which numbers it may hold; `None` where all are fine or a relation judges them.
    pub bounds: Option<Bounds>,
    /// How it is chosen when it is left out; `None` where it has a fixed default.
    pub automatic: Option<Automatic>,
    /// The version that had it first.
    pub since: &'static str,
    pub(super) doc: &'static str,
    pub(super) value: fn(&Config) -> Option<String>,
    pub(super) numbers: fn(&Config) -> Vec<f64>,
    /// What it needs from other settings: what is wrong, where that is not there.
    pub(super) relation: Option<fn(&Config) -> Option<Reason>>,
}

/// One section of the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its dotted name; empty for what belongs to no section.
    pub key: &'static str,
    /// Its settings, in the order in which they are shown and filled in.
    pub settings: &'static [Setting],
    pub(super) doc: &'static str,
}

impl Section {
    /// What it is about.
    pub fn summary(&self) -> String {
        paragraphs(self.doc).next().unwrap_or_default()
    }
}

impl Setting {
    /// Its name within its section.
    pub fn name(&self) -> &'static str {
        self.key.rsplit('.').next().unwrap_or(self.key)
    }

    /// What it means, in a sentence or two.
    pub fn summary(&self) -> String {
        paragraphs(self.doc).next().unwrap_or_default()
    }

    /// What else is to be said of it, paragraph by paragraph.
    pub fn details(&self) -> impl Iterator<Item = String> {
        paragraphs(self.doc).skip(1)
    }

    /// Its value in a configuration as a user types it; `None` where that is left open.
    pub fn value(&self, config: &Config) -> Option<String> {
        (self.value)(config)
    }

    /// What is allowed, in words.
    pub fn expected(&self) -> String {
        let unbounded = || self.kind.noun().to_string();
        self.bounds
            .map_or_else(unbounded, |bounds| bounds.expected(self.kind))
    }

    /// Whether what it may hold depends on other settings.
    pub fn has_relation(&self) -> bool {
        self.relation.is_some()
    }

    /// Whether the numbers in it are within their bounds.
    pub(super) fn check_bounds(&'static self, config: &Config) -> Result<(), ConfigError> {
        let numbers = (self.numbers)(config);
        match (&self.bounds, self.kind) {
            (Some(bounds), kind) if !numbers.iter().all(|&n| bounds.contains(n)) => {
                Err(config.refused(self.key, Reason::OutOfBounds { bounds, kind }))
            }
            _ => Ok(()),
        }
    }

    /// Whether it fits the other settings.
    pub(super) fn check_relation(&self, config: &Config) -> Result<(), ConfigError> {
        match self.relation.and_then(|relation| relation(config)) {
            Some(reason) => Err(config.refused(self.key, reason)),
            None => Ok(()),
        }
    }
}

/// The paragraphs of a doc comment, each in one line.
fn paragraphs(doc: &str) -> impl Iterator<Item = String> {
    let lines: Vec<&str> = doc.lines().map(str::trim).collect();
    let parts = lines.split(|line| line.is_empty());
    let joined: Vec<String> = parts.map(|part| part.join(" ")).collect();
    joined.into_iter().filter(|text| !text.is_empty())
}

impl super::Choice {
    /// What it means, in a sentence.
    pub fn summary(&self) -> String {
        paragraphs(self.doc).next().unwrap_or_default()
    }
}

/// The dotted name of a field.
macro_rules! key {
    (($($section:ident).*) $field:ident) => {
        concat!($(stringify!($section), ".",)* stringify!($field))
    };
}

/// The dotted name of a section.
macro_rules! section_key {
    (()) => { "" };
    (($first:ident $(. $rest:ident)*)) => {
        concat!(stringify!($first) $(, ".", stringify!($rest))*)
    };
}

/// The field of a configuration.
macro_rules! at {
    ($config:ident () $field:ident) => { $config.$field };
    ($config:ident ($($section:ident).+) $field:ident) => { $config.$($section).+.$field };
}

/// `Some` of what is there.
macro_rules! optional {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

/// The version in which a setting came; without one, the first.
macro_rules! since {
    () => {
        "0.1.0"
    };
    ($version:literal) => {
        $version
    };
}

/// The last line of a field's documentation.
macro_rules! default_doc {
    ($default:expr) => {
        concat!("Default: `", stringify!($default), "`.")
    };
    ($default:expr, $rule:literal) => {
        concat!("Automatic: ", $rule, ".")
    };
}

/// Defines the sections of the configuration, and the table of them.
///
/// ```text
/// /// What the section is about.
/// Name in (section.path) {
///     /// What the setting means: a sentence or two for configuration files.
///     ///
///     /// Further paragraphs, for documentation only.
///     field: Type = default, within BOUNDS, fits RELATION,
///         automatic "rule in words" RULE, since "1.2.0";
/// } with { subsection: Type, }
/// ```
///
/// Everything after the default may be absent. A setting with an automatic rule is an `Option`
/// with default `None`, and its rule a function of the configuration so far and the [`Facts`].
macro_rules! sections {
    ($(
        $(#[doc = $about:literal])+
        $name:ident in $path:tt {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty = $default:expr
                $(, within $bounds:expr)?
                $(, fits $relation:expr)?
                $(, automatic $rule:literal $choose:expr)?
                $(, since $version:literal)?;
            )+
        } $(with { $($inner:ident: $inner_type:ident,)+ })?
    )+) => {
        $(
            $(#[doc = $about])+
            #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
            #[serde(default, deny_unknown_fields)]
            pub struct $name {
                $(
                    $(#[doc = $doc])+
                    #[doc = ""]
                    #[doc = default_doc!($default $(, $rule)?)]
                    #[serde(skip_serializing_if = "crate::config::Value::is_absent")]
                    pub $field: $type,
                )+
                $($(
                    #[doc = concat!("Section `", stringify!($inner), "`.")]
                    pub $inner: $inner_type,
                )+)?
            }

            impl Default for $name {
                fn default() -> $name {
                    $name {
                        $($field: $default,)+
                        $($($inner: $inner_type::default(),)+)?
                    }
                }
            }
        )+

        /// Everything that is known of the sections and their settings.
        pub static SECTIONS: &[Section] = &[$(
            Section {
                key: section_key!($path),
                doc: concat!($($about, "\n"),+),
                settings: &[$(
                    Setting {
                        key: key!($path $field),
                        kind: <$type as Value>::KIND,
                        bounds: optional!($($bounds)?),
                        automatic: optional!($(Automatic {
                            rule: $rule,
                            fill: |config, facts| {
                                let choose: fn(&Config, &Facts) -> $type = $choose;
                                if at!(config $path $field).is_none() {
                                    at!(config $path $field) = choose(config, facts);
                                }
                            },
                        })?),
                        since: since!($($version)?),
                        doc: concat!($($doc, "\n"),+),
                        value: |config| at!(config $path $field).spelled(),
                        numbers: |config| at!(config $path $field).numbers(),
                        relation: optional!($($relation)?),
                    },
                )+],
            },
        )+];
    };
}

pub(super) use {at, default_doc, key, optional, section_key, sections, since};
