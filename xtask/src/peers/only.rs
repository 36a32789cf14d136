//! Which cases of `cargo xtask peers zstd` are measured.

use anyhow::{Result, ensure};

use super::{LEVELS, THREADS};

/// Which cases to measure; the others keep what the record has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Only {
    pub(super) levels: Vec<u32>,
    pub(super) threads: Vec<u32>,
    pub(super) decompression: bool,
    pub(super) small: bool,
    /// Decompression of files of many frames.
    pub(super) many: bool,
}

impl Only {
    /// Every case.
    pub(crate) fn all() -> Self {
        Self {
            levels: LEVELS.iter().map(|&(level, _)| level).collect(),
            threads: THREADS.to_vec(),
            decompression: true,
            small: true,
            many: true,
        }
    }

    /// `19`, `19T2`, `d`, `dm` or `small`: a level, a level with a number of threads, decompression,
    /// that of many frames, or many small files.
    pub(crate) fn parse(word: &str) -> Result<Self> {
        let none = Self {
            levels: Vec::new(),
            threads: THREADS.to_vec(),
            decompression: word == "d",
            small: word == "small",
            many: word == "dm",
        };
        if none.decompression || none.small || none.many {
            return Ok(none);
        }
        let (level, threads) = match word.split_once('T') {
            Some((level, threads)) => (level, vec![threads.parse()?]),
            None => (word, THREADS.to_vec()),
        };
        let level = level.parse()?;
        ensure!(
            LEVELS.iter().any(|&(known, _)| known == level),
            "level {level} is not among those that are measured"
        );
        Ok(Self {
            levels: vec![level],
            threads,
            ..none
        })
    }
}
