//! Pseudonyms under a key: of the same length and form as what they stand for, the same for the same
//! value everywhere, and no two values of a form have the same one.
//!
//! Letters and digits are enciphered where they stand, each to one of its kind; all else of a value
//! is its form and stays. That is a Feistel network over the two halves of the letters and digits,
//! each added to by what AES in a chain makes of the form and the other half.

use aes::Aes256;
use aes::cipher::{Array, BlockCipherEncrypt as _, KeyInit as _};
use sha2::{Digest as _, Sha256};

use fixcore::{Message, frame};

use crate::line::digits;

/// Turns over both halves; more than the eight that no attack on this shape reaches.
const ROUNDS: u8 = 10;
/// Bytes that a key is made of.
const KEY_BYTES_MIN: usize = 16;
/// Pseudonyms that are kept, and of what length: most values come again and again.
const KEPT: usize = 1024;
const KEPT_BYTES_MAX: usize = 32;

/// What is replaced where nothing else is asked for: parties, persons and how to reach them, accounts,
/// cards, ids of orders, executions, quotes, allocations and reports, free text, passwords,
/// signatures and opaque data. Not among it: what says which instrument, market or kind of a thing.
pub const TAGS: &[u32] = &[
    1, 11, 17, 19, 23, 26, 37, 41, 49, 50, 56, 57, 58, 66, 70, 72, 76, 79, 89, 91, 92, 96, 107,
    109, 112, 115, 116, 117, 128, 129, 131, 142, 143, 144, 145, 147, 148, 149, 161, 162, 174, 175,
    176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 198, 213, 214, 262, 278, 280, 282,
    284, 288, 289, 299, 302, 320, 322, 335, 337, 349, 351, 353, 355, 357, 359, 361, 363, 365, 375,
    376, 379, 390, 391, 392, 439, 440, 444, 446, 448, 466, 467, 474, 476, 482, 488, 489, 491, 496,
    498, 499, 500, 501, 502, 505, 508, 509, 511, 513, 523, 524, 526, 527, 535, 536, 545, 548, 551,
    553, 554, 568, 571, 572, 578, 579, 583, 600, 602, 603, 619, 622, 628, 644, 649, 664, 671, 672,
    693, 710, 721, 755, 757, 760, 772, 777, 782, 785, 790, 793, 795, 818, 820, 868, 880, 902, 913,
    914, 923, 925, 927, 929, 930, 949, 953, 989, 1003, 1005, 1019, 1040, 1041, 1042, 1053, 1059,
    1080, 1117, 1121, 1126, 1127, 1185, 1278, 1281, 1283, 1293, 1328, 1363, 1366, 1371, 1372, 1398,
    1402, 1404, 1412, 1415, 1427, 1462, 1469, 1517, 1520, 1523, 1563, 1570, 1576,
];

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
    cipher: Aes256,
    /// Sorted.
    tags: Vec<u32>,
}

impl std::fmt::Debug for Pseudonyms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the key.
        f.debug_struct("Pseudonyms")
            .field("tags", &self.tags)
            .finish_non_exhaustive()
    }
}

/// A value, its pseudonym, and how long both are.
type Kept = ([u8; KEPT_BYTES_MAX], [u8; KEPT_BYTES_MAX], usize);

/// Buffers of one thread, and the pseudonyms that it made last. They hold values: drop it after use.
#[derive(Default)]
pub struct Scratch {
    message: Vec<u8>,
    /// Where in a value letters and digits are.
    places: Vec<u32>,
    form: Vec<u8>,
    half: Vec<u8>,
    kept: Vec<Option<Kept>>,
}

