//! [`Config`] ↔ TOML.
//!
//! A key that the configuration does not know is refused with its line, a value out of range with
//! its name; nothing is ignored. Automatic values that are not set are absent from the text.
//! Comments are not kept: a file that is saved again is written anew.

use crate::atomic;
use crate::error::{Error, Result};
use std::path::Path;
use strtransformer::Config;

/// The configuration as TOML, every field in its section.
///
/// ```
/// let text = strt_io::config_to_toml(&strtransformer::Config::new(3));
/// assert!(text.starts_with("n_sources = 3\n"));
/// ```
pub fn config_to_toml(config: &Config) -> String {
    toml::to_string(config).expect("plain numbers, words and lists can be written as TOML")
}

/// Writes the configuration to a file, whole or not at all.
///
/// # Errors
/// [`Error::Io`] or [`Error::NotAFile`]; an old file is then left as it was.
pub fn save_config(config: &Config, path: impl AsRef<Path>) -> Result<()> {
    let text = config_to_toml(config);
    atomic::write(path.as_ref(), |file| file.write_all(text.as_bytes()))
}

/// Reads a configuration and checks every value that can be checked without a recording.
///
/// A field that is absent has its default. `n_sources` has none that can run: when the file does
/// not name it, it is 0 and must be set before the run.
///
/// # Errors
/// [`Error::ConfigText`] with line and column when the text is not TOML, a key is unknown or a
/// value has the wrong type; [`Error::Refused`] with the field when a value is out of range;
/// [`Error::Io`] or [`Error::NotAFile`].
pub fn load_config(path: impl AsRef<Path>) -> Result<Config> {
    let path = path.as_ref();
    let text = read_text(path)?;
    let config = parse(&text).map_err(|fault| fault.at(path))?;
    let named = text
        .parse::<toml::Table>()
        .is_ok_and(|table| table.contains_key("n_sources"));
    check_values(&config, named, path)?;
    Ok(config)
}

/// Reads a configuration that [`config_to_toml`] wrote; `path` is what messages call the text. The
/// values are not judged.
///
/// # Errors
/// [`Error::ConfigText`] with line and column when the text is not TOML, a key is unknown or a
/// value has the wrong type.
pub fn config_from_toml(path: impl AsRef<Path>, text: &str) -> Result<Config> {
    parse(text).map_err(|fault| fault.at(path.as_ref()))
}

/// A file as text.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(atomic::read(path)?).map_err(|error| Error::ConfigText {
        path: path.to_owned(),
        place: format!("byte {}", error.utf8_error().valid_up_to()),
        problem: "expected text in UTF-8, found other bytes".into(),
    })
}

/// Judges the values of a configuration; the number of sources only where it was named.
pub(crate) fn check_values(config: &Config, sources_named: bool, path: &Path) -> Result<()> {
    let mut complete = config.clone();
    if !sources_named {
        complete.n_sources = 1; // to judge the rest
    }
    complete.check_values().map_err(Error::refused(path))
}

/// What is wrong with a text, and where.
pub(crate) struct Fault {
    pub place: String,
    pub problem: String,
}

impl Fault {
    /// The error of a text that messages call `path`.
    pub fn at(self, path: &Path) -> Error {
        let Fault { place, problem } = self;
        let path = path.to_owned();
        Error::ConfigText {
            path,
            place,
            problem,
        }
    }
}

/// TOML → configuration; the values are not judged.
pub(crate) fn parse(text: &str) -> Result<Config, Fault> {
    toml::from_str(text).map_err(|error| fault(text, &error))
}

/// What the parser said about `text`.
pub(crate) fn fault(text: &str, error: &toml::de::Error) -> Fault {
    Fault {
        place: match error.span() {
            Some(span) => line_and_column(text, span.start),
            None => "configuration".into(),
        },
        problem: error.message().trim().to_string(),
    }
}

fn line_and_column(text: &str, byte: usize) -> String {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    let column = before[line_start..].chars().count() + 1;
    format!("line {line}, column {column}")
}
