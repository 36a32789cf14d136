//! Compares the memory model with what contexts of libzstd actually hold.

use super::*;
use crate::{
    Compressor, Decoder, DecoderOptions, Decompressor, Dictionary, Encoder, LongDistance,
    Operation, Parameters, Recipe,
};

/// What an encoder holds once a frame of this size is open.
fn actual(options: &EncoderOptions, pledged: Option<u64>) -> u64 {
    let mut encoder = Encoder::new(options).unwrap();
    encoder.begin(pledged).unwrap();
    let step = encoder
        .push(b"", &mut [0; 64], Operation::Continue)
        .unwrap();
    assert_eq!(step.produced, 0);
    encoder.memory_bytes() as u64
}

fn check(options: &EncoderOptions, pledged: Option<u64>) {
    let actual = actual(options, pledged) as f64;
    let estimate = options.memory_estimate_bytes(pledged) as f64;
    let ratio = estimate / actual;
    assert!(
        (1.0..1.05).contains(&ratio) || (estimate >= actual && estimate - actual < 40_000.0),
        "level {} of {pledged:?}: {estimate} estimated, {actual} held: {ratio}",
        options.level
    );
}

#[test]
fn estimates_every_level_and_size_class() {
    let sizes = [
        0,
        1,
        500,
        5000,
        16 << 10,
        60_000,
        128 << 10,
        200_000,
        256 << 10,
        1_000_000,
    ];
    for level in (-7..=19).chain([-131_072]) {
        let options = EncoderOptions {
            level,
            ..EncoderOptions::default()
        };
        check(&options, None);
        for size in sizes {
            check(&options, Some(size));
        }
        check(&options, Some(10 << 20));
    }
}

/// The same for whole buffers, whose content is repetitive and therefore fast.
fn check_one_shot(options: &EncoderOptions, content: &[u8]) {
    let mut compressor = Compressor::new(options).unwrap();
    let fresh = options.one_shot_estimate_bytes(Some(0));
    assert!(fresh >= compressor.memory_bytes() as u64);
    compressor.compress(content).unwrap();
    let actual = compressor.memory_bytes() as f64;
    let estimate = options.one_shot_estimate_bytes(Some(content.len() as u64)) as f64;
    let ratio = estimate / actual;
    assert!(
        (1.0..1.05).contains(&ratio) || (estimate >= actual && estimate - actual < 40_000.0),
        "level {} of {}: {estimate} estimated, {actual} held: {ratio}",
        options.level,
        content.len()
    );
}

#[test]
fn estimates_whole_contents() {
    let content = vec![7; 3 << 20];
    for level in (-7..=19).chain([-131_072]) {
        for size in [
            0,
            1,
            500,
            2000,
            16 << 10,
            60_000,
            200_000,
            1_000_000,
            3 << 20,
        ] {
            let options = EncoderOptions {
                level,
                ..EncoderOptions::default()
            };
            check_one_shot(&options, &content[..size]);
        }
    }
    for window_log in [10, 20, 24] {
        let options = EncoderOptions {
            window_log: Some(window_log),
            long_distance: true,
            ..EncoderOptions::default()
        };
        check_one_shot(&options, &content);
    }
}

