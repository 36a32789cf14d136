//! What literals and matches cost, measured on what was emitted before: a short match is taken only
//! where it is shorter than its literals.

use super::bytes::load32;
use super::sequences::{Freqs, Match};
use super::split::{self, FRACTION_BITS};
use super::symbols::{
    DISTANCES_USED, END, LENGTH_BASE, LITLENS_USED, MATCH_MIN, WINDOW, length_extra,
};

/// Prices are in sixteenths of a bit.
const BIT: u32 = 16;
/// The most that a literal costs.
const LITERAL_MOST: u32 = 13 * BIT;
/// Longer matches always pay off.
const LENGTH_SURE: u32 = 48;
/// Lengths with a price of their own; the others cost the average.
const LENGTHS: usize = 11;
/// Parts of the content that are sampled before anything was emitted.
const SAMPLES: usize = 32;
const SAMPLE_BYTES: usize = 48;
/// Content up to this size is priced and searched by its own rules: its headers count, and no match is too short.
pub(super) const SMALL: usize = 4 << 10;
/// What follows as many equal bytes as these is no literal: a match at distance 1 reaches over it.
const RUN: u32 = 8;
const SMALL_RUN: u32 = 4;
/// What a longer match is worth beyond the bytes that only it reaches, at most.
const LONGER_BONUS: u32 = BIT + BIT / 2;
/// What the symbols of a match cost before any was emitted, and the most.
const LENGTH_START: u32 = 5 * BIT;
const LENGTH_MOST: u32 = 9 * BIT;
const DISTANCE_START: u32 = 4 * BIT + BIT / 4;
/// The number of matches that says something.
const MATCHES_LEAST: u32 = 8;
/// The distance of a match that decides which lengths are searched, and which are hashed, as
/// logarithms.
const NEAR_LOG: u32 = 5;
const FAR_LOG: u32 = 13;
/// The longest hash.
const HASH_MOST: usize = 8;

/// The price of each literal and match.
#[derive(Debug)]
pub(super) struct Prices {
    /// What was emitted: each stretch counts half as much as the one after it.
    freqs: Freqs,
    literals: [u16; 256],
    /// The average of the literals.
    literal: u32,
    /// The distance of a far match, as a logarithm.
    far_log: u32,
    /// From this length on, a match pays off without a closer look.
    sure: usize,
    /// The symbols of a length and of a distance, without extra bits of the distance.
    matches: [u16; LENGTHS + 1],
    /// What a byte costs on average, in literals and matches together; 0 if that is not known yet.
    byte: u32,
    /// Whether the content is one block, which ends before anything is known of it.
    is_small: bool,
}

impl Default for Prices {
    fn default() -> Self {
        Self {
            freqs: Freqs::default(),
            literals: [0; 256],
            literal: BIT,
            far_log: FAR_LOG,
            sure: 0,
            matches: [0; LENGTHS + 1],
            byte: 0,
            is_small: false,
        }
    }
}

/// The binary logarithm, in sixteenths.
fn log(freq: u32) -> u32 {
    split::log2(freq.max(1)) >> (FRACTION_BITS - 4)
}

impl Prices {
    /// Starts with a sample of the content.
    pub(super) fn start(&mut self, content: &[u8]) {
        self.freqs.clear();
        // A small content has only near matches.
        self.far_log = (content.len() / 2).max(1).ilog2().min(FAR_LOG);
        let step = (content.len() / SAMPLES).max(SAMPLE_BYTES);
        self.is_small = content.len() <= SMALL;
        let run = if self.is_small { SMALL_RUN } else { RUN };
        for part in content.chunks(step) {
            let part = &part[..part.len().min(SAMPLE_BYTES)];
            let same = part.iter().zip(&part[1..]);
            if same.filter(|(one, next)| one == next).count() < run as usize {
                for &byte in part {
                    self.freqs.litlens[usize::from(byte)] += 1;
                }
                continue;
            }
            let mut alike = 0;
            let mut before = None;
            for &byte in part {
                alike = if before == Some(byte) { alike + 1 } else { 0 };
                before = Some(byte);
                self.freqs.litlens[usize::from(byte)] += u32::from(alike < run);
            }
        }
        self.set();
    }

    /// Takes what was emitted for a stretch.
    pub(super) fn update(&mut self, freqs: &Freqs) {
        let sums = self.freqs.litlens.iter_mut().zip(&freqs.litlens);
        sums.for_each(|(sum, freq)| *sum = *sum / 2 + freq);
        let sums = self.freqs.distances.iter_mut().zip(&freqs.distances);
        sums.for_each(|(sum, freq)| *sum = *sum / 2 + freq);
        self.set();
    }

