//! Fields by the instruction sets that compare 64 bytes at a time, but the widest: blocks of bytes become
//! bit masks, masks become ends and the first bytes of tags, and those become tags, eight at once.
//!
//! A few blocks are read before their tags are. What is unusual stops a scan there: its caller looks at
//! that field, and starts again after it. So it costs its own blocks only.

#![allow(
    unsafe_code,
    reason = "loads and stores within lengths that are checked once"
)]

use super::data_fields::data_fields;
use super::index::Index;
use super::scalar::Ends;
use super::singly::Singly;
use super::tags::{read_long, settle};
use super::watch::Watch;

/// 64 bytes as bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    pub(super) soh: u64,
    pub(super) equals: u64,
    /// The digit 0, if it is not left to the reading of tags to find those that begin with it.
    pub(super) zeros: u64,
}

/// The most fields that end in a block: a field has at least four bytes.
pub(super) const BLOCK_FIELDS: usize = 16;
/// So many blocks are read before their tags are, and so many after a data field.
const CHUNK_BLOCKS: usize = 4;
const DATA_BLOCKS: usize = 2;
/// How many ends are written at once. More are rare in 64 bytes.
const HALF: usize = 8;
/// Blocks with long values have so few.
const FEW: usize = 2;
/// If the last bytes of a chunk have no more, those that follow are likely to be long, too.
const SPARSE_BYTES: usize = 128;

/// What is known of the bytes before a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before {
    /// Whether the block begins within a tag.
    carry: u64,
    /// The top bits of the masks before.
    soh: u64,
    equals: u64,
    pub(super) in_tag: u64,
}

/// The fields of a block, as bits.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        dead_code,
        reason = "the widest instruction set alone reads all of them"
    )
)]
pub(super) struct Fields {
    /// The `=` behind each tag.
    pub(super) equals: u64,
    pub(super) in_tag: u64,
    /// Where a field is not well-formed: at its start, or at its end.
    pub(super) bad: u64,
    /// The `=` of tags with more than four bytes.
    pub(super) long: u64,
}

impl Before {
    /// At the start of a field.
    pub(super) fn field() -> Self {
        Self {
            carry: 1,
            soh: 1,
            equals: 0,
            in_tag: 0,
        }
    }

    /// Whether the next block begins in a value, after its first byte.
    #[inline(always)]
    pub(super) fn is_value(&self) -> bool {
        self.carry | self.equals == 0
    }

    /// The fields of the next block.
    #[inline(always)]
    pub(super) fn next(&mut self, is: Marks) -> Fields {
        let (soh, separators) = (is.soh, is.soh | is.equals);
        let starts = soh << 1 | self.soh;
        // One is added at each start to a number whose bits are ones except at separators: the carry
        // runs through the tag and stops at its first separator.
        let (sum, carried) = (!separators).overflowing_add(starts | self.carry);
        let equals = sum & is.equals;
        let in_tag = !(sum | separators);
        // An empty tag, a leading zero, an empty value, or no tag.
        let bad = (is.zeros | equals) & starts | soh & (equals << 1 | self.equals | sum);
        // Two bytes before the `=`, and five: a tag of one byte may follow another one closely.
        let second = in_tag << 2 | self.in_tag >> 62;
        let fifth = in_tag << 5 | self.in_tag >> 59;
        *self = Self {
            carry: u64::from(carried) | soh >> 63,
            soh: soh >> 63,
            equals: equals >> 63,
            in_tag,
        };
        Fields {
            equals,
            in_tag,
            bad,
            long: equals & second & fifth,
        }
    }
}

/// What an instruction set does.
pub(super) struct Steps<M, S, T, E> {
    pub(super) marks: M,
    pub(super) singly: Singly<S, E>,
    /// Turns the first four bytes of so many fields into tags of up to four digits, and may change the
    /// words of the next seven. Returns the place of one that has something other than digits, begins with
    /// 0 or is watched; those after it may still be bytes.
    pub(super) tags: T,
}

