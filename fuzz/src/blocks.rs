//! The decoder of blocks that shares frames between threads, beside libzstd.

use std::time::Duration;

use zstdkit::parallel::BlockDecoder;
use zstdkit::{Decoder, DecoderOptions, Error, ErrorKind, State, Totals};

use crate::plan::Plan;

const ROOM_BYTES: usize = 128 << 10;
const OUTPUT_LIMIT: u64 = 4 << 20;
const WAIT: Duration = Duration::from_millis(1);

/// Any bytes through both decoders: the same content and totals, or an error of the same kind at the same byte.
pub fn zstd_blocks(data: &[u8]) {
    let mut plan = Plan::new(data);
    let options = DecoderOptions::default()
        .with_window_log_max(10 + plan.below(14) as u32)
        .with_verify_checksum(plan.bit())
        .with_output_limit(OUTPUT_LIMIT);
    let cut = plan.size(1 << 16);
    let threads = 2 + plan.below(2);
    let stream = plan.rest();

    let (expected, end) = libzstd(stream, &options);
    let (found, found_end) = shared(stream, &options, cut, threads);
    match (&found_end, &end) {
        // The format forbids what libzstd accepts on some machines.
        (Err(error), _) if is_stricter(error) => {}
        // How much fits is counted in whole blocks.
        (Err(error), Err(_)) if error.kind() == ErrorKind::OutputLimit => {}
        (Err(_), Err(error)) if error.kind() == ErrorKind::OutputLimit => {}
        // A block that is wrong in two ways near the stated end of its frame: the first one found is named.
        (Err(error), Err(expected)) if is_of_block(error) && is_of_block(expected) => {}
        (Err(error), Err(expected)) => assert_eq!(
            (error.kind(), error.offset()),
            (expected.kind(), expected.offset()),
            "{error}, but libzstd: {expected}"
        ),
        (Ok(totals), Ok(expected)) => assert_eq!(totals, expected),
        (found, expected) => panic!("{found:?}, but libzstd: {expected:?}"),
    }
    let common = found.len().min(expected.len());
    assert!(found[..common] == expected[..common], "other content");
    assert!(found_end.is_err() || found.len() == expected.len());
}

/// Whether this is an error that libzstd finds only on some machines, or never.
fn is_stricter(error: &Error) -> bool {
    let text = error.to_string();
    text.contains("offset is larger than the window")
        || text.contains("literals do not end with their bit stream")
}

fn is_of_block(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Block | ErrorKind::ContentSize)
}

fn libzstd(stream: &[u8], options: &DecoderOptions) -> (Vec<u8>, Result<Totals, Error>) {
    let mut decoder = Decoder::new(options).expect("the options are within bounds");
    let (mut rest, mut room, mut content) = (stream, vec![0; ROOM_BYTES], Vec::new());
    loop {
        match decoder.push(rest, &mut room) {
            Err(error) => return (content, Err(error)),
            Ok(step) => {
                rest = &rest[step.consumed..];
                content.extend_from_slice(&room[..step.produced]);
                if step.state != State::MoreOutput {
                    return (content, decoder.finish());
                }
            }
        }
    }
}

fn shared(
    stream: &[u8],
    options: &DecoderOptions,
    cut: usize,
    threads: usize,
) -> (Vec<u8>, Result<Totals, Error>) {
    let decoder = BlockDecoder::new(options, threads).expect("the options are within bounds");
    let mut decoder = decoder.content_bytes_min(0);
    let (mut room, mut content) = (vec![0; ROOM_BYTES], Vec::new());
    for piece in stream.chunks(cut) {
        let mut rest = piece;
        loop {
            match decoder.push(rest, &mut room, WAIT) {
                Err(error) => return (content, Err(error)),
                Ok(step) => {
                    rest = &rest[step.consumed..];
                    content.extend_from_slice(&room[..step.produced]);
                    if step.state != State::MoreOutput {
                        break;
                    }
                }
            }
        }
    }
    (content, decoder.finish())
}
