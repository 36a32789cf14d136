//! Pseudonyms under a key: of the same length and form as what they stand for, the same for the same
//! value everywhere, and different for different values of a form.
//!
//! Values that came before are looked up. The short ones of a message that did not are enciphered
//! together, which takes little longer than one of them.

use std::collections::BTreeMap;

use fixcore::dict::Dictionary;
use fixcore::{Field, Message, frame};
use sha2::{Digest as _, Sha256};

use super::cipher::{Cipher, Room, Short};
use super::tags::{KNOWN, TAGS, is_private, is_telling};
use crate::line::digits;
use crate::no_id;

/// Bytes that a key is made of.
const KEY_BYTES_MIN: usize = 16;
/// Pseudonyms that are kept, and of what length: most values come again and again.
const KEPT: usize = 1024;
pub(super) const KEPT_BYTES_MAX: usize = 24;
/// Tags that are looked up in a table.
const LOW_TAGS: usize = 2048;
/// Unknown tags whose values are counted.
const LEFT_TAGS: usize = 1024;

/// Why there are no pseudonyms.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The key has fewer than 16 bytes.
    #[error("the key has {bytes} bytes, at least {KEY_BYTES_MIN} are needed")]
    TooShort {
        /// Its bytes.
        bytes: usize,
    },
    /// The system has no random bytes.
    #[error("there is no random key: {0}")]
    Random(getrandom::Error),
}

/// Replaces the values of some fields by pseudonyms.
///
/// ```
/// use fixcore::Decoder;
/// use fixlog::{Pseudonyms, Scratch};
///
/// let pseudonyms = Pseudonyms::new(b"sixteen bytes ok")?;
/// let message = b"8=FIX.4.4\x019=19\x0135=0\x0149=DESK\x0158=call\x0110=160\x01";
/// let mut message = message.to_vec();
/// # fixcore::frame::update_checksum(&mut message);
/// let (mut decoder, mut scratch) = (Decoder::new(), Scratch::default());
/// # message = { let mut all = Vec::new(); fixcore::frame::write(b"FIX.4.4", b"35=0\x0149=DESK\x0158=call\x01", &mut all); all };
/// let message = decoder.parse(&message)?;
/// let hidden = pseudonyms.message(&message, &mut scratch).to_vec();
/// let hidden = decoder.parse(&hidden)?;
/// assert_ne!(hidden.get(49), Some(&b"DESK"[..]));
/// assert!(hidden.get(49).is_some_and(|name| name.iter().all(u8::is_ascii_uppercase)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pseudonyms {
    cipher: Cipher,
    id: [u8; 16],
    /// Sorted.
    tags: Vec<u32>,
    /// Tags of dictionaries that are not replaced, from and to, sorted.
    known: Vec<(u32, u32)>,
    /// Whether values of unknown tags are replaced that may say who.
    others: bool,
    /// What is done with each of the low tags.
    low: Vec<Class>,
}

/// What is done with the values of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Kept,
    Hidden,
    /// No dictionary has it: the value decides.
    Unknown,
}

impl std::fmt::Debug for Pseudonyms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the key.
        f.debug_struct("Pseudonyms")
            .field("tags", &self.tags)
            .finish_non_exhaustive()
    }
}

/// A value with its pseudonym.
#[derive(Clone, Copy)]
struct Kept {
    value: [u8; KEPT_BYTES_MAX],
    hidden: [u8; KEPT_BYTES_MAX],
    /// 0 where nothing is kept.
    bytes: u8,
}

/// Buffers of one thread, and the pseudonyms that it made last. They hold values: drop it after use.
#[derive(Default)]
pub struct Scratch {
    message: Vec<u8>,
    room: Room,
    shorts: Vec<Short>,
    /// Values that are among the short ones: their slot, where they begin, and how long they are.
    new: Vec<(usize, usize, usize)>,
    kept: Vec<Kept>,
    /// Of the keys of what is kept.
    id: [u8; 16],
    /// Values of unknown tags that stayed as they were.
    left: BTreeMap<u32, u64>,
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the values.
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

impl Pseudonyms {
    /// Pseudonyms under a key of 16 bytes or more, for the values of [`TAGS`]: the same key gives the
    /// same pseudonyms.
    ///
    /// # Errors
    /// [`KeyError::TooShort`].
    pub fn new(key: &[u8]) -> Result<Self, KeyError> {
        if key.len() < KEY_BYTES_MIN {
            return Err(KeyError::TooShort { bytes: key.len() });
        }
        Ok(Self::of_key(Sha256::digest(key).0))
    }

    /// Pseudonyms under a random key that is never shown.
    ///
    /// # Errors
    /// [`KeyError::Random`].
    pub fn random() -> Result<Self, KeyError> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(KeyError::Random)?;
        Ok(Self::of_key(key))
    }

    fn of_key(key: [u8; 32]) -> Self {
        let cipher = Cipher::new(key);
        Self {
            id: cipher.id(),
            cipher,
            tags: TAGS.to_vec(),
            known: KNOWN.to_vec(),
            others: true,
            low: Vec::new(),
        }
        .classified()
    }

