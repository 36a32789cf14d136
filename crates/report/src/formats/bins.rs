//! The values of a distribution in a few bars, for pictures.

use latency::Histogram;

/// Bars at least.
const BARS_MIN: usize = 4;
/// The precision of a histogram: no bar is narrower.
const PRECISION: f64 = 0.002;

/// The edges of the bars: at equal quotients, no bar narrower than a nanosecond or than the histogram's precision.
pub(super) fn bounds(low: f64, high: f64, most: usize) -> Vec<f64> {
    let high = high.max(low + 1.0) * (1.0 + PRECISION);
    let narrowest = (1.0 / low).max(PRECISION).ln_1p();
    let bars = ((high / low).ln() / narrowest) as usize;
    let bars = bars.clamp(BARS_MIN, most.max(BARS_MIN));
    let step = (high / low).powf(1.0 / bars as f64);
    (0..=bars).map(|nth| low * step.powi(nth as i32)).collect()
}

/// How many values lie between each two edges.
pub(super) fn counts(histogram: &Histogram<u64>, bounds: &[f64]) -> Vec<u64> {
    let mut counts = vec![0_u64; bounds.len().saturating_sub(1)];
    let Some(last) = counts.len().checked_sub(1) else {
        return counts;
    };
    for recorded in histogram.iter_recorded() {
        let value = histogram.median_equivalent(recorded.value_iterated_to());
        let above = bounds.partition_point(|edge| *edge <= value as f64);
        let bar = above.saturating_sub(1).min(last);
        counts[bar] = counts[bar].saturating_add(recorded.count_at_value());
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_hold_every_value_and_are_wide_enough() {
        for (low, high) in [
            (1.0, 1.0),
            (1.0, 3.0),
            (20.0, 1e5),
            (1e9, 1e9 + 5.0),
            (1.0, 3.6e12),
        ] {
            let bounds = bounds(low, high, 72);
            assert!((BARS_MIN + 1..=73).contains(&bounds.len()));
            assert!(bounds.is_sorted() && bounds[0] <= low && bounds[bounds.len() - 1] > high);
            let enough = bounds.len() - 1 == BARS_MIN || bounds[1] - bounds[0] >= 0.999;
            assert!(enough, "{low} {high}: {bounds:?}");
        }
    }
}
