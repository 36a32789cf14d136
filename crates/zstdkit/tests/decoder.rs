//! The decoder: the same result in any cut, and for every kind of corruption the right kind of error at
//! the right byte.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{
    self, BLOCK, Block, Decoded, Window, decode, frame, handmade, prose, skippable, xxh,
};
use zstdkit::{Decoder, DecoderOptions, EncoderOptions, Error, ErrorKind, State, Totals};

fn default() -> DecoderOptions {
    DecoderOptions::default()
}

fn whole(stream: &[u8]) -> Decoded {
    decode(&default(), stream, &[usize::MAX], &[1 << 20])
}

fn failure(stream: &[u8]) -> Error {
    whole(stream).result.unwrap_err()
}

/// Several frames of every shape, about 1,400 bytes.
fn small_stream() -> (Vec<u8>, Vec<u8>) {
    let text = prose(4, 900);
    let no_size = EncoderOptions::default().with_content_size(false);
    let no_check = EncoderOptions::default().with_checksum(false);
    let blocks = [
        Block::Raw(b"raw block".to_vec()),
        Block::Rle(b'=', 500),
        Block::Raw(Vec::new()),
        Block::Rle(b'!', 0),
        Block::Raw(b"end".to_vec()),
    ];
    let by_hand = [&b"raw block"[..], &[b'='; 500], b"end"].concat();
    let stream = [
        frame(&text, &EncoderOptions::default()),
        skippable(3, b"between"),
        frame(b"", &EncoderOptions::default()),
        frame(&text[..300], &no_size),
        frame(&[7; 1000], &no_check),
        skippable(0, b""),
        handmade(Window::Descriptor(0), None, None, &blocks),
        handmade(
            Window::Descriptor(0),
            Some(512),
            Some(xxh(&by_hand)),
            &blocks,
        ),
        handmade(Window::SingleSegment, Some(512), None, &blocks),
    ]
    .concat();
    let content = [
        &text[..],
        &text[..300],
        &[7; 1000],
        &by_hand,
        &by_hand,
        &by_hand,
    ]
    .concat();
    (stream, content)
}

#[test]
fn every_cut_gives_the_same() {
    let (stream, content) = small_stream();
    let expected = whole(&stream);
    assert!(expected.content == content);
    let totals = expected.result.clone().unwrap();
    assert_eq!(
        (
            totals.frames,
            totals.skippable_frames,
            totals.checksums_verified
        ),
        (7, 2, 4)
    );
    for at in 1..stream.len() {
        assert_eq!(
            decode(&default(), &stream, &[at, usize::MAX], &[1 << 20]),
            expected,
            "{at}"
        );
    }
    for cut in [1, 2, 3, 4, 5, 7, 64] {
        for room in [1, 2, 3, 100, 1000] {
            assert_eq!(
                decode(&default(), &stream, &[cut], &[room]),
                expected,
                "{cut} {room}"
            );
        }
    }
}

#[test]
fn truncated_at_every_byte() {
    let (stream, content) = small_stream();
    let ends: Vec<u64> = zstdkit::frame::list(&stream)
        .unwrap()
        .iter()
        .map(|frame| frame.offset + frame.compressed_bytes)
        .collect();
    for at in 0..stream.len() {
        for cuts in [&[usize::MAX][..], &[1]] {
            let found = decode(&default(), &stream[..at], cuts, &[1 << 20]);
            assert!(content.starts_with(&found.content));
            match found.result {
                Ok(totals) => {
                    assert!(ends.contains(&(at as u64)), "accepted {at} bytes");
                    assert_eq!(totals.bytes_in, at as u64);
                }
                Err(error) if at == 0 => assert!(error.is_no_frame()),
                Err(error) => {
                    assert!(!ends.contains(&(at as u64)), "refused {at} bytes: {error}");
                    assert_eq!(error.kind(), ErrorKind::Truncated, "{error}");
                    assert_eq!(error.offset(), Some(at as u64), "{error}");
                    assert_eq!(zstdkit::decompress(&stream[..at], &default()), Err(error));
                }
            }
        }
    }
}