#[test]
fn estimates_with_a_dictionary_are_never_too_low() {
    let content = vec![7; 1 << 20];
    for dictionary in [10, 5000, 112_640, 300_000] {
        let noise = (0..dictionary).map(|n: u32| (n.wrapping_mul(2_654_435_769) >> 24) as u8);
        let dictionary = Dictionary::new(noise.collect::<Vec<_>>()).unwrap();
        for level in [-3, 1, 3, 6, 16] {
            for min_match in [None, Some(4)] {
                let mut options = EncoderOptions {
                    level,
                    dictionary: Some(dictionary.clone()),
                    ..EncoderOptions::default()
                };
                options.parameters.min_match = min_match;
                for size in [0, 300, 2000, 30_000, 200_000, 1 << 20] {
                    let mut compressor = Compressor::new(&options).unwrap();
                    compressor.compress(&content[..size]).unwrap();
                    let held = compressor.memory_bytes() as u64;
                    let estimate = options.one_shot_estimate_bytes(Some(size as u64));
                    assert!(estimate >= held, "{options:?} {size}: {estimate} < {held}");
                    // Empty content needs no tables.
                    if size > 0 {
                        let times = estimate as f64 / held as f64;
                        assert!(times < 3.0, "{options:?} {size}: {estimate}, {held} held");
                    }
                    let held = actual(&options, Some(size as u64));
                    let estimate = options.memory_estimate_bytes(Some(size as u64));
                    assert!(estimate >= held, "{options:?} {size}: {estimate} < {held}");
                }
                let (held, estimate) =
                    (actual(&options, None), options.memory_estimate_bytes(None));
                assert!(estimate >= held, "{options:?}: {estimate} < {held}");
            }
        }
    }
}

#[test]
fn decoders_hold_no_more_than_is_set_aside() {
    let options = DecoderOptions::default();
    let held = [
        Decoder::new(&options).unwrap().memory_bytes(),
        Decompressor::new(&options).unwrap().memory_bytes(),
    ];
    for held in held {
        assert!(
            (80 << 10..=DECODER_BYTES).contains(&(held as u64)),
            "{held}"
        );
    }
}

#[test]
fn estimates_windows_and_long_distance() {
    for level in [1, 3, 6, 12, 16, 19] {
        for window_log in [10, 14, 15, 20, 24] {
            for long_distance in [false, true] {
                let options = EncoderOptions {
                    level,
                    window_log: Some(window_log),
                    long_distance,
                    ..EncoderOptions::default()
                };
                check(&options, None);
                check(&options, Some(100_000));
                check(&options, Some(3 << 20));
            }
        }
    }
    check(
        &EncoderOptions {
            long_distance: true,
            ..EncoderOptions::default()
        },
        None,
    );
}

#[test]
fn estimates_parameters_of_ones_own() {
    let logs = [
        (6, 6, 14),
        (13, 12, 17),
        (16, 20, 18),
        (22, 19, 21),
        (24, 22, 23),
    ];
    for strategy in Strategy::ALL {
        for (index, (chain_log, hash_log, window_log)) in logs.into_iter().enumerate() {
            for min_match in [3, 6] {
                let options = EncoderOptions {
                    level: 3,
                    window_log: Some(window_log),
                    parameters: Parameters {
                        chain_log: Some(chain_log),
                        hash_log: Some(hash_log),
                        search_log: Some(1 + 2 * index as u32),
                        min_match: Some(min_match),
                        target_length: Some(16),
                        strategy: Some(strategy),
                    },
                    ..EncoderOptions::default()
                };
                for size in [None, Some(2000), Some(40_000), Some(5 << 20)] {
                    check(&options, size);
                }
            }
        }
    }
}

#[test]
fn estimates_every_recipe() {
    for recipe in Recipe::ALL {
        check(&recipe.options(None), None);
        for size in [
            0,
            100,
            5000,
            16 << 10,
            100_000,
            256 << 10,
            1 << 20,
            20 << 20,
        ] {
            check(&recipe.options(Some(size)), Some(size));
            check(&recipe.exzstandard(None), Some(size));
        }
    }
}

#[test]
fn estimates_rows_hints_and_distant_matches() {
    let own = LongDistance::default();
    for level in [1, 5, 7, 9, 19] {
        let plain = EncoderOptions {
            level,
            ..EncoderOptions::default()
        };
        for rows in [true, false] {
            for window_log in [None, Some(13)] {
                let options = plain.clone().with_row_match_finder(rows);
                let options = options.with_window_log(window_log);
                check(&options, None);
                check(&options, Some(10_000));
                check(&options, Some(2 << 20));
            }
        }
        for hint in [1, 3000, 100_000, 200_000, 5 << 20] {
            check(&plain.clone().with_size_hint(hint), None);
            check(&plain.clone().with_size_hint(hint), Some(60_000));
        }
        for parameters in [
            own.with_hash_log(22),
            own.with_hash_rate_log(3),
            own.with_hash_rate_log(9).with_bucket_log(7),
            own.with_min_match(4),
            own.with_hash_log(10)
                .with_bucket_log(8)
                .with_min_match(4096),
        ] {
            let options = plain.clone().with_long_distance(true).with_window_log(24);
            let options = options.with_long_distance_parameters(parameters);
            check(&options, None);
            check(&options, Some(3 << 20));
        }
    }
}

