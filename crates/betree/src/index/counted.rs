//! Units of several lists or of a long one, which are found by counting: each element leads to the lists that name it, and
//! a unit is looked at when the event has an element of every one of its lists.
//!
//! A mark is a byte of a unit, with a bit for each of its lists. Looking at an element costs as many marks as lists
//! name it, however long these lists are, where a program would go through them one by one.

use super::item::Item;
use crate::memory;

/// The most lists of a unit that are counted: one bit of a mark each.
pub(super) const LISTS_MAX: usize = 8;
/// With fewer units, testing each of them costs less than a look-up, unless their lists are long.
const UNITS_MIN: usize = 4;
const POSTINGS_MIN: usize = 512;
/// Units whose marks are looked at together.
pub(crate) const BLOCK: usize = 64;
/// Bits of the number of a list in a posting.
const LIST_BITS: u32 = LISTS_MAX.ilog2();
/// The directory has at most this many entries for each element that some list names.
const SPARSE_MAX: usize = 4;

/// The lists of units while an index is built.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// Units, in their order.
    pub(super) units: Vec<u32>,
    /// The bits of a unit that has all that is asked.
    needs: Vec<u8>,
    /// Elements, each with its posting.
    postings: Vec<(u32, u32)>,
    /// List attributes, each once.
    attributes: Vec<u16>,
}

impl Lists {
    /// Whether a look-up costs less than testing each unit.
    pub(super) fn are_worth_it(&self) -> bool {
        self.units.len() >= UNITS_MIN || self.postings.len() >= POSTINGS_MIN
    }

    /// Adds a unit of this number of lists.
    pub(super) fn unit(&mut self, unit: u32, lists: usize) {
        self.units.push(unit);
        self.needs
            .push(u8::MAX >> (LISTS_MAX - lists.min(LISTS_MAX)));
    }

    /// Adds an element of a list, counted from 0, of the unit that was added last.
    pub(super) fn element(&mut self, attribute: u16, element: u32, list: u32) {
        if !self.attributes.contains(&attribute) {
            self.attributes.push(attribute);
        }
        let unit = self.units.len() as u32 - 1;
        self.postings.push((element, unit << LIST_BITS | list));
    }
}

/// All units of an index that are found by counting.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// Units.
    pub(super) items: Vec<Item>,
    /// The bits of a unit that has all that is asked, in whole blocks. What no list leads to has bits that are never set.
    needs: Vec<u8>,
    attributes: Vec<u16>,
    /// Elements that some list names, ascending.
    elements: Vec<u32>,
    /// Where the postings of each element begin, and the end.
    starts: Vec<u32>,
    /// For each beginning of an element the first of `elements` that has it or follows it, and the end.
    directory: Vec<u32>,
    /// Bits of an element that follow its beginning.
    shift: u32,
    /// Units with the numbers of their lists.
    postings: Vec<u32>,
}

impl Counted {
    /// Units of these lists, with their items.
    pub(super) fn new(lists: Lists, items: Vec<Item>) -> Self {
        let Lists {
            mut needs,
            mut postings,
            mut attributes,
            ..
        } = lists;
        needs.resize(needs.len().next_multiple_of(BLOCK), u8::MAX);
        attributes.sort_unstable();
        // The elements of each list ascend.
        postings.sort();
        postings.dedup();
        let distinct = postings.chunk_by(|a, b| a.0 == b.0).count();
        let mut out = Self {
            items,
            needs,
            attributes,
            elements: Vec::with_capacity(distinct),
            starts: Vec::with_capacity(distinct + 1),
            ..Self::default()
        };
        let mut at = 0;
        for list in postings.chunk_by(|a, b| a.0 == b.0) {
            out.elements.push(list[0].0);
            out.starts.push(at);
            at += list.len() as u32;
        }
        out.starts.push(at);
        let last = out.elements.last().copied().unwrap_or(0);
        let dense = (distinct * SPARSE_MAX) as u64;
        out.shift = (0..u32::BITS)
            .find(|shift| u64::from(last >> shift) <= dense)
            .unwrap_or(0);
        out.directory = vec![0; (last >> out.shift) as usize + 2];
        for element in &out.elements {
            out.directory[(element >> out.shift) as usize + 1] += 1;
        }
        for at in 1..out.directory.len() {
            out.directory[at] += out.directory[at - 1];
        }
        out.postings = postings.into_iter().map(|(_, posting)| posting).collect();
        out
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Room for the marks of all units.
    pub(crate) fn marks(&self) -> usize {
        self.needs.len()
    }

    /// The attributes whose elements lead to units.
    pub(crate) fn attributes(&self) -> &[u16] {
        &self.attributes
    }

    /// Where the postings of an element are.
    #[inline]
    pub(crate) fn find(&self, element: u32) -> Option<(u32, u32)> {
        let beginning = (element >> self.shift) as usize;
        let start = *self.directory.get(beginning)? as usize;
        let end = *self.directory.get(beginning + 1)? as usize;
        let at = match self.shift {
            // The beginning is all of it.
            0 => (start < end).then_some(start)?,
            _ => {
                start
                    + self
                        .elements
                        .get(start..end)?
                        .binary_search(&element)
                        .ok()?
            }
        };
        Some((*self.starts.get(at)?, *self.starts.get(at + 1)?))
    }

    #[inline]
    pub(crate) fn postings(&self, start: u32, end: u32) -> &[u32] {
        let found = self.postings.get(start as usize..end as usize);
        found.unwrap_or(&[])
    }

    /// The item of a unit, by its mark.
    #[inline]
    pub(crate) fn item(&self, mark: usize) -> Option<&Item> {
        self.items.get(mark)
    }

    /// The memory that they take.
    pub(super) fn bytes(&self) -> usize {
        let numbers = [
            &self.elements,
            &self.starts,
            &self.directory,
            &self.postings,
        ];
        numbers.map(memory::of).iter().sum::<usize>()
            + memory::of(&self.items)
            + memory::of(&self.needs)
            + memory::of(&self.attributes)
    }
}

/// One bit for each of eight bytes that are equal.
#[inline]
fn equal_bytes(a: [u8; 8], b: [u8; 8]) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    const ONES: u64 = 0x0101_0101_0101_0101;
    /// Moves the lowest bits of eight bytes together in the highest byte.
    const TOGETHER: u64 = 0x0102_0408_1020_4080;
    let apart = u64::from_le_bytes(a) ^ u64::from_le_bytes(b);
    // The highest bit of each byte that is not 0.
    let some = ((apart & LOW) + LOW) | apart;
    ((!some >> 7) & ONES).wrapping_mul(TOGETHER) >> 56
}