#[test]
fn truncation_says_inside_what() {
    let mut stream = skippable(1, b"12345");
    stream.extend(handmade(
        Window::Descriptor(0),
        None,
        Some(0),
        &[Block::Raw(b"abc".to_vec())],
    ));
    let text = |at: usize| failure(&stream[..at]).to_string();
    assert_eq!(
        text(3),
        "unexpected end of input at byte 3, inside the frame header at byte 0"
    );
    assert_eq!(
        text(9),
        "unexpected end of input at byte 9, inside the skippable frame at byte 0"
    );
    assert_eq!(
        text(18),
        "unexpected end of input at byte 18, inside the frame header at byte 13"
    );
    assert_eq!(
        text(19),
        "unexpected end of input at byte 19, inside the block header at byte 19"
    );
    assert_eq!(
        text(24),
        "unexpected end of input at byte 24, inside the block at byte 19"
    );
    assert_eq!(
        text(26),
        "unexpected end of input at byte 26, inside the frame checksum at byte 25"
    );
    assert_eq!(
        failure(&stream[..26]).help(),
        Some("the file is truncated: download or copy it again")
    );
}

#[test]
fn a_flipped_bit_is_an_error_or_harmless() {
    let content = prose(9, 700);
    for options in [
        EncoderOptions::default(),
        EncoderOptions::default().with_content_size(false),
    ] {
        let stream = frame(&content, &options);
        for at in 0..stream.len() {
            for bit in 0..8 {
                let mut bad = stream.clone();
                bad[at] ^= 1 << bit;
                let found = whole(&bad);
                // Clearing the checksum flag leaves the checksum behind as trailing data.
                assert!(
                    found.result.is_err() || found.content == content,
                    "bit {bit} of byte {at}"
                );
                let pieces = decode(&default(), &bad, &[3], &[10]);
                assert_eq!(found.result, pieces.result, "bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn checksums_are_compared_and_both_values_shown() {
    let content = prose(9, 300_000);
    let mut stream = frame(&content, &EncoderOptions::default());
    let at = stream.len() - 4;
    let computed = xxh(&content);
    stream[at] ^= 0xff;
    let error = failure(&stream);
    assert_eq!(error.kind(), ErrorKind::Checksum);
    assert_eq!(error.offset(), Some(at as u64));
    assert_eq!(
        error.to_string(),
        format!(
            "frame checksum mismatch at byte {at} (stored {:08x}, computed {computed:08x})",
            computed ^ 0xff
        )
    );
    let lax = default().with_verify_checksum(false);
    let found = decode(&lax, &stream, &[1000], &[1 << 20]);
    assert!(found.content == content);
    assert_eq!(found.result.unwrap().checksums_verified, 0);
    assert!(zstdkit::decompress(&stream, &lax).unwrap() == content);
    // The decoder can be used again.
    let mut decoder = Decoder::new(&default()).unwrap();
    assert!(
        common::decode_with(&mut decoder, &stream, &[9999], &[100_000])
            .result
            .is_err()
    );
    stream[at] ^= 0xff;
    let found = common::decode_with(&mut decoder, &stream, &[9999], &[100_000]);
    assert_eq!(found.result.unwrap().checksums_verified, 1);
}

#[test]
fn what_is_not_a_frame_is_placed() {
    for (bytes, text, help) in [
        (
            &b"\x1f\x8b\x08\x00"[..],
            "not a zstd frame at byte 0 (found 1f8b0800)",
            Some("gzip"),
        ),
        (
            b"PK\x03\x04....",
            "not a zstd frame at byte 0 (found 504b0304)",
            Some("ZIP"),
        ),
        (
            b"hello world",
            "not a zstd frame at byte 0 (found 68656c6c)",
            None,
        ),
        (b"h", "not a zstd frame at byte 0 (found 68)", None),
        (
            b"\x28\xb5\x2e",
            "not a zstd frame at byte 0 (found 28b52e)",
            None,
        ),
    ] {
        let error = failure(bytes);
        assert_eq!(
            (error.kind(), error.offset()),
            (ErrorKind::NotZstd, Some(0))
        );
        assert_eq!(error.to_string(), text);
        assert_eq!(error.help().is_some(), help.is_some());
        assert!(help.is_none_or(|help| error.help().unwrap().contains(help)));
    }
    let mut stream = frame(b"abc", &EncoderOptions::default());
    let end = stream.len() as u64;
    for garbage in [&b"\n"[..], b"\0\0", b"garbage that goes on"] {
        stream.truncate(end as usize);
        stream.extend(garbage);
        let found = whole(&stream);
        assert_eq!(found.content, b"abc");
        let error = found.result.unwrap_err();
        assert_eq!(
            (error.kind(), error.offset()),
            (ErrorKind::TrailingData, Some(end))
        );
        assert!(
            error
                .to_string()
                .starts_with("data after the last frame at byte "),
            "{error}"
        );
    }
}

#[test]
fn legacy_frames_are_refused_by_name() {
    for (magic, version) in [
        (0x1eb5_2ffd_u32, 1),
        (0xfd2f_b522, 2),
        (0xfd2f_b525, 5),
        (0xfd2f_b527, 7),
    ] {
        let error = failure(&magic.to_le_bytes());
        assert_eq!(error.kind(), ErrorKind::LegacyFormat);
        assert_eq!(
            error.to_string(),
            format!("unsupported legacy format: zstd 0.{version} frame at byte 0")
        );
    }
}

#[test]
fn dictionaries_are_asked_for_by_id() {
    // Descriptor 1: a one-byte dictionary id; then the window, the id, and an empty raw block.
    let stream = [0x28, 0xb5, 0x2f, 0xfd, 0x01, 0x00, 0x2a, 0x01, 0x00, 0x00];
    let error = failure(&stream);
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::Dictionary, Some(0))
    );
    assert_eq!(error.to_string(), "frame at byte 0 needs dictionary 42");
}

#[test]
fn reserved_header_bit_is_refused() {
    let stream = [0x28, 0xb5, 0x2f, 0xfd, 0x08, 0x00, 0x01, 0x00, 0x00];
    assert_eq!(failure(&stream).kind(), ErrorKind::FrameHeader);
}

#[test]
fn oversized_windows_are_refused_before_they_are_allocated() {
    let block = [Block::Raw(b"x".to_vec())];
    // The largest window of the format; 128 MiB and an eighth; 4 GiB in one segment.
    for stream in [
        handmade(Window::Descriptor(0xff), None, None, &block),
        handmade(Window::Descriptor(17 << 3 | 1), None, None, &block),
        handmade(Window::SingleSegment, Some(4 << 30), None, &block),
    ] {
        let mut decoder = Decoder::new(&default()).unwrap();
        let before = decoder.memory_bytes();
        let error = decoder.push(&stream, &mut [0; 100]).unwrap_err();
        assert_eq!(
            (error.kind(), error.offset()),
            (ErrorKind::WindowLimit, Some(0))
        );
        assert!(
            error.to_string().ends_with("the limit is 134217728"),
            "{error}"
        );
        assert_eq!(decoder.memory_bytes(), before);
    }
    // At the limit it is accepted, and a lower limit refuses it.
    let stream = handmade(Window::Descriptor(10 << 3), None, None, &block);
    let limit = |window_log_max| default().with_window_log_max(window_log_max);
    assert_eq!(decode(&limit(20), &stream, &[100], &[100]).content, b"x");
    let refused = decode(&limit(19), &stream, &[100], &[100]);
    assert_eq!(refused.result.unwrap_err().kind(), ErrorKind::WindowLimit);
    for out in [9, 32] {
        assert_eq!(
            Decoder::new(&limit(out)).unwrap_err().kind(),
            ErrorKind::Parameter
        );
    }
}

#[test]
fn memory_limit_is_kept_and_enough_is_enough() {
    let content = prose(3, 3 << 20);
    let options = EncoderOptions::default().with_content_size(false);
    let stream = frame(&content, &options);
    let need = zstdkit::frame::list(&stream).unwrap()[0].decoder_bytes;
    let fresh = Decoder::new(&default()).unwrap().memory_bytes() as u64;
    let limit = |bytes| default().with_memory_limit(bytes);

    let mut decoder = Decoder::new(&limit(need)).unwrap();
    let error = decoder.push(&stream, &mut [0; 100]).unwrap_err();
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::MemoryLimit, Some(0))
    );
    assert_eq!(decoder.memory_bytes() as u64, fresh);
    let refused = zstdkit::decompress(&stream, &limit(need)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::MemoryLimit);

    let refused = decode(&limit(need + fresh - 1), &stream, &[4096], &[1 << 17]);
    assert_eq!(refused.result.unwrap_err().kind(), ErrorKind::MemoryLimit);
    let mut decoder = Decoder::new(&limit(need + fresh)).unwrap();
    let found = common::decode_with(&mut decoder, &stream, &[4096], &[1 << 17]);
    assert!(found.content == content);
    assert!(decoder.memory_bytes() as u64 <= need + fresh);
    // The predicted memory is what libzstd takes.
    assert_eq!(decoder.memory_bytes() as u64, need + fresh);
}

