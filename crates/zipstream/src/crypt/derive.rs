//! Keys from passwords: PBKDF2 with HMAC-SHA1 (RFC 8018), as WinZip AES requires.
//!
//! The blocks of one key are independent. Four of them are computed in the lanes of vectors, which
//! takes a quarter less time than the SHA-1 instructions of some processors, one block at a time.

use wide::u32x4;
use zeroize::Zeroizing;

/// Rounds of the derivation, fixed by the format.
const ROUNDS: usize = 1000;
/// Blocks computed together. A key of 256 bits needs exactly this many.
const LANES: usize = 4;
const HASH_BYTES: usize = 20;
const BLOCK_BYTES: usize = 64;

/// The state of SHA-1 in each lane.
type State = [u32x4; 5];

const START: [u32; 5] = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0xc3d2_e1f0,
];

/// Fills `key` from a password and a salt.
pub(super) fn derive(password: &[u8], salt: &[u8], key: &mut [u8]) {
    let [inner, outer] = pads(password);
    for (index, part) in key.chunks_mut(LANES * HASH_BYTES).enumerate() {
        // A key is at most 66 bytes long and needs only one group of blocks.
        let first = (index * LANES) as u32 + 1;
        let blocks = four(&inner, &outer, salt, first).map(u32x4::to_array);
        let blocks = Zeroizing::new(blocks);
        for (lane, part) in part.chunks_mut(HASH_BYTES).enumerate() {
            for (word, bytes) in blocks.iter().zip(part.chunks_mut(4)) {
                bytes.copy_from_slice(&word[lane].to_be_bytes()[..bytes.len()]);
            }
        }
    }
}

/// The states of the inner and outer hash after the padded password.
fn pads(password: &[u8]) -> [State; 2] {
    let mut block = Zeroizing::new([0; BLOCK_BYTES]);
    if password.len() > BLOCK_BYTES {
        use sha1::Digest as _;
        block[..HASH_BYTES].copy_from_slice(&sha1::Sha1::digest(password));
    } else {
        block[..password.len()].copy_from_slice(password);
    }
    [0x36, 0x5c].map(|pad| {
        let mut state = START;
        let padded = Zeroizing::new(block.map(|byte| byte ^ pad));
        sha1::block_api::compress(&mut state, &[*padded]);
        state.map(u32x4::splat)
    })
}

