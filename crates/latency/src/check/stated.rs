//! Consistency of what another tool stated.

use super::{Checked, PERCENTILES_MAX, Row, at_least_0};
use crate::report::{Report, StatedPercentile};

/// Times and rates are at least 0, percentiles 0 to 100 in rising order.
pub(super) fn check(report: &Report) -> Checked {
    for (index, row) in report.stated.times.iter().enumerate() {
        let list = "stated.times";
        let at = Row { list, index };
        let times = [row.mean_ns, row.stdev_ns, row.min_ns, row.max_ns];
        let percentiles = row.percentiles.iter().map(|found| found.value_ns);
        let mut times = times.into_iter().flatten().chain(percentiles);
        at.need(times.all(at_least_0), "", "a time is below 0")?;
        let within = |found: &StatedPercentile| (0.0..=100.0).contains(&found.p);
        let count = row.percentiles.len();
        at.need(
            row.percentiles.iter().all(within) && count <= PERCENTILES_MAX,
            "percentiles",
            "more than 1,000, or one that is not within 0 to 100",
        )?;
        let rises = row.percentiles.windows(2).all(|pair| pair[0].p < pair[1].p);
        at.need(rises, "percentiles", "they are not in rising order")?;
    }
    for (index, row) in report.stated.rates.iter().enumerate() {
        let list = "stated.rates";
        let at = Row { list, index };
        at.need(row.per_s.is_none_or(at_least_0), "per_s", "below 0")?;
        let is_share = row.share.is_none_or(|share| (0.0..=1.0).contains(&share));
        at.need(is_share, "share", "not within 0 to 1")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{RateKind, StatedRate, StatedTimes};
    use crate::testing;

    type Wrong = (&'static str, fn(&mut Report));

    fn report() -> Report {
        let mut report = testing::report(Vec::new());
        let percentile = |p| StatedPercentile { p, value_ns: p };
        report.stated.times.push(StatedTimes {
            source: "k6".to_owned(),
            name: "a".to_owned(),
            n: Some(0),
            mean_ns: Some(0.0),
            stdev_ns: None,
            min_ns: None,
            max_ns: None,
            percentiles: [0.0, 50.0, 100.0].map(percentile).to_vec(),
        });
        let rate = StatedRate::new("k6", "b", RateKind::Other);
        report.stated.rates.push(rate.share_of(1, 1));
        report
    }

    #[test]
    fn what_cannot_have_been_stated_is_refused_with_its_place() {
        check(&report()).expect("consistent");
        let wrongs: [Wrong; 8] = [
            ("stated.times[0]", |r| {
                r.stated.times[0].mean_ns = Some(-1.0)
            }),
            ("stated.times[0]", |r| {
                r.stated.times[0].percentiles[0].value_ns = f64::NAN
            }),
            ("stated.times[0].percentiles", |r| {
                r.stated.times[0].percentiles[2].p = 100.1
            }),
            ("stated.times[0].percentiles", |r| {
                r.stated.times[0].percentiles[0].p = -0.1
            }),
            ("stated.times[0].percentiles", |r| {
                r.stated.times[0].percentiles[0].p = 50.0
            }),
            ("stated.times[0].percentiles", |r| {
                let first = r.stated.times[0].percentiles[0];
                r.stated.times[0].percentiles = vec![first; PERCENTILES_MAX + 1];
            }),
            ("stated.rates[0].per_s", |r| {
                r.stated.rates[0].per_s = Some(-1.0)
            }),
            ("stated.rates[0].share", |r| {
                r.stated.rates[0].share = Some(1.1)
            }),
        ];
        for (place, change) in wrongs {
            let mut wrong = report();
            change(&mut wrong);
            let refused = check(&wrong).expect_err(place).to_string();
            assert!(refused.contains(place), "{place}: {refused}");
        }
    }
}
