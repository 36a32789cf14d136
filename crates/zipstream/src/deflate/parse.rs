//! The cheapest way through a stretch of content: a shortest path whose steps are literals and matches.

use super::costs::Costs;
use super::sequences::Sequences;
use super::symbols::{DISTANCES, MATCH_MIN, distance_slot};

/// The most content of a path; longer content is parsed in pieces.
pub(super) const PIECE_BYTES: usize = 32 << 10;
/// A match of this length that is the only one of its place is not shortened.
const LONG: usize = 64;
/// Farther matches of four bytes are seldom taken.
const FAR: usize = 4096;
/// A match in one word: its length, and the distance above it.
const LENGTH_BITS: u32 = 9;

/// The matches of each place of a content.
#[derive(Debug, Default)]
pub(super) struct Matches {
    /// Of each place, in order: each longer than the one before it.
    list: Vec<u32>,
    /// How many there are at each place.
    counts: Vec<u8>,
}

/// A place among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) place: usize,
    pub(super) matches: usize,
}

impl Matches {
    /// Takes away all places, and keeps the room.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.counts.clear();
    }

    /// Adds a match of the place that [`Self::next`] ends.
    #[inline(always)]
    pub(super) fn put(&mut self, length: usize, distance: usize) {
        self.list
            .push(length as u32 | (distance as u32) << LENGTH_BITS);
    }

    /// Ends a place that has this number of matches.
    #[inline(always)]
    pub(super) fn next(&mut self, count: usize) {
        self.counts.push(count as u8);
    }

    /// Adds places without matches.
    pub(super) fn skip(&mut self, places: usize) {
        self.counts.resize(self.counts.len() + places, 0);
    }

    /// Takes back the last place.
    pub(super) fn pop(&mut self) {
        let count = self.counts.pop().unwrap_or(0);
        self.list.truncate(self.list.len() - usize::from(count));
    }

    /// Whether the last place has no match.
    pub(super) fn is_last_empty(&self) -> bool {
        self.counts.last() == Some(&0)
    }

    /// The end of all places.
    pub(super) fn end(&self) -> Mark {
        Mark {
            place: self.counts.len(),
            matches: self.list.len(),
        }
    }

    /// Where parts of this size begin, and the end.
    pub(super) fn parts(&self, bytes: usize, marks: &mut Vec<Mark>) {
        marks.clear();
        let (mut mark, end) = (Mark::default(), self.end());
        while mark != end {
            marks.push(mark);
            mark = self.ahead(mark, end, bytes);
        }
        marks.push(end);
    }

    /// Takes the longest match of each place, unless the next place has a longer one.
    pub(super) fn take_longest(&self, content: &[u8], out: &mut Sequences) {
        let mut places = self.counts.iter();
        let mut matches = self.list.as_slice();
        let mut take = || {
            let count = usize::from(*places.next()?);
            let (own, rest) = matches.split_at(count);
            matches = rest;
            let found = own.last().copied().unwrap_or(0);
            Some((
                (found & ((1 << LENGTH_BITS) - 1)) as usize,
                (found >> LENGTH_BITS) as usize,
            ))
        };
        let mut literals = 0;
        let mut at = 0;
        let mut now = take();
        while let Some((length, distance)) = now {
            let next = take();
            let least = if distance > FAR { 5 } else { 4 };
            if length < least || next.is_some_and(|(other, _)| other > length) {
                out.literal(content[at]);
                literals += 1;
                at += 1;
                now = next;
                continue;
            }
            out.push(literals, length, distance);
            literals = 0;
            for _ in 0..length - 2 {
                take();
            }
            at += length;
            now = take();
        }
        out.close(literals);
    }

    /// The mark at most `bytes` after this one, but not behind `end`.
    fn ahead(&self, from: Mark, end: Mark, bytes: usize) -> Mark {
        let place = from.place + bytes;
        if place >= end.place {
            return end;
        }
        let counts = &self.counts[from.place..place];
        let matches: usize = counts.iter().map(|count| usize::from(*count)).sum();
        Mark {
            place,
            matches: from.matches + matches,
        }
    }
}

/// The memory of a search for a path: 260 KiB.
#[derive(Debug)]
pub(super) struct Parser {
    /// The cost from each place to the end, and the match that begins there.
    costs: Vec<u32>,
    steps: Vec<u32>,
}

