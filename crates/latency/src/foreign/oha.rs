//! `oha --output-format json`: statistics and percentiles of the requests that were answered, in seconds, and how many
//! failed.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::loose::MaybeNumber;
use super::{At, Foreign, SECOND_NS, Source, Summary};
use crate::read::ReadError;
use crate::report::{RateKind, StatedRate};

#[derive(Deserialize)]
struct File {
    summary: Statistics,
    #[serde(rename = "latencyPercentiles")]
    percentiles: BTreeMap<String, MaybeNumber>,
    #[serde(rename = "statusCodeDistribution", default)]
    status_codes: BTreeMap<String, MaybeNumber>,
    #[serde(rename = "errorDistribution", default)]
    errors: BTreeMap<String, MaybeNumber>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statistics {
    success_rate: Option<f64>,
    requests_per_sec: Option<f64>,
    /// Seconds of the whole run.
    total: Option<f64>,
    slowest: Option<f64>,
    fastest: Option<f64>,
    average: Option<f64>,
}

pub(super) fn read(bytes: &[u8], name: &str) -> Result<Foreign, ReadError> {
    let file: File = serde_json::from_slice(bytes)?;
    let at = At {
        list: "latencyPercentiles",
        index: 0,
    };
    let mut quantiles = Vec::new();
    for (key, value) in &file.percentiles {
        let p = key.strip_prefix('p').and_then(|p| p.parse::<f64>().ok());
        let p = p.filter(|p| (0.0..=100.0).contains(p));
        if let (Some(p), Some(value)) = (p, value.0) {
            quantiles.push((p, at.time("", value, SECOND_NS)?));
        }
    }
    quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    let in_summary = At {
        list: "summary",
        index: 0,
    };
    let stated = |field, value| in_summary.optional(field, value, SECOND_NS);
    let mut found = Foreign::new(Source::Oha);
    let answered = sum(file.status_codes.values());
    rates(&mut found, &file);
    let total = stated("total", file.summary.total)?;
    found.duration_ns = total.map(|ns| ns.round() as u64);
    found.summaries.push(Summary {
        name: name.to_owned(),
        n: (answered > 0).then_some(answered),
        mean_ns: stated("average", file.summary.average)?,
        stdev_ns: None,
        min_ns: stated("fastest", file.summary.fastest)?,
        max_ns: stated("slowest", file.summary.slowest)?,
        quantiles_ns: quantiles,
    });
    found.notes.push(
        "oha states percentiles only: they have no intervals, and cannot be merged or compared with a verdict"
            .to_owned(),
    );
    found.checked("summary")
}

/// How many requests there were, how many of each status, and how many failed.
fn rates(found: &mut Foreign, file: &File) {
    let each = |counts: &BTreeMap<String, MaybeNumber>, what: &str| -> Vec<(String, u64)> {
        let counts = counts
            .iter()
            .map(|(name, count)| (format!("{what} {name}"), sum([count])));
        counts.filter(|(_, count)| *count > 0).collect()
    };
    let (answered, unanswered) = (sum(file.status_codes.values()), unanswered(file));
    let all = answered.saturating_add(unanswered);
    let mut requests = found.rate("requests", RateKind::Operations);
    requests.count = (all > 0).then_some(all);
    requests.per_s = file
        .summary
        .requests_per_sec
        .filter(|rate| at_least_0(*rate));
    if requests.count.is_some() || requests.per_s.is_some() {
        found.rates.push(requests);
    }
    let refused = file
        .status_codes
        .iter()
        .filter(|(code, _)| is_failure(code));
    let refused = sum(refused.map(|(_, count)| count));
    let failed = found.rate("requests that failed", RateKind::Failures);
    let share = file.summary.success_rate.map(|share| 1.0 - share);
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    if all > 0 {
        let failures = unanswered.saturating_add(refused);
        found.rates.push(failed.share_of(failures, all));
    } else if share.is_some() {
        found.rates.push(StatedRate { share, ..failed });
    }
    let mut counts = each(&file.status_codes, "status");
    counts.extend(each(&file.errors, "error:"));
    for (name, count) in counts {
        let mut rate = found.rate(name, RateKind::Other);
        rate.count = Some(count);
        found.rates.push(rate);
    }
}

/// Requests without an answer. Those that the end of the run cut off did not fail.
fn unanswered(file: &File) -> u64 {
    let errors = file.errors.iter();
    sum(errors
        .filter(|(what, _)| what.as_str() != "aborted due to deadline")
        .map(|(_, count)| count))
}

/// Whether a status says that the request failed.
fn is_failure(status: &str) -> bool {
    status.parse::<u16>().is_ok_and(|status| status >= 400)
}

fn sum<'a>(counts: impl IntoIterator<Item = &'a MaybeNumber>) -> u64 {
    let counts = counts.into_iter().filter_map(|count| count.0);
    counts.filter(|count| at_least_0(*count)).sum::<f64>() as u64
}

fn at_least_0(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}