/// Four blocks of a key, starting with block `first`.
fn four(inner: &State, outer: &State, salt: &[u8], first: u32) -> State {
    let mut block = [u32x4::ZERO; 16];
    let mut text = [0; BLOCK_BYTES];
    // A salt has at most 16 bytes and fits into one block.
    text[..salt.len()].copy_from_slice(salt);
    text[salt.len() + 4] = 0x80;
    for (word, bytes) in block.iter_mut().zip(text.chunks(4)) {
        *word = u32x4::splat(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    }
    block[salt.len() / 4] = u32x4::new([first, first + 1, first + 2, first + 3]);
    block[15] = u32x4::splat(((BLOCK_BYTES + salt.len() + 4) * 8) as u32);
    let mut hash = *inner;
    compress(&mut hash, &block);
    let mut turn = hashed(&hash);
    hash = *outer;
    compress(&mut hash, &turn);
    let mut key = hash;
    for _ in 1..ROUNDS {
        turn[..5].copy_from_slice(&hash);
        hash = *inner;
        compress(&mut hash, &turn);
        turn[..5].copy_from_slice(&hash);
        hash = *outer;
        compress(&mut hash, &turn);
        for (sum, word) in key.iter_mut().zip(&hash) {
            *sum ^= *word;
        }
    }
    key
}

/// A hash as the second and last block of a message.
fn hashed(hash: &State) -> [u32x4; 16] {
    let mut block = [u32x4::ZERO; 16];
    block[..5].copy_from_slice(hash);
    block[5] = u32x4::splat(0x8000_0000);
    block[15] = u32x4::splat(((BLOCK_BYTES + HASH_BYTES) * 8) as u32);
    block
}

#[inline(always)]
fn rotate<const BITS: u32>(word: u32x4) -> u32x4 {
    (word << BITS) | (word >> (32 - BITS))
}

#[inline(always)]
fn choice(b: u32x4, c: u32x4, d: u32x4) -> u32x4 {
    d ^ (b & (c ^ d))
}

#[inline(always)]
fn parity(b: u32x4, c: u32x4, d: u32x4) -> u32x4 {
    b ^ c ^ d
}

#[inline(always)]
fn majority(b: u32x4, c: u32x4, d: u32x4) -> u32x4 {
    (b & c) | (d & (b | c))
}

/// The word of a step; from the sixteenth on it is computed from earlier words.
#[inline(always)]
fn word(words: &mut [u32x4; 16], step: usize) -> u32x4 {
    let at = step % 16;
    if step >= 16 {
        let before = words[(step + 13) % 16] ^ words[(step + 8) % 16];
        words[at] = rotate::<1>(before ^ words[(step + 2) % 16] ^ words[at]);
    }
    words[at]
}

/// One block of SHA-1 in each lane. The five words of the state stay in registers: each step
/// renames them where the definition moves them.
fn compress(state: &mut State, block: &[u32x4; 16]) {
    let mut words = *block;
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    macro_rules! step {
        ($by:ident, $constant:literal, $step:expr, $a:ident $b:ident $c:ident $d:ident $e:ident) => {
            let sum = $e + word(&mut words, $step) + u32x4::splat($constant);
            $e = sum + rotate::<5>($a) + $by($b, $c, $d);
            $b = rotate::<30>($b);
        };
    }
    macro_rules! twenty {
        ($by:ident, $constant:literal, $($from:literal)*) => {$(
            step!($by, $constant, $from, a b c d e);
            step!($by, $constant, $from + 1, e a b c d);
            step!($by, $constant, $from + 2, d e a b c);
            step!($by, $constant, $from + 3, c d e a b);
            step!($by, $constant, $from + 4, b c d e a);
        )*};
    }
    twenty!(choice, 0x5a82_7999, 0 5 10 15);
    twenty!(parity, 0x6ed9_eba1, 20 25 30 35);
    twenty!(majority, 0x8f1b_bcdc, 40 45 50 55);
    twenty!(parity, 0xca62_c1d6, 60 65 70 75);
    for (word, new) in state.iter_mut().zip([a, b, c, d, e]) {
        *word += new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, one block at a time.
    fn plainly(password: &[u8], salt: &[u8], key: &mut [u8]) {
        use hmac::{Hmac, KeyInit as _, Mac as _};
        let mac = |parts: [&[u8]; 2]| -> [u8; HASH_BYTES] {
            let mut mac = <Hmac<sha1::Sha1>>::new_from_slice(password).unwrap();
            parts.iter().for_each(|part| mac.update(part));
            mac.finalize().into_bytes().into()
        };
        for (index, part) in key.chunks_mut(HASH_BYTES).enumerate() {
            let mut turn = mac([salt, &(index as u32 + 1).to_be_bytes()]);
            let mut sum = turn;
            for _ in 1..ROUNDS {
                turn = mac([&turn, b""]);
                sum.iter_mut()
                    .zip(turn)
                    .for_each(|(sum, byte)| *sum ^= byte);
            }
            part.copy_from_slice(&sum[..part.len()]);
        }
    }

    #[test]
    fn keys_are_those_of_the_definition() {
        for (password, salt_bytes, key_bytes) in [
            (&b""[..], 8, 34),
            (b"password", 12, 50),
            (&[b'x'; 64], 16, 66),
            (&[b'y'; 65], 16, 66),
            (b"two turns", 16, 100),
        ] {
            let salt: Vec<u8> = (1..=salt_bytes).collect();
            let (mut found, mut expected) = (vec![0; key_bytes], vec![0; key_bytes]);
            derive(password, &salt, &mut found);
            plainly(password, &salt, &mut expected);
            assert_eq!(found, expected);
        }
    }
}
