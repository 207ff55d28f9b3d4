//! `Fz,Cz,3,5-8` → channels of a file.
//!
//! A name goes before a number: in a file with a channel called `3` the word `3` means that
//! channel, otherwise the third. Whether the channels can be read together is not judged here.

use super::assemble::shortened;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The channels to take, as they are asked for: names, numbers from 1, and ranges of numbers,
/// separated by commas. A name with a comma in it stands between double quotes.
///
/// ```
/// let selection = strt_io::ChannelSelection::from("Fz, Cz, 3, 5-8");
/// assert_eq!(selection.words(), ["Fz", "Cz", "3", "5-8"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ChannelSelection {
    text: String,
    words: Vec<String>,
}

impl From<ChannelSelection> for String {
    fn from(selection: ChannelSelection) -> Self {
        selection.text
    }
}

impl From<&str> for ChannelSelection {
    fn from(text: &str) -> Self {
        text.to_string().into()
    }
}

/// Of names as they are; each means the channel that is called so.
impl<'a> FromIterator<&'a str> for ChannelSelection {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        let words: Vec<String> = names.into_iter().map(String::from).collect();
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let text = quoted.join(",");
        Self { text, words }
    }
}

impl From<String> for ChannelSelection {
    fn from(text: String) -> Self {
        let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
        for character in text.chars() {
            match character {
                '"' => quoted = !quoted,
                ',' if !quoted => words.push(std::mem::take(&mut word)),
                _ => word.push(character),
            }
        }
        words.push(word);
        words
            .iter_mut()
            .for_each(|word| *word = word.trim().to_string());
        Self { text, words }
    }
}

impl ChannelSelection {
    /// The words between the commas.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The channels that are meant, counted from 0, in the order of the words.
    pub(crate) fn resolve(&self, path: &Path, names: &[&str]) -> Result<Vec<usize>> {
        self.resolve_for("channels", path, names)
    }

    /// As [`ChannelSelection::resolve`], for an option of another name.
    pub(crate) fn resolve_for(
        &self,
        option: &'static str,
        path: &Path,
        names: &[&str],
    ) -> Result<Vec<usize>> {
        let mut chosen = Vec::new();
        for word in &self.words {
            for channel in meant(option, path, word, names)? {
                if chosen.contains(&channel) {
                    return Err(Error::request(
                        path,
                        option,
                        "every channel at most once",
                        format!("`{word}`, which means channel `{}` again", names[channel]),
                        "remove one of the two",
                    ));
                }
                chosen.push(channel);
            }
        }
        Ok(chosen)
    }
}

fn meant(
    option: &'static str,
    path: &Path,
    word: &str,
    names: &[&str],
) -> Result<std::ops::Range<usize>> {
    if let Some(channel) = names.iter().position(|name| *name == word) {
        return Ok(channel..channel + 1);
    }
    let range = match word.split_once('-') {
        Some((first, last)) => first
            .trim()
            .parse::<usize>()
            .ok()
            .zip(last.trim().parse().ok()),
        None => word.parse().ok().map(|number: usize| (number, number)),
    };
    match range {
        Some((first, last)) if 1 <= first && first <= last && last <= names.len() => {
            Ok(first - 1..last)
        }
        Some(_) => Err(Error::request(
            path,
            option,
            format!("numbers from 1 to {}, in rising order", names.len()),
            format!("`{word}`"),
            "correct it",
        )),
        None => {
            let remedy = match nearest(word, names) {
                Some(name) => format!("did you mean `{name}`?"),
                None => "`strt info` lists the channels".to_string(),
            };
            Err(Error::request(
                path,
                option,
                format!("a name or a number of the {} channels", names.len()),
                format!("`{word}`"),
                remedy,
            ))
        }
    }
}

/// `asked` is none of `names`.
pub(crate) fn not_among(path: &Path, option: &'static str, asked: &str, names: &[&str]) -> Error {
    let remedy = match nearest(asked, names) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "name one of them".to_string(),
    };
    let expected = format!("one of {}", shortened(names));
    Error::request(path, option, expected, format!("`{asked}`"), remedy)
}

/// The name that differs least, when it does not differ much.
fn nearest<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(64).collect();
    let (distance, name) = names
        .iter()
        .take(4096)
        .map(|name| (edits(&word, name), *name))
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= word.len().max(2) / 2).then_some(name)
}

/// Letters to put in, take out or change until the two are equal, case aside.
fn edits(word: &[char], name: &str) -> usize {
    let mut row: Vec<usize> = (0..=word.len()).collect();
    for (i, letter) in name.to_lowercase().chars().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for j in 0..word.len() {
            let change = diagonal + usize::from(word[j] != letter);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[word.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 8] = ["Fz", "Cz", "3", "Fp1-F7", "a, b", "EOG left", "X", "Y"];

    fn check(text: &str, expected: &[usize]) {
        let chosen = ChannelSelection::from(text).resolve(Path::new("file.edf"), &NAMES);
        assert_eq!(chosen.unwrap(), expected, "{text}");
    }

    fn refused(text: &str, expected: &str) {
        let refusal = ChannelSelection::from(text).resolve(Path::new("file.edf"), &NAMES);
        assert_eq!(refusal.unwrap_err().to_string(), expected);
    }

    #[test]
    fn names_go_before_numbers() {
        check("Fz,Cz", &[0, 1]);
        check(" Cz , Fz ", &[1, 0]);
        check("3", &[2]);
        check("4", &[3]);
        check("5-8", &[4, 5, 6, 7]);
        check("Fp1-F7,1", &[3, 0]);
        check("\"a, b\",EOG left", &[4, 5]);
    }

    #[test]
    fn what_is_not_there_is_named() {
        refused(
            "Fz,cZ1",
            "file.edf: channels: expected a name or a number of the 8 channels, found `cZ1`; did \
             you mean `Cz`?",
        );
        refused(
            "Pulse oximeter",
            "file.edf: channels: expected a name or a number of the 8 channels, found `Pulse \
             oximeter`; `strt info` \
             lists the channels",
        );
        for wrong in ["0", "9", "5-9", "6-5", "0-3"] {
            refused(
                wrong,
                &format!(
                    "file.edf: channels: expected numbers from 1 to 8, in rising order, found \
                     `{wrong}`; correct it"
                ),
            );
        }
        refused(
            "1-2,Cz",
            "file.edf: channels: expected every channel at most once, found `Cz`, which means \
             channel `Cz` again; \
             remove one of the two",
        );
        refused(
            "",
            "file.edf: channels: expected a name or a number of the 8 channels, found ``; did \
             you mean `3`?",
        );
    }
}
