//! Properties for any input: round trips over options, cuts and flushes; only typed errors from hostile
//! bytes; the same result in any cut.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{self, Block, Window, decode, encode, frame, handmade, skippable, xxh};
use proptest::prelude::*;
use zstdkit::{Decoder, DecoderOptions, Encoder, EncoderOptions, Error, frame as frames};

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        2 => prop::collection::vec(any::<u8>(), 0..3000),
        3 => (any::<u64>(), 0_usize..400_000).prop_map(|(seed, len)| common::prose(seed, len)),
        1 => (any::<u8>(), 0_usize..300_000).prop_map(|(byte, len)| vec![byte; len]),
    ]
}

fn options() -> impl Strategy<Value = EncoderOptions> {
    (
        prop_oneof![-50..=7_i32, Just(-131_072)],
        any::<bool>(),
        prop::option::of(10_u32..=20),
        prop::bool::weighted(0.1),
        any::<bool>(),
    )
        .prop_map(
            |(level, checksum, window_log, long_distance, content_size)| {
                EncoderOptions::default()
                    .with_level(level)
                    .with_checksum(checksum)
                    .with_window_log(window_log)
                    .with_long_distance(long_distance && window_log.is_some())
                    .with_content_size(content_size)
            },
        )
}

fn cuts(max: usize) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1_usize..20, 1..max, Just(max)], 1..6)
}

fn one_shot(stream: &[u8]) -> Result<Vec<u8>, Error> {
    zstdkit::decompress(stream, &DecoderOptions::default())
}

