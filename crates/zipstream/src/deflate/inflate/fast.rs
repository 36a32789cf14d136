//! Decoding while neither input nor room is about to end, so that no symbol has to check for that.

use super::super::bytes::load64;
use super::super::symbols::MATCH_MAX;
use super::copy::{COPY_SLACK_BYTES, Run, copy};
use super::entry::{
    END, LINK, LITERAL, LITERALS, SPECIAL, bits, byte, count_before, distance, length,
    length_after, linked, literal_before, literal_count, literals,
};
use super::error::InflateFlaw;
use super::source::{REFILLED_BITS, Source};
use super::table::{Codes, DISTANCE_BITS, DISTANCE_PLACES, LITLEN_BITS, LITLEN_PLACES, PACK_BITS};

/// Literals per iteration: three entries, each of three at most.
const LITERALS_MAX: usize = 9;
/// The most bytes that an iteration writes.
pub(super) const ROOM_BYTES: usize = LITERALS_MAX + MATCH_MAX + COPY_SLACK_BYTES;
/// The most input that an iteration reads: up to three refills of 7 bytes out of 8.
pub(super) const LOOK_BYTES: usize = 3 * 8;
/// The longest distance code that a table is asked for, with its extra bits.
const DISTANCE_ALL_BITS: u32 = DISTANCE_BITS + 13;

/// Why it stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Input or room is about to end.
    Edge,
    /// The block has ended.
    End,
    /// A flaw in the last bits; their number.
    Flaw(InflateFlaw, u32),
}

/// Writes content from `at` on while there is plenty of input and room; returns where it stopped.
///
/// `PACKED` says that the packs of the codes are used.
#[inline(always)]
pub(super) fn run<const PACKED: bool>(
    codes: &Codes,
    source: &mut Source<'_>,
    out: &mut [u8],
    mut at: usize,
) -> (usize, Stop) {
    let mut rest = source.input.get(source.at..).unwrap_or_default();
    // What is not behind this needs no other comparison: the compiler knows what room is before it.
    let Some(room_end) = out.len().checked_sub(ROOM_BYTES) else {
        return (at, Stop::Edge);
    };
    if rest.len() < LOOK_BYTES {
        return (at, Stop::Edge);
    }
    let (mut held, mut count) = (source.held, source.count);
    // Only the low bits of `count` matter, so that an entry can be subtracted as it is.
    macro_rules! refill {
        () => {
            held |= load64(rest, 0) << (count & 63);
            rest = &rest[(7 - (count >> 3 & 7)) as usize..];
            count |= REFILLED_BITS;
        };
    }
    macro_rules! drop {
        ($entry:expr) => {
            held >>= $entry & 63;
            count = count.wrapping_sub($entry);
        };
    }
    macro_rules! is_literal {
        ($entry:expr) => {
            $entry & if PACKED { LITERALS } else { LITERAL } != 0
        };
    }
    // What is written behind the literals is overwritten later.
    macro_rules! put {
        ($room:ident, $written:ident, $entry:expr) => {
            let from = $written & 15;
            if PACKED {
                $room[from..from + 4].copy_from_slice(&literals($entry));
                $written += literal_count($entry);
            } else {
                $room[from] = byte($entry);
                $written += 1;
            }
        };
    }
    macro_rules! next {
        () => {
            if PACKED {
                codes.packs[held as usize & ((1 << PACK_BITS) - 1)]
            } else {
                codes.litlen[held as usize & ((1 << LITLEN_BITS) - 1)]
            }
        };
    }
    // Whether there are too few bits for a distance, and to look ahead after it.
    macro_rules! are_few {
        () => {
            if PACKED {
                count & 63 < DISTANCE_ALL_BITS + PACK_BITS
            } else {
                // No entry has more than its bits in its lowest byte.
                (count as u8) < (DISTANCE_ALL_BITS + LITLEN_BITS) as u8
            }
        };
    }
    refill!();
    let mut entry = next!();
    let mut run = Run::default();
    let stop = loop {
        if at > room_end || rest.len() < LOOK_BYTES {
            break Stop::Edge;
        }
        let Some((_, ahead)) = out.split_at_mut_checked(at) else {
            break Stop::Edge;
        };
        let Some(room) = ahead.first_chunk_mut::<ROOM_BYTES>() else {
            break Stop::Edge;
        };
        let mut written = 0;
        let mut before = held;
        drop!(entry);
        if is_literal!(entry) {
            put!(room, written, entry);
            entry = next!();
            before = held;
            drop!(entry);
            if is_literal!(entry) {
                put!(room, written, entry);
                entry = next!();
                before = held;
                drop!(entry);
                if is_literal!(entry) {
                    put!(room, written, entry);
                    at += written;
                    // There are enough bits to look ahead without waiting for the refill.
                    entry = next!();
                    refill!();
                    continue;
                }
            }
        }
        if entry & SPECIAL != 0 {
            if entry & LINK != 0 {
                entry = codes.litlen[linked(entry, held) & (LITLEN_PLACES - 1)];
                before = held;
                drop!(entry);
                if entry & LITERAL != 0 {
                    room[written & 15] = byte(entry);
                    at += written + 1;
                    entry = next!();
                    refill!();
                    continue;
                }
            }
            if entry & SPECIAL != 0 {
                at += written;
                break match entry & END {
                    0 => Stop::Flaw(InflateFlaw::Litlen, bits(entry)),
                    _ => Stop::End,
                };
            }
        }
        let length = if PACKED {
            room[written & 15] = literal_before(entry);
            written += count_before(entry);
            length_after(entry, before)
        } else {
            length(entry, before)
        };
        if are_few!() {
            refill!();
        }
        entry = codes.distance[held as usize & ((1 << DISTANCE_BITS) - 1)];
        if entry & SPECIAL != 0 {
            if entry & LINK == 0 {
                break Stop::Flaw(InflateFlaw::Distance, 0);
            }
            drop!(entry);
            if are_few!() {
                refill!();
            }
            entry = codes.distance[linked(entry, held) & (DISTANCE_PLACES - 1)];
            if entry & SPECIAL != 0 {
                break Stop::Flaw(InflateFlaw::Distance, DISTANCE_BITS);
            }
        }
        let distance = distance(entry, held);
        drop!(entry);
        if distance > at + written {
            break Stop::Flaw(InflateFlaw::TooFar, bits(entry));
        }
        // The next entry is loaded while bytes are copied.
        entry = next!();
        refill!();
        at += written;
        copy(out, at, (distance, length), &mut run);
        at += length;
    };
    source.at = source.input.len() - rest.len();
    source.count = count & 63;
    source.held = held;
    (at, stop)
}
