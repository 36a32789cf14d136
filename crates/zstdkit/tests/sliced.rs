//! The bound on a step, by counting compressed content, decoded content and skipped input.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{self, noise, prose, skippable};
use proptest::prelude::*;
use zstdkit::sliced::{Budget, SLICE_BYTES, SlicedDecoder, SlicedEncoder};
use zstdkit::{Decoder, DecoderOptions, EncoderOptions, ErrorKind, Operation, Parameters, State};

const BLOCK: usize = 128 << 10;

/// Decodes the available part of a frame, to count the content that steps have compressed.
struct Meter {
    decoder: Decoder,
    content: Vec<u8>,
}

impl Meter {
    fn new() -> Self {
        Self {
            decoder: Decoder::new(&DecoderOptions::default()).unwrap(),
            content: Vec::new(),
        }
    }

    fn add(&mut self, mut bytes: &[u8]) -> usize {
        let before = self.content.len();
        let mut buffer = vec![0; BLOCK];
        loop {
            let step = self.decoder.push(bytes, &mut buffer).unwrap();
            self.content.extend_from_slice(&buffer[..step.produced]);
            bytes = &bytes[step.consumed..];
            if step.state != State::MoreOutput {
                return self.content.len() - before;
            }
        }
    }
}

fn options(level: i32, block_bytes_max: Option<u32>) -> EncoderOptions {
    EncoderOptions::default()
        .with_level(level)
        .with_block_bytes_max(block_bytes_max)
}