    /// Adds tags whose values are replaced.
    #[must_use]
    pub fn also(mut self, tags: &[u32]) -> Self {
        self.tags.extend_from_slice(tags);
        self.classified()
    }

    /// Adds the fields of a dictionary: those that are [private](is_private) are replaced, the others stay.
    #[must_use]
    pub fn dictionary(mut self, dictionary: &Dictionary) -> Self {
        for field in dictionary.fields() {
            let tag = field.tag();
            match is_private(field) {
                true => self.tags.push(tag),
                false => self.known.push((tag, tag)),
            }
        }
        self.known.sort_unstable();
        self.classified()
    }

    /// Sets the tags whose values are replaced: these, and no others.
    #[must_use]
    pub fn tags(mut self, tags: &[u32]) -> Self {
        self.tags = tags.to_vec();
        self.others = false;
        self.classified()
    }

    /// Sorts the tags, and looks up the low ones.
    fn classified(mut self) -> Self {
        self.tags.sort_unstable();
        self.tags.dedup();
        self.low.clear();
        self.low = (0..LOW_TAGS as u32).map(|tag| self.class_of(tag)).collect();
        self
    }

    fn class_of(&self, tag: u32) -> Class {
        let behind = self.known.partition_point(|range| range.0 <= tag);
        let range = behind.checked_sub(1).and_then(|at| self.known.get(at));
        if self.tags.binary_search(&tag).is_ok() {
            Class::Hidden
        } else if !self.others || range.is_some_and(|range| tag <= range.1) {
            Class::Kept
        } else {
            Class::Unknown
        }
    }

    /// The bytes of a message with pseudonyms and the right CheckSum.
    pub fn message<'s>(&self, message: &Message<'_, '_>, scratch: &'s mut Scratch) -> &'s [u8] {
        self.use_with(scratch);
        let mut bytes = std::mem::take(&mut scratch.message);
        bytes.clear();
        bytes.extend_from_slice(message.bytes());
        for (at, field) in message.fields().enumerate() {
            if self.hides(message, at, &field, scratch) {
                let start = field.offset + digits(field.tag) + 1;
                let length = field.value.len();
                let value = short_value(message.bytes(), start, length);
                self.place(&mut bytes, start, length, value, scratch);
            }
        }
        self.finish(&mut bytes, scratch);
        // A valid message ends with CheckSum.
        frame::update_checksum(&mut bytes);
        scratch.message = bytes;
        &scratch.message
    }

    /// Replaces a value by its pseudonym.
    pub fn value(&self, value: &mut [u8], scratch: &mut Scratch) {
        self.use_with(scratch);
        let short = short_value(value, 0, value.len());
        self.place(value, 0, value.len(), short, scratch);
        self.finish(value, scratch);
    }

    /// Forgets what a scratch has of other keys.
    pub(super) fn use_with(&self, scratch: &mut Scratch) {
        scratch.keep_of(self.id);
    }

    /// Whether the value of a field of a message is replaced; `at` is its place among the fields.
    #[inline]
    pub(super) fn hides(
        &self,
        message: &Message<'_, '_>,
        at: usize,
        field: &Field<'_>,
        scratch: &mut Scratch,
    ) -> bool {
        let class = self.low.get(field.tag as usize);
        match class.copied().unwrap_or_else(|| self.class_of(field.tag)) {
            Class::Hidden => true,
            Class::Kept => false,
            Class::Unknown => self.hides_unknown(message, at, field, scratch),
        }
    }

    /// The same for a tag that no dictionary has: what may say who is replaced, and data behind its length.
    #[cold]
    fn hides_unknown(
        &self,
        message: &Message<'_, '_>,
        at: usize,
        field: &Field<'_>,
        scratch: &mut Scratch,
    ) -> bool {
        let before = at.checked_sub(1).and_then(|at| message.field(at));
        let is_length = |before: Field<'_>| {
            before.tag + 1 == field.tag && before.value == field.value.len().to_string().as_bytes()
        };
        if is_telling(field.value) || before.is_some_and(is_length) {
            return true;
        }
        if scratch.left.len() < LEFT_TAGS || scratch.left.contains_key(&field.tag) {
            *scratch.left.entry(field.tag).or_default() += 1;
        }
        false
    }

    /// Replaces a value among these bytes, or puts it to those that are enciphered together, and notes
    /// where it begins. `value` is the value if it is short: nothing is read there that was just written.
    pub(super) fn place(
        &self,
        bytes: &mut [u8],
        start: usize,
        length: usize,
        value: [u8; KEPT_BYTES_MAX],
        scratch: &mut Scratch,
    ) {
        if length > KEPT_BYTES_MAX {
            if let Some(value) = bytes.get_mut(start..start + length) {
                let short = self.cipher.value(value, start, &mut scratch.room);
                scratch.shorts.extend(short);
            }
            return;
        }
        let slot = slot_of(&value);
        if let Some(kept) = scratch.kept.get(slot)
            && usize::from(kept.bytes) == length
            && kept.value == value
        {
            return put_short(bytes, start, length, &kept.hidden);
        }
        let Some(own) = bytes.get_mut(start..start + length) else {
            return;
        };
        // "There is none" says nothing of anybody, and analyses of the log need it.
        if no_id::is_none(own) {
            return;
        }
        let short = self.cipher.value(own, start, &mut scratch.room);
        if scratch.kept.is_empty() {
            scratch.kept.resize(KEPT, Kept::NONE);
        }
        // Its pseudonym comes later: nothing is found there meanwhile.
        if let Some(kept) = scratch.kept.get_mut(slot) {
            (kept.value, kept.bytes) = (value, 0);
        }
        scratch.new.push((slot, start, length));
        scratch.shorts.extend(short);
    }

    /// Enciphers what was put together, and keeps it.
    pub(super) fn finish(&self, bytes: &mut [u8], scratch: &mut Scratch) {
        self.cipher.together(&mut scratch.shorts, bytes);
        scratch.shorts.clear();
        for (_, start, length) in &scratch.new {
            // What became "there is none" takes the place that this leaves.
            while let Some(own) = bytes.get_mut(*start..start + length)
                && no_id::is_none(own)
            {
                let mut short = self.cipher.value(own, *start, &mut scratch.room);
                self.cipher.together(short.as_mut_slice(), bytes);
            }
        }
        // Of two values with one slot the last was remembered.
        for (slot, start, length) in scratch.new.drain(..).rev() {
            if let Some(kept) = scratch.kept.get_mut(slot)
                && kept.bytes == 0
            {
                kept.hidden = short_value(bytes, start, length);
                kept.bytes = length as u8;
            }
        }
    }
}

