//! Tags at which a scan stops: exactly, by a bit for each tag, and nearly, by a test that a vector
//! register can do.

/// Tags below this have a bit.
const BITS: u32 = 10_240;
/// How many groups of tags the near test tells apart.
const CLASSES: usize = 8;
/// More sets than this are not compared with one another.
const SETS_MAX: usize = 100;
/// The table of length fields has at most this many rows.
const ROWS_MAX: usize = 4096;

/// Tags that the decoder must handle by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Watch {
    bits: [u32; BITS as usize / 32],
    /// Tags that have no bit, sorted.
    long: Vec<u32>,
    /// By the number of a tag's last two digits, and of the two before these: the classes in which it
    /// is. A watched tag of up to four digits is in one class by both.
    pub(super) low: Classes,
    pub(super) high: Classes,
    /// The same by each of four digits, the first one first.
    pub(super) digits: [[u8; 16]; 4],
    /// By the tag of a length field: that of its data field, or 0. Larger tags have no row.
    data_of: Vec<u32>,
}

/// A byte for each number below 128.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Classes(pub(super) [u8; 128]);

impl Watch {
    pub(crate) const fn new() -> Self {
        Self {
            bits: [0; BITS as usize / 32],
            long: Vec::new(),
            low: Classes([0; 128]),
            high: Classes([0; 128]),
            digits: [[0; 16]; 4],
            data_of: Vec::new(),
        }
    }

    /// Watches length fields and their data fields: pairs of tags, sorted by that of the length field.
    pub(crate) fn of_pairs(pairs: &[(u32, u32)]) -> Self {
        let mut watch = Self::of(pairs.iter().flat_map(|(length, data)| [*length, *data]));
        let rows = pairs.iter().map(|pair| pair.0 as usize + 1);
        watch.data_of = vec![0; rows.filter(|rows| *rows <= ROWS_MAX).max().unwrap_or(0)];
        // The first pair of a length field counts.
        for (length, data) in pairs.iter().rev() {
            if let Some(row) = watch.data_of.get_mut(*length as usize) {
                *row = *data;
            }
        }
        watch
    }

    /// The tag of the data field that follows a length field; 0 for other tags, and maybe for large ones.
    #[inline(always)]
    pub(super) fn data_of(&self, length: u32) -> u32 {
        self.data_of.get(length as usize).copied().unwrap_or(0)
    }

    /// Watches these tags.
    pub(crate) fn of(tags: impl Iterator<Item = u32>) -> Self {
        let mut watch = Self::new();
        for tag in tags {
            match watch.bits.get_mut((tag / 32) as usize) {
                Some(word) => *word |= 1 << (tag % 32),
                None => watch.long.push(tag),
            }
        }
        watch.long.sort_unstable();
        watch.classify();
        watch
    }

    /// Whether a tag is watched.
    #[inline(always)]
    pub(crate) fn has(&self, tag: u32) -> bool {
        match self.bits.get((tag / 32) as usize) {
            Some(word) => word >> (tag % 32) & 1 != 0,
            None => self.has_long() && self.long.binary_search(&tag).is_ok(),
        }
    }

    /// Whether some watched tags have more than four digits.
    #[inline(always)]
    pub(super) fn has_long(&self) -> bool {
        !self.long.is_empty()
    }

    fn classify(&mut self) {
        let watched = |tag: &u32| self.has(*tag);
        let hundreds = (0..100).map(|high| {
            let low = (0..100).filter(|low| watched(&(100 * high + low)));
            [1 << high, low.fold(0, |bits, low| bits | 1 << low)]
        });
        let pairs = joined(hundreds.filter(|[_, low]| *low != 0).collect());
        let of_digits = |tag: u32| [tag / 1000, tag / 100 % 10, tag / 10 % 10, tag % 10];
        let tags = (1..10_000).filter(watched);
        let boxes = joined(
            tags.map(|tag| of_digits(tag).map(|digit| 1 << digit))
                .collect(),
        );
        for (class, [high, low]) in pairs.into_iter().enumerate() {
            for number in 0..100 {
                self.high.0[number] |= ((high >> number & 1) as u8) << class;
                self.low.0[number] |= ((low >> number & 1) as u8) << class;
            }
        }
        for (class, digits) in boxes.into_iter().enumerate() {
            for (row, bits) in self.digits.iter_mut().zip(digits) {
                for (digit, row) in row.iter_mut().enumerate() {
                    *row |= ((bits >> digit & 1) as u8) << class;
                }
            }
        }
    }

    /// Whether a tag of up to four digits passes the near test.
    #[cfg(test)]
    fn may_have(&self, tag: u32) -> [bool; 2] {
        let tag = tag as usize;
        let digits = [tag / 1000, tag / 100 % 10, tag / 10 % 10, tag % 10];
        let rows = self
            .digits
            .iter()
            .zip(digits)
            .map(|(row, digit)| row[digit]);
        [
            self.high.0[tag / 100] & self.low.0[tag % 100] != 0,
            rows.fold(u8::MAX, |all, row| all & row) != 0,
        ]
    }
}

/// Joins sets of numbers, each the product of sets of its parts as bits, until there are as many as
/// classes: always those by which the fewest others are let in.
fn joined<const PARTS: usize>(mut sets: Vec<[u128; PARTS]>) -> Vec<[u128; PARTS]> {
    let size = |set: &[u128; PARTS]| set.iter().map(|bits| bits.count_ones()).product::<u32>();
    let both = |a: &[u128; PARTS], b: &[u128; PARTS]| std::array::from_fn(|part| a[part] | b[part]);
    // Many sets: those of neighbours first, to bound the work.
    while sets.len() > SETS_MAX {
        let pairs = sets
            .chunks(2)
            .map(|pair| pair.iter().fold([0; PARTS], |a, b| both(&a, b)));
        sets = pairs.collect();
    }
    while sets.len() > CLASSES {
        let pairs = (1..sets.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let cost = |(a, b): &(usize, usize)| {
            let (a, b) = (&sets[*a], &sets[*b]);
            size(&both(a, b)).saturating_sub(size(a) + size(b))
        };
        let Some((a, b)) = pairs.min_by_key(cost) else {
            break;
        };
        let other = sets.remove(b);
        sets[a] = both(&sets[a], &other);
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DataPairs;

    #[test]
    fn the_near_tests_let_every_watched_tag_pass_and_few_others() {
        let watch = DataPairs::standard().watch;
        let mut others = [0, 0];
        for tag in (1..10_000).filter(|tag| !watch.has(*tag)) {
            for (others, may) in others.iter_mut().zip(watch.may_have(tag)) {
                *others += u32::from(may);
            }
        }
        assert!(others[0] <= 4 && others[1] <= 40, "{others:?}");
        for count in [48, 200, 2_000] {
            let many: Vec<u32> = (1..count)
                .map(|at| at * at % 30_011 * 97 % 30_011 + 1)
                .collect();
            let watch = Watch::of(many.iter().copied());
            for tag in 1..40_000 {
                assert_eq!(watch.has(tag), many.contains(&tag));
                let may = || watch.may_have(tag) == [true; 2];
                assert!(tag > 9_999 || !watch.has(tag) || may());
            }
        }
    }
}
