//! The search of levels 2 to 6: four places per hash, and one look at the next place.
//!
//! How many bytes are hashed depends on the matches so far. Of content that is the same for long again and again,
//! most of the last places of eight bytes differ soon after; of prose, few places have as many bytes in common.

use super::buckets::{Buckets, Place, Search, WORD, ahead};
use super::bytes::{alike, alike_long, load64};
use super::dull::{self, ROW};
use super::lazy::{DULL_MOST, REACHING, Span, extended, remember};
use super::prices::Prices;
use super::sequences::{Freqs, Match, Sequences};
use super::symbols::{END, LITLENS_USED, MATCH_MAX, MATCH_MIN, WINDOW, length_slot};
use super::tail;

/// A match of this length ends the search at its place.
const NICE: usize = 258;
/// Places within a match of up to this length are remembered by three bytes, too, where three literals cost more than
/// any match.
const THREES: usize = 6;
/// Bytes hashed for the four places.
const SHORTEST: usize = 5;
const SHORT: usize = 6;
const USUAL: usize = 8;
const LONG: usize = 16;
/// Where the long ones are, shorter matches than this are not taken at once.
const LONG_GOOD: usize = 32;
/// Fewer matches than these say nothing.
const MATCHES_LEAST: u32 = 32;
/// Other bytes are hashed for as many stretches at least,
const STRETCHES_LEAST: u32 = 8;
/// and only if this many times as much content follows as has to be hashed again.
const FOLLOWING: usize = 4;

/// Bytes hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hashed {
    Shortest,
    Short,
    Usual,
    Long,
}

impl Hashed {
    /// What suits content with these matches, which were found with `self`.
    fn after(self, freqs: &Freqs) -> Self {
        let lengths = &freqs.litlens[END + 1..LITLENS_USED];
        let from = |least: usize| lengths[length_slot(least)..].iter().sum::<u32>();
        let (all, of_six, of_eight, long) = (from(MATCH_MIN), from(6), from(8), from(15));
        let (six_or_seven, shorter) = (of_six - of_eight, all - of_six);
        // What suits now needs less to go on: it finds more of such matches.
        let is_short = match self {
            Self::Short => six_or_seven * 6 > all && long * 16 < all,
            _ => {
                long * 32 < all
                    && (six_or_seven * 2 > all || (six_or_seven * 8 > all && shorter * 5 > all))
            }
        };
        // Where there is more than matches, it is not prose.
        let is_short = is_short && freqs.literals().iter().sum::<u32>() < all;
        let is_long = match self {
            Self::Long => long * 3 > all,
            _ => long * 9 > all * 4,
        };
        // Of numbers, most matches are parts of a number.
        let is_shortest = (from(4) - of_six) * 4 > all * 3 && of_eight * 32 < all;
        if all < MATCHES_LEAST {
            self
        } else if is_shortest {
            Self::Shortest
        } else if is_long {
            Self::Long
        } else if is_short {
            Self::Short
        } else {
            Self::Usual
        }
    }
}

/// The search of a level.
#[derive(Debug)]
pub(super) struct Medium {
    buckets: Box<Buckets>,
    /// A match of this length is taken at once.
    good: usize,
    hashed: Hashed,
    /// Stretches before other bytes may be hashed.
    wait: u32,
}

impl Medium {
    /// A search that takes a match of `good` bytes without searching at the next place.
    pub(super) fn new(good: usize) -> Self {
        Self {
            buckets: Box::default(),
            good,
            hashed: Hashed::Usual,
            wait: 0,
        }
    }

    /// Clears the search and primes it with `data[..start]`.
    pub(super) fn start(&mut self, prices: &Prices, data: &[u8], start: usize) {
        (self.hashed, self.wait) = (Hashed::Usual, 0);
        self.buckets.start(data.len(), prices);
        prime::<USUAL>(&mut self.buckets, data, start);
    }

    /// Makes sequences of a span; returns where it stopped.
    pub(super) fn sequence(
        &mut self,
        prices: &Prices,
        data: &[u8],
        span: Span,
        out: &mut Sequences,
    ) -> usize {
        let (buckets, good) = (&mut self.buckets, self.good);
        let stop = match self.hashed {
            Hashed::Shortest => sequence::<SHORTEST>(buckets, good, prices, data, span, out),
            Hashed::Short => sequence::<SHORT>(buckets, good, prices, data, span, out),
            Hashed::Usual => sequence::<USUAL>(buckets, good, prices, data, span, out),
            Hashed::Long => sequence::<LONG>(buckets, good.max(LONG_GOOD), prices, data, span, out),
        };
        self.wait = self.wait.saturating_sub(1);
        if self.wait == 0 && !span.in_rows {
            self.adapt(data, stop, &out.freqs);
        }
        stop
    }

