//! The ids that people gave to their subscriptions: integers or texts, by the ids of the tree.
//!
//! The tree itself knows only [`SubscriptionId`]s; this table stands next to it, and in the same file
//! (`disk`).

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;

use crate::SubscriptionId;
use crate::error::{Error, ErrorKind, Result, quoted};

/// An id that somebody gave to a subscription.
///
/// ```
/// use betree::Name;
///
/// assert!(Name::parse("42").is_integer());
/// assert!(!Name::parse("042").is_integer());
/// let mut json = Vec::new();
/// Name::text("a\"b\n").append_json(&mut json);
/// assert_eq!(json, br#""a\"b\n""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name<'a> {
    text: &'a str,
    is_integer: bool,
}

impl<'a> Name<'a> {
    /// The longest name, in bytes.
    pub const BYTES_MAX: usize = 1024;

    /// A text, even if it looks like a number.
    #[must_use]
    pub fn text(text: &'a str) -> Self {
        Self {
            text,
            is_integer: false,
        }
    }

    /// An integer, if the text is one of 64 bits as JSON writes it: digits without leading zeros, perhaps after a
    /// minus sign. Any other text is a text.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        Self {
            text,
            is_integer: is_integer(text),
        }
    }

    /// Its characters, or its digits.
    #[must_use]
    pub fn as_str(&self) -> &'a str {
        self.text
    }

    /// Whether it is an integer.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.is_integer
    }

    /// Appends it as JSON: an integer, or a string with control characters, quotes and backslashes escaped.
    pub fn append_json(&self, out: &mut Vec<u8>) {
        if self.is_integer {
            out.extend_from_slice(self.text.as_bytes());
            return;
        }
        let bytes = self.text.as_bytes();
        out.push(b'"');
        if bytes.iter().all(|byte| is_plain(*byte)) {
            out.extend_from_slice(bytes);
        } else {
            for byte in bytes {
                escape(*byte, out);
            }
        }
        out.push(b'"');
    }
}

fn is_plain(byte: u8) -> bool {
    byte >= b' ' && !matches!(byte, b'"' | b'\\' | 0x7f)
}

fn escape(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0..0x20 | 0x7f => {
            let (high, low) = (
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            );
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
        byte => out.push(byte),
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let canonical = match digits.as_bytes() {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', rest @ ..] => rest.len() < 20 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    canonical && (text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok())
}

/// The names of subscriptions. No two subscriptions have the same: the integer `7` and the text `7` are equal here.
///
/// ```
/// use betree::{Name, Names, SubscriptionId};
///
/// let mut names = Names::new();
/// names.push(SubscriptionId(1), Name::text("spring"))?;
/// names.push(SubscriptionId(4), Name::parse("70018"))?;
/// assert_eq!(names.find("70018"), Some(SubscriptionId(4)));
/// assert_eq!(names.get(SubscriptionId(1)).map(|name| name.as_str()), Some("spring"));
/// assert!(names.push(SubscriptionId(5), Name::text("spring")).is_err());
/// # Ok::<(), betree::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Ascending.
    ids: Vec<SubscriptionId>,
    /// Where each text ends in `texts`.
    ends: Vec<usize>,
    are_integers: Vec<bool>,
    texts: String,
    /// Positions, by the hash of their texts.
    table: HashTable<u32>,
    hasher: RandomState,
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Names {}

impl Names {
    /// No names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many subscriptions have a name.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether none has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Names a subscription whose id is greater than that of any with a name.
    ///
    /// # Errors
    /// A name that is empty, taken, or longer than [`Name::BYTES_MAX`], or an id that does not ascend.
    pub fn push(&mut self, id: SubscriptionId, name: Name<'_>) -> Result<()> {
        let text = name.as_str();
        if text.is_empty() {
            return Err(Error::new(ErrorKind::Name, "the id is empty"));
        }
        if text.len() > Name::BYTES_MAX {
            let message = format!(
                "the id has {} bytes: at most {} are allowed",
                text.len(),
                Name::BYTES_MAX
            );
            return Err(Error::new(ErrorKind::Name, message));
        }
        if let Some(other) = self.find(text) {
            let message = format!("id {} is that of subscription {}", quoted(text), other.0);
            return Err(Error::new(ErrorKind::DuplicateId, message));
        }
        if self.ids.last().is_some_and(|last| *last >= id) {
            let message = format!("subscription {} is named out of order", id.0);
            return Err(Error::new(ErrorKind::Name, message));
        }
        let Ok(position) = u32::try_from(self.ids.len()) else {
            return Err(Error::new(ErrorKind::TooLarge, "more than 2^32 ids"));
        };
        let hash = self.hasher.hash_one(text);
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        self.ids.push(id);
        self.are_integers.push(name.is_integer());
        let (texts, ends, hasher) = (&self.texts, &self.ends, &self.hasher);
        let again = |position: &u32| hasher.hash_one(text_at(texts, ends, *position as usize));
        self.table.insert_unique(hash, position, again);
        Ok(())
    }

    /// The name of a subscription.
    #[inline]
    #[must_use]
    pub fn get(&self, id: SubscriptionId) -> Option<Name<'_>> {
        // Where ids have no gaps, as the lines of a file have none, the position is known.
        let first = self.ids.first()?;
        let guess = usize::try_from(id.0.wrapping_sub(first.0)).ok()?;
        let position = match self.ids.get(guess) {
            Some(found) if *found == id => guess,
            _ => self.ids.binary_search(&id).ok()?,
        };
        Some(self.at(position))
    }

    /// The subscription that has this name.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<SubscriptionId> {
        let same = |position: &u32| text_at(&self.texts, &self.ends, *position as usize) == text;
        let position = self.table.find(self.hasher.hash_one(text), same)?;
        self.ids.get(*position as usize).copied()
    }

    /// All names, by ascending ids.
    pub fn iter(&self) -> impl Iterator<Item = (SubscriptionId, Name<'_>)> {
        let ids = self.ids.iter().copied();
        ids.enumerate()
            .map(|(position, id)| (id, self.at(position)))
    }

    fn at(&self, position: usize) -> Name<'_> {
        Name {
            text: text_at(&self.texts, &self.ends, position),
            is_integer: self.are_integers.get(position) == Some(&true),
        }
    }
}

