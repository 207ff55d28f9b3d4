//! Names of files in BIDS: `sub-01_ses-2_task-rest_run-1_eeg.edf` is entities (`sub-01`, …), a
//! suffix (`eeg`) and an extension (`.edf`).

use std::fmt;

/// The name of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BidsName {
    /// Key and label, in the order of the name.
    entities: Vec<(String, String)>,
    suffix: String,
    /// With its dot; from the first dot of the name on.
    extension: String,
}

impl BidsName {
    /// Takes a name apart; `None` where it is no such name.
    pub fn parse(name: &str) -> Option<BidsName> {
        let dot = name.find('.').unwrap_or(name.len());
        let (stem, extension) = name.split_at(dot);
        let mut parts: Vec<&str> = stem.split('_').collect();
        let suffix = parts.pop()?;
        let is_label = |text: &str| !text.is_empty() && text.chars().all(char::is_alphanumeric);
        let entity = |part: &str| {
            let (key, label) = part.split_once('-')?;
            // Labels with a plus or a hyphen are not valid, and are in use.
            let label_is_fine = !label.is_empty() && !label.contains(['/', '\\']);
            (is_label(key) && label_is_fine).then(|| (key.to_string(), label.to_string()))
        };
        let entities: Option<Vec<_>> = parts.into_iter().map(entity).collect();
        is_label(suffix).then_some(BidsName {
            entities: entities?,
            suffix: suffix.into(),
            extension: extension.into(),
        })
    }

    /// The label of an entity, such as `01` of `sub`.
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.entities.iter().find(|(other, _)| other == key);
        found.map(|(_, label)| label.as_str())
    }

    /// What kind of file it is, such as `eeg`.
    pub fn suffix(&self) -> &str {
        &self.suffix
    }

    /// The ending, from the first dot on.
    pub fn extension(&self) -> &str {
        &self.extension
    }

    /// Without an entity.
    #[must_use]
    pub fn without(mut self, key: &str) -> BidsName {
        self.entities.retain(|(other, _)| other != key);
        self
    }

    /// With the entity `desc`, which tells files made of a recording from the recording. It is the
    /// last one in the order of the specification.
    #[must_use]
    pub fn with_description(self, label: &str) -> BidsName {
        let mut name = self.without("desc");
        name.entities.push(("desc".into(), label.into()));
        name
    }

    /// With another ending, which has its dot.
    #[must_use]
    pub fn with_extension(self, extension: &str) -> BidsName {
        BidsName {
            extension: extension.into(),
            ..self
        }
    }

    /// How many entities it has.
    pub(super) fn n_entities(&self) -> usize {
        self.entities.len()
    }

    /// Whether a file of this name may say something about one called `other`: all its entities are
    /// those of the other one. `space` says how the file says it, not of what.
    pub(super) fn applies_to(&self, other: &BidsName) -> bool {
        let mut entities = self.entities.iter();
        entities.all(|(key, label)| key == "space" || other.get(key) == Some(label))
    }
}

impl fmt::Display for BidsName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, label) in &self.entities {
            write!(out, "{key}-{label}_")?;
        }
        write!(out, "{}{}", self.suffix, self.extension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_and_put_together_in_order() {
        let text = "sub-01_ses-a_task-rest_run-02_eeg.edf";
        let name = BidsName::parse(text).unwrap();
        assert_eq!(name.to_string(), text);
        assert_eq!((name.get("run"), name.get("acq")), (Some("02"), None));
        assert_eq!((name.suffix(), name.extension()), ("eeg", ".edf"));
        let made = name.clone().without("run").with_description("strt");
        assert_eq!(made.to_string(), "sub-01_ses-a_task-rest_desc-strt_eeg.edf");
        assert_eq!(made.clone().with_description("strt"), made);
        for wrong in [
            "eeg_.edf",
            "sub-01_notanentity_eeg.edf",
            "sub-_eeg.edf",
            "",
            "a b.edf",
        ] {
            assert_eq!(BidsName::parse(wrong), None, "{wrong}");
        }
        assert!(BidsName::parse("channels.tsv").is_some());
    }

    #[test]
    fn a_sidecar_has_no_other_entities_than_the_recording() {
        let recording = BidsName::parse("sub-01_task-rest_run-1_eeg.edf").unwrap();
        let applies = |name: &str| BidsName::parse(name).unwrap().applies_to(&recording);
        assert!(applies("task-rest_channels.tsv") && applies("channels.tsv"));
        assert!(applies("sub-01_space-CapTrak_electrodes.tsv"));
        assert!(!applies("sub-01_task-rest_run-2_channels.tsv") && !applies("acq-x_eeg.json"));
    }
}
