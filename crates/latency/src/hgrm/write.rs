//! Writing a distribution, and what stands in the comments below it.

use std::io;
use std::time::SystemTime;

use hdrhistogram::Histogram;

use super::START;
use super::unit::HgrmUnit;
use crate::carried;
use crate::percentile::values_at_ranks;
use crate::report::{Latency, LatencyName};

/// How often the distance to 100 % is halved: up to one value in 16 million.
pub const HALVINGS: u32 = 24;
const STEPS: u64 = 5;
pub(super) const HEADER: &str = "       Value     Percentile TotalCount 1/(1-Percentile)";

/// Writes the distribution of a histogram of nanoseconds.
///
/// # Errors
/// Those of the writer.
pub fn write(w: &mut impl io::Write, h: &Histogram<u64>, unit: HgrmUnit) -> io::Result<()> {
    let scale = unit.ns();
    writeln!(w, "{HEADER}\n")?;
    let ranks: Vec<u64> = ladder().map(|step| step.rank(h.len())).collect();
    let values = values_at_ranks(h, &ranks);
    let mut recorded = h.iter_recorded().peekable();
    let mut total = 0u64;
    for (at, step) in ladder().enumerate() {
        let value = values.get(at).copied().unwrap_or(0);
        while let Some(next) = recorded.next_if(|next| next.value_iterated_to() <= value) {
            total = total.saturating_add(next.count_at_value());
        }
        write!(
            w,
            "{:12.3} {:2.12} {total:10} ",
            value as f64 / scale,
            step.quantile()
        )?;
        match step.inverse() {
            Some(inverse) => writeln!(w, "{inverse:14.2}")?,
            None => writeln!(w, "{:>14}", "inf")?,
        }
    }
    // By n, as HdrHistogram does it.
    let (mean, stdev) = (h.mean() / scale, h.stdev() / scale);
    let max = if h.is_empty() {
        0.0
    } else {
        h.max() as f64 / scale
    };
    let sub_buckets = sub_buckets(h);
    writeln!(w, "#[Mean    = {mean:12.3}, StdDeviation   = {stdev:12.3}]")?;
    writeln!(
        w,
        "#[Max     = {max:12.3}, Total count    = {:12}]",
        h.len()
    )?;
    writeln!(
        w,
        "#[Buckets = {:12}, SubBuckets     = {sub_buckets:12}]",
        h.buckets()
    )
}

/// Linear steps within a power of two, as the histogram crate chooses them.
fn sub_buckets(h: &Histogram<u64>) -> u64 {
    (2 * 10u64.pow(u32::from(h.sigfig().min(5)))).next_power_of_two()
}

/// One row of the ladder: 1 − (10 − step) / (10 · 2^halving), kept as integers so that ranks are exact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// Numerator of the distance to 1, 6 to 10; 0 for the last row.
    tenths: u64,
    halving: u32,
}

pub(super) fn ladder() -> impl Iterator<Item = Step> {
    let steps = (0..HALVINGS).flat_map(|halving| {
        (0..STEPS).map(move |step| Step {
            tenths: 10 - step,
            halving,
        })
    });
    steps.chain([Step {
        tenths: 0,
        halving: 0,
    }])
}

impl Step {
    fn denominator(self) -> u64 {
        10 << self.halving
    }

    fn quantile(self) -> f64 {
        1.0 - self.tenths as f64 / self.denominator() as f64
    }

    fn inverse(self) -> Option<f64> {
        (self.tenths > 0).then(|| self.denominator() as f64 / self.tenths as f64)
    }

    /// ⌈n · quantile⌉, at least 1.
    pub(super) fn rank(self, n: u64) -> u64 {
        let beyond = u128::from(n) * u128::from(self.tenths) / u128::from(self.denominator());
        n.saturating_sub(u64::try_from(beyond).unwrap_or(u64::MAX))
            .max(1)
    }
}

/// Writes what a distribution is of, as a line that other tools ignore. [`read`](super::read) takes the row from it, and
/// [`unit_of`](super::unit_of) the unit.
///
/// # Errors
/// Those of the writer.
pub fn write_row(w: &mut impl io::Write, row: LatencyName, unit: HgrmUnit) -> io::Result<()> {
    writeln!(
        w,
        "#[Row     = {:>12}, Unit           = {unit:>12}]",
        row.as_str()
    )
}

/// Writes all that a report says of a row, its histogram included, as a line that other tools ignore. [`read`](super::read) takes
/// the row from it as long as it agrees with the distribution above.
///
/// # Errors
/// Those of the writer.
pub fn write_whole(w: &mut impl io::Write, row: &Latency) -> io::Result<()> {
    let mut whole = carried::without_histograms(row);
    whole.histogram_v2_deflate_b64 = row.histogram_v2_deflate_b64.clone();
    carried::write(w, &whole)
}

/// Writes when the run started, as a line that other tools ignore.
///
/// # Errors
/// Those of the writer.
pub fn write_start(w: &mut impl io::Write, start: SystemTime) -> io::Result<()> {
    let since_epoch = start.duration_since(SystemTime::UNIX_EPOCH);
    let since_epoch = since_epoch.unwrap_or_default();
    let (seconds, micros) = (since_epoch.as_secs(), since_epoch.subsec_micros());
    writeln!(w, "{START}{seconds}.{micros:06} (seconds since epoch)]")
}
