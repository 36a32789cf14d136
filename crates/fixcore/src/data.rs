//! Data fields, which may contain any byte, and the fields that state their length.

use std::sync::OnceLock;

use crate::scan::Watch;

/// All pairs in the standard's dictionaries: the tag of the length field, the tag of the data field.
const STANDARD: [(u32, u32); 24] = [
    (90, 91),
    (93, 89),
    (95, 96),
    (212, 213),
    (348, 349),
    (350, 351),
    (352, 353),
    (354, 355),
    (356, 357),
    (358, 359),
    (360, 361),
    (362, 363),
    (364, 365),
    (445, 446),
    (618, 619),
    (621, 622),
    (1184, 1185),
    (1277, 1278),
    (1280, 1281),
    (1282, 1283),
    (1397, 1398),
    (1401, 1402),
    (1403, 1404),
    (1468, 1469),
];

/// Pairs of a length field and its data field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataPairs {
    /// Sorted by the tag of the length field.
    pairs: Vec<(u32, u32)>,
    /// The tags of data fields, sorted.
    data: Vec<u32>,
    /// All of these tags.
    pub(crate) watch: Watch,
}

/// The role of a tag in data pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Neither,
    /// The length of the data field with this tag.
    LengthOf(u32),
    Data,
}

impl Default for DataPairs {
    fn default() -> Self {
        Self::standard()
    }
}

impl DataPairs {
    /// The pairs of all versions from FIX 4.0 to 5.0 SP2.
    #[must_use]
    pub fn standard() -> Self {
        // Its classes of tags take half a millisecond to find; a copy takes none of that.
        static BUILT: OnceLock<DataPairs> = OnceLock::new();
        BUILT.get_or_init(|| Self::new(&STANDARD)).clone()
    }

    /// These pairs, each the tag of a length field and the tag of its data field.
    #[must_use]
    pub fn new(pairs: &[(u32, u32)]) -> Self {
        let mut data: Vec<u32> = pairs.iter().map(|pair| pair.1).collect();
        data.sort_unstable();
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable();
        Self {
            watch: Watch::of_pairs(&pairs),
            pairs,
            data,
        }
    }

    /// The pairs, sorted by the tag of the length field.
    #[must_use]
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    #[inline]
    pub(crate) fn role(&self, tag: u32) -> Role {
        if !self.watch.has(tag) {
            return Role::Neither;
        }
        match self.pairs.binary_search_by_key(&tag, |pair| pair.0) {
            Ok(at) => Role::LengthOf(self.pairs.get(at).map_or(0, |pair| pair.1)),
            Err(_) if self.data.binary_search(&tag).is_ok() => Role::Data,
            Err(_) => Role::Neither,
        }
    }
}
