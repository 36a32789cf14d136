//! The settings of the match finder one by one, where no level fits.

use std::fmt;
use std::str::FromStr;

use crate::bounds::within;
use crate::error::Error;

/// How libzstd searches for matches, from the fastest to the most thorough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
#[non_exhaustive]
pub enum Strategy {
    /// One hash table.
    Fast = 1,
    /// Two hash tables, for short and long matches.
    Dfast = 2,
    /// Chains or rows, the first good match.
    Greedy = 3,
    /// Looks one byte ahead for a better match.
    Lazy = 4,
    /// Looks two bytes ahead for a better match.
    Lazy2 = 5,
    /// As `Lazy2`, over a binary tree.
    Btlazy2 = 6,
    /// Optimal parsing: minimizes the size in bits.
    Btopt = 7,
    /// As `Btopt`, with finer cost estimates.
    Btultra = 8,
    /// As `Btultra`, with two passes over the beginning.
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

    /// Its name in libzstd, in lower case without the prefix. [`FromStr`] reads it.
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

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not a [`Strategy`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown strategy (expected fast, dfast, greedy, lazy, lazy2, btlazy2, btopt, btultra or btultra2)"
)]
pub struct UnknownStrategy;

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        Self::ALL
            .into_iter()
            .find(|strategy| strategy.name() == name)
            .ok_or(UnknownStrategy)
    }
}

/// Settings of the match finder that override those of the level. `None` keeps the level's.
///
/// All logarithms are to base 2. The window is
/// [`EncoderOptions::window_log`](crate::EncoderOptions::window_log).
///
/// ```
/// use zstdkit::{EncoderOptions, Parameters, Strategy};
///
/// let parameters = Parameters::default().with_strategy(Strategy::Lazy2).with_min_match(4);
/// let options = EncoderOptions::default().with_level(6).with_parameters(parameters);
/// assert_eq!(options.effective_strategy(None), Strategy::Lazy2);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Parameters {
    /// Entries of the chain table or binary tree, 6 to 30 (29 on 32-bit platforms).
    pub chain_log: Option<u32>,
    /// Entries of the hash table, 6 to 30.
    pub hash_log: Option<u32>,
    /// Candidates to try for each position, 1 to 30 (29 on 32-bit platforms).
    pub search_log: Option<u32>,
    /// The shortest match in bytes, 3 to 7.
    pub min_match: Option<u32>,
    /// The match length in bytes at which a thorough strategy stops searching; for `Fast` the step
    /// between positions. 0 to 131072.
    pub target_length: Option<u32>,
    /// How to search for matches.
    pub strategy: Option<Strategy>,
}

const LOG_MAX: i64 = if cfg!(target_pointer_width = "64") {
    30
} else {
    29
};

/// Setters, one for each field.
impl Parameters {
    /// Sets [`chain_log`](Self::chain_log).
    #[must_use]
    pub fn with_chain_log(mut self, chain_log: impl Into<Option<u32>>) -> Self {
        self.chain_log = chain_log.into();
        self
    }

    /// Sets [`hash_log`](Self::hash_log).
    #[must_use]
    pub fn with_hash_log(mut self, hash_log: impl Into<Option<u32>>) -> Self {
        self.hash_log = hash_log.into();
        self
    }

    /// Sets [`search_log`](Self::search_log).
    #[must_use]
    pub fn with_search_log(mut self, search_log: impl Into<Option<u32>>) -> Self {
        self.search_log = search_log.into();
        self
    }

    /// Sets [`min_match`](Self::min_match).
    #[must_use]
    pub fn with_min_match(mut self, min_match: impl Into<Option<u32>>) -> Self {
        self.min_match = min_match.into();
        self
    }

    /// Sets [`target_length`](Self::target_length).
    #[must_use]
    pub fn with_target_length(mut self, target_length: impl Into<Option<u32>>) -> Self {
        self.target_length = target_length.into();
        self
    }

    /// Sets [`strategy`](Self::strategy).
    #[must_use]
    pub fn with_strategy(mut self, strategy: impl Into<Option<Strategy>>) -> Self {
        self.strategy = strategy.into();
        self
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_reads_its_own_name() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        assert_eq!("Fast".parse::<Strategy>(), Err(UnknownStrategy));
    }
}
