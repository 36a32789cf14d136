//! Values of few numbers among many: of the segments that a user is in, of the counters that have a value.

/// The end of a chain.
const NONE: u32 = u32::MAX;
/// Numbers of a word.
const BITS: u32 = 64;

/// Values by number. What is asked for and missing, the usual case, costs one bit of a word in the cache, however many
/// numbers there are; what is there costs at most the values of its word.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sparse<T> {
    words: Vec<Word>,
    /// The numbers that have values, in the order in which they came.
    numbers: Vec<u32>,
    /// Their values, and which value of the same word came before.
    values: Vec<(T, u32)>,
}

/// 64 numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Word {
    /// One bit for each that has a value.
    bits: u64,
    /// The last of their values.
    last: u32,
}

const EMPTY: Word = Word {
    bits: 0,
    last: NONE,
};

impl<T: Copy> Sparse<T> {
    /// No values, for numbers below `count`.
    pub(super) fn new(count: usize) -> Self {
        Self {
            words: vec![EMPTY; count.div_ceil(BITS as usize)],
            numbers: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Removes all values, in time in proportion to them.
    pub(super) fn clear(&mut self) {
        for number in self.numbers.drain(..) {
            if let Some(word) = self.words.get_mut((number / BITS) as usize) {
                *word = EMPTY;
            }
        }
        self.values.clear();
    }

    /// Keeps a value, unless the number has one, or is none of those that there are.
    pub(super) fn insert(&mut self, number: u32, value: T) {
        let Some(word) = self.words.get_mut((number / BITS) as usize) else {
            return;
        };
        let bit = 1 << (number % BITS);
        if word.bits & bit == 0 {
            word.bits |= bit;
            let before = std::mem::replace(&mut word.last, self.values.len() as u32);
            self.values.push((value, before));
            self.numbers.push(number);
        }
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<T> {
        let word = self.words.get((number / BITS) as usize)?;
        match word.bits >> (number % BITS) & 1 {
            0 => None,
            _ => self.find(word.last, number),
        }
    }

    fn find(&self, mut at: u32, number: u32) -> Option<T> {
        loop {
            let (value, before) = self.values.get(at as usize)?;
            if self.numbers.get(at as usize) == Some(&number) {
                return Some(*value);
            }
            at = *before;
        }
    }

    /// The numbers that have values.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn it_holds_what_a_map_holds() {
        for count in [0, 1, 63, 64, 65, 1_000] {
            let mut sparse = Sparse::new(count as usize);
            for filled in [0u32, 1, 5, 200, 3] {
                let mut map = HashMap::new();
                for value in 0..filled {
                    // Spread over all numbers and a few beyond; some come again.
                    let number = value.wrapping_mul(value).wrapping_mul(7_919) % (count + 70);
                    sparse.insert(number, value);
                    if number < count.next_multiple_of(BITS) {
                        map.entry(number).or_insert(value);
                    }
                }
                for number in 0..count + 80 {
                    assert_eq!(sparse.get(number), map.get(&number).copied());
                }
                let mut numbers = sparse.numbers().to_vec();
                numbers.sort_unstable();
                let mut right: Vec<u32> = map.into_keys().collect();
                right.sort_unstable();
                assert_eq!(numbers, right);
                sparse.clear();
                assert!(sparse.numbers().is_empty() && sparse.get(0).is_none());
            }
        }
    }
}
