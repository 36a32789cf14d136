//! The decoder that shares frames between threads, compared with libzstd: the same content, the same totals, an
//! error of the same kind at the same byte.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use proptest::prelude::*;
use zstdkit::parallel::BlockDecoder;
use zstdkit::{
    Decoder, DecoderOptions, Dictionary, EncoderOptions, Error, ErrorKind, State, Totals,
};

use crate::common::{self, Block, Window, cycle, handmade, noise, prose, skippable};

/// How long a call may wait for threads.
const WAIT: Duration = Duration::from_millis(1);

struct Shared {
    content: Vec<u8>,
    result: Result<Totals, Error>,
    frames: u64,
}

/// Decodes a stream, sharing all frames.
fn shared(
    options: &DecoderOptions,
    threads: usize,
    stream: &[u8],
    cuts: &[usize],
    room: usize,
) -> Shared {
    let mut decoder = BlockDecoder::new(options, threads)
        .unwrap()
        .content_bytes_min(0);
    let mut room = vec![0; room.max(1)];
    let mut content = Vec::new();
    let (mut rest, mut cuts) = (stream, cycle(cuts));
    let mut failed = None;
    while failed.is_none() && !rest.is_empty() {
        let (mut input, after) = rest.split_at(cuts.next().unwrap().min(rest.len()));
        rest = after;
        loop {
            match decoder.push(input, &mut room, WAIT) {
                Err(error) => {
                    assert_eq!(decoder.push(&[], &mut room, WAIT), Err(error.clone()));
                    failed = Some(error);
                    break;
                }
                Ok(step) => {
                    content.extend_from_slice(&room[..step.produced]);
                    input = &input[step.consumed..];
                    assert_eq!(content.len() as u64, decoder.totals().bytes_out);
                    if step.state != State::MoreOutput {
                        assert!(input.is_empty());
                        break;
                    }
                }
            }
        }
    }
    let result = failed.map_or_else(|| decoder.finish(), Err);
    Shared {
        content,
        result,
        frames: decoder.shared_frames(),
    }
}

/// Decodes a stream both ways. Returns the content if there is no error.
fn agree(
    options: &DecoderOptions,
    threads: usize,
    stream: &[u8],
    cuts: &[usize],
) -> Option<Vec<u8>> {
    let found = shared(options, threads, stream, cuts, 70_000);
    let mut decoder = Decoder::new(options).unwrap();
    let expected = common::decode_with(&mut decoder, stream, &[stream.len()], &[1 << 17]);
    match (&found.result, &expected.result) {
        (Ok(totals), Ok(expected)) => assert_eq!(totals, expected),
        // libzstd accepts more than the format allows, and may find something else later.
        (Err(error), _) if is_stricter(error) => {}
        // A block that is wrong in two ways near the stated end of its frame: the first one found is named.
        (Err(error), Err(expected)) if is_of_block(error) && is_of_block(expected) => {}
        (Err(error), Err(expected)) => {
            assert_eq!(error.kind(), expected.kind(), "{error} {expected}");
            assert_eq!(error.offset(), expected.offset(), "{error} {expected}");
        }
        (Err(error), Ok(_)) => panic!("refused: {error}"),
        (Ok(_), Err(error)) => panic!("accepted in spite of: {error}"),
    }
    let common = found.content.len().min(expected.content.len());
    assert!(found.content[..common] == expected.content[..common]);
    if found.result.is_ok() {
        assert_eq!(found.content.len(), expected.content.len());
    }
    found.result.is_ok().then_some(found.content)
}

/// Whether this is one of the two errors that libzstd may not find.
fn is_stricter(error: &Error) -> bool {
    let text = error.to_string();
    text.contains("offset is larger than the window")
        || text.contains("literals do not end with their bit stream")
}

fn is_of_block(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Block | ErrorKind::ContentSize)
}

/// Data of many kinds, one after the other.
fn mixed(seed: u64, bytes: usize) -> Vec<u8> {
    let mut all = Vec::new();
    for turn in 0.. {
        let seed = seed.wrapping_mul(31).wrapping_add(turn);
        let len = 1 + (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 46) as usize;
        match seed % 6 {
            0 => all.extend(prose(seed, len)),
            1 => all.extend(noise(seed, len)),
            2 => all.resize(all.len() + len, seed as u8),
            3 => {
                let from = all.len() - all.len().min(len * 3);
                all.extend_from_within(from..all.len().min(from + len));
            }
            4 => all.extend((0..len).map(|at| (at * at / 32) as u8 & 0x1f)),
            _ => all.extend(noise(seed, len).iter().map(|byte| byte & 7)),
        }
        if all.len() >= bytes {
            break;
        }
    }
    all.truncate(bytes);
    all
}

