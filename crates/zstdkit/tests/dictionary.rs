//! Dictionaries: trained, raw, wrong, several and none, and the prefixes of patches.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::NonZeroU32;
use std::thread;

use crate::common::{self, decode, noise, prose};
use zstdkit::dictionary::{TrainOptions, train, train_best};
use zstdkit::{
    Compressor, DecoderOptions, Decompressor, Dictionary, Encoder, EncoderOptions, Error,
    ErrorKind, frame,
};

/// Records of one kind, all different.
fn records(seed: u64, count: u64) -> Vec<Vec<u8>> {
    let record = |n: u64| {
        let id = (seed * 1000 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let words = String::from_utf8(prose(id, 60)).unwrap();
        format!(
            "{{\"id\":\"{id:016x}\",\"kind\":\"session.started\",\"user\":{{\"name\":\"u{}\",\
             \"roles\":[\"reader\",\"writer\"]}},\"note\":\"{words}\",\"ok\":{}}}",
            id % 977,
            id & 1 == 0
        )
    };
    (0..count).map(|n| record(n).into_bytes()).collect()
}

fn with(dictionary: &Dictionary) -> EncoderOptions {
    EncoderOptions::default().with_dictionary(dictionary.clone())
}

fn given(dictionaries: &[&Dictionary]) -> DecoderOptions {
    DecoderOptions::default().with_dictionaries(dictionaries.iter().copied().cloned())
}

/// Decodes in both ways, which must agree.
fn decompress(stream: &[u8], options: &DecoderOptions) -> Result<Vec<u8>, Error> {
    let whole = zstdkit::decompress(stream, options);
    let pieces = decode(options, stream, &[7], &[100]);
    assert_eq!(whole.as_ref().err(), pieces.result.as_ref().err());
    if let Ok(whole) = &whole {
        assert!(*whole == pieces.content);
    }
    whole
}

#[test]
fn a_trained_dictionary_is_worth_its_bytes_on_other_records() {
    let dictionary = train(&records(1, 400), 4096).unwrap();
    assert!(dictionary.id().is_some());
    assert!(dictionary.bytes().len() <= 4096);
    let evaluation = dictionary
        .evaluate(&records(2, 100), &EncoderOptions::default())
        .unwrap();
    let total = evaluation.total;
    assert_eq!(total.samples, 100);
    assert!(total.ratio().unwrap() > 1.8 * total.plain_ratio().unwrap());
    let samples = total.break_even_samples(4096).unwrap();
    let saved_each = total.saved_bytes() as u64 / total.samples;
    assert!((4096 / (saved_each + 1)..=4096 / saved_each + 1).contains(&samples));
    for record in records(3, 20) {
        let packed = zstdkit::compress(&record, &with(&dictionary)).unwrap();
        assert_eq!(
            frame::list(&packed).unwrap()[0].dictionary_id,
            dictionary.id()
        );
        assert_eq!(decompress(&packed, &given(&[&dictionary])).unwrap(), record);
    }
}

#[test]
fn the_best_is_judged_on_samples_that_it_has_not_seen() {
    let options = TrainOptions::default().with_size_bytes(16 << 10);
    let samples = records(1, 300);
    let best = train_best(&samples, &options).unwrap();
    assert_eq!(best.evaluation.total.samples, 60);
    assert!(best.evaluation.total.saved_bytes() > 0);
    assert!(best.dictionary.bytes().len() <= 16 << 10);
    // Reproducible, and no worse than without the search.
    assert_eq!(train_best(&samples, &options).unwrap(), best);
    let plain = train(&samples, 16 << 10).unwrap();
    let fresh = records(7, 100);
    let size = |dictionary: &Dictionary| {
        let evaluation = dictionary.evaluate(&fresh, &options.encoder).unwrap();
        evaluation.total.frame_bytes
    };
    assert!(size(&best.dictionary) * 100 <= size(&plain) * 108);
}

#[test]
fn evaluation_is_by_size() {
    let dictionary = Dictionary::new(prose(1, 5000)).unwrap();
    let samples: Vec<_> = [100, 600, 700, 9000, 70_000]
        .map(|size| prose(1, size))
        .into();
    let evaluation = dictionary
        .evaluate(&samples, &EncoderOptions::default())
        .unwrap();
    let classes: Vec<_> = evaluation
        .classes
        .iter()
        .map(|class| (class.sample_bytes_max, class.samples, class.content_bytes))
        .collect();
    assert_eq!(
        classes,
        [
            (Some(512), 1, 100),
            (Some(2048), 2, 1300),
            (Some(32 << 10), 1, 9000),
            (None, 1, 70_000)
        ]
    );
    let useless = Dictionary::new(noise(1, 100)).unwrap();
    let evaluation = useless
        .evaluate(&[noise(2, 5000)], &EncoderOptions::default())
        .unwrap();
    assert_eq!(evaluation.total.break_even_samples(100), None);
    let nothing: [&[u8]; 0] = [];
    let evaluation = useless
        .evaluate(&nothing, &EncoderOptions::default())
        .unwrap();
    assert_eq!(
        (evaluation.classes.len(), evaluation.total.ratio()),
        (0, None)
    );
}

#[test]
fn samples_that_cannot_be_trained_on_are_refused_with_a_next_step() {
    let refused = |samples: &[Vec<u8>], reason: &str| {
        for error in [
            train(samples, 1000).unwrap_err(),
            train_best(samples, &TrainOptions::default()).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Dictionary, "{error}");
            assert!(error.to_string().contains(reason), "{error}");
            assert!(error.help().is_some() && error.offset().is_none());
        }
    };
    refused(&[], "fewer than 7");
    refused(&records(1, 6), "fewer than 7");
    refused(&vec![Vec::new(); 100], "fewer than 7");
    refused(
        &vec![b"the same again".to_vec(); 100],
        "all samples are equal",
    );
    for size_bytes in [0, 255, (128 << 20) + 1, usize::MAX] {
        let error = train(&records(1, 50), size_bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parameter);
    }
    // No memory is touched for these.
    let gigabyte = vec![0_u8; 1 << 30];
    let error = train(&[&gigabyte; 8], 1000).unwrap_err();
    assert!(error.to_string().contains("4 GiB"), "{error}");
}

