//! The defects of ExZstandard, an Elixir binding of zstd whose users move to this crate: each is a test of
//! what happens here instead.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{self, Block, Window, handmade, noise, prose, push_all};
use zstdkit::{
    Compressor, DecoderOptions, Decompressor, Dictionary, Encoder, EncoderOptions, ErrorKind,
    Operation, Parameters, State, Strategy, frame,
};

/// There a reset of the session reset everything: the next frame was made at level 3, with that level's
/// strategy and without the dictionary, without any error.
#[test]
fn a_reset_keeps_level_strategy_and_dictionary() {
    let options = EncoderOptions::default()
        .with_level(9)
        .with_dictionary(Dictionary::new(prose(1, 20_000)).unwrap())
        .with_parameters(Parameters::default().with_strategy(Strategy::Btopt));
    let content = prose(1, 30_000);
    let mut encoder = Encoder::new(&options).unwrap();
    let first = common::encode(&mut encoder, &content, &[8000], 9000, &[]).unwrap();
    for _ in 0..3 {
        // Half a frame, dropped.
        encoder.begin(None).unwrap();
        let mut buffer = vec![0; 1 << 17];
        let step = encoder.push(&content, &mut buffer, Operation::Flush);
        assert!(step.unwrap().consumed > 0);
        encoder.begin(None).unwrap();
        assert_eq!((encoder.level(), encoder.strategy()), (9, Strategy::Btopt));
        let again = common::encode(&mut encoder, &content, &[8000], 9000, &[]).unwrap();
        assert!(again == first);
    }
    // The dictionary is half of the content, and a frame without it is much larger.
    let without = options.with_dictionary(None);
    assert!(first.len() * 2 < common::frame(&content, &without).len());
}

/// There each call had one output buffer: input beyond 128 KB was dropped, and so was the part of a flush
/// that did not fit the buffer.
#[test]
fn a_chunk_of_any_size_and_a_flush_into_any_room_lose_nothing() {
    let content = noise(2, 1_000_000);
    let mut encoder = Encoder::new(&EncoderOptions::default()).unwrap();
    let (mut stream, mut tiny) = (Vec::new(), [0; 10]);
    let (first, second) = content.split_at(700_000);
    let state = push_all(
        &mut encoder,
        first,
        &mut tiny,
        Operation::Flush,
        &mut stream,
    )
    .unwrap();
    assert_eq!(state, State::NeedInput);
    let flushed = common::decode(
        &DecoderOptions::default(),
        &stream,
        &[usize::MAX],
        &[1 << 20],
    );
    assert!(flushed.content == first, "a flush makes all of it readable");
    push_all(&mut encoder, second, &mut tiny, Operation::End, &mut stream).unwrap();
    assert!(zstdkit::decompress(&stream, &DecoderOptions::default()).unwrap() == content);
}

/// There the target file was opened for append, so that an old file remained in front of the new one.
#[test]
fn output_that_is_used_again_keeps_nothing_of_what_was_in_it() {
    let mut compressor = Compressor::new(&EncoderOptions::default()).unwrap();
    let mut decompressor = Decompressor::new(&DecoderOptions::default()).unwrap();
    let (mut packed, mut content) = (vec![0xaa; 50_000], vec![0xbb; 50_000]);
    let count = compressor.compress_into(b"short", &mut packed).unwrap();
    assert_eq!(packed.len(), count);
    assert_eq!(frame::list(&packed).unwrap().len(), 1);
    let count = decompressor.decompress_into(&packed, &mut content).unwrap();
    assert_eq!((count, &content[..]), (5, &b"short"[..]));
    // Not after an error either.
    decompressor
        .decompress_into(b"no frame", &mut content)
        .unwrap_err();
    assert!(content.is_empty());
}

/// There content of unknown size was assumed to be ten times its frame, and failed beyond that.
#[test]
fn content_of_unknown_size_may_be_a_thousand_times_its_frame() {
    let content = vec![b'x'; 5_000_000];
    let options = EncoderOptions::default().with_content_size(false);
    let packed = zstdkit::compress(&content, &options).unwrap();
    assert_eq!(frame::content_size(&packed), None);
    assert!(packed.len() * 1000 < content.len());
    assert!(zstdkit::decompress(&packed, &DecoderOptions::default()).unwrap() == content);
}

/// There the stated size was allocated at once: a frame of a dozen bytes took all memory.
#[test]
fn a_stated_size_is_no_allocation() {
    for stated in [1 << 20, 1 << 34, 1 << 50, u64::MAX] {
        let bomb = handmade(
            Window::Descriptor(0x50),
            Some(stated),
            None,
            &[Block::Raw(b"boom".to_vec())],
        );
        assert_eq!(frame::content_size(&bomb), Some(stated));
        let mut decompressor = Decompressor::new(&DecoderOptions::default()).unwrap();
        let mut content = Vec::new();
        let error = decompressor
            .decompress_into(&bomb, &mut content)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ContentSize, "{error}");
        assert!(
            content.capacity() <= 4 << 20,
            "{} bytes",
            content.capacity()
        );
        assert!(decompressor.memory_bytes() <= 4 << 20);
    }
}

/// There each call digested the dictionary again, which at 110 KB took 85 times as long as the call.
#[test]
fn a_dictionary_is_digested_once_for_all_calls_and_contexts() {
    let dictionary = Dictionary::new(noise(3, 110_000)).unwrap();
    let bare = dictionary.memory_bytes();
    let options = EncoderOptions::default().with_dictionary(dictionary.clone());
    let decoding = DecoderOptions::default().with_dictionaries([dictionary.clone()]);
    let content = &dictionary.bytes()[5000..7000];
    let mut sizes = Vec::new();
    for _ in 0..3 {
        let mut compressor = Compressor::new(&options).unwrap();
        let mut decompressor = Decompressor::new(&decoding).unwrap();
        for _ in 0..10 {
            let packed = compressor.compress(content).unwrap();
            assert!(packed.len() < 50);
            assert_eq!(decompressor.decompress(&packed).unwrap(), content);
        }
        sizes.push(dictionary.memory_bytes());
        assert!(
            compressor.memory_bytes() < 300 << 10,
            "it has no copy of its own"
        );
    }
    assert!(
        sizes[0] > bare && sizes.iter().all(|&size| size == sizes[0]),
        "{sizes:?}"
    );
}
