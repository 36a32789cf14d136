//! One candidate's contexts: whole buffers, or streams in calls of at most a block, behind one face.
//! Nothing here reads a clock but for the calls of a stream.

use std::time::Instant;

use latency::Recorder;
use zstdkit::{
    Compressor, Decoder, DecoderOptions, Decompressor, Encoder, EncoderOptions, Error, Operation,
    State,
};

/// Input of one call of a stream: the largest block.
const CALL_BYTES: usize = 128 * 1024;

/// Room for a frame, and how much of it the frame takes.
#[derive(Debug, Default)]
pub(super) struct Frame {
    room: Vec<u8>,
    len: usize,
}

impl Frame {
    /// Room for whatever this much content can become.
    pub(super) fn with_room_for(content_bytes: usize) -> Self {
        Self {
            room: vec![0; zstdkit::compress_bound(content_bytes)],
            len: 0,
        }
    }

    /// A frame that exists already.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self {
            room: bytes.to_vec(),
            len: bytes.len(),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.room[..self.len]
    }
}

/// Compresses.
#[derive(Debug)]
pub(super) enum Press {
    Whole(Compressor),
    Stream(Encoder),
}

impl Press {
    pub(super) fn new(options: &EncoderOptions, streaming: bool) -> Result<Self, Error> {
        Ok(match streaming {
            true => Self::Stream(Encoder::new(options)?),
            false => Self::Whole(Compressor::new(options)?),
        })
    }

    /// Compresses `content` into `frame`; the calls of a stream go into `holds`.
    pub(super) fn run(
        &mut self,
        content: &[u8],
        frame: &mut Frame,
        holds: Option<&mut Recorder>,
    ) -> Result<(), Error> {
        frame.len = match self {
            Self::Whole(compressor) => compressor.compress_to_slice(content, &mut frame.room)?,
            Self::Stream(encoder) => encode(encoder, content, &mut frame.room, holds)?,
        };
        Ok(())
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        let bytes = match self {
            Self::Whole(compressor) => compressor.memory_bytes(),
            Self::Stream(encoder) => encoder.memory_bytes(),
        };
        bytes as u64
    }
}

/// Decompresses.
#[derive(Debug)]
pub(super) enum Unpress {
    Whole(Decompressor),
    Stream(Box<Decoder>),
}

impl Unpress {
    pub(super) fn new(options: &DecoderOptions, streaming: bool) -> Result<Self, Error> {
        Ok(match streaming {
            true => Self::Stream(Box::new(Decoder::new(options)?)),
            false => Self::Whole(Decompressor::new(options)?),
        })
    }

    /// Decompresses `frame` into `content`, whose length is that of the content from the second time
    /// on; the calls of a stream go into `holds`.
    pub(super) fn run(
        &mut self,
        frame: &[u8],
        content: &mut Vec<u8>,
        holds: Option<&mut Recorder>,
    ) -> Result<(), Error> {
        match self {
            Self::Whole(decompressor) => {
                decompressor.decompress_into(frame, content)?;
            }
            Self::Stream(decoder) => decode(decoder, frame, content, holds)?,
        }
        Ok(())
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        let bytes = match self {
            Self::Whole(decompressor) => decompressor.memory_bytes(),
            Self::Stream(decoder) => decoder.memory_bytes(),
        };
        bytes as u64
    }
}

/// A stream of unknown size through `encoder`; the length of the frame.
fn encode(
    encoder: &mut Encoder,
    content: &[u8],
    room: &mut [u8],
    mut holds: Option<&mut Recorder>,
) -> Result<usize, Error> {
    encoder.begin(None)?;
    let (mut rest, mut len) = (content, 0);
    loop {
        let (call, after) = rest.split_at(rest.len().min(CALL_BYTES));
        let operation = match after.is_empty() {
            true => Operation::End,
            false => Operation::Continue,
        };
        let output = &mut room[len..];
        let step = timed(&mut holds, || encoder.push(call, output, operation))?;
        rest = &rest[step.consumed..];
        len += step.produced;
        let stuck = step.consumed == 0 && step.produced == 0;
        if step.state == State::Done || stuck {
            return Ok(len);
        }
    }
}

/// All blocks of `frame` through `decoder`, straight into `content`.
fn decode(
    decoder: &mut Decoder,
    frame: &[u8],
    content: &mut Vec<u8>,
    mut holds: Option<&mut Recorder>,
) -> Result<(), Error> {
    decoder.reset();
    let (mut rest, mut len) = (frame, 0);
    loop {
        let output = &mut content[len..];
        let step = timed(&mut holds, || decoder.push(rest, output))?;
        rest = &rest[step.consumed..];
        len += step.produced;
        let more = step.state == State::MoreOutput;
        if rest.is_empty() && !more {
            break;
        }
        if step.consumed == 0 && step.produced == 0 {
            // Only the first time, when nobody knows how long the content is.
            content.resize(content.len() + CALL_BYTES, 0);
        }
    }
    content.truncate(len);
    decoder.finish().map(|_| ())
}

fn timed<T>(holds: &mut Option<&mut Recorder>, call: impl FnOnce() -> T) -> T {
    let Some(holds) = holds else {
        return call();
    };
    let start = Instant::now();
    let result = call();
    holds.record_span(start, Instant::now());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_and_whole_buffers_give_the_content_back_again_and_again() {
        let content = zstdkit::workload::generate(zstdkit::workload::Kind::Log, 1, 300_001);
        for streaming in [false, true] {
            let mut press = Press::new(&EncoderOptions::default(), streaming).expect("a press");
            let mut unpress = Unpress::new(&DecoderOptions::default(), streaming).expect("one");
            let mut frame = Frame::with_room_for(content.len());
            let mut back = Vec::new();
            for _ in 0..3 {
                press.run(&content, &mut frame, None).expect("compressed");
                unpress
                    .run(frame.bytes(), &mut back, None)
                    .expect("decompressed");
                assert!(back == content, "streaming: {streaming}");
                back.fill(0);
            }
            assert!(press.memory_bytes() > 0 && unpress.memory_bytes() > 0);
        }
    }
}