#[test]
fn odd_samples_end_in_a_dictionary_or_a_typed_error() {
    let mut sets: Vec<Vec<Vec<u8>>> = vec![
        (0..7_u8).map(|n| vec![n]).collect(),
        (0..50_u8).map(|n| vec![n; 3]).collect(),
        (0..100).map(|seed| noise(seed, 200)).collect(),
        (0..8).map(|seed| prose(seed, 20)).collect(),
        vec![
            vec![1; 100_000],
            vec![2; 3],
            vec![],
            vec![3],
            vec![4],
            vec![5],
            vec![6],
            vec![7],
        ],
    ];
    let mut some_empty = records(4, 50);
    some_empty.resize(200, Vec::new());
    sets.push(some_empty);
    for samples in sets {
        for size_bytes in [256, 1000, 100_000] {
            match train(&samples, size_bytes) {
                Ok(dictionary) => {
                    assert!(dictionary.bytes().len() <= size_bytes);
                    let packed = zstdkit::compress(&samples[0], &with(&dictionary)).unwrap();
                    let content = decompress(&packed, &given(&[&dictionary]));
                    assert_eq!(content.unwrap(), samples[0]);
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Dictionary),
            }
        }
    }
}

#[test]
fn a_wrong_or_missing_dictionary_is_named() {
    let one = train(&records(1, 200), 2048).unwrap();
    let other = one.with_id(NonZeroU32::new(4242).unwrap()).unwrap();
    assert_eq!(other.id(), Some(4242));
    let packed = zstdkit::compress(&records(5, 1)[0], &with(&one)).unwrap();
    let stream = [&packed[..], &packed].concat();
    let id = one.id().unwrap();

    let error = decompress(&stream, &DecoderOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Dictionary);
    assert_eq!(
        error.to_string(),
        format!("frame at byte 0 needs dictionary {id}")
    );
    let error = decompress(&stream, &given(&[&other])).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("frame at byte 0 needs dictionary {id}, given was 4242")
    );
    let plain = Dictionary::new(prose(1, 1000)).unwrap();
    let error = decompress(&stream, &given(&[&plain])).unwrap_err();
    assert!(error.to_string().ends_with("the given one has no id"));
    let unnamed = plain.with_id(NonZeroU32::MIN).unwrap_err();
    assert_eq!(unnamed.kind(), ErrorKind::Dictionary);
}

