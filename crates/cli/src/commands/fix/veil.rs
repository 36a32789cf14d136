//! Pseudonyms under a key: of the same length and form as what they stand for, the same for the same
//! value everywhere, and no two values of a form have the same one.
//!
//! Letters and digits are enciphered where they stand, each to one of its kind; all else of a value
//! is its form and stays. That is a Feistel network over the two halves of the letters and digits,
//! each added to by what AES in a chain makes of the form and the other half.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;

use aes::Aes256;
use aes::cipher::{Array, BlockCipherEncrypt as _, KeyInit as _};
use sha2::{Digest as _, Sha256};

use crate::commands::fix::lines::digits;
use crate::failure::{Failure, Result};
use crate::io::open::open;
use fixcore::{Message, frame};

/// Turns over both halves; more than the eight that no attack on this shape reaches.
const ROUNDS: u8 = 10;
/// Bytes that a key is made of.
const KEY_BYTES_MIN: usize = 16;
const KEY_BYTES_MAX: u64 = 1 << 20;
/// Pseudonyms that are kept, and of what length: most values come again and again.
const KEPT: usize = 1024;
const KEPT_BYTES_MAX: usize = 32;

/// What is replaced where nothing else is asked for: parties, persons and how to reach them, accounts,
/// cards, ids of orders, executions, quotes, allocations and reports, free text, passwords,
/// signatures and opaque data. Not among it: what says which instrument, market or kind of a thing.
pub(super) const TAGS: &[u32] = &[
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

/// Replaces values of some fields.
pub(super) struct Veil {
    cipher: Aes256,
    /// Sorted.
    tags: Vec<u32>,
}

/// A value, its pseudonym, and how long both are.
type Kept = ([u8; KEPT_BYTES_MAX], [u8; KEPT_BYTES_MAX], usize);

/// Buffers of one thread.
#[derive(Default)]
pub(super) struct Scratch {
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

impl Veil {
    /// By the bytes of a file, or by some that nobody knows.
    pub(super) fn new(key_file: Option<&Path>, mut tags: Vec<u32>) -> Result<Self> {
        tags.sort_unstable();
        let key = match key_file {
            Some(path) => key_of(path)?,
            None => {
                let mut key = [0; 32];
                getrandom::fill(&mut key)
                    .map_err(|error| Failure::new(format!("there is no random key: {error}")))?;
                key
            }
        };
        let cipher = Aes256::new(&Array(key));
        Ok(Self { cipher, tags })
    }

    /// A message with pseudonyms and the CheckSum that belongs to it.
    pub(super) fn message<'s>(
        &self,
        message: &Message<'_, '_>,
        scratch: &'s mut Scratch,
    ) -> &'s [u8] {
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

    /// Puts its pseudonym in place of a value.
    pub(super) fn value(&self, value: &mut [u8], scratch: &mut Scratch) {
        if value.len() > KEPT_BYTES_MAX {
            return self.encipher(value, scratch);
        }
        let length = value.len();
        let mut name = [0; KEPT_BYTES_MAX];
        name[..length].copy_from_slice(value);
        let slot = twox_hash::XxHash3_64::oneshot(value) as usize % KEPT;
        if let Some(Some((known, veiled, bytes))) = scratch.kept.get(slot)
            && (known, *bytes) == (&name, length)
        {
            return value.copy_from_slice(&veiled[..length]);
        }
        self.encipher(value, scratch);
        let mut veiled = [0; KEPT_BYTES_MAX];
        veiled[..length].copy_from_slice(value);
        scratch.kept.resize(KEPT, None);
        scratch.kept[slot] = Some((name, veiled, length));
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

/// The key that the bytes of a file make.
fn key_of(path: &Path) -> Result<[u8; 32]> {
    let failed = |error| Failure::io("read", path, &error);
    let mut bytes = Vec::new();
    // A pipe or a device states no size, and may never end.
    open(path, OpenOptions::new().read(true))
        .and_then(|file| file.take(KEY_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > KEY_BYTES_MAX {
        let message = format!("'{}' is too large for a key", path.display());
        return Err(Failure::new(message).help("name a file of 16 bytes to 1 MiB"));
    }
    if bytes.len() < KEY_BYTES_MIN {
        let message = format!("'{}' is too short for a key", path.display());
        let help = "a key has 16 bytes at least: head -c 32 /dev/urandom > FILE";
        return Err(Failure::new(message).help(help));
    }
    Ok(Sha256::digest(&bytes).0)
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

    fn veil(key: &[u8]) -> Veil {
        let cipher = Aes256::new(&Array(Sha256::digest(key).0));
        Veil {
            cipher,
            tags: Vec::new(),
        }
    }

    fn of(veil: &Veil, value: &str, scratch: &mut Scratch) -> String {
        let mut bytes = value.as_bytes().to_vec();
        veil.value(&mut bytes, scratch);
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn pseudonyms_keep_the_form_and_are_the_same_for_a_key_only() {
        let mut scratch = Scratch::default();
        let (one, other) = (veil(b"a key of 16 byte"), veil(b"another key of 1"));
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
        let (veil, mut scratch) = (veil(b"0123456789abcdef"), Scratch::default());
        for digits in 1..=4 {
            let count = 10_usize.pow(digits);
            let names = (0..count).map(|n| {
                let value = format!("{n:0digits$}", digits = digits as usize);
                of(&veil, &value, &mut scratch)
            });
            assert_eq!(names.collect::<HashSet<_>>().len(), count);
        }
    }
}
