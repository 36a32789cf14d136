//! Reading messages of an open store: by their number, or a range of numbers.

use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;

use super::error::StoreResult;
use super::handle::Store;
use super::segment::Segment;

/// How many messages ahead to prefetch when they are read in order.
const AHEAD: u64 = 24;

impl Store {
    /// A message, without a copy and without verifying its checksum; `None` if this number has none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`](super::StoreError::Damaged) if another record is in its place.
    #[inline]
    pub fn get(&self, number: u64) -> StoreResult<Option<&[u8]>> {
        let before = self.last_got.load(Ordering::Relaxed);
        self.last_got.store(number, Ordering::Relaxed);
        let Some(segment) = self.segment(number) else {
            return Ok(None);
        };
        if before.wrapping_add(1) == number {
            segment.fetch(number.wrapping_add(AHEAD));
        }
        segment.get(number)
    }

    /// A message with its checksum verified, as needed before it is sent again.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`](super::StoreError::Damaged) if it is not what was appended.
    pub fn verified(&self, number: u64) -> StoreResult<Option<&[u8]>> {
        match self.segment(number) {
            Some(segment) => segment.verified(number),
            None => Ok(None),
        }
    }

    /// The messages of a range, each with its number and verified: for the answer to a ResendRequest.
    /// Numbers without a message are left out.
    #[doc(alias = "resend")]
    pub fn range(
        &self,
        numbers: RangeInclusive<u64>,
    ) -> impl Iterator<Item = (u64, StoreResult<&[u8]>)> {
        let (mut next, last) = numbers.into_inner();
        let last = last.min(self.next_sender.saturating_sub(1));
        std::iter::from_fn(move || {
            while next <= last {
                let number = next;
                // Skips numbers that no segment has in one step.
                next = match self.segment(number) {
                    Some(_) => number + 1,
                    None => self.first_after(number),
                };
                match self.verified(number) {
                    Ok(None) => {}
                    found => return Some((number, found.map(Option::unwrap_or_default))),
                }
            }
            None
        })
    }

    #[inline]
    fn segment(&self, number: u64) -> Option<&Segment> {
        if number >= self.active.header.first {
            return Some(&self.active);
        }
        let last = self.last_full.load(Ordering::Relaxed);
        let is_of = |at: usize| {
            let segment = self.full.get(at)?;
            let index = number.checked_sub(segment.header.first)?;
            (index < segment.entries as u64).then_some(segment)
        };
        is_of(last).or_else(|| {
            let after = self.firsts.partition_point(|first| *first <= number);
            let at = after.checked_sub(1)?;
            self.last_full.store(at, Ordering::Relaxed);
            is_of(at)
        })
    }

    /// The first number of the segment after a number that no segment has.
    fn first_after(&self, number: u64) -> u64 {
        let after = self.firsts.partition_point(|first| *first <= number);
        let first = self.firsts.get(after).copied();
        first
            .unwrap_or(self.active.header.first)
            .max(number.saturating_add(1))
    }
}