fn text_at<'t>(texts: &'t str, ends: &[usize], position: usize) -> &'t str {
    let start = position
        .checked_sub(1)
        .and_then(|before| ends.get(before))
        .copied()
        .unwrap_or(0);
    let end = ends.get(position).copied().unwrap_or(start);
    texts.get(start..end).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_json_with_64_bits() {
        for text in [
            "0",
            "7",
            "-1",
            "9223372036854775808",
            "18446744073709551615",
        ] {
            assert!(Name::parse(text).is_integer(), "{text}");
        }
        for text in [
            "",
            "-",
            "-0",
            "07",
            "+7",
            " 7",
            "7.0",
            "1e3",
            "18446744073709551616",
        ] {
            assert!(!Name::parse(text).is_integer(), "{text}");
        }
    }

    #[test]
    fn names_are_found_by_id_and_by_text_with_gaps_and_without() {
        for step in [1, 3] {
            let mut names = Names::new();
            for number in 0..1_000u64 {
                let text = format!("name-{number}");
                names
                    .push(SubscriptionId(5 + number * step), Name::text(&text))
                    .unwrap();
            }
            for number in 0..1_000u64 {
                let (id, text) = (SubscriptionId(5 + number * step), format!("name-{number}"));
                assert_eq!(names.get(id).map(|name| name.as_str()), Some(&*text));
                assert_eq!(names.find(&text), Some(id));
            }
            assert_eq!(names.get(SubscriptionId(4)), None);
            assert_eq!(names.get(SubscriptionId(5 + 1_000 * step)), None);
            assert_eq!(names.find("name-1000"), None);
        }
    }

    #[test]
    fn wrong_names_are_refused_and_change_nothing() {
        let mut names = Names::new();
        names.push(SubscriptionId(2), Name::parse("7")).unwrap();
        let long = "x".repeat(Name::BYTES_MAX + 1);
        for (id, name, message) in [
            (3, Name::text(""), "the id is empty"),
            (3, Name::text("7"), "id '7' is that of subscription 2"),
            (3, Name::text(&long), "the id has 1025 bytes"),
            (2, Name::text("a"), "out of order"),
        ] {
            let error = names.push(SubscriptionId(id), name).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
            assert_eq!(names.len(), 1);
        }
        names
            .push(SubscriptionId(3), Name::text(&long[1..]))
            .unwrap();
    }
}
