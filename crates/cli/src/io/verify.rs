//! What is written, decoded as it is written: the proof that it decompresses. What it is compared
//! with is the commands'.

use std::hash::Hasher;
use std::io;

use files::BUFFER_BYTES;
use files::sink::Check;
use twox_hash::XxHash64;
use zipstream::gzip::GzipDecoder;
use zstdkit::{Decoder, DecoderOptions};

use crate::commands::formats::Format;
use crate::commands::formats::unpack::Unpacker;

/// The most memory for the dictionary of what was just written.
const DICTIONARY_BYTES: u64 = 1 << 30;

/// Decodes output as it is written and hashes the content.
pub(crate) struct Verifier {
    decoder: Of,
    room: Vec<u8>,
    hasher: XxHash64,
    bytes: u64,
    error: Option<String>,
}

enum Of {
    Zstd(Box<Decoder>),
    Gzip(Box<GzipDecoder>),
    Other(Box<Unpacker>),
}

impl Of {
    /// Bytes consumed and produced.
    fn push(&mut self, input: &[u8], room: &mut [u8]) -> Result<(usize, usize), String> {
        match self {
            Self::Zstd(decoder) => {
                let step = decoder.push(input, room);
                step.map(|step| (step.consumed, step.produced))
                    .map_err(|error| error.to_string())
            }
            Self::Gzip(decoder) => {
                let step = decoder.read(input, room);
                step.map(|step| (step.consumed, step.produced))
                    .map_err(|error| error.to_string())
            }
            Self::Other(decoder) => {
                let step = decoder.push(input, room, false);
                step.map(|step| (step.consumed, step.produced))
                    .map_err(|fault| format!("{fault:?}"))
            }
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        match self {
            Self::Zstd(decoder) => decoder
                .finish()
                .map(drop)
                .map_err(|error| error.to_string()),
            Self::Gzip(decoder) => decoder
                .finish()
                .map(drop)
                .map_err(|error| error.to_string()),
            Self::Other(decoder) => decoder
                .finish()
                .map(drop)
                .map_err(|fault| format!("{fault:?}")),
        }
    }
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verifier")
            .field("bytes", &self.bytes)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl Verifier {
    /// Begins with the first byte.
    pub(crate) fn new(format: Format, options: &DecoderOptions) -> io::Result<Self> {
        let decoder = match format {
            Format::Zstd => Of::Zstd(Box::new(Decoder::new(options).map_err(io::Error::other)?)),
            Format::Gzip => Of::Gzip(Box::default()),
            other => Of::Other(Box::new(Unpacker::new(other, DICTIONARY_BYTES))),
        };
        let room = vec![0; BUFFER_BYTES];
        Ok(Self {
            decoder,
            room,
            hasher: XxHash64::with_seed(0),
            bytes: 0,
            error: None,
        })
    }
}

impl Check for Verifier {
    fn feed(&mut self, mut input: &[u8]) {
        while self.error.is_none() {
            match self.decoder.push(input, &mut self.room) {
                Ok((consumed, produced)) => {
                    self.hasher.write(&self.room[..produced]);
                    self.bytes += produced as u64;
                    input = &input[consumed.min(input.len())..];
                    if consumed == 0 && produced == 0 {
                        return;
                    }
                }
                Err(error) => self.error = Some(error),
            }
        }
    }

    /// XXH64 and number of bytes of the content, or why there is none.
    fn finish(mut self: Box<Self>) -> Result<(u64, u64), String> {
        if let Of::Other(decoder) = &mut self.decoder
            && self.error.is_none()
        {
            // Only now is it known that no more follows.
            while let Ok(step) = decoder.push(&[], &mut self.room, true)
                && step.produced > 0
            {
                self.hasher.write(&self.room[..step.produced]);
                self.bytes += step.produced as u64;
            }
        }
        match self.error {
            Some(error) => Err(error),
            None => self
                .decoder
                .finish()
                .map(|()| (self.hasher.finish(), self.bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use files::sink::{Sink, SinkOptions};

    use super::*;

    #[test]
    fn verification_tells_a_good_frame_from_a_bad_one() {
        let content = b"some content, some content, some content".repeat(1000);
        let frame = zstdkit::compress(&content, &zstdkit::EncoderOptions::default()).expect("ok");
        let write = |frame: &[u8]| {
            let verifier = Verifier::new(Format::Zstd, &DecoderOptions::default()).expect("made");
            let options = SinkOptions {
                check: Some(Box::new(verifier)),
                ..SinkOptions::default()
            };
            let mut sink = Sink::start(None, options, None).expect("started");
            sink.give(Box::new(frame.to_vec())).expect("given");
            sink.finish().expect("finished").0
        };
        let written = write(&frame);
        let hash = XxHash64::oneshot(0, &content);
        assert_eq!(written.verified, Some(Ok((hash, content.len() as u64))));
        let written = write(&frame[..frame.len() - 2]);
        assert!(matches!(written.verified, Some(Err(_))));
    }
}
