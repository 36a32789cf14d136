//! The encoder: options and their bounds, pledges, flushes, reuse, workers, the bound on a call.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{self, BLOCK, encode, prose, push_all};
use twox_hash::XxHash64;
use zstdkit::{
    Decoder, DecoderOptions, Encoder, EncoderOptions, ErrorKind, Operation, State, frame,
};

fn encoder(options: EncoderOptions) -> Encoder {
    Encoder::new(&options).unwrap()
}

fn decoded(stream: &[u8]) -> Vec<u8> {
    zstdkit::decompress(stream, &DecoderOptions::default().with_window_log_max(31)).unwrap()
}

#[test]
fn options_out_of_bounds_are_named() {
    let default = EncoderOptions::default;
    for (options, text) in [
        (
            default().with_level(23),
            "level 23 is out of range (-131072 to 22)",
        ),
        (
            default().with_level(-131_073),
            "level -131073 is out of range (-131072 to 22)",
        ),
        (
            default().with_window_log(9),
            "window_log 9 is out of range (10 to",
        ),
        (
            default().with_window_log(32),
            "window_log 32 is out of range",
        ),
        (
            default().with_workers(100_000),
            "workers 100000 is out of range (0 to",
        ),
        (
            default().with_job_size(5),
            "job_size 5 is out of range (524288 to",
        ),
        (
            default().with_overlap_log(10),
            "overlap_log 10 is out of range (0 to 9)",
        ),
    ] {
        let error = Encoder::new(&options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parameter);
        assert_eq!(error.offset(), None);
        assert!(error.to_string().starts_with(text), "{error}");
    }
}

#[test]
fn levels_reach_both_ends() {
    let content = prose(1, 5000);
    for level in [-131_072, -1, 0, 1, 22] {
        let mut encoder = encoder(EncoderOptions::default().with_level(level));
        encoder.begin(Some(5000)).unwrap();
        let stream = encode(&mut encoder, &content, &[700], 100, &[]).unwrap();
        assert_eq!(decoded(&stream), content, "level {level}");
    }
    // 0 is the default level.
    let of =
        |level| zstdkit::compress(&content, &EncoderOptions::default().with_level(level)).unwrap();
    assert_eq!(of(0), of(3));
    assert_ne!(of(0), of(1));
}

#[test]
fn header_says_what_the_options_ask() {
    let content = prose(1, 300_000);
    for (options, window, size, checksum) in [
        (EncoderOptions::default(), 300_000, Some(300_000), true),
        (
            EncoderOptions::default()
                .with_content_size(false)
                .with_checksum(false),
            512 << 10,
            None,
            false,
        ),
        (
            EncoderOptions::default().with_window_log(12),
            4096,
            Some(300_000),
            true,
        ),
    ] {
        let mut encoder = encoder(options);
        encoder.begin(Some(300_000)).unwrap();
        let stream = encode(&mut encoder, &content, &[10_000], 1000, &[]).unwrap();
        let info = &frame::list(&stream).unwrap()[0];
        assert_eq!(info.window_bytes, window);
        assert_eq!(info.content_size, size);
        assert_eq!(info.has_checksum, checksum);
    }
}

#[test]
fn size_of_a_frame_given_whole_is_known() {
    // 300,000 bytes take three calls without a pledge; the first call says that this is all.
    let content = prose(1, 300_000);
    let mut encoder = encoder(EncoderOptions::default());
    let whole = encode(&mut encoder, &content, &[usize::MAX], 1 << 20, &[]).unwrap();
    assert_eq!(frame::list(&whole).unwrap()[0].content_size, Some(300_000));
    encoder.begin(None).unwrap();
    let pieces = encode(&mut encoder, &content, &[100_000], 1 << 20, &[]).unwrap();
    assert_eq!(frame::list(&pieces).unwrap()[0].content_size, None);
    assert_eq!(decoded(&pieces), content);
}

