//! Positions of separators, by all instruction sets but the widest: 64 bytes at a time become bit masks,
//! and masks become positions.

#![allow(unsafe_code, reason = "stores within a length that is checked once")]

/// 64 bytes as bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Masks {
    pub(super) soh: u64,
    pub(super) equals: u64,
}

/// How many separators there are, and the sum of all bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) soh: usize,
    pub(super) equals: usize,
    pub(super) sum: u32,
}

/// Finds the first `=` of each field.
///
/// Adds one at each start of a field to a number whose bits are ones except at separators: the carry
/// runs through the tag and stops at its first separator.
#[derive(Debug, Clone, Copy)]
pub(super) struct First {
    /// Whether the next block begins in a tag.
    carry: u64,
}

impl First {
    pub(super) fn new() -> Self {
        Self { carry: 1 }
    }

    #[inline(always)]
    pub(super) fn next(&mut self, soh: u64, equals: u64) -> u64 {
        let starts = soh << 1 | self.carry;
        let (sum, carried) = (!(equals | soh)).overflowing_add(starts);
        self.carry = u64::from(carried) | soh >> 63;
        sum & equals
    }
}

/// How many positions are written at once; some of them may not be valid.
const OVER: usize = 8;

/// Finds both kinds of separators. `None` if there may be more than the slices hold. Whole blocks are
/// also passed to `add`, by which the caller computes the sum.
#[inline(always)]
pub(super) fn separators(
    bytes: &[u8],
    soh: &mut [u32],
    equals: &mut [u32],
    masks: impl Fn(&[u8; 64]) -> Masks,
    mut add: impl FnMut(&[u8; 64]),
) -> Option<Found> {
    let mut found = Found::default();
    let mut first = First::new();
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut base = 0;
    for block in blocks {
        add(block);
        let is = masks(block);
        found.soh = put(is.soh, base, soh, found.soh)?;
        found.equals = put(first.next(is.soh, is.equals), base, equals, found.equals)?;
        base += 64;
    }
    if !rest.is_empty() {
        let (block, skipped) = last(bytes, rest);
        let is = masks(&block);
        let (is_soh, is_equals) = (is.soh >> skipped, is.equals >> skipped);
        found.soh = put(is_soh, base, soh, found.soh)?;
        found.equals = put(first.next(is_soh, is_equals), base, equals, found.equals)?;
    }
    Some(found)
}

/// Finds the byte 1 only.
#[inline(always)]
pub(super) fn positions(
    bytes: &[u8],
    soh: &mut [u32],
    mask: impl Fn(&[u8; 64]) -> u64,
) -> Option<usize> {
    let mut count = 0;
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut base = 0;
    for block in blocks {
        count = put(mask(block), base, soh, count)?;
        base += 64;
    }
    if !rest.is_empty() {
        let (block, skipped) = last(bytes, rest);
        count = put(mask(&block) >> skipped, base, soh, count)?;
    }
    Some(count)
}

/// A block that ends with the last bytes, and how many bytes come before them in it.
#[inline(always)]
pub(super) fn last(bytes: &[u8], rest: &[u8]) -> ([u8; 64], usize) {
    match bytes.last_chunk::<64>() {
        Some(block) => (*block, 64 - rest.len()),
        None => (padded(rest), 0),
    }
}

/// The last bytes, followed by zeros.
#[inline(always)]
pub(super) fn padded(rest: &[u8]) -> [u8; 64] {
    let mut block = [0; 64];
    if let Some(to) = block.get_mut(..rest.len()) {
        to.copy_from_slice(rest);
    }
    block
}

/// Writes the positions of the bits of a mask, eight at a time, from a place on. Positions beyond the
/// last bit are overwritten later. Returns the place after them; `None` if there is no room.
#[inline(always)]
fn put(mut mask: u64, base: u32, out: &mut [u32], at: usize) -> Option<usize> {
    let end = at + mask.count_ones() as usize;
    if end + OVER > out.len() {
        return None;
    }
    let mut done = at;
    loop {
        for further in 0..OVER {
            let position = base.wrapping_add(mask.trailing_zeros());
            // One by one: gathering them in a vector register takes longer than storing them.
            // SAFETY: `done` is `at` or below `end`, and there is room for 8 after `end`.
            unsafe {
                out.as_mut_ptr()
                    .add(done)
                    .add(further)
                    .write_volatile(position)
            };
            mask &= mask.wrapping_sub(1);
        }
        done += OVER;
        // Fields are rarely shorter than eight bytes each.
        if done >= end {
            return Some(end);
        }
    }
}