#[test]
fn output_limit_is_exact_and_nothing_passes_it() {
    let content = prose(3, 300_000);
    for content_size in [false, true] {
        let options = EncoderOptions::default().with_content_size(content_size);
        let stream = [frame(&content[..1000], &options), frame(&content, &options)].concat();
        for (limit, fits) in [(301_000, true), (300_999, false), (1000, false), (0, false)] {
            let options = default().with_output_limit(limit);
            for (cuts, rooms) in [
                (&[usize::MAX][..], &[1 << 20][..]),
                (&[777], &[1 << 20]),
                (&[10_000], &[999]),
            ] {
                let found = decode(&options, &stream, cuts, rooms);
                assert!(found.content.len() as u64 <= limit);
                match found.result {
                    Ok(totals) => assert!(fits && totals.bytes_out == limit),
                    Err(error) => {
                        assert!(!fits, "{error}");
                        assert_eq!(error.kind(), ErrorKind::OutputLimit);
                    }
                }
            }
            assert_eq!(zstdkit::decompress(&stream, &options).is_ok(), fits);
        }
    }
}

#[test]
fn bombs_stop_at_the_limit() {
    let zeros = vec![0; 50 << 20];
    let stream = frame(&zeros, &EncoderOptions::default().with_content_size(false));
    assert!(stream.len() < 10_000);
    let options = default().with_output_limit(1 << 20);
    let found = decode(&options, &stream, &[usize::MAX], &[1 << 20]);
    assert_eq!(found.content.len(), 1 << 20);
    assert_eq!(found.result.unwrap_err().kind(), ErrorKind::OutputLimit);
}

