//! Processor time of other processes, as Linux tells it (proc_pid_stat(5)).

use std::fs;
use std::ops::Range;

use anyhow::{Context, Result};

/// User and system time of the process itself: fields 14 and 15, counted from the one behind the name, which is 3.
pub(super) const OWN: Range<usize> = 11..13;
/// The same of its children that ended and were waited for: fields 16 and 17.
pub(super) const ENDED_CHILDREN: Range<usize> = 13..15;
/// Ticks of a second, on every processor that Linux shows them for.
const TICKS: f64 = 100.0;

/// Seconds of processor time, to 10 ms.
pub(super) fn seconds(process: &str, fields: Range<usize>) -> Result<f64> {
    let path = format!("/proc/{process}/stat");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    sum(&text, fields).with_context(|| format!("{path} has no processor time: {text}"))
}

fn sum(stat: &str, fields: Range<usize>) -> Option<f64> {
    // A name may have blanks and brackets.
    let (_, behind_name) = stat.rsplit_once(')')?;
    let words: Vec<&str> = behind_name.split_whitespace().collect();
    let ticks: Vec<u64> = words
        .get(fields)?
        .iter()
        .map(|word| word.parse().ok())
        .collect::<Option<_>>()?;
    Some(ticks.iter().sum::<u64>() as f64 / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_behind_the_name() {
        let stat = "17 (a ) b) S 1 17 17 0 -1 4194560 9 8 7 6 250 50 30 20 20 0 9 0 99 1 2";
        assert_eq!(sum(stat, OWN), Some(3.0));
        assert_eq!(sum(stat, ENDED_CHILDREN), Some(0.5));
        assert_eq!(sum("17 (a) S 1", OWN), None);
    }
}