/// Compresses in steps of `slices` with enough room for output, and checks each against its budget.
fn encode(content: &[u8], options: &EncoderOptions, pledge: bool, slices: &[u32], cuts: &[usize]) {
    let mut encoder = SlicedEncoder::new(options).unwrap();
    encoder
        .begin(pledge.then_some(content.len() as u64))
        .unwrap();
    let mut meter = Meter::new();
    let mut output = vec![0; 2 * content.len() + 4096];
    let (mut rest, mut taken) = (content, 0);
    let mut budgets = slices.iter().copied().cycle();
    for cut in common::cycle(cuts) {
        let (mut input, after) = rest.split_at(cut.min(rest.len()));
        rest = after;
        let operation = match rest.is_empty() {
            true => Operation::End,
            false => Operation::Continue,
        };
        loop {
            let allowed = budgets.next().unwrap();
            let mut budget = Budget::slices(allowed);
            let step = encoder
                .step(input, &mut output, operation, &mut budget)
                .unwrap();
            let most = allowed as usize * SLICE_BYTES;
            assert!(step.consumed <= most, "{step:?} of {allowed} slices");
            let compressed = meter.add(&output[..step.produced]);
            assert!(compressed <= most, "{compressed} of {allowed} slices");
            taken += step.consumed;
            let waiting = taken - meter.content.len();
            // A single block that holds the whole content waits for the end.
            assert!(waiting <= SLICE_BYTES, "{waiting} left for later steps");
            input = &input[step.consumed..];
            if step.state != State::MoreOutput {
                assert!(input.is_empty());
                break;
            }
            assert!(budget.is_spent(), "stopped before it had to");
        }
        if operation == Operation::End {
            break;
        }
    }
    assert!(meter.content == content);
    assert_eq!(meter.decoder.finish().unwrap().frames, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_step_compresses_no_more_than_its_budget(
        seed: u64,
        len in prop_oneof![0_usize..40_000, 16_383_usize..16_386, 100_000_usize..300_000],
        random in prop::bool::weighted(0.2),
        level in -5_i32..=9,
        block in prop_oneof![
            4 => Just(None), 1 => (1_u32 << 10..20_000).prop_map(Some), 1 => Just(Some(128 << 10))
        ],
        window_log in prop_oneof![3 => Just(None), 1 => (10_u32..18).prop_map(Some)],
        pledge: bool,
        slices in prop::collection::vec(1_u32..5, 1..4),
        cuts in prop::collection::vec(prop_oneof![1000_usize..20_000, Just(1 << 20)], 1..4),
    ) {
        let content = if random { noise(seed, len) } else { prose(seed, len) };
        let options = options(level, block).with_window_log(window_log);
        encode(&content, &options, pledge, &slices, &cuts);
    }

    #[test]
    fn small_outputs_and_flushes_round_trip(
        seed: u64,
        len in 0_usize..100_000,
        room in prop_oneof![1_usize..100, 1000_usize..30_000],
        flushed in any::<bool>(),
        slices in 1_u32..4,
    ) {
        let content = prose(seed, len);
        let mut encoder = SlicedEncoder::new(&options(1, None)).unwrap();
        let (mut frame, mut output) = (Vec::new(), vec![0; room]);
        let half = content.len() / 2;
        let middle = if flushed { Operation::Flush } else { Operation::Continue };
        for (mut input, operation) in
            [(&content[..half], middle), (&content[half..], Operation::End)]
        {
            loop {
                let mut budget = Budget::slices(slices);
                let step = encoder.step(input, &mut output, operation, &mut budget).unwrap();
                prop_assert!(
                    step.state != State::MoreOutput
                        || budget.is_spent()
                        || step.produced == room
                );
                input = &input[step.consumed..];
                frame.extend_from_slice(&output[..step.produced]);
                if step.state != State::MoreOutput {
                    break;
                }
            }
            if flushed && operation == Operation::Flush {
                let mut meter = Meter::new();
                meter.add(&frame);
                prop_assert_eq!(meter.content.len(), half);
            }
        }
        prop_assert!(zstdkit::decompress(&frame, &DecoderOptions::default()).unwrap() == content);
    }

    #[test]
    fn a_step_decodes_one_block_more_than_its_budget_at_most(
        seed: u64,
        len in 0_usize..600_000,
        block in prop_oneof![Just(None), Just(Some(16 << 10))],
        slices in 1_u32..12,
        room in prop_oneof![1_usize..5000, Just(1 << 20)],
        frames in 1_usize..3,
    ) {
        let content = prose(seed, len);
        let stream = common::frame(&content, &options(1, block)).repeat(frames);
        let mut decoder = SlicedDecoder::new(&DecoderOptions::default()).unwrap();
        let room = if len > 100_000 { room.max(1000) } else { room };
        let (mut input, mut decoded, mut output) = (&stream[..], Vec::new(), vec![0; room]);
        loop {
            let mut budget = Budget::slices(slices);
            let step = decoder.step(input, &mut output, &mut budget).unwrap();
            let most = (slices as usize - 1) * SLICE_BYTES + BLOCK;
            prop_assert!(step.produced <= most, "{step:?} of {slices} slices");
            input = &input[step.consumed..];
            decoded.extend_from_slice(&output[..step.produced]);
            if step.state != State::MoreOutput {
                break;
            }
            prop_assert!(budget.is_spent() || step.produced == room);
        }
        prop_assert_eq!(decoder.finish().unwrap().frames, frames as u64);
        prop_assert!(decoded == content.repeat(frames));
    }
}

#[test]
fn input_without_content_is_bounded_as_well() {
    let stream = skippable(3, b"").repeat(100_000);
    let mut decoder = SlicedDecoder::new(&DecoderOptions::default()).unwrap();
    let mut rest = &stream[..];
    let mut steps = 0;
    while !rest.is_empty() {
        let step = decoder.step(rest, &mut [], &mut Budget::slices(1)).unwrap();
        assert!(step.consumed > 0 && step.consumed <= BLOCK + 25, "{step:?}");
        rest = &rest[step.consumed..];
        steps += 1;
    }
    assert_eq!(steps, stream.len().div_ceil(BLOCK + 25));
    assert_eq!(decoder.finish().unwrap().skippable_frames, 100_000);
}

#[test]
fn buffers_are_done_slice_by_slice() {
    let content = prose(7, 200_000);
    let mut encoder = SlicedEncoder::new(&options(3, None)).unwrap();
    encoder.begin(Some(200_000)).unwrap();
    encoder.open().unwrap();
    let (mut input, mut frame, mut steps) = (&content[..], Vec::new(), 1);
    while encoder
        .step_into(
            &mut input,
            &mut frame,
            Operation::End,
            &mut Budget::slices(2),
        )
        .unwrap()
        != State::Done
    {
        steps += 1;
        assert_eq!(content.len() - input.len(), 2 * SLICE_BYTES * (steps - 1));
    }
    assert_eq!(steps, 200_000_usize.div_ceil(2 * SLICE_BYTES));
    assert_eq!(
        zstdkit::frame::list(&frame).unwrap()[0].content_size,
        Some(200_000)
    );

    let mut decoder = SlicedDecoder::new(&DecoderOptions::default()).unwrap();
    let (mut input, mut decoded) = (&frame[..], Vec::new());
    let mut budget = Budget::slices(u32::MAX);
    let state = decoder
        .step_into(&mut input, &mut decoded, &mut budget)
        .unwrap();
    assert_eq!(state, State::Done);
    assert!(decoded == content);
}

#[test]
fn nothing_happens_without_a_budget() {
    let mut encoder = SlicedEncoder::new(&options(3, None)).unwrap();
    let mut frame = Vec::new();
    let mut input = &b"content"[..];
    let mut spent = Budget::slices(0);
    let state = encoder.step_into(&mut input, &mut frame, Operation::End, &mut spent);
    assert_eq!(state, Ok(State::MoreOutput));
    assert_eq!((input.len(), frame.len()), (7, 0));
    let mut decoder = SlicedDecoder::new(&DecoderOptions::default()).unwrap();
    let step = decoder.step(b"content", &mut [0; 64], &mut spent).unwrap();
    assert_eq!((step.consumed, step.produced), (0, 0));
}

#[test]
fn errors_are_those_of_what_is_inside() {
    let workers = EncoderOptions::default().with_workers(1);
    assert_eq!(
        SlicedEncoder::new(&workers).unwrap_err().kind(),
        ErrorKind::Parameter
    );
    let bad = EncoderOptions::default().with_parameters(Parameters::default().with_min_match(9));
    assert_eq!(
        SlicedEncoder::new(&bad).unwrap_err().kind(),
        ErrorKind::Parameter
    );

    let mut encoder = SlicedEncoder::new(&EncoderOptions::default()).unwrap();
    encoder.begin(Some(5)).unwrap();
    let mut frame = b"kept".to_vec();
    let mut budget = Budget::slices(9);
    let error = encoder.step_into(
        &mut &b"1234567"[..],
        &mut frame,
        Operation::End,
        &mut budget,
    );
    assert_eq!(error.unwrap_err().kind(), ErrorKind::PledgedSize);
    assert_eq!(frame, b"kept");

    let mut decoder = SlicedDecoder::new(&DecoderOptions::default()).unwrap();
    let mut input = &b"not zstd at all"[..];
    let error = decoder.step_into(&mut input, &mut Vec::new(), &mut budget);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::NotZstd);
}
