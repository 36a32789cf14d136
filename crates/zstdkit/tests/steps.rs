//! Calls that have threads return while these are held up. Steps are counted: nothing here is timed.

use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use zstdkit::parallel::{JobObserver, ParallelDecoder, SeekableEncoder};
use zstdkit::{DecoderOptions, EncoderOptions, Error, State};

use crate::common::gate::Gate;
use crate::common::{frame, prose};

const WAIT: Duration = Duration::from_millis(1);
/// The most input that a call takes.
const INPUT_BYTES_MAX: usize = 128 << 10;

/// A seekable file of frames of `frame_bytes`; `wait` says how long each call may wait, `idle` learns of calls that did
/// nothing.
fn seekable(
    encoder: &mut SeekableEncoder,
    content: &[u8],
    wait: impl Fn() -> Duration,
    mut idle: impl FnMut(),
) -> Result<Vec<u8>, Error> {
    let (mut rest, mut file) = (content, Vec::new());
    loop {
        let step = match rest {
            [] => encoder.end(wait())?,
            rest => encoder.push(rest, wait())?,
        };
        assert!(step.consumed <= INPUT_BYTES_MAX);
        rest = &rest[step.consumed..];
        if step.consumed == 0 && step.output.is_none() && step.state == State::MoreOutput {
            idle();
        }
        file.extend_from_slice(step.output.as_deref().unwrap_or_default());
        if step.state == State::Done {
            return Ok(file);
        }
    }
}

/// The content of a stream of frames.
fn decoded(
    decoder: &mut ParallelDecoder,
    stream: &[u8],
    wait: impl Fn() -> Duration,
    mut idle: impl FnMut(),
) -> Result<Vec<u8>, Error> {
    let (mut rest, mut content, mut room) = (stream, Vec::new(), vec![0; 1 << 17]);
    decoder.reset(true);
    loop {
        let step = match rest {
            [] => decoder.end(&mut room, wait())?,
            rest => decoder.push(rest, &mut room, wait())?,
        };
        assert!(step.consumed <= INPUT_BYTES_MAX);
        rest = &rest[step.consumed..];
        let nothing = step.consumed + step.produced == 0 && step.output.is_none();
        if nothing && step.state == State::MoreOutput {
            idle();
        }
        content.extend_from_slice(step.output.as_deref().unwrap_or(&room[..step.produced]));
        if step.state == State::Done {
            return Ok(content);
        }
    }
}

fn encoder(frame_bytes: usize, threads: usize) -> SeekableEncoder {
    SeekableEncoder::new(&EncoderOptions::default(), frame_bytes, threads).unwrap()
}

fn decoder(threads: usize) -> ParallelDecoder {
    ParallelDecoder::new(&DecoderOptions::default(), threads).unwrap()
}

#[test]
fn calls_of_the_seekable_encoder_return_while_its_threads_are_held_up() {
    // More frames than may be in progress, so that pushes have to wait, and as many, so that only the end has.
    for content in [prose(1, 200_000), prose(2, 100_000)] {
        let gate = Gate::default();
        let mut held_up = encoder(40_000, 2).observer(gate.observer());
        let file = seekable(&mut held_up, &content, || gate.wait(), || gate.idle());
        gate.check();
        let alone = seekable(&mut encoder(40_000, 1), &content, || WAIT, || ());
        assert!(file.unwrap() == alone.unwrap());
    }
}

#[test]
fn calls_of_the_parallel_decoder_return_while_its_threads_are_held_up() {
    let content = prose(1, 1 << 20);
    let frame = frame(&content, &EncoderOptions::default());
    for frames in [6, 3] {
        let gate = Gate::default();
        let mut held_up = decoder(2).observer(gate.observer());
        let stream = frame.repeat(frames);
        let found = decoded(&mut held_up, &stream, || gate.wait(), || gate.idle());
        gate.check();
        assert!(found.unwrap() == content.repeat(frames));
    }
}

/// The threads that did work.
#[derive(Clone, Default)]
struct Places(Arc<Mutex<Vec<ThreadId>>>);

impl Places {
    fn observer(&self) -> JobObserver {
        let places = self.0.clone();
        Arc::new(move |_, work| {
            places.lock().unwrap().push(thread::current().id());
            work();
        })
    }

    /// Whether all work was done here.
    fn all_here(&self) -> bool {
        let places = self.0.lock().unwrap();
        assert!(!places.is_empty());
        places.iter().all(|place| *place == thread::current().id())
    }
}

#[test]
fn only_what_is_short_is_done_by_the_call_itself() {
    for (bytes, here) in [(0, true), (16 << 10, true), ((16 << 10) + 1, false)] {
        let places = Places::default();
        let mut encoder = encoder(1 << 20, 2).observer(places.observer());
        let content = prose(1, bytes);
        let file = seekable(&mut encoder, &content, || WAIT, || ()).unwrap();
        assert_eq!(places.all_here(), here, "{bytes} bytes");
        let back = zstdkit::decompress(&file, &DecoderOptions::default());
        assert!(back.unwrap() == content);
    }
    for (bytes, here) in [(64 << 10, true), ((64 << 10) + 1, false)] {
        let places = Places::default();
        let mut decoder = decoder(2).observer(places.observer());
        let content = prose(1, bytes);
        let stream = frame(&content, &EncoderOptions::default()).repeat(2);
        let found = decoded(&mut decoder, &stream, || WAIT, || ()).unwrap();
        assert_eq!(places.all_here(), here, "2 frames of {bytes} bytes");
        assert!(found == content.repeat(2));
    }
}
