//! Tags as text, with their rank in the header, by a table.

use super::header::{BODY, BODY_RANK, rank};

/// Tags below this are in the table: those of up to four digits. Messages have few that differ, so they touch few
/// lines of it.
const TAGS: usize = 10_000;
const LENGTH_SHIFT: u32 = 56;
const RANK_SHIFT: u32 = 48;
const TEXT_MASK: u64 = (1 << RANK_SHIFT) - 1;

/// Tags below this have five digits, if they are not in the table.
const FIVE_DIGITS: u32 = 100_000;

/// A tag of five digits with its `=`, which is [`FIVE_DIGITS_BYTES`] long, then bytes without a meaning; `None` for
/// tags of another length.
#[inline]
pub(super) fn five_digits(tag: u32) -> Option<[u8; 8]> {
    if !(TAGS as u32..FIVE_DIGITS).contains(&tag) {
        return None;
    }
    let (top, low) = (tag / 10_000, tag % 10_000);
    let pair = |number: u32| u64::from(PAIRS[number as usize % PAIRS.len()]);
    let text = pair(low / 100) << 8 | pair(low % 100) << 24 | (b'=' as u64) << 40;
    Some((text | u64::from(b'0' as u32 + top)).to_le_bytes())
}

/// Five digits and `=`.
pub(super) const FIVE_DIGITS_BYTES: usize = 6;

/// Two digits for each number below 100, the first one in the lowest byte.
static PAIRS: [u16; 100] = {
    let (mut pairs, mut number) = ([0; 100], 0);
    while number < 100 {
        pairs[number] = u16::from_le_bytes([b'0' + number as u8 / 10, b'0' + number as u8 % 10]);
        number += 1;
    }
    pairs
};

/// A tag of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag(u64);

/// By tag less one: the digits and `=` from the lowest byte on, the rank, and how many bytes the text has.
static TABLE: [Tag; TAGS - 1] = {
    let mut table = [Tag(0); TAGS - 1];
    let (mut tag, mut of_last, mut last) = (1, 0, 0);
    while tag < TAGS {
        let (mut text, mut left, mut length) = (b'=' as u64, tag as u64, 1);
        while left > 0 {
            text = (text << 8) | (b'0' as u64 + left % 10);
            left /= 10;
            length += 1;
        }
        // Ranks in the order of those of the header, as numbers of one byte.
        let rank = match rank(tag as u32) {
            BODY => BODY_RANK,
            0 => 0,
            rank => {
                if rank > of_last {
                    last += 1;
                }
                of_last = rank;
                last
            }
        };
        table[tag - 1] = Tag(text | (rank as u64) << RANK_SHIFT | length << LENGTH_SHIFT);
        tag += 1;
    }
    table
};

impl Tag {
    /// `None` for 0 and for tags that are not in the table, none of which belongs to the header.
    #[inline]
    pub(super) fn of(tag: u32) -> Option<Self> {
        TABLE.get((tag as usize).wrapping_sub(1)).copied()
    }

    /// Digits and `=`, then bytes without a meaning.
    #[inline]
    pub(super) fn text(self) -> [u8; 8] {
        (self.0 & TEXT_MASK).to_le_bytes()
    }

    /// How many bytes the text has: at most five.
    #[inline]
    pub(super) fn length(self) -> usize {
        (self.0 >> LENGTH_SHIFT) as usize
    }

    /// Its rank in the header: lower comes earlier.
    #[inline]
    pub(super) fn rank(self) -> u8 {
        (self.0 >> RANK_SHIFT) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_five_digits_are_their_text() {
        for tag in [0, 1, 9_999, 100_000, 999_999_999, u32::MAX] {
            assert_eq!(five_digits(tag), None);
        }
        for tag in TAGS as u32..FIVE_DIGITS {
            let text =
                five_digits(tag).map(|text| [text[0], text[1], text[2], text[3], text[4], text[5]]);
            let wanted = format!("{tag}=");
            assert_eq!(text.as_ref().map(|text| &text[..]), Some(wanted.as_bytes()));
        }
    }

    #[test]
    fn the_table_has_the_text_and_the_order_of_every_tag() {
        assert!(Tag::of(0).is_none() && Tag::of(TAGS as u32).is_none());
        let all = || (1..TAGS as u32).filter_map(|tag| Some((tag, Tag::of(tag)?)));
        for (tag, entry) in all() {
            let text = &entry.text()[..entry.length()];
            assert_eq!(text, format!("{tag}=").as_bytes());
            assert_eq!(entry.rank() == BODY_RANK, rank(tag) == BODY);
        }
        let header = || all().filter(|(tag, _)| rank(*tag) != BODY);
        for (tag, entry) in all() {
            for (other, after) in header().take_while(|(other, _)| *other < 2_000) {
                assert_eq!(
                    entry.rank().cmp(&after.rank()),
                    rank(tag).cmp(&rank(other)),
                    "{tag} {other}"
                );
            }
        }
        assert!((TAGS as u32..1_000_000).all(|tag| rank(tag) == BODY));
    }
}
