//! The queue between two threads, and deferred work whose handler stalls: accepted messages are handled
//! once and in order, whatever happens to the rest.

#![allow(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the place in hand"
)]

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use fixcore::deferred::{Deferred, Fate, Finished, Options, Spill, Stall};
use fixcore::spsc::{Refused, Wait, queue};

const WAITS: [Wait; 3] = [
    Wait::Spin,
    Wait::Park { spins: 0 },
    Wait::Park { spins: 50 },
];

/// The message of a number: of any length, with its number in every byte.
fn message(number: u64) -> Vec<u8> {
    let length = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize;
    number
        .to_le_bytes()
        .into_iter()
        .cycle()
        .take(length)
        .collect()
}

#[test]
fn two_threads_hand_over_everything_in_order() {
    const MESSAGES: u64 = 12_000;
    for wait in WAITS {
        for buffer_bytes in [0, 1 << 10, 1 << 16] {
            let (mut producer, mut consumer) = queue(buffer_bytes, wait);
            let bytes_max = producer.bytes_max();
            let cut = move |number| {
                let mut bytes = message(number);
                bytes.truncate(bytes_max);
                bytes
            };
            let reader = thread::spawn(move || {
                let mut next = 0;
                loop {
                    let is_closed = consumer.is_closed();
                    let batch = 1 + next as usize % 70;
                    let some = consumer.drain(batch, |stamp, bytes| {
                        assert_eq!((stamp, bytes), (next, &cut(next)[..]));
                        next += 1;
                    });
                    if some == 0 && is_closed {
                        return next;
                    }
                    if some == 0 {
                        consumer.wait(|| false);
                    }
                }
            });
            for number in 0..MESSAGES {
                let bytes = cut(number);
                while producer.stage(number, &bytes) == Err(Refused::Full) {
                    producer.publish();
                    producer.wait();
                }
                if number.is_multiple_of(3) {
                    producer.publish();
                }
            }
            drop(producer);
            assert_eq!(reader.join().unwrap(), MESSAGES, "{wait:?} {buffer_bytes}");
        }
    }
}

#[test]
fn who_waits_for_room_publishes_what_is_staged() {
    for wait in WAITS {
        let (mut producer, mut consumer) = queue(1 << 10, wait);
        let mut staged = 0;
        while producer.stage(staged, &[7; 100]) != Err(Refused::Full) {
            staged += 1;
        }
        assert_eq!(consumer.drain(1, |_, _| ()), 0, "nothing is published");
        let (tell, told) = mpsc::channel();
        let writer = thread::spawn(move || {
            // The reader has nothing to free but those that were staged.
            producer.wait();
            producer.push(staged, &[7; 100]).unwrap();
            let _ = tell.send(());
        });
        let reader = thread::spawn(move || {
            let mut read = 0;
            loop {
                let is_closed = consumer.is_closed();
                match consumer.drain(usize::MAX, |_, _| ()) as u64 {
                    0 if is_closed => return read,
                    0 => consumer.wait(|| false),
                    some => read += some,
                }
            }
        });
        let ended = told.recv_timeout(Duration::from_secs(120));
        assert_eq!(ended, Ok(()), "{wait:?}: it waits for ever");
        writer.join().unwrap();
        assert_eq!(reader.join().unwrap(), staged + 1, "{wait:?}");
    }
}

#[test]
fn a_queue_is_bounded_and_says_why_it_refuses() {
    let (mut producer, mut consumer) = queue(256, Wait::Spin);
    assert_eq!(producer.bytes_max(), 112);
    let too_long = Refused::TooLong {
        bytes: 113,
        bytes_max: 112,
    };
    assert_eq!(producer.push(0, &[0; 113]), Err(too_long));
    assert_eq!(producer.stage(1, &[1; 112]), Ok(()));
    assert_eq!(consumer.drain(9, |_, _| ()), 0, "it is not published");
    assert_eq!(producer.push(2, &[2; 112]), Ok(()));
    assert_eq!(producer.push(3, &[]), Err(Refused::Full));
    let mut seen = Vec::new();
    assert_eq!(
        consumer.drain(1, |stamp, bytes| seen.push((stamp, bytes.to_vec()))),
        1
    );
    assert_eq!(producer.push(3, &[]), Ok(()));
    // A message whose handler panics stays in the queue.
    let panics = std::panic::AssertUnwindSafe(|| consumer.drain(1, |_, _| panic!("on purpose")));
    assert!(std::panic::catch_unwind(panics).is_err());
    assert_eq!(
        consumer.drain(9, |stamp, bytes| seen.push((stamp, bytes.to_vec()))),
        2
    );
    assert_eq!(seen, [(1, vec![1; 112]), (2, vec![2; 112]), (3, vec![])]);
    drop(consumer);
    assert!(producer.is_closed());
    while producer.push(4, &[4; 100]).is_ok() {}
    assert_eq!(producer.push(4, &[4; 100]), Err(Refused::Closed));
}

