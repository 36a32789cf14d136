//! What is written, decoded as it is written: the proof that it decompresses. What it is compared
//! with is the commands'.

use std::hash::Hasher;
use std::io;

use files::BUFFER_BYTES;
use files::sink::Check;
use twox_hash::XxHash64;
use zstdkit::{Decoder, DecoderOptions};

/// Decodes output as it is written and hashes the content.
#[derive(Debug)]
pub(crate) struct Verifier {
    decoder: Decoder,
    room: Vec<u8>,
    hasher: XxHash64,
    bytes: u64,
    error: Option<String>,
}

impl Verifier {
    /// Begins with the first byte.
    pub(crate) fn new(options: &DecoderOptions) -> io::Result<Self> {
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
}

impl Check for Verifier {
    fn feed(&mut self, mut input: &[u8]) {
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
    fn finish(self: Box<Self>) -> Result<(u64, u64), String> {
        match self.error {
            Some(error) => Err(error),
            None => match self.decoder.finish() {
                Ok(_) => Ok((self.hasher.finish(), self.bytes)),
                Err(error) => Err(error.to_string()),
            },
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
            let verifier = Verifier::new(&DecoderOptions::default()).expect("made");
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
