//! Names: those that every program reads as the same path, and no two that can be one.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use crate::error::{Error, ErrorKind};
use crate::format::{extra, flag};
use crate::name;

/// The names seen so far, by hashes under a key of this run.
#[derive(Default)]
pub(crate) struct Names {
    hasher: RandomState,
    /// Paths of entries.
    paths: HashSet<u64>,
    /// Paths without their case.
    folded: HashSet<u64>,
    /// The same of files, and of directories above entries.
    files: HashSet<u64>,
    above: HashSet<u64>,
}

impl Names {
    /// Adds a checked name. One path for two entries is an error, in another case as well, and so is an
    /// entry below a file.
    pub(crate) fn insert(&mut self, name: &str) -> Result<(), Error> {
        let path = name.strip_suffix('/').unwrap_or(name);
        if !self.paths.insert(self.hasher.hash_one(path)) {
            return Err(clash("another entry has the same name"));
        }
        // Each directory is hashed with the hash of what is above it: once for each byte of the name.
        let mut hash = 0;
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            hash = self.hasher.hash_one((hash, fold(part)));
            if parts.peek().is_none() {
                break;
            }
            if self.files.contains(&hash) {
                return Err(clash("another entry, which is a file, is above it"));
            }
            self.above.insert(hash);
        }
        if !self.folded.insert(hash) {
            return Err(clash("the name of another entry differs only in case"));
        }
        if !name.ends_with('/') {
            if self.above.contains(&hash) {
                return Err(clash("it is a file, and another entry is below it"));
            }
            self.files.insert(hash);
        }
        Ok(())
    }
}

fn clash(what: &'static str) -> Error {
    Error::new(ErrorKind::Duplicate, what)
}

/// A part of a path without its case.
fn fold(part: &str) -> String {
    if part.is_ascii() {
        return part.to_ascii_lowercase();
    }
    // Up and down, for some letters have two small or two large ones.
    part.to_lowercase().to_uppercase().to_lowercase()
}

/// The name of a header, as every program reads it, or why some read another one.
pub(super) fn checked<'a>(raw: &'a [u8], flags: u16, area: &[u8]) -> Result<&'a str, Error> {
    let Ok(name) = std::str::from_utf8(raw) else {
        let what = match flags & flag::UTF8 {
            0 => "its name is in an old encoding, which differs between programs",
            _ => "its name is flagged as UTF-8 but is invalid UTF-8",
        };
        return Err(bad(what));
    };
    name::check_portable(name).map_err(|fault| bad(fault.to_string()))?;
    if name.chars().any(char::is_control) {
        return Err(bad(
            "its name has a control character, which some programs change",
        ));
    }
    let last = name.rsplit('/').next().unwrap_or_default();
    let version = last.rsplit_once(';').map(|(_, version)| version);
    if version.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(bad(
            "its name ends like a version of VMS, which unzip removes",
        ));
    }
    if !name.is_ascii() && composes(name) {
        return Err(bad(
            "its name has a mark that some programs join with the letter before it",
        ));
    }
    for (id, data) in extra::fields(area) {
        if id == extra::UNICODE_NAME && extra::unicode_text(data, raw) != Some(name) {
            return Err(bad(
                "its Unicode Path field has another name, or fits another one",
            ));
        }
    }
    Ok(name)
}

fn bad(what: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::Name, what)
}

