//! The search of level 10: first all matches of a window of content, then the cheapest way through them.
//!
//! What a way costs depends on the codes of its blocks, and these depend on the way. So the first way has
//! guessed costs and says where blocks begin. Then each block is parsed again with the costs of the way before.

use super::bits::BitWriter;
use super::block::{self, Block, Lengths};
use super::bytes::alike_long;
use super::costs::Costs;
use super::dull::{self, ROW};
use super::lazy::{DULL_MOST, remember};
use super::parse::{Mark, Matches, Parser};
use super::sequences::{Freqs, Sequences};
use super::split;
use super::symbols::{DISTANCES_USED, END, LITLENS_USED, MATCH_MAX, MATCH_MIN};
use super::trees::{AHEAD, Trees};

/// The most content and matches of a window.
const WINDOW_BYTES: usize = 256 << 10;
const MATCHES_MAX: usize = 192 << 10;
/// Blocks end behind one of this many equal parts, or of parts of this size.
const PARTS: usize = 64;
const PART_BYTES_LEAST: usize = 1 << 10;
/// The end of a match of [`MATCH_MAX`] bytes or more is searched again.
const SEARCHED_END: usize = 32;
/// Places without a match of more than three bytes after which places are skipped, as a shift.
const DULL_SHIFT: u32 = 9;
/// Literals for each length and each distance, in the first guess.
const GUESS: u32 = 100;
/// How often a block is parsed from the same start, and the gain of a pass after which another one follows: one
/// part in this many.
const PASSES: usize = 3;
const GAIN: u64 = 512;
/// Content up to this size is parsed from two starts. Of other content, one part in [`TOLD_BY`] says which start is better.
const SMALL: usize = 16 << 10;
const TOLD_BY: usize = 8;

/// The search and its memory: 2 MiB, and the sequences of a block.
#[derive(Debug, Default)]
pub(super) struct Optimal {
    trees: Trees,
    matches: Matches,
    /// Where parts begin, and the end of the last one.
    marks: Vec<Mark>,
    parser: Parser,
    /// The frequencies of each part, for the first ways.
    parts: [Vec<Freqs>; 2],
    trial: Sequences,
}

impl Optimal {
    /// Takes another content, primed with `data[..start]`.
    pub(super) fn start(&mut self, data: &[u8], start: usize) {
        self.trees.start(data.len());
        for at in 0..start.min(data.len().saturating_sub(AHEAD - 1)) {
            self.trees.insert(data, at, data.len());
        }
    }

    /// Writes the blocks of a window that begins at `start`, with `best` as room for sequences. Returns where
    /// it stopped, and whether the stream is at a byte boundary.
    pub(super) fn blocks(
        &mut self,
        writer: &mut BitWriter,
        data: &[u8],
        start: usize,
        last: bool,
        best: &mut Sequences,
        out: &mut Vec<u8>,
    ) -> (usize, bool) {
        self.find(data, start, data.len().min(start + WINDOW_BYTES));
        let content = &data[start..start + self.matches.end().place];
        self.matches.parts(part_bytes(content), &mut self.marks);
        let parts = self.first_way(content);
        let mut aligned = true;
        let mut from = 0;
        for to in split::cheapest(&self.parts[parts]) {
            let mut freqs = Freqs::default();
            for part in &self.parts[parts][from..to] {
                freqs.add(part);
            }
            let (begin, end) = (self.marks[from], self.marks[to]);
            self.parse(content, begin, end, freqs, best);
            let block = Block {
                content: &content[begin.place..end.place],
                sequences: &best.list,
                freqs: &best.freqs,
                last: last && start + end.place == data.len(),
            };
            aligned = block::write(writer, &block, out);
            from = to;
        }
        (start + content.len(), aligned)
    }

    /// Parses each part with guessed costs, as if literals were frequent or as if they were rare, whichever is shorter;
    /// returns which one that is. Of much content, some parts tell.
    fn first_way(&mut self, content: &[u8]) -> usize {
        self.trial.clear();
        self.matches.take_longest(content, &mut self.trial);
        let guesses = [guess(content), self.trial.freqs.clone()];
        let costs = guesses.map(|freqs| Costs::of_code(&Lengths::of(&freqs)));
        let each = if content.len() > SMALL { TOLD_BY } else { 1 };
        let bits = [0, 1].map(|nth| self.first_parts(content, nth, &costs[nth], each));
        let nth = usize::from(bits[1] < bits[0]);
        if each > 1 {
            self.first_parts(content, nth, &costs[nth], 1);
        }
        nth
    }

    /// Parses one part in `each`, and keeps the frequencies of each of these; returns the bits of all.
    fn first_parts(&mut self, content: &[u8], nth: usize, costs: &Costs, each: usize) -> u64 {
        let parts = &mut self.parts[nth];
        parts.clear();
        let mut bits = 0;
        for ends in self.marks.windows(2).step_by(each) {
            self.trial.clear();
            (self.parser).parse(content, &self.matches, ends, costs, &mut self.trial);
            bits += split::bits(&self.trial.freqs) + self.trial.freqs.extra_bits();
            parts.push(self.trial.freqs.clone());
        }
        bits
    }

    /// Parses a block, first with the costs of these frequencies, and keeps the best way. The entropy finds good
    /// ways from afar; of small content, codes of whole bits may be much longer.
    fn parse(
        &mut self,
        content: &[u8],
        begin: Mark,
        end: Mark,
        mut freqs: Freqs,
        best: &mut Sequences,
    ) {
        freqs.litlens[END] = 1;
        let mut least = u64::MAX;
        let ends = [begin, end];
        self.improve(content, &ends, Costs::of(&freqs), best, &mut least);
        if content.len() <= SMALL {
            let costs = Costs::of_code(&Lengths::of(&freqs));
            self.improve(content, &ends, costs, best, &mut least);
        }
    }

