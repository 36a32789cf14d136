//! From the bits of all expressions to the columns of an index.

use super::build::Builder;
use super::edges::Edges;
use super::{ALIGNED_MIN, Column, Columns, DECIDED, Values};
use crate::simd::TILE_WORDS;

impl Builder {
    /// The columns of `slots` expressions, the most selective first.
    pub(crate) fn finish(mut self, slots: usize) -> Columns {
        let members = self.out.slots.len();
        if members == 0 {
            return Columns::default();
        }
        if !members.is_multiple_of(64) {
            // No expression follows the last one.
            let rest = (1u64 << (members % 64)) - 1;
            self.words.iter_mut().for_each(|word| *word &= rest);
            self.close();
        }
        self.out.is_aligned = members * ALIGNED_MIN >= slots;
        let numbers = std::mem::take(&mut self.out.slots);
        let members = match self.out.is_aligned {
            true => slots,
            false => members,
        };
        let words = members.div_ceil(64).next_multiple_of(TILE_WORDS);
        if self.out.is_aligned {
            self.align(&numbers, slots);
        } else {
            self.out.slots.clone_from(&numbers);
        }
        let is_aligned = self.out.is_aligned;
        let number = |member: u32| match is_aligned {
            true => numbers[member as usize],
            false => member,
        };
        let edges = self.finish_edges(number);
        self.out.clears = std::mem::take(&mut self.clears).finish(edges, number, words);
        self.out.present = vec![0; words];
        self.out.decided = vec![0; words];
        for member in (0..numbers.len() as u32).map(number) {
            let code = self.out.codes.get(member as usize);
            let (word, bit) = (member as usize / 64, 1 << (member % 64));
            self.out.present[word] |= bit;
            self.out.decided[word] |= if code == Some(&DECIDED) { bit } else { 0 };
        }
        for row in &mut self.out.rows {
            row.resize(words, 0);
            row.shrink_to_fit();
        }
        let mut columns = Vec::new();
        for at in 0..self.starts.len() - 1 {
            let scalar = self.choice.scalars.get(at);
            // Rows that no member uses exclude none.
            if scalar.is_some_and(|scalar| scalar.is_coarse) && !self.is_used(at) {
                continue;
            }
            let share = self.passing(at);
            columns.push((share, self.column(at)));
        }
        columns.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.out.columns = columns.into_iter().map(|(_, column)| column).collect();
        self.out.slots.shrink_to_fit();
        self.out.codes.shrink_to_fit();
        self.out
    }

    /// The bounds of ranges inside of cells.
    fn finish_edges(&mut self, number: impl Fn(u32) -> u32) -> Edges {
        let mut out = Edges::default();
        for (at, scalar) in self.choice.scalars.iter().enumerate() {
            if scalar.is_coarse {
                let cells = (scalar.attribute, scalar.is_float, &*scalar.starts);
                let first = self.starts[at] + 1;
                self.edges.finish(&mut out, cells, first, &number);
            }
        }
        out.shrink();
        out
    }

    /// Gives each member the number of its slot.
    fn align(&mut self, numbers: &[u32], slots: usize) {
        let mut codes = vec![DECIDED; slots];
        for (slot, code) in numbers.iter().zip(&self.out.codes) {
            codes[*slot as usize] = *code;
        }
        self.out.codes = codes;
        self.out.slots = (0..slots as u32).collect();
        // Most members come in the order of their slots; those that lockstep refused come last.
        let sorted = numbers
            .windows(2)
            .take_while(|pair| pair[0] < pair[1])
            .count()
            + 1;
        let (sorted, others) = numbers.split_at(sorted.min(numbers.len()));
        let mut places = vec![0u64; slots.div_ceil(64)];
        for slot in sorted {
            places[*slot as usize / 64] |= 1 << (slot % 64);
        }
        for row in &mut self.out.rows {
            let bit = |member: usize| row[member / 64] >> (member % 64) & 1;
            let mut from = 0;
            let spread = |places: &u64| {
                let (mut left, mut word) = (*places, 0);
                if left == u64::MAX {
                    let (at, shift) = (from / 64, from % 64);
                    from += 64;
                    let next = if shift == 0 {
                        0
                    } else {
                        row[at + 1] << (64 - shift)
                    };
                    return row[at] >> shift | next;
                }
                while left != 0 {
                    word |= bit(from) << left.trailing_zeros();
                    from += 1;
                    left &= left - 1;
                }
                word
            };
            let mut spread: Vec<u64> = places.iter().map(spread).collect();
            for (member, slot) in (sorted.len()..).zip(others) {
                spread[*slot as usize / 64] |= bit(member) << (slot % 64);
            }
            *row = spread;
        }
    }

    fn column(&self, at: usize) -> Column {
        let base = self.starts[at] as u32;
        let scalars = self.choice.scalars.len();
        if let Some(scalar) = self.choice.scalars.get(at) {
            return Column {
                attribute: scalar.attribute,
                base,
                values: Values::Scalar {
                    starts: scalar.starts.clone(),
                    rows: scalar.rows.iter().map(|row| base + 1 + row).collect(),
                    is_float: scalar.is_float,
                },
            };
        }
        let list = &self.choice.lists[at - scalars];
        let elements = list.elements.iter().copied();
        let rows = elements.zip(base + 1..).collect();
        Column {
            attribute: list.attribute,
            base,
            values: match list.none {
                true => Values::None(rows),
                false => Values::Any(rows),
            },
        }
    }

    /// The average share of members that pass a row.
    fn passing(&self, at: usize) -> f32 {
        let rows = &self.out.rows[self.starts[at]..self.starts[at + 1]];
        let ones = |row: &Vec<u64>| row.iter().map(|word| word.count_ones()).sum::<u32>() as f32;
        let members = self.out.slots.len() as f32;
        match self
            .choice
            .lists
            .get(at.wrapping_sub(self.choice.scalars.len()))
        {
            // A list is expensive, so it comes late.
            Some(list) if list.none => 2.0,
            Some(_) => 1.0 + rows.first().map_or(0.0, ones) / members,
            None => rows.iter().skip(1).map(ones).sum::<f32>() / rows.len() as f32 / members,
        }
    }
}