/// The most that an encoder with workers holds while it compresses this.
fn busy(options: &EncoderOptions, content: &[u8], pledged: Option<u64>) -> u64 {
    let mut encoder = Encoder::new(options).unwrap();
    encoder.begin(pledged).unwrap();
    let (mut rest, mut room, mut most) = (content, vec![0; 1 << 17], 0);
    loop {
        let piece = &rest[..rest.len().min(1 << 17)];
        let operation = match piece.len() == rest.len() {
            true => Operation::End,
            false => Operation::Continue,
        };
        let step = encoder.push(piece, &mut room, operation).unwrap();
        rest = &rest[step.consumed..];
        most = most.max(encoder.memory_bytes());
        if step.state == crate::State::Done {
            return most as u64;
        }
    }
}

#[test]
fn settings_are_lowered_to_a_limit_and_held_to_it() {
    // Letters that do not repeat, so that workers are busy, and zeros, which are fast at every level.
    let mut state = 1_u64;
    let mut content: Vec<u8> = (0..6 << 20)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            b'a' + (state >> 60) as u8
        })
        .collect();
    content.resize(10 << 20, 0);
    let whole = Some(content.len() as u64);
    let (mut refused, mut lowered) = (0, 0);
    for level in [-5, 1, 3, 5, 7, 9, 12, 13, 16, 19, 22] {
        for workers in [0, 1, 2, 4] {
            for (limit, pledged) in [1, 2, 4, 12, 32, 100, 300]
                .into_iter()
                .flat_map(|mib: u64| {
                    [
                        (mib << 20, None),
                        (mib << 20, Some(100_000)),
                        (mib << 20, whole),
                    ]
                })
            {
                let asked = EncoderOptions::default()
                    .with_level(level)
                    .with_workers(workers);
                let options = match asked.clone().within_memory(limit, pledged) {
                    Ok(options) => options,
                    Err(error) => {
                        assert_eq!(error.kind(), crate::ErrorKind::MemoryLimit);
                        assert!(limit < 2 << 20, "level {level}: {error}");
                        refused += 1;
                        continue;
                    }
                };
                assert!(options.memory_estimate_bytes(pledged) <= limit);
                assert!(options.workers <= workers && options.level == level);
                lowered += u32::from(options != asked);
                check_unless_threaded(&options, pledged);
                // Real work is slow at high levels: for some of them.
                if pledged == whole && level <= 3 {
                    let most = busy(&options, &content, pledged);
                    assert!(
                        most <= limit,
                        "level {level}, {workers} workers: {most} > {limit}"
                    );
                }
            }
        }
    }
    assert!(
        lowered > 100 && refused < lowered,
        "{lowered} lowered, {refused} refused"
    );
    // What was set is not lowered.
    let fixed = EncoderOptions::default().with_window_log(24);
    let error = fixed.within_memory(4 << 20, None).unwrap_err();
    assert!(
        error.to_string().contains("the limit is 4194304"),
        "{error}"
    );
}

fn check_unless_threaded(options: &EncoderOptions, pledged: Option<u64>) {
    if options.workers == 0 {
        check(options, pledged);
    }
}

#[test]
fn maximum_level_of_unknown_size_is_known_to_be_huge() {
    let options = EncoderOptions {
        level: 22,
        ..EncoderOptions::default()
    };
    check(&options, None);
    assert!(options.memory_estimate_bytes(None) > 800 << 20);
    assert!(options.memory_estimate_bytes(Some(2000)) < 1 << 20);
}
