//! Short strings in place, and comparisons of short strings without a call.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The longest string that is kept in place.
const SHORT_BYTES_MAX: usize = 22;

/// A string that costs no further read of memory when it is short.
#[derive(Debug, Clone)]
pub(crate) enum Text {
    /// The length, and the bytes with zeros behind.
    Short(u8, [u8; SHORT_BYTES_MAX]),
    Long(Arc<str>),
}

impl Text {
    /// About the memory that it takes elsewhere.
    pub(crate) fn allocated(&self) -> usize {
        match self {
            Self::Short(..) => 0,
            // Two counters before the string, and what an allocation is rounded up by.
            Self::Long(text) => text.len() + 24,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(length, bytes) => bytes.get(..usize::from(*length)).unwrap_or(bytes),
            Self::Long(text) => text.as_bytes(),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            // What is short was a string.
            Self::Short(..) => std::str::from_utf8(self.bytes()).unwrap_or_default(),
            Self::Long(text) => text,
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        let mut bytes = [0; SHORT_BYTES_MAX];
        match bytes.get_mut(..text.len()) {
            Some(place) => {
                place.copy_from_slice(text.as_bytes());
                Self::Short(text.len() as u8, bytes)
            }
            None => Self::Long(text.into()),
        }
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}

/// Whether two strings are equal. For short ones this takes a few instructions, where a comparison of slices calls the
/// system's library.
#[inline]
pub(crate) fn is_same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let eight = |bytes: &[u8]| bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    let last_eight = |bytes: &[u8]| bytes.last_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    let four = |bytes: &[u8]| bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    let last_four = |bytes: &[u8]| bytes.last_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    match a.len() {
        0 => true,
        1..4 => {
            let middle = a.len() / 2;
            let last = a.len() - 1;
            a[0] == b[0] && a[middle] == b[middle] && a[last] == b[last]
        }
        4..8 => four(a) == four(b) && last_four(a) == last_four(b),
        8..=16 => eight(a) == eight(b) && last_eight(a) == last_eight(b),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_the_same_when_each_byte_is() {
        for length in 0..70 {
            let text = "x".repeat(length);
            let a = text.as_bytes();
            assert!(is_same(a, text.clone().as_bytes()));
            assert!(!is_same(a, "x".repeat(length + 1).as_bytes()));
            for at in 0..length {
                let mut b = a.to_vec();
                b[at] = b'y';
                assert!(!is_same(a, &b), "{at} of {length}");
            }
            let kept = Text::from(text.as_str());
            assert_eq!(kept.as_str(), text);
            assert_eq!(kept.bytes(), a);
        }
        assert_eq!(Text::from("caf\u{e9}").as_str(), "caf\u{e9}");
    }
}
