//! Nanoseconds per message: the store, and the queue compared with rings of the crate `rtrb`.
//!
//! `cargo run --release -p fixcore --features workload --example measure_queue [-- MESSAGES]`

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "standard output is its result")]

use std::hint::black_box;
use std::time::Instant;

use fixcore::spsc::{Wait, queue};
use fixcore::store::{Options, Store};
use fixcore::workload::Sample;

const BATCH: u64 = 1000;

struct Times(Vec<f64>);

impl Times {
    fn time(&mut self, run: impl FnOnce()) {
        let start = Instant::now();
        run();
        self.0
            .push(start.elapsed().as_nanos() as f64 / BATCH as f64);
    }

    fn print(mut self, of: &str) {
        self.0.sort_by(f64::total_cmp);
        let (median, least) = (self.0[self.0.len() / 2], self.0[0]);
        println!("{of:32} median {median:8.1} min {least:8.1}");
    }
}

fn store(message: &[u8], messages: u64) -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let mut store = Store::open(dir.path(), Options::default())?;
    let (mut appends, mut gets) = (Times(Vec::new()), Times(Vec::new()));
    for first in (1..=messages).step_by(BATCH as usize) {
        while !store.prepare(1 << 20)? {}
        appends.time(|| {
            for number in first..first + BATCH {
                let _ = black_box(store.append(number, message));
            }
        });
    }
    for first in (1..=messages).step_by(BATCH as usize) {
        gets.time(|| {
            for number in first..first + BATCH {
                let _ = black_box(store.get(black_box(number)));
            }
        });
    }
    appends.print(&format!("append, {messages}"));
    gets.print(&format!("get, {messages}"));
    let (mut verified, start) = (0, Instant::now());
    for number in 1..=messages {
        verified += store.verified(number)?.map_or(0, <[u8]>::len);
    }
    println!(
        "{:32} {:8.1} ({verified} B)",
        "verified",
        start.elapsed().as_nanos() as f64 / messages as f64
    );
    drop(store);
    let start = Instant::now();
    let store = Store::open(dir.path(), Options::default())?;
    println!("open: {:?}, {} segments", start.elapsed(), store.segments());
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let message = Sample::NewOrder.bytes();
    let (mut ours, mut theirs) = (Times(Vec::new()), Times(Vec::new()));
    let (mut producer, mut consumer) = queue(1 << 19, Wait::Spin);
    let (mut bytes, mut bytes_out) = rtrb::RingBuffer::<u8>::new(1 << 19);
    let (mut descriptors, mut descriptors_out) = rtrb::RingBuffer::<[u64; 2]>::new(4096);
    for _ in 0..400 {
        ours.time(|| {
            for number in 0..BATCH {
                let _ = black_box(producer.push(number, black_box(&message)));
            }
        });
        let taken = consumer.drain(BATCH as usize, |_, bytes| {
            black_box(bytes);
        });
        assert_eq!(taken as u64, BATCH);
        theirs.time(|| {
            for number in 0..BATCH {
                if let Ok(mut chunk) = bytes.write_chunk(black_box(&message).len()) {
                    let (first, second) = chunk.as_mut_slices();
                    let (head, tail) = message.split_at(first.len());
                    first.copy_from_slice(head);
                    second.copy_from_slice(tail);
                    chunk.commit_all();
                }
                let _ = descriptors.push([number, message.len() as u64]);
            }
        });
        while descriptors_out.pop().is_ok() {
            if let Ok(chunk) = bytes_out.read_chunk(message.len()) {
                chunk.commit_all();
            }
        }
    }
    ours.print("queue, push 197 B");
    theirs.print("two rings of rtrb, push 197 B");
    let largest = std::env::args().nth(1).and_then(|word| word.parse().ok());
    for messages in [1_000, 100_000].into_iter().chain(largest) {
        store(&message, messages)?;
    }
    Ok(())
}
