//! Whole buffers: reuse, limits, and allocations that no header can inflate.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{self, Block, Window, frame, handmade, prose};
use zstdkit::{
    Compressor, DecoderOptions, Decompressor, EncoderOptions, ErrorKind, compress_bound,
};

#[test]
fn buffers_are_replaced_and_contexts_reused() {
    let mut compressor = Compressor::new(&EncoderOptions::default()).unwrap();
    let mut decompressor = Decompressor::new(&DecoderOptions::default()).unwrap();
    let (mut packed, mut content) = (b"stale".to_vec(), b"stale".to_vec());
    for size in [0, 1, 100, 200_000, 3_000_000, 10] {
        let original = prose(size as u64, size);
        let count = compressor.compress_into(&original, &mut packed).unwrap();
        assert_eq!(count, packed.len());
        assert!(count <= compress_bound(size));
        let count = decompressor.decompress_into(&packed, &mut content).unwrap();
        assert_eq!(count, size);
        assert!(content == original);
        assert_eq!(compressor.compress(&original).unwrap(), packed);
        assert!(decompressor.decompress(&packed).unwrap() == original);
        assert_eq!(packed, frame(&original, &EncoderOptions::default()));
    }
    assert!(compressor.memory_bytes() > 0 && decompressor.memory_bytes() > 0);
}

#[test]
fn slices_that_are_too_small_are_an_error() {
    let mut compressor = Compressor::new(&EncoderOptions::default()).unwrap();
    let content = prose(1, 10_000);
    let mut room = vec![0; compress_bound(10_000)];
    let count = compressor.compress_to_slice(&content, &mut room).unwrap();
    assert_eq!(
        zstdkit::decompress(&room[..count], &Default::default()).unwrap(),
        content
    );
    for len in [0, 1, 100, count - 1] {
        let error = compressor
            .compress_to_slice(&content, &mut room[..len])
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutputTooSmall);
        assert_eq!(
            error.to_string(),
            format!("output buffer of {len} bytes is too small")
        );
    }
    assert_eq!(
        compressor.compress_to_slice(&content, &mut room).unwrap(),
        count
    );
}

#[test]
fn several_frames_become_one_content() {
    let unsized_frame = EncoderOptions::default().with_content_size(false);
    let (first, second) = (prose(1, 500_000), prose(2, 1000));
    for options in [EncoderOptions::default(), unsized_frame] {
        let stream = [
            frame(&first, &options),
            common::skippable(2, b"index"),
            frame(b"", &options),
            frame(&second, &options),
        ]
        .concat();
        let content = zstdkit::decompress(&stream, &DecoderOptions::default()).unwrap();
        assert!(content == [&first[..], &second].concat());
    }
}

#[test]
fn a_stated_size_is_not_an_allocation() {
    // One byte of content, a stated terabyte. As a single segment it exceeds the window limit; with a
    // separate window it is decoded and found too short. Both take little memory.
    let blocks = [Block::Raw(vec![1])];
    for (window, kind) in [
        (Window::SingleSegment, ErrorKind::WindowLimit),
        (Window::Descriptor(0), ErrorKind::ContentSize),
    ] {
        let stream = handmade(window, Some(1 << 40), None, &blocks);
        let mut content = Vec::new();
        let mut decompressor = Decompressor::new(&DecoderOptions::default()).unwrap();
        let error = decompressor
            .decompress_into(&stream, &mut content)
            .unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(
            content.is_empty() && content.capacity() <= 4 << 20,
            "{}",
            content.capacity()
        );
        assert!(decompressor.memory_bytes() < 1 << 20);
    }
}

#[test]
fn windows_are_limited_though_none_is_allocated() {
    let stream = frame(&prose(1, 300_000), &EncoderOptions::default());
    let options = DecoderOptions::default().with_window_log_max(18);
    let error = zstdkit::decompress(&stream, &options).unwrap_err();
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::WindowLimit, Some(0))
    );
    assert_eq!(
        error.to_string(),
        "frame at byte 0 needs a window of 300000 bytes, the limit is 262144"
    );
}

#[test]
fn highly_compressible_content_grows_as_it_is_produced() {
    let zeros = vec![0; 40 << 20];
    let stream = frame(&zeros, &EncoderOptions::default());
    assert!(stream.len() * 64 < 4 << 20);
    assert!(zstdkit::decompress(&stream, &DecoderOptions::default()).unwrap() == zeros);
    let limit = DecoderOptions::default().with_output_limit(10 << 20);
    let mut content = Vec::new();
    let error = Decompressor::new(&limit)
        .unwrap()
        .decompress_into(&stream, &mut content)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutputLimit);
    assert!(content.is_empty());
}

#[test]
fn errors_leave_the_context_usable() {
    let good = frame(b"good", &EncoderOptions::default());
    let mut bad = good.clone();
    let end = bad.len() - 1;
    bad[end] ^= 1;
    let mut decompressor = Decompressor::new(&DecoderOptions::default()).unwrap();
    for _ in 0..3 {
        assert_eq!(
            decompressor.decompress(&bad).unwrap_err().kind(),
            ErrorKind::Checksum
        );
        assert_eq!(decompressor.decompress(&good).unwrap(), b"good");
        assert!(decompressor.decompress(b"").unwrap_err().is_no_frame());
        assert_eq!(
            decompressor.decompress(b"nonsense").unwrap_err().kind(),
            ErrorKind::NotZstd
        );
    }
}

#[test]
fn workers_compress_whole_buffers_too() {
    let content = prose(1, 4 << 20);
    let options = EncoderOptions::default().with_workers(2);
    let stream = frame(&content, &options);
    assert!(zstdkit::decompress(&stream, &DecoderOptions::default()).unwrap() == content);
}
