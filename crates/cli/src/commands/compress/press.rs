//! What compresses a frame: an encoder on this thread, or one whose waiting for worker threads is done
//! elsewhere. Which input it gets is in `stage`.

use zstdkit::parallel::OffloadedEncoder;
use zstdkit::{Encoder, EncoderOptions, Error, Operation, Step};

use crate::commands::transfer::WAIT_MAX;

/// An encoder of either kind.
pub(super) enum Press {
    /// Compresses in the call.
    Here(Box<Encoder>),
    /// Has worker threads.
    Elsewhere(Box<OffloadedEncoder>),
}

impl Press {
    pub(super) fn new(options: &EncoderOptions) -> Result<Self, Error> {
        Ok(match options.workers {
            0 => Self::Here(Box::new(Encoder::new(options)?)),
            _ => Self::Elsewhere(Box::new(OffloadedEncoder::new(options)?)),
        })
    }

    pub(super) fn begin(&mut self, pledged: Option<u64>) -> Result<(), Error> {
        match self {
            Self::Here(encoder) => encoder.begin(pledged),
            Self::Elsewhere(encoder) => encoder.begin(pledged),
        }
    }

    /// Begins a frame whose checksum the reading thread computes. Worker threads compute their own.
    pub(super) fn begin_external_checksum(&mut self, pledged: Option<u64>) -> Result<(), Error> {
        match self {
            Self::Here(encoder) => encoder.begin_external_checksum(pledged),
            Self::Elsewhere(encoder) => encoder.begin(pledged),
        }
    }

    pub(super) fn set_content_hash(&mut self, xxh64: u64) {
        if let Self::Here(encoder) = self {
            encoder.set_content_hash(xxh64);
        }
    }

    /// Goes on at this level, if there are worker threads.
    pub(super) fn set_level(&mut self, level: i32) {
        if let Self::Elsewhere(encoder) = self {
            encoder.set_level(level);
        }
    }

    /// One call of bounded time.
    pub(super) fn push(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        operation: Operation,
    ) -> Result<Step, Error> {
        match self {
            Self::Here(encoder) => encoder.push(input, output, operation),
            Self::Elsewhere(encoder) => encoder.push(input, output, operation, WAIT_MAX),
        }
    }
}
