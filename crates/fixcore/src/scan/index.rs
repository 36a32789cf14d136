//! The result of a scan, in buffers that are reused from message to message.

use super::watch::Watch;
use crate::frame::{MESSAGE_BYTES_MAX, is_trailer};

/// How many tags are compared at once.
pub(crate) const FRONT_TAGS: usize = 16;

/// The separators in some bytes.
#[derive(Debug, Default, Clone)]
pub struct Separators {
    pub(super) soh: Vec<u32>,
    pub(super) soh_len: usize,
    pub(super) equals: Vec<u32>,
    pub(super) equals_len: usize,
    pub(super) sum: u8,
}

impl Separators {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The positions of the byte 1.
    #[must_use]
    pub fn soh(&self) -> &[u32] {
        self.soh.get(..self.soh_len).unwrap_or(&[])
    }

    /// The position of the first `=` at or after each start of a field. A field starts at the first
    /// byte and after each byte 1.
    #[must_use]
    pub fn equals(&self) -> &[u32] {
        self.equals.get(..self.equals_len).unwrap_or(&[])
    }

    /// The sum of all bytes, modulo 256.
    #[must_use]
    pub fn sum(&self) -> u8 {
        self.sum
    }

    /// Makes room for all separators that this many bytes can hold.
    pub(super) fn reserve(&mut self, bytes: usize, equals: bool) {
        let room = bytes.min(MESSAGE_BYTES_MAX) + 64;
        if self.soh.len() < room {
            self.soh.resize(room, 0);
        }
        if equals && self.equals.len() < room {
            self.equals.resize(room, 0);
        }
    }
}

/// The fields of a message: their tags and where they end. A field starts where the one before it
/// ended, its value after the digits of its tag.
#[derive(Debug, Default, Clone)]
pub struct Index {
    pub(crate) tags: Vec<u32>,
    pub(crate) ends: Vec<u32>,
    pub(crate) len: usize,
    /// The sum of the first bytes, modulo 256, and how many these are.
    pub(crate) sum: u8,
    pub(super) summed: usize,
    /// A second copy of the first tags, if the scan has them in one register: reading them as a whole
    /// would wait for the separate stores to `tags`.
    pub(super) front: Front,
    pub(crate) has_front: bool,
}

/// Tags in one cache line.
#[derive(Debug, Default, Clone)]
#[repr(align(64))]
pub(super) struct Front(pub(super) [u32; FRONT_TAGS]);

impl Index {
    /// Empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The tag of each field.
    #[inline]
    #[must_use]
    pub fn tags(&self) -> &[u32] {
        self.tags.get(..self.len).unwrap_or(&[])
    }

    /// The position of each field's separator.
    #[inline]
    #[must_use]
    pub fn ends(&self) -> &[u32] {
        self.ends.get(..self.len).unwrap_or(&[])
    }

    /// The first tags; elements after the last tag are old values.
    #[inline]
    pub(crate) fn front(&self) -> Option<&[u32; FRONT_TAGS]> {
        match self.has_front {
            true => Some(&self.front.0),
            false => self.tags.first_chunk(),
        }
    }

    /// Makes room for the fields of this many bytes: four bytes for each field, and those of a few blocks
    /// at once.
    #[inline]
    pub(crate) fn reserve(&mut self, bytes: usize) {
        let room = 16 * (bytes.min(MESSAGE_BYTES_MAX) / 64 + 6);
        if self.tags.len() < room {
            self.grow(room);
        }
    }

    #[cold]
    fn grow(&mut self, room: usize) {
        self.tags.resize(room, 0);
        self.ends.resize(room, 0);
    }

    /// Makes room for the fields of this many bytes, and forgets those of the message before.
    #[inline]
    pub(crate) fn start(&mut self, bytes: usize) {
        self.reserve(bytes);
        (self.len, self.sum, self.summed, self.has_front) = (0, 0, 0, false);
    }

    /// Where a field begins, if those before it are known.
    #[inline(always)]
    pub(crate) fn start_of(&self, field: usize) -> usize {
        let before = field.checked_sub(1).and_then(|at| self.ends.get(at));
        before.map_or(0, |end| *end as usize + 1)
    }

