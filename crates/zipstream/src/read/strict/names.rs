//! Names: those that every program reads as the same path, and no two that can be one.

use std::hash::{BuildHasher as _, DefaultHasher, Hasher as _, RandomState};

use crate::error::{Error, ErrorKind};
use crate::format::{extra, flag};
use crate::name;
use crate::read::hashed::Hashed;
use crate::write::Budget;

/// What a directory of a name costs of a budget, and a character that is not ASCII. One in ASCII costs 1.
const DIRECTORY_COST: u64 = 128;
const CHARACTER_COST: u64 = 32;
/// The bytes of a part that are hashed at a time.
const FOLDED_BYTES: usize = 64;

/// The names seen so far, by hashes under a key of this run.
#[derive(Default)]
pub(crate) struct Names {
    hasher: RandomState,
    /// Paths of entries.
    paths: Hashed<()>,
    /// What paths without their case are, those of directories above entries included.
    folded: Hashed<Uses>,
}

/// What one path is used for.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    entry: bool,
    file: bool,
    above: bool,
}

/// How far a name has been inserted.
#[derive(Debug, Default)]
pub(crate) struct Insertion {
    /// The part that is being hashed.
    part: Option<Part>,
    /// The bytes before what was not hashed yet.
    done: usize,
}

/// A part of a path without its case, as it is hashed with the hash of what is above it.
#[derive(Debug)]
struct Part {
    hasher: DefaultHasher,
    /// Bytes that are hashed together, wherever the part was divided.
    folded: [u8; FOLDED_BYTES],
    filled: usize,
}

impl Names {
    /// Adds a checked name. One path for two entries is an error, in another case as well, and so is an
    /// entry below a file.
    pub(crate) fn insert(&mut self, name: &str) -> Result<(), Error> {
        let mut budget = Budget::bytes(u64::MAX);
        self.insert_on(name, &mut Insertion::default(), &mut budget)
            .map(drop)
    }

    /// The same in steps. `false`: the budget is spent.
    pub(crate) fn insert_on(
        &mut self,
        name: &str,
        insertion: &mut Insertion,
        budget: &mut Budget,
    ) -> Result<bool, Error> {
        let path = name.strip_suffix('/').unwrap_or(name);
        let mut part = match insertion.part.take() {
            Some(part) => part,
            None => {
                if !self.paths.insert(self.hasher.hash_one(path), ()) {
                    return Err(clash("another entry has the same name"));
                }
                budget.charge(path.len() as u64);
                self.part_below(0)
            }
        };
        // Each directory is hashed with the hash of what is above it: once for each byte of the name.
        let mut rest = &path[insertion.done..];
        let hash = loop {
            let before = rest.len();
            let ends = part.fold(&mut rest, budget);
            insertion.done += before - rest.len();
            if !ends {
                insertion.part = Some(part);
                return Ok(false);
            }
            let hash = part.finish();
            if rest.is_empty() {
                break hash;
            }
            // The separator.
            (rest, insertion.done) = (&rest[1..], insertion.done + 1);
            let uses = self.folded.get_or_default(hash);
            if uses.file {
                return Err(clash("another entry, which is a file, is above it"));
            }
            uses.above = true;
            part = self.part_below(hash);
            budget.charge(DIRECTORY_COST);
            if budget.is_spent() {
                insertion.part = Some(part);
                return Ok(false);
            }
        };
        let uses = self.folded.get_or_default(hash);
        if uses.entry {
            return Err(clash("the name of another entry differs only in case"));
        }
        let file = !name.ends_with('/');
        if file && uses.above {
            return Err(clash("it is a file, and another entry is below it"));
        }
        (uses.entry, uses.file) = (true, file);
        Ok(true)
    }

    /// About the memory that they hold.
    #[cfg(feature = "tokio")]
    pub(in crate::read) fn bytes(&self) -> usize {
        self.paths.bytes() + self.folded.bytes()
    }

    fn part_below(&self, hash: u64) -> Part {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u64(hash);
        Part {
            hasher,
            folded: [0; FOLDED_BYTES],
            filled: 0,
        }
    }
}

