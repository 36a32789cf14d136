//! Bodies of the targets for work in slices, and for the costs that decide about it.

use zstdkit::schedule::{CostKey, CostModel};
use zstdkit::sliced::{Budget, SLICE_BYTES, SlicedDecoder, SlicedEncoder};
use zstdkit::{DecoderOptions, EncoderOptions, Error, Operation, State, Totals};

use crate::plan::Plan;
use crate::zstd::{BLOCK_BYTES, check_error, decode, encoder_options, write_content};

/// What a test may decode at most.
const OUTPUT_LIMIT: u64 = 4 << 20;
/// Less would make long contents slow to read.
const ROOM_BYTES_MIN: usize = 100;
/// Steps that may do nothing, one after the other.
const IDLE_MAX: u32 = 3;

/// Content through the sliced encoder and back, and any bytes through the sliced decoder. No step
/// does more than its budget and what its documentation grants beyond it, every step does something,
/// and slices change neither content nor error.
pub fn zstd_sliced(data: &[u8]) {
    let mut plan = Plan::new(data);
    let options = encoder_options(&mut plan).with_workers(0);
    let content = write_content(&mut plan);
    let frame = encode(&options, &mut plan, &content);
    let limits = DecoderOptions::default().with_window_log_max(31);
    let cut = (
        plan.size(1 << 16),
        plan.size(2 * BLOCK_BYTES).max(ROOM_BYTES_MIN),
    );
    let (back, end) = decode_sliced(&frame, &limits, cut, &mut plan.clone());
    end.expect("what was encoded in slices decodes in slices");
    assert!(back == content, "another content came back");

    let options = DecoderOptions::default()
        .with_window_log_max(10 + plan.below(14) as u32)
        .with_output_limit(OUTPUT_LIMIT >> plan.below(12));
    let mut budgets = plan.clone();
    let stream = plan.rest();
    let (whole, end) = decode(stream, &options, stream.len().max(1), 2 * BLOCK_BYTES);
    let (sliced, sliced_end) = decode_sliced(stream, &options, cut, &mut budgets);
    assert_eq!(sliced_end, end, "slices changed how it ended");
    let common = sliced.len().min(whole.len());
    assert!(sliced[..common] == whole[..common], "slices changed it");
    assert!(end.is_err() || sliced.len() == whole.len());
}

fn encode(options: &EncoderOptions, plan: &mut Plan<'_>, content: &[u8]) -> Vec<u8> {
    let mut encoder = SlicedEncoder::new(options).expect("the options are within bounds");
    let known = plan.bit().then_some(content.len() as u64);
    encoder.begin(known).expect("a frame begins");
    let mut frame = Vec::new();
    let mut taken = 0;
    while taken < content.len() {
        let size = plan.size(content.len() - taken);
        let piece = &content[taken..taken + size];
        let operation = match plan.below(3) {
            0 => Operation::Flush,
            _ => Operation::Continue,
        };
        drive(&mut encoder, plan, piece, operation, &mut frame);
        taken += size;
    }
    drive(&mut encoder, plan, &[], Operation::End, &mut frame);
    frame
}

fn drive(
    encoder: &mut SlicedEncoder,
    plan: &mut Plan<'_>,
    piece: &[u8],
    operation: Operation,
    frame: &mut Vec<u8>,
) {
    let mut room = vec![0; plan.size(1 << 17)];
    let mut rest = piece;
    let mut idle = 0;
    loop {
        let slices = 1 + plan.below(9) as u32;
        let mut budget = Budget::slices(slices);
        let step = encoder
            .step(rest, &mut room, operation, &mut budget)
            .expect("encoding goes on");
        assert!(
            step.consumed <= slices as usize * SLICE_BYTES,
            "{slices} slices took {} bytes",
            step.consumed
        );
        rest = &rest[step.consumed..];
        frame.extend_from_slice(&room[..step.produced]);
        let did = step.consumed + step.produced > 0;
        idle = if did { 0 } else { idle + 1 };
        assert!(idle <= IDLE_MAX, "steps do nothing and want to go on");
        match step.state {
            State::MoreOutput => {}
            State::NeedInput | State::Done => {
                assert!(rest.is_empty(), "input was left");
                assert_eq!(step.state == State::Done, operation == Operation::End);
                return;
            }
        }
    }
}

fn decode_sliced(
    stream: &[u8],
    options: &DecoderOptions,
    (cut, room): (usize, usize),
    plan: &mut Plan<'_>,
) -> (Vec<u8>, Result<Totals, Error>) {
    let mut decoder = SlicedDecoder::new(options).expect("the options are within bounds");
    let mut room = vec![0; room];
    let mut content = Vec::new();
    for mut input in stream.chunks(cut) {
        let mut idle = 0;
        loop {
            let slices = 1 + plan.below(9) as u32;
            let mut budget = Budget::slices(slices);
            let step = match decoder.step(input, &mut room, &mut budget) {
                Ok(step) => step,
                Err(error) => {
                    check_error(&error, stream.len());
                    return (content, Err(error));
                }
            };
            let most = (slices as usize - 1) * SLICE_BYTES + BLOCK_BYTES;
            assert!(step.produced <= most, "{slices} slices: {}", step.produced);
            content.extend_from_slice(&room[..step.produced]);
            input = &input[step.consumed..];
            if step.state != State::MoreOutput {
                assert!(input.is_empty(), "input was left");
                break;
            }
            let did = step.consumed + step.produced > 0;
            idle = if did { 0 } else { idle + 1 };
            assert!(idle <= IDLE_MAX, "steps do nothing and want to go on");
        }
    }
    let end = decoder.finish();
    (content, end)
}

/// Any text as a file of costs: refused with its line, or the same costs again when written.
pub fn zstd_costs(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    // The version differs with the library that is linked, which no corpus can know.
    let text = text.replace("VERSION", zstdkit::version());
    match CostModel::from_text(&text) {
        Ok(model) => {
            let written = model.to_text();
            let again = CostModel::from_text(&written).expect("what is written is read");
            assert_eq!(again.to_text(), written);
            for bytes in [1, 1 << 10, 1 << 20, usize::MAX >> 1] {
                let key = CostKey::compress(&EncoderOptions::default(), bytes);
                std::hint::black_box(model.predict_ns(key, bytes));
                std::hint::black_box(model.decide(&EncoderOptions::default(), bytes));
            }
        }
        Err(error) => {
            assert!(error.offset() <= text.len() && error.line() >= 1);
            assert!(!error.to_string().contains('\n'));
        }
    }
}
