//! Listing frames: every field, at any cut, without trusting anything.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{Block, Window, frame, handmade, noise, prose, skippable, xxh};
use zstdkit::frame::{FrameKind, Scanner, frames, list};
use zstdkit::{EncoderOptions, ErrorKind};

#[test]
fn fields_of_handmade_frames() {
    let blocks = [
        Block::Raw(vec![1; 30]),
        Block::Rle(2, 40),
        Block::Any(2, 6, vec![0; 6]),
        Block::Raw(vec![]),
    ];
    let first = handmade(
        Window::Descriptor(1 << 3 | 2),
        Some(99),
        Some(0xdead_beef),
        &blocks,
    );
    let middle = skippable(9, b"four");
    let last = handmade(Window::SingleSegment, Some(70), None, &blocks[..2]);
    let stream = [&first[..], &middle, &last].concat();
    let found = list(&stream).unwrap();
    assert_eq!(found.len(), 3);

    let info = &found[0];
    assert_eq!(
        (info.offset, info.compressed_bytes),
        (0, first.len() as u64)
    );
    assert_eq!(
        (info.kind, info.content_size, info.single_segment),
        (FrameKind::Zstd, Some(99), false)
    );
    assert_eq!(info.window_bytes, 2048 + 2 * 256);
    assert_eq!(
        (info.has_checksum, info.checksum),
        (true, Some(0xdead_beef))
    );
    assert_eq!(info.blocks, 4);
    let counts = info.block_counts;
    assert_eq!((counts.raw, counts.rle, counts.compressed), (2, 1, 1));
    // A compressed block can hold no more than the window.
    assert_eq!(info.content_bound, 30 + 40 + 2560);

    let info = &found[1];
    assert_eq!(
        (info.offset, info.compressed_bytes),
        (first.len() as u64, 12)
    );
    assert_eq!(info.kind, FrameKind::Skippable { variant: 9 });
    assert_eq!(
        (info.content_bound, info.blocks, info.checksum),
        (0, 0, None)
    );

    let info = &found[2];
    assert_eq!(info.offset, (first.len() + 12) as u64);
    assert_eq!((info.single_segment, info.window_bytes), (true, 70));
    assert_eq!((info.content_size, info.content_bound), (Some(70), 70));
    assert_eq!(
        (info.has_checksum, info.checksum, info.dictionary_id),
        (false, None, None)
    );
}

#[test]
fn dictionary_ids_of_every_width() {
    for (code, bytes, id) in [
        (1, &[7][..], 7),
        (2, &[1, 2], 0x0201),
        (3, &[1, 2, 3, 4], 0x0403_0201),
    ] {
        let mut stream = vec![0x28, 0xb5, 0x2f, 0xfd, code, 0];
        stream.extend(bytes);
        stream.extend([1, 0, 0]);
        assert_eq!(list(&stream).unwrap()[0].dictionary_id, Some(id));
    }
}

#[test]
fn content_sizes_of_every_width() {
    for size in [0, 1, 255, 256, 257, 65_535 + 256, 65_536 + 256, 1 << 20] {
        let stream = frame(&vec![0; size], &EncoderOptions::default());
        let info = &list(&stream).unwrap()[0];
        assert_eq!(info.content_size, Some(size as u64));
        assert_eq!(info.checksum, Some(xxh(&vec![0; size])));
    }
}

#[test]
fn what_the_encoder_wrote() {
    let raw = list(&frame(&noise(1, 300_000), &EncoderOptions::default())).unwrap();
    assert_eq!(raw[0].block_counts.raw, raw[0].blocks);
    assert_eq!(raw[0].content_bound, 300_000);
    let rle = list(&frame(&[5; 300_000], &EncoderOptions::default())).unwrap();
    assert!(rle[0].block_counts.rle > 0, "{rle:?}");
    let text = list(&frame(&prose(1, 300_000), &EncoderOptions::default())).unwrap();
    assert_eq!(text[0].block_counts.compressed, text[0].blocks);
    assert_eq!(text[0].window_bytes, 300_000);
}

#[test]
fn bodies_may_be_passed_over() {
    let stream = [
        frame(&prose(1, 300_000), &EncoderOptions::default()),
        skippable(0, &[0; 50_000]),
        frame(b"end", &EncoderOptions::default()),
    ]
    .concat();
    let mut scanner = Scanner::new();
    let (mut at, mut read, mut found) = (0, 0, Vec::new());
    while at < stream.len() {
        let passed = scanner.skip(scanner.skippable_bytes()) as usize;
        at += passed;
        if at < stream.len() && passed == 0 {
            let (taken, info) = scanner.push(&stream[at..at + 1]).unwrap();
            // After a skipped body its frame may be reported first.
            assert!(taken == 1 || info.is_some());
            (at, read) = (at + taken, read + 1);
            found.extend(info);
        }
    }
    // The last event may need a call without input.
    found.extend(scanner.push(b"").unwrap().1);
    assert_eq!(found, list(&stream).unwrap());
    assert_eq!(scanner.finish(), Ok(3));
    assert!(read < 100, "{read} bytes read");
    assert_eq!(scanner.skip(10), 0);
}

#[test]
fn errors_are_placed_and_stay() {
    let good = frame(b"abc", &EncoderOptions::default());
    let stream = [&good[..], b"garbage"].concat();
    let mut walk = frames(&stream);
    assert_eq!(
        walk.next().unwrap().unwrap().compressed_bytes,
        good.len() as u64
    );
    let error = walk.next().unwrap().unwrap_err();
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::TrailingData, Some(good.len() as u64))
    );
    assert!(walk.next().is_none());

    let mut scanner = Scanner::new();
    let error = scanner.push(b"garbage").unwrap_err();
    assert_eq!(scanner.push(&good), Err(error.clone()));
    assert_eq!(scanner.finish(), Err(error));

    for at in 1..good.len() {
        let error = list(&good[..at]).unwrap_err();
        assert_eq!(
            (error.kind(), error.offset()),
            (ErrorKind::Truncated, Some(at as u64))
        );
    }
    assert!(list(b"").unwrap_err().is_no_frame());
}
