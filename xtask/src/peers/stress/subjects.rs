//! What is compared with what: plain data.

use anyhow::{Result, ensure};

use super::judged::{Judged, median};

/// Who runs a codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Perfkit,
    Go,
}

impl Program {
    /// How it is called, at the root.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Perfkit => "perfkit",
            Self::Go => "bench-peers/target/stress",
        }
    }
}

/// One codec with its contexts in one loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject {
    pub(super) program: Program,
    pub(super) work: &'static str,
    pub(super) codec: &'static str,
    pub(super) pool: &'static str,
    pub(super) extra: &'static [&'static str],
}

const fn perfkit(work: &'static str, codec: &'static str, pool: &'static str) -> Subject {
    Subject {
        program: Program::Perfkit,
        work,
        codec,
        pool,
        extra: &[],
    }
}

const fn go(work: &'static str, codec: &'static str, pool: &'static str) -> Subject {
    Subject {
        program: Program::Go,
        ..perfkit(work, codec, pool)
    }
}

/// One block per send, as in the program that had the seed loop.
const SINGLE: &[&str] = &["--batch", "1"];
/// The same once more: what two runs of one thing differ by.
const CONTROL: &[&str] = &["--seed", "2"];

/// Everything that runs in a round.
pub(super) const SUBJECTS: &[Subject] = &[
    perfkit("seed", "zstd:3", "fresh"),
    perfkit("seed", "zstd:3", "thread-local"),
    Subject {
        extra: SINGLE,
        ..go("seed", "datadog:3", "fresh")
    },
    go("seed", "datadog:3", "fresh"),
    go("seed", "datadog:3", "pooled"),
    go("seed", "klauspost:3", "pooled"),
    go("seed", "kafka-zstd:3", "pooled"),
    perfkit("honest", "zstd:5", "fresh"),
    perfkit("honest", "zstd:5", "thread-local"),
    go("honest", "datadog:5", "fresh"),
    Subject {
        extra: CONTROL,
        ..go("honest", "datadog:5", "fresh")
    },
    go("honest", "datadog:5", "pooled"),
    perfkit("honest", "zstd:1", "fresh"),
    perfkit("honest", "zstd:1", "thread-local"),
    perfkit("honest", "zstd:auto", "thread-local"),
    go("honest", "datadog:1", "fresh"),
    go("honest", "datadog:1", "pooled"),
    go("honest", "klauspost:3", "fresh"),
    go("honest", "klauspost:3", "pooled"),
    go("honest", "kafka-zstd:3", "pooled"),
    perfkit("honest", "gzip:6", "thread-local"),
    perfkit("honest", "gzip-c:6", "thread-local"),
    go("honest", "gzip:6", "pooled"),
    go("honest", "kafka-gzip:6", "pooled"),
    perfkit("honest", "lz4", "thread-local"),
    go("honest", "lz4", "pooled"),
    go("honest", "kafka-lz4", "pooled"),
    perfkit("honest", "snappy", "thread-local"),
    go("honest", "snappy", "pooled"),
    go("honest", "kafka-snappy", "pooled"),
];

impl Subject {
    /// Its name in the record, which is unique.
    pub(super) fn name(&self) -> String {
        let extra = match self.extra {
            [] => String::new(),
            words if words == CONTROL => ", again".to_owned(),
            words => format!(", {}", words.join(" ").replace("--", "")),
        };
        format!(
            "{} loop, {} {}{extra}",
            self.work,
            self.codec_name(),
            self.pool
        )
    }

    fn codec_name(&self) -> String {
        match self.program {
            Program::Perfkit => format!("perfkit {}", self.codec),
            Program::Go => format!("Go {}", self.codec),
        }
    }
}

/// By how much one subject shall be ahead of another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    pub(super) target: &'static str,
    pub(super) baseline: &'static str,
    /// None: to be known, not to be reached.
    pub(super) reach: Option<f64>,
}

const fn goal(target: &'static str, baseline: &'static str, reach: f64) -> Goal {
    Goal {
        target,
        baseline,
        reach: Some(reach),
    }
}