#[test]
fn content_size_is_compared_with_the_content() {
    let blocks = [Block::Raw(vec![1; 60]), Block::Raw(vec![2; 60])];
    for window in [Window::Descriptor(0), Window::SingleSegment] {
        for (stated, text) in [
            (
                130,
                "wrong content size in frame at byte 13: stated 130 bytes, found 120",
            ),
            (
                100,
                "wrong content size in frame at byte 13: stated 100 bytes, found more than 100",
            ),
            (
                60,
                "wrong content size in frame at byte 13: stated 60 bytes, found more than 60",
            ),
        ] {
            let mut stream = skippable(0, b"first");
            stream.extend(handmade(window, Some(stated), None, &blocks));
            for (cut, room) in [(usize::MAX, 1 << 20), (1, 1 << 20), (50, 7), (1, 1)] {
                let error = decode(&default(), &stream, &[cut], &[room])
                    .result
                    .unwrap_err();
                assert_eq!(
                    (error.kind(), error.offset()),
                    (ErrorKind::ContentSize, Some(13))
                );
                assert_eq!(error.to_string(), text);
            }
            let error = zstdkit::decompress(&stream, &default()).unwrap_err();
            assert_eq!(error.to_string(), text);
        }
        let good = handmade(window, Some(120), None, &blocks);
        assert_eq!(whole(&good).content.len(), 120);
    }
    // The same for a frame of compressed blocks whose header was tampered with.
    let content = prose(8, 300_000);
    let mut stream = frame(&content, &EncoderOptions::default());
    assert_eq!(stream[5..9], 300_000_u32.to_le_bytes());
    stream[5..9].copy_from_slice(&310_000_u32.to_le_bytes());
    let error = failure(&stream);
    assert_eq!(
        error.to_string(),
        "wrong content size in frame at byte 0: stated 310000 bytes, found 300000"
    );
}

