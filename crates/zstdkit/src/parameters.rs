//! The settings of the match finder one by one, for those that a level does not serve well.

use crate::error::Error;
use crate::options::within;

/// How libzstd looks for matches, from the quickest to the most thorough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Strategy {
    /// One hash table.
    Fast = 1,
    /// Two hash tables, of short and long matches.
    Dfast = 2,
    /// Chains or rows, the first good match.
    Greedy = 3,
    /// Looks one byte ahead for a better match.
    Lazy = 4,
    /// Looks two bytes ahead for a better match.
    Lazy2 = 5,
    /// As `Lazy2`, over a binary tree.
    Btlazy2 = 6,
    /// Parses for the least bits.
    Btopt = 7,
    /// As `Btopt`, with finer prices.
    Btultra = 8,
    /// As `Btultra`, in two passes over the start.
    Btultra2 = 9,
}

impl Strategy {
    /// All of them, in order.
    pub const ALL: [Self; 9] = [
        Self::Fast,
        Self::Dfast,
        Self::Greedy,
        Self::Lazy,
        Self::Lazy2,
        Self::Btlazy2,
        Self::Btopt,
        Self::Btultra,
        Self::Btultra2,
    ];

    /// Its name in libzstd, in lower case without the prefix.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Dfast => "dfast",
            Self::Greedy => "greedy",
            Self::Lazy => "lazy",
            Self::Lazy2 => "lazy2",
            Self::Btlazy2 => "btlazy2",
            Self::Btopt => "btopt",
            Self::Btultra => "btultra",
            Self::Btultra2 => "btultra2",
        }
    }

    /// Its number in libzstd, 1 to 9.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// Settings that take the place of the level's own. What is `None` stays with the level.
///
/// All logarithms are to base 2. The window is [`EncoderOptions::window_log`](crate::EncoderOptions).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// Entries of the chain table or binary tree, 6 to 30 (29 on 32-bit platforms).
    pub chain_log: Option<u32>,
    /// Entries of the hash table, 6 to 30.
    pub hash_log: Option<u32>,
    /// Candidates looked at, 1 to 30 (29 on 32-bit platforms).
    pub search_log: Option<u32>,
    /// The shortest match in bytes, 3 to 7.
    pub min_match: Option<u32>,
    /// Good enough a match for the thorough strategies, in bytes; the step for `Fast`. 0 to 131072.
    pub target_length: Option<u32>,
    /// How to look for matches.
    pub strategy: Option<Strategy>,
}

const LOG_MAX: i64 = if cfg!(target_pointer_width = "64") {
    30
} else {
    29
};

impl Parameters {
    /// Whether nothing is set.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn validate(&self) -> Result<(), Error> {
        let bounds = [
            ("chain_log", self.chain_log, 6, LOG_MAX),
            ("hash_log", self.hash_log, 6, 30),
            ("search_log", self.search_log, 1, LOG_MAX),
            ("min_match", self.min_match, 3, 7),
            ("target_length", self.target_length, 0, 128 << 10),
        ];
        for (option, value, low, high) in bounds {
            if let Some(value) = value {
                within(option, value.into(), low, high)?;
            }
        }
        Ok(())
    }
}