#[test]
fn frames_of_all_levels_and_sizes() {
    let options = DecoderOptions::default();
    for (bytes, level) in [
        (0, 1),
        (1, 1),
        (30, 19),
        (300, 3),
        (5_000, 1),
        (40_000, 22),
        (131_072, 3),
        (131_073, 5),
        (400_000, 1),
        (900_000, 4),
        (900_000, 7),
        (1_500_000, 13),
        (900_000, 19),
        (3_000_000, 2),
        (900_000, -5),
        (2_000_000, 9),
    ] {
        let content = mixed((bytes as u64).wrapping_add(level as u64), bytes);
        for unsized_frame in [false, true] {
            let encoder = EncoderOptions::default()
                .with_level(level)
                .with_content_size(!unsized_frame)
                .with_checksum(unsized_frame);
            let frame = common::frame(&content, &encoder);
            for threads in [2, 3] {
                let found = agree(&options, threads, &frame, &[frame.len()]).unwrap();
                assert!(found == content, "{bytes} bytes, level {level}");
            }
        }
    }
}

#[test]
fn every_frame_is_shared_if_asked_for() {
    let content = mixed(5, 700_000);
    let frame = common::frame(&content, &EncoderOptions::default());
    let stream = [&frame[..], &skippable(3, b"between"), &frame].concat();
    let found = shared(&DecoderOptions::default(), 2, &stream, &[1000], 1 << 17);
    assert_eq!(
        found
            .result
            .map(|totals| (totals.frames, totals.skippable_frames)),
        Ok((2, 1))
    );
    assert_eq!(found.frames, 2);
    assert!(found.content == content.repeat(2));
}

#[test]
fn small_frames_and_single_threads_are_left_to_libzstd() {
    let stream = common::frame(&mixed(5, 700_000), &EncoderOptions::default());
    let large = common::frame(&mixed(5, 1_100_000), &EncoderOptions::default());
    for (stream, threads, frames) in [(&stream, 2, 0), (&large, 2, 1), (&large, 1, 0)] {
        let mut decoder = BlockDecoder::new(&DecoderOptions::default(), threads).unwrap();
        let (mut rest, mut room) = (&stream[..], vec![0; 1 << 17]);
        while !rest.is_empty() || !decoder.at_boundary() {
            rest = &rest[decoder.push(rest, &mut room, WAIT).unwrap().consumed..];
        }
        assert_eq!(decoder.shared_frames(), frames);
        assert_eq!(decoder.threads() > 0, frames > 0);
    }
}

#[test]
fn dictionaries_with_tables_and_of_raw_content() {
    let records: Vec<Vec<u8>> = (0..400).map(|seed| prose(seed, 700)).collect();
    let samples: Vec<&[u8]> = records.iter().map(|record| &record[..]).collect();
    let trained = zstdkit::dictionary::train(&samples, 16 << 10).unwrap();
    let raw = Dictionary::new(mixed(8, 50_000)).unwrap();
    for dictionary in [Dictionary::new(trained.bytes()).unwrap(), raw] {
        let options = DecoderOptions::default().with_dictionaries([dictionary.clone()]);
        for (bytes, level) in [(200, 3), (3_000, 19), (60_000, 1), (700_000, 6)] {
            let mut content = dictionary.bytes()[dictionary.bytes().len() / 2..].to_vec();
            content.extend(prose(2, bytes));
            let encoder = EncoderOptions::default()
                .with_level(level)
                .with_dictionary(dictionary.clone());
            let frame = common::frame(&content, &encoder);
            assert!(agree(&options, 2, &frame, &[frame.len()]).unwrap() == content);
            let small = encoder.with_window_log(10);
            let frame = common::frame(&content, &small);
            assert!(agree(&options, 2, &frame, &[frame.len()]).unwrap() == content);
        }
    }
}

