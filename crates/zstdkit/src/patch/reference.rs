//! Gathers the ranges of the older file that are the prefix of a frame. Whoever has the file reads it.

use std::collections::VecDeque;
use std::hash::Hasher as _;
use std::ops::Range;
use std::sync::Arc;

use twox_hash::XxHash64;

use crate::error::{Error, Repr};

/// A prefix of which some bytes are missing.
pub(super) struct Reference {
    /// What is missing.
    missing: VecDeque<Range<u64>>,
    bytes: Arc<[u8]>,
    filled: usize,
    hash: XxHash64,
}

impl Reference {
    /// All of these ranges are missing. The memory for them is allocated.
    pub(super) fn new(ranges: &[Range<u64>]) -> Result<Self, Error> {
        let total = ranges.iter().map(|range| range.end - range.start).sum();
        let out = || Repr::Memory {
            bytes: Some(total),
            what: "a part of the older file",
        };
        let bytes = usize::try_from(total).map_err(|_| out())?;
        // The allocation that is kept cannot fail without ending the process, so this one is tried first.
        let mut tried = Vec::<u8>::new();
        tried.try_reserve_exact(bytes).map_err(|_| out())?;
        drop(tried);
        Ok(Self {
            missing: ranges.iter().cloned().collect(),
            bytes: std::iter::repeat_n(0, bytes).collect(),
            filled: 0,
            hash: XxHash64::with_seed(0),
        })
    }

    /// The bytes of the older file that come next.
    pub(super) fn wanted(&self) -> Option<Range<u64>> {
        self.missing.front().cloned()
    }

    /// Takes the first of the wanted bytes; returns how many.
    pub(super) fn push(&mut self, bytes: &[u8]) -> usize {
        let Some(range) = self.missing.front_mut() else {
            return 0;
        };
        let left = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let taken = &bytes[..bytes.len().min(left)];
        // Nothing else refers to it yet.
        if let Some(room) = Arc::get_mut(&mut self.bytes) {
            room[self.filled..self.filled + taken.len()].copy_from_slice(taken);
        }
        self.hash.write(taken);
        self.filled += taken.len();
        range.start += taken.len() as u64;
        if range.is_empty() {
            self.missing.pop_front();
        }
        taken.len()
    }

    /// The prefix, `None` if it is empty, and its XXH64.
    pub(super) fn finish(self) -> (Option<Arc<[u8]>>, u64) {
        let hash = self.hash.finish();
        (Some(self.bytes).filter(|bytes| !bytes.is_empty()), hash)
    }
}
