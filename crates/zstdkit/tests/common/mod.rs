//! Helpers shared by the tests: streams in given cuts, and frames made by hand.
#![allow(dead_code, reason = "every test binary uses some of it")]

pub(crate) mod flaky;
pub(crate) mod gate;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use zstdkit::{
    Decoder, DecoderOptions, Encoder, EncoderOptions, Error, Operation, State, Step, Totals,
};

/// Does this on another thread: where it waits for ever the test fails.
pub(crate) fn ends(work: impl FnOnce() + Send + 'static) {
    let (tell, told) = channel();
    let thread = std::thread::spawn(move || {
        work();
        let _ = tell.send(());
    });
    let ended = told.recv_timeout(Duration::from_secs(300));
    assert_ne!(ended, Err(RecvTimeoutError::Timeout), "it waits for ever");
    thread.join().unwrap();
}

/// The most a decoder may produce in a call.
pub(crate) const BLOCK: usize = 128 << 10;

/// Cuts of at least 1 byte, repeated endlessly.
pub(crate) fn cycle(cuts: &[usize]) -> impl Iterator<Item = usize> + '_ {
    cuts.iter().copied().cycle().map(|cut| cut.max(1))
}

/// Compresses `content` as one frame: input cut by `cuts`, output by `room`, flushed after the
/// pieces that `flush_after` names.
pub(crate) fn encode(
    encoder: &mut Encoder,
    content: &[u8],
    cuts: &[usize],
    room: usize,
    flush_after: &[usize],
) -> Result<Vec<u8>, Error> {
    let mut frame = Vec::new();
    let mut buffer = vec![0; room.max(1)];
    let mut rest = content;
    for (piece, cut) in cycle(cuts).enumerate() {
        let (input, after) = rest.split_at(cut.min(rest.len()));
        rest = after;
        let operation = match () {
            () if rest.is_empty() => Operation::End,
            () if flush_after.contains(&piece) => Operation::Flush,
            () => Operation::Continue,
        };
        let state = push_all(encoder, input, &mut buffer, operation, &mut frame)?;
        if operation == Operation::End {
            assert_eq!(state, State::Done);
            break;
        }
        assert_eq!(state, State::NeedInput);
    }
    Ok(frame)
}

/// Pushes until no work is left for this input and operation.
pub(crate) fn push_all(
    encoder: &mut Encoder,
    mut input: &[u8],
    buffer: &mut [u8],
    operation: Operation,
    frame: &mut Vec<u8>,
) -> Result<State, Error> {
    loop {
        let step = encoder.push(input, buffer, operation)?;
        assert!(step.consumed <= BLOCK.min(input.len()), "{step:?}");
        assert!(
            step.state == State::MoreOutput || step.consumed == input.len(),
            "input left behind: {step:?}"
        );
        assert!(
            step.consumed + step.produced > 0 || step.state != State::MoreOutput,
            "no progress: {step:?}"
        );
        input = &input[step.consumed..];
        frame.extend_from_slice(&buffer[..step.produced]);
        if step.state != State::MoreOutput {
            return Ok(step.state);
        }
    }
}

/// The result of decoding a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) content: Vec<u8>,
    pub(crate) result: Result<Totals, Error>,
}

/// Decodes a stream: input cut by `cuts`, output by `rooms`.
pub(crate) fn decode(
    options: &DecoderOptions,
    stream: &[u8],
    cuts: &[usize],
    rooms: &[usize],
) -> Decoded {
    let mut decoder = Decoder::new(options).unwrap();
    decode_with(&mut decoder, stream, cuts, rooms)
}