/// How many letters or digits a kind has, and the first.
fn kind(byte: u8) -> Option<(u16, u8)> {
    match byte {
        b'0'..=b'9' => Some((10, b'0')),
        b'a'..=b'z' => Some((26, b'a')),
        b'A'..=b'Z' => Some((26, b'A')),
        _ => None,
    }
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
        Self {
            cipher: Aes256::new(&Array(key)),
            tags: TAGS.to_vec(),
        }
    }

    /// Sets the tags whose values are replaced.
    #[must_use]
    pub fn tags(mut self, tags: &[u32]) -> Self {
        self.tags = tags.to_vec();
        self.tags.sort_unstable();
        self
    }

    /// The bytes of a message with pseudonyms and the right CheckSum.
    pub fn message<'s>(&self, message: &Message<'_, '_>, scratch: &'s mut Scratch) -> &'s [u8] {
        let mut bytes = std::mem::take(&mut scratch.message);
        bytes.clear();
        bytes.extend_from_slice(message.bytes());
        for field in message.fields() {
            if self.tags.binary_search(&field.tag).is_ok() {
                let start = field.offset + digits(field.tag) + 1;
                if let Some(value) = bytes.get_mut(start..start + field.value.len()) {
                    self.value(value, scratch);
                }
            }
        }
        // A valid message ends with CheckSum.
        frame::update_checksum(&mut bytes);
        scratch.message = bytes;
        &scratch.message
    }

    /// Replaces a value by its pseudonym.
    pub fn value(&self, value: &mut [u8], scratch: &mut Scratch) {
        if value.len() > KEPT_BYTES_MAX {
            return self.encipher(value, scratch);
        }
        let length = value.len();
        let mut name = [0; KEPT_BYTES_MAX];
        name[..length].copy_from_slice(value);
        let slot = twox_hash::XxHash3_64::oneshot(value) as usize % KEPT;
        if let Some(Some((known, hidden, bytes))) = scratch.kept.get(slot)
            && (known, *bytes) == (&name, length)
        {
            return value.copy_from_slice(&hidden[..length]);
        }
        self.encipher(value, scratch);
        let mut hidden = [0; KEPT_BYTES_MAX];
        hidden[..length].copy_from_slice(value);
        scratch.kept.resize(KEPT, None);
        scratch.kept[slot] = Some((name, hidden, length));
    }

    fn encipher(&self, value: &mut [u8], scratch: &mut Scratch) {
        let Scratch {
            places, form, half, ..
        } = scratch;
        places.clear();
        form.clear();
        for (at, byte) in (0..).zip(value.iter_mut()) {
            // What is no printable character says too much to stay.
            if !matches!(byte, b' '..=b'~') {
                *byte = b'x';
            }
            match kind(*byte) {
                Some((_, first)) => {
                    places.push(at);
                    form.push(first);
                }
                None => form.push(*byte),
            }
        }
        let mut start = [0; 16];
        start[..8].copy_from_slice(&(value.len() as u64).to_le_bytes());
        let start = self.chain(start, form);
        let (left, right) = places.split_at(places.len() / 2);
        for round in 0..2 * ROUNDS {
            let (from, to) = match round % 2 {
                0 => (left, right),
                _ => (right, left),
            };
            half.clear();
            half.extend(from.iter().map(|at| value[*at as usize]));
            let mut state = start;
            state[0] ^= round + 1;
            let state = self.chain(state, half);
            self.add(value, to, state);
        }
    }

    /// AES in a chain from a state over bytes, the last block filled up with zeros.
    fn chain(&self, mut state: [u8; 16], bytes: &[u8]) -> [u8; 16] {
        for block in bytes.chunks(16) {
            for (slot, byte) in state.iter_mut().zip(block) {
                *slot ^= byte;
            }
            state = self.block(state);
        }
        if bytes.is_empty() {
            state = self.block(state);
        }
        state
    }

    fn block(&self, state: [u8; 16]) -> [u8; 16] {
        let mut block = Array(state);
        self.cipher.encrypt_block(&mut block);
        block.0
    }

    /// Turns letters and digits on by what follows from a state: two bytes each.
    fn add(&self, value: &mut [u8], places: &[u32], state: [u8; 16]) {
        for (number, places) in (0_u64..).zip(places.chunks(8)) {
            let mut stream = state;
            for (slot, byte) in stream[8..].iter_mut().zip(number.to_le_bytes()) {
                *slot ^= byte;
            }
            let stream = if number == 0 {
                state
            } else {
                self.block(stream)
            };
            let (words, _) = stream.as_chunks::<2>();
            for (at, word) in places.iter().zip(words) {
                let byte = &mut value[*at as usize];
                if let Some((count, first)) = kind(*byte) {
                    let turn = u16::from_le_bytes(*word) % count;
                    *byte = first + ((u16::from(*byte - first) + turn) % count) as u8;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

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
}
