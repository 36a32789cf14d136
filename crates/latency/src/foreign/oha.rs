//! `oha --output-format json`: statistics and percentiles of all requests, in seconds.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::loose::MaybeNumber;
use super::{At, Foreign, SECOND_NS, Source, Summary};
use crate::read::ReadError;

#[derive(Deserialize)]
struct File {
    summary: Statistics,
    #[serde(rename = "latencyPercentiles")]
    percentiles: BTreeMap<String, MaybeNumber>,
    #[serde(rename = "statusCodeDistribution", default)]
    status_codes: BTreeMap<String, MaybeNumber>,
}

#[derive(Deserialize)]
struct Statistics {
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
    for (key, value) in file.percentiles {
        let p = key.strip_prefix('p').and_then(|p| p.parse::<f64>().ok());
        let p = p.filter(|p| (0.0..=100.0).contains(p));
        if let (Some(p), Some(value)) = (p, value.0) {
            quantiles.push((p, at.time("", value, SECOND_NS)?));
        }
    }
    quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    let answered: f64 = file.status_codes.values().filter_map(|count| count.0).sum();
    let in_summary = At {
        list: "summary",
        index: 0,
    };
    let stated = |field, value| in_summary.optional(field, value, SECOND_NS);
    let mut found = Foreign::new(Source::Oha);
    found.summaries.push(Summary {
        name: name.to_owned(),
        n: (answered >= 1.0).then_some(answered as u64),
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
