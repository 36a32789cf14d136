//! Two reports of runs made one after the other.
//!
//! Buckets of equal index did not run next to each other, so a slow hour of the machine looks like a slow
//! program. So the interval of the difference is widened by what the runs show within themselves: the spread of the
//! medians of ten consecutive blocks (`blocks`), or of runs too short for that the whole of their drift. What the odd
//! buckets of the baseline differ by from the even ones is noise.

use std::collections::{BTreeMap, VecDeque};

use super::blocks::hidden;
use super::difference::{differences, differences_at, median, skipped};
use super::regression::NO_BASELINE;
use super::tails::{Sample, Samples};
use super::verdict::Evidence;
use super::{Names, Options, Sides};
use crate::foreign::{Benchmark, Sequence, Times};
use crate::hlog::tag;
use crate::report::{Buckets, Comparison, Design, Latency, LatencyName, Report, StatedTimes};

/// Why a row of the baseline alone was not compared.
const NO_TARGET: &str = "the target has no such row";

/// Blocks whose medians show the drift of a run.
const DRIFT_BLOCKS: usize = 10;

/// What makes two rows the same distribution.
type Key<'a> = (Option<&'a str>, LatencyName, &'a str);

fn key(row: &Latency) -> Key<'_> {
    (row.series.as_deref(), row.name, row.operation.as_str())
}

/// Compares two reports, the first being the baseline. Makes one comparison for each row, matched by series,
/// name and operation, in the baseline's order. A row that only one report has is inconclusive and says so.
///
/// `names` are those of the baseline and of the target.
#[must_use]
pub fn reports(a: &Report, b: &Report, names: [&str; 2]) -> Vec<Comparison> {
    reports_with(a, b, names, Options::default())
}

/// [`reports`] at another strictness.
#[must_use]
pub fn reports_with(a: &Report, b: &Report, names: [&str; 2], options: Options) -> Vec<Comparison> {
    let mut found = rows(&a.latencies, &b.latencies, names, options);
    found.extend(stated(a, b, names, options));
    found
}

/// What another tool stated without samples: each is named, and none is compared.
fn stated(a: &Report, b: &Report, names: [&str; 2], options: Options) -> Vec<Comparison> {
    let [base, target] = [&a.stated.times, &b.stated.times];
    let has = |report: &Report, stated: &[StatedTimes], name: &str| {
        let series = |row: &Latency| row.series.as_deref() == Some(name);
        stated.iter().any(|one| one.name == name) || report.latencies.iter().any(series)
    };
    let of_base = base.iter().map(|one| {
        let why = match has(b, target, &one.name) {
            true => statistics_alone(&one.source),
            false => NO_TARGET.to_owned(),
        };
        without(named(&one.name, names), options, &why)
    });
    // A row of samples in the baseline says by itself that the target lacks its samples.
    let is_new = |one: &&StatedTimes| !has(a, base, &one.name);
    let of_target = target.iter().filter(is_new);
    let of_target = of_target.map(|one| without(named(&one.name, names), options, NO_BASELINE));
    of_base.chain(of_target).collect()
}

/// Why a row that both have is not compared.
fn statistics_alone(source: &str) -> String {
    format!("{source} states statistics of it without samples, which decide nothing")
}

/// The same of the rows of two runs.
#[must_use]
pub fn rows(a: &[Latency], b: &[Latency], names: [&str; 2], options: Options) -> Vec<Comparison> {
    compared_each(a, b, key, Latency::label, names, options, pair)
}

/// The same of two interval logs, or of one and the rows of a report: rows are matched by their tags, which is all that a
/// log says of them. A single row of each is compared whatever its tag. The means of intervals are what the medians
/// are compared by, or buckets where both have them; the tails of all values of the run are compared, too.
#[must_use]
pub fn logs(a: &[Latency], b: &[Latency], names: [&str; 2], options: Options) -> Vec<Comparison> {
    if let ([base], [target]) = (a, b) {
        let row = renamed(&base.label(), &target.label());
        return vec![pair(base, target, named(&row, names), options)];
    }
    compared_each(a, b, tag, Latency::label, names, options, pair)
}

