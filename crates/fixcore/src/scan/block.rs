//! The part of a scan that is the same for every instruction set but the widest: 64 bytes at a time
//! are masks of bits, and masks become positions.

/// 64 bytes as bits, and their sum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Masks {
    pub(super) soh: u64,
    pub(super) equals: u64,
    pub(super) sum: u32,
}

/// How many separators there were, and the sum of all bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) soh: usize,
    pub(super) equals: usize,
    pub(super) sum: u32,
}

/// Which `=` is the first of its field.
///
/// A one is added at each start of a field to a number whose bits are ones but for the separators: it
/// carries through the tag and comes to rest at the first of them.
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

/// Both kinds of separators, into slices. `None`: there are more than the slices hold.
#[inline(always)]
pub(super) fn separators(
    bytes: &[u8],
    soh: &mut [u32],
    equals: &mut [u32],
    masks: impl Fn(&[u8; 64]) -> Masks,
) -> Option<Found> {
    let mut found = Found::default();
    let mut first = First::new();
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut base = 0;
    for block in blocks {
        let is = masks(block);
        found.soh = extract(is.soh, base, soh, found.soh)?;
        found.equals = extract(first.next(is.soh, is.equals), base, equals, found.equals)?;
        found.sum = found.sum.wrapping_add(is.sum);
        base += 64;
    }
    if !rest.is_empty() {
        let is = masks(&padded(rest));
        found.soh = extract(is.soh, base, soh, found.soh)?;
        found.equals = extract(first.next(is.soh, is.equals), base, equals, found.equals)?;
        found.sum = found.sum.wrapping_add(is.sum);
    }
    Some(found)
}

/// The bytes 1 alone.
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
        count = extract(mask(block), base, soh, count)?;
        base += 64;
    }
    if !rest.is_empty() {
        count = extract(mask(&padded(rest)), base, soh, count)?;
    }
    Some(count)
}

/// The last bytes, with zeros behind them.
#[inline(always)]
pub(super) fn padded(rest: &[u8]) -> [u8; 64] {
    let mut block = [0; 64];
    for (to, from) in block.iter_mut().zip(rest) {
        *to = *from;
    }
    block
}

/// Writes where the bits of a mask are, eight at a time: what is written too much is overwritten.
#[inline(always)]
fn extract(mut mask: u64, base: u32, out: &mut [u32], at: usize) -> Option<usize> {
    let count = mask.count_ones() as usize;
    let mut done = 0;
    while done < count {
        let room = out.get_mut(at + done..)?.first_chunk_mut::<8>()?;
        for slot in room {
            *slot = base.wrapping_add(mask.trailing_zeros());
            mask &= mask.wrapping_sub(1);
        }
        done += 8;
    }
    Some(at + count)
}
