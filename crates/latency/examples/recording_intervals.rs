//! Records spans with or without intervals, for counting the instructions of both:
//!
//! ```text
//! cargo build --release --example recording_intervals
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/recording_intervals none 2000000
//! ```
//!
//! The difference between two counts of spans, divided by the difference of the counts, is what one span costs. With
//! `over` every thousandth span ends an interval, with `within` none does.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::io::{Cursor, Write as _};
use std::time::{Duration, Instant};

use perfkit_latency::{IntervalLog, LatencyName, Recorder, Spec};

/// Spans in an interval.
const SPANS: u32 = 1_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mode = words.next().unwrap_or_default();
    let spans: u32 = words.next().unwrap_or_default().parse()?;
    let length = match mode.as_str() {
        "none" => None,
        "within" => Some(Duration::from_secs(86_400)),
        "over" => Some(Duration::from_secs(1)),
        _ => return Err("say none, within or over, and how many spans".into()),
    };
    let log = length
        .map(|length| IntervalLog::new(length, Cursor::new(Vec::new())))
        .transpose()?;
    let run_start = Instant::now();
    let spec = Spec::new(LatencyName::Service, "span").intervals(log);
    let mut recorder = Recorder::new(spec, run_start);
    // Of many lengths, so that neither the cache nor the branches are always the same.
    let lengths: Vec<u64> = (0..256).map(|i| 100 + i * i * 7_919 % 100_000).collect();
    let started = Instant::now();
    for nth in 0..spans {
        let start = run_start + Duration::from_secs(u64::from(nth / SPANS));
        let end = start + Duration::from_nanos(lengths[(nth % 256) as usize]);
        black_box(recorder.record_span(black_box(start), black_box(end)));
    }
    let took = started.elapsed();
    writeln!(
        std::io::stdout(),
        "{} spans, {:.1} ns each",
        recorder.len(),
        took.as_nanos() as f64 / f64::from(spans.max(1))
    )?;
    Ok(())
}
