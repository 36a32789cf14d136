//! The buffer of a message that is written field by field: room is made once, and bytes are written in whole words
//! into it. What is beyond the last byte is overwritten later.

use memchr::memchr;

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::prefix::ROOM_BYTES;
use super::scalar::{has_soh, short};
use super::tags::{FIVE_DIGITS_BYTES, Tag, five_digits};
use super::text::{self, Clock, digits};
use crate::frame::SOH;
#[cfg(target_arch = "x86_64")]
use crate::isa::Avx512;
use crate::isa::Isa;
use crate::value::{Decimal, Timestamp};

/// Room for a field with a short value, and for words beyond its end.
const FIELD_BYTES: usize = 128;
/// Values up to this are written in words.
const SHORT_BYTES: usize = 64;
const BUFFER_BYTES: usize = 1024;
/// Numbers below this have at most eight digits.
const EIGHT_DIGITS: u64 = 100_000_000;

type Room = [u8; FIELD_BYTES];

/// Where the next byte goes.
#[derive(Debug)]
pub(super) struct Pen {
    buffer: Vec<u8>,
    at: usize,
    #[cfg(target_arch = "x86_64")]
    avx512: Option<Avx512>,
}

impl Pen {
    pub(super) fn new(isa: Isa) -> Self {
        let _ = isa;
        Self {
            buffer: vec![0; BUFFER_BYTES],
            at: ROOM_BYTES,
            #[cfg(target_arch = "x86_64")]
            avx512: Avx512::detect().filter(|_| isa >= Isa::Avx512Bw),
        }
    }

    /// Begins a body.
    pub(super) fn restart(&mut self) {
        self.at = ROOM_BYTES;
    }

    /// Where the next byte goes in the body.
    #[inline]
    pub(super) fn at(&self) -> usize {
        self.at - ROOM_BYTES
    }

    /// The body.
    pub(super) fn body(&self) -> &[u8] {
        self.buffer.get(ROOM_BYTES..self.at).unwrap_or(&[])
    }

    /// The body, to put its fields in another order.
    pub(super) fn body_mut(&mut self) -> &mut [u8] {
        self.buffer.get_mut(ROOM_BYTES..self.at).unwrap_or(&mut [])
    }

    /// The whole buffer, to write what comes before the body.
    pub(super) fn whole(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    /// The message from a place of the buffer on.
    pub(super) fn message(&self, start: usize) -> &[u8] {
        self.buffer.get(start..self.at).unwrap_or(&[])
    }

    /// Room from the next byte on.
    #[inline]
    fn room(&mut self) -> Option<&mut Room> {
        if self.buffer.len() - self.at < FIELD_BYTES {
            self.grow(FIELD_BYTES);
        }
        self.buffer.get_mut(self.at..)?.first_chunk_mut()
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, bytes: usize) {
        let least = self.at.saturating_add(bytes).saturating_add(FIELD_BYTES);
        let room = least.max(self.buffer.len().saturating_mul(2));
        self.buffer.resize(room, 0);
    }

    /// Writes up to some bytes by a function that returns how many.
    #[inline]
    fn with_room(&mut self, write: impl FnOnce(&mut Room) -> usize) {
        if let Some(room) = self.room() {
            let written = write(room);
            self.at += written;
        }
    }

    /// Writes any bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        if self.buffer.len() - self.at < bytes.len() {
            self.grow(bytes.len());
        }
        let end = self.at + bytes.len();
        if let Some(room) = self.buffer.get_mut(self.at..end) {
            room.copy_from_slice(bytes);
            self.at = end;
        }
    }

    /// Writes a tag that is not in the table, and `=`. Only tags of up to nine digits are right.
    #[inline]
    pub(super) fn long_tag(&mut self, tag: u32) {
        if let Some(text) = five_digits(tag) {
            return self.with_room(|room| {
                set(room, 0, text);
                FIVE_DIGITS_BYTES
            });
        }
        self.with_room(|room| {
            let top = tag / EIGHT_DIGITS as u32;
            let low = digits(tag % EIGHT_DIGITS as u32);
            let length = match top {
                0 => {
                    set(room, 0, low.left().to_le_bytes());
                    low.length
                }
                _ => {
                    room[0] = b'0'.wrapping_add(top as u8);
                    set(room, 1, low.right().to_le_bytes());
                    9
                }
            };
            room[length] = b'=';
            length + 1
        });
    }

    /// Writes a tag.
    #[inline]
    pub(super) fn tag(&mut self, tag: Tag) {
        self.with_room(|room| {
            set(room, 0, tag.text());
            tag.length()
        });
    }

    /// Writes a value and the separator. Returns whether a message may contain it.
    #[inline]
    pub(super) fn text(&mut self, value: &[u8]) -> bool {
        if value.len() > SHORT_BYTES {
            return self.long_text(value);
        }
        let mut ends = 0;
        #[cfg(target_arch = "x86_64")]
        let avx512 = self.avx512;
        self.with_room(|room| {
            #[cfg(target_arch = "x86_64")]
            if let (Some(proof), Some(to)) = (avx512, room.first_chunk_mut()) {
                ends = avx512::copy(proof, value, to);
                room[value.len().min(SHORT_BYTES)] = SOH;
                return value.len() + 1;
            }
            ends = copy(room, value);
            room[value.len().min(SHORT_BYTES)] = SOH;
            value.len() + 1
        });
        ends == 0 && !value.is_empty()
    }

    #[inline(never)]
    fn long_text(&mut self, value: &[u8]) -> bool {
        self.data(value);
        memchr(SOH, value).is_none()
    }

    /// Writes a value that may contain any byte, and the separator.
    pub(super) fn data(&mut self, value: &[u8]) {
        self.put(value);
        self.put(&[SOH]);
    }

    /// Writes a number and the separator.
    #[inline]
    pub(super) fn unsigned(&mut self, value: u64) {
        self.with_room(|room| {
            let end = put_number(room, 0, value);
            room[end] = SOH;
            end + 1
        });
    }

    /// Writes a decimal number with all its digits after the point, and the separator.
    #[inline]
    pub(super) fn decimal(&mut self, value: Decimal) {
        self.with_room(|room| {
            room[0] = b'-';
            let start = usize::from(value.mantissa < 0);
            let scale = value.scale.min(Decimal::SCALE_MAX);
            let unit = UNITS[usize::from(scale)];
            let magnitude = value.mantissa.unsigned_abs();
            let (whole, rest) = (magnitude / unit, magnitude % unit);
            let mut end = put_number(room, start, whole);
            if scale > 0 {
                // The added unit keeps zeros after the point, and its digit becomes the point.
                let point = end;
                end = put_number(room, point, rest + unit);
                room[point] = b'.';
            }
            room[end] = SOH;
            end + 1
        });
    }

    /// Writes a timestamp with milliseconds, and the separator.
    #[inline]
    pub(super) fn timestamp(&mut self, clock: &mut Clock, value: Timestamp) {
        let text = clock.moment(value);
        self.with_room(|room| {
            room[..text.len()].copy_from_slice(&text);
            room[text.len()] = SOH;
            text.len() + 1
        });
    }
}