    /// Hashes other bytes from here on, if the matches of the last stretch say so.
    fn adapt(&mut self, data: &[u8], at: usize, freqs: &Freqs) {
        let again = at.min(WINDOW);
        let hashed = self.hashed.after(freqs);
        if hashed == self.hashed || data.len() - at < FOLLOWING * again {
            return;
        }
        (self.hashed, self.wait) = (hashed, STRETCHES_LEAST);
        self.buckets.clear();
        let insert = match hashed {
            Hashed::Shortest => Buckets::insert::<SHORTEST>,
            Hashed::Short => Buckets::insert::<SHORT>,
            Hashed::Usual => Buckets::insert::<USUAL>,
            Hashed::Long => Buckets::insert::<LONG>,
        };
        let end = at.min(data.len().saturating_sub(LONG));
        insert(&mut self.buckets, data, at - again, end);
    }
}

/// Makes sequences of a span; returns where it stopped. A match of `good` bytes is taken without
/// searching at the next place.
#[inline(never)]
fn sequence<const LONG: usize>(
    buckets: &mut Buckets,
    good: usize,
    prices: &Prices,
    data: &[u8],
    span: Span,
    out: &mut Sequences,
) -> usize {
    let Span {
        mut at, end, pause, ..
    } = span;
    let search = Search {
        data,
        end,
        nice: NICE,
        triple: prices.triple_distance(),
    };
    let last = end.saturating_sub(ahead::<LONG>());
    let (least, shift) = span.limits(prices);
    let least = least - 1;
    let mut from = at;
    let mut dull = at + (1 << shift);
    let most = out.list.len() + span.matches;
    let mut before = 0;
    let mut next = if at < last {
        buckets.place::<LONG>(data, at)
    } else {
        Place::default()
    };
    while at < last {
        let mut found = buckets.find::<LONG>(&search, &mut next, at, least);
        if found.length == 0 || !prices.pays(data, at, found) {
            out.literal(data[at]);
            at += 1;
            if at >= dull {
                let row = dull::next(at - from, shift, DULL_MOST, at, last);
                dull::literals(data, at, row, out);
                for place in (at.next_multiple_of(ROW)..row).step_by(ROW) {
                    buckets.insert::<LONG>(data, place, place + 1);
                }
                at = row;
                next = buckets.place::<LONG>(data, at.min(last));
                dull = at + ROW;
            }
            if at >= pause {
                out.close(at - from);
                return at;
            }
            continue;
        }
        let mut seen = at;
        let run = run(data, at, end, found);
        let is_run = run.length >= found.length && prices.is_better(&data[at..=at], found, run);
        if is_run {
            out.literal(data[at]);
            at += 1;
            found = run;
        }
        while !is_run && found.length < good && at + 1 < last {
            seen = at + 1;
            let other = buckets.find::<LONG>(&search, &mut next, at + 1, found.length - 1);
            if other.length == 0 || !prices.is_better(&data[at..=at], found, other) {
                break;
            }
            out.literal(data[at]);
            at += 1;
            found = other;
        }
        if found.length == MATCH_MAX {
            found.length = extended(data, at, found.distance, end);
        }
        if at - from >= 1 << shift || (found.length >= REACHING && at > from) {
            at = dull::reach_back(data, from, at, &mut found, out);
        }
        let Match { length, distance } = found;
        out.push(at - from, length, distance);
        before = distance;
        let behind = (at + length).min(last);
        next = buckets.place::<LONG>(data, behind);
        remember(seen + 1, behind, distance, |start, end| {
            buckets.insert::<LONG>(data, start, end);
        });
        if length <= THREES && search.triple == WINDOW {
            buckets.insert_triples(data, seen + 1, behind);
        }
        at += length;
        from = at;
        dull = at + (1 << shift);
        if at >= pause || out.list.len() >= most {
            return at;
        }
    }
    if span.in_rows {
        return out.end_span(data, at, from, end);
    }
    let near = |word, at| buckets.near(word, at);
    tail::end(data, at..end, from, before, prices, near, out)
}

