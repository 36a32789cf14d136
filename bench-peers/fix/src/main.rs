//! fixcore beside fefix: decoding the same messages in turns, answers compared first.
//!
//! `cargo run --release` prints a table and, with a path, writes it there as Markdown and JSON.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::Instant;

use fefix::Dictionary;
use fefix::prelude::*;
use fefix::tagvalue::{Config, Decoder as Peer};
use fixcore::Decoder;
use fixcore::workload::Sample;

/// Of fixcore, which this package goes with.
const VERSION: &str = env!("CARGO_PKG_VERSION");
const ROUNDS: usize = 41;
const BATCH: u32 = 500;

fn batch(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..BATCH {
        run();
    }
    start.elapsed().as_nanos() as f64 / f64::from(BATCH)
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut ours = Decoder::new();
    let mut peer = Peer::<Config>::new(Dictionary::fix44());
    let (mut lines, mut rows) = (Vec::new(), Vec::new());
    for sample in Sample::ALL {
        let bytes = sample.bytes();
        // Both have to find the same.
        let message = ours.parse(&bytes)?;
        let other = peer
            .decode(&bytes)
            .map_err(|error| format!("fefix: {error:?}"))?;
        let same = message.get(34) == other.fv_raw(fefix::definitions::fix44::MSG_SEQ_NUM);
        assert!(same, "the peers read different numbers");
        let (mut our_times, mut peer_times) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            our_times.push(batch(|| {
                black_box(ours.parse(black_box(&bytes)).is_ok());
            }));
            peer_times.push(batch(|| {
                black_box(peer.decode(black_box(&bytes)).is_ok());
            }));
        }
        let (name, size) = (sample.name(), bytes.len());
        let (our_ns, peer_ns) = (median(&mut our_times), median(&mut peer_times));
        let factor = peer_ns / our_ns;
        lines.push(format!(
            "| {name} | {size} | {our_ns:.1} | {peer_ns:.1} | {factor:.1} |"
        ));
        rows.push(format!(
            "{{\"message\":\"{name}\",\"bytes\":{size},\"fixcore_ns\":{our_ns:.1},\"fefix_ns\":{peer_ns:.1}}}"
        ));
    }
    let table = format!(
        "| message | bytes | fixcore ns | fefix ns | times |\n|---|---|---|---|---|\n{}\n",
        lines.join("\n")
    );
    print!("{table}");
    if let Some(path) = std::env::args().nth(1) {
        let isa = fixcore::Isa::detect().name();
        let (machine, date) = (machine(), date()?);
        let text = format!(
            "# fixcore beside fefix\n\nA validated parse of one message, median of {ROUNDS} batches of {BATCH} in turns in one \
             process, the same\nbytes, answers compared first; fixcore {VERSION} by {isa}, fefix 0.7.0; {machine}; {date}.\n\n    cargo run --release --manifest-path \
             bench-peers/fix/Cargo.toml -- bench-peers/record/fix\n\n{table}"
        );
        std::fs::write(format!("{path}.md"), text)?;
        let json = format!(
            "{{\"isa\":\"{isa}\",\"machine\":\"{machine}\",\"date\":\"{date}\",\
             \"fixcore\":\"{VERSION}\",\"fefix\":\"0.7.0\",\"rows\":[{}]}}\n",
            rows.join(",")
        );
        std::fs::write(format!("{path}.json"), json)?;
    }
    Ok(())
}

/// The processor as the system names it.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split(": ").nth(1));
    name.unwrap_or("unknown processor").to_owned()
}

/// Today, as `YYYYMMDD`.
fn date() -> Result<String, Box<dyn std::error::Error>> {
    let since = std::time::UNIX_EPOCH.elapsed()?;
    let text = fixcore::Timestamp(i64::try_from(since.as_nanos())?).to_millis();
    Ok(String::from_utf8_lossy(&text[..8]).into_owned())
}