#[test]
fn a_wrong_dictionary_that_no_one_named_is_found_by_the_checksum() {
    let (right, wrong) = (
        Dictionary::new(prose(1, 4000)).unwrap(),
        Dictionary::new(prose(2, 4000)).unwrap(),
    );
    let content = prose(1, 3000);
    let packed = zstdkit::compress(&content, &with(&right)).unwrap();
    assert!(packed.len() < 100);
    assert_eq!(decompress(&packed, &given(&[&right])).unwrap(), content);
    let error = decompress(&packed, &given(&[&wrong])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Checksum);
    let error = decompress(&packed, &DecoderOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Block);
}

#[test]
fn a_dictionary_that_is_not_needed_does_no_harm() {
    let trained = train(&records(1, 200), 2048).unwrap();
    let content = prose(3, 200_000);
    let packed = zstdkit::compress(&content, &EncoderOptions::default()).unwrap();
    assert!(decompress(&packed, &given(&[&trained])).unwrap() == content);
}

#[test]
fn corrupt_dictionaries_are_refused_when_they_are_made() {
    let good = train(&records(1, 200), 2048).unwrap();
    let mut refused = 0;
    for at in 8..300 {
        let mut bytes = good.bytes().to_vec();
        bytes[at] ^= 0xff;
        match Dictionary::new(bytes) {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Dictionary);
                assert!(error.help().is_some());
                refused += 1;
            }
            // The table happens to be valid: encoder and decoder can both use it.
            Ok(dictionary) => {
                let record = &records(6, 1)[0];
                if let Ok(packed) = zstdkit::compress(record, &with(&dictionary)) {
                    let content = decompress(&packed, &given(&[&dictionary]));
                    assert_eq!(&content.unwrap(), record);
                }
            }
        }
    }
    assert!(refused > 20, "{refused}");
    for cut in [0, 4, 8, 9, 100] {
        let cut = Dictionary::new(&good.bytes()[..cut]);
        assert!(cut.is_err() || cut.unwrap().id().is_none());
    }
}

#[test]
fn each_frame_finds_its_own_of_several_dictionaries() {
    let trained = train(&records(1, 200), 2048).unwrap();
    let renamed: Vec<_> = (1..=12)
        .map(|id| {
            trained
                .with_id(NonZeroU32::new(id * 1000).unwrap())
                .unwrap()
        })
        .collect();
    let all: Vec<_> = renamed.iter().collect();
    let (mut stream, mut expected) = (Vec::new(), Vec::new());
    for (at, record) in records(8, 60).into_iter().enumerate() {
        let packed = zstdkit::compress(&record, &with(all[at * 5 % 12])).unwrap();
        assert_eq!(decompress(&packed, &given(&all)).unwrap(), record);
        stream.extend(packed);
        expected.extend(record);
    }
    assert!(decompress(&stream, &given(&all)).unwrap() == expected);
    let error = decompress(&stream, &given(&all[..5])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Dictionary);
    // Switching between them makes no new context.
    let mut decompressor = Decompressor::new(&given(&all)).unwrap();
    decompressor.decompress(&stream).unwrap();
    let held = decompressor.memory_bytes();
    decompressor.decompress(&stream).unwrap();
    assert_eq!(decompressor.memory_bytes(), held);
}

#[test]
fn a_dictionary_keeps_a_bounded_number_of_digests() {
    let dictionary = Dictionary::new(prose(1, 20_000)).unwrap();
    let at = |level| with(&dictionary).with_level(level);
    let contexts: Vec<_> = (1..=8)
        .map(|level| Compressor::new(&at(level)).unwrap())
        .collect();
    let eight = dictionary.memory_bytes();
    for level in -20..=-1 {
        Compressor::new(&at(level)).unwrap();
    }
    assert!(
        dictionary.memory_bytes() < eight,
        "the quick levels take less"
    );
    // Contexts keep the digests that they use.
    for mut context in contexts {
        assert!(context.compress(&prose(1, 3000)).unwrap().len() < 100);
    }
    let before = dictionary.memory_bytes();
    Compressor::new(&at(-1)).unwrap();
    assert_eq!(dictionary.memory_bytes(), before);
}

