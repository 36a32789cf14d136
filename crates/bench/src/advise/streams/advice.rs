//! What to do, in a sentence.

use report::units::{bytes, count, duration};

use super::Shown;
use super::round::Setup;
use super::way::Way;

/// Waits above those of an idle runtime, in nanoseconds, that a way may cost other tasks.
const STALL_NS_MAX: u64 = 1_000_000;
/// A way that takes up to this much longer than the fastest, and disturbs less, is better.
const SLOWER_MAX: f64 = 1.1;

/// The way to choose: the fastest that lets other tasks wait for no more than a millisecond longer than they do in an
/// idle runtime, or else the one that lets them wait least.
pub(super) fn choose(ways: &[Shown]) -> Option<&Shown> {
    let idle = ways.iter().find(|shown| shown.found.way == Way::Idle)?;
    let most_ns = idle.stall_ns().saturating_add(STALL_NS_MAX);
    let measured = || {
        let of = |shown: &&Shown| shown.found.way != Way::Idle && shown.found.wall_ns.is_some();
        ways.iter().filter(of)
    };
    let fits = || measured().filter(|shown| shown.stall_ns() <= most_ns);
    let Some(fastest_ns) = fits().filter_map(|shown| shown.found.wall_ns).min() else {
        return measured().min_by_key(|shown| shown.stall_ns());
    };
    let near = |shown: &&Shown| {
        let wall_ns = shown.found.wall_ns.unwrap_or(u64::MAX) as f64;
        wall_ns <= fastest_ns as f64 * SLOWER_MAX
    };
    fits().filter(near).min_by_key(|shown| shown.stall_ns())
}

/// What to do.
pub(super) fn sentence(ways: &[Shown], setup: &Setup) -> String {
    let Some(chosen) = choose(ways) else {
        return "Nothing was measured.".to_owned();
    };
    let what = match chosen.found.way {
        Way::Async => "Use zstdkit's AsyncEncoder",
        Way::Blocking => "Use spawn_blocking",
        Way::Inline | Way::Idle => "Compress in the tasks themselves",
    };
    let streams = match setup.count {
        1 => "one stream".to_owned(),
        several => format!("{} streams", count(several as u64)),
    };
    let others: Vec<String> = ways
        .iter()
        .filter(|other| other.found.way != Way::Idle && other.found.way != chosen.found.way)
        .filter_map(other)
        .collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" ({})", others.join("; ")),
    };
    let (p99, longest) = waits(chosen);
    format!(
        "{what}: {streams} of {} take {} while other tasks wait {p99}{longest} at most{others}.",
        bytes(setup.content_bytes() as f64),
        duration(chosen.found.wall_ns.unwrap_or(0) as f64),
        p99 = p99.map_or_else(String::new, |p99| format!("{p99} at p99 and ")),
    )
}

/// The same numbers of another way, or why there are none.
fn other(shown: &Shown) -> Option<String> {
    let found = &shown.found;
    let name = found.way.name();
    if found.left_out {
        let contexts = bytes(found.contexts_bytes as f64);
        return Some(format!(
            "{name} was not tried, as its contexts would take {contexts}"
        ));
    }
    let wall = duration(found.wall_ns? as f64);
    let (p99, longest) = waits(shown);
    Some(match p99 {
        Some(p99) => format!("{name}: {wall}, {p99} and {longest}"),
        None => format!("{name}: {wall}, {longest}"),
    })
}

/// How long other tasks wait: the 99th percentile, if there are enough samples, and the longest.
fn waits(shown: &Shown) -> (Option<String>, String) {
    let latency = shown.stall.latency();
    let p99 = latency.percentile(99.0);
    (
        p99.map(|ns| duration(ns as f64)),
        duration(latency.max_ns.unwrap_or(0) as f64),
    )
}
