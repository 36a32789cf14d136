//! `sample.json` and `estimates.json` of criterion, in nanoseconds.

use serde::Deserialize;

use super::{At, Each, Foreign, Samples, Source, Summary};
use crate::read::{Place, ReadError};

#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

/// Each sample is the time of some iterations, whose number differs from sample to sample.
pub(super) fn sample(bytes: &[u8], name: &str) -> Result<Foreign, ReadError> {
    let file: Sample = serde_json::from_slice(bytes)?;
    if file.iters.len() != file.times.len() {
        let message = format!("{} iters and {} times", file.iters.len(), file.times.len());
        return Err(ReadError::malformed(Place::Whole, message));
    }
    let mut values = Vec::with_capacity(file.times.len());
    for (index, (iterations, time)) in file.iters.iter().zip(&file.times).enumerate() {
        let at = At {
            list: "times",
            index,
        };
        values.push((at.time("", time / iterations, 1.0)?, 1));
    }
    let each = Each::of_all(file.iters.iter().map(|iterations| *iterations as u64));
    let mut found = Foreign::new(Source::CriterionSample);
    if !values.is_empty() {
        found.samples.push(Samples {
            name: name.to_owned(),
            operation: "iteration",
            each,
            values_ns: values,
            in_order: true,
        });
    }
    if each != Each::Single {
        found.notes.push(
            "criterion times several iterations at once: samples are their means, which have no tail".to_owned(),
        );
    }
    found.checked("times")
}

#[derive(Deserialize)]
struct Estimates {
    mean: Estimate,
    median: Estimate,
    std_dev: Option<Estimate>,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
}

pub(super) fn estimates(bytes: &[u8], name: &str) -> Result<Foreign, ReadError> {
    let file: Estimates = serde_json::from_slice(bytes)?;
    let at = At {
        list: "estimates",
        index: 0,
    };
    let mut found = Foreign::new(Source::CriterionEstimates);
    let deviation = file.std_dev.map(|estimate| estimate.point_estimate);
    found.summaries.push(Summary {
        name: name.to_owned(),
        mean_ns: Some(at.time("mean", file.mean.point_estimate, 1.0)?),
        stdev_ns: at.optional("std_dev", deviation, 1.0)?,
        quantiles_ns: vec![(50.0, at.time("median", file.median.point_estimate, 1.0)?)],
        ..Summary::default()
    });
    found
        .notes
        .push("estimates.json has no samples: sample.json next to it does".to_owned());
    found.checked("estimates")
}
