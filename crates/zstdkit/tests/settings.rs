//! Settings beyond the level: each does what it says, alone and together, and everybody can read the result.

use crate::common::{encode, noise, prose};
use zstdkit::dictionary::{self, Cover, TrainMethod};
use zstdkit::{
    DecoderOptions, Encoder, EncoderOptions, ErrorKind, LongDistance, Operation, Parameters, State,
    Strategy, compress, decompress, frame,
};

fn packed(options: &EncoderOptions, content: &[u8]) -> Vec<u8> {
    let frame = compress(content, options).unwrap();
    let limits = DecoderOptions::default().with_window_log_max(31);
    assert!(decompress(&frame, &limits).unwrap() == content);
    frame
}

/// Compresses without a pledge.
fn streamed(options: &EncoderOptions, content: &[u8]) -> Vec<u8> {
    let mut encoder = Encoder::new(options).unwrap();
    encode(&mut encoder, content, &[1000], 1 << 16, &[]).unwrap()
}

#[test]
fn compressed_blocks_are_of_about_the_size_aimed_at() {
    let content = prose(1, 400_000);
    let blocks = |options: &EncoderOptions| {
        let frame = packed(options, &content);
        let first = frame::frames(&frame).next().unwrap().unwrap();
        (first.blocks, frame.len())
    };
    let (whole, bytes) = blocks(&EncoderOptions::default());
    let aimed = EncoderOptions::default().with_target_block_bytes(2000);
    let (cut, cut_bytes) = blocks(&aimed);
    assert!(cut > 3 * whole, "{cut} and {whole} blocks");
    assert!(
        cut_bytes < bytes + bytes / 5,
        "{cut_bytes} and {bytes} bytes"
    );
    for wrong in [0, 1339, 131_073] {
        let options = EncoderOptions::default().with_target_block_bytes(wrong);
        assert_eq!(options.validate().unwrap_err().kind(), ErrorKind::Parameter);
    }
}

#[test]
fn literals_are_compressed_as_told() {
    // Letters without repetitions: all of it is literals.
    let content: Vec<u8> = noise(3, 60_000)
        .iter()
        .map(|byte| b'a' + byte % 16)
        .collect();
    let at = |level: i32, literals: Option<bool>| {
        let options = EncoderOptions::default()
            .with_level(level)
            .with_literals(literals);
        packed(&options, &content).len()
    };
    assert!(at(3, Some(false)) > content.len() - 100);
    assert!(at(3, Some(true)) < content.len() * 6 / 10);
    assert_eq!(at(3, None), at(3, Some(true)));
    assert_eq!(at(-5, None), at(-5, Some(false)));
    assert!(at(-5, Some(true)) < at(-5, None) * 7 / 10);
}

#[test]
fn rows_and_chains_are_chosen_apart_from_the_level() {
    let content = prose(5, 700_000);
    let at = |rows: Option<bool>| {
        let options = EncoderOptions::default()
            .with_level(7)
            .with_row_match_finder(rows);
        packed(&options, &content)
    };
    assert_ne!(at(Some(true)), at(Some(false)));
    assert_eq!(at(None), at(Some(true)));
}

#[test]
fn a_hint_of_the_size_chooses_small_tables() {
    let content = prose(7, 9_000);
    let plain = EncoderOptions::default().with_level(9);
    let hinted = plain.clone().with_size_hint(9_000);
    let (frame, other) = (streamed(&hinted, &content), streamed(&plain, &content));
    assert!(decompress(&frame, &DecoderOptions::default()).unwrap() == content);
    let window = |frame: &[u8]| frame::frames(frame).next().unwrap().unwrap().window_bytes;
    assert!(window(&frame) < 1 << 15 && window(&other) == 1 << 22);
    assert!(hinted.memory_estimate_bytes(None) * 8 < plain.memory_estimate_bytes(None));
    // A pledge counts, not the hint.
    let wrong = plain.clone().with_size_hint(10);
    assert_eq!(packed(&wrong, &content), packed(&plain, &content));
    // What is larger than the hint is compressed all the same.
    let large = prose(8, 400_000);
    let frame = streamed(&wrong, &large);
    assert!(decompress(&frame, &DecoderOptions::default()).unwrap() == large);
}

#[test]
fn distant_matches_are_searched_for_as_told() {
    // 200 bytes that come again 3 MB later, beyond the window of the level.
    let mut content = noise(11, 6_000_000);
    for at in (0..200_000).step_by(1000) {
        let (first, second) = content.split_at_mut(3_000_000 + at);
        second[..200].copy_from_slice(&first[at..at + 200]);
    }
    let at = |parameters: LongDistance| {
        let options = EncoderOptions::default()
            .with_level(1)
            .with_long_distance(true)
            .with_long_distance_parameters(parameters);
        packed(&options, &content).len()
    };
    let default = LongDistance::default();
    // A position in two enters the table: nearly all are found. One in 32,768: next to none.
    let often = at(default.with_hash_rate_log(1).with_hash_log(24));
    let rarely = at(default.with_hash_rate_log(15));
    assert!(often + 20_000 < rarely, "{often}, {rarely}");
    // Nothing of 200 bytes is found by who looks for 4,096.
    assert!(at(default.with_min_match(4096)) > often + 20_000);
    assert!(at(default.with_bucket_log(8)) <= rarely);
    for wrong in [
        default.with_hash_log(31),
        default.with_min_match(3),
        default.with_bucket_log(9),
        default.with_hash_rate_log(26),
    ] {
        let options = EncoderOptions::default().with_long_distance_parameters(wrong);
        assert_eq!(options.validate().unwrap_err().kind(), ErrorKind::Parameter);
    }
}

