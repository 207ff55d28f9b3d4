//! A [`Config`] as TOML with a comment for every value, to be edited by a person.
//!
//! The comments are those of the table of settings. Values that are automatic stand there as
//! comments. The text reads back as the configuration it was made from.

use strtransformer::Config;
use strtransformer::config::{Facts, Kind, SECTIONS, Setting};

const HEADER: &str = "\
# Configuration of strt. Every value is optional: what a file does not name is as the preset has it.
# Use it with `strt separate INPUT --config FILE.toml`; single values can be set with
# `--set section.key=value`.

";

/// Width of a comment.
const WIDTH: usize = 100;

/// The configuration as TOML, with a comment for every section and value.
///
/// ```
/// let text = strt_io::config_to_commented_toml(&strtransformer::Config::new(3));
/// assert!(text.contains("# Share of patches that are hidden and predicted"));
/// ```
pub fn config_to_commented_toml(config: &Config) -> String {
    let mut example = config.clone();
    if example.n_sources == 0 {
        example.n_sources = 3;
    }
    let example = example.with_automatic_values(&Facts::EXAMPLE);
    let mut text = HEADER.to_string();
    for section in SECTIONS {
        if !section.key.is_empty() {
            text.push('\n');
            comment(&mut text, "", &section.summary());
            text += &format!("[{}]\n", section.key);
        }
        for setting in section.settings {
            describe(&mut text, setting);
            text += &line(setting, config, &example);
        }
    }
    text
}

/// The value, or a comment with the one that `example` has where `config` leaves it open.
fn line(setting: &Setting, config: &Config, example: &Config) -> String {
    let name = setting.name();
    // No recording has 0 sources: it stands for a number that is still to be given.
    let is_given = setting.key != "n_sources" || config.n_sources > 0;
    match setting.value(config).filter(|_| is_given) {
        Some(value) => format!("{name} = {value}\n"),
        None => match setting.value(example) {
            Some(value) => format!("# {name} = {value}\n"),
            None => format!("# {name} is not used here\n"),
        },
    }
}

/// What a setting means, may be, and is when it is left out.
fn describe(text: &mut String, setting: &Setting) {
    let mut about = setting.summary();
    if let Some(bounds) = setting.bounds {
        about += &format!(" [{}]", bounds.interval());
    }
    if let Some(automatic) = setting.automatic {
        about += &format!(" Automatic: {}.", automatic.rule);
    }
    comment(text, "", &about);
    if let Kind::OneOf(choices) = setting.kind {
        for choice in choices {
            let about = format!("\"{}\": {}", choice.name, choice.summary());
            comment(text, "  ", &about);
        }
    }
}

/// Words as comment lines, those after the first indented once more.
fn comment(text: &mut String, indent: &str, words: &str) {
    let mut line = format!("# {indent}");
    let mut is_empty = true;
    for word in words.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            *text += &format!("{line}\n");
            line = format!("# {indent}{indent}");
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    *text += &format!("{line}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_reads_back_as_the_configuration() {
        let mut custom = Config::nonlinear(4);
        custom.weights.kappa = Some(0.125);
        custom.weights.observation_variance = Some(f64::INFINITY);
        for config in [Config::new(0), Config::paper(5), custom] {
            let text = config_to_commented_toml(&config);
            assert_eq!(toml::from_str::<Config>(&text).unwrap(), config, "{text}");
        }
    }

    #[test]
    fn automatic_values_are_those_of_the_mixer_at_hand() {
        let affine = config_to_commented_toml(&Config::new(0));
        assert!(
            affine.contains("\n# coordinates = \"fiber\"\n# "),
            "{affine}"
        );
        assert!(affine.contains("\n# structure = 10.0\n"), "{affine}");
        let nonlinear = config_to_commented_toml(&Config::nonlinear(0));
        assert!(nonlinear.contains("\n# energy_block = 64\n"), "{nonlinear}");
        let paper = config_to_commented_toml(&Config::paper(0));
        assert!(paper.contains("\n# kappa is not used here\n"), "{paper}");
        assert!(affine.lines().all(|line| line.chars().count() <= WIDTH));
    }
}
