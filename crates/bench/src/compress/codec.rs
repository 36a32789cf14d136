//! One candidate's contexts: whole buffers, or streams in calls of at most a block, behind one face.
//! Nothing here reads a clock but for the calls of a stream.

use std::time::Instant;

use latency::Recorder;
use zstdkit::{
    Compressor, Decoder, DecoderOptions, Decompressor, Encoder, EncoderOptions, Error, Operation,
    State,
};

use super::plan::Mode;

/// Input of one call of a stream, and what is flushed at a time: the largest block.
pub(crate) const CALL_BYTES: usize = 128 * 1024;

/// Room for a frame, and how much of it the frame takes.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    room: Vec<u8>,
    len: usize,
}

impl Frame {
    /// Room for whatever this much content can become.
    pub(crate) fn with_room_for(content_bytes: usize) -> Self {
        Self {
            room: vec![0; zstdkit::compress_bound(content_bytes)],
            len: 0,
        }
    }

    /// A frame that exists already.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self {
            room: bytes.to_vec(),
            len: bytes.len(),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.room[..self.len]
    }
}

/// Compresses.
#[derive(Debug)]
pub(crate) enum Press {
    Whole(Compressor),
    Stream(Encoder),
    Flushed(Encoder),
}

impl Press {
    pub(crate) fn new(options: &EncoderOptions, mode: Mode) -> Result<Self, Error> {
        Ok(match mode {
            Mode::Whole => Self::Whole(Compressor::new(options)?),
            Mode::Stream => Self::Stream(Encoder::new(options)?),
            Mode::Flushed => Self::Flushed(Encoder::new(options)?),
        })
    }

    /// Compresses `content` into `frame`; the calls of a stream, or its chunks with their flushes, go
    /// into `holds`.
    pub(crate) fn run(
        &mut self,
        content: &[u8],
        frame: &mut Frame,
        holds: Option<&mut Recorder>,
    ) -> Result<(), Error> {
        frame.len = match self {
            Self::Whole(compressor) => compressor.compress_to_slice(content, &mut frame.room)?,
            Self::Stream(encoder) => encode(encoder, content, &mut frame.room, holds)?,
            Self::Flushed(encoder) => encode_flushed(encoder, content, &mut frame.room, holds)?,
        };
        Ok(())
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        let bytes = match self {
            Self::Whole(compressor) => compressor.memory_bytes(),
            Self::Stream(encoder) | Self::Flushed(encoder) => encoder.memory_bytes(),
        };
        bytes as u64
    }
}

/// Decompresses.
#[derive(Debug)]
pub(crate) enum Unpress {
    Whole(Decompressor),
    Stream(Box<Decoder>),
    Flushed(Box<Decoder>),
}

impl Unpress {
    pub(crate) fn new(options: &DecoderOptions, mode: Mode) -> Result<Self, Error> {
        Ok(match mode {
            Mode::Whole => Self::Whole(Decompressor::new(options)?),
            Mode::Stream => Self::Stream(Box::new(Decoder::new(options)?)),
            Mode::Flushed => Self::Flushed(Box::new(Decoder::new(options)?)),
        })
    }

