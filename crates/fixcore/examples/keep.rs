//! How a session uses its store: it stores messages by number, looks them up for a resend, and the next
//! process finds them again.
//!
//! `cargo run --release -p fixcore --example keep -- DIRECTORY`

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "standard output is its result")]

use fixcore::store::{Durability, Options, Store};
use fixcore::{Encoder, Timestamp};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args_os().nth(1).ok_or("a directory is needed")?;
    let mut options = Options::default();
    options.durability = Durability::Batch;
    options.segment_bytes = 64 << 10;
    let mut store = Store::open(&dir, options)?;
    let first = store.next_sender();
    println!("the next number is {first}");

    let now = std::time::UNIX_EPOCH.elapsed()?.as_nanos();
    let now = Timestamp(i64::try_from(now)?);
    let mut encoder = Encoder::new("FIX.4.4");
    for number in first..first + 100 {
        let order = format!("ORD{number:08}");
        let message = encoder
            .start("D")
            .bytes(49, b"BUYSIDE")
            .bytes(56, b"VENUE")
            .unsigned(34, number)
            .timestamp(52, now)
            .bytes(11, order.as_bytes())
            .bytes(55, b"MSFT")
            .unsigned(38, 100)
            .finish()?;
        // Before it is sent, so it is available for a resend.
        store.append(number, message)?;
    }
    // Number 17 was the last one of the other side. Everything is on the disk when `sync` returns.
    store.set_next_target(18)?;
    store.sync()?;

    // Answers a ResendRequest for three messages, each with its checksum verified.
    for (number, message) in store.range(first..=first + 2) {
        println!("{number}: {} bytes", message?.len());
    }
    Ok(())
}
