//! HMAC-SHA1 (RFC 2104) in blocks, so that a caller can interleave them with a cipher and keep both
//! units of a processor busy.

use sha1::digest::array::Array;
use sha1::digest::consts::U64;
use zeroize::{Zeroize as _, Zeroizing};

pub(super) const HASH_BYTES: usize = 20;
const BLOCK_BYTES: usize = 64;

const START: [u32; 5] = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0xc3d2_e1f0,
];

/// A code while it is computed.
#[derive(Clone)]
pub(super) struct Mac {
    inner: [u32; 5],
    outer: [u32; 5],
    /// The start of an incomplete block.
    held: [u8; BLOCK_BYTES],
    held_bytes: usize,
    bytes: u64,
}

impl Mac {
    /// The code for a key of at most one block.
    pub(super) fn new(key: &[u8]) -> Self {
        let mut block = Zeroizing::new([0; BLOCK_BYTES]);
        block[..key.len()].copy_from_slice(key);
        let [inner, outer] = [0x36, 0x5c].map(|pad| {
            let mut state = START;
            let padded = Zeroizing::new(block.map(|byte| byte ^ pad));
            sha1::block_api::compress(&mut state, &[*padded]);
            state
        });
        Self {
            inner,
            outer,
            held: [0; BLOCK_BYTES],
            held_bytes: 0,
            bytes: 0,
        }
    }

    /// Adds bytes.
    pub(super) fn update(&mut self, mut data: &[u8]) {
        self.bytes += data.len() as u64;
        if self.held_bytes > 0 {
            let part = data.len().min(BLOCK_BYTES - self.held_bytes);
            self.held[self.held_bytes..self.held_bytes + part].copy_from_slice(&data[..part]);
            self.held_bytes += part;
            data = &data[part..];
            if self.held_bytes < BLOCK_BYTES {
                return;
            }
            sha1::block_api::compress(&mut self.inner, &[self.held]);
            self.held_bytes = 0;
        }
        let (blocks, rest) = Array::<u8, U64>::slice_as_chunks(data);
        if !blocks.is_empty() {
            sha1::block_api::compress(&mut self.inner, Array::cast_slice_to_core(blocks));
        }
        self.held[..rest.len()].copy_from_slice(rest);
        self.held_bytes = rest.len();
    }

    /// The code of all bytes so far.
    pub(super) fn code(&self) -> [u8; HASH_BYTES] {
        let inner = finished(self.inner, &self.held[..self.held_bytes], self.bytes);
        finished(self.outer, &inner, HASH_BYTES as u64)
    }
}

impl Drop for Mac {
    fn drop(&mut self) {
        self.inner.zeroize();
        self.outer.zeroize();
    }
}

/// The hash of a block of key and `bytes` bytes, the last of which are in `rest`.
fn finished(mut state: [u32; 5], rest: &[u8], bytes: u64) -> [u8; HASH_BYTES] {
    let mut last = [[0; BLOCK_BYTES]; 2];
    last[0][..rest.len()].copy_from_slice(rest);
    last[0][rest.len()] = 0x80;
    // The length takes the last eight bytes of a block.
    let blocks = 1 + usize::from(rest.len() + 9 > BLOCK_BYTES);
    let bits = (bytes + BLOCK_BYTES as u64) * 8;
    last[blocks - 1][BLOCK_BYTES - 8..].copy_from_slice(&bits.to_be_bytes());
    sha1::block_api::compress(&mut state, &last[..blocks]);
    let mut hash = [0; HASH_BYTES];
    for (word, bytes) in state.iter().zip(hash.chunks_exact_mut(4)) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    hash
}

#[cfg(test)]
mod tests {
    use hmac::{Hmac, KeyInit as _, Mac as _};

    use super::*;

    #[test]
    fn codes_are_those_of_the_definition_for_any_cut() {
        let data: Vec<u8> = (0..1000_u32).map(|n| (n * 7) as u8).collect();
        for bytes in [0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 128, 1000] {
            for cut in [1, 3, 64, 100, 1000] {
                let mut mac = Mac::new(b"a key of some length");
                data[..bytes].chunks(cut).for_each(|part| mac.update(part));
                let mut expected =
                    <Hmac<sha1::Sha1>>::new_from_slice(b"a key of some length").unwrap();
                expected.update(&data[..bytes]);
                assert_eq!(
                    mac.code()[..],
                    expected.finalize().into_bytes()[..],
                    "{bytes} by {cut}"
                );
            }
        }
    }
}
