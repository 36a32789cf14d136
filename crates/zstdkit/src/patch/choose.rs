//! Which ranges of the older file a segment refers back to: anchors vote, and what they voted for is joined.

use std::ops::Range;

use super::header::RANGES_MAX;
use super::index::Places;

/// What is voted for beyond the first and the last anchor that follow each other, at most.
const EDGE_BYTES_MAX: u64 = 1 << 20;
/// Pieces that a prefix is cut into where it would be too large.
const CELLS: u64 = 1024;

/// A part of the older file, and the votes for it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    range: Range<u64>,
    votes: u64,
}

/// The votes of a segment.
#[derive(Debug, Clone)]
pub(super) struct Votes {
    /// What is voted for around an anchor, on each side.
    reach: u64,
    spans: Vec<Span>,
    /// The last vote: its place in the segment and in the older file.
    last: Option<(u64, u64)>,
    /// Anchors that have several places, none of which follows the anchor before.
    unclear: Vec<Places>,
}

impl Votes {
    /// No votes yet, of anchors that are `1 << rate_log` bytes apart on average.
    pub(super) fn new(rate_log: u32) -> Self {
        Self {
            reach: 4 << rate_log,
            spans: Vec::new(),
            last: None,
            unclear: Vec::new(),
        }
    }

    /// Counts the anchor at `new` of the segment, which has these places in the older file. Anchors must come in order.
    pub(super) fn add(&mut self, new: u64, places: &Places) {
        let follows = self.last.and_then(|last| self.follower(last, new, places));
        match (follows, places.offsets()) {
            (Some(old), _) => {
                if let Some(span) = self.spans.last_mut() {
                    span.range.end = span.range.end.max(old);
                    span.votes += 1;
                }
                self.last = Some((new, old));
            }
            (None, &[old]) => {
                let before = match self.last {
                    None => (new + self.reach).min(EDGE_BYTES_MAX.max(self.reach)),
                    Some(_) => self.reach,
                };
                self.spans.push(Span {
                    range: old.saturating_sub(before)..old,
                    votes: 1,
                });
                self.last = Some((new, old));
            }
            (None, []) => {}
            (None, _) => self.unclear.push(*places),
        }
    }

    /// The place that follows the last vote in the older file about as the anchor does in the segment.
    fn follower(&self, last: (u64, u64), new: u64, places: &Places) -> Option<u64> {
        let distance = new - last.0;
        let slack = 4 * self.reach;
        places
            .offsets()
            .iter()
            .copied()
            .filter(|&old| old > last.1 && old - last.1 <= distance + slack)
            .min_by_key(|old| (old - last.1).abs_diff(distance))
    }

    /// The ranges for a segment of `segment_bytes`, in ascending order, that together have at most `bytes_max`.
    pub(super) fn choose(
        mut self,
        segment_bytes: u64,
        older_bytes: u64,
        bytes_max: u64,
    ) -> Vec<Range<u64>> {
        let reach = self.reach;
        let beyond = self
            .last
            .map_or(reach, |(new, _)| segment_bytes.saturating_sub(new) + reach)
            .min(EDGE_BYTES_MAX.max(reach));
        let count = self.spans.len();
        for (at, span) in self.spans.iter_mut().enumerate() {
            let after = if at + 1 == count { beyond } else { reach };
            span.range.end = span.range.end.saturating_add(after).min(older_bytes);
        }
        let mut spans = join(self.spans, reach);
        let unclear = std::mem::take(&mut self.unclear);
        let missing = unclear.iter().filter(|places| !has_any(&spans, places));
        let more: Vec<_> = missing
            .filter_map(|places| places.offsets().first())
            .map(|&old| Span {
                range: old.saturating_sub(reach)..(old + reach).min(older_bytes),
                votes: 1,
            })
            .collect();
        spans.extend(more);
        let mut spans = within(join(spans, reach), bytes_max);
        let mut gap = reach;
        while spans.len() > RANGES_MAX {
            gap = gap.saturating_mul(2);
            spans = within(join(spans, gap), bytes_max);
        }
        spans.into_iter().map(|span| span.range).collect()
    }
}

/// Sorts spans, and joins those with at most `gap` bytes between them.
fn join(mut spans: Vec<Span>, gap: u64) -> Vec<Span> {
    spans.retain(|span| !span.range.is_empty());
    spans.sort_unstable_by_key(|span| span.range.start);
    let mut joined: Vec<Span> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.range.start <= last.range.end.saturating_add(gap) => {
                last.range.end = last.range.end.max(span.range.end);
                last.votes += span.votes;
            }
            _ => joined.push(span),
        }
    }
    joined
}

