//! Bodies of the zstd targets: the decoder and the scanner on hostile bytes, and the encoder
//! over every way of cutting its input and output.

use zstdkit::frame::{self, FrameInfo, FrameKind, Scanner};
use zstdkit::{
    Decoder, DecoderOptions, Encoder, EncoderOptions, Error, ErrorKind, Operation, State, Totals,
};

use crate::plan::Plan;

/// What one call of a decoder may produce at most: a block.
pub(crate) const BLOCK_BYTES: usize = 128 << 10;

/// What a test may decode at most; a few bytes can stand for any number of zeros.
const OUTPUT_LIMIT: u64 = 8 << 20;

/// Any bytes through the decoder, in two ways of cutting them. It keeps to its limits, each call
/// does something and is bounded, and the cut changes neither content nor error.
pub fn zstd_decode(data: &[u8]) {
    let mut plan = Plan::new(data);
    let options = DecoderOptions::default()
        .with_window_log_max(10 + plan.below(14) as u32)
        .with_memory_limit(plan.bit().then_some(1 << 22))
        .with_verify_checksum(plan.bit())
        .with_output_limit(OUTPUT_LIMIT >> plan.below(16));
    let cut = plan.size(BLOCK_BYTES);
    let room = plan.size(2 * BLOCK_BYTES);
    let stream = plan.rest();

    let (small, small_end) = decode(stream, &options, cut, room);
    let (whole, whole_end) = decode(stream, &options, stream.len().max(1), 2 * BLOCK_BYTES);
    assert_eq!(small_end, whole_end, "the cut changed how it ended");
    let common = small.len().min(whole.len());
    assert!(
        small[..common] == whole[..common],
        "the cut changed the content"
    );

    if let Ok(totals) = small_end {
        assert_eq!(small.len(), whole.len());
        assert_eq!(totals.bytes_in, stream.len() as u64);
        assert_eq!(totals.bytes_out, small.len() as u64);
        let frames = frame::list(stream).expect("what decodes can be listed");
        check_frames(&frames, stream.len(), &totals);
        let once = zstdkit::decompress(stream, &options).expect("what streams decodes at once");
        assert!(once == small, "one call and many disagree");
    }
}

/// Decodes in pieces of `cut` bytes into buffers of `room`.
pub(crate) fn decode(
    stream: &[u8],
    options: &DecoderOptions,
    cut: usize,
    room: usize,
) -> (Vec<u8>, Result<Totals, Error>) {
    let mut decoder = Decoder::new(options).expect("the options are within bounds");
    let mut buffer = vec![0; room];
    let mut content = Vec::new();
    for piece in stream.chunks(cut) {
        let mut input = piece;
        loop {
            let step = match decoder.push(input, &mut buffer) {
                Ok(step) => step,
                Err(error) => {
                    check_error(&error, stream.len());
                    assert_eq!(decoder.push(input, &mut buffer), Err(error.clone()));
                    assert_eq!(decoder.finish(), Err(error.clone()));
                    return (content, Err(error));
                }
            };
            assert!(
                step.produced <= BLOCK_BYTES,
                "a call produced {} bytes",
                step.produced
            );
            assert!(
                step.consumed > 0 || step.produced > 0 || step.state != State::MoreOutput,
                "a call did nothing and wants to be called again"
            );
            content.extend_from_slice(&buffer[..step.produced]);
            let limit = options.output_limit.unwrap_or(u64::MAX);
            assert!(content.len() as u64 <= limit, "more output than the limit");
            input = &input[step.consumed..];
            if step.state != State::MoreOutput {
                assert!(
                    input.is_empty(),
                    "input was left and no more output was announced"
                );
                break;
            }
        }
    }
    let end = decoder.finish();
    if let Err(error) = &end {
        check_error(error, stream.len());
    }
    (content, end)
}

/// An error names a byte of the stream, in one line.
pub(crate) fn check_error(error: &Error, length: usize) {
    assert_ne!(error.kind(), ErrorKind::Internal, "{error}");
    if let Some(offset) = error.offset() {
        assert!(
            offset <= length as u64,
            "{error}: beyond the {length} bytes of the stream"
        );
    }
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
}

