//! `k6 run --summary-export`, and the data of `handleSummary`: quantiles of each trend, in milliseconds, counters and
//! rates.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::loose::Loose;
use super::{At, Foreign, MILLISECOND_NS, Source, Summary};
use crate::read::ReadError;
use crate::report::{RateKind, StatedRate};

#[derive(Deserialize)]
struct File {
    metrics: BTreeMap<String, BTreeMap<String, Loose>>,
    #[serde(default)]
    state: Option<State>,
}

#[derive(Deserialize)]
struct State {
    #[serde(rename = "testRunDurationMs")]
    duration_ms: Option<f64>,
}

/// Endings of the names of k6's own trends, all of which are times.
const TIMES: [&str; 9] = [
    "_duration",
    "_blocked",
    "_connecting",
    "_tls_handshaking",
    "_sending",
    "_waiting",
    "_receiving",
    "_looking_up",
    "_ping",
];

pub(super) fn read(bytes: &[u8]) -> Result<Foreign, ReadError> {
    let file: File = serde_json::from_slice(bytes)?;
    let mut found = Foreign::new(Source::K6);
    let mut unknown = 0;
    for (index, (name, metric)) in file.metrics.into_iter().enumerate() {
        let at = At {
            list: "metrics",
            index,
        };
        let text = |key: &str| match metric.get(key) {
            Some(Loose::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        // The newer form has the numbers in an object of their own, and says what they are.
        let number = |key: &str| match (metric.get("values"), metric.get(key)) {
            (Some(Loose::Numbers(numbers)), _) => numbers.get(key).copied(),
            (_, Some(Loose::Number(number))) => Some(*number),
            _ => None,
        };
        if number("avg").is_none() {
            // A counter, a rate, or a gauge, which has neither.
            let counted = rate(&found, &name, &number);
            found.rates.extend(counted);
            continue;
        }
        let base = name.split('{').next().unwrap_or(&name);
        let is_time = match text("contains") {
            Some(contains) => contains == "time",
            None => TIMES.iter().any(|ending| base.ends_with(ending)),
        };
        if !is_time {
            unknown += 1;
            continue;
        }
        let time = |key: &'static str| at.optional(key, number(key), MILLISECOND_NS);
        let mut quantiles = Vec::new();
        if let Some(median) = time("med")? {
            quantiles.push((50.0, median));
        }
        for (p, key) in quantile_keys(&metric) {
            if let Some(value) = number(&key) {
                quantiles.push((p, at.time("p(N)", value, MILLISECOND_NS)?));
            }
        }
        quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        quantiles.dedup_by_key(|(p, _)| *p);
        let n = number("count").filter(|count| *count >= 0.0);
        found.summaries.push(Summary {
            n: n.map(|count| count as u64),
            mean_ns: time("avg")?,
            stdev_ns: None,
            min_ns: time("min")?,
            max_ns: time("max")?,
            quantiles_ns: quantiles,
            name,
        });
    }
    roles(&mut found);
    let duration = file.state.and_then(|state| state.duration_ms);
    let at = At {
        list: "state",
        index: 0,
    };
    let duration = at.optional("testRunDurationMs", duration, MILLISECOND_NS)?;
    found.duration_ns = duration.map(|ns| ns.round() as u64);
    found.notes.push(
        "a k6 summary has quantiles only, no samples: they have no intervals, and cannot be merged or compared with a verdict"
            .to_owned(),
    );
    if unknown > 0 {
        found.notes.push(format!(
            "trends left out, because the file does not say that they are times: {unknown}"
        ));
    }
    found.checked("metrics")
}

/// A counter, or how many values of a rate were not 0.
fn rate(found: &Foreign, name: &str, number: &impl Fn(&str) -> Option<f64>) -> Option<StatedRate> {
    let whole = |key| number(key).filter(|count| *count >= 0.0);
    let row = found.rate(name, RateKind::Other);
    // The older form calls the share `value`, the newer one `rate`.
    if let (Some(passes), Some(fails)) = (whole("passes"), whole("fails")) {
        let (passes, fails) = (passes as u64, fails as u64);
        return Some(row.share_of(passes, passes.saturating_add(fails)));
    }
    let count = whole("count")?;
    Some(StatedRate {
        count: Some(count as u64),
        per_s: whole("rate").filter(|rate| rate.is_finite()),
        ..row
    })
}

/// Tells the throughput and the errors from the other rates, and how many samples the times of requests have. What is of
/// a tag alone (`http_reqs{status:200}`) is a part of the run.
fn roles(found: &mut Foreign) {
    let count = |name: &str| found.rates.iter().find(|rate| rate.name == name)?.count;
    let requests = count("http_reqs");
    let operations = match requests {
        Some(_) => "http_reqs",
        None => "iterations",
    };
    for summary in &mut found.summaries {
        let is_of_requests = summary.name.starts_with("http_req_") && !summary.name.contains('{');
        summary.n = summary.n.or(requests.filter(|_| is_of_requests));
    }
    for rate in &mut found.rates {
        match rate.name.as_str() {
            name if name == operations => rate.kind = RateKind::Operations,
            // Its `passes` are those that failed.
            "http_req_failed" => rate.kind = RateKind::Failures,
            "checks" => {
                let (passed, all) = (rate.count.unwrap_or(0), rate.of.unwrap_or(0));
                let mut failed = rate.clone().share_of(all - passed.min(all), all);
                failed.name = "checks that failed".to_owned();
                failed.kind = RateKind::Failures;
                *rate = failed;
            }
            _ => {}
        }
    }
}

/// `p(95)` and the like.
fn quantile_keys(metric: &BTreeMap<String, Loose>) -> Vec<(f64, String)> {
    let keys: Vec<&String> = match metric.get("values") {
        Some(Loose::Numbers(numbers)) => numbers.keys().collect(),
        _ => metric.keys().collect(),
    };
    let quantile = |key: &&String| {
        let p: f64 = key.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?;
        (0.0..=100.0).contains(&p).then(|| (p, (*key).clone()))
    };
    keys.iter().filter_map(quantile).collect()
}
