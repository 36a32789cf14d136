//! What is written, decoded as it is written: the proof that it decompresses. What it is compared
//! with is the commands'.

use std::hash::Hasher;
use std::io;

use twox_hash::XxHash64;
use zstdkit::{Decoder, DecoderOptions};

use super::BUFFER_BYTES;

/// Decodes output as it is written and hashes the content.
#[derive(Debug)]
pub(super) struct Verifier {
    decoder: Decoder,
    room: Vec<u8>,
    hasher: XxHash64,
    bytes: u64,
    error: Option<String>,
}

impl Verifier {
    /// Begins with the first byte.
    pub(super) fn new(options: &DecoderOptions) -> io::Result<Self> {
        let decoder = Decoder::new(options).map_err(io::Error::other)?;
        let room = vec![0; BUFFER_BYTES];
        Ok(Self {
            decoder,
            room,
            hasher: XxHash64::with_seed(0),
            bytes: 0,
            error: None,
        })
    }

    /// Takes what was written next.
    pub(super) fn feed(&mut self, mut input: &[u8]) {
        while self.error.is_none() {
            match self.decoder.push(input, &mut self.room) {
                Ok(step) => {
                    self.hasher.write(&self.room[..step.produced]);
                    self.bytes += step.produced as u64;
                    input = &input[step.consumed.min(input.len())..];
                    if step.consumed == 0 && step.produced == 0 {
                        return;
                    }
                }
                Err(error) => self.error = Some(error.to_string()),
            }
        }
    }

    /// XXH64 and number of bytes of the content, or why there is none.
    pub(super) fn finish(self) -> Result<(u64, u64), String> {
        match self.error {
            Some(error) => Err(error),
            None => match self.decoder.finish() {
                Ok(_) => Ok((self.hasher.finish(), self.bytes)),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}
