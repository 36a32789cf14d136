//! A closed loop: time the same call again and again, and print its percentiles.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::io::Write as _;
use std::time::Instant;

use perfkit_latency::{LatencyName, Recorder, Spec, floor};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let floor = floor();
    let mut recorder = Recorder::new(Spec::new(LatencyName::Service, "sort"), Instant::now());
    for round in 0..20_000u64 {
        // Input is made and the answer is checked outside the timed span.
        let mut numbers: Vec<u64> = (0..256)
            .map(|i| (i * 7_919 + round * 104_729) % 1_009)
            .collect();
        let start = Instant::now();
        black_box(&mut numbers).sort_unstable();
        recorder.record_span_what(start, Instant::now(), || format!("round {round}"));
        assert!(numbers.is_sorted());
    }
    let recording = recorder.finish();
    let row = recording.latency();
    writeln!(out, "n {}, clock floor {} ns", row.n, floor.p50_ns)?;
    for percentile in &row.percentiles {
        match (percentile.value_ns, percentile.ci95_ns) {
            (Some(ns), Some([low, high])) => {
                writeln!(out, "p{:<6} {ns:>9} ns  ({low} to {high})", percentile.p)?;
            }
            (Some(ns), None) => writeln!(out, "p{:<6} {ns:>9} ns", percentile.p)?,
            (None, _) => {
                let reason = percentile.reason.as_deref().unwrap_or_default();
                writeln!(out, "p{:<6}         —     {reason}", percentile.p)?;
            }
        }
    }
    for sample in recording.slowest() {
        writeln!(out, "{:>9} ns  {}", sample.value_ns, sample.what)?;
    }
    Ok(())
}