fn options(stall: Stall, wait: Wait) -> Options {
    let mut options = Options::default();
    options.buffer_bytes = 4096;
    options.stall = stall;
    options.wait = wait;
    options
}

/// Submits messages to a handler that does not begin until `release` are submitted or refused.
fn stalled(
    stall: Stall,
    wait: Wait,
    messages: u64,
    release: u64,
) -> (Vec<Fate>, Vec<u64>, Finished) {
    let (go, gate) = mpsc::channel::<()>();
    let handled = Arc::new(Mutex::new(Vec::new()));
    let seen = handled.clone();
    let mut is_open = false;
    let handler = move |stamp: u64, bytes: &[u8]| {
        if !is_open {
            gate.recv().unwrap();
            is_open = true;
        }
        assert_eq!(bytes, message(stamp));
        seen.lock().unwrap().push(stamp);
    };
    let mut deferred = Deferred::start(&options(stall, wait), handler).unwrap();
    let mut fates = Vec::new();
    for number in 0..messages {
        if number == release {
            go.send(()).unwrap();
        }
        fates.push(deferred.submit(number, &message(number)).unwrap());
    }
    let _ = go.send(());
    let finished = deferred.finish();
    let handled = std::mem::take(&mut *handled.lock().unwrap());
    (fates, handled, finished)
}

#[test]
fn blocking_loses_nothing() {
    for wait in WAITS {
        // At least twenty messages fit; the rest has to wait for the handler.
        let (fates, handled, finished) = stalled(Stall::Block, wait, 5000, 10);
        assert!(fates.iter().all(|fate| *fate == Fate::Queued));
        assert!(handled.into_iter().eq(0..5000), "{wait:?}");
        assert_eq!((finished.handled, finished.dropped), (5000, 0));
    }
}

#[test]
fn dropping_counts_what_it_drops_and_keeps_the_rest_in_order() {
    for wait in WAITS {
        let (fates, handled, finished) = stalled(Stall::Drop, wait, 5000, 4000);
        let kept = (0..5000).filter(|number| fates[*number as usize] == Fate::Queued);
        assert!(handled.iter().copied().eq(kept), "{wait:?}");
        assert_eq!(finished.handled, handled.len() as u64);
        assert_eq!(finished.handled + finished.dropped, 5000);
        assert!(finished.dropped >= 3900, "the queue is bounded");
    }
}

#[test]
fn spilling_keeps_the_order_and_its_bound() {
    let dir = tempfile::tempdir().unwrap();
    for (number, wait) in WAITS.into_iter().enumerate() {
        for to in [
            Spill::Memory,
            Spill::File(dir.path().join(number.to_string())),
        ] {
            let stall = |bytes_max| Stall::Spill {
                to: to.clone(),
                bytes_max,
            };
            let (_, handled, finished) = stalled(stall(1 << 30), wait, 5000, 4000);
            assert!(handled.into_iter().eq(0..5000), "{wait:?} {to:?}");
            assert!(finished.spilled >= 3900 && finished.dropped == 0);
            let (fates, handled, finished) = stalled(stall(100_000), wait, 5000, 4000);
            let kept = (0..5000).filter(|number| fates[*number as usize] != Fate::Dropped);
            assert!(handled.iter().copied().eq(kept), "{wait:?} {to:?}");
            assert!(finished.dropped > 2000);
            assert_eq!(finished.handled + finished.dropped, 5000);
        }
    }
}

#[test]
fn a_handler_that_panics_is_counted_and_its_message_is_kept() {
    std::panic::set_hook(Box::new(|_| ()));
    let handler = |stamp: u64, _: &[u8]| assert!(!stamp.is_multiple_of(10), "on purpose");
    let mut deferred = Deferred::start(&options(Stall::Block, WAITS[1]), handler).unwrap();
    for number in 0..100 {
        let fate = deferred.submit(number, &message(number)).unwrap();
        assert_eq!(fate, Fate::Queued);
    }
    assert!(matches!(
        deferred.submit(0, &[0; 4096]),
        Err(Refused::TooLong { .. })
    ));
    let finished = deferred.finish();
    let _ = std::panic::take_hook();
    assert_eq!((finished.handled, finished.panicked), (90, 10));
    let failed: Vec<_> = (0..10)
        .map(|tens| (tens * 10, message(tens * 10)))
        .collect();
    assert_eq!(finished.failed, failed);
}

#[test]
fn what_is_dropped_without_an_end_is_handled_all_the_same() {
    let (sender, handled) = mpsc::channel();
    let handler = move |stamp, _: &[u8]| sender.send(stamp).unwrap();
    let mut deferred = Deferred::start(&Options::default(), handler).unwrap();
    for number in 0..1000 {
        let _ = deferred.submit(number, b"x").unwrap();
    }
    drop(deferred);
    assert!(handled.iter().eq(0..1000));
}
