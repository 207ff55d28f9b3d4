//! Formats of signals as the value of an argument.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use strt_runs::Format;

/// Takes the name of a format.
pub fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::ending))
        .try_map(|name| Format::named(&name).ok_or("expected the name of a format"))
}
