//! Histograms of one layout.

use hdrhistogram::Histogram;

/// Adds a histogram of the same layout, which cannot fail.
pub(crate) fn add_histogram(into: &mut Histogram<u64>, from: &Histogram<u64>) {
    let added = into.add(from);
    debug_assert!(added.is_ok(), "histograms of one layout add up");
}