#[test]
fn long_distance_finds_what_the_window_of_the_level_does_not() {
    let noise = common::noise(7, 6 << 20);
    let content = [&noise[..], &noise[..]].concat();
    let plain = EncoderOptions::default().with_level(1);
    let long = plain.clone().with_long_distance(true).with_window_log(23);
    let compress = |options: &EncoderOptions| {
        let mut encoder = encoder(options.clone());
        encode(&mut encoder, &content, &[BLOCK], 1 << 18, &[]).unwrap()
    };
    assert!(compress(&plain).len() > content.len());
    let stream = compress(&long);
    assert!(stream.len() < content.len() * 11 / 20, "{}", stream.len());
    assert_eq!(decoded(&stream), content);
    assert_eq!(frame::list(&stream).unwrap()[0].window_bytes, 8 << 20);
}

#[test]
fn other_than_the_pledged_size_is_an_error_with_both_sizes() {
    let mut buffer = [0; 1000];
    let mut encoder = encoder(EncoderOptions::default());
    encoder.begin(Some(10)).unwrap();
    assert_eq!(
        encoder
            .push(b"12345", &mut buffer, Operation::Continue)
            .unwrap()
            .consumed,
        5
    );
    let error = encoder
        .push(b"678901", &mut buffer, Operation::Continue)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PledgedSize);
    assert_eq!(error.offset(), Some(10));
    assert_eq!(
        error.to_string(),
        "wrong frame size: pledged 10 bytes, given 11"
    );
    // The error stays until the next frame.
    assert_eq!(encoder.push(b"", &mut buffer, Operation::End), Err(error));

    encoder.begin(Some(10)).unwrap();
    let error = encoder
        .push(b"123456789", &mut buffer, Operation::End)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "wrong frame size: pledged 10 bytes, given 9"
    );
    assert_eq!(error.offset(), Some(9));

    encoder.begin(Some(10)).unwrap();
    let stream = encode(&mut encoder, b"1234567890", &[3], 100, &[]).unwrap();
    assert_eq!(decoded(&stream), b"1234567890");

    encoder.begin(Some(0)).unwrap();
    let error = encoder.push(b"x", &mut buffer, Operation::End).unwrap_err();
    assert_eq!(
        error.to_string(),
        "wrong frame size: pledged 0 bytes, given 1"
    );
}

#[test]
fn a_closed_frame_takes_nothing_more() {
    let mut buffer = [0; 1000];
    let mut encoder = encoder(EncoderOptions::default());
    let step = encoder.push(b"abc", &mut buffer, Operation::End).unwrap();
    assert_eq!(step.state, State::Done);
    for operation in [Operation::Continue, Operation::Flush, Operation::End] {
        let step = encoder.push(b"", &mut buffer, operation).unwrap();
        assert_eq!((step.produced, step.state), (0, State::Done));
    }
    let error = encoder
        .push(b"d", &mut buffer, Operation::Continue)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoOpenFrame);
    encoder.begin(None).unwrap();
    assert_eq!(
        decoded(&encode(&mut encoder, b"d", &[1], 100, &[]).unwrap()),
        b"d"
    );
}

#[test]
fn an_end_that_has_begun_takes_nothing_more() {
    let mut encoder = encoder(EncoderOptions::default());
    let step = encoder.push(b"abc", &mut [0; 2], Operation::End).unwrap();
    assert_eq!((step.consumed, step.state), (3, State::MoreOutput));
    let error = encoder.push(b"d", &mut [0; 2], Operation::End).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoOpenFrame);
    encoder.begin(None).unwrap();
    // Whatever the operation of later calls, a started end continues as an end.
    let mut stream = Vec::new();
    let mut buffer = [0; 2];
    let mut operation = Operation::End;
    let mut input = &b"abc"[..];
    loop {
        let step = encoder.push(input, &mut buffer, operation).unwrap();
        stream.extend(&buffer[..step.produced]);
        (input, operation) = (&input[step.consumed..], Operation::Continue);
        if step.state == State::Done {
            break;
        }
    }
    assert_eq!(decoded(&stream), b"abc");
}

