//! What a reader made of an archive, and whether two made the same of it.

use std::collections::{BTreeMap, BTreeSet};

/// One file or directory as a reader has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// `d`, `f`, `l`, or `?` for a file where the reader knows no links.
    pub(crate) kind: char,
    pub(crate) crc32: u32,
    /// When it was modified, where the reader restores that.
    pub(crate) seconds: Option<i64>,
}

/// What a reader made of an archive.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// Whether it refused something.
    pub(crate) refused: bool,
    pub(crate) items: BTreeMap<String, Item>,
    /// The names that it lists, where it does that without extracting.
    pub(crate) listed: Option<BTreeSet<String>>,
}

/// A name without what leads nowhere.
pub(crate) fn tidy(name: &str) -> String {
    let parts: Vec<&str> = name
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let root = if name.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// A name and all directories above it.
fn with_parents(name: &str) -> impl Iterator<Item = &str> {
    let above = name.match_indices('/').map(|(at, _)| &name[..at]);
    above.chain([name]).filter(|name| !name.is_empty())
}

impl Reading {
    /// Adds an entry, and the directories above it.
    pub(crate) fn add(&mut self, name: &str, item: Item) {
        let name = tidy(name);
        for above in with_parents(&name).filter(|above| *above != name) {
            let directory = Item {
                kind: 'd',
                crc32: 0,
                seconds: None,
            };
            self.items.entry(above.to_owned()).or_insert(directory);
        }
        self.items.insert(name, item);
    }

    /// Whether two readers that refused nothing have the same.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        self.items.len() == other.items.len()
            && self
                .items
                .iter()
                .zip(&other.items)
                .all(|(one, two)| same(one, two))
    }

    /// Whether it lists what it extracts.
    pub(crate) fn lists_right(&self) -> bool {
        self.listed.as_ref().is_none_or(|listed| {
            let names: BTreeSet<&str> = listed.iter().flat_map(|name| with_parents(name)).collect();
            names.into_iter().eq(self.items.keys().map(String::as_str))
        })
    }

    /// Whether it has a name that another reader does not have.
    pub(crate) fn leaves_more_than(&self, other: &Self) -> bool {
        self.items
            .keys()
            .any(|name| !other.items.contains_key(name))
    }
}

fn same((name, one): (&String, &Item), (other_name, two): (&String, &Item)) -> bool {
    let file = |kind| matches!(kind, 'f' | 'l');
    let kinds = match (one.kind, two.kind) {
        ('?', kind) | (kind, '?') => kind == '?' || file(kind),
        (one, two) => one == two,
    };
    // DOS counts in steps of two seconds.
    let times = one.seconds.zip(two.seconds);
    let times = times.is_none_or(|(one, two)| one.abs_diff(two) <= 1);
    name == other_name && kinds && times && one.crc32 == two.crc32
}

/// What the readers made of one archive, as letters: readers with the same letter agree. `-` refused it,
/// `!` refused it and left names that no other reader has, `*` lists other names than it extracts.
pub(crate) fn letters(readings: &[Option<Reading>]) -> Vec<String> {
    let mut kinds: Vec<&Reading> = Vec::new();
    let mut found = Vec::new();
    for reading in readings {
        let Some(reading) = reading.as_ref().filter(|reading| !reading.refused) else {
            found.push(String::new());
            continue;
        };
        let known = kinds.iter().position(|kind| kind.agrees_with(reading));
        let at = known.unwrap_or_else(|| {
            kinds.push(reading);
            kinds.len() - 1
        });
        let letter = char::from(b'A' + at.min(25) as u8);
        let mark = if reading.lists_right() { "" } else { "*" };
        found.push(format!("{letter}{mark}"));
    }
    for (letter, reading) in found.iter_mut().zip(readings) {
        if let Some(reading) = reading.as_ref().filter(|reading| reading.refused) {
            let more = !kinds.is_empty() && kinds.iter().any(|kind| reading.leaves_more_than(kind));
            *letter = if more { "!" } else { "-" }.to_owned();
        }
        if reading.is_none() {
            *letter = "?".to_owned();
        }
    }
    found
}

/// Whether letters say that two readers read an archive differently.
pub(crate) fn split<'a>(letters: impl IntoIterator<Item = &'a str>) -> bool {
    let mut kinds = BTreeSet::new();
    for letter in letters {
        match letter {
            "-" | "?" => {}
            _ if letter == "!" || letter.ends_with('*') => return true,
            _ => {
                kinds.insert(letter);
            }
        }
    }
    kinds.len() > 1
}
