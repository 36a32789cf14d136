//! What runs mean for the exit code, and what is said of it.

use stress::{Faults, Finding, Growth, Leak, Trend};

use crate::commands::stress::row::Row;
use crate::exit::ExitStatus;
use crate::export::units;
use crate::failure::Failure;
use crate::session::Outcome;
use crate::term::message;

/// Blocks that were begun and did not come back as they were, whatever the reason.
pub(super) fn wrong(found: &Finding) -> u64 {
    found.counts.begun.saturating_sub(found.counts.verified)
}

/// What went wrong with blocks that nobody asked for.
pub(crate) fn unexpected(found: &Finding, faults: &Faults) -> u64 {
    let counts = &found.counts;
    let panics = counts.panicked_compress + counts.panicked_decompress;
    // A codec may panic on a corrupt block: that is what became of it, and is counted as that.
    let asked = faults.panic_every.is_some() || faults.corrupt_every.is_some();
    counts.wrong + counts.failed + if asked { 0 } else { panics } + u64::from(!counts.balanced())
}

/// Leaks, and ratios that were missed, make a run that went well one that fails its gate.
pub(super) fn conclude(rows: &[Row], ratio_min: Option<f64>, outcome: &mut Outcome) {
    let mut gate = false;
    for row in rows.iter().filter(|row| row.leak.found()) {
        gate = true;
        message::failure(
            &Failure::new(format!("{} leaks: {}", row.name(), grew(&row.leak)))
                .help("run it for longer with --duration and look at the slopes"),
        );
    }
    let missed = rows.iter().all(|row| row.misses(ratio_min));
    if let (Some(least), true, Some(first)) = (ratio_min, missed, rows.first()) {
        gate = true;
        let ratio = first.ratio().unwrap_or(0.0);
        let what = match rows.len() {
            1 => format!("{} has a ratio of {ratio:.3}, below {least}", first.name()),
            _ => format!("nothing has a ratio of {least}"),
        };
        message::failure(&Failure::new(what).help("choose a higher level, or lower --min-ratio"));
    }
    if gate && outcome.status == ExitStatus::Ok {
        outcome.status = ExitStatus::Gate;
    }
}

/// What grew, and what was not given back.
fn grew(leak: &Leak) -> String {
    let growing = |trend: &&Trend| trend.growth == Growth::Growing;
    let mut parts: Vec<String> = leak
        .trends
        .iter()
        .filter(growing)
        .filter_map(said)
        .collect();
    if leak.left() {
        parts.push(format!(
            "{} compressing and {} decompressing contexts of {} were not given back",
            leak.compressors_left,
            leak.decompressors_left,
            units::bytes(leak.bytes_left as f64),
        ));
    }
    parts.join("; ")
}

fn said(trend: &Trend) -> Option<String> {
    let slope = trend.slope?;
    let amount = |value: f64| match trend.quantity.is_bytes() {
        true => units::rate(value),
        false => format!("{value:.1}/s"),
    };
    let [low, high] = slope.ci95;
    Some(format!(
        "{} grew by {} ({} to {})",
        trend.quantity.name(),
        amount(slope.per_unit),
        amount(low),
        amount(high),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leak_names_what_was_not_given_back() {
        let leak = Leak {
            trends: Vec::new(),
            compressors_left: 3,
            decompressors_left: 2,
            bytes_left: 3 << 20,
        };
        let expected = "3 compressing and 2 decompressing contexts of 3 MiB were not given back";
        assert_eq!(grew(&leak), expected);
    }
}