#[test]
fn a_flush_makes_everything_readable() {
    let mut encoder = encoder(EncoderOptions::default());
    let mut decoder = Decoder::new(&DecoderOptions::default()).unwrap();
    let mut sent = Vec::new();
    for (size, room) in [
        (1, 3),
        (5000, 100),
        (0, 9),
        (200_000, 70),
        (300_000, 1 << 20),
        (7, 1),
    ] {
        let piece = prose(size as u64, size);
        let (mut stream, mut buffer) = (Vec::new(), vec![0; room]);
        let state = push_all(
            &mut encoder,
            &piece,
            &mut buffer,
            Operation::Flush,
            &mut stream,
        )
        .unwrap();
        assert_eq!(state, State::NeedInput);
        sent = piece;
        let mut received: Vec<u8> = Vec::new();
        let (mut input, mut buffer) = (&stream[..], vec![0; 1 << 17]);
        loop {
            let step = decoder.push(input, &mut buffer).unwrap();
            input = &input[step.consumed..];
            received.extend(&buffer[..step.produced]);
            if step.state != State::MoreOutput {
                break;
            }
        }
        assert!(received == sent, "{size} bytes through {room}");
    }
    assert_eq!(sent.len(), 7);
}

#[test]
fn large_pieces_and_small_outputs_lose_nothing() {
    let content = prose(3, 3 << 20);
    for room in [1000, 128 << 10, 4 << 20] {
        for flush in [&[][..], &[0, 1]] {
            let mut encoder = encoder(EncoderOptions::default());
            let stream = encode(&mut encoder, &content, &[1 << 20], room, flush).unwrap();
            assert!(decoded(&stream) == content);
        }
    }
}

#[test]
fn a_call_takes_at_most_a_block() {
    let content = prose(3, 1 << 20);
    let mut encoder = encoder(EncoderOptions::default());
    let mut buffer = vec![0; 4 << 20];
    for operation in [Operation::Continue, Operation::Flush, Operation::End] {
        encoder.begin(None).unwrap();
        let step = encoder.push(&content, &mut buffer, operation).unwrap();
        assert_eq!((step.consumed, step.state), (BLOCK, State::MoreOutput));
    }
}

#[test]
fn a_new_frame_keeps_options_and_drops_the_old_frame() {
    let content = prose(5, 50_000);
    let options = EncoderOptions::default().with_level(9).with_checksum(false);
    let fresh = encode(
        &mut encoder(options.clone()),
        &content,
        &[BLOCK],
        1 << 20,
        &[],
    )
    .unwrap();
    let mut used = encoder(options);
    for _ in 0..3 {
        used.begin(Some(1000)).unwrap();
        let _dropped = used
            .push(b"dropped", &mut [0; 100], Operation::Flush)
            .unwrap();
        used.begin(None).unwrap();
        assert_eq!(
            encode(&mut used, &content, &[BLOCK], 1 << 20, &[]).unwrap(),
            fresh
        );
    }
}

#[test]
fn memory_stays_the_same_over_frames() {
    let content = prose(5, 20_000);
    let mut encoder = encoder(EncoderOptions::default());
    let mut memory = Vec::new();
    for _ in 0..300 {
        encoder.begin(Some(20_000)).unwrap();
        encode(&mut encoder, &content, &[4096], 8192, &[]).unwrap();
        memory.push(encoder.memory_bytes());
    }
    assert!(
        memory.windows(2).all(|pair| pair[0] == pair[1]),
        "{memory:?}"
    );
}

#[test]
fn workers_give_one_frame_that_anyone_can_read() {
    let content = prose(5, 6 << 20);
    for options in [
        EncoderOptions::default().with_workers(1),
        EncoderOptions::default().with_workers(3).with_level(1),
        EncoderOptions::default()
            .with_workers(2)
            .with_job_size(1 << 20)
            .with_overlap_log(3),
    ] {
        let mut encoder = Encoder::new(&options).unwrap();
        for pledged in [None, Some(content.len() as u64)] {
            encoder.begin(pledged).unwrap();
            let stream = threaded(&mut encoder, &content);
            assert!(decoded(&stream) == content);
            let info = &frame::list(&stream).unwrap()[0];
            assert_eq!((info.content_size, info.has_checksum), (pledged, true));
            let held = encoder.memory_bytes() as u64;
            let estimate = options.memory_estimate_bytes(pledged);
            assert!(held <= estimate, "{held} held, {estimate} estimated");
        }
        // Dropping a frame while workers are busy does no harm.
        encoder.begin(None).unwrap();
        let _dropped = encoder
            .push(&content, &mut [0; 10], Operation::Continue)
            .unwrap();
        encoder.begin(None).unwrap();
        assert!(decoded(&threaded(&mut encoder, &content)) == content);
        let step = encoder.push(b"", &mut [], Operation::End).unwrap();
        assert_eq!(step.state, State::Done);
    }
}