    fn set(&mut self) {
        let (literals, lengths) = self.freqs.litlens[..LITLENS_USED].split_at(END);
        let lengths = &lengths[1..];
        let matches: u32 = lengths.iter().sum();
        let literal_count: u32 = literals.iter().sum();
        // A sample has no matches: they will be a fifth of all symbols.
        let total = if matches == 0 {
            literal_count + literal_count / 4
        } else {
            literal_count + matches
        };
        let all = log(total);
        let mut sum = 0_u64;
        for (price, &freq) in self.literals.iter_mut().zip(literals) {
            let own = match freq {
                0 => all + BIT,
                _ => all - log(freq).min(all),
            };
            *price = own.min(LITERAL_MOST) as u16;
            sum += u64::from(freq) * u64::from(*price);
        }
        self.literal = (sum / u64::from(literal_count.max(1))) as u32;
        self.literal = self.literal.clamp(BIT / 4, LITERAL_MOST);
        let average = |freqs: &[u32], all: u32| {
            let bits = |freq: &u32| u64::from(*freq) * u64::from(all - log(*freq).min(all));
            (freqs.iter().map(bits).sum::<u64>() / u64::from(matches.max(1))) as u32
        };
        let (length, distance) = if matches >= MATCHES_LEAST {
            let distances = &self.freqs.distances[..DISTANCES_USED];
            (average(lengths, all), average(distances, log(matches)))
        } else {
            (LENGTH_START, DISTANCE_START)
        };
        for (nth, price) in self.matches.iter_mut().enumerate() {
            let own = match nth.checked_sub(MATCH_MIN) {
                Some(slot) if nth < LENGTHS && matches >= MATCHES_LEAST => {
                    let own = all - log(lengths[slot]).min(all);
                    (own.min(LENGTH_MOST) + length) / 2
                }
                _ => length,
            };
            *price = (own.min(LENGTH_MOST) + distance) as u16;
        }
        self.byte = if matches >= MATCHES_LEAST {
            let bits = sum
                + u64::from(matches) * u64::from(length + distance)
                + u64::from(BIT) * self.freqs.extra_bits();
            let least = lengths.iter().zip(LENGTH_BASE).enumerate();
            let copied = least.map(|(slot, (freq, base))| {
                let half = (1 << length_extra(slot)) / 2;
                u64::from(*freq) * (MATCH_MIN as u64 + u64::from(base) + half)
            });
            let bytes = copied.sum::<u64>() + u64::from(literal_count);
            ((bits / bytes.max(1)) as u32).max(1)
        } else {
            0
        };
        // Its literals cost half as much again, if they cost the average.
        let sure = 3 * self.of(LENGTHS, WINDOW.ilog2()) / (2 * self.literal);
        self.sure = (sure + 1).min(LENGTH_SURE) as usize;
    }

    /// The price of a match at a distance with this logarithm.
    #[inline(always)]
    fn of(&self, length: usize, distance_log: u32) -> u32 {
        let symbols = u32::from(self.matches[length.min(LENGTHS)]);
        symbols + (BIT * distance_log).saturating_sub(BIT)
    }

    /// Whether a match is shorter than its literals. The first four count as what they cost, the
    /// others as the average. Needs four bytes at the place.
    #[inline(always)]
    pub(super) fn pays(&self, data: &[u8], at: usize, found: Match) -> bool {
        found.length >= self.sure || self.is_cheaper(load32(data, at), found)
    }

    #[inline(always)]
    fn is_cheaper(&self, bytes: u32, found: Match) -> bool {
        let Match { length, distance } = found;
        let literal = |nth: u32| u32::from(self.literals[(bytes >> (8 * nth) & 255) as usize]);
        let fourth = if length > 3 { literal(3) } else { 0 };
        let others = self.literal * length.saturating_sub(4) as u32;
        literal(0) + literal(1) + literal(2) + fourth + others
            > self.of(length, distance.max(1).ilog2())
    }

    /// The same, if all its literals cost the average.
    #[inline(always)]
    pub(super) fn pays_on_average(&self, found: Match) -> bool {
        let Match { length, distance } = found;
        self.literal * length as u32 > self.of(length, distance.max(1).ilog2())
    }