proptest! {

    #[test]
    fn round_trip(
        content in content(),
        options in options(),
        pledge in any::<bool>(),
        in_cuts in cuts(200_000),
        room in prop_oneof![1_usize..50, 1000_usize..200_000],
        flushes in prop::collection::vec(0_usize..6, 0..3),
        out_cuts in cuts(100_000),
        rooms in cuts(200_000),
    ) {
        let mut encoder = Encoder::new(&options).unwrap();
        // Tiny outputs for large contents take too long and show nothing new.
        let room = if content.len() > 20_000 { room.max(1000) } else { room };
        for _ in 0..2 {
            encoder.begin(pledge.then_some(content.len() as u64)).unwrap();
            let stream = encode(&mut encoder, &content, &in_cuts, room, &flushes).unwrap();
            let decoded = decode(&DecoderOptions::default(), &stream, &out_cuts, &rooms);
            let totals = decoded.result.unwrap();
            prop_assert!(decoded.content == content);
            prop_assert_eq!(totals.frames, 1);
            prop_assert_eq!(totals.checksums_verified, u64::from(options.checksum));
            prop_assert!(one_shot(&stream).unwrap() == content);
            let listed = frames::list(&stream).unwrap();
            prop_assert_eq!(listed.len(), 1);
            prop_assert_eq!(listed[0].has_checksum, options.checksum);
            prop_assert_eq!(listed[0].checksum, options.checksum.then(|| xxh(&content)));
            prop_assert!(listed[0].content_bound >= content.len() as u64);
            if pledge && options.content_size {
                prop_assert_eq!(listed[0].content_size, Some(content.len() as u64));
            }
            if let Some(size) = listed[0].content_size {
                prop_assert_eq!(size, content.len() as u64);
                prop_assert!(options.content_size);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_cuts_agree(
        mut bytes in prop::collection::vec(any::<u8>(), 0..2000),
        magic in any::<bool>(),
        cut in cuts(2000),
        rooms in cuts(5000),
    ) {
        if magic && bytes.len() >= 4 {
            bytes[..4].copy_from_slice(&0xfd2f_b528_u32.to_le_bytes());
        }
        agree(&bytes, &cut, &rooms)?;
    }

    #[test]
    fn mutated_streams_never_panic_and_never_pass_for_right(
        contents in prop::collection::vec(content(), 1..4),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
        cut in cuts(50_000),
        rooms in cuts(200_000),
    ) {
        let mut stream = Vec::new();
        for content in &contents {
            stream.extend(frame(content, &EncoderOptions::default()));
        }
        for (at, mask) in flips {
            let at = at.index(stream.len());
            stream[at] ^= mask;
        }
        let expected = contents.concat();
        let decoded = agree(&stream, &cut, &rooms)?;
        // A frame may become a skippable one or lose its checksum flag. Content that was verified is
        // right.
        if let Ok(totals) = decoded.result {
            if totals.checksums_verified == contents.len() as u64 {
                prop_assert!(decoded.content == expected);
            }
        }
    }

    #[test]
    fn handmade_blocks_agree_at_every_cut(
        blocks in prop::collection::vec(block(), 1..6),
        window in prop_oneof![
            (0_u8..80).prop_map(Window::Descriptor),
            Just(Window::SingleSegment),
        ],
        size in prop_oneof![
            3 => Just(None), 3 => Just(Some(0)), 1 => (0_u64..400).prop_map(Some)
        ],
        checksum in prop::option::of(Just(0)),
        cut in cuts(300),
        rooms in cuts(500),
    ) {
        let mut content = Vec::new();
        for block in &blocks {
            match block {
                Block::Raw(bytes) => content.extend(bytes),
                Block::Rle(byte, size) => content.extend(vec![*byte; *size as usize]),
                Block::Any(..) => {}
            }
        }
        // Zero stands for the true size and the true checksum.
        let size = size.map(|size| if size == 0 { content.len() as u64 } else { size });
        let checksum = checksum.map(|_| xxh(&content));
        let stream = handmade(window, size, checksum, &blocks);
        agree(&stream, &cut, &rooms)?;
    }

    #[test]
    fn scanner_agrees_with_decoder(
        contents in prop::collection::vec((content(), options()), 1..4),
        payload in prop::collection::vec(any::<u8>(), 0..50),
        variant in 0_u8..16,
        cut in cuts(10_000),
    ) {
        let mut stream = skippable(variant, &payload);
        let mut starts = vec![(0, 0)];
        for (content, options) in &contents {
            starts.push((stream.len() as u64, content.len() as u64));
            stream.extend(frame(content, options));
        }
        let listed = frames::list(&stream).unwrap();
        prop_assert_eq!(listed.len(), starts.len());
        prop_assert_eq!(listed[0].kind, frames::FrameKind::Skippable { variant });
        for (frame, (start, size)) in listed.iter().zip(&starts) {
            prop_assert_eq!(frame.offset, *start);
            prop_assert!(frame.content_bound >= *size);
            prop_assert!(frame.content_size.is_none_or(|stated| stated == *size));
        }
        prop_assert_eq!(scan(&stream, &cut), Ok(listed));
        let decoded = decode(&DecoderOptions::default(), &stream, &cut, &[200_000]);
        prop_assert_eq!(decoded.result.unwrap().frames, contents.len() as u64);
    }
}

proptest! {
    #[test]
    fn limits_agree_at_every_cut(
        contents in prop::collection::vec((content(), any::<bool>()), 1..4),
        blocks in prop::collection::vec(block(), 1..6),
        stated in prop::option::of(0_u64..3000),
        output in 0_u64..5000,
        relative in any::<bool>(),
        window_log_max in 10_u32..27,
        memory in prop::option::of(0_u64..1_000_000),
        verify_checksum in any::<bool>(),
        cut in cuts(3000),
        rooms in cuts(200_000),
    ) {
        let mut stream = Vec::new();
        let mut total = 0;
        for (content, content_size) in &contents {
            let options = EncoderOptions::default().with_content_size(*content_size);
            stream.extend(frame(content, &options));
            total += content.len() as u64;
        }
        stream.extend(handmade(Window::Descriptor(8), stated, Some(0), &blocks));
        let options = DecoderOptions::default().with_window_log_max(window_log_max).with_memory_limit(memory).with_verify_checksum(verify_checksum).with_output_limit(if relative { (total + 1000).saturating_sub(output) } else { output });
        let whole = decode(&options, &stream, &[usize::MAX], &[1 << 20]);
        let pieces = decode(&options, &stream, &cut, &rooms);
        prop_assert_eq!(&whole.result, &pieces.result);
        let one_shot = zstdkit::decompress(&stream, &options);
        prop_assert_eq!(one_shot.map(|_| ()), whole.result.map(|_| ()));
        prop_assert!(options.output_limit >= Some(pieces.content.len() as u64));
        prop_assert!(options.output_limit >= Some(whole.content.len() as u64));
    }
}

/// Every bit of small frames, one at a time, alone and after a larger frame, whose window libzstd
/// keeps: few bytes decide everything here, and random mutations seldom meet all of them.
#[test]
fn each_flipped_bit_of_small_frames_gives_the_same_answer_at_every_cut() {
    let larger = frame(&[0; 2999], &EncoderOptions::default());
    for len in [0, 1, 256, 300, 2999] {
        for before in [&[][..], &larger] {
            let stream = [before, &frame(&vec![0; len], &EncoderOptions::default())].concat();
            for at in before.len()..stream.len() {
                for bit in 0..8 {
                    let mut stream = stream.clone();
                    stream[at] ^= 1 << bit;
                    let agreed = agree(&stream, &[1], &[1]);
                    assert!(
                        agreed.is_ok(),
                        "{len} bytes after {}, bit {bit} of byte {at}: {agreed:?}",
                        before.len()
                    );
                }
            }
        }
    }
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..100).prop_map(Block::Raw),
        (any::<u8>(), 0_u32..2000).prop_map(|(byte, size)| Block::Rle(byte, size)),
        (0_u32..4, prop::collection::vec(any::<u8>(), 0..20)).prop_map(|(kind, bytes)| Block::Any(
            kind,
            bytes.len() as u32,
            bytes
        )),
    ]
}

fn scan(stream: &[u8], cuts: &[usize]) -> Result<Vec<frames::FrameInfo>, Error> {
    let mut scanner = frames::Scanner::new();
    let mut found = Vec::new();
    let mut rest = stream;
    let mut cuts = common::cycle(cuts);
    while !rest.is_empty() {
        let (mut input, after) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
        rest = after;
        while !input.is_empty() {
            let (taken, frame) = scanner.push(input)?;
            input = &input[taken..];
            found.extend(frame);
        }
    }
    assert_eq!(scanner.finish()?, found.len() as u64);
    Ok(found)
}

/// Decodes a stream in different cuts and in one call, and checks that all agree.
fn agree(stream: &[u8], cut: &[usize], rooms: &[usize]) -> Result<common::Decoded, TestCaseError> {
    let options = DecoderOptions::default().with_output_limit(4 << 20);
    let whole = decode(&options, stream, &[usize::MAX], &[1 << 20]);
    let pieces = decode(&options, stream, cut, rooms);
    prop_assert_eq!(&whole.result, &pieces.result);
    prop_assert!(pieces.content.starts_with(&whole.content) || whole.result.is_err());
    let one_shot = zstdkit::decompress(stream, &options);
    prop_assert_eq!(
        one_shot.as_ref().map(|_| ()).map_err(Clone::clone),
        whole.result.clone().map(|_| ())
    );
    if let Ok(content) = one_shot {
        prop_assert!(content == whole.content && content == pieces.content);
    }
    if let Err(ref error) = whole.result {
        prop_assert!(
            error
                .offset()
                .is_none_or(|offset| offset <= stream.len() as u64)
        );
        prop_assert!(!error.to_string().contains('\n'));
    }
    // What the decoder accepts, libzstd decodes to the same.
    if whole.result.is_ok() {
        let mut content = Vec::with_capacity(whole.content.len());
        let reference = zstd_safe::DCtx::create().decompress(&mut content, stream);
        prop_assert_eq!(reference, Ok(whole.content.len()));
        prop_assert!(content == whole.content);
    }
    // What the decoder accepts, the scanner lists.
    let listed = scan(stream, cut);
    prop_assert_eq!(&listed, &frames::list(stream));
    if let Ok(totals) = whole.result {
        let listed = listed.unwrap();
        prop_assert_eq!(listed.len() as u64, totals.frames + totals.skippable_frames);
    }
    // A decoder works like a new one after a reset.
    let mut used = Decoder::new(&options).unwrap();
    let first = common::decode_with(&mut used, stream, cut, rooms);
    prop_assert_eq!(&common::decode_with(&mut used, stream, cut, rooms), &first);
    let good = frame(b"still works", &EncoderOptions::default());
    prop_assert_eq!(
        common::decode_with(&mut used, &good, cut, rooms).content,
        b"still works"
    );
    Ok(whole)
}