/// The match at distance 1 behind one literal, which a run of equal bytes needs instead of a match that is farther away;
/// of length 0 if there is no run, or it is not longer than the match.
#[inline(always)]
fn run(data: &[u8], at: usize, end: usize, found: Match) -> Match {
    let is_run = |word: u64| word == word.rotate_left(8);
    let mut length = 0;
    if found.length >= WORD && found.distance > 1 && is_run(load64(data, at)) {
        length = alike(data, at, at + 1, MATCH_MAX.min(end - at - 1));
    }
    Match {
        length,
        distance: 1,
    }
}

/// Inserts the content that primes the next one.
fn prime<const LONG: usize>(buckets: &mut Buckets, data: &[u8], end: usize) {
    let search = Search {
        data,
        end: data.len(),
        nice: NICE,
        triple: 0,
    };
    let last = end.min(data.len().saturating_sub(ahead::<LONG>()));
    let mut at = 0;
    while at < last {
        let mut next = (at + MATCH_MAX).min(last);
        let mut here = buckets.place::<LONG>(data, at);
        let found = buckets.find::<LONG>(&search, &mut here, at, MATCH_MIN);
        if found.length == MATCH_MAX && at + 2 * MATCH_MAX < last {
            let (earlier, from) = (at + MATCH_MAX - found.distance, at + MATCH_MAX);
            next = from + alike_long(data, earlier, from, last - from);
        }
        remember(at + 1, next, found.distance, |start, end| {
            buckets.insert::<LONG>(data, start, end);
        });
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frequencies of matches, by their lengths.
    fn matches(counts: &[(usize, u32)]) -> Freqs {
        let mut freqs = Freqs::default();
        for &(length, count) in counts {
            freqs.litlens[END + 1 + length_slot(length)] += count;
        }
        freqs
    }

    #[test]
    fn the_longer_the_matches_the_more_bytes_are_hashed() {
        use Hashed::{Long, Short, Shortest, Usual};
        for (counts, hashed) in [
            (&[(4, 400), (6, 240), (9, 360)][..], Short),
            // Many short ones, but hardly any of six bytes.
            (&[(3, 300), (5, 600), (6, 100)], Usual),
            // Parts of numbers.
            (&[(5, 900), (6, 100)], Shortest),
            // A few long ones.
            (&[(4, 400), (6, 240), (9, 300), (40, 60)], Usual),
            (&[(4, 300), (9, 300), (40, 400)], Usual),
            (&[(4, 200), (9, 300), (40, 500)], Long),
            (&[(258, 40)], Long),
            // Too few.
            (&[(40, 31)], Usual),
        ] {
            assert_eq!(Usual.after(&matches(counts)), hashed, "{counts:?}");
        }
    }

    #[test]
    fn what_suits_content_is_kept_although_it_finds_other_matches() {
        use Hashed::{Long, Short, Usual};
        let shorter = matches(&[(4, 150), (6, 350), (9, 450), (40, 50)]);
        assert_eq!(
            (Usual.after(&shorter), Short.after(&shorter)),
            (Usual, Short)
        );
        let longer = matches(&[(4, 300), (9, 300), (40, 400)]);
        assert_eq!((Usual.after(&longer), Long.after(&longer)), (Usual, Long));
        let usual = matches(&[(4, 300), (9, 450), (40, 250)]);
        assert_eq!((Short.after(&usual), Long.after(&usual)), (Usual, Usual));
    }

    #[test]
    fn what_was_hashed_otherwise_is_found_again() {
        let mut seed = 1_u32;
        let mut next = || {
            seed = seed.wrapping_mul(0x915f_77f5).wrapping_add(12_345);
            (seed >> 16) as u8
        };
        let once: Vec<u8> = (0..300).map(|_| next()).collect();
        let record: Vec<u8> = (0..60).map(|_| next()).collect();
        let mut content = once.clone();
        while content.len() < 60_000 {
            content.extend_from_slice(&record);
            content.extend([next(), next()]);
            if content.len() == 300 + 62 * 200 {
                content.extend_from_slice(&once);
            }
        }
        let mut prices = Prices::default();
        prices.start(&content);
        let (mut medium, mut out) = (Medium::new(8), Sequences::default());
        medium.start(&prices, &content, 0);
        let all = Span::all(0, content.len());
        let at = medium.sequence(&prices, &content, Span { pause: 9000, ..all }, &mut out);
        assert_eq!(medium.hashed, Hashed::Long);
        out.clear();
        medium.sequence(
            &prices,
            &content,
            Span {
                at,
                pause: 20_000,
                ..all
            },
            &mut out,
        );
        let is_once = |packed: &u64| super::super::sequences::Sequence::of(*packed).length >= 300;
        assert!(
            out.list.iter().any(is_once),
            "the old content was forgotten"
        );
    }
}
