//! `--export-csv`: statistics in seconds.

use std::collections::BTreeMap;

use super::Sample;

const HEAD: [&str; 8] = [
    "command", "mean", "stddev", "median", "user", "system", "min", "max",
];

pub(super) fn content(samples: &[Sample]) -> String {
    let parameters = |sample: &Sample| -> BTreeMap<String, String> {
        let values = sample.program.values();
        values
            .map(|((name, value), _)| (name.clone(), value.clone()))
            .collect()
    };
    let mut head: Vec<String> = HEAD.map(str::to_owned).to_vec();
    let first = samples.first().map(parameters).unwrap_or_default();
    head.extend(first.keys().map(|name| format!("parameter_{name}")));
    let mut text = line(&head);
    for sample in samples {
        let [min, max] = sample.range_ns();
        let numbers = [
            sample.mean_ns(),
            sample.stdev_ns().unwrap_or(0.0),
            sample.median_ns(),
            sample.user_ns(),
            sample.system_ns(),
            min,
            max,
        ];
        let mut row = vec![sample.program.name()];
        row.extend(numbers.map(|ns| format!("{:.6}", ns / 1e9)));
        row.extend(parameters(sample).into_values());
        text.push_str(&line(&row));
    }
    text
}

fn line(cells: &[String]) -> String {
    let quoted: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
    quoted.join(",") + "\n"
}

/// A cell, between quotation marks where it needs them (RFC 4180): an empty one does not.
fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}
