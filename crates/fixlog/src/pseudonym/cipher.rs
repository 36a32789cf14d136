//! A keyed permutation of all values of one form. A form is where a value has letters and digits, of
//! which kind, and everything else as it is.
//!
//! The letters and digits, in their order, are the halves of a Feistel network, each a number in the
//! alphabet of its kind. A round adds to one half what a pseudorandom function makes of the form, the
//! round and the other half; that can be undone, so no two values become the same.
//!
//! | letters and digits | network | cost |
//! |---|---|---|
//! | up to 16 | 10 rounds, as in FF1 (NIST SP 800-38G), a block of AES each | several values together |
//! | up to 63 | 10 rounds, or 6 where a half has 16 or more: beyond what is known of attacks | |
//! | more | 3 rounds: the last 32, the others, the last 32 again | two hashes and one stream over the value |
//!
//! The function of the longest values is that of AES-GCM-SIV (RFC 8452): POLYVAL under AES, then AES in
//! counter mode. Each half of them has 10^32 values or more, so that a collision of two of them, which
//! would show what they have in common, is not to be expected in 2^40 values.
//!
//! FF1 itself needs one alphabet for all places and a million values: account numbers of four digits,
//! and names of letters and digits, have neither. Its arithmetic on large numbers takes quadratic time.

use aes::Aes256;
use aes::cipher::consts::U16;
use aes::cipher::{Array, BlockCipherEncrypt as _, KeyInit as _};
use polyval::Polyval;
use polyval::universal_hash::UniversalHash as _;
use sha2::{Digest as _, Sha256};

use super::digits::{LANES, count, kind, shift, shift_bytes, words};

/// Letters and digits of a short value: lanes for each half.
pub(super) const SHORT_PLACES: usize = 2 * LANES;
/// Short values that are enciphered together.
pub(super) const TOGETHER: usize = 8;
/// Of the values of medium length.
const MEDIUM_PLACES: usize = 2 * TAIL_PLACES - 1;
/// Letters and digits at the end of a long value that are one half of it.
const TAIL_PLACES: usize = 32;
const ROUNDS: u8 = 10;
/// Where both halves have 16 letters or digits or more.
const ROUNDS_OF_LARGE: u8 = 6;
const LARGE_PLACES: usize = 32;
/// Blocks of the key stream that are made together.
const STREAM_BLOCKS: usize = 8;

type Block = [u8; 16];

/// The keys.
pub(super) struct Cipher {
    forms: Aes256,
    rounds: Aes256,
    stream: Aes256,
    hash: Polyval,
}

/// A short value on its way: where its letters and digits are, and both halves as numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Short {
    /// Where the value begins, in bytes that the caller knows.
    start: usize,
    places: [u32; SHORT_PLACES],
    count: usize,
    tweak: Block,
    halves: [Half; 2],
}

/// Numbers with the sizes of their alphabets; lanes that are not used are 0 of 1.
#[derive(Debug, Clone, Copy, Default)]
struct Half {
    numbers: [u16; LANES],
    counts: [u16; LANES],
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct Room {
    places: Vec<u32>,
    form: Vec<u8>,
}

impl Cipher {
    /// What tells these keys from others and says nothing of them.
    pub(super) fn id(&self) -> Block {
        encrypt(&self.forms, [0xff; 16])
    }

    /// From 32 bytes. Each key is made of the digest of these and a number.
    pub(super) fn new(key: [u8; 32]) -> Self {
        let derived = |number: u8| {
            let mut digest = Sha256::new();
            digest.update(key);
            digest.update([number]);
            digest.finalize().0
        };
        let mut hash = [0; 16];
        hash.copy_from_slice(&derived(3)[..16]);
        Self {
            forms: Aes256::new(&Array(derived(4))),
            rounds: Aes256::new(&Array(derived(1))),
            stream: Aes256::new(&Array(derived(2))),
            hash: Polyval::new(&Array(hash)),
        }
    }