#[test]
fn threads_share_a_digest() {
    let dictionary = Dictionary::new(prose(1, 20_000)).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for level in 1..=5 {
                    let options = with(&dictionary).with_level(level);
                    let packed = zstdkit::compress(&prose(1, 3000), &options).unwrap();
                    let content = zstdkit::decompress(&packed, &given(&[&dictionary]));
                    assert_eq!(content.unwrap(), prose(1, 3000));
                }
            });
        }
    });
    let bytes = dictionary.memory_bytes();
    for level in 1..=5 {
        let options = with(&dictionary).with_level(level);
        Compressor::new(&options).unwrap();
    }
    assert_eq!(dictionary.memory_bytes(), bytes, "one digest a level");
}

#[test]
fn a_patch_is_small_and_needs_its_reference() {
    let old = noise(1, 3_000_000);
    let mut new = old.clone();
    new.splice(1_000_000..1_000_010, b"something else".iter().copied());
    new.drain(2_000_000..2_000_500);
    for level in [1, 3, 12] {
        let options = EncoderOptions::default().with_level(level);
        let options = options.for_patch(old.clone(), new.len() as u64);
        options.validate().unwrap();
        let whole = zstdkit::compress(&new, &options).unwrap();
        assert!(whole.len() < 8000, "level {level}: {}", whole.len());
        let mut encoder = Encoder::new(&options).unwrap();
        encoder.begin(Some(new.len() as u64)).unwrap();
        let streamed = common::encode(&mut encoder, &new, &[100_000], 5000, &[]).unwrap();
        assert!(streamed.len() < 8000, "level {level}: {}", streamed.len());
        let decoding = DecoderOptions::default().for_patch(old.clone());
        for patch in [&whole, &streamed, &[&whole[..], &streamed].concat()] {
            let content = zstdkit::decompress(patch, &decoding).unwrap();
            assert!(content.chunks(new.len()).all(|one| one == new));
            let found = decode(&decoding, patch, &[999], &[50_000]);
            assert!(found.result.is_ok() && found.content == content);
            zstdkit::decompress(patch, &DecoderOptions::default()).unwrap_err();
            let other = DecoderOptions::default().for_patch(noise(2, 3_000_000));
            let error = zstdkit::decompress(patch, &other).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Checksum);
        }
    }
}

#[test]
fn a_prefix_and_a_dictionary_do_not_go_together() {
    let mut options = EncoderOptions::default().for_patch(&b"reference"[..], 100);
    assert_eq!(options.window_log, Some(10));
    options.dictionary = Some(Dictionary::new(b"dictionary".to_vec()).unwrap());
    let error = Encoder::new(&options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter);
}

#[test]
fn contexts_say_what_they_were_made_with() {
    for level in [-5, 0, 1, 3, 9, 16, 19] {
        let options = EncoderOptions::default()
            .with_level(level)
            .with_content_size(false);
        let mut encoder = Encoder::new(&options).unwrap();
        assert_eq!(encoder.level(), if level == 0 { 3 } else { level });
        for size in [
            None,
            Some(700_u64),
            Some(20_000),
            Some(1 << 20),
            Some(20 << 20),
        ] {
            encoder.begin(size).unwrap();
            // If the size is not stated, the header has the window of the parameters.
            let (mut header, mut output) = (Vec::new(), vec![0; 1 << 18]);
            let content = vec![b'x'; size.unwrap_or(100) as usize];
            common::push_all(
                &mut encoder,
                &content,
                &mut output,
                zstdkit::Operation::End,
                &mut header,
            )
            .unwrap();
            if size.is_some() {
                let window = frame::list(&header).unwrap()[0].window_bytes;
                assert_eq!(window, 1 << encoder.window_log(), "level {level}, {size:?}");
            }
        }
    }
    let strategy = |level| {
        let options = EncoderOptions::default().with_level(level);
        Encoder::new(&options).unwrap().strategy().name()
    };
    assert_eq!(
        [1, 3, 5, 9, 16, 19].map(strategy),
        ["fast", "dfast", "greedy", "lazy2", "btopt", "btultra2"]
    );
}
