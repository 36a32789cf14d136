//! The encoder whose waiting is done elsewhere: the same frames as an encoder that waits, in calls that do not.

use std::time::Duration;

use zstdkit::parallel::OffloadedEncoder;
use zstdkit::{DecoderOptions, Encoder, EncoderOptions, Operation, State};

/// Text that compresses, and differs everywhere.
fn content(bytes: usize) -> Vec<u8> {
    let lines = (0_u64..).flat_map(|nth| {
        let value = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        format!("{{\"id\":{nth},\"value\":{value}}}\n").into_bytes()
    });
    lines.take(bytes).collect()
}

/// A frame by calls of `piece` bytes that wait for `wait`; and how many calls did nothing.
fn frame(
    encoder: &mut OffloadedEncoder,
    content: &[u8],
    (piece, room, flush): (usize, usize, bool),
    wait: Duration,
) -> (Vec<u8>, u64) {
    let (mut frame, mut room, mut idle) = (Vec::new(), vec![0; room], 0);
    let mut pieces = content.chunks(piece).peekable();
    let mut rest = pieces.next().unwrap_or_default();
    loop {
        let operation = match (pieces.peek(), flush) {
            (None, _) => Operation::End,
            (Some(_), true) => Operation::Flush,
            (Some(_), false) => Operation::Continue,
        };
        let step = encoder.push(rest, &mut room, operation, wait).unwrap();
        rest = &rest[step.consumed..];
        frame.extend_from_slice(&room[..step.produced]);
        match step.state {
            State::Done => return (frame, idle),
            State::NeedInput => rest = pieces.next().unwrap_or_default(),
            State::MoreOutput => idle += u64::from(step.consumed + step.produced == 0),
        }
    }
}

fn waiting(options: &EncoderOptions, content: &[u8], pledged: Option<u64>) -> Vec<u8> {
    let mut encoder = Encoder::new(options).unwrap();
    encoder.begin(pledged).unwrap();
    let (mut frame, mut room, mut rest) = (Vec::new(), vec![0; 100_000], content);
    loop {
        let step = encoder.push(rest, &mut room, Operation::End).unwrap();
        rest = &rest[step.consumed..];
        frame.extend_from_slice(&room[..step.produced]);
        if step.state == State::Done {
            return frame;
        }
    }
}

const STEP: Duration = Duration::from_millis(1);

#[test]
fn frames_are_those_of_an_encoder_that_waits() {
    let options = EncoderOptions::default().with_level(1).with_workers(2);
    let mut encoder = OffloadedEncoder::new(&options).unwrap();
    for bytes in [0, 1, 128 << 10, (128 << 10) + 1, 3_000_000] {
        let content = content(bytes);
        let pledged = Some(bytes as u64);
        let expected = waiting(&options, &content, pledged);
        for (piece, room) in [(1 << 30, 1 << 20), (128 << 10, 7), (100_001, 70_000)] {
            // Frames through the smallest room take their time.
            if room == 7 && bytes > 1 << 20 {
                continue;
            }
            encoder.begin(pledged).unwrap();
            let (found, _) = frame(&mut encoder, &content, (piece, room, false), STEP);
            assert_eq!(found, expected, "{bytes} bytes by {piece} into {room}");
        }
    }
}

#[test]
fn calls_return_while_the_workers_work() {
    let options = EncoderOptions::default().with_level(19).with_workers(2);
    let content = content(1_500_000);
    let mut encoder = OffloadedEncoder::new(&options).unwrap();
    encoder.begin(Some(content.len() as u64)).unwrap();
    let (found, idle) = frame(
        &mut encoder,
        &content,
        (1 << 30, 1 << 20, false),
        Duration::ZERO,
    );
    // An encoder that waits does all of the end in one call.
    assert!(idle > 10, "{idle}");
    let back = zstdkit::decompress(&found, &DecoderOptions::default()).unwrap();
    assert!(back == content);
}

#[test]
fn flushes_pass_on_what_was_given() {
    let options = EncoderOptions::default().with_workers(1);
    let mut encoder = OffloadedEncoder::new(&options).unwrap();
    let content = content(500_000);
    encoder.begin(None).unwrap();
    let (found, _) = frame(&mut encoder, &content, (100_000, 1 << 20, true), STEP);
    let back = zstdkit::decompress(&found, &DecoderOptions::default()).unwrap();
    assert!(back == content);
    // After a flush another one has nothing to do.
    encoder.begin(None).unwrap();
    let mut room = vec![0; 1 << 20];
    let mut push = |input: &[u8]| {
        let (mut rest, mut count) = (input, 0);
        loop {
            let step = encoder
                .push(rest, &mut room, Operation::Flush, STEP)
                .unwrap();
            rest = &rest[step.consumed..];
            count += step.produced;
            if step.state == State::NeedInput {
                return count;
            }
        }
    };
    assert!(push(b"some text") > 0);
    assert_eq!(push(b""), 0);
}

#[test]
fn a_dropped_frame_leaves_nothing_behind_and_errors_stay() {
    let options = EncoderOptions::default().with_workers(2);
    let mut encoder = OffloadedEncoder::new(&options).unwrap();
    let content = content(2_000_000);
    let mut room = vec![0; 100];
    encoder.begin(None).unwrap();
    for chunk in content.chunks(128 << 10) {
        let _ = encoder.push(chunk, &mut room, Operation::Continue, Duration::ZERO);
    }
    encoder.begin(Some(5)).unwrap();
    let (found, _) = frame(&mut encoder, b"hello", (5, 100, false), STEP);
    assert_eq!(found, waiting(&options, b"hello", Some(5)));
    // More than was pledged.
    encoder.begin(Some(3)).unwrap();
    let failed = loop {
        match encoder.push(b"", &mut room, Operation::End, STEP) {
            Ok(step) => assert_ne!(step.state, State::Done),
            Err(error) => break error,
        }
    };
    assert!(
        failed.to_string().contains("pledged 3 bytes, given 0"),
        "{failed}"
    );
    let again = encoder.push(b"", &mut room, Operation::End, STEP);
    assert_eq!(again.unwrap_err().to_string(), failed.to_string());
    encoder.begin(Some(5)).unwrap();
    let (found, _) = frame(&mut encoder, b"hello", (5, 100, false), STEP);
    assert_eq!(found, waiting(&options, b"hello", Some(5)));
    // Input after the end of a frame.
    assert!(
        encoder
            .push(b"more", &mut room, Operation::End, STEP)
            .is_err()
    );
}

#[test]
fn frames_may_be_begun_many_times_before_any_is_written() {
    let options = EncoderOptions::default().with_workers(2);
    let content = content(100_000);
    let mut encoder = OffloadedEncoder::new(&options).unwrap();
    for bytes in 0..50 {
        encoder.begin(Some(bytes)).unwrap();
    }
    encoder.begin(Some(content.len() as u64)).unwrap();
    let (got, _) = frame(&mut encoder, &content, (30_000, 1000, false), STEP);
    let back = zstdkit::decompress(&got, &DecoderOptions::default()).unwrap();
    assert!(back == content);
}
