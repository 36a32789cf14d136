//! Pseudonyms under a key: of the same length and form as what they stand for, the same for the same
//! value everywhere, and different for different values of a form.
//!
//! Values that came before are looked up. The short ones of a message that did not are enciphered
//! together, which takes little longer than one of them.

use fixcore::{Message, frame};
use sha2::{Digest as _, Sha256};

use super::cipher::{Cipher, Room, Short};
use super::tags::TAGS;
use crate::line::digits;

/// Bytes that a key is made of.
const KEY_BYTES_MIN: usize = 16;
/// Pseudonyms that are kept, and of what length: most values come again and again.
const KEPT: usize = 1024;
const KEPT_BYTES_MAX: usize = 24;
/// Tags that are looked up in a table.
const LOW_TAGS: usize = 1024;

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
    /// Of the tags below 1,024, whether it is among these.
    low: Vec<bool>,
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
            tags: Vec::new(),
            low: Vec::new(),
        }
        .tags(TAGS)
    }

    /// Sets the tags whose values are replaced.
    #[must_use]
    pub fn tags(mut self, tags: &[u32]) -> Self {
        self.tags = tags.to_vec();
        self.tags.sort_unstable();
        self.low = vec![false; LOW_TAGS];
        for tag in tags {
            if let Some(low) = self.low.get_mut(*tag as usize) {
                *low = true;
            }
        }
        self
    }

    /// The bytes of a message with pseudonyms and the right CheckSum.
    pub fn message<'s>(&self, message: &Message<'_, '_>, scratch: &'s mut Scratch) -> &'s [u8] {
        scratch.keep_of(self.id);
        let mut bytes = std::mem::take(&mut scratch.message);
        bytes.clear();
        bytes.extend_from_slice(message.bytes());
        for field in message.fields() {
            if self.is_hidden(field.tag) {
                let start = field.offset + digits(field.tag) + 1;
                self.place(&mut bytes, start, field.value.len(), scratch);
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
        scratch.keep_of(self.id);
        self.place(value, 0, value.len(), scratch);
        self.finish(value, scratch);
    }

    #[inline]
    fn is_hidden(&self, tag: u32) -> bool {
        match self.low.get(tag as usize) {
            Some(hidden) => *hidden,
            None => self.tags.binary_search(&tag).is_ok(),
        }
    }

    /// Replaces a value among these bytes, or puts it to those that are enciphered together.
    fn place(&self, bytes: &mut [u8], start: usize, length: usize, scratch: &mut Scratch) {
        let Some(value) = bytes.get_mut(start..start + length) else {
            return;
        };
        if length > KEPT_BYTES_MAX {
            let short = self.cipher.value(value, start, &mut scratch.room);
            scratch.shorts.extend(short);
            return;
        }
        let slot = slot_of(value);
        if let Some(kept) = scratch.kept.get(slot)
            && kept.value.get(..usize::from(kept.bytes)) == Some(&*value)
        {
            return value.copy_from_slice(&kept.hidden[..length]);
        }
        let mut name = [0; KEPT_BYTES_MAX];
        name[..length].copy_from_slice(value);
        let short = self.cipher.value(value, start, &mut scratch.room);
        if scratch.kept.is_empty() {
            scratch.kept.resize(KEPT, Kept::NONE);
        }
        // Its pseudonym comes later: nothing is found there meanwhile.
        if let Some(kept) = scratch.kept.get_mut(slot) {
            (kept.value, kept.bytes) = (name, 0);
        }
        scratch.new.push((slot, start, length));
        scratch.shorts.extend(short);
    }

    /// Enciphers what was put together, and keeps it.
    fn finish(&self, bytes: &mut [u8], scratch: &mut Scratch) {
        self.cipher.together(&mut scratch.shorts, bytes);
        scratch.shorts.clear();
        // Of two values with one slot the last was remembered.
        for (slot, start, length) in scratch.new.drain(..).rev() {
            if let Some(kept) = scratch.kept.get_mut(slot)
                && let Some(hidden) = bytes.get(start..start + length)
                && kept.bytes == 0
            {
                kept.hidden[..length].copy_from_slice(hidden);
                kept.bytes = length as u8;
            }
        }
    }
}