impl Default for Parser {
    fn default() -> Self {
        Self {
            costs: vec![0; PIECE_BYTES + 1],
            steps: vec![0; PIECE_BYTES],
        }
    }
}

impl Parser {
    /// Makes sequences of the content between two marks; no match goes beyond the end.
    pub(super) fn parse(
        &mut self,
        content: &[u8],
        matches: &Matches,
        ends: &[Mark],
        costs: &Costs,
        out: &mut Sequences,
    ) {
        let &[mut from, end] = ends else {
            return;
        };
        // Literals before the next match.
        let mut literals = 0;
        while from.place < end.place {
            let to = matches.ahead(from, end, PIECE_BYTES);
            let piece = &content[from.place..to.place];
            let counts = &matches.counts[from.place..to.place];
            self.search(
                piece,
                counts,
                &matches.list[from.matches..to.matches],
                costs,
            );
            literals = self.follow(piece, literals, out);
            from = to;
        }
        out.close(literals);
    }

    /// Finds the cheapest step from each place, from the last one backwards.
    fn search(&mut self, piece: &[u8], counts: &[u8], mut matches: &[u32], costs: &Costs) {
        let all = &mut self.costs[..piece.len() + 1];
        all[piece.len()] = 0;
        for (at, (&byte, &count)) in piece.iter().zip(counts).enumerate().rev() {
            let mut best = costs.literals[usize::from(byte)] + all[at + 1];
            let mut step = 0;
            if count > 0 {
                let (before, own) = matches.split_at(matches.len() - usize::from(count));
                matches = before;
                let mut length = MATCH_MIN;
                for &found in own {
                    let distance = (found >> LENGTH_BITS) as usize;
                    let most = ((found & ((1 << LENGTH_BITS) - 1)) as usize).min(piece.len() - at);
                    if length > most {
                        break;
                    }
                    if count == 1 && most >= LONG {
                        length = most;
                    }
                    let base = costs.distances[distance_slot(distance) & (DISTANCES - 1)];
                    let lengths = &costs.lengths[length..most + 1];
                    let behind = &all[at + length..at + most + 1];
                    for (nth, (cost, rest)) in lengths.iter().zip(behind).enumerate() {
                        let cost = base + cost + rest;
                        if cost < best {
                            best = cost;
                            step = (length + nth) as u32 | (distance as u32) << LENGTH_BITS;
                        }
                    }
                    length = most + 1;
                }
            }
            all[at] = best;
            self.steps[at] = step;
        }
    }

    /// Adds the sequences of the path, after literals before it; returns the literals at its end.
    fn follow(&self, piece: &[u8], mut literals: usize, out: &mut Sequences) -> usize {
        let mut at = 0;
        while at < piece.len() {
            let step = self.steps[at];
            if step == 0 {
                out.literal(piece[at]);
                literals += 1;
                at += 1;
                continue;
            }
            let length = (step & ((1 << LENGTH_BITS) - 1)) as usize;
            out.push(literals, length, (step >> LENGTH_BITS) as usize);
            literals = 0;
            at += length;
        }
        literals
    }
}

#[cfg(test)]
mod tests {
    use super::super::sequences::{Freqs, Sequence};
    use super::super::symbols::{END, LITLENS_USED, length_slot};
    use super::*;

    /// All matches of each place, found by trying each distance.
    fn matches_of(content: &[u8]) -> Matches {
        let mut matches = Matches::default();
        for at in 0..content.len() {
            let (mut longest, mut count) = (MATCH_MIN - 1, 0);
            for distance in 1..=at {
                let pairs = content[at..].iter().zip(&content[at - distance..]);
                let length = pairs.take_while(|(one, other)| one == other).count();
                if length > longest {
                    longest = length;
                    matches.put(length, distance);
                    count += 1;
                }
            }
            matches.next(count);
        }
        matches
    }

