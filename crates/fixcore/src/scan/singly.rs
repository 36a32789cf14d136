//! Fields one by one, where blocks of bytes do not pay: long values fill blocks without a separator, and
//! data fields stop a scan by blocks every few fields.
//!
//! How long to go on is a matter of credit: each field earns the bytes that it has, and costs what a scan by
//! blocks reads in the same time. A data field brings all the credit that there may be.

use memchr::memchr;

use super::data_fields::data_fields;
use super::index::Index;
use super::scalar::{Ends, field_by, words_before};
use super::watch::Watch;
use crate::frame::{SOH, TRAILER_BYTES};

/// The most credit, in fields of no length.
const FIELDS: isize = 6;

/// How an instruction set reads fields one by one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Singly<S, E> {
    /// The separators of a block.
    pub(super) soh: S,
    pub(super) ends: E,
    /// So many bytes are read by blocks in the time of a field by itself.
    pub(super) worth: isize,
    /// With more fields than this between two data fields blocks pay.
    pub(super) near: usize,
}

/// Ends of values by words, and behind the first ones by blocks: where a block takes long.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordsAndBlocks<S>(pub(super) Blocks<S>);

/// Ends of values by blocks, and after so many of them by memchr.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocks<S> {
    pub(super) soh: S,
    pub(super) most: usize,
}

/// The first field of some long ones is at least this long.
const LONG_BYTES: usize = 48;

impl<S: Fn(&[u8; 64]) -> u64, E: Ends> Singly<S, E> {
    /// All the credit that there may be: what a data field brings that follows another one closely.
    #[inline(always)]
    pub(super) fn most(&self) -> isize {
        FIELDS * self.worth
    }

    /// Whether the field that begins here is a long one.
    #[inline(always)]
    pub(super) fn is_long(&self, bytes: &[u8], at: usize) -> bool {
        let block = bytes.get(at..).and_then(<[u8]>::first_chunk);
        block.is_some_and(|block| (self.soh)(block).trailing_zeros() as usize >= LONG_BYTES)
    }

    /// Adds fields from the start of one on, as far as some credit goes. Returns where it stopped: at the end, at
    /// short fields, or at one that is watched or not well-formed.
    #[inline(always)]
    pub(super) fn fields(
        &self,
        bytes: &[u8],
        from: usize,
        watch: &Watch,
        index: &mut Index,
        mut credit: isize,
    ) -> usize {
        let mut at = from;
        while credit >= 0 {
            if bytes.len() - at == TRAILER_BYTES && index.push_trailer(bytes, at, watch) {
                return bytes.len();
            }
            match field_by(bytes, at, watch, &self.ends) {
                Some((tag, end)) => {
                    index.push(tag, end as u32);
                    let earned = (end + 1 - at) as isize;
                    credit = (credit + earned - self.worth).min(self.most());
                    at = end + 1;
                }
                None => {
                    let next = data_fields(bytes, at, watch, index);
                    if next == at {
                        break;
                    }
                    (at, credit) = (next, self.most());
                }
            }
        }
        at
    }
}

impl<S: Fn(&[u8; 64]) -> u64> Ends for Blocks<S> {
    #[inline(always)]
    fn length(&self, value: &[u8]) -> Option<usize> {
        let mut at = 0;
        for block in value.as_chunks::<64>().0.iter().take(self.most) {
            let is_soh = (self.soh)(block);
            if is_soh != 0 {
                return Some(at + is_soh.trailing_zeros() as usize);
            }
            at += 64;
        }
        Some(at + memchr(SOH, value.get(at..)?)?)
    }
}

impl<S: Fn(&[u8; 64]) -> u64> Ends for WordsAndBlocks<S> {
    #[inline(always)]
    fn length(&self, value: &[u8]) -> Option<usize> {
        match value.first_chunk().map(words_before) {
            Some(Some(short)) => Some(short),
            Some(None) => Some(16 + self.0.length(value.get(16..)?)?),
            None => memchr(SOH, value),
        }
    }
}
