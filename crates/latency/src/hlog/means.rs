//! The means of the intervals of a log, for a comparison.

use std::collections::BTreeMap;

use super::read::read;
use crate::foreign::Sequence;
use crate::read::ReadError;

/// The means of the intervals of a log in their order, a sequence per tag: what two runs can be compared by, since
/// a histogram does not say in which order its values came. Intervals without a value are left out.
///
/// # Errors
/// Those of [`read`].
pub fn interval_means(bytes: &[u8]) -> Result<Vec<Sequence>, ReadError> {
    let mut by_tag: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in read(bytes)? {
        let histogram = line.histogram()?;
        let means = by_tag.entry(line.tag.unwrap_or_default()).or_default();
        if !histogram.is_empty() {
            means.push(histogram.mean());
        }
    }
    let sequence = |(tag, values_ns): (String, Vec<f64>)| Sequence {
        name: match tag.is_empty() {
            true => "intervals".to_owned(),
            false => tag,
        },
        values_ns,
        singles: false,
    };
    Ok(by_tag.into_iter().map(sequence).collect())
}