#[test]
fn limits_are_kept() {
    let content = mixed(3, 1_000_000);
    let frame = common::frame(&content, &EncoderOptions::default());
    let limit = |bytes| DecoderOptions::default().with_output_limit(bytes);
    assert!(agree(&limit(1_000_000), 2, &frame, &[frame.len()]).is_some());
    let found = shared(&limit(999_999), 2, &frame, &[frame.len()], 1 << 17);
    assert_eq!(found.result.unwrap_err().kind(), ErrorKind::OutputLimit);
    // Without room for blocks in flight libzstd decodes the frame.
    let tight = DecoderOptions::default().with_memory_limit(3 << 20);
    let found = shared(&tight, 2, &frame, &[frame.len()], 1 << 17);
    assert_eq!((found.result.is_ok(), found.frames), (true, 0));
}

#[test]
fn a_frame_that_is_abandoned_leaves_nothing_behind() {
    let content = mixed(4, 2_000_000);
    let frame = common::frame(&content, &EncoderOptions::default());
    let mut decoder = BlockDecoder::new(&DecoderOptions::default(), 3).unwrap();
    let mut room = vec![0; 1 << 17];
    for turn in 0..20 {
        let mut rest = &frame[..frame.len() / 20 * turn];
        while !rest.is_empty() {
            rest = &rest[decoder
                .push(rest, &mut room, Duration::ZERO)
                .unwrap()
                .consumed..];
        }
        decoder.reset();
    }
    let mut found = Vec::new();
    let mut rest = &frame[..];
    loop {
        let step = decoder.push(rest, &mut room, WAIT).unwrap();
        rest = &rest[step.consumed..];
        found.extend_from_slice(&room[..step.produced]);
        if step.state == State::Done {
            break;
        }
    }
    assert!(found == content);
    assert_eq!(decoder.finish().unwrap().bytes_in, frame.len() as u64);
}

#[test]
fn truncated_at_any_byte() {
    let frame = common::frame(
        &mixed(6, 300_000),
        &EncoderOptions::default().with_checksum(true),
    );
    for len in (0..frame.len()).step_by(frame.len() / 150 + 1) {
        agree(&DecoderOptions::default(), 2, &frame[..len], &[len.max(1)]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn streams_agree_in_any_cut(
        seed in any::<u64>(),
        bytes in 0_usize..600_000,
        level in 1_i32..20,
        window_log in proptest::option::of(10_u32..22),
        block in proptest::option::of(1_u32 << 10..1 << 17),
        flags in any::<[bool; 3]>(),
        cuts in proptest::collection::vec(1_usize..100_000, 1..6),
        threads in 2_usize..5,
    ) {
        let content = mixed(seed, bytes);
        let encoder = EncoderOptions::default()
            .with_level(level)
            .with_window_log(window_log)
            .with_block_bytes_max(block)
            .with_checksum(flags[0])
            .with_content_size(flags[1])
            .with_long_distance(flags[2]);
        let frame = common::frame(&content, &encoder);
        let found = agree(&DecoderOptions::default(), threads, &frame, &cuts);
        prop_assert!(found.as_ref() == Some(&content));
    }

    #[test]
    fn mutated_frames_agree(
        seed in any::<u64>(),
        bytes in 1_usize..60_000,
        level in 1_i32..20,
        window_log in 10_u32..20,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let encoder = EncoderOptions::default()
            .with_level(level)
            .with_content_size(seed % 2 == 0)
            .with_window_log(window_log);
        let mut frame = common::frame(&mixed(seed, bytes), &encoder);
        for (at, byte) in changes {
            let at = at.index(frame.len());
            frame[at] ^= byte;
        }
        agree(&DecoderOptions::default().with_output_limit(1 << 22), 2, &frame, &[frame.len()]);
    }

    #[test]
    fn handmade_blocks_agree(
        blocks in proptest::collection::vec(block(), 0..8),
        descriptor in 0_u8..80,
        cuts in proptest::collection::vec(1_usize..3_000, 1..4),
    ) {
        let stream = handmade(Window::Descriptor(descriptor), None, None, &blocks);
        agree(&DecoderOptions::default(), 2, &stream, &cuts);
    }
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        (any::<u64>(), 0_usize..3_000).prop_map(|(seed, len)| Block::Raw(noise(seed, len))),
        (any::<u8>(), 0_u32..140_000).prop_map(|(byte, len)| Block::Rle(byte, len)),
        proptest::collection::vec(any::<u8>(), 0..300).prop_map(|bytes| Block::Any(
            2,
            bytes.len() as u32,
            bytes
        )),
    ]
}