/// Compares what has the same key on both sides, in the order of `a`; then says what only `b` has. Of several with one
/// key, the n-th of `a` is compared with the n-th of `b`, so that none is left out.
fn compared_each<'t, T, K: Ord>(
    a: &'t [T],
    b: &'t [T],
    key: impl Fn(&'t T) -> K,
    label: impl Fn(&'t T) -> String,
    names: [&str; 2],
    options: Options,
    compare: impl Fn(&'t T, &'t T, Names<'_>, Options) -> Comparison,
) -> Vec<Comparison> {
    let mut unmatched: BTreeMap<K, VecDeque<usize>> = BTreeMap::new();
    for (index, target) in b.iter().enumerate() {
        unmatched.entry(key(target)).or_default().push_back(index);
    }
    let mut is_new = vec![true; b.len()];
    let mut found = Vec::new();
    for base in a {
        let row = label(base);
        let names = named(&row, names);
        let index = unmatched.get_mut(&key(base)).and_then(VecDeque::pop_front);
        let target = index.and_then(|index| {
            *is_new.get_mut(index)? = false;
            b.get(index)
        });
        found.push(match target {
            Some(target) => compare(base, target, names, options),
            None => without(names, options, NO_TARGET),
        });
    }
    for (target, _) in b.iter().zip(is_new).filter(|(_, is_new)| *is_new) {
        let row = label(target);
        found.push(without(named(&row, names), options, NO_BASELINE));
    }
    found
}

fn named<'n>(row: &'n str, [baseline, target]: [&'n str; 2]) -> Names<'n> {
    Names {
        row,
        baseline,
        target,
    }
}

/// The name of a row that both call by their own.
fn renamed(base: &str, target: &str) -> String {
    match base == target {
        true => base.to_owned(),
        false => format!("{base} → {target}"),
    }
}

fn pair(base: &Latency, target: &Latency, names: Names<'_>, options: Options) -> Comparison {
    let samples = of_rows(base, target);
    let (Some(base), Some(target)) = (&base.buckets, &target.buckets) else {
        return by_intervals(base, target, names, options, samples);
    };
    let Some((base, target, bucket_ops)) = aligned(base, target) else {
        return without(
            names,
            options,
            "the bucket sizes of the two rows have no usable common multiple",
        );
    };
    let sides = Sides {
        base: &base,
        target: &target,
        control: None,
        bucket_ops,
    };
    compared(names, sides, options, samples)
}

/// The single values of two rows, where they have any.
fn of_rows(base: &Latency, target: &Latency) -> Option<Samples> {
    Some(Samples {
        base: Sample::of_run(base)?,
        target: Sample::of_run(target)?,
        control: None,
    })
}

/// Compares rows by the means of their intervals, as the logs that they may come from are compared.
fn by_intervals(
    base: &Latency,
    target: &Latency,
    names: Names<'_>,
    options: Options,
    samples: Option<Samples>,
) -> Comparison {
    if base.intervals.is_empty() || target.intervals.is_empty() {
        return by_percentiles(base, target, names, options);
    }
    let (Ok(base), Ok(target)) = (base.interval_means(), target.interval_means()) else {
        return without(names, options, "an interval of a row cannot be read");
    };
    let sides = Sides {
        base: &base,
        target: &target,
        control: None,
        bucket_ops: 1,
    };
    compared(names, sides, options, samples)
}

/// Compares rows of which nothing is known but how their values are distributed: percentile by percentile. As nothing
/// shows how either run drifted, a difference has to be beyond the margin.
fn by_percentiles(
    base: &Latency,
    target: &Latency,
    names: Names<'_>,
    options: Options,
) -> Comparison {
    let samples = Sample::of_steps(base).zip(Sample::of_steps(target));
    let samples = samples.map(|(base, target)| Samples {
        base,
        target,
        control: None,
    });
    let tails = samples.map(|found| found.all_differences(options, options.margin));
    let tails = tails.unwrap_or_default();
    let Some(median) = tails.compared.iter().find(|tail| tail.p == 50.0) else {
        let why = "a row has neither buckets nor intervals nor enough single values to compare";
        return without(names, options, why);
    };
    let (verdict, [baseline_ns, target_ns]) =
        (median.verdict, [median.baseline_ns, median.target_ns]);
    Comparison {
        verdict,
        baseline_median_ns: baseline_ns,
        target_median_ns: target_ns,
        margin: Some(options.margin),
        tails: tails.compared,
        tails_left_out: tails.left_out,
        ..without(
            names,
            options,
            "two distributions, whose values have no order: drift is not known, neither within the runs nor between them: suggestive",
        )
    }
}

/// Compares sequences of two files of other tools, matched by name; a single one of each is compared whatever
/// its name. One that only one file has is inconclusive and says so. The tails of [single
/// operations](Sequence::singles) are compared, too.
#[must_use]
pub fn sequences(
    base: &[Sequence],
    target: &[Sequence],
    names: [&str; 2],
    options: Options,
) -> Vec<Comparison> {
    if let ([base], [target]) = (base, target) {
        let row = renamed(&base.name, &target.name);
        return vec![sequence(base, target, named(&row, names), options)];
    }
    let name = |one: &Sequence| one.name.clone();
    compared_each(base, target, name, name, names, options, sequence)
}

fn sequence(base: &Sequence, target: &Sequence, names: Names<'_>, options: Options) -> Comparison {
    let sides = Sides {
        base: &base.values_ns,
        target: &target.values_ns,
        control: None,
        bucket_ops: 1,
    };
    let singles = base.singles && target.singles;
    sequential_with(names, sides, options.singles(singles))
}

/// Compares the benchmarks of two files of other tools, matched by name; a single one of each is compared whatever its
/// name. Samples in their order are compared as [`sequences`] are, others percentile by percentile. One of which a side
/// has statistics alone, or whose runs failed in the target, is inconclusive and says so.
#[must_use]
pub fn benchmarks(
    base: &[Benchmark],
    target: &[Benchmark],
    names: [&str; 2],
    options: Options,
) -> Vec<Comparison> {
    if let ([base], [target]) = (base, target) {
        let row = renamed(&base.name, &target.name);
        return vec![benchmark(base, target, named(&row, names), options)];
    }
    let name = |one: &Benchmark| one.name.clone();
    compared_each(base, target, name, name, names, options, benchmark)
}

fn benchmark(
    base: &Benchmark,
    target: &Benchmark,
    names: Names<'_>,
    options: Options,
) -> Comparison {
    if let Some(why) = failing([base.failed, target.failed]) {
        return without(names, options, &why);
    }
    let samples = |one: &Benchmark| match &one.times {
        Times::InOrder(one) => Some(one.distribution()),
        Times::Distribution(row) => Some(row.as_ref().clone()),
        Times::Stated => None,
    };
    match (&base.times, &target.times) {
        (Times::InOrder(base), Times::InOrder(target)) => sequence(base, target, names, options),
        _ => match (samples(base), samples(target)) {
            (Some(base), Some(target)) => by_percentiles(&base, &target, names, options),
            (None, _) => without(names, options, &statistics_alone(base.source)),
            (_, None) => without(names, options, &statistics_alone(target.source)),
        },
    }
}

/// Why times are not compared of which most are those of failed runs, in the target and not in the baseline: how many
/// failed, and of how many. They are not what the work takes, however short they are.
#[must_use]
pub fn failing([base, target]: [Option<[u64; 2]>; 2]) -> Option<String> {
    let most = |[failed, of]: &[u64; 2]| *failed > of / 2;
    let [failed, of] = target.filter(most)?;
    base.filter(most).is_none().then(|| {
        format!("{failed} of {of} runs of the target failed: their times are not those of its work")
    })
}

/// Compares two columns of plain numbers, pair by pair, as [`sequential`] does. Their unit is unknown, so
/// the medians go into the fields without a unit.
#[must_use]
pub fn numbers(names: Names<'_>, base: &[f64], target: &[f64], options: Options) -> Comparison {
    let sides = Sides {
        base,
        target,
        control: None,
        bucket_ops: 1,
    };
    let comparison = sequential_with(names, sides, options.singles(true));
    Comparison {
        baseline_median: comparison.baseline_median_ns,
        target_median: comparison.target_median_ns,
        baseline_median_ns: None,
        target_median_ns: None,
        ..comparison
    }
}

/// Compares sides that ran one after the other. Without a control, it compares the odd with the even buckets
/// of the baseline.
#[must_use]
pub fn sequential(names: Names<'_>, sides: Sides<'_>) -> Comparison {
    sequential_with(names, sides, Options::default())
}

/// [`sequential`] at another strictness.
#[must_use]
pub fn sequential_with(names: Names<'_>, sides: Sides<'_>, options: Options) -> Comparison {
    let samples = options.singles.then(|| Samples {
        base: Sample::of_values(sides.base),
        target: Sample::of_values(sides.target),
        control: sides.control.map(Sample::of_values),
    });
    compared(names, sides, options, samples)
}

fn compared(
    names: Names<'_>,
    sides: Sides<'_>,
    options: Options,
    samples: Option<Samples>,
) -> Comparison {
    let (base, target) = (sides.base, sides.target);
    let control = match sides.control {
        Some(control) => differences(base, control),
        None => {
            let (odd, even) = halves(base);
            differences(&odd, &even)
        }
    };
    let skipped = skipped(base, target);
    let difference = differences_at(base, target, options.confidence);
    let drift = drift(base).unwrap_or(0.0).max(drift(target).unwrap_or(0.0));
    let evidence = Evidence {
        design: Design::Sequential,
        hidden: hidden([base, target], difference.as_ref(), drift),
        difference,
        control,
        drift,
        pairs: (base.len().min(target.len()) as u64).saturating_sub(skipped),
        skipped,
        bucket_ops: sides.bucket_ops,
        baseline_median: median(base),
        target_median: median(target),
        samples,
    };
    evidence.conclude(names, options)
}

/// A comparison that cannot be made.
fn without(names: Names<'_>, options: Options, why: &str) -> Comparison {
    let evidence = Evidence {
        design: Design::Sequential,
        difference: None,
        control: None,
        drift: 0.0,
        hidden: 0.0,
        pairs: 0,
        skipped: 0,
        bucket_ops: 0,
        baseline_median: None,
        target_median: None,
        samples: None,
    };
    Comparison {
        reason: why.to_owned(),
        ..evidence.conclude(names, options)
    }
}

/// Both sides in buckets of their least common size.
fn aligned(base: &Buckets, target: &Buckets) -> Option<(Vec<f64>, Vec<f64>, u64)> {
    if base.size_ops == 0 || target.size_ops == 0 {
        return None;
    }
    let divisor = gcd(base.size_ops, target.size_ops);
    let size = (base.size_ops / divisor).checked_mul(target.size_ops)?;
    let coarse = |buckets: &Buckets| coarsened(&buckets.sum_ns, size / buckets.size_ops);
    Some((coarse(base), coarse(target), size))
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Sums of `factor` consecutive buckets; an incomplete last one is dropped.
fn coarsened(sums: &[u64], factor: u64) -> Vec<f64> {
    let factor = usize::try_from(factor).unwrap_or(usize::MAX).max(1);
    sums.chunks_exact(factor)
        .map(|chunk| chunk.iter().map(|ns| *ns as f64).sum())
        .collect()
}

/// The first, third, … and the second, fourth, … buckets.
fn halves(buckets: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut odd, mut even) = (Vec::new(), Vec::new());
    for pair in buckets.chunks_exact(2) {
        odd.push(pair[0]);
        even.push(pair[1]);
    }
    (odd, even)
}

/// Greatest less least median of consecutive blocks, as a share of the median of all.
fn drift(buckets: &[f64]) -> Option<f64> {
    let blocks = DRIFT_BLOCKS.min(buckets.len() / 2);
    let medians: Vec<f64> = (0..blocks)
        .filter_map(|block| {
            let from = block * buckets.len() / blocks;
            let to = (block + 1) * buckets.len() / blocks;
            median(&buckets[from..to])
        })
        .collect();
    let least = medians.iter().copied().min_by(f64::total_cmp)?;
    let greatest = medians.iter().copied().max_by(f64::total_cmp)?;
    let middle = median(buckets).filter(|middle| *middle > 0.0)?;
    crate::report::finite((greatest - least) / middle)
}

#[cfg(test)]
mod tests;