#[test]
fn settings_of_a_level_are_told() {
    let of = |level: i32, size: Option<u64>| {
        let options = EncoderOptions::default().with_level(level);
        (
            options.effective_window_log(size),
            options.effective_parameters(size),
        )
    };
    let parameters = |chain, hash, search, shortest, target, strategy| {
        Parameters::default()
            .with_chain_log(chain)
            .with_hash_log(hash)
            .with_search_log(search)
            .with_min_match(shortest)
            .with_target_length(target)
            .with_strategy(strategy)
    };
    assert_eq!(
        of(3, None),
        (21, parameters(16, 17, 1, 5, 0, Strategy::Dfast))
    );
    assert_eq!(
        of(19, None),
        (23, parameters(24, 22, 7, 3, 256, Strategy::Btultra2))
    );
    assert_eq!(
        of(-7, None),
        (19, parameters(12, 13, 1, 6, 7, Strategy::Fast))
    );
    assert_eq!(
        of(3, Some(5000)),
        (13, parameters(13, 14, 2, 4, 0, Strategy::Dfast))
    );
}

#[test]
fn a_level_changes_within_a_frame() {
    let content = prose(13, 5_000_000);
    let mut encoder = Encoder::new(
        &EncoderOptions::default()
            .with_level(-50)
            .with_workers(1)
            .with_job_size(1 << 20),
    )
    .unwrap();
    let mut sizes = Vec::new();
    for changed in [false, true] {
        encoder.begin(None).unwrap();
        let (mut rest, mut frame, mut room) = (&content[..], Vec::new(), vec![0; 1 << 16]);
        loop {
            if changed && rest.len() < 4_000_000 {
                encoder.set_level(12).unwrap();
            }
            let piece = &rest[..rest.len().min(100_000)];
            let operation = match piece.len() == rest.len() {
                true => Operation::End,
                false => Operation::Continue,
            };
            let step = encoder.push(piece, &mut room, operation).unwrap();
            rest = &rest[step.consumed..];
            frame.extend_from_slice(&room[..step.produced]);
            if step.state == State::Done {
                break;
            }
        }
        assert!(decompress(&frame, &DecoderOptions::default()).unwrap() == content);
        sizes.push(frame.len());
    }
    assert!(sizes[1] * 10 < sizes[0] * 8, "{sizes:?}");
    assert_eq!(
        encoder.set_level(23).unwrap_err().kind(),
        ErrorKind::Parameter
    );
}

#[test]
fn dictionaries_come_from_every_method() {
    let samples: Vec<Vec<u8>> = (0..300)
        .map(|n| {
            let mut record = format!("{{\"user\":{},\"kind\":\"session\",\"note\":\"", n * 7919);
            record.push_str(&String::from_utf8(prose(n, 80)).unwrap());
            record.push_str("\",\"ok\":true}");
            record.into_bytes()
        })
        .collect();
    let plain = compress(&samples[0], &EncoderOptions::default())
        .unwrap()
        .len();
    let cover = Cover::default().with_k(120).with_d(8);
    for method in [
        TrainMethod::Cover(cover),
        TrainMethod::Cover(
            Cover::default()
                .with_d(6)
                .with_steps(2)
                .with_split_percent(80),
        ),
        TrainMethod::FastCover(cover.with_f(18).with_accel(3)),
        TrainMethod::FastCover(Cover::default().with_d(8).with_steps(2).with_shrink(2)),
        TrainMethod::Legacy { selectivity: 9 },
    ] {
        let trained = dictionary::train_by(&samples, 4096, method, 5).unwrap();
        assert!(
            trained.id().is_some() && trained.bytes().len() <= 4096,
            "{method:?}"
        );
        let options = EncoderOptions::default().with_dictionary(trained.clone());
        let frame = compress(&samples[0], &options).unwrap();
        assert!(
            frame.len() * 10 < plain * 9,
            "{method:?}: {} of {plain}",
            frame.len()
        );
        let options = DecoderOptions::default().with_dictionaries([trained]);
        assert!(decompress(&frame, &options).unwrap() == samples[0]);
    }
    // Settings out of range are refused, and never more than that.
    for wrong in [
        TrainMethod::Cover(cover.with_k(5000)),
        TrainMethod::Cover(cover.with_d(200)),
        TrainMethod::Cover(Cover::default().with_split_percent(101)),
        TrainMethod::FastCover(cover.with_d(7)),
        TrainMethod::FastCover(cover.with_f(40)),
        TrainMethod::FastCover(cover.with_accel(11)),
    ] {
        assert!(
            dictionary::train_by(&samples, 4096, wrong, 3).is_err(),
            "{wrong:?}"
        );
    }
    let few = &samples[..4];
    assert!(dictionary::train_by(few, 4096, TrainMethod::Legacy { selectivity: 9 }, 3).is_err());
}