    /// Parses a block again and again, each time with the code of the way before, and keeps a way that needs fewer
    /// bits than `least`.
    fn improve(
        &mut self,
        content: &[u8],
        ends: &[Mark],
        mut costs: Costs,
        best: &mut Sequences,
        least: &mut u64,
    ) {
        let mut before = u64::MAX;
        for _ in 0..PASSES {
            self.trial.clear();
            (self.parser).parse(content, &self.matches, ends, &costs, &mut self.trial);
            self.trial.freqs.litlens[END] = 1;
            costs = Costs::of_code(&Lengths::of(&self.trial.freqs));
            let bits = block::coded_bits(&self.trial.freqs);
            if bits < *least {
                *least = bits;
                std::mem::swap(best, &mut self.trial);
            }
            if bits >= before - before / GAIN {
                break;
            }
            before = bits;
        }
    }

    /// Finds the matches of `data[start..end]`, or of as much of it as there is room for.
    fn find(&mut self, data: &[u8], start: usize, end: usize) {
        self.matches.clear();
        let last = end.saturating_sub(AHEAD - 1);
        let mut at = start;
        let mut dull = start;
        while at < last && self.matches.end().matches < MATCHES_MAX {
            let (matches, mut count, mut longest) = (&mut self.matches, 0, (0, 0));
            self.trees.find(data, at, end, |length, distance| {
                matches.put(length, distance);
                longest = (length, distance);
                count += 1;
            });
            matches.next(count);
            at += 1;
            if longest.0 == MATCH_MAX {
                at = self.follow(data, at, end, longest.1);
                dull = at;
            } else if longest.0 > MATCH_MIN {
                dull = at;
            } else if at - dull >= 1 << DULL_SHIFT && (at - dull).is_multiple_of(ROW) {
                let next = dull::next(at - dull, DULL_SHIFT, DULL_MOST, at, last);
                for place in (at.next_multiple_of(ROW)..next).step_by(ROW) {
                    self.trees.insert(data, place, end);
                }
                self.matches.skip(next - at);
                at = next;
            }
        }
        if at >= last {
            self.matches.skip(end - at);
        }
    }

    /// Follows a match of [`MATCH_MAX`] bytes, which began at the place before `at`, to its end without a search, and
    /// back over skipped places; returns where to search on.
    fn follow(&mut self, data: &[u8], at: usize, end: usize, distance: usize) -> usize {
        let next = at - 1 + MATCH_MAX;
        let close = next + alike_long(data, next - distance, next, end - next);
        self.matches.pop();
        let mut from = at - 1;
        while self.matches.is_last_empty()
            && from > distance
            && data[from - 1] == data[from - 1 - distance]
        {
            self.matches.pop();
            from -= 1;
        }
        let room = MATCHES_MAX.saturating_sub(self.matches.end().matches);
        let resume = (close - SEARCHED_END).min(from + room).max(at);
        let trees = &mut self.trees;
        remember(at, resume, distance, |from, to| {
            for place in from..to {
                trees.insert(data, place, end);
            }
        });
        for place in from..resume {
            self.matches.put(MATCH_MAX.min(close - place), distance);
            self.matches.next(1);
        }
        resume
    }
}

/// The size of the parts of a content.
fn part_bytes(content: &[u8]) -> usize {
    (content.len() / PARTS).max(PART_BYTES_LEAST)
}

/// Frequencies as if most of a content were literals, and all matches alike.
fn guess(content: &[u8]) -> Freqs {
    let mut freqs = Freqs::default();
    freqs.count(content);
    let each = (content.len() as u32 / GUESS).max(1);
    freqs.litlens[END..LITLENS_USED].fill(each);
    freqs.distances[..DISTANCES_USED].fill(each);
    freqs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(data: &[u8], start: usize) -> Optimal {
        let mut optimal = Optimal::default();
        optimal.start(data, start);
        optimal.find(data, start, data.len().min(start + WINDOW_BYTES));
        optimal
    }

    #[test]
    fn a_window_has_room_for_its_matches() {
        let mut seed = 1_u64;
        let mut noise = vec![0; WINDOW_BYTES];
        for byte in &mut noise {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            *byte = (seed >> 56) as u8;
        }
        let few: Vec<u8> = noise.iter().map(|byte| byte & 1).collect();
        let zeros = vec![0; WINDOW_BYTES];
        for (content, is_long) in [(&noise, true), (&few, false), (&zeros, false)] {
            let end = found(content, 0).matches.end();
            assert!(end.matches < MATCHES_MAX + MATCH_MAX, "{end:?}");
            assert_eq!(end.place == content.len(), is_long, "{end:?}");
            assert!(end.place >= MATCHES_MAX / 33);
        }
    }

    #[test]
    fn a_long_match_reaches_back_over_skipped_places() {
        let noise: Vec<u8> = (0..20_000_u32)
            .map(|nth| (nth.wrapping_mul(0x9e37_79b1) ^ nth.wrapping_mul(nth) >> 3) as u8)
            .collect();
        let content = noise.repeat(2);
        let optimal = found(&content, 0);
        let mut marks = Vec::new();
        optimal.matches.parts(noise.len(), &mut marks);
        // All of the second half is matched.
        assert_eq!(marks.len(), 3);
        assert!(marks[2].matches - marks[1].matches >= noise.len() - SEARCHED_END);
    }
}