    /// Whether `literals` and the `other` match behind them are better than the match `found`, which is taken here.
    ///
    /// What only the other one reaches would cost what bytes cost on average, but not more than one more match.
    #[inline(always)]
    pub(super) fn is_better(&self, literals: &[u8], found: Match, other: Match) -> bool {
        let reach = (literals.len() + other.length).saturating_sub(found.length) as u32;
        if self.byte == 0 && (reach > 0 || self.is_small) {
            return is_longer(literals.len(), found, other);
        }
        let literal = |byte: &u8| u32::from(self.literals[usize::from(*byte)]);
        let price = |one: Match| self.of(one.length, one.distance.max(1).ilog2());
        let own = price(other);
        // What is found at the end of a longer match reaches farther, too.
        let bonus = if reach > 0 {
            LONGER_BONUS.min(2 * self.byte)
        } else {
            0
        };
        let saved = (reach * self.byte).min(own) + price(found) + bonus;
        saved > own + literals.iter().map(literal).sum::<u32>()
    }

    /// The shortest match that pays off if it is near.
    pub(super) fn least(&self) -> usize {
        (self.of(LENGTHS, NEAR_LOG) / self.literal).clamp(MATCH_MIN as u32, 32) as usize
    }

    /// How far three literals may be copied from, if each costs a fifth more than the average.
    pub(super) fn triple_distance(&self) -> usize {
        let literals = 3 * self.literal * 6 / 5;
        let extra = literals.saturating_sub(self.of(MATCH_MIN, 1)) / BIT;
        WINDOW.min(2 << extra.min(WINDOW.ilog2()))
    }

    /// Bytes to hash, from `least` on: shorter matches seldom pay off.
    pub(super) fn hashed(&self, least: usize) -> usize {
        let bytes = self.of(LENGTHS, self.far_log).div_ceil(self.literal) as usize;
        bytes.clamp(least, HASH_MOST)
    }
}

/// Whether a match behind a number of literals is so much longer, or nearer, than the one before them that it is
/// better whatever the literals are.
#[inline(always)]
pub(super) fn is_longer(literals: usize, found: Match, other: Match) -> bool {
    let gain = 4 * (other.length as i32 - found.length as i32)
        + (found.distance.ilog2() as i32 - other.distance.max(1).ilog2() as i32);
    other.length >= found.length && gain > 2 + 4 * (literals as i32 - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(letters: usize) -> (Prices, Vec<u8>) {
        let bytes = (0..4096_u32).map(|index| (index.wrapping_mul(0x9e37_79b1) >> 20) as usize);
        let content: Vec<u8> = bytes.map(|byte| b'0' + (byte % letters) as u8).collect();
        let mut prices = Prices::default();
        prices.start(&content);
        (prices, content)
    }

    #[test]
    fn the_fewer_letters_the_longer_a_match_that_pays_off() {
        let far = |length| Match {
            length,
            distance: 20_000,
        };
        let mut before = 0;
        for letters in [200, 64, 16, 10, 4, 2] {
            let (prices, content) = started(letters);
            let least = (3..64).find(|length| prices.pays(&content, 100, far(*length)));
            let least = least.expect("long ones pay off");
            assert!(least > before || letters == 64, "{letters}: {least}");
            assert!(prices.least() <= least && prices.hashed(5) <= least.max(5));
            before = least;
        }
        assert!((16..28).contains(&before), "{before}");
    }

    #[test]
    fn in_small_content_shorter_matches_are_hashed() {
        let (mut prices, content) = started(40);
        let large = prices.hashed(3);
        prices.start(&content[..256]);
        assert!(prices.hashed(3) < large, "{large}");
    }

    #[test]
    fn near_matches_pay_off_earlier() {
        let (prices, content) = started(16);
        let pays = |distance| {
            let found = Match {
                length: 5,
                distance,
            };
            prices.pays(&content, 0, found)
        };
        assert!(pays(16) && !pays(30_000));
    }

    #[test]
    fn what_was_emitted_sets_the_prices() {
        let (mut prices, content) = started(64);
        let four = Match {
            length: 4,
            distance: 1 << 12,
        };
        assert!(prices.pays(&content, 0, four));
        let mut freqs = Freqs::default();
        // Few literals, all of them this one.
        freqs.litlens[usize::from(content[0])] = 1000;
        freqs.litlens[END + 5] = 900;
        freqs.distances[20] = 900;
        for _ in 0..8 {
            prices.update(&freqs);
        }
        let same = [content[0]; 8];
        assert!(!prices.pays(&same, 0, four));
    }
}