    /// Enciphers a value, unless it is short: then it is returned for [`together`](Self::together),
    /// as the one that begins at `start`.
    pub(super) fn value(&self, value: &mut [u8], start: usize, room: &mut Room) -> Option<Short> {
        for byte in value.iter_mut() {
            // What is not a printable character says too much to stay.
            *byte = if matches!(*byte, b' '..=b'~') {
                *byte
            } else {
                b'x'
            };
        }
        if value.len() > MEDIUM_PLACES && count(value) > MEDIUM_PLACES {
            self.long(value, room);
            return None;
        }
        let Room { places, form } = room;
        places.clear();
        form.clear();
        for (at, byte) in (0..).zip(value.iter()) {
            match kind(*byte) {
                Some((_, first)) => {
                    places.push(at);
                    form.push(first);
                }
                None => form.push(*byte),
            }
        }
        match places.len() {
            0 => {}
            count if count <= SHORT_PLACES => return Some(self.short(value, start, room)),
            _ => self.medium(value, room),
        }
        None
    }

    fn short(&self, value: &[u8], start: usize, room: &Room) -> Short {
        let mut short = Short {
            start,
            count: room.places.len(),
            tweak: self.form(&room.form),
            ..Short::default()
        };
        for half in &mut short.halves {
            half.counts = [1; LANES];
        }
        let middle = short.count / 2;
        for (number, at) in room.places.iter().enumerate() {
            short.places[number] = *at;
            let byte = value[*at as usize];
            let (half, lane) = match number.checked_sub(middle) {
                None => (&mut short.halves[0], number),
                Some(lane) => (&mut short.halves[1], lane),
            };
            if let Some((count, first)) = kind(byte) {
                half.counts[lane] = count;
                half.numbers[lane] = u16::from(byte - first);
            }
        }
        short
    }

    /// Enciphers short values, the rounds of all of them at the same time, in the bytes that they
    /// begin in.
    pub(super) fn together(&self, shorts: &mut [Short], bytes: &mut [u8]) {
        for shorts in shorts.chunks_mut(TOGETHER) {
            let mut blocks: [Array<u8, U16>; TOGETHER] = [Array([0; 16]); TOGETHER];
            let blocks = &mut blocks[..shorts.len()];
            for round in 0..ROUNDS {
                let from = usize::from(round % 2);
                for (block, short) in blocks.iter_mut().zip(shorts.iter()) {
                    block.0 = short.tweak;
                    block.0[0] ^= round + 1;
                    for (slot, number) in block.0[8..].iter_mut().zip(short.halves[from].numbers) {
                        *slot ^= number as u8;
                    }
                }
                self.rounds.encrypt_blocks(blocks);
                for (block, short) in blocks.iter().zip(shorts.iter_mut()) {
                    let Half { numbers, counts } = &mut short.halves[1 - from];
                    shift(numbers, counts, words(block.0));
                }
            }
            for short in shorts {
                short.write(bytes);
            }
        }
    }

    fn medium(&self, value: &mut [u8], room: &Room) {
        let tweak = self.digest(&room.form, 1);
        let places = &room.places;
        let (left, right) = places.split_at(places.len() / 2);
        let rounds = match places.len() >= LARGE_PLACES {
            true => ROUNDS_OF_LARGE,
            false => ROUNDS,
        };
        for round in 0..rounds {
            let (from, to) = match round % 2 {
                0 => (left, right),
                _ => (right, left),
            };
            let mut state = tweak;
            state[0] ^= round + 1;
            for places in from.chunks(16) {
                for (slot, at) in state.iter_mut().zip(places) {
                    *slot ^= value[*at as usize];
                }
                state = encrypt(&self.rounds, state);
            }
            self.shift_places(value, to, state);
        }
    }

    fn long(&self, value: &mut [u8], room: &mut Room) {
        let Room { places, form } = room;
        places.clear();
        let ends = (0..value.len())
            .rev()
            .filter(|at| kind(value[*at]).is_some());
        places.extend(ends.take(TAIL_PLACES).map(|at| at as u32));
        places.reverse();
        let tail = places;
        let first = tail.first().map_or(0, |at| *at as usize);
        // All but the letters and digits of the tail, of which only the kinds.
        form.clear();
        form.extend_from_slice(value);
        for at in tail.iter() {
            let byte = &mut form[*at as usize];
            *byte = kind(*byte).map_or(*byte, |(_, first)| first);
        }
        let hashed = |value: &[u8], form: &mut Vec<u8>, round: u8| {
            form[..first].copy_from_slice(&value[..first]);
            encrypt(&self.rounds, self.digest(form, round))
        };
        let state = hashed(value, form, 2);
        self.shift_places(value, tail, state);
        let mut text = [0; TAIL_PLACES];
        for (slot, at) in text.iter_mut().zip(tail.iter()) {
            *slot = value[*at as usize];
        }
        let state = encrypt(&self.rounds, self.digest(&text, 3));
        self.shift_all(&mut value[..first], state);
        let state = hashed(value, form, 4);
        self.shift_places(value, tail, state);
    }

