//! Which tags a session and its headers use: what a body is not simply copied for.

use std::sync::OnceLock;

use fixcore::DataPairs;

/// Tags from here on have no meaning for a session.
const KNOWN_TAGS: usize = 1536;

/// Data fields of all versions, and the tags that a body is not simply copied for: as bits.
pub(crate) struct Tags {
    pairs: DataPairs,
    special: [u64; KNOWN_TAGS / 64],
}

impl Tags {
    #[inline]
    pub(crate) fn get() -> &'static Self {
        static TAGS: OnceLock<Tags> = OnceLock::new();
        TAGS.get_or_init(|| {
            let pairs = DataPairs::standard();
            let mut special = [0; KNOWN_TAGS / 64];
            for tag in 0..KNOWN_TAGS as u32 {
                let is_length = pairs.pairs().iter().any(|pair| pair.0 == tag);
                if is_length || Kind::of(tag) != Kind::Body {
                    special[tag as usize / 64] |= 1 << (tag % 64);
                }
            }
            Self { pairs, special }
        })
    }

    /// Whether a tag is one of the header, of the session, or of a length. Larger tags are not.
    #[inline]
    pub(crate) fn is_special(&self, tag: u32) -> bool {
        let word = self.special.get(tag as usize / 64).copied().unwrap_or(0);
        word >> (tag % 64) & 1 != 0
    }

    /// The data field of a length field.
    pub(crate) fn data_of(&self, tag: u32) -> Option<u32> {
        let pairs = self.pairs.pairs();
        let at = pairs.binary_search_by_key(&tag, |pair| pair.0).ok()?;
        pairs.get(at).map(|pair| pair.1)
    }
}

impl std::fmt::Debug for Tags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tags").finish_non_exhaustive()
    }
}

/// Where a field belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// In the header, at this rank.
    Header(u32),
    /// Only a session writes it.
    Session,
    Body,
}

impl Kind {
    pub(crate) fn of(tag: u32) -> Self {
        match tag {
            8 | 9 | 10 | 34 | 35 | 43 | 49 | 52 | 56 | 122 | 369 => Self::Session,
            // The entries of NoHops keep their order behind it.
            627..=630 => Self::Header(627),
            50
            | 57
            | 90
            | 91
            | 97
            | 115
            | 116
            | 128
            | 129
            | 142..=145
            | 212
            | 213
            | 347
            | 370
            | 1128
            | 1129
            | 1156 => Self::Header(tag),
            _ => Self::Body,
        }
    }
}

/// Whether only a session writes this field.
#[inline]
pub(crate) fn is_of_session(tag: u32) -> bool {
    Tags::get().is_special(tag) && Kind::of(tag) == Kind::Session
}