    /// The cost of the cheapest way from a place on, by trying all of them.
    fn cheapest(content: &[u8], at: usize, costs: &Costs) -> u32 {
        if at == content.len() {
            return 0;
        }
        let byte = usize::from(content[at]);
        let mut least = costs.literals[byte] + cheapest(content, at + 1, costs);
        for distance in 1..=at {
            let pairs = content[at..].iter().zip(&content[at - distance..]);
            let most = pairs.take_while(|(one, other)| one == other).count();
            for length in MATCH_MIN..=most {
                let own = costs.lengths[length] + costs.distances[distance_slot(distance)];
                least = least.min(own + cheapest(content, at + length, costs));
            }
        }
        least
    }

    /// What a list of sequences costs; checks that it makes the content.
    fn cost_of(content: &[u8], list: &[u64], costs: &Costs) -> u32 {
        let (mut out, mut sum) = (Vec::new(), 0);
        for &packed in list {
            let sequence = Sequence::of(packed);
            for &byte in &content[out.len()..out.len() + sequence.literals] {
                out.push(byte);
                sum += costs.literals[usize::from(byte)];
            }
            if sequence.length > 0 {
                sum += costs.lengths[sequence.length] + costs.distances[sequence.slot];
            }
            for _ in 0..sequence.length {
                out.push(out[out.len() - sequence.distance]);
            }
        }
        assert_eq!(out, content);
        sum
    }

    #[test]
    fn no_way_is_cheaper() {
        let mut parser = Parser::default();
        let mut seed = 1_u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(0x915f_77f5).wrapping_add(12_345);
            (seed >> 16) % below
        };
        for round in 0..300 {
            let letters = 1 + round % 4;
            let content: Vec<u8> = (0..14).map(|_| random(letters) as u8).collect();
            let mut freqs = Freqs::default();
            for freq in &mut freqs.litlens[..LITLENS_USED] {
                *freq = random(50);
            }
            // The costs of a distance must not fall: only the nearest of each length is known.
            for (slot, freq) in freqs.distances.iter_mut().enumerate().take(30) {
                *freq = 1 << (20 - slot.min(20));
            }
            let costs = Costs::of(&freqs);
            let matches = matches_of(&content);
            let mut found = Sequences::default();
            let ends = [Mark::default(), matches.end()];
            parser.parse(&content, &matches, &ends, &costs, &mut found);
            let cost = cost_of(&content, &found.list, &costs);
            assert_eq!(cost, cheapest(&content, 0, &costs), "{content:?}");
        }
    }

    #[test]
    fn pieces_and_parts_make_the_whole_content() {
        let content: Vec<u8> = (0..2 * PIECE_BYTES as u32 + 77)
            .map(|nth| (nth.wrapping_mul(nth) >> 7) as u8)
            .collect();
        let mut matches = Matches::default();
        for at in 0..content.len() {
            let found = at >= 600 && content[at..].starts_with(&content[at - 600..at - 597]);
            if found && at + 3 <= content.len() {
                matches.put(MATCH_MIN, 600);
            }
            matches.next(usize::from(found));
        }
        let mut freqs = Freqs::default();
        freqs.litlens[END + 1 + length_slot(MATCH_MIN)] = 9;
        freqs.distances[distance_slot(600)] = 9;
        let costs = Costs::of(&freqs);
        let (mut parser, mut found) = (Parser::default(), Sequences::default());
        let ends = [Mark::default(), matches.end()];
        parser.parse(&content, &matches, &ends, &costs, &mut found);
        let whole = cost_of(&content, &found.list, &costs);
        let mut marks = Vec::new();
        matches.parts(5000, &mut marks);
        let mut sum = 0;
        for ends in marks.windows(2) {
            found.clear();
            parser.parse(&content, &matches, ends, &costs, &mut found);
            sum += found
                .list
                .iter()
                .map(|packed| {
                    let sequence = Sequence::of(*packed);
                    sequence.literals + sequence.length
                })
                .sum::<usize>();
        }
        assert_eq!(sum, content.len());
        assert!(whole > 0);
    }

    #[test]
    fn the_longest_matches_cover_the_content() {
        let content = b"abcabcabcdabcdabcdabcdefabcdefabcdefg-abcabcabcd".repeat(9);
        let mut found = Sequences::default();
        matches_of(&content[..258]).take_longest(&content[..258], &mut found);
        let costs = Costs::of(&found.freqs);
        assert!(cost_of(&content[..258], &found.list, &costs) > 0);
        assert!(found.list.len() < 30, "{}", found.list.len());
    }
}
