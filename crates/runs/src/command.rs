//! Command lines that can be typed again.

/// The words of a command as one line for a shell.
pub fn shell_line(words: &[String]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    let quoted = words.iter().map(|word| {
        if word.is_empty() || !word.chars().all(plain) {
            format!("'{}'", word.replace('\'', r"'\''"))
        } else {
            word.clone()
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// A command as one text: the words of a command line, or a single text as it stands, such as a
/// call in another language.
pub fn command_text(words: &[String]) -> String {
    match words {
        [text] => text.clone(),
        _ => shell_line(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_typed_again() {
        let words = [
            "strt",
            "separate",
            "my file.csv",
            "it's",
            "--set",
            "a.b=[1, 2]",
            "",
        ]
        .map(String::from);
        assert_eq!(
            shell_line(&words),
            r"strt separate 'my file.csv' 'it'\''s' --set 'a.b=[1, 2]' ''"
        );
    }

    #[test]
    fn a_single_text_stays_as_it_is() {
        let text = "StrTransformer(n_sources=3).fit(x)".to_string();
        assert_eq!(command_text(std::slice::from_ref(&text)), text);
    }
}