/// The marks of the units of one index, all 0 between two uses.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    bytes: Vec<u8>,
    /// One bit per block that may have marks.
    touched: Vec<u64>,
}

impl Marks {
    /// Makes room for the units of an index.
    pub(crate) fn fit(&mut self, counted: &Counted) {
        if self.bytes.len() < counted.marks() {
            self.bytes.resize(counted.marks(), 0);
            self.touched.resize(counted.marks().div_ceil(BLOCK * 64), 0);
        }
    }

    /// Sets the marks of postings.
    #[inline]
    pub(crate) fn set(&mut self, postings: &[u32]) {
        for posting in postings {
            let mark = (posting >> LIST_BITS) as usize;
            let block = mark / BLOCK;
            if let (Some(byte), Some(touched)) =
                (self.bytes.get_mut(mark), self.touched.get_mut(block / 64))
            {
                *byte |= 1 << (posting % LISTS_MAX as u32);
                *touched |= 1 << (block % 64);
            }
        }
    }

    /// The first block from one on that may have marks, among the 64 that a word tells; or where to look next. `None`
    /// when there are no more.
    #[inline]
    pub(crate) fn next(&self, block: usize) -> Option<std::result::Result<usize, usize>> {
        let word = self.touched.get(block / 64)?;
        Some(match word & u64::MAX << (block % 64) {
            0 => Err((block / 64 + 1) * 64),
            bits => Ok(block / 64 * 64 + bits.trailing_zeros() as usize),
        })
    }

    /// Clears the marks of a block. Returns one bit for each of its units that has all that is asked.
    #[inline]
    pub(crate) fn take(&mut self, counted: &Counted, block: usize) -> u64 {
        if let Some(touched) = self.touched.get_mut(block / 64) {
            *touched &= !(1 << (block % 64));
        }
        let range = block * BLOCK..(block + 1) * BLOCK;
        let Some(bytes) = self.bytes.get_mut(range.clone()) else {
            return 0;
        };
        let mut found = 0;
        if let Some(needs) = counted.needs.get(range) {
            let (bytes, _) = bytes.as_chunks::<8>();
            let (needs, _) = needs.as_chunks::<8>();
            for (at, (bytes, needs)) in bytes.iter().zip(needs).enumerate() {
                found |= equal_bytes(*bytes, *needs) << (at * 8);
            }
        }
        bytes.fill(0);
        found
    }

    /// How many groups of 64 blocks there are.
    pub(crate) fn groups(&self) -> usize {
        self.touched.len()
    }

    /// Clears the marks of a group.
    pub(crate) fn clear_group(&mut self, group: usize) {
        let Some(touched) = self.touched.get_mut(group) else {
            return;
        };
        if std::mem::take(touched) != 0 {
            let end = self.bytes.len().min((group + 1) * 64 * BLOCK);
            if let Some(bytes) = self.bytes.get_mut(group * 64 * BLOCK..end) {
                bytes.fill(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_equal_one_by_one() {
        for pattern in 0..=255u64 {
            for (same, other) in [(0u8, 1u8), (255, 0), (1, 129), (128, 0), (3, 2)] {
                let is_same = |at: usize| pattern >> at & 1 == 1;
                let a = [same; 8];
                let b = std::array::from_fn(|at| if is_same(at) { same } else { other });
                assert_eq!(equal_bytes(a, b), pattern, "{a:?} {b:?}");
            }
        }
    }
}
