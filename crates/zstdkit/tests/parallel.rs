//! The parallel decoder compared with the one without threads: the same content, totals and error for any
//! number of threads and any cut.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{Decoded, cycle, decode, frame, noise, prose, skippable};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use zstdkit::parallel::ParallelDecoder;
use zstdkit::{Decoder, DecoderOptions, EncoderOptions, ErrorKind, State};

/// How long a call may wait for threads.
const WAIT: Duration = Duration::from_millis(1);

/// Where workers write content.
#[derive(Clone, Default)]
struct Places(Arc<Mutex<Vec<u8>>>);

impl Places {
    /// Has this decoder write the content of its next stream here, except for runs at positions that
    /// `refuse` selects, which are handed out.
    fn of(
        decoder: &mut ParallelDecoder,
        refuse: impl Fn(u64) -> bool + Send + Sync + 'static,
    ) -> Self {
        let places = Self::default();
        let shared = places.clone();
        decoder.set_positioned_writer(Arc::new(move |position, content| {
            let mut all = shared.0.lock().unwrap();
            let (start, end) = (position as usize, position as usize + content.len());
            if refuse(position) {
                return false;
            }
            if all.len() < end {
                all.resize(end, 0);
            }
            all[start..end].copy_from_slice(content);
            true
        }));
        places
    }

    fn get(&self, start: usize, bytes: u64) -> Vec<u8> {
        self.0.lock().unwrap()[start..start + bytes as usize].to_vec()
    }
}

/// Decodes a stream with threads, in the given cuts.
fn parallel(decoder: &mut ParallelDecoder, stream: &[u8], cuts: &[usize], room: usize) -> Decoded {
    parallel_with(decoder, stream, cuts, room, &Places::default())
}

/// The same with threads that write content to its position.
fn parallel_with(
    decoder: &mut ParallelDecoder,
    stream: &[u8],
    cuts: &[usize],
    room: usize,
    places: &Places,
) -> Decoded {
    let mut content = Vec::new();
    let mut room = vec![0; room.max(1)];
    let mut rest = stream;
    let mut cuts = cycle(cuts);
    loop {
        let ended = rest.is_empty();
        let (mut input, after) = rest.split_at(cuts.next().unwrap().min(rest.len()));
        rest = after;
        loop {
            let step = match ended {
                true => decoder.end(&mut room, WAIT),
                false => decoder.push(input, &mut room, WAIT),
            };
            let step = match step {
                Ok(step) => step,
                Err(error) => {
                    assert_eq!(decoder.end(&mut room, WAIT).unwrap_err(), error);
                    return Decoded {
                        content,
                        result: Err(error),
                    };
                }
            };
            assert!(step.output.is_none() || step.produced == 0);
            input = &input[step.consumed..];
            content.extend_from_slice(&room[..step.produced]);
            content.extend_from_slice(step.output.as_deref().unwrap_or_default());
            if step.placed > 0 {
                assert!(step.produced == 0 && step.output.is_none());
                content.extend(places.get(content.len(), step.placed));
            }
            assert_eq!(content.len() as u64, decoder.totals().bytes_out);
            match step.state {
                State::MoreOutput => {}
                State::NeedInput => {
                    assert!(input.is_empty());
                    break;
                }
                State::Done => {
                    let result = Ok(decoder.totals());
                    return Decoded { content, result };
                }
            }
        }
    }
}

fn same(options: &DecoderOptions, stream: &[u8], cuts: &[usize], threads: usize) -> Decoded {
    let expected = decode(options, stream, &[1 << 18], &[1 << 17]);
    let mut decoder = ParallelDecoder::new(options, threads).unwrap();
    for (many, placing) in [(false, false), (true, false), (false, true), (true, true)] {
        decoder.reset(many);
        let places = match placing {
            // Some writes are refused, as on a full disk.
            true => Places::of(&mut decoder, |position| position % 3 == 1),
            false => Places::default(),
        };
        let found = parallel_with(&mut decoder, stream, cuts, 1 << 17, &places);
        assert_eq!(
            found.result, expected.result,
            "threads {threads}, many {many}"
        );
        // How much of the corrupt frame comes out depends on the cut, with or without threads.
        let common = match found.result {
            Ok(_) => found.content.len().max(expected.content.len()),
            Err(_) => found.content.len().min(expected.content.len()),
        };
        let (found, expected) = (&found.content, &expected.content);
        assert!(
            common <= found.len().min(expected.len()) && found[..common] == expected[..common],
            "threads {threads}, many {many}"
        );
    }
    expected
}

fn frames() -> Vec<Vec<u8>> {
    let unsized_ = EncoderOptions::default()
        .with_content_size(false)
        .with_checksum(false);
    vec![
        frame(&prose(1, 3_000_000), &EncoderOptions::default()),
        frame(&prose(2, 200_000), &unsized_),
        skippable(4, &[1; 5000]),
        frame(b"", &EncoderOptions::default()),
        frame(&noise(3, 1_500_000), &EncoderOptions::default()),
        frame(&vec![0; 5_000_000], &unsized_),
        frame(&vec![7; 4 << 20], &EncoderOptions::default()),
        frame(&prose(4, 2_500_000), &EncoderOptions::default()),
        frame(&prose(5, 100), &unsized_),
    ]
}