    /// Decompresses `frame` into `content`, whose length is that of the content from the second time
    /// on; the calls of a stream, or its chunks of content, go into `holds`.
    pub(crate) fn run(
        &mut self,
        frame: &[u8],
        content: &mut Vec<u8>,
        holds: Option<&mut Recorder>,
    ) -> Result<(), Error> {
        match self {
            Self::Whole(decompressor) => {
                decompressor.decompress_into(frame, content)?;
            }
            Self::Stream(decoder) => decode(decoder, frame, content, holds, 0)?,
            Self::Flushed(decoder) => decode(decoder, frame, content, holds, CALL_BYTES)?,
        }
        Ok(())
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        let bytes = match self {
            Self::Whole(decompressor) => decompressor.memory_bytes(),
            Self::Stream(decoder) | Self::Flushed(decoder) => decoder.memory_bytes(),
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

/// The same, flushed after every chunk: what was given so far can be decoded then. The last chunk
/// is timed with the end of the frame.
fn encode_flushed(
    encoder: &mut Encoder,
    content: &[u8],
    room: &mut [u8],
    mut holds: Option<&mut Recorder>,
) -> Result<usize, Error> {
    encoder.begin(None)?;
    let mut len = 0;
    for start in (0..content.len()).step_by(CALL_BYTES) {
        let end = content.len().min(start + CALL_BYTES);
        len += timed(&mut holds, || {
            let chunk = &content[start..end];
            let flushed = drive(encoder, chunk, &mut room[len..], Operation::Flush)?;
            if end < content.len() {
                return Ok(flushed);
            }
            let ended = drive(encoder, &[], &mut room[len + flushed..], Operation::End)?;
            Ok::<_, Error>(flushed + ended)
        })?;
    }
    Ok(len)
}

/// One operation until nothing is left of it; the bytes that it wrote.
fn drive(
    encoder: &mut Encoder,
    content: &[u8],
    room: &mut [u8],
    operation: Operation,
) -> Result<usize, Error> {
    let (mut rest, mut len) = (content, 0);
    loop {
        let step = encoder.push(rest, &mut room[len..], operation)?;
        rest = &rest[step.consumed..];
        len += step.produced;
        let stuck = step.consumed == 0 && step.produced == 0;
        if step.state != State::MoreOutput || stuck {
            return Ok(len);
        }
    }
}

/// All blocks of `frame` through `decoder`, straight into `content`; calls are timed together until
/// they have given `chunk_bytes`, one at least, or the frame is at its end.
pub(crate) fn decode(
    decoder: &mut Decoder,
    frame: &[u8],
    content: &mut Vec<u8>,
    mut holds: Option<&mut Recorder>,
    chunk_bytes: usize,
) -> Result<(), Error> {
    decoder.reset();
    let (mut rest, mut len) = (frame, 0);
    loop {
        let chunk_end = len + chunk_bytes;
        let more = timed(&mut holds, || {
            loop {
                let step = decoder.push(rest, &mut content[len..])?;
                rest = &rest[step.consumed..];
                len += step.produced;
                let stuck = step.consumed == 0 && step.produced == 0;
                let more = step.state == State::MoreOutput || !rest.is_empty();
                if !more || stuck || len >= chunk_end {
                    return Ok::<_, Error>((more, stuck));
                }
            }
        })?;
        match more {
            (false, _) => break,
            // Only the first time, when nobody knows how long the content is.
            (true, true) => content.resize(content.len() + CALL_BYTES, 0),
            (true, false) => {}
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
    fn every_chunk_is_flushed_and_is_one_entry() {
        use latency::{LatencyName, Spec};
        let content = zstdkit::workload::generate(zstdkit::workload::Kind::Log, 1, 300_001);
        let spec = Spec::new(LatencyName::Hold, "chunk");
        let mut holds = Recorder::new(spec, Instant::now());
        let mut press = Press::new(&EncoderOptions::default(), Mode::Flushed).expect("a press");
        let mut frame = Frame::with_room_for(content.len());
        press
            .run(&content, &mut frame, Some(&mut holds))
            .expect("compressed");
        assert_eq!(holds.n(), 3);
        // What a flush wrote last is a block of its own, so there is one more than chunks.
        let mut whole = Press::new(&EncoderOptions::default(), Mode::Stream).expect("a press");
        let mut plain = Frame::with_room_for(content.len());
        whole.run(&content, &mut plain, None).expect("compressed");
        assert!(frame.bytes().len() > plain.bytes().len());
    }

    #[test]
    fn streams_and_whole_buffers_give_the_content_back_again_and_again() {
        let content = zstdkit::workload::generate(zstdkit::workload::Kind::Log, 1, 300_001);
        for mode in [Mode::Whole, Mode::Stream, Mode::Flushed] {
            let mut press = Press::new(&EncoderOptions::default(), mode).expect("a press");
            let mut unpress = Unpress::new(&DecoderOptions::default(), mode).expect("one");
            let mut frame = Frame::with_room_for(content.len());
            let mut back = Vec::new();
            for _ in 0..3 {
                press.run(&content, &mut frame, None).expect("compressed");
                unpress
                    .run(frame.bytes(), &mut back, None)
                    .expect("decompressed");
                assert!(back == content, "{mode:?}");
                back.fill(0);
            }
            assert!(press.memory_bytes() > 0 && unpress.memory_bytes() > 0);
        }
    }
}