/// Frames lie one behind the other and agree with what was decoded.
fn check_frames(frames: &[FrameInfo], length: usize, totals: &Totals) {
    let mut offset = 0;
    for frame in frames {
        assert_eq!(frame.offset, offset);
        assert!(frame.compressed_bytes >= 8, "{frame:?}");
        assert!(frame.kind != FrameKind::Zstd || frame.has_checksum == frame.checksum.is_some());
        offset += frame.compressed_bytes;
    }
    assert_eq!(offset, length as u64, "the frames do not fill the stream");
    let zstd = frames.iter().filter(|frame| frame.kind == FrameKind::Zstd);
    assert_eq!(zstd.clone().count() as u64, totals.frames);
    assert_eq!(frames.len() as u64, totals.frames + totals.skippable_frames);
    let stated: Option<u64> = zstd.clone().map(|frame| frame.content_size).sum();
    assert!(stated.is_none_or(|bytes| bytes == totals.bytes_out));
    let bound = zstd.fold(0_u64, |sum, frame| sum.saturating_add(frame.content_bound));
    assert!(bound >= totals.bytes_out, "content beyond its bound");
}

/// Any bytes through the scanner: the same frames and the same error however the bytes are cut.
pub fn zstd_scan(data: &[u8]) {
    let mut plan = Plan::new(data);
    let cut = plan.size(1 << 16);
    let stream = plan.rest();

    let mut scanner = Scanner::new();
    let mut found = Vec::new();
    let mut failure = None;
    'pieces: for piece in stream.chunks(cut) {
        let mut input = piece;
        while !input.is_empty() {
            match scanner.push(input) {
                Ok((taken, frame)) => {
                    assert!(taken > 0, "a call took nothing of {} bytes", input.len());
                    input = &input[taken..];
                    found.extend(frame);
                }
                Err(error) => {
                    check_error(&error, stream.len());
                    failure = Some(error);
                    break 'pieces;
                }
            }
        }
    }
    let end = match failure {
        Some(error) => Err(error),
        None => scanner.finish(),
    };
    let whole: Vec<Result<FrameInfo, Error>> = frame::frames(stream).collect();
    let listed: Vec<FrameInfo> = whole.iter().filter_map(|item| item.clone().ok()).collect();
    let listed_end = whole.into_iter().find_map(Result::err);
    assert_eq!(found, listed, "the cut changed the frames");
    assert_eq!(
        end.clone().err(),
        listed_end,
        "the cut changed how it ended"
    );
    match end {
        Ok(count) => assert_eq!(count, found.len() as u64),
        Err(error) => check_error(&error, stream.len()),
    }
}

/// Content through the encoder by a plan of parameters, pieces, rooms and flushes, several frames
/// over one encoder, and back. What a flush has written decodes to all that was given before it.
pub fn zstd_roundtrip(data: &[u8]) {
    let mut plan = Plan::new(data);
    let options = encoder_options(&mut plan);
    let mut encoder = Encoder::new(&options).expect("the options are within bounds");
    let mut stream = Vec::new();
    let mut content = Vec::new();
    let frames = 1 + plan.below(3);
    for _ in 0..frames {
        let piece = write_content(&mut plan);
        encode(&mut encoder, &mut plan, &piece, &content, &mut stream);
        content.extend_from_slice(&piece);
    }

    let listed = frame::list(&stream).expect("what was encoded can be listed");
    assert_eq!(listed.len(), frames);
    assert!(
        listed
            .iter()
            .all(|frame| frame.has_checksum == options.checksum)
    );
    let limits = DecoderOptions::default().with_window_log_max(31);
    let (decoded, end) = decode(&stream, &limits, plan.size(1 << 16), plan.size(1 << 18));
    let totals = end.expect("what was encoded decodes");
    assert!(decoded == content, "another content came back");
    assert_eq!(
        totals.checksums_verified,
        if options.checksum { frames as u64 } else { 0 }
    );
    check_frames(&listed, stream.len(), &totals);
}

