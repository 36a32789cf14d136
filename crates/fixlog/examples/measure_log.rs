//! Seconds per gigabyte of each job over logs in memory, the best of some rounds: of processor time of one
//! thread, where the system tells it, and of two threads by the clock.
//!
//! `cargo run --release -p perfkit-fixlog --example measure_log -- [--job NAME] [FILE…]`; without files over
//! generated logs: orders, orders with wrong checksums, snapshots of 1,000 entries, text of 4 KB and
//! heartbeats, each with the byte 1, with `|` behind a prefix, and with `^A`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "standard output is its result")]

use std::time::Instant;

use fixcore::separator::from_soh;
use fixcore::workload::Mix;
use fixlog::health::{Finding, Health, Watch};
use fixlog::{
    Generator, Job, KeyError, Made, Pseudonyms, Readers, Statistics, Task, Worker, Workers,
};

/// Bytes of each log, and rounds over it.
const LOG_BYTES: usize = 32 << 20;
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files: Vec<_> = std::env::args().skip(1).collect();
    let mut only = None;
    if files.first().is_some_and(|flag| flag == "--job") {
        only = files.drain(..files.len().min(2)).nth(1);
    }
    let only = only.as_deref();
    if files.is_empty() {
        for (name, log) in generated()? {
            for (form, prefix, separator) in [
                ("", "", &b"\x01"[..]),
                (" |", "2026-03-05 08:00:00.123 <- ", b"|"),
                (" ^A", "", b"^A"),
            ] {
                let mut text = Vec::new();
                for line in log.split_inclusive(|byte| *byte == b'\n') {
                    text.extend_from_slice(prefix.as_bytes());
                    from_soh(line, separator, &mut text);
                }
                measure(&format!("{name}{form}"), &text, only)?;
            }
        }
    }
    for path in files {
        measure(&path, &std::fs::read(&path)?, only)?;
    }
    Ok(())
}

fn measure(name: &str, log: &[u8], only: Option<&str>) -> Result<(), KeyError> {
    let pseudonyms = Pseudonyms::new(b"sixteen bytes ok")?;
    let jobs = [
        ("parse", Job::Parse),
        ("validate", Job::Validate),
        ("print", Job::Print),
        ("stats", Job::Statistics),
        ("health", Job::Health),
        ("anonymize", Job::Anonymize(&pseudonyms)),
    ];
    for (job_name, job) in jobs {
        if only.is_some_and(|only| only != job_name) {
            continue;
        }
        let mut line = format!("{name:13} {job_name:10}");
        for threads in [1, 2] {
            let times = (0..ROUNDS).map(|_| run(log, job, threads));
            let best = times.fold([f64::INFINITY; 2], |best, times| {
                [best[0].min(times[0]), best[1].min(times[1])]
            });
            let [clock, cpu] = best.map(|seconds| seconds * 1e9 / log.len() as f64);
            line += &match threads {
                1 => format!("  -T1 {cpu:6.2} s/GB, {clock:6.2} by the clock"),
                _ => format!("  -T{threads} {clock:6.2}"),
            };
        }
        println!("{line}");
    }
    Ok(())
}

/// Seconds of processor time of this thread; by the clock where the system does not tell.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let ns: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(ns / 1e9)
}

/// Seconds by the clock, and of processor time of this thread.
fn run(log: &[u8], job: Job<'_>, threads: usize) -> [f64; 2] {
    let states = (0..threads).map(|_| Worker::new(Task::new(job))).collect();
    let (mut statistics, mut bytes) = (Statistics::new(), 0);
    let mut health = Health::new();
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let ended = Workers::new().run(
        &|| false,
        Readers::new([log]),
        states,
        |worker, block, made: &mut Made| worker.block(block, made),
        |_, made| {
            bytes += made.out.len();
            statistics.add(0, 0, &made.part, |_| ());
            health.add(0, 0, &made.health, &mut Unwatched);
            Ok::<(), ()>(())
        },
    );
    assert!(ended.result.is_ok());
    std::hint::black_box(bytes);
    let clock = start.elapsed().as_secs_f64();
    let cpu = cpu_seconds().zip(cpu).map(|(end, start)| end - start);
    [clock, cpu.unwrap_or(clock)]
}

/// Drops what is found.
struct Unwatched;

impl Watch for Unwatched {
    fn found(&mut self, _: Finding) {}
    fn heartbeat(&mut self, _: &[Vec<u8>; 2], _: u64) {}
}

/// The logs, a message on a line.
fn generated() -> fixcore::Result<Vec<(&'static str, Vec<u8>)>> {
    let drawn = |weights| {
        let mut generator = Generator::new(1).mix(Mix { weights });
        let mut log = Vec::new();
        while log.len() < LOG_BYTES {
            generator.message(&mut log)?;
        }
        Ok::<_, fixcore::Error>(log)
    };
    let orders = drawn([4, 44, 48, 4])?;
    // Every checksum is wrong.
    let mut bad = orders.clone();
    for at in 4..bad.len() {
        if bad[at] == b'\n' && bad[at - 5] == b'=' {
            bad[at - 2] = if bad[at - 2] == b'0' { b'1' } else { b'0' };
        }
    }
    let words = "The quick brown fox of Account-0071 jumps over 13 lazy dogs; ".repeat(70);
    let mut number = 0;
    let text = bodies(|body| {
        number += 1;
        let start = number * 7 % 64;
        let value = &words[start..start + 4096];
        *body += &format!("35=B\x01{HEADER}148=head\x0133=1\x0158={number} {value}\x01");
    });
    let mut number = 0;
    let snapshots = bodies(|body| {
        number += 1;
        *body += &format!("35=W\x01{HEADER}262=REQ{number}\x0155=MSFT\x01268=1000\x01");
        for entry in 0..1000 {
            let (side, cents, size) = (entry % 2, entry % 100, 100 * (1 + number * entry % 50));
            let price = 410 + number % 5 + entry / 100;
            *body += &format!("269={side}\x01270={price}.{cents:02}\x01271={size}\x01346=1\x01");
        }
    });
    Ok(vec![
        ("orders", orders),
        ("all bad", bad),
        ("snapshots", snapshots),
        ("text 4 KB", text),
        ("heartbeats", drawn([1, 0, 0, 0])?),
    ])
}

const HEADER: &str = "49=MARKET01\x0156=DESK00001\x0134=1\x0152=20260305-14:15:16.000\x01";

/// A log of messages whose bodies are made one by one.
fn bodies(mut body: impl FnMut(&mut String)) -> Vec<u8> {
    let (mut log, mut next) = (Vec::new(), String::new());
    while log.len() < LOG_BYTES {
        next.clear();
        body(&mut next);
        fixcore::frame::write(b"FIX.4.4", next.as_bytes(), &mut log);
        log.push(b'\n');
    }
    log
}
