//! Streams of messages, faulty messages and noise, split anywhere: they give the same frames, and every
//! instruction set finds the same fields in them.
//!
//! `FIX_CASES` sets how many streams are tested.

#![allow(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the place in hand"
)]

use crate::common::{cases, oracle};
use crate::messages::{Random, message, mutate};
use fixcore::{Decoder, Frame, Framer, Isa};

const LIMIT_BYTES: usize = 4096;

/// Every frame of a stream: its place, and its bytes if it is a message.
type Frames = Vec<(u64, u64, Option<Vec<u8>>)>;

fn frames<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> Frames {
    let mut framer = Framer::with_limit(LIMIT_BYTES);
    let mut out = Vec::new();
    for piece in pieces {
        framer.push(piece);
        drain(&mut framer, &mut out);
    }
    framer.end();
    drain(&mut framer, &mut out);
    out
}

fn drain(framer: &mut Framer, out: &mut Frames) {
    while let Some(frame) = framer.next_frame() {
        out.push(match frame {
            Frame::Message { offset, bytes } => (offset, bytes.len() as u64, Some(bytes.to_vec())),
            Frame::Skipped { offset, bytes, .. } => (offset, bytes, None),
        });
    }
}

fn stream(random: &mut Random) -> Vec<u8> {
    let mut stream = Vec::new();
    for _ in 0..1 + random.below(5) {
        match random.below(8) {
            0 => stream.extend_from_slice(&b"noise 8=FIX 8=F\x01"[random.below(15)..]),
            1 | 2 => {
                let mut bytes = message(random);
                mutate(random, &mut bytes);
                stream.extend_from_slice(&bytes);
            }
            _ => stream.extend_from_slice(&message(random)),
        }
    }
    stream
}

#[test]
fn every_cut_of_a_stream_gives_the_same_frames_and_every_path_the_same_fields() {
    let mut decoders: Vec<_> = Isa::ALL.into_iter().filter_map(Decoder::with_isa).collect();
    let mut random = Random(11);
    let (mut valid, mut cuts) = (0_u64, 0_u64);
    for _ in 0..cases(10_000) / 100 {
        let stream = stream(&mut random);
        let whole = frames([&stream[..]].into_iter());
        let told: u64 = whole.iter().map(|frame| frame.1).sum();
        assert_eq!(told, stream.len() as u64, "every byte is told of once");
        for cut in 0..=stream.len() {
            let (left, right) = stream.split_at(cut);
            assert_eq!(frames([left, right].into_iter()), whole, "cut at {cut}");
        }
        cuts += stream.len() as u64 + 1;
        for size in [1, 2, 3, 7, 64] {
            assert_eq!(frames(stream.chunks(size)), whole, "pieces of {size}");
        }
        for bytes in whole.iter().filter_map(|frame| frame.2.as_ref()) {
            let right = oracle(bytes);
            valid += u64::from(right.is_some());
            for decoder in &mut decoders {
                let found = decoder.parse(bytes).ok().map(|message| {
                    let fields = message.fields();
                    let fields = fields.map(|field| (field.tag, field.value.to_vec()));
                    fields.collect::<Vec<_>>()
                });
                assert_eq!(found, right, "{}", bytes.escape_ascii());
            }
        }
    }
    assert!(valid > 0 && cuts > valid);
}
