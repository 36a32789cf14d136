//! The text format of Prometheus and OpenMetrics, for whatever serves `/metrics`: which one a client prefers, and a
//! registry as text. What is registered is with whom it is of.

use std::fmt;

use latency::{BOUNDS_NS, Buckets};
use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

/// The text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0: a counter's sample has the name of its family plus `_total`.
    OpenMetrics,
    /// Prometheus text 0.0.4: a counter's sample has the name of its family.
    Classic,
}

impl Format {
    /// The format that a client prefers, by its `Accept` header. OpenMetrics is for clients that name it; all
    /// others get the text format, which every scraper can read.
    #[must_use]
    pub fn accepted(accept: &str) -> Self {
        let weight = |wanted: &str| {
            let ranges = accept.split(',').filter_map(|range| {
                let mut parts = range.split(';').map(str::trim);
                let name = parts.next()?;
                let weight = parts.find_map(|part| part.strip_prefix("q="));
                let weight: f64 = weight.map_or(1.0, |weight| weight.trim().parse().unwrap_or(0.0));
                name.eq_ignore_ascii_case(wanted).then_some(weight)
            });
            ranges.fold(0.0, f64::max)
        };
        let open = weight("application/openmetrics-text");
        match open > 0.0 && open >= weight("text/plain") {
            true => Self::OpenMetrics,
            false => Self::Classic,
        }
    }

    /// The media type.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Classic => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// The current values of a registry.
    ///
    /// # Errors
    /// A collector fails.
    pub fn text(self, registry: &Registry) -> Result<String, fmt::Error> {
        let mut out = String::new();
        match self {
            Self::OpenMetrics => text::encode(&mut out, registry)?,
            Self::Classic => {
                text::encode_registry(&mut out, registry)?;
                out = classic(&out);
            }
        }
        Ok(out)
    }
}

/// Turns OpenMetrics into the classic text: no end mark, and counters named by their samples.
fn classic(open: &str) -> String {
    let counters: Vec<&str> = open
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut text = String::with_capacity(open.len() + 16 * counters.len());
    for line in open.lines() {
        let family = ["# HELP ", "# TYPE "].into_iter().find_map(|start| {
            let (name, rest) = line.strip_prefix(start)?.split_once(' ')?;
            counters.contains(&name).then_some((start, name, rest))
        });
        match family {
            Some((start, name, rest)) => text.extend([start, name, "_total ", rest]),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// Sum, count and buckets in seconds, the last one without a bound.
#[must_use]
pub fn seconds(buckets: Buckets) -> (f64, u64, Vec<(f64, u64)>) {
    let bounds = BOUNDS_NS.iter().map(|ns| *ns as f64 / 1e9);
    let bounds = bounds.chain(std::iter::once(f64::INFINITY));
    let counts = buckets.counts;
    (
        buckets.sum_ns as f64 / 1e9,
        counts.iter().sum(),
        bounds.zip(counts).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_the_one_that_the_client_would_rather_have() {
        let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,\
                          application/openmetrics-text;version=0.0.1;q=0.4,\
                          text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
        let open = "application/openmetrics-text";
        for (accept, format) in [
            (prometheus, Format::OpenMetrics),
            (open, Format::OpenMetrics),
            (
                "Application/OpenMetrics-Text; version=1.0.0",
                Format::OpenMetrics,
            ),
            (
                "text/plain, application/openmetrics-text",
                Format::OpenMetrics,
            ),
            (
                "text/plain;version=0.0.4;q=0.9, application/openmetrics-text;q=0.1",
                Format::Classic,
            ),
            ("application/openmetrics-text;q=0", Format::Classic),
            ("application/openmetrics-text;q=x", Format::Classic),
            ("text/plain;version=0.0.4", Format::Classic),
            ("text/html,*/*;q=0.8", Format::Classic),
            ("", Format::Classic),
        ] {
            assert_eq!(Format::accepted(accept), format, "{accept}");
        }
    }
}
