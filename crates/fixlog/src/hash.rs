//! Tables whose keys are hashes.

use std::hash::{BuildHasherDefault, Hasher};

/// For keys that are hashes of 128 bits.
pub(crate) type OwnHash = BuildHasherDefault<Own>;

/// A hash is its own hash.
#[derive(Debug, Default)]
pub(crate) struct Own(u64);

impl Hasher for Own {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, number: u128) {
        self.0 = number as u64;
    }
}
