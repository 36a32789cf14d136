//! Adding a row of one report to the matching row of another.
//!
//! Histograms are added and percentiles read from the sum; percentiles are never averaged. (Recorders of one
//! run are merged before they become rows: see [`crate::Recorder::merge`].)

use crate::deviation;
use crate::histogram;
use crate::percentile::{LADDER, Ladder};
use crate::read::{Place, ReadError};
use crate::report::{Latency, RowFloor, finite};

impl Latency {
    /// Adds `other`, a distribution of the same time and operation from another run.
    ///
    /// Minimum, maximum, mean and standard deviation stay as exact as they were. Buckets and
    /// intervals belong to one run and are dropped.
    ///
    /// # Errors
    /// When a histogram cannot be read, or the two have ranges that cannot be added, or one holds single
    /// operations and the other means of batches, or there are more values than can be counted.
    pub fn merge(&mut self, other: &Self) -> Result<(), ReadError> {
        let same = (self.timing, self.batch) == (other.timing, other.batch);
        if !same && self.n > 0 && other.n > 0 {
            let message = "rows of different timing or batch size cannot be added";
            return Err(ReadError::malformed(Place::Whole, message));
        }
        let histogram = histogram::sum(&self.histogram()?, &other.histogram()?)?;
        let saturated = self.saturated.saturating_add(other.saturated);
        let merged = Self::from_histogram(self.name, &*self.operation, self.timing, &histogram);
        let moments = pooled(self, other);
        let min_ns = self.min_ns.into_iter().chain(other.min_ns).min();
        let max_ns = self.max_ns.into_iter().chain(other.max_ns).max();
        // Each run counts as what it was; one that is not known, in full.
        let known = self.effective_n.or(other.effective_n).is_some();
        let counts = |row: &Self| row.effective_n.unwrap_or(row.n);
        let effective_n = known.then(|| counts(self).saturating_add(counts(other)));
        let n = self.n.saturating_add(other.n);
        let ladder = Ladder {
            histogram: &histogram,
            saturated,
            timing: self.timing,
            batch: self.batch,
            min_ns,
            max_ns,
            inflation: effective_n.map_or(1.0, |effective| n as f64 / effective.max(1) as f64),
        };
        let percentiles = ladder.at(&LADDER);
        *self = Self {
            series: self.series.take(),
            batch: self.batch,
            floors: common(&self.floors, &other.floors),
            n,
            effective_n,
            min_ns,
            mean_ns: moments.map(|(mean, _)| mean),
            stdev_ns: moments.and_then(|(_, stdev)| stdev),
            max_ns,
            saturated,
            percentiles,
            ..merged
        };
        Ok(())
    }
}

/// The floors that both have, each the greater of the two.
fn common(ours: &[RowFloor], theirs: &[RowFloor]) -> Vec<RowFloor> {
    let both = ours.iter().filter_map(|floor| {
        let other = theirs.iter().find(|other| other.kind == floor.kind)?;
        Some(RowFloor {
            ns: floor.ns.max(other.ns),
            ..*floor
        })
    });
    both.collect()
}

/// Mean and standard deviation of both samples together, the latter where that of each is known.
fn pooled(a: &Latency, b: &Latency) -> Option<(f64, Option<f64>)> {
    let rows = || [a, b].into_iter().filter(|row| row.n > 0);
    let mut sum = 0.0;
    for row in rows() {
        sum += row.n as f64 * row.mean_ns?;
    }
    let n = a.n.saturating_add(b.n);
    let mean = finite(sum / n as f64)?;
    let squares = |row: &Latency| {
        let own = match (row.n, row.stdev_ns) {
            (1, _) => 0.0,
            (n, stdev) => (n - 1) as f64 * stdev? * stdev?,
        };
        let distance = row.mean_ns? - mean;
        Some(own + row.n as f64 * distance * distance)
    };
    let squares: Option<f64> = rows().map(squares).sum();
    Some((mean, squares.and_then(|sum| deviation::of_squares(sum, n))))
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use crate::report::{Latency, LatencyName, Timing};

    fn row(values: &[u64]) -> Latency {
        let mut histogram = Histogram::new_with_bounds(1, 1_000_000, 3).expect("bounds");
        for value in values {
            histogram.record(*value).expect("in range");
        }
        Latency::from_histogram(LatencyName::Service, "call", Timing::Actual, &histogram)
    }

    #[test]
    fn two_rows_add_up_to_the_row_of_both_samples() {
        let (low, high): (Vec<u64>, Vec<u64>) = ((1..=400).collect(), (300..=999).collect());
        let mut merged = row(&low);
        merged.merge(&row(&high)).expect("merged");
        let both = row(&[low, high].concat());
        assert_eq!(merged.n, both.n);
        assert_eq!(merged.percentiles, both.percentiles);
        assert_eq!((merged.min_ns, merged.max_ns), (both.min_ns, both.max_ns));
        let close = |a: Option<f64>, b: Option<f64>| {
            (a.expect("a value") - b.expect("a value")).abs() < 1e-6
        };
        assert!(close(merged.mean_ns, both.mean_ns));
        assert!(close(merged.stdev_ns, both.stdev_ns));
    }

    #[test]
    fn an_empty_row_changes_nothing() {
        let mut merged = row(&[5, 6, 7]);
        let before = merged.clone();
        merged.merge(&row(&[])).expect("merged");
        assert_eq!(merged, before);
    }
}

