//! The table of settings: every entry can be reached by its key, in TOML and with `--set`, says
//! what it refuses, and stands on the page `docs/settings.md`, which `STRT_UPDATE=1` writes anew.

use std::fmt::Write;
use strt_io::{Layer, config_to_toml, overlay};
use strtransformer::Config;
use strtransformer::config::{Facts, Kind, MixerKind, Preset, SECTIONS, Setting, settings};

/// A configuration with a value for every setting.
fn complete() -> Config {
    Config::new(3).with_automatic_values(&Facts::EXAMPLE)
}

fn set(key: &str, value: &str) -> Result<Config, String> {
    let text = format!("{key}={value}");
    overlay(&complete(), Layer::Assignment(&text)).map_err(|error| error.to_string())
}

/// Another value of the kind that this one has, within the bounds.
fn another(setting: &Setting, value: &str) -> String {
    let numbers = ["2", "1", "64", "0.5", "0.25"];
    let candidates: Vec<String> = match setting.kind {
        Kind::Flag => vec!["true".into(), "false".into()],
        Kind::OneOf(choices) => choices.iter().map(|c| format!("{:?}", c.name)).collect(),
        Kind::Whole => numbers.map(String::from)[..3].to_vec(),
        Kind::Number => numbers.map(String::from).to_vec(),
        Kind::Wholes => vec!["[5, 9]".into()],
        Kind::Numbers => vec!["[0.5, 0.75]".into()],
    };
    let fits = |text: &String| text != value && set(setting.key, text).is_ok();
    let found = candidates.into_iter().find(fits);
    found.unwrap_or_else(|| panic!("{}: no other value is accepted", setting.key))
}

/// A number that the bounds do not hold.
fn outside(setting: &Setting) -> Option<String> {
    let bounds = setting.bounds?;
    let (numbers, list) = match setting.kind {
        Kind::Whole => ([0.0, 3.0, 1e6], false),
        Kind::Wholes => ([0.0, 3.0, 1e6], true),
        Kind::Numbers => ([-1.0, 0.0, f64::INFINITY], true),
        _ => ([-1.0, 0.0, f64::INFINITY], false),
    };
    let number = numbers.into_iter().find(|&n| !bounds.contains(n))?;
    Some(if list {
        format!("[{number}]")
    } else {
        number.to_string()
    })
}

#[test]
fn every_setting_is_read_and_shown_as_it_is_written() {
    for setting in settings() {
        let value = setting.value(&complete()).unwrap();
        let same = set(setting.key, &value).unwrap();
        assert_eq!(same, complete(), "{} = {value}", setting.key);
        let other = another(setting, &value);
        let config = set(setting.key, &other).unwrap();
        let shown = setting.value(&config).unwrap();
        let number = |text: &str| text.parse::<f64>().ok();
        assert!(
            shown == other || number(&shown) == number(&other),
            "{} = {shown}",
            setting.key
        );
        let back: Config = toml::from_str(&config_to_toml(&config)).unwrap();
        assert_eq!(back, config, "{}", setting.key);
    }
}

#[test]
fn what_is_outside_the_bounds_is_refused_with_key_value_and_what_is_expected() {
    let bounded = settings().filter(|setting| setting.bounds.is_some());
    for setting in bounded {
        let value = outside(setting).unwrap_or_else(|| panic!("{} takes all", setting.key));
        // A configuration without a number of sources can still be given one, but cannot run.
        let judged = set(setting.key, &value)
            .and_then(|config| config.check_values().map_err(|error| error.to_string()));
        let message = judged.expect_err(setting.key);
        assert!(
            message.contains(&format!("{} = ", setting.key)),
            "{message}"
        );
        assert!(message.contains(&setting.expected()), "{message}");
    }
}

#[test]
fn every_key_is_the_nearest_one_to_its_own_misspelling() {
    for setting in settings() {
        let typo = format!("{}q", setting.key);
        let message = set(&typo, "1").expect_err(&typo);
        let suggestion = format!("did you mean `{}`?", setting.key);
        assert!(message.contains(&suggestion), "{message}");
    }
}

