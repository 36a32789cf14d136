//! The tag of a row in an interval log, and back.

use crate::report::{Latency, LatencyName};

/// The tag of a row: `service`, or `SERIES-service` with `_` for what a tag may not hold.
#[must_use]
pub fn tag(row: &Latency) -> String {
    let name = row.name.as_str();
    let plain = |c: char| {
        if c == ',' || c.is_whitespace() || c.is_control() {
            '_'
        } else {
            c
        }
    };
    match row.series.as_deref().filter(|series| !series.is_empty()) {
        Some(series) => format!("{}-{name}", series.chars().map(plain).collect::<String>()),
        None => name.to_owned(),
    }
}

/// Series and name by a tag. One that [`tag`] did not make is the series of a service row.
pub(super) fn split_tag(tag: Option<&str>) -> (Option<String>, LatencyName) {
    let tag = tag.unwrap_or_default();
    for name in LatencyName::ALL {
        if tag == name.as_str() {
            return (None, name);
        }
        let series = tag
            .strip_suffix(name.as_str())
            .and_then(|series| series.strip_suffix('-'));
        if let Some(series) = series.filter(|series| !series.is_empty()) {
            return (Some(series.to_owned()), name);
        }
    }
    (
        Some(tag.to_owned()).filter(|tag| !tag.is_empty()),
        LatencyName::Service,
    )
}