/// Adds fields from the start of one on. Returns where it stopped: at the end, or at the start of a
/// field that is watched or not well-formed.
#[inline(always)]
pub(super) fn fields<M, S, T, E>(
    bytes: &[u8],
    from: usize,
    watch: &Watch,
    index: &mut Index,
    steps: Steps<M, S, T, E>,
    sum: impl Fn(&[u8]) -> u32,
) -> usize
where
    M: Fn(&[u8; 64]) -> Marks,
    S: Fn(&[u8; 64]) -> u64,
    T: Fn(&mut [u32], usize) -> Option<usize>,
    E: Ends,
{
    let Some(last_word) = bytes.len().checked_sub(4) else {
        return from;
    };
    let mut before = Before::field();
    let (mut base, mut start, mut stopped, mut is_quiet) = (from, from, false, false);
    // How many fields there were at the last data field.
    let mut last_data = None;
    // Whether a tag of the last block has more than four digits: its field may end later.
    let mut is_long = false;
    // After a data field another one may be near.
    let mut blocks = if from == 0 { CHUNK_BLOCKS } else { DATA_BLOCKS };
    while base < bytes.len() && !stopped {
        let chunk = index.len;
        let mut len = chunk;
        if len + CHUNK_BLOCKS * BLOCK_FIELDS + 1 > index.ends.len().min(index.tags.len()) {
            break;
        }
        // SAFETY: the last word is in the bytes.
        index.tags[len] = unsafe { word(bytes, start.min(last_word)) };
        let mut long = if is_long { len..len + 1 } else { len..len };
        for _ in 0..blocks {
            let Some(rest) = bytes.get(base..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            let is = match rest.first_chunk() {
                Some(block) => (steps.marks)(block),
                None => last_marks(bytes, rest, &steps.marks),
            };
            let found = before.next(is);
            let mut soh = is.soh;
            if found.bad != 0 {
                stopped = true;
                soh &= (found.bad & found.bad.wrapping_neg()) - 1;
            }
            is_long = found.long != 0;
            if is_long && long.is_empty() {
                long.start = len;
            }
            // SAFETY: `len` is at most `BLOCK_FIELDS` above that of the block before, for a field that
            // is not bad has four bytes; there is room for those of all blocks of the chunk. Words are
            // read at the last one at most.
            len += unsafe {
                let to = (
                    index.ends.as_mut_ptr().add(len),
                    index.tags.as_mut_ptr().add(len + 1),
                );
                put(bytes, soh, base, last_word, to)
            };
            if is_long {
                long.end = len + 1;
            }
            if stopped {
                break;
            }
            base += 64;
            is_quiet = is.soh == 0 && before.is_value();
            if is_quiet {
                break;
            }
        }
        let strange = match index.tags.get_mut(chunk..) {
            Some(words) => (steps.tags)(words, len - chunk),
            None => None,
        };
        index.len = len;
        let first_strange = strange.map_or(len, |strange| chunk + strange);
        long.end = long.end.min(first_strange);
        if !long.is_empty() {
            stopped |= read_long(bytes, watch, index, long);
        }
        if strange.is_some() {
            stopped |= settle(bytes, first_strange, watch, index);
        }
        start = index.start_of(index.len);
        let (next, credit) = if stopped && index.len < len && watch.has(index.tags[index.len]) {
            let near = last_data.is_some_and(|last| index.len - last <= steps.singly.near);
            let next = watched_fields(bytes, start, watch, index);
            last_data = Some(index.len);
            (next, (near && next > start).then(|| steps.singly.most()))
        } else {
            let is_long = !stopped && (is_quiet || is_sparse(index, chunk, base));
            let is_long = is_long && steps.singly.is_long(bytes, start);
            (start, is_long.then_some(0))
        };
        let next = match credit {
            Some(credit) => steps.singly.fields(bytes, next, watch, index, credit),
            None => next,
        };
        blocks = if stopped { DATA_BLOCKS } else { CHUNK_BLOCKS };
        if next > start {
            (base, start, before) = (next, next, Before::field());
            (is_long, stopped) = (false, false);
        } else {
            // A value that fills a block but does not end.
            stopped |= is_quiet;
        }
    }
    if start == bytes.len() {
        index.finish(bytes, sum);
    }
    start
}

/// Whether the fields of a chunk that ends before `base` are long ones, or the last ones of it.
#[inline(always)]
fn is_sparse(index: &Index, chunk: usize, base: usize) -> bool {
    let fields = index.len - chunk;
    let before = fields
        .checked_sub(FEW + 1)
        .and_then(|at| index.ends.get(chunk + at));
    before.is_none_or(|end| *end as usize + SPARSE_BYTES < base)
}

/// Adds data fields, and CheckSum (10) if it comes next. Returns the start of the next field.
#[inline(never)]
fn watched_fields(bytes: &[u8], from: usize, watch: &Watch, index: &mut Index) -> usize {
    let next = data_fields(bytes, from, watch, index);
    match next > from && index.push_trailer(bytes, next, watch) {
        true => bytes.len(),
        false => next,
    }
}

/// The marks of fewer than 64 bytes at the end.
#[inline(always)]
fn last_marks(bytes: &[u8], rest: &[u8], marks: impl Fn(&[u8; 64]) -> Marks) -> Marks {
    let (block, skipped) = super::block::last(bytes, rest);
    let is = marks(&block);
    Marks {
        soh: is.soh >> skipped,
        equals: is.equals >> skipped,
        zeros: is.zeros >> skipped,
    }
}

/// Four bytes.
///
/// # Safety
/// They are in the slice.
#[inline(always)]
unsafe fn word(bytes: &[u8], at: usize) -> u32 {
    // SAFETY: by the contract of this function; the load needs no alignment.
    u32::from_le(unsafe { bytes.as_ptr().add(at).cast::<u32>().read_unaligned() })
}

/// Writes where fields end, and the four bytes behind each end, but at most those at `last_word`. Returns
/// how many fields there are.
///
/// # Safety
/// There is room for as many as the mask has bits, or for 8; four bytes are at `last_word`.
#[inline(always)]
unsafe fn put(
    bytes: &[u8],
    soh: u64,
    base: usize,
    last_word: usize,
    to: (*mut u32, *mut u32),
) -> usize {
    let count = soh.count_ones() as usize;
    // SAFETY: by the contract of this function.
    unsafe {
        match count {
            // Long values.
            0..=FEW => {
                put_some::<FEW>(bytes, soh, base, last_word, to);
            }
            // All words are before the last one.
            _ if base + 64 < last_word => put_all(bytes, soh, base, usize::MAX, count, to),
            _ => put_all(bytes, soh, base, last_word, count, to),
        }
    }
    count
}

/// Writes eight at a time.
///
/// # Safety
/// As for [`put`], where all words are in the bytes if they are not limited.
#[inline(always)]
unsafe fn put_all(
    bytes: &[u8],
    mut soh: u64,
    base: usize,
    last_word: usize,
    count: usize,
    to: (*mut u32, *mut u32),
) {
    let mut done = 0;
    while done < count {
        // SAFETY: `done` is below `count`, which there is room for when rounded up to 8.
        unsafe {
            let to = (to.0.add(done), to.1.add(done));
            soh = put_some::<HALF>(bytes, soh, base, last_word, to);
        }
        done += HALF;
    }
}

/// Writes `COUNT` fields, and returns the other bits of the mask.
///
/// # Safety
/// As for [`put_all`].
#[inline(always)]
unsafe fn put_some<const COUNT: usize>(
    bytes: &[u8],
    mut soh: u64,
    base: usize,
    last_word: usize,
    (ends, words): (*mut u32, *mut u32),
) -> u64 {
    for at in 0..COUNT {
        let end = base + soh.trailing_zeros() as usize;
        // SAFETY: by the contract of this function.
        unsafe {
            // One by one: gathering them in a vector register takes longer than storing them.
            ends.add(at).write_volatile(end as u32);
            let word = word(bytes, (end + 1).min(last_word));
            words.add(at).write_volatile(word);
        }
        soh &= soh.wrapping_sub(1);
    }
    soh
}

#[cfg(test)]
mod tests {
    use crate::scan::{Index, Scanner};
    use crate::{DataPairs, Isa, frame};

    #[test]
    fn scans_of_messages_without_data_fields_do_not_stop() {
        let watch = DataPairs::standard().watch;
        let mut body = b"35=0\x01".to_vec();
        for tag in [1, 297, 999, 1_312, 9_999, 12_801, 123_456_789].repeat(20) {
            let mut bytes = Vec::new();
            frame::write(b"FIX.4.4", &body, &mut bytes);
            for scanner in Isa::ALL.into_iter().filter_map(Scanner::with_isa) {
                let mut index = Index::new();
                index.start(bytes.len());
                let stopped = scanner.fields(&bytes, 0, &watch, &mut index);
                assert_eq!(stopped, bytes.len(), "{}", scanner.isa());
            }
            body.extend_from_slice(format!("{tag}={tag}\x01").as_bytes());
        }
    }
}
