//! Words of a command line as these programs take them apart: options that share a word, values that follow
//! or are attached, and lists that end at the next option.

use std::ffi::{OsStr, OsString};

/// The words of a command line that are still to be read.
#[derive(Debug)]
pub(super) struct Words<'a> {
    words: &'a [OsString],
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(words: &'a [OsString]) -> Self {
        Self { words, at: 0 }
    }

    /// The next word.
    pub(super) fn next(&mut self) -> Option<&'a OsStr> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    /// The words up to the next option. A list of `zip` may also end at a word `@`, which is dropped.
    pub(super) fn list(&mut self, ends_at: bool) -> Vec<&'a OsStr> {
        let mut found = Vec::new();
        while let Some(word) = self.words.get(self.at) {
            if is_option(word) {
                break;
            }
            self.at += 1;
            if ends_at && word == "@" {
                break;
            }
            found.push(word.as_os_str());
        }
        found
    }

    /// All words that are left.
    pub(super) fn rest(&mut self) -> &'a [OsString] {
        let rest = self.words.get(self.at..).unwrap_or_default();
        self.at = self.words.len();
        rest
    }
}

/// Whether a word holds options: a `-` alone is a name.
pub(super) fn is_option(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.len() > 1 && bytes[0] == b'-'
}

/// The words of a command line, preceded by those of the first of these environment variables that has any.
pub(super) fn with_variables(variables: [&str; 2], words: &[OsString]) -> Vec<OsString> {
    let mut set = variables
        .into_iter()
        .filter_map(|variable| std::env::var(variable).ok());
    let preset = set.find(|text| !text.trim().is_empty()).unwrap_or_default();
    let preset = preset.split_whitespace().map(OsString::from);
    preset.chain(words.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_at_the_next_option() {
        let line: Vec<OsString> = ["a", "b", "-q", "c", "@", "d"].map(Into::into).into();
        let mut words = Words::new(&line);
        assert_eq!(words.list(true), ["a", "b"]);
        assert_eq!(words.next(), Some(OsStr::new("-q")));
        assert_eq!(words.list(true), ["c"]);
        assert_eq!(words.rest(), ["d"]);
        assert_eq!(words.next(), None);
        assert!(!is_option(OsStr::new("-")) && is_option(OsStr::new("-r")));
    }
}