/// The powers of ten.
static UNITS: [u64; Decimal::SCALE_MAX as usize + 1] = {
    let mut units = [1; Decimal::SCALE_MAX as usize + 1];
    let mut at = 1;
    while at < units.len() {
        units[at] = units[at - 1] * 10;
        at += 1;
    }
    units
};

/// Writes eight bytes at a place, which is at most 120.
#[inline]
fn set(room: &mut Room, at: usize, bytes: [u8; 8]) {
    if let Some(to) = room.get_mut(at..at + 8) {
        to.copy_from_slice(&bytes);
    }
}

/// Writes a number at a place, which is at most 64. Returns where it ends.
#[inline]
fn put_number(room: &mut Room, at: usize, number: u64) -> usize {
    if number < EIGHT_DIGITS {
        let digits = digits(number as u32);
        set(room, at, digits.left().to_le_bytes());
        return at + digits.length;
    }
    if number < EIGHT_DIGITS * EIGHT_DIGITS {
        let high = digits((number / EIGHT_DIGITS) as u32);
        set(room, at, high.left().to_le_bytes());
        let at = at + high.length;
        let low = digits((number % EIGHT_DIGITS) as u32);
        set(room, at, low.right().to_le_bytes());
        return at + 8;
    }
    let (text, length) = text::number(number);
    if let Some(to) = room.get_mut(at..at + text.len()) {
        to.copy_from_slice(&text);
    }
    at + length
}

/// Writes up to 64 bytes. Returns something else than 0 if one of them is a separator.
#[inline]
fn copy(room: &mut Room, value: &[u8]) -> u64 {
    let mut ends = 0;
    let mut put = |at: usize, bytes: [u8; 8]| {
        set(room, at, bytes);
        ends |= has_soh(u64::from_le_bytes(bytes));
    };
    let Some(tail) = value.last_chunk::<8>() else {
        let number = short(value);
        set(room, 0, number.to_le_bytes());
        return has_soh(number) & !(u64::MAX << (8 * value.len()));
    };
    let (words, _) = value.as_chunks::<8>();
    // The last eight bytes overlap those before, and few lengths differ in their branches.
    match words {
        [first] => put(0, *first),
        [first, second] => {
            put(0, *first);
            put(8, *second);
        }
        _ => {
            for (word, bytes) in words.iter().enumerate() {
                put(8 * word, *bytes);
            }
        }
    }
    put(value.len() - 8, *tail);
    ends
}