#[test]
fn content_and_totals_are_those_of_one_thread() {
    let stream = frames().concat();
    for threads in [0, 1, 2, 4] {
        for cuts in [&[1 << 18][..], &[usize::MAX], &[100_000, 1, 7]] {
            let decoded = same(&DecoderOptions::default(), &stream, cuts, threads);
            assert_eq!(decoded.result.unwrap().frames, 8);
        }
    }
}

#[test]
fn a_fault_is_found_at_the_byte_where_one_thread_finds_it() {
    let frames = frames();
    let stream = frames.concat();
    let options = DecoderOptions::default();
    let starts: Vec<usize> = frames
        .iter()
        .scan(0, |at, frame| {
            *at += frame.len();
            Some(*at - frame.len())
        })
        .collect();
    // In the middle of frames of each kind, in headers, in the checksum of the first frame.
    let places = [
        starts[0] + 700_000,
        starts[1] + 20_000,
        starts[1] + 4,
        starts[3] - 1,
        starts[4] + 6,
        starts[4] + 500_000,
        starts[4] - 2,
        starts[6] + 5,
        starts[7] + 300_000,
        starts[7] - 1,
        starts[8],
        stream.len() - 1,
    ];
    for place in places {
        let mut bad = stream.clone();
        bad[place] ^= 0x55;
        same(&options, &bad, &[1 << 18], 2);
        let cut = same(&options, &stream[..place], &[1 << 18], 3);
        if !starts.contains(&place) {
            assert_eq!(cut.result.unwrap_err().kind(), ErrorKind::Truncated);
        }
    }
    assert_eq!(
        same(&options, b"", &[9], 2).result.unwrap_err().kind(),
        ErrorKind::NoFrame
    );
    let trailing = [&frames[1][..], &frames[8], b"plain text"].concat();
    let kind = same(&options, &trailing, &[1000], 2)
        .result
        .unwrap_err()
        .kind();
    assert_eq!(kind, ErrorKind::TrailingData);
}

#[test]
fn limits_hold_as_for_one_thread() {
    let stream = frames().concat();
    for output_limit in [
        0,
        100_000,
        3_000_000,
        3_100_000,
        9_700_000,
        9_699_999,
        60 << 20,
    ] {
        let options = DecoderOptions::default().with_output_limit(output_limit);
        let decoded = same(&options, &stream, &[1 << 18], 2);
        assert!(decoded.content.len() as u64 <= output_limit);
    }
    // With these limits frames are too large to hold, or to decode at all.
    for memory_limit in [1 << 20, 3 << 20, 8 << 20, 64 << 20] {
        let options = DecoderOptions::default().with_memory_limit(memory_limit);
        same(&options, &stream, &[1 << 18], 2);
    }
    let options = DecoderOptions::default().with_window_log_max(20);
    let refused = same(&options, &stream, &[1 << 18], 2).result.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::WindowLimit);
}

#[test]
fn a_frame_too_large_to_be_held_is_decoded_as_it_comes() {
    let large = frame(&vec![7; 33 << 20], &EncoderOptions::default());
    let frames = frames();
    let stream = [&frames[0][..], &large, &frames[7]].concat();
    same(&DecoderOptions::default(), &stream, &[1 << 18], 2);
    let mut decoder = ParallelDecoder::new(&DecoderOptions::default(), 2).unwrap();
    decoder.reset(true);
    let step = decoder.push(&large, &mut [0; 1000], WAIT).unwrap();
    assert_eq!(step.produced, 1000);
}

#[test]
fn content_is_placed_while_all_frames_before_it_state_their_size() {
    let sized = frame(&prose(1, 3_000_000), &EncoderOptions::default());
    let unsized_ = EncoderOptions::default().with_content_size(false);
    let unsized_ = frame(&prose(2, 3_000_000), &unsized_);
    let skipped = skippable(4, &[1; 5000]);
    let placed = |stream: &[u8], limit: Option<u64>| {
        let options = DecoderOptions::default().with_output_limit(limit);
        let mut decoder = ParallelDecoder::new(&options, 2).unwrap();
        decoder.reset(true);
        let places = Places::of(&mut decoder, |_| false);
        let decoded = parallel_with(&mut decoder, stream, &[1 << 18], 1 << 17, &places);
        let placed = places.0.lock().unwrap().len();
        (placed, decoded.result.map(|totals| totals.frames))
    };
    let all = [&skipped[..], &sized, &sized, &skipped, &sized].concat();
    assert_eq!(placed(&all, None), (9_000_000, Ok(3)));
    let some = [&sized[..], &sized, &unsized_, &sized, &sized].concat();
    assert_eq!(placed(&some, None), (6_000_000, Ok(5)));
    // Nothing beyond a limit is placed.
    let (bytes, result) = placed(&all, Some(8_999_999));
    assert_eq!(bytes, 6_000_000);
    assert_eq!(result.unwrap_err().kind(), ErrorKind::OutputLimit);
}