impl Scratch {
    /// The unknown tags with values that stayed as they were, since this was asked last, and how many.
    pub(super) fn take_left(&mut self) -> BTreeMap<u32, u64> {
        std::mem::take(&mut self.left)
    }

    /// How many values wait to be enciphered together.
    pub(super) fn waiting(&self) -> usize {
        self.shorts.len()
    }

    /// Forgets the pseudonyms of other keys.
    fn keep_of(&mut self, id: [u8; 16]) {
        if self.id != id {
            self.kept.clear();
            self.id = id;
        }
    }
}

impl Kept {
    const NONE: Self = Self {
        value: [0; KEPT_BYTES_MAX],
        hidden: [0; KEPT_BYTES_MAX],
        bytes: 0,
    };
}

/// The first bytes of 24 that a short value has.
static OF_VALUE: [[u8; KEPT_BYTES_MAX]; KEPT_BYTES_MAX + 1] = {
    let mut all = [[0; KEPT_BYTES_MAX]; KEPT_BYTES_MAX + 1];
    let mut length = 0;
    while length <= KEPT_BYTES_MAX {
        let mut at = 0;
        while at < length {
            all[length][at] = 0xff;
            at += 1;
        }
        length += 1;
    }
    all
};

/// A value of up to 24 bytes among others, with zeros behind it; if it is longer, any bytes.
#[inline]
pub(super) fn short_value(bytes: &[u8], start: usize, length: usize) -> [u8; KEPT_BYTES_MAX] {
    let rest = bytes.get(start..).unwrap_or(&[]);
    let mut value = [0; KEPT_BYTES_MAX];
    match rest.first_chunk::<KEPT_BYTES_MAX>() {
        Some(chunk) => value = *chunk,
        None => value[..rest.len()].copy_from_slice(rest),
    }
    let mask = OF_VALUE.get(length).unwrap_or(&[0; KEPT_BYTES_MAX]);
    for (byte, mask) in value.iter_mut().zip(mask) {
        *byte &= mask;
    }
    value
}

/// Writes a value of up to 24 bytes: the first of them and the last of them, which may overlap.
#[inline]
fn put_short(bytes: &mut [u8], start: usize, length: usize, value: &[u8; KEPT_BYTES_MAX]) {
    let to = bytes.get_mut(start..start + length).unwrap_or_default();
    let from = value.get(..length).unwrap_or(&[]);
    match length {
        16.. => ends::<16>(to, from),
        8.. => ends::<8>(to, from),
        4.. => ends::<4>(to, from),
        2.. => ends::<2>(to, from),
        _ => ends::<1>(to, from),
    }
}

/// Copies the first and the last bytes of two slices of one length.
#[inline]
fn ends<const N: usize>(to: &mut [u8], from: &[u8]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk()) {
        *to = *from;
    }
    if let (Some(to), Some(from)) = (to.last_chunk_mut::<N>(), from.last_chunk()) {
        *to = *from;
    }
}

/// Where a value is kept. Values that share a place cost time only.
#[inline]
fn slot_of(value: &[u8; KEPT_BYTES_MAX]) -> usize {
    let mut hash = 0_u64;
    for word in value.as_chunks::<8>().0 {
        hash =
            (hash.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    (hash >> 32) as usize % KEPT
}

#[cfg(test)]
mod tests;
