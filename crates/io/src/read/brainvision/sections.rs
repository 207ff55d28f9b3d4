//! The text of a BrainVision header or marker file: lines `key=value` in sections.
//!
//! In: bytes. Out: sections with their entries and the numbers of their lines. Sections and keys
//! are compared without case, since programs disagree on it. The section `[Comment]` is free text
//! and ends what is read. What the entries mean is not known here.

/// An entry of a section.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// In lower case.
    pub key: String,
    pub value: String,
    /// Counted from 1.
    pub line: usize,
}

/// All sections, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// The first line, which says what kind of file it is.
    pub title: String,
    /// Names in lower case, and entries.
    sections: Vec<(String, Vec<Entry>)>,
}

/// UTF-8, or else Latin-1, which older programs write.
pub(super) fn decode(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// The name between the brackets of a line that opens a section, in lower case.
pub(super) fn section_name(line: &str) -> Option<String> {
    let name = line.trim().strip_prefix('[')?.strip_suffix(']')?;
    Some(name.trim().to_lowercase())
}

impl Sections {
    pub fn parse(bytes: &[u8]) -> Self {
        let text = decode(bytes);
        let mut found = Self::default();
        for (at, line) in text.lines().enumerate() {
            if at == 0 {
                found.title = line.trim().to_string();
            }
            let line = line.trim();
            if line.starts_with(';') {
                continue;
            }
            if let Some(name) = section_name(line) {
                if name == "comment" {
                    break;
                }
                found.sections.push((name, Vec::new()));
            } else if let (Some((key, value)), Some((_, entries))) =
                (line.split_once('='), found.sections.last_mut())
            {
                entries.push(Entry {
                    key: key.trim().to_lowercase(),
                    value: value.trim().to_string(),
                    line: at + 1,
                });
            }
        }
        found
    }

    /// The entries of a section, of all of that name.
    pub fn entries(&self, section: &str) -> impl Iterator<Item = &Entry> {
        let section = section.to_lowercase();
        self.sections
            .iter()
            .filter(move |(name, _)| *name == section)
            .flat_map(|(_, entries)| entries)
    }

    /// An entry that is not empty.
    pub fn get(&self, section: &str, key: &str) -> Option<&Entry> {
        let key = key.to_lowercase();
        self.entries(section)
            .find(|entry| entry.key == key && !entry.value.is_empty())
    }
}

/// Entries such as `Ch12=…`: the number, and the fields between the commas. A comma inside a field
/// is written `\1`.
pub(super) fn numbered(entry: &Entry, prefix: &str) -> Option<(usize, Vec<String>)> {
    let number = entry.key.strip_prefix(prefix)?.parse().ok()?;
    let fields = entry
        .value
        .split(',')
        .map(|field| field.trim().replace("\\1", ","))
        .collect();
    Some((number, fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_keys_and_comments() {
        let text = b"Title\r\n; no\r\n[Common Infos]\r\nDataFile = a=b.eeg \r\nEmpty=\r\n\
                     [channel infos]\r\nCh2=F\\1z,,0.5,\xb5V\r\n[Comment]\r\nDataFile=c\r\n";
        let sections = Sections::parse(text);
        assert_eq!(sections.title, "Title");
        let entry = sections.get("common infos", "DATAFILE").unwrap();
        assert_eq!((entry.value.as_str(), entry.line), ("a=b.eeg", 4));
        assert!(sections.get("Common Infos", "Empty").is_none());
        let entry = sections.entries("Channel Infos").next().unwrap();
        let (number, fields) = numbered(entry, "ch").unwrap();
        assert_eq!((number, fields.join("|").as_str()), (2, "F,z||0.5|µV"));
    }
}