#[test]
fn a_frame_that_states_a_wrong_size_places_nothing() {
    let one = frame(&prose(1, 3_000_000), &EncoderOptions::default());
    // Magic number, descriptor with a window and four bytes of size, window, size.
    assert_eq!(one[6..10], 3_000_000_u32.to_le_bytes());
    for stated in [2_999_999_u32, 3_000_001, 0, u32::MAX] {
        let mut wrong = one.clone();
        wrong[6..10].copy_from_slice(&stated.to_le_bytes());
        let stream = [&one[..], &wrong, &one].concat();
        let decoded = same(&DecoderOptions::default(), &stream, &[1 << 18], 2);
        assert!(decoded.result.is_err(), "{stated}");
        let mut decoder = ParallelDecoder::new(&DecoderOptions::default(), 2).unwrap();
        decoder.reset(true);
        let places = Places::of(&mut decoder, move |position| {
            // After a frame that states to be empty the next one has the same position, until the error
            // shows.
            assert!(
                position != 3_000_000 || stated == 0,
                "the place of what does not decode"
            );
            false
        });
        let found = parallel_with(&mut decoder, &stream, &[1 << 18], 1 << 17, &places);
        assert_eq!(found.result, decoded.result);
    }
}

#[test]
fn threads_are_started_for_work_only() {
    let options = DecoderOptions::default();
    let mut decoder = ParallelDecoder::new(&options, 8).unwrap();
    let one = frame(&prose(1, 3_000_000), &EncoderOptions::default());
    for stream in [
        &one,
        &frame(b"small", &EncoderOptions::default()).repeat(100),
    ] {
        decoder.reset(false);
        parallel(&mut decoder, stream, &[1 << 18], 1 << 17)
            .result
            .unwrap();
        assert_eq!(decoder.threads(), 0);
    }
    decoder.reset(true);
    parallel(&mut decoder, &one.repeat(12), &[1 << 18], 1 << 17)
        .result
        .unwrap();
    assert!(
        (1..=8).contains(&decoder.threads()),
        "{}",
        decoder.threads()
    );
}

#[test]
fn a_decoder_that_was_abandoned_starts_afresh() {
    let options = DecoderOptions::default();
    let frames = frames();
    let stream = frames.concat();
    let mut decoder = ParallelDecoder::new(&options, 2).unwrap();
    let expected = decode(&options, &frames[7], &[1 << 18], &[1 << 17]);
    for taken in [100_000, 2_000_000, stream.len()] {
        decoder.reset(true);
        let mut rest = &stream[..taken];
        while !rest.is_empty() {
            let step = decoder.push(rest, &mut [0; 1000], WAIT).unwrap();
            rest = &rest[step.consumed..];
        }
        decoder.reset(true);
        let found = parallel(&mut decoder, &frames[7], &[9999], 1 << 17);
        assert_eq!(found, expected);
    }
}

#[test]
fn a_resumed_decoder_speaks_of_the_whole_stream() {
    let first = frame(&prose(1, 1000), &EncoderOptions::default());
    let second = frame(&prose(2, 2000), &EncoderOptions::default());
    let stream = [&first[..], &second].concat();
    let mut decoder = Decoder::new(&DecoderOptions::default()).unwrap();
    let mut room = vec![0; 4000];
    let step = decoder.push(&first, &mut room).unwrap();
    assert_eq!((step.produced, decoder.at_boundary()), (1000, true));
    let before = decoder.totals();
    let _ = decoder.push(&second[..50], &mut room).unwrap();
    assert!(!decoder.at_boundary());
    decoder.resume(before);
    let step = decoder.push(&second, &mut room).unwrap();
    assert_eq!(room[..step.produced], prose(2, 2000));
    let totals = decoder.finish().unwrap();
    assert_eq!((totals.frames, totals.checksums_verified), (2, 2));
    assert_eq!(
        (totals.bytes_in, totals.bytes_out),
        (stream.len() as u64, 3000)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_stream_any_cut_any_threads(
        sizes in prop::collection::vec((prop_oneof![0..100_usize, 0..3_000_000_usize], any::<bool>()), 0..6),
        cuts in prop::collection::vec(prop_oneof![1..2000_usize, 1..2_000_000_usize], 1..4),
        threads in 1..5_usize,
        flip in prop::option::of((any::<prop::sample::Index>(), 1..=255_u8)),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut stream = Vec::new();
        for (size, stated) in sizes {
            let options = EncoderOptions::default().with_level(1).with_content_size(stated);
            stream.extend(frame(&prose(size as u64, size), &options));
        }
        if let (Some((place, mask)), false) = (flip, stream.is_empty()) {
            let place = place.index(stream.len());
            stream[place] ^= mask;
        }
        if let Some(cut) = cut {
            stream.truncate(cut.index(stream.len() + 1));
        }
        same(&DecoderOptions::default(), &stream, &cuts, threads);
    }
}