impl Part {
    /// Hashes the first part of a path, and removes what it has hashed. `false`: the budget is spent before the end of
    /// the part.
    fn fold(&mut self, rest: &mut &str, budget: &mut Budget) -> bool {
        loop {
            let bytes = rest.as_bytes();
            let most = &bytes[..bytes.len().min(FOLDED_BYTES - self.filled)];
            let plain = |byte: &&u8| **byte != b'/' && byte.is_ascii();
            let length = most.iter().take_while(plain).count();
            let folded = &mut self.folded[self.filled..][..length];
            folded.copy_from_slice(&most[..length]);
            folded.make_ascii_lowercase();
            self.filled += length;
            self.write_full();
            budget.charge(length as u64);
            *rest = &rest[length..];
            match rest.chars().next() {
                None | Some('/') => return true,
                Some(character) if !character.is_ascii() => {
                    self.write_folded(character);
                    budget.charge(CHARACTER_COST);
                    *rest = &rest[character.len_utf8()..];
                }
                Some(_) => {}
            }
            if budget.is_spent() {
                return false;
            }
        }
    }

    fn write_folded(&mut self, character: char) {
        // Up and down, for some letters have two small or two large ones.
        let up = character.to_lowercase().flat_map(char::to_uppercase);
        for folded in up.flat_map(char::to_lowercase) {
            for byte in folded.encode_utf8(&mut [0; 4]).bytes() {
                self.folded[self.filled] = byte;
                self.filled += 1;
                self.write_full();
            }
        }
    }

    fn write_full(&mut self) {
        if self.filled == FOLDED_BYTES {
            self.hasher.write(&self.folded);
            self.filled = 0;
        }
    }

    fn finish(&mut self) -> u64 {
        self.hasher.write(&self.folded[..self.filled]);
        self.hasher.finish()
    }
}

fn clash(what: &'static str) -> Error {
    Error::new(ErrorKind::Duplicate, what)
}

/// The name of a header, as every program reads it, or why some read another one. Fields of one kind are known to be alike.
pub(super) fn checked<'a>(
    raw: &'a [u8],
    flags: u16,
    extra: &extra::Found<'_>,
) -> Result<&'a str, Error> {
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
    let other = |data| extra::unicode_text(data, raw) != Some(name);
    if extra.unicode_name.is_some_and(other) {
        return Err(bad(
            "its Unicode Path field has another name, or fits another one",
        ));
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
            (&["ΑΣ", "ας"], false),
            (&["\u{212a}/a", "K/A"], false),
            (&["ſ", "S"], false),
        ] {
            let mut seen = Names::default();
            let all = names.iter().try_for_each(|name| seen.insert(name));
            assert_eq!(all.is_ok(), good, "{names:?}");
        }
    }

    #[test]
    fn a_name_is_the_same_however_its_insertion_is_divided() {
        let long = "Aé\u{212a}/".repeat(99);
        let deep = "d/".repeat(999);
        for (name, twin) in [
            (long.clone() + "b", long.to_lowercase() + "B"),
            (deep.clone() + "e", deep.to_uppercase() + "E"),
            ("x".repeat(9_999), "X".repeat(9_999)),
        ] {
            for cost in [1, 100, 1_000] {
                let mut names = Names::default();
                names.insert(&name).unwrap();
                let mut insertion = Insertion::default();
                let mut steps = 0;
                let inserted = loop {
                    let mut budget = Budget::bytes(cost);
                    match names.insert_on(&twin, &mut insertion, &mut budget) {
                        Ok(false) => steps += 1,
                        other => break other,
                    }
                };
                assert!(inserted.is_err(), "{cost}");
                // A step exceeds its budget by no more than a directory and the bytes that are hashed at once.
                let most = cost + DIRECTORY_COST + FOLDED_BYTES as u64 + CHARACTER_COST;
                let all = twin.chars().map(|each| match each {
                    '/' => DIRECTORY_COST,
                    _ if each.is_ascii() => 1,
                    _ => CHARACTER_COST,
                });
                assert!(steps >= all.sum::<u64>() / most, "{cost}: {steps}");
            }
        }
    }

    #[test]
    fn names_that_programs_change_are_refused() {
        let none = extra::Found::default();
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
                checked(name.as_bytes(), flag::UTF8, &none).is_err(),
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
            let found = checked(name.as_bytes(), flag::UTF8, &none);
            assert_eq!(found.ok(), Some(name));
        }
        assert!(checked(b"\x81", 0, &none).is_err());
    }
}
