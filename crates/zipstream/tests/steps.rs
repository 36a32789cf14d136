//! Calls of the encoder return while its threads are held up. Steps are counted: nothing here is timed.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use zipstream::{ArchiveEncoder, ArchiveOptions, EntryOptions, Error, JobObserver, Method};

use crate::common::sample;

/// Holds threads up until it is opened. If a call waits for them, they go on after a minute, and the test fails.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<Access>, Condvar)>);

#[derive(Default)]
struct Access {
    open: bool,
    gave_up: bool,
}

impl Gate {
    fn observer(&self) -> JobObserver {
        let gate = self.clone();
        Arc::new(move |_, work| {
            gate.pass();
            work();
        })
    }

    fn pass(&self) {
        let (access, opened) = &*self.0;
        let (closed, minute) = (|access: &mut Access| !access.open, Duration::from_secs(60));
        let waited = opened.wait_timeout_while(access.lock().unwrap(), minute, closed);
        let mut access = waited.unwrap().0;
        access.gave_up |= !access.open;
        access.open = true;
    }

    fn open(&self) {
        self.0.0.lock().unwrap().open = true;
        self.0.1.notify_all();
    }

    fn gave_up(&self) -> bool {
        self.0.0.lock().unwrap().gave_up
    }
}

/// Steps that end with nothing done before the gate is opened.
const STEPS: u32 = 3;

/// Waits in steps until `ready`, and opens the gate after a few.
struct Patience<'a> {
    gate: &'a Gate,
    steps: u32,
}

impl Patience<'_> {
    fn wait(
        &mut self,
        encoder: &mut ArchiveEncoder,
        ready: impl Fn(&mut ArchiveEncoder, Duration) -> Result<bool, Error>,
    ) {
        loop {
            let closed = self.steps < STEPS;
            let limit = Duration::from_millis(u64::from(!closed));
            if ready(encoder, limit).unwrap() {
                return;
            }
            self.steps += 1;
            if self.steps == STEPS {
                self.gate.open();
            }
        }
    }
}

/// A small entry and a large one, by one thread that the gate holds up, and how often nothing was done.
fn pack(content: &[u8], entry: &EntryOptions, gate: &Gate) -> (Vec<u8>, u32) {
    let mut options = ArchiveOptions::default().threads(1);
    options.observer = Some(gate.observer());
    let mut encoder = ArchiveEncoder::new(options).unwrap();
    let mut patience = Patience { gate, steps: 0 };
    encoder
        .start_entry("small", &EntryOptions::default())
        .unwrap();
    encoder.push_all(&content[..100]).unwrap();
    encoder.finish_entry().unwrap();
    patience.wait(&mut encoder, ArchiveEncoder::wait_for_threads);
    encoder.start_entry("large", entry).unwrap();
    let mut rest = content;
    while !rest.is_empty() {
        patience.wait(&mut encoder, ArchiveEncoder::wait_to_push);
        let room = encoder.room().unwrap();
        assert!((1..=1 << 20).contains(&room.len()), "{}", room.len());
        let (part, after) = rest.split_at(room.len().min(rest.len()));
        room[..part.len()].copy_from_slice(part);
        encoder.filled(part.len()).unwrap();
        rest = after;
    }
    patience.wait(&mut encoder, ArchiveEncoder::wait_for_threads);
    encoder.finish_entry().unwrap();
    patience.wait(&mut encoder, ArchiveEncoder::settle_within);
    encoder.finish().unwrap();
    (encoder.output().to_vec(), patience.steps)
}

/// The same without threads.
fn alone(content: &[u8], entry: &EntryOptions) -> Vec<u8> {
    let mut encoder = ArchiveEncoder::new(ArchiveOptions::default()).unwrap();
    for (name, content, options) in [
        ("small", &content[..100], &EntryOptions::default()),
        ("large", content, entry),
    ] {
        encoder.start_entry(name, options).unwrap();
        encoder.push_all(content).unwrap();
        encoder.finish_entry().unwrap();
    }
    encoder.finish().unwrap();
    encoder.output().to_vec()
}

#[test]
fn no_call_waits_for_a_thread_that_is_held_up() {
    let content = sample(1, 9 << 20);
    for (method, bytes, hinted) in [
        // Held until it is too large, it becomes many jobs at once.
        (Method::Deflate, 3 << 20, false),
        (Method::Deflate, 3 << 20, true),
        (Method::Zstd, 9 << 20, true),
    ] {
        let content = &content[..bytes];
        let mut entry = EntryOptions::new(method).level(1);
        entry.size_hint = hinted.then_some(bytes as u64);
        let gate = Gate::default();
        let (archive, steps) = pack(content, &entry, &gate);
        assert!(!gate.gave_up(), "{method:?}, {hinted}: a call waited");
        assert!(steps >= STEPS, "{method:?}, {hinted}: {steps} steps");
        assert!(archive == alone(content, &entry), "{method:?}, {hinted}");
    }
}
