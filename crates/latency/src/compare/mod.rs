//! Comparing a target with a baseline, bucket by bucket, with a control against self-deception.
//!
//! The numbers are relative differences (target − baseline) / baseline over pairs of buckets: their
//! range, median, 99th percentile and the share below 0. The verdict rests on the exact
//! order-statistic interval of the median, and on a *control*: the same comparison of the baseline with
//! itself. A difference counts only when its whole interval lies beyond the control's. "No difference" is a
//! verdict of its own: the whole interval lies within a margin ([`MARGIN`], or the control's bound if that is
//! wider), which is two one-sided tests (Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987). An interval that
//! excludes 0 and does not clear the control is *small*; anything else is inconclusive.
//!
//! The median says nothing of a tail: where single values are known, their percentiles above it are compared as well,
//! each with a verdict of its own ([`TAILS`]).
//!
//! A comparison may be looked at while it runs, so that it ends when the verdict stands: [`Looks`] keeps the
//! error of all looks together at that of one.
//!
//! [`interleaved`] is for runs whose buckets alternated in random order: both sides of a pair share the
//! drift, and it cancels. [`reports`] is for two runs made one after the other. There nothing cancels, so
//! the interval is widened by what the drift that each run shows within itself can make of it. No statistics can see a
//! drift that neither run shows; the result is labelled as unpaired.

mod blocks;
mod difference;
mod interleaved;
mod looks;
mod options;
mod regression;
mod remedy;
mod sequential;
mod tails;
mod verdict;

pub use difference::{differences, median};
pub use interleaved::{interleaved, interleaved_rows, interleaved_with};
pub use looks::Looks;
pub use options::{CONFIDENCE, MARGIN, MARGIN_MAX, Names, Options, PAIRS_MIN, Sides};
pub use regression::{Regression, medians_apart};
pub use remedy::Remedy;
pub use sequential::{
    benchmarks, failing, logs, numbers, reports, reports_with, rows, sequences, sequential,
    sequential_with,
};
pub use tails::TAILS;