/// The comparisons of the record.
pub(super) const GOALS: &[Goal] = &[
    goal(
        "seed loop, perfkit zstd:3 thread-local",
        "seed loop, Go datadog:3 fresh, batch 1",
        3.5,
    ),
    Goal {
        target: "seed loop, perfkit zstd:3 thread-local",
        baseline: "seed loop, Go datadog:3 pooled",
        reach: None,
    },
    goal(
        "honest loop, perfkit zstd:5 thread-local",
        "honest loop, Go datadog:5 fresh",
        2.0,
    ),
    goal(
        "honest loop, perfkit zstd:5 thread-local",
        "honest loop, Go datadog:5 pooled",
        1.45,
    ),
    goal(
        "honest loop, perfkit zstd:1 thread-local",
        "honest loop, Go datadog:1 fresh",
        2.0,
    ),
    goal(
        "honest loop, perfkit zstd:1 thread-local",
        "honest loop, Go datadog:1 pooled",
        1.45,
    ),
    goal(
        "honest loop, perfkit zstd:1 thread-local",
        "honest loop, Go datadog:5 pooled",
        1.45,
    ),
    goal(
        "honest loop, perfkit zstd:auto thread-local",
        "honest loop, Go datadog:5 fresh",
        4.5,
    ),
    Goal {
        target: "honest loop, perfkit zstd:auto thread-local",
        baseline: "honest loop, Go klauspost:3 pooled",
        reach: None,
    },
    Goal {
        target: "honest loop, Go datadog:5 fresh, again",
        baseline: "honest loop, Go datadog:5 fresh",
        reach: None,
    },
];

impl Goal {
    /// Compares the two round by round.
    pub(super) fn judge(&self, speeds: impl Fn(&str) -> Result<Vec<f64>>) -> Result<Judged> {
        let (target, baseline) = (speeds(self.target)?, speeds(self.baseline)?);
        ensure!(!target.is_empty(), "no round of {}", self.target);
        let mut ratios: Vec<f64> = target.iter().zip(&baseline).map(|(t, b)| t / b).collect();
        ratios.sort_by(f64::total_cmp);
        let (low, high) = ranks(ratios.len());
        Ok(Judged {
            target: self.target.to_owned(),
            baseline: self.baseline.to_owned(),
            reach: self.reach,
            median: median(&ratios),
            ci95: (low < high).then(|| [ratios[low], ratios[high]]),
            rounds: ratios.len(),
        })
    }
}

/// The ranks of `count` sorted values that the median lies between with at least 95 % confidence; the
/// same one twice where there are too few.
fn ranks(count: usize) -> (usize, usize) {
    let (mut low, mut tail, mut term) = (0, 0.0, 0.5_f64.powi(i32::try_from(count).unwrap_or(0)));
    // The chance that no more than `low` values are below the median.
    loop {
        tail += term;
        if tail > 0.025 || low * 2 >= count {
            break;
        }
        term *= ratio(count - low, low + 1);
        low += 1;
    }
    match low {
        0 => (0, 0),
        low => (low - 1, count - low),
    }
}

#[allow(clippy::cast_precision_loss, reason = "a few rounds")]
fn ratio(a: usize, b: usize) -> f64 {
    a as f64 / b as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_median_by_its_ranks() {
        assert_eq!(ranks(0), (0, 0));
        assert_eq!(ranks(5), (0, 0), "five values cannot be 95 % sure");
        assert_eq!(ranks(6), (0, 5));
        assert_eq!(ranks(9), (1, 7));
        assert_eq!(ranks(20), (5, 14));
    }

    #[test]
    fn pairs_of_rounds_are_compared() {
        let goal = goal("a", "b", 2.0);
        let speeds = |name: &str| Ok(vec![if name == "a" { 30.0 } else { 10.0 }; 6]);
        let judged = goal.judge(speeds).unwrap();
        assert_eq!((judged.median, judged.ci95), (3.0, Some([3.0, 3.0])));
        assert!(goal.judge(|_| Ok(Vec::new())).is_err());
    }
}
