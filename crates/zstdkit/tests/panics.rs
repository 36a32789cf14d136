//! Threads whose jobs panic: the call fails, and what comes after a reset waits for nobody who is gone.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use zstdkit::parallel::{JobObserver, ParallelDecoder, SeekableEncoder};
use zstdkit::{DecoderOptions, EncoderOptions, Error, ErrorKind, State};

use crate::common::{ends, frame, prose};

/// How long a call may wait for threads.
const WAIT: Duration = Duration::from_millis(1);

/// An observer whose jobs panic as long as this is set.
fn panicking() -> (JobObserver, Arc<AtomicBool>) {
    let panics = Arc::new(AtomicBool::new(true));
    let own = panics.clone();
    let observer: JobObserver = Arc::new(move |_, work| {
        assert!(!own.load(Relaxed), "injected");
        work();
    });
    (observer, panics)
}

fn encode(encoder: &mut SeekableEncoder, content: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut rest, mut file) = (content, Vec::new());
    loop {
        let step = match rest {
            [] => encoder.end(WAIT)?,
            rest => encoder.push(rest, WAIT)?,
        };
        rest = &rest[step.consumed..];
        file.extend_from_slice(step.output.as_deref().unwrap_or_default());
        if step.state == State::Done {
            return Ok(file);
        }
    }
}

fn decode(decoder: &mut ParallelDecoder, stream: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut rest, mut content, mut room) = (stream, Vec::new(), vec![0; 1 << 17]);
    loop {
        let step = match rest {
            [] => decoder.end(&mut room, WAIT)?,
            rest => decoder.push(rest, &mut room, WAIT)?,
        };
        rest = &rest[step.consumed..];
        content.extend_from_slice(step.output.as_deref().unwrap_or(&room[..step.produced]));
        if step.state == State::Done {
            return Ok(content);
        }
    }
}

#[test]
fn a_seekable_file_can_be_begun_after_one_that_panicked() {
    ends(|| {
        for threads in [1, 3] {
            let (observer, panics) = panicking();
            let encoder = SeekableEncoder::new(&EncoderOptions::default(), 1 << 10, threads);
            let mut encoder = encoder.unwrap().observer(observer);
            let content = prose(1, 20_000);
            let error = encode(&mut encoder, &content).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Internal);
            panics.store(false, Relaxed);
            for bytes in [20_000, 2_000, 0] {
                encoder.reset();
                let file = encode(&mut encoder, &content[..bytes]).unwrap();
                let back = zstdkit::decompress(&file, &DecoderOptions::default()).unwrap();
                assert!(back == content[..bytes], "{threads} threads, {bytes} bytes");
            }
        }
    });
}

#[test]
fn a_stream_can_be_decoded_after_one_that_panicked() {
    ends(|| {
        let one = frame(&prose(2, 300_000), &EncoderOptions::default());
        let stream = one.repeat(6);
        let (observer, panics) = panicking();
        let decoder = ParallelDecoder::new(&DecoderOptions::default(), 2).unwrap();
        let mut decoder = decoder.observer(observer);
        decoder.reset(true);
        let error = decode(&mut decoder, &stream).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        panics.store(false, Relaxed);
        for _ in 0..2 {
            decoder.reset(true);
            assert!(decode(&mut decoder, &stream).unwrap() == prose(2, 300_000).repeat(6));
        }
    });
}
