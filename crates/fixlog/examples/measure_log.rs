//! Seconds per gigabyte of each job over logs in memory, the best of some rounds: of processor time of one
//! thread, where the system tells it, and of two threads by the clock.
//!
//! `cargo run --release -p perfkit-fixlog --example measure_log -- [FILE…]`; without files over generated
//! logs: orders, their errors, snapshots, and text of 4 KB.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "standard output is its result")]

use std::time::Instant;

use fixcore::workload::Mix;
use fixlog::{
    Generator, Job, KeyError, Made, Pseudonyms, Readers, Separator, Statistics, Task, Worker,
    Workers,
};

/// Bytes of each log, and rounds over it.
const LOG_BYTES: usize = 32 << 20;
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<_> = std::env::args().skip(1).collect();
    let logs = match files.is_empty() {
        true => generated()?,
        false => files
            .iter()
            .map(|path| Ok((path.clone(), std::fs::read(path)?)))
            .collect::<Result<_, std::io::Error>>()?,
    };
    for (name, log) in &logs {
        measure(name, log)?;
    }
    Ok(())
}

fn measure(name: &str, log: &[u8]) -> Result<(), KeyError> {
    let pseudonyms = Pseudonyms::new(b"sixteen bytes ok")?;
    let jobs = [
        ("parse", Job::Parse),
        ("validate", Job::Validate),
        ("print", Job::Print),
        ("stats", Job::Statistics),
        ("anonymize", Job::Anonymize(&pseudonyms)),
    ];
    for (job_name, job) in jobs {
        let mut line = format!("{name:12} {job_name:10}");
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
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let ended = Workers::new().run(
        &|| false,
        Readers::new([log]),
        states,
        |worker, block, made: &mut Made| worker.block(block, made),
        |_, made| {
            bytes += made.out.len();
            statistics.add(0, &made.part, |_| ());
            Ok::<(), ()>(())
        },
    );
    assert!(ended.result.is_ok());
    std::hint::black_box(bytes);
    let clock = start.elapsed().as_secs_f64();
    let cpu = cpu_seconds().zip(cpu).map(|(end, start)| end - start);
    [clock, cpu.unwrap_or(clock)]
}

fn generated() -> fixcore::Result<Vec<(String, Vec<u8>)>> {
    let mut logs = Vec::new();
    for (name, weights, separator) in [
        ("orders", [4, 44, 48, 4], Separator::Soh),
        ("orders ^A", [4, 44, 48, 4], Separator::Caret),
        ("orders |", [4, 44, 48, 4], Separator::Pipe),
        ("snapshots", [0, 0, 0, 1], Separator::Soh),
        ("heartbeats", [1, 0, 0, 0], Separator::Soh),
    ] {
        let mut generator = Generator::new(1).mix(Mix { weights }).separator(separator);
        let mut log = Vec::new();
        while log.len() < LOG_BYTES {
            generator.message(&mut log)?;
        }
        logs.push((name.to_owned(), log));
    }
    // Every checksum is wrong.
    let mut bad = logs[0].1.clone();
    for at in 4..bad.len() {
        if bad[at] == b'\n' && bad[at - 5] == b'=' {
            bad[at - 2] = if bad[at - 2] == b'0' { b'1' } else { b'0' };
        }
    }
    logs.push(("all bad".to_owned(), bad));
    let words = "The quick brown fox of Account-0071 jumps over 13 lazy dogs; ".repeat(70);
    let (mut text, mut seed) = (Vec::new(), 1_u64);
    while text.len() < LOG_BYTES {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let start = (seed >> 33) as usize % 64;
        let body = format!(
            "35=B\x0149=DESK\x0156=MARKET\x0134=1\x0152=20260305-14:15:16.000\x01148=head\x01\
             33=1\x0158={seed} {}\x01",
            &words[start..start + 4096]
        );
        fixcore::frame::write(b"FIX.4.4", body.as_bytes(), &mut text);
        text.push(b'\n');
    }
    logs.push(("text 4 KB".to_owned(), text));
    Ok(logs)
}