/// Workers take any amount of input in a call and do not wait, so the progress checks of
/// `common::encode` do not hold.
fn threaded(encoder: &mut Encoder, content: &[u8]) -> Vec<u8> {
    let (mut stream, mut buffer) = (Vec::new(), vec![0; 100_000]);
    let mut pieces = content.chunks(333_333).peekable();
    while let Some(mut input) = pieces.next() {
        let operation = if pieces.peek().is_none() {
            Operation::End
        } else {
            Operation::Continue
        };
        loop {
            let step = encoder.push(input, &mut buffer, operation).unwrap();
            input = &input[step.consumed..];
            stream.extend(&buffer[..step.produced]);
            match step.state {
                State::MoreOutput => {}
                State::NeedInput => break assert_eq!(operation, Operation::Continue),
                State::Done => break assert_eq!(operation, Operation::End),
            }
        }
    }
    stream
}

#[test]
fn encoders_and_decoders_can_move_between_threads() {
    fn send<T: Send + 'static>(_: &T) {}
    send(&encoder(EncoderOptions::default()));
    send(&Decoder::new(&DecoderOptions::default()).unwrap());
    send(&zstdkit::Compressor::new(&EncoderOptions::default()).unwrap());
    send(&zstdkit::Decompressor::new(&DecoderOptions::default()).unwrap());
}

#[test]
fn version_is_the_one_that_was_measured() {
    assert_eq!(zstdkit::version(), "1.5.7");
}

/// Completes the frame of `content` with an external hash, in outputs of `room` bytes.
fn with_hash(encoder: &mut Encoder, content: &[u8], room: usize) -> Vec<u8> {
    let (mut rest, mut frame, mut room) = (content, Vec::new(), vec![0; room]);
    encoder.set_content_hash(XxHash64::oneshot(0, content));
    loop {
        let step = encoder.push(rest, &mut room, Operation::End).unwrap();
        rest = &rest[step.consumed..];
        frame.extend_from_slice(&room[..step.produced]);
        if step.state == State::Done {
            let after = encoder.push(&[], &mut room, Operation::End).unwrap();
            assert_eq!((after.produced, after.state), (0, State::Done));
            return frame;
        }
    }
}

#[test]
fn an_external_checksum_gives_the_same_frame() {
    let contents = [Vec::new(), b"x".to_vec(), prose(1, 300), prose(2, 700_000)];
    for workers in [0, 1] {
        let options = EncoderOptions::default().with_workers(workers);
        let mut encoder = Encoder::new(&options).unwrap();
        for content in &contents {
            for pledged in [None, Some(content.len() as u64)] {
                encoder.begin(pledged).unwrap();
                let plain = with_hash(&mut encoder, content, 1 << 20);
                for room in [1, 3, 4, 5, 1 << 20] {
                    encoder.begin_external_checksum(pledged).unwrap();
                    let frame = with_hash(&mut encoder, content, room);
                    assert!(frame == plain, "{} bytes, room {room}", content.len());
                }
            }
        }
    }
}

#[test]
fn an_external_checksum_is_required_at_the_end() {
    let mut encoder = Encoder::new(&EncoderOptions::default()).unwrap();
    let mut room = vec![0; 1 << 10];
    encoder.begin_external_checksum(None).unwrap();
    let step = encoder.push(b"abc", &mut room, Operation::Flush).unwrap();
    assert_eq!(step.consumed, 3);
    let error = encoder.push(b"", &mut room, Operation::End).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter);
    // Decoders refuse a frame with a wrong hash. Without a checksum no hash is needed.
    encoder.begin_external_checksum(None).unwrap();
    encoder.set_content_hash(0);
    let step = encoder.push(b"abc", &mut room, Operation::End).unwrap();
    let refused = zstdkit::decompress(&room[..step.produced], &DecoderOptions::default());
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Checksum);
    let options = EncoderOptions::default().with_checksum(false);
    let mut encoder = Encoder::new(&options).unwrap();
    encoder.begin_external_checksum(None).unwrap();
    let step = encoder.push(b"abc", &mut room, Operation::End).unwrap();
    assert_eq!(step.state, State::Done);
    assert_eq!(
        room[..step.produced],
        zstdkit::compress(b"abc", &options).unwrap()
    );
}