/// Marks that form one character with the one before them: the first and the last one of a range, and the
/// range of what they follow. They are those that normalization form C may join.
const JOINED: &[([u32; 2], [u32; 2])] = &[
    // Latin, Greek, Cyrillic and more.
    ([0x0300, 0x0345], [0, 0x10_ffff]),
    // Arabic.
    ([0x0653, 0x0655], [0x0627, 0x06d5]),
    // Devanagari, Bengali, Oriya, Tamil, Telugu, Kannada, Malayalam, Sinhala, Myanmar, Balinese.
    ([0x093c, 0x093c], [0x0928, 0x0933]),
    ([0x09be, 0x09d7], [0x09c7, 0x09c7]),
    ([0x0b3e, 0x0b57], [0x0b47, 0x0b47]),
    ([0x0bd7, 0x0bd7], [0x0b92, 0x0b92]),
    ([0x0bbe, 0x0bd7], [0x0bc6, 0x0bc7]),
    ([0x0c56, 0x0c56], [0x0c46, 0x0c46]),
    ([0x0cc2, 0x0cd6], [0x0cbf, 0x0cca]),
    ([0x0d3e, 0x0d57], [0x0d46, 0x0d47]),
    ([0x0dca, 0x0ddf], [0x0dd9, 0x0ddc]),
    ([0x102e, 0x102e], [0x1025, 0x1025]),
    ([0x1b35, 0x1b35], [0x1b05, 0x1b42]),
    // Syllables of Hangul from their letters.
    ([0x1161, 0x1175], [0x1100, 0x1112]),
    ([0x11a8, 0x11c2], [0xac00, 0xd7a3]),
    // Kana.
    ([0x3099, 0x309a], [0x3046, 0x30fd]),
    // Kaithi, Chakma, Grantha, Tirhuta, Siddham, Dives Akuru.
    ([0x110ba, 0x110ba], [0x11099, 0x110a5]),
    ([0x11127, 0x11127], [0x11131, 0x11132]),
    ([0x1133e, 0x11357], [0x11347, 0x11347]),
    ([0x114b0, 0x114bd], [0x114b9, 0x114b9]),
    ([0x115af, 0x115af], [0x115b8, 0x115b9]),
    ([0x11930, 0x11930], [0x11935, 0x11935]),
];

/// Whether two characters of a name may be joined into one.
fn composes(name: &str) -> bool {
    let within = |[first, last]: [u32; 2], character| (first..=last).contains(&character);
    let pairs = name.chars().zip(name.chars().skip(1));
    pairs
        .map(|(before, mark)| (u32::from(before), u32::from(mark)))
        .any(|(before, mark)| {
            let joins = |(marks, bases): &([u32; 2], [u32; 2])| {
                within(*marks, mark) && within(*bases, before)
            };
            mark >= 0x0300 && JOINED.iter().any(joins)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_is_for_one_entry() {
        for (names, good) in [
            (&["a", "b", "c/d", "c/e"][..], true),
            (&["d/", "d/e", "d/f/"], true),
            (&["a", "a"], false),
            (&["a", "a/"], false),
            (&["a", "A"], false),
            (&["d/a", "D/b"], true),
            (&["d/a", "D/A"], false),
            (&["a", "a/b"], false),
            (&["a/b", "a"], false),
            (&["A/b", "a"], false),
            (&["ß", "ẞ"], false),
            (&["σ", "ς"], false),
        ] {
            let mut seen = Names::default();
            let all = names.iter().try_for_each(|name| seen.insert(name));
            assert_eq!(all.is_ok(), good, "{names:?}");
        }
    }

    #[test]
    fn names_that_programs_change_are_refused() {
        for name in [
            "a\\b",
            "./a",
            "a//b",
            "a\nb",
            "a;1",
            "a;",
            "u\u{308}",
            "か\u{3099}",
            "\u{1100}\u{1161}",
        ] {
            assert!(
                checked(name.as_bytes(), flag::UTF8, &[]).is_err(),
                "{name:?}"
            );
        }
        for name in [
            "a",
            "a/",
            "d/e",
            "a;b",
            "a;1/b",
            "ü",
            "が",
            "한국어",
            "😀",
            "বাংলা",
            "हिन्दी",
            "தமிழ்",
        ] {
            assert_eq!(checked(name.as_bytes(), flag::UTF8, &[]).ok(), Some(name));
        }
        assert!(checked(b"\x81", 0, &[]).is_err());
    }
}