    /// What becomes of the form of a short value: nearly all fit into a block.
    fn form(&self, form: &[u8]) -> Block {
        let mut block = [0; 16];
        match block.get_mut(..form.len()) {
            // No byte of a form is 0.
            Some(start) => start.copy_from_slice(form),
            None => return self.digest(form, 0),
        }
        encrypt(&self.forms, block)
    }

    /// POLYVAL over bytes, their number, and what they are for.
    fn digest(&self, bytes: &[u8], purpose: u8) -> Block {
        let mut hash = self.hash.clone();
        hash.update_padded(bytes);
        let mut end = [0; 16];
        end[..8].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        end[15] = purpose;
        hash.update(&[Array(end)]);
        hash.finalize().0
    }

    /// Shifts up to 32 letters and digits by the stream of a state.
    fn shift_places(&self, value: &mut [u8], places: &[u32], state: Block) {
        let mut blocks = [Array([0; 16]); TAIL_PLACES / LANES];
        let blocks = &mut blocks[..places.len().div_ceil(LANES)];
        self.stream_blocks(blocks, state, 0);
        for (places, block) in places.chunks(LANES).zip(blocks.iter()) {
            let mut bytes = [0; LANES];
            for (slot, at) in bytes.iter_mut().zip(places) {
                *slot = value[*at as usize];
            }
            shift_bytes(&mut bytes, &words(block.0));
            for (byte, at) in bytes.iter().zip(places) {
                value[*at as usize] = *byte;
            }
        }
    }

    /// Shifts all letters and digits by the stream of a state.
    fn shift_all(&self, value: &mut [u8], state: Block) {
        let mut number = 0;
        for piece in value.chunks_mut(STREAM_BLOCKS * LANES) {
            let mut blocks = [Array([0; 16]); STREAM_BLOCKS];
            self.stream_blocks(&mut blocks, state, number);
            number += STREAM_BLOCKS as u64;
            let mut all = [0; STREAM_BLOCKS * LANES];
            for (words_of, block) in all.as_chunks_mut::<LANES>().0.iter_mut().zip(&blocks) {
                *words_of = words(block.0);
            }
            let (pairs, _) = all.as_chunks::<{ 2 * LANES }>();
            let (whole, rest) = piece.as_chunks_mut::<{ 2 * LANES }>();
            let last = pairs.get(whole.len());
            for (bytes, words) in whole.iter_mut().zip(pairs) {
                shift_bytes(bytes, words);
            }
            if let Some(words) = last {
                let mut bytes = [0; 2 * LANES];
                bytes[..rest.len()].copy_from_slice(rest);
                shift_bytes(&mut bytes, words);
                rest.copy_from_slice(&bytes[..rest.len()]);
            }
        }
    }

    /// Blocks of the stream of a state, from this one on.
    #[inline]
    fn stream_blocks(&self, blocks: &mut [Array<u8, U16>], state: Block, first: u64) {
        for (number, block) in (first..).zip(blocks.iter_mut()) {
            block.0 = state;
            for (slot, byte) in block.0[8..].iter_mut().zip(number.to_le_bytes()) {
                *slot ^= byte;
            }
        }
        self.stream.encrypt_blocks(blocks);
    }
}

impl Short {
    fn write(&self, bytes: &mut [u8]) {
        let middle = self.count / 2;
        let places = self.places.iter().take(self.count).enumerate();
        for (number, at) in places {
            let number = match number.checked_sub(middle) {
                None => self.halves[0].numbers[number],
                Some(lane) => self.halves[1].numbers[lane],
            };
            if let Some(byte) = bytes.get_mut(self.start + *at as usize)
                && let Some((_, first)) = kind(*byte)
            {
                *byte = first + number as u8;
            }
        }
    }
}

fn encrypt(cipher: &Aes256, state: Block) -> Block {
    let mut block = Array(state);
    cipher.encrypt_block(&mut block);
    block.0
}