/// The same with a decoder that is reset first.
pub(crate) fn decode_with(
    decoder: &mut Decoder,
    stream: &[u8],
    cuts: &[usize],
    rooms: &[usize],
) -> Decoded {
    decoder.reset();
    let mut content = Vec::new();
    let mut rest = stream;
    let mut cuts = cycle(cuts);
    let mut rooms = cycle(rooms);
    let mut buffer = vec![0xaa; 1 << 20];
    let mut last = State::NeedInput;
    while !rest.is_empty() {
        let (mut input, after) = rest.split_at(cuts.next().unwrap().min(rest.len()));
        rest = after;
        loop {
            let room = rooms.next().unwrap().min(buffer.len());
            let step = match decoder.push(input, &mut buffer[..room]) {
                Ok(step) => step,
                Err(error) => {
                    assert_eq!(decoder.push(b"", &mut []), Err(error.clone()));
                    assert_eq!(decoder.finish(), Err(error.clone()));
                    return Decoded {
                        content,
                        result: Err(error),
                    };
                }
            };
            check_step(step, input.len(), room);
            content.extend_from_slice(&buffer[..step.produced]);
            input = &input[step.consumed..];
            last = step.state;
            if step.state != State::MoreOutput {
                break;
            }
        }
    }
    let result = decoder.finish();
    assert_eq!(last == State::Done, result.is_ok(), "{last:?} {result:?}");
    if let Ok(totals) = result {
        assert_eq!(totals.bytes_in, stream.len() as u64);
        assert_eq!(totals.bytes_out, content.len() as u64);
    }
    Decoded { content, result }
}

fn check_step(step: Step, input: usize, room: usize) {
    assert!(step.produced <= BLOCK.min(room), "{step:?}");
    assert!(step.consumed <= input, "{step:?}");
    match step.state {
        State::MoreOutput => assert!(step.consumed + step.produced > 0, "no progress: {step:?}"),
        State::NeedInput | State::Done => assert_eq!(step.consumed, input, "{step:?}"),
    }
}

/// One frame with default options but these.
pub(crate) fn frame(content: &[u8], options: &EncoderOptions) -> Vec<u8> {
    zstdkit::compress(content, options).unwrap()
}

/// A skippable frame.
pub(crate) fn skippable(variant: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = (0x184d_2a50_u32 + u32::from(variant))
        .to_le_bytes()
        .to_vec();
    frame.extend((payload.len() as u32).to_le_bytes());
    frame.extend(payload);
    frame
}

/// A block made by hand, for [`handmade`].
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Raw(Vec<u8>),
    Rle(u8, u32),
    /// A type, a size field and any bytes.
    Any(u32, u32, Vec<u8>),
}

/// The window of a handmade frame.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Window {
    /// The window descriptor byte.
    Descriptor(u8),
    SingleSegment,
}

/// A frame made by hand, with any content size and checksum.
pub(crate) fn handmade(
    window: Window,
    content_size: Option<u64>,
    checksum: Option<u32>,
    blocks: &[Block],
) -> Vec<u8> {
    let mut out = 0xfd2f_b528_u32.to_le_bytes().to_vec();
    // Content sizes are always written as eight bytes.
    let size_code = if content_size.is_some() { 3 << 6 } else { 0 };
    let single = matches!(window, Window::SingleSegment);
    out.push(size_code | u8::from(single) << 5 | u8::from(checksum.is_some()) << 2);
    if let Window::Descriptor(byte) = window {
        out.push(byte);
    }
    out.extend(content_size.map(u64::to_le_bytes).into_iter().flatten());
    for (at, block) in blocks.iter().enumerate() {
        let last = u32::from(at + 1 == blocks.len());
        let (kind, size, body) = match block {
            Block::Raw(bytes) => (0, bytes.len() as u32, bytes.clone()),
            Block::Rle(byte, size) => (1, *size, vec![*byte]),
            Block::Any(kind, size, bytes) => (*kind, *size, bytes.clone()),
        };
        out.extend(&(size << 3 | kind << 1 | last).to_le_bytes()[..3]);
        out.extend(body);
    }
    out.extend(checksum.map(u32::to_le_bytes).into_iter().flatten());
    out
}

pub(crate) fn xxh(content: &[u8]) -> u32 {
    twox_hash::XxHash64::oneshot(0, content) as u32
}

/// Text that compresses to about a third: words from a small vocabulary, without the `workload`
/// feature.
pub(crate) fn prose(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut out = Vec::with_capacity(bytes + 16);
    while out.len() < bytes {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let word = state >> 54;
        out.extend(format!("{:x}{} ", word * 2_654_435_761 % 65_521, word % 7).bytes());
    }
    out.truncate(bytes);
    out
}

/// Bytes that do not compress.
pub(crate) fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    (0..bytes)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        })
        .collect()
}