#[test]
fn bad_blocks_are_placed_at_their_header() {
    let good = Block::Raw(vec![5; 10]);
    for (block, text) in [
        (
            Block::Any(3, 5, vec![0; 5]),
            "corrupt block at byte 19 (reserved block type)",
        ),
        (
            Block::Any(0, 1025, vec![0; 1025]),
            "corrupt block at byte 19 (size 1025 exceeds the frame's maximum of 1024)",
        ),
        (
            Block::Rle(9, 2_000_000),
            "corrupt block at byte 19 (size 2000000 exceeds the frame's maximum of 1024)",
        ),
        (
            Block::Any(2, 0, vec![]),
            "corrupt block at byte 19 (empty compressed block)",
        ),
        (
            Block::Any(2, 9, vec![0xfc; 9]),
            "corrupt block at byte 19 (data corruption detected)",
        ),
        (
            Block::Any(2, 9, vec![0xff; 9]),
            "corrupt block at byte 19 (refers to tables that were never defined)",
        ),
    ] {
        let blocks = [good.clone(), block, good.clone()];
        let stream = handmade(Window::Descriptor(0), None, None, &blocks);
        for cut in [usize::MAX, 1] {
            let found = decode(&default(), &stream, &[cut], &[1000]);
            assert_eq!(found.content, [5; 10]);
            let error = found.result.unwrap_err();
            assert_eq!((error.kind(), error.offset()), (ErrorKind::Block, Some(19)));
            assert_eq!(error.to_string(), text);
        }
        assert_eq!(
            zstdkit::decompress(&stream, &default())
                .unwrap_err()
                .to_string(),
            text
        );
    }
}

#[test]
fn a_repeated_byte_in_a_frame_without_content_is_refused_everywhere() {
    let stream = handmade(Window::SingleSegment, Some(0), None, &[Block::Rle(7, 0)]);
    for cut in [usize::MAX, 1] {
        let error = decode(&default(), &stream, &[cut], &[10])
            .result
            .unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Block, Some(13)));
        assert_eq!(zstdkit::decompress(&stream, &default()), Err(error.clone()));
        assert_eq!(zstdkit::frame::list(&stream), Err(error));
    }
}

