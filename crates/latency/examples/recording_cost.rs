//! What the clock and the recorder cost on this machine.
#![forbid(unsafe_code)]

use std::io::Write as _;

use perfkit_latency::{floor, recording_cost};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let floor = floor();
    writeln!(
        out,
        "empty span   min {} ns, p50 {} ns, p99 {} ns",
        floor.min_ns, floor.p50_ns, floor.p99_ns
    )?;
    let cost = recording_cost();
    writeln!(
        out,
        "record_span  {:.1} ns (least {:.1} ns)",
        cost.record_ns, cost.record_min_ns
    )?;
    writeln!(
        out,
        "with clock   {:.1} ns (least {:.1} ns)",
        cost.span_ns, cost.span_min_ns
    )
}