#[test]
fn automatic_values_are_chosen_in_the_order_of_the_table() {
    let kinds = [MixerKind::Affine, MixerKind::Mlp];
    for (kind, preset) in kinds.into_iter().zip([Preset::Default, Preset::Paper]) {
        let mut open = preset.config(3);
        open.mixer.kind = kind;
        let once = open.with_automatic_values(&Facts::EXAMPLE);
        // A rule that reads what stands below it would choose otherwise a second time.
        for setting in settings().filter(|setting| setting.automatic.is_some()) {
            let Some(value) = setting.value(&once) else {
                continue;
            };
            let mut text = config_to_toml(&once).parse::<toml::Table>().unwrap();
            remove(&mut text, setting.key);
            let without: Config = text.try_into().unwrap();
            let again = without.with_automatic_values(&Facts::EXAMPLE);
            assert!(
                setting.value(&open).is_some() || setting.value(&again) == Some(value),
                "{}",
                setting.key
            );
        }
    }
}

fn remove(table: &mut toml::Table, key: &str) {
    match key.split_once('.') {
        None => {
            table.remove(key);
        }
        Some((section, rest)) => {
            let inner = table.get_mut(section).and_then(toml::Value::as_table_mut);
            inner.into_iter().for_each(|inner| remove(inner, rest));
        }
    }
}

#[test]
fn the_page_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
    let now = page();
    if std::env::var_os("STRT_UPDATE").is_some() {
        std::fs::write(path, &now).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == now,
        "docs/settings.md is not current: run this test with STRT_UPDATE=1"
    );
}

fn page() -> String {
    let mut page = String::from(
        "<!-- Made from the table of settings by
`STRT_UPDATE=1 cargo test --release -p strt-io --test settings`. -->

# Settings

Everything that decides a run, section by section, as a configuration file,
`--set section.key=value` of the program and `config` of the Python package name it. `strt config`
prints a file with all of it. What is automatic is chosen for the recording when the run starts, and
stands in the `config.toml` that the run leaves. A setting without a version has been there since
0.1.0.
",
    );
    for section in SECTIONS {
        let title = match section.key {
            "" => "General".to_string(),
            key => format!("`{key}`"),
        };
        let about = section.summary();
        write!(page, "\n## {title}\n\n{about}\n\n{HEAD}").unwrap();
        for setting in section.settings {
            writeln!(page, "{}", row(setting)).unwrap();
        }
    }
    page + &presets()
}

const HEAD: &str = "| setting | default | allowed | meaning |\n|---|---|---|---|\n";

fn row(setting: &Setting) -> String {
    let default = match (setting.automatic, setting.value(&Config::default())) {
        (Some(automatic), _) => format!("automatic: {}", automatic.rule),
        (None, _) if setting.key == "n_sources" => "none".into(),
        (None, value) => format!("`{}`", value.unwrap()),
    };
    let allowed = match setting.kind {
        Kind::OneOf(choices) => {
            let words = choices
                .iter()
                .map(|choice| format!("`\"{}\"`", choice.name));
            words.collect::<Vec<_>>().join(", ")
        }
        _ => setting.expected(),
    };
    let mut meaning = setting.summary();
    for paragraph in setting.details() {
        meaning += &format!(" {paragraph}");
    }
    if let Kind::OneOf(choices) = setting.kind {
        for choice in choices {
            meaning += &format!("<br>`\"{}\"`: {}", choice.name, choice.summary());
        }
    }
    if setting.since != "0.1.0" {
        meaning += &format!(" Since {}.", setting.since);
    }
    let cells = [default, allowed, meaning].map(|cell| cell.replace('|', "\\|"));
    format!("| `{}` | {} |", setting.key, cells.join(" | "))
}

fn presets() -> String {
    let mut text = String::from("\n## Presets\n\nWhere a configuration starts (`--preset`).\n");
    for preset in [Preset::Default, Preset::Paper] {
        let choice = Preset::CHOICES.iter().find(|c| c.name == preset.name());
        let (name, about) = (preset.name(), choice.unwrap().summary());
        write!(text, "\n### `{name}`\n\n{about}\n\n").unwrap();
        let differences = preset.differences();
        if differences.is_empty() {
            writeln!(text, "Every setting has its default.").unwrap();
            continue;
        }
        writeln!(text, "| setting | value |\n|---|---|").unwrap();
        for (setting, value) in differences {
            writeln!(text, "| `{}` | `{value}` |", setting.key).unwrap();
        }
    }
    text
}