#[test]
fn a_call_decodes_at_most_a_block() {
    let content = prose(3, 10 * BLOCK);
    let stream = frame(&content, &EncoderOptions::default());
    let blocks = zstdkit::frame::list(&stream).unwrap()[0].blocks;
    let mut decoder = Decoder::new(&default()).unwrap();
    let (mut input, mut buffer, mut calls) = (&stream[..], vec![0; 1 << 20], 0);
    while !input.is_empty() {
        let step = decoder.push(input, &mut buffer).unwrap();
        input = &input[step.consumed..];
        assert!(step.produced <= BLOCK);
        calls += 1;
        // Each call ends where a block ends: the next starts with a block header or is the end.
        let left = zstdkit::frame::list(&stream).unwrap()[0].blocks - calls;
        assert_eq!(left == 0, input.is_empty());
    }
    assert_eq!(calls, blocks);

    // Empty blocks and small ones are blocks too.
    let many = vec![Block::Rle(0, 1000); 500];
    let stream = handmade(Window::Descriptor(0), None, None, &many);
    let mut calls = 0;
    let (mut input, mut decoder) = (&stream[..], Decoder::new(&default()).unwrap());
    while !input.is_empty() {
        input = &input[decoder.push(input, &mut buffer).unwrap().consumed..];
        calls += 1;
    }
    assert_eq!(calls, 500);
}

#[test]
fn no_room_and_no_input_are_waited_out() {
    let content = prose(3, 5000);
    let stream = frame(&content, &EncoderOptions::default());
    let mut decoder = Decoder::new(&default()).unwrap();
    for _ in 0..100 {
        let step = decoder.push(b"", &mut [0; 10]).unwrap();
        assert_eq!(
            (step.consumed, step.produced, step.state),
            (0, 0, State::NeedInput)
        );
    }
    let step = decoder.push(&stream, &mut []).unwrap();
    assert_eq!(step.state, State::MoreOutput);
    for _ in 0..100 {
        let again = decoder.push(&stream[step.consumed..], &mut []).unwrap();
        assert_eq!((again.produced, again.state), (0, State::MoreOutput));
    }
    assert_eq!(decoder.finish().unwrap_err().kind(), ErrorKind::Undrained);
    let mut buffer = vec![0; 10_000];
    let last = decoder.push(&stream[step.consumed..], &mut buffer).unwrap();
    assert_eq!((last.produced, last.state), (5000, State::Done));
    assert_eq!(decoder.finish().unwrap().bytes_out, 5000);
    for _ in 0..100 {
        let step = decoder.push(b"", &mut buffer).unwrap();
        assert_eq!(
            (step.consumed, step.produced, step.state),
            (0, 0, State::Done)
        );
    }
}

#[test]
fn an_exactly_full_output_needs_no_further_call() {
    let content = prose(3, 5000);
    let stream = frame(&content, &EncoderOptions::default());
    let mut decoder = Decoder::new(&default()).unwrap();
    let mut buffer = vec![0; 5000];
    let (first, rest) = stream.split_at(stream.len() / 2);
    assert_eq!(
        decoder.push(first, &mut buffer).unwrap().state,
        State::NeedInput
    );
    let step = decoder.push(rest, &mut buffer).unwrap();
    assert_eq!((step.produced, step.state), (5000, State::Done));
}

#[test]
fn empty_input_is_no_frame_and_skippable_frames_are_enough() {
    let error = failure(b"");
    assert!(error.is_no_frame());
    assert_eq!(error.kind(), ErrorKind::NoFrame);
    assert_eq!(error.to_string(), "unexpected end of input: no frame");
    let found = whole(&skippable(15, b"abc"));
    assert_eq!(found.content, b"");
    assert_eq!(found.result.unwrap().skippable_frames, 1);
}

#[test]
fn totals_count_while_decoding() {
    let stream = frame(b"abc", &EncoderOptions::default());
    let mut decoder = Decoder::new(&default()).unwrap();
    assert_eq!(decoder.totals(), Totals::default());
    let step = decoder.push(&stream[..5], &mut [0; 10]).unwrap();
    assert_eq!(step.state, State::NeedInput);
    assert_eq!(decoder.totals().bytes_in, 5);
    decoder.reset();
    assert_eq!(decoder.totals(), Totals::default());
}
