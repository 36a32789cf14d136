//! Rows that are known by the lines of a printed distribution alone, as those of an `.hgrm` are.
//!
//! Between two lines a value is known to lie between them, and no better. The histogram of such a row has all of them
//! at the upper line. That it is such a row is seen by its percentiles: their intervals begin a line before the one
//! that the histogram would give.

use hdrhistogram::Histogram;

use crate::percentile::{LADDER, Ladder};
use crate::report::{Latency, Percentile};

/// Whether the values of a row are known to lines of a distribution only. `ladder` is that of its histogram.
pub(super) fn is_stepped(row: &Latency, ladder: &Ladder<'_>) -> bool {
    let begins_before = |own: &Percentile| {
        let stated = row.find_percentile(own.p)?;
        let ([stated_low, _], [own_low, _]) = (stated.ci95_ns?, own.ci95_ns?);
        Some(stated.value_ns == own.value_ns && stated_low < own_low)
    };
    row.effective_n.is_none()
        && ladder
            .at(&LADDER)
            .iter()
            .any(|own| begins_before(own) == Some(true))
}

/// The value of the line before the one that `ns` is on; the least value where it is on the first.
pub(super) fn line_before(histogram: &Histogram<u64>, ns: u64) -> u64 {
    let on = histogram.lowest_equivalent(ns);
    let lines = histogram.iter_recorded();
    let values = lines.map(|line| histogram.lowest_equivalent(line.value_iterated_to()));
    values
        .take_while(|value| *value < on)
        .last()
        .unwrap_or_else(|| histogram.min().min(on))
}