pub(crate) fn encoder_options(plan: &mut Plan<'_>) -> EncoderOptions {
    EncoderOptions::default()
        // The slow levels allocate much and find little in an input of a few kilobytes.
        .with_level([-7, -1, 0, 1, 2, 3, 5, 7, 9, 13][plan.below(10)])
        .with_checksum(plan.bit())
        .with_window_log(10 + plan.below(9) as u32)
        .with_long_distance(plan.below(8) == 1)
        // Threads are slow to start: only now and then.
        .with_workers(u32::from(plan.below(64) == 1))
        .with_overlap_log(plan.bit().then(|| plan.below(10) as u32))
        .with_content_size(plan.bit())
}

/// Content with runs and repeats, so that few bytes of plan make matches, literals and raw blocks.
pub(crate) fn write_content(plan: &mut Plan<'_>) -> Vec<u8> {
    const MOST: usize = 1 << 16;
    let mut content: Vec<u8> = Vec::new();
    for _ in 0..1 + plan.below(12) {
        match plan.below(4) {
            0 => {
                let count = plan.below(256);
                content.extend_from_slice(plan.take(count));
            }
            1 => {
                let (byte, count) = (plan.byte(), plan.size(MOST));
                content.resize(content.len() + count, byte);
            }
            2 => {
                let start = plan.size(content.len().max(1)) - 1;
                let end = content.len().min(start + plan.size(MOST));
                content.extend_from_within(start.min(end)..end);
            }
            _ => {
                let (mut state, count) = (u64::from(plan.byte()) | 1, plan.size(MOST / 4));
                content.extend((0..count).map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    (state >> 56) as u8
                }));
            }
        }
        content.truncate(MOST);
    }
    content
}

fn encode(
    encoder: &mut Encoder,
    plan: &mut Plan<'_>,
    content: &[u8],
    before: &[u8],
    stream: &mut Vec<u8>,
) {
    let known = plan.bit();
    encoder
        .begin(known.then_some(content.len() as u64))
        .expect("a frame begins");
    let mut buffer = vec![0; plan.size(1 << 17)];
    let mut taken = 0;
    while taken < content.len() && !plan.is_empty() {
        let size = plan.size(content.len() - taken);
        let flush = plan.below(4) == 0;
        let operation = if flush {
            Operation::Flush
        } else {
            Operation::Continue
        };
        drive(
            encoder,
            &content[taken..taken + size],
            &mut buffer,
            operation,
            stream,
        );
        taken += size;
        if flush && stream.len() < 1 << 14 {
            let limits = DecoderOptions::default().with_window_log_max(31);
            let (decoded, _) = decode(stream, &limits, stream.len().max(1), 2 * BLOCK_BYTES);
            let flushed = before.len() + taken;
            assert_eq!(decoded.len(), flushed, "a flush held something back");
            assert!(decoded[before.len()..] == content[..taken]);
        }
    }
    drive(
        encoder,
        &content[taken..],
        &mut buffer,
        Operation::End,
        stream,
    );
    assert_eq!(
        encoder
            .push(&[], &mut buffer, Operation::End)
            .map(|step| step.produced),
        Ok(0)
    );
}

/// Gives one piece to the encoder until it has taken it and written what the operation asks for.
fn drive(
    encoder: &mut Encoder,
    piece: &[u8],
    buffer: &mut [u8],
    operation: Operation,
    stream: &mut Vec<u8>,
) {
    let mut rest = piece;
    // With worker threads a call may find nothing to do yet; it must not be so for ever.
    let mut idle = 0;
    loop {
        let step = encoder
            .push(rest, buffer, operation)
            .expect("encoding goes on");
        rest = &rest[step.consumed..];
        stream.extend_from_slice(&buffer[..step.produced]);
        idle = if step.consumed + step.produced == 0 {
            idle + 1
        } else {
            0
        };
        assert!(
            idle < 10_000,
            "the encoder does nothing and wants to be called again"
        );
        match step.state {
            State::MoreOutput => {}
            State::NeedInput => {
                assert!(operation != Operation::End && rest.is_empty());
                return;
            }
            State::Done => {
                assert!(operation == Operation::End && rest.is_empty());
                return;
            }
        }
    }
}