/// Whether one of these places is in a span. The spans are sorted and apart.
fn has_any(spans: &[Span], places: &Places) -> bool {
    places.offsets().iter().any(|old| {
        let after = spans.partition_point(|span| span.range.start <= *old);
        after > 0 && *old <= spans[after - 1].range.end
    })
}

fn total(spans: &[Span]) -> u64 {
    spans
        .iter()
        .map(|span| span.range.end - span.range.start)
        .sum()
}

/// Leaves out the parts with the fewest votes for their size, until the rest has at most `bytes_max`.
fn within(spans: Vec<Span>, bytes_max: u64) -> Vec<Span> {
    let mut excess = total(&spans).saturating_sub(bytes_max);
    if excess == 0 {
        return spans;
    }
    let cell = (bytes_max / CELLS).max(1);
    let mut cells = Vec::new();
    for span in spans {
        let bytes = span.range.end - span.range.start;
        let mut start = span.range.start;
        while start < span.range.end {
            let end = span.range.end.min(start.saturating_add(cell));
            // A large span has its votes spread evenly.
            let share = u128::from(span.votes) * u128::from(cell) * 64 / u128::from(bytes.max(1));
            cells.push(Span {
                range: start..end,
                votes: u64::try_from(share).unwrap_or(u64::MAX),
            });
            start = end;
        }
    }
    cells.sort_by_key(|span| std::cmp::Reverse(span.votes));
    while excess > 0 {
        let Some(mut last) = cells.pop() else { break };
        let bytes = last.range.end - last.range.start;
        let cut = bytes.min(excess);
        excess -= cut;
        last.range.end -= cut;
        if cut < bytes {
            cells.push(last);
        }
    }
    join(cells, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(offsets: &[u64]) -> Places {
        let mut places = Places::default();
        for &offset in offsets {
            places.push(offset);
        }
        places
    }

    #[test]
    fn votes_that_follow_each_other_make_one_range() {
        let mut votes = Votes::new(6);
        for at in 0..100 {
            votes.add(at * 5000, &places(&[1_000_000 + at * 5000]));
        }
        // The same content elsewhere in the older file does not count.
        votes.add(500_000, &places(&[17, 1_500_000]));
        let chosen = votes.choose(500_100, 1_500_150, 1 << 30);
        assert_eq!((chosen.len(), &chosen[0]), (1, &(999_744..1_500_150)));
    }

    #[test]
    fn what_has_moved_makes_ranges_of_its_own() {
        let mut votes = Votes::new(6);
        votes.add(1000, &places(&[90_000]));
        votes.add(2000, &places(&[91_000]));
        votes.add(3000, &places(&[5000]));
        votes.add(4000, &places(&[6000]));
        // Unclear, and then clear by what is chosen already.
        votes.add(9000, &places(&[5500, 70_000]));
        votes.add(9100, &places(&[60_000, 70_000]));
        assert_eq!(
            votes.choose(10_000, 1 << 20, 1 << 30),
            [4744..12_256, 59_744..60_256, 88_744..91_256]
        );
    }

    #[test]
    fn too_much_loses_what_has_the_fewest_votes() {
        let mut votes = Votes::new(6);
        for at in 0..1000 {
            votes.add(at * 64, &places(&[at * 64]));
        }
        votes.add(70_000, &places(&[1 << 20]));
        votes.add(80_000, &places(&[1 << 21]));
        let chosen = votes.choose(80_000, 1 << 22, 60_000);
        let bytes: u64 = chosen.iter().map(|range| range.end - range.start).sum();
        assert_eq!(bytes, 60_000);
        assert!(chosen.iter().all(|range| range.end <= 70_000), "{chosen:?}");
    }

    #[test]
    fn there_are_never_more_ranges_than_a_header_may_have() {
        let mut votes = Votes::new(6);
        for at in 0..20_000_u64 {
            votes.add(at * 100, &places(&[at * 7919 % 20_000 * 1000]));
        }
        let chosen = votes.choose(2_000_000, 20_000_000, 19_000_000);
        assert!(!chosen.is_empty() && chosen.len() <= RANGES_MAX);
        assert!(chosen.windows(2).all(|pair| pair[0].end < pair[1].start));
    }
}