    /// Whether all bytes are in the sum.
    #[inline(always)]
    pub(crate) fn is_summed(&self, bytes: &[u8]) -> bool {
        self.summed == bytes.len()
    }

    /// Adds the bytes that are not in the sum yet.
    #[inline(always)]
    pub(super) fn finish(&mut self, bytes: &[u8], sum: impl Fn(&[u8]) -> u32) {
        if let Some(more @ [_, ..]) = bytes.get(self.summed..) {
            self.sum = self.sum.wrapping_add(sum(more) as u8);
            self.summed = bytes.len();
        }
    }

    /// Adds BeginString (8) and BodyLength (9), which end here. Returns where the next field begins.
    #[inline]
    pub(crate) fn push_start(&mut self, [begin, length]: [u32; 2]) -> usize {
        self.push(8, begin);
        self.push(9, length);
        length as usize + 1
    }

    /// Adds CheckSum (10), if nothing but it is left and it is not watched; not to the sum.
    #[inline(always)]
    pub(crate) fn push_trailer(&mut self, bytes: &[u8], at: usize, watch: &Watch) -> bool {
        let is_trailer = bytes.get(at..).is_some_and(is_trailer) && !watch.has(10);
        if is_trailer {
            self.push(10, bytes.len() as u32 - 1);
        }
        is_trailer
    }

    /// Adds a field; not to the sum.
    #[inline(always)]
    pub(crate) fn push(&mut self, tag: u32, end: u32) {
        let slots = (self.tags.get_mut(self.len), self.ends.get_mut(self.len));
        if let (Some(to_tag), Some(to_end)) = slots {
            (*to_tag, *to_end) = (tag, end);
            self.len += 1;
        }
        // Its copy of the first tags lacks this one.
        self.has_front &= self.len > FRONT_TAGS;
    }
}

/// A tag of up to nine digits without leading zeros; 0 if it is invalid.
#[inline(always)]
pub(crate) fn read_tag(bytes: &[u8], start: usize, end: usize) -> u32 {
    let digits = end.wrapping_sub(start);
    let word = end.checked_sub(8).and_then(|at| bytes.get(at..end));
    if let (Some(Ok(word)), 1..=9) = (word.map(<[u8; 8]>::try_from), digits) {
        let first = bytes.get(start).map_or(0, |byte| byte.wrapping_sub(b'0'));
        return match read_digits(word, digits.min(8)) {
            Some(tag) if first > 0 && digits <= 8 => tag,
            Some(tag) if (1..=9).contains(&first) => tag + 100_000_000 * u32::from(first),
            _ => 0,
        };
    }
    read_tag_slowly(bytes.get(start..end).unwrap_or(&[]))
}

/// The number in the last `digits` of eight bytes: at least one digit.
#[inline(always)]
pub(crate) fn read_digits(word: [u8; 8], digits: usize) -> Option<u32> {
    let shift = (8 - digits) as u32 * 8;
    last_digits(u64::from_le_bytes(word) >> shift << shift, digits as u32)
}

/// The number in the last bytes of a little-endian word whose other bytes are zero: at least one digit.
#[inline(always)]
pub(crate) fn last_digits(word: u64, digits: u32) -> Option<u32> {
    let aligned = word ^ 0x3030_3030_3030_3030 << (64 - 8 * digits);
    let digits_only =
        (aligned.wrapping_add(0x7676_7676_7676_7676) | aligned) & 0x8080_8080_8080_8080 == 0;
    let pairs = aligned.wrapping_mul(10).wrapping_add(aligned >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    digits_only.then_some((low.wrapping_add(high) >> 32) as u32)
}

#[cold]
fn read_tag_slowly(digits: &[u8]) -> u32 {
    if digits.first() == Some(&b'0') || digits.len() > 9 {
        return 0;
    }
    let mut value = 0;
    for digit in digits {
        match digit {
            b'0'..=b'9' => value = value * 10 + u32::from(digit - b'0'),
            _ => return 0,
        }
    }
    value
}