impl Scratch {
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

/// Where a value is kept.
#[inline]
fn slot_of(value: &[u8]) -> usize {
    twox_hash::XxHash3_64::oneshot(value) as usize % KEPT
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::digits::kind;
    use super::*;

    /// A count, a length or a flag names no person, and a changed length would break the data after it.
    #[test]
    fn what_is_replaced_is_text_or_data_in_every_version() {
        assert!(TAGS.is_sorted());
        let mut known = HashSet::new();
        for version in fixcore::dict::Version::ALL {
            let dictionary = version.dictionary().expect("it is built in");
            for field in TAGS.iter().filter_map(|tag| dictionary.field(*tag)) {
                let kind = format!("{:?}", field.data_type());
                assert!(
                    !["Boolean", "Length", "NumInGroup", "SeqNum"].contains(&kind.as_str()),
                    "{} {} {kind} {}",
                    field.tag(),
                    field.name(),
                    version.name()
                );
                known.insert(field.tag());
            }
        }
        assert!(known.len() > 190, "{}", known.len());
    }

    fn under(key: &[u8]) -> Pseudonyms {
        Pseudonyms::new(key).expect("the key is long enough")
    }

    fn of(pseudonyms: &Pseudonyms, value: &str, scratch: &mut Scratch) -> String {
        let mut bytes = value.as_bytes().to_vec();
        pseudonyms.value(&mut bytes, scratch);
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn pseudonyms_keep_the_form_and_are_the_same_for_a_key_only() {
        let mut scratch = Scratch::default();
        let (one, other) = (under(b"a key of 16 byte"), under(b"another key of 1"));
        let long = "The quick brown fox of Account-0071 jumps over 13 lazy dogs again";
        for value in ["FUND-0071", "ORD00000271828", "a", "", "---", long] {
            let (a, b) = (
                of(&one, value, &mut scratch),
                of(&other, value, &mut Scratch::default()),
            );
            assert_eq!(a.len(), value.len());
            for (new, old) in a.bytes().zip(value.bytes()) {
                assert_eq!(kind(new), kind(old), "{value} {a}");
                assert!(kind(old).is_some() || new == old);
            }
            assert_eq!(a, of(&one, value, &mut Scratch::default()));
            if value.len() > 5 {
                assert!(a != value && a != b, "{value} {a} {b}");
            }
            // What is kept is of one key.
            assert_eq!(of(&other, value, &mut scratch), b);
        }
    }

    /// Whoever changes these breaks the comparison of logs of two versions: that is for the changelog.
    #[test]
    fn pseudonyms_stay_the_same_from_version_to_version() {
        let (pseudonyms, mut scratch) = (under(b"0123456789abcdef"), Scratch::default());
        let long = "The quick brown fox of Account-0071 jumps over 13 lazy dogs again and again, so it says";
        for (value, expected) in [
            ("7", "5"),
            ("FUND-0071", "MGWI-0710"),
            ("ORD00000271828", "FUJ04930171558"),
            ("Miller, call 555-0199 now", "Kyblbh, gypd 898-3676 yxz"),
            (
                "The quick brown fox jumps over 13 lazy dogs",
                "Tap bitve llpyw lfv ccoqt ltvs 06 ckrr iigw",
            ),
            (
                long,
                "Yrt fcpgw zolrj gvu hs Viwowvb-2200 epszi bkhj 11 nwed vaxt ojulp wfo trxcu, qa eq ofwr",
            ),
        ] {
            assert_eq!(of(&pseudonyms, value, &mut scratch), expected);
        }
    }

    #[test]
    fn no_two_values_have_the_same_pseudonym() {
        let (pseudonyms, mut scratch) = (under(b"0123456789abcdef"), Scratch::default());
        for digits in 1..=4 {
            let count = 10_usize.pow(digits);
            let names = (0..count).map(|n| {
                let value = format!("{n:0digits$}", digits = digits as usize);
                of(&pseudonyms, &value, &mut scratch)
            });
            assert_eq!(names.collect::<HashSet<_>>().len(), count);
        }
    }

    /// Numbers that are random enough.
    struct Random(u64);

    impl Random {
        fn below(&mut self, most: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % most as u64) as usize
        }

        fn text(&mut self, length: usize) -> String {
            let all = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -./";
            let text = (0..length).map(|_| char::from(all[self.below(all.len())]));
            text.collect()
        }
    }

    /// Lengths on both sides of where the cipher works in another way, and values that differ in one
    /// place.
    #[test]
    fn values_that_differ_in_one_place_have_pseudonyms_that_differ_everywhere() {
        let (pseudonyms, mut scratch) = (under(b"0123456789abcdef"), Scratch::default());
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for length in [
            12, 15, 16, 17, 18, 24, 25, 31, 32, 33, 62, 63, 64, 65, 80, 200, 4096,
        ] {
            let value: Vec<u8> = (0..length).map(|_| b'a' + random.below(26) as u8).collect();
            let mut seen = HashSet::new();
            let own = {
                let mut own = value.clone();
                pseudonyms.value(&mut own, &mut scratch);
                own
            };
            assert!(seen.insert(own.clone()));
            for place in [0, 1, length / 2, length - 2, length - 1] {
                let mut other = value.clone();
                other[place] = b'a' + (other[place] - b'a' + 1) % 26;
                pseudonyms.value(&mut other, &mut scratch);
                assert!(seen.insert(other.clone()));
                let same = own.iter().zip(&other).filter(|(a, b)| a == b).count();
                // One of 26 by chance.
                assert!(same <= length / 10 + 6, "{length} {place}: {same}");
            }
        }
    }

    #[test]
    fn all_values_of_a_small_form_have_different_pseudonyms_in_each_network() {
        let (pseudonyms, mut scratch) = (under(b"0123456789abcdef"), Scratch::default());
        // All numbers of four digits, at the beginning and at the end of a value of any network.
        for around in ["", "DESK-", "abcdefghijklmnop", "Zq9", "x/"] {
            for repeat in [1, 2, 5] {
                let around = around.repeat(repeat);
                for first in [true, false] {
                    let mut seen = HashSet::new();
                    for number in 0..2000 {
                        let value = match first {
                            true => format!("{number:04}{around}"),
                            false => format!("{around}{number:04}"),
                        };
                        assert!(seen.insert(of(&pseudonyms, &value, &mut scratch)));
                    }
                }
            }
        }
    }

    #[test]
    fn a_message_has_the_pseudonyms_that_its_values_have_alone() {
        let (pseudonyms, mut scratch) = (under(b"0123456789abcdef"), Scratch::default());
        let mut random = Random(7);
        let (mut encoder, mut decoder) =
            (fixcore::Encoder::new("FIX.4.4"), fixcore::Decoder::new());
        for _ in 0..500 {
            let mut message = encoder.start("D");
            for _ in 0..1 + random.below(20) {
                let tag = [11, 17, 37, 41, 58, 55][random.below(6)];
                let length = [1, 4, 8, 16, 17, 30, 70][random.below(7)] + random.below(3);
                message = message.bytes(tag, random.text(length).as_bytes());
            }
            let bytes = message.finish().expect("a message").to_vec();
            let fields = |bytes: &[u8], decoder: &mut fixcore::Decoder| {
                let message = decoder.parse(bytes).expect("valid");
                let fields = message
                    .fields()
                    .map(|field| (field.tag, field.value.to_vec()));
                fields.collect::<Vec<_>>()
            };
            let hidden = {
                let message = decoder.parse(&bytes).expect("valid");
                pseudonyms.message(&message, &mut scratch).to_vec()
            };
            let before = fields(&bytes, &mut decoder);
            for ((tag, value), (_, hidden)) in before.into_iter().zip(fields(&hidden, &mut decoder))
            {
                let mut expected = value.clone();
                if TAGS.contains(&tag) {
                    pseudonyms.value(&mut expected, &mut Scratch::default());
                } else if tag == 10 {
                    continue;
                }
                assert_eq!(hidden, expected, "{tag} {}", value.escape_ascii());
            }
        }
    }
}
