//! The intervals of a run as points over time, for pictures.

use latency::Histogram;
use latency::percentile::earned_n;
use latency::report::Latency;

/// Some intervals together.
#[derive(Debug)]
pub(super) struct Span {
    /// Start.
    pub(super) from_ns: u64,
    /// End.
    pub(super) to_ns: u64,
    /// Values in it.
    pub(super) n: u64,
    /// Median, where there are enough values.
    pub(super) p50_ns: Option<u64>,
    /// 99th percentile, where there are enough values.
    pub(super) p99_ns: Option<u64>,
    /// Greatest value.
    pub(super) max_ns: u64,
}

impl Span {
    fn of(histogram: &Histogram<u64>, from_ns: u64, to_ns: u64) -> Self {
        let n = histogram.len();
        let known = |p: f64| (earned_n(p) <= n).then(|| histogram.value_at_quantile(p / 100.0));
        Self {
            from_ns,
            to_ns,
            n,
            p50_ns: known(50.0),
            p99_ns: known(99.0),
            max_ns: histogram.max().max(1),
        }
    }

    /// Its middle.
    pub(super) fn middle_ns(&self) -> f64 {
        self.from_ns as f64 / 2.0 + self.to_ns as f64 / 2.0
    }

    /// The least value that is shown of it.
    pub(super) fn least_ns(&self) -> u64 {
        self.p50_ns.or(self.p99_ns).unwrap_or(self.max_ns).max(1)
    }
}

/// The intervals of a row since `start_ns`: of neighbours so many together that there are at most `most`. None where
/// there is but one.
pub(super) fn of(row: &Latency, start_ns: u64, most: usize) -> Vec<Span> {
    let mut intervals: Vec<_> = row.intervals.iter().collect();
    intervals.sort_by_key(|interval| interval.start_ns);
    let together = intervals.len().div_ceil(most.max(1)).max(1);
    let mut spans = Vec::new();
    for joined in intervals.chunks(together) {
        let mut sum: Option<Histogram<u64>> = None;
        for interval in joined {
            let Ok(histogram) = interval.histogram() else {
                continue;
            };
            match &mut sum {
                Some(sum) => {
                    sum.auto(true);
                    // A resized histogram takes any other.
                    let _ = sum.add(&histogram);
                }
                None => sum = Some(histogram),
            }
        }
        let since = |ns: u64| ns.saturating_sub(start_ns);
        let from = joined
            .first()
            .map_or(0, |interval| since(interval.start_ns));
        let ends = joined.iter();
        let ends = ends.map(|interval| since(interval.start_ns.saturating_add(interval.length_ns)));
        if let Some(sum) = sum.filter(|sum| !sum.is_empty()) {
            spans.push(Span::of(&sum, from, ends.max().unwrap_or(from)));
        }
    }
    if spans.len() < 2 {
        spans.clear();
    }
    spans
}