#[cfg(test)]
mod plain_lists {
    use std::time::Instant;

    use crate::report::{Latency, LatencyName};
    use crate::{Recorder, Spec, SplitMix64, deviation};

    fn row(values: &[u64]) -> Latency {
        let spec = Spec::new(LatencyName::Service, "operation");
        let mut recorder = Recorder::new(spec, Instant::now());
        values.iter().for_each(|value| recorder.record_ns(*value));
        recorder.finish().latency()
    }

    /// Compares the row with all values in one sorted list.
    fn check(row: &Latency, mut values: Vec<u64>) {
        values.sort_unstable();
        assert_eq!(row.n, values.len() as u64);
        assert_eq!(row.min_ns, values.first().copied());
        assert_eq!(row.max_ns, values.last().copied());
        if values.is_empty() {
            assert_eq!((row.mean_ns, row.stdev_ns), (None, None));
            return;
        }
        let n = values.len() as f64;
        if values.len() == 1 {
            assert_eq!(row.stdev_ns, None);
        }
        let mean = values.iter().sum::<u64>() as f64 / n;
        let squares = values.iter().map(|value| (*value as f64 - mean).powi(2));
        let stdev = deviation::of_squares(squares.sum(), values.len() as u64);
        let close = |stated: Option<f64>, computed: f64, share: f64| {
            let stated = stated.unwrap_or(f64::NAN);
            assert!(
                (stated - computed).abs() <= mean * share,
                "{stated}, {computed}"
            );
        };
        close(row.mean_ns, mean, 1e-6);
        // Deviations are summed up in buckets.
        if let Some(stdev) = stdev {
            close(row.stdev_ns, stdev, 1e-4);
        }
        for found in &row.percentiles {
            let Some(value) = found.value_ns else {
                continue;
            };
            let rank = (found.p / 100.0 * n).ceil() as usize;
            let expected = values[rank.clamp(1, values.len()) - 1];
            // A bucket is at most a thousandth of its value wide.
            let off = value.abs_diff(expected) as f64 / expected as f64;
            assert!(off <= 2e-3, "p{}: {value}, not {expected}", found.p);
        }
    }

    #[test]
    fn rows_add_up_to_the_row_of_all_values() {
        let mut random = SplitMix64::new(3);
        for files in [1, 2, 3, 20] {
            let runs: Vec<Vec<u64>> = (0..files)
                .map(|file| {
                    // The third holds nothing, the fourth one value.
                    let count = [1000, 1300, 0, 1][file % 4];
                    (0..count)
                        .map(|_| 50 + random.next() % (1000 << file))
                        .collect()
                })
                .collect();
            let mut sum = row(&runs[0]);
            for run in &runs[1..] {
                sum.merge(&row(run)).unwrap();
            }
            check(&sum, runs.concat());
        }
    }

    #[test]
    fn a_row_merged_with_itself_has_its_percentiles_and_twice_its_count() {
        for count in [0_u64, 1, 2, 999, 5000] {
            let values: Vec<u64> = (0..count).map(|value| 100 + value * value).collect();
            let single = row(&values);
            for times in [2, 3, 10] {
                let mut sum = single.clone();
                for _ in 1..times {
                    sum.merge(&single).unwrap();
                }
                check(&sum, values.repeat(times));
            }
        }
    }
}
