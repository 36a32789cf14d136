//! The matches of a search: one bit per slot, one bit per word that has any, and one per group of 64 words that has
//! any, so that few matches among a million slots are found at once.

/// Bits of a word.
const BITS: usize = 64;

/// A set of slots.
#[derive(Debug, Default)]
pub(super) struct Bits {
    words: Vec<u64>,
    /// One bit per word that may have bits.
    touched: Vec<u64>,
    /// One bit per group of words that may have bits.
    groups: Vec<u64>,
}

impl Bits {
    pub(super) fn new(words: usize) -> Self {
        Self {
            words: vec![0; words],
            touched: vec![0; words.div_ceil(BITS)],
            groups: vec![0; words.div_ceil(BITS).div_ceil(BITS)],
        }
    }

    /// How many words there are.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// How many groups of 64 words there are.
    pub(super) fn groups(&self) -> usize {
        self.touched.len()
    }

    /// Sets bits of a word. Returns how many of them are new; a word beyond the last has none.
    #[inline]
    pub(super) fn set(&mut self, word: usize, bits: u64) -> u64 {
        let group = word / BITS;
        let (Some(known), Some(touched), Some(groups)) = (
            self.words.get_mut(word),
            self.touched.get_mut(group),
            self.groups.get_mut(group / BITS),
        ) else {
            return 0;
        };
        let fresh = bits & !*known;
        *known |= bits;
        let any = u64::from(bits != 0);
        *touched |= any << (word % BITS);
        *groups |= any << (group % BITS);
        u64::from(fresh.count_ones())
    }

    /// Takes the bits of the first word from a group on that has any, with its position. It looks at one word per
    /// 4,096 words.
    #[inline]
    pub(super) fn take(&mut self, group: usize) -> Option<(usize, u64)> {
        let mut from = group / BITS;
        let mut groups = self.groups.get(from)? & (u64::MAX << (group % BITS));
        while groups == 0 {
            from += 1;
            groups = *self.groups.get(from)?;
        }
        let group = from * BITS + groups.trailing_zeros() as usize;
        let touched = self.touched.get_mut(group)?;
        let word = group * BITS + touched.trailing_zeros() as usize;
        *touched &= touched.wrapping_sub(1);
        if *touched == 0 {
            self.groups[from] &= !(1 << (group % BITS));
        }
        Some((word, std::mem::take(self.words.get_mut(word)?)))
    }

    /// Clears the words of a group.
    pub(super) fn clear_group(&mut self, group: usize) {
        let end = self.words.len().min((group + 1) * BITS);
        if let Some(words) = self.words.get_mut(group * BITS..end) {
            words.fill(0);
        }
        if let Some(touched) = self.touched.get_mut(group) {
            *touched = 0;
        }
        if let Some(groups) = self.groups.get_mut(group / BITS) {
            *groups &= !(1 << (group % BITS));
        }
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
        self.touched.fill(0);
        self.groups.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_taken_in_order_and_once() {
        for words in [0, 1, 63, 64, 65, 200, 9_000] {
            let mut bits = Bits::new(words);
            let mut fresh = 0;
            for (word, value) in [
                (0, 5u64),
                (0, 4),
                (63, 1),
                (64, 1 << 63),
                (199, 7),
                (200, 1),
                (8_999, 3),
            ] {
                fresh += bits.set(word, value);
            }
            let mut found = Vec::new();
            while let Some((word, value)) =
                bits.take(found.last().map_or(0, |(word, _)| *word / BITS))
            {
                found.push((word, value));
            }
            let right = [
                (0, 5),
                (63, 1),
                (64, 1 << 63),
                (199, 7),
                (200, 1),
                (8_999, 3),
            ];
            let right: Vec<_> = right
                .into_iter()
                .filter(|(word, _)| *word < words)
                .collect();
            assert_eq!(found, right);
            let count: u32 = right.iter().map(|(_, bits)| bits.count_ones()).sum();
            assert_eq!(fresh, u64::from(count));
            assert!(bits.words().iter().all(|word| *word == 0));
        }
    }
}
