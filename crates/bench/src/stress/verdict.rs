//! What runs mean for the exit code, and the messages about it.

use stress::{Faults, Finding, Growth, Leak, Trend};

use super::row::Row;
use report::ExitStatus;
use report::Outcome;
use report::units;

/// Blocks that did not come back unchanged, for any reason.
pub(crate) fn wrong(found: &Finding) -> u64 {
    found.counts.begun.saturating_sub(found.counts.verified)
}

/// Faults of blocks that were not injected.
#[must_use]
pub fn unexpected(found: &Finding, faults: &Faults) -> u64 {
    let counts = &found.counts;
    let panics = counts.panicked_compress + counts.panicked_decompress;
    // A codec may panic on a corrupt block: the block counts as one that panicked.
    let asked = faults.panic_every.is_some() || faults.corrupt_every.is_some();
    counts.wrong + counts.failed + if asked { 0 } else { panics } + u64::from(!counts.balanced())
}

/// Why runs that went well fail their gate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Complaint {
    /// Something grew, or was not given back.
    #[error("{name} leaks: {what}")]
    Leak {
        /// Which codec and pool.
        name: String,
        /// What grew.
        what: String,
    },
    /// The only one has a ratio below the least.
    #[error("{name} has a ratio of {ratio:.3}, below {least}")]
    BelowRatio {
        /// Which codec and pool.
        name: String,
        /// Its ratio.
        ratio: f64,
        /// The least.
        least: f64,
    },
    /// None of several has the least ratio.
    #[error("nothing has a ratio of {least}")]
    NoRatio {
        /// The least.
        least: f64,
    },
}

/// Leaks and missed ratios make a successful run one that fails its gate.
pub(crate) fn conclude(
    rows: &[Row],
    ratio_min: Option<f64>,
    outcome: &mut Outcome,
) -> Vec<Complaint> {
    let leaking = rows.iter().filter(|row| row.leak.found());
    let mut complaints: Vec<Complaint> = leaking
        .map(|row| Complaint::Leak {
            name: row.name(),
            what: grew(&row.leak),
        })
        .collect();
    let missed = rows.iter().all(|row| row.misses(ratio_min));
    if let (Some(least), true, Some(first)) = (ratio_min, missed, rows.first()) {
        complaints.push(match rows.len() {
            1 => Complaint::BelowRatio {
                name: first.name(),
                ratio: first.ratio().unwrap_or(0.0),
                least,
            },
            _ => Complaint::NoRatio { least },
        });
    }
    if !complaints.is_empty() && outcome.status == ExitStatus::Ok {
        outcome.status = ExitStatus::Gate;
    }
    complaints
}

/// What grew, and what was not released.
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
