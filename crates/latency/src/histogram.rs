//! Adding histograms up.

use hdrhistogram::Histogram;

use crate::coding;
use crate::read::{Place, ReadError};

/// Adds a histogram of the same layout, which cannot fail.
pub(crate) fn add_histogram(into: &mut Histogram<u64>, from: &Histogram<u64>) {
    let added = into.add(from);
    debug_assert!(added.is_ok(), "histograms of one layout add up");
}

/// What a sum of histograms needs: the range of all of them, in the coarsest steps of any.
///
/// A histogram knows a value to its own step. Steps are powers of two, so that the step of a coarser histogram holds
/// whole steps of a finer one, and the sum of both says of no value more than is known. In the steps of the finer
/// one all values of a coarse step would count at its lower edge.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Layout {
    found: Option<(u64, u64, u8)>,
    values: u64,
}

impl Layout {
    /// Takes in a histogram. One without values decides nothing where there is another.
    pub(crate) fn take_in(&mut self, histogram: &Histogram<u64>) -> Result<(), ReadError> {
        let values = self.values.checked_add(histogram.len());
        let values = values.filter(|values| i64::try_from(*values).is_ok());
        let own = (
            histogram.low(),
            histogram.high().max(histogram.max()),
            histogram.sigfig(),
        );
        self.found = match self.found {
            Some(found) if histogram.is_empty() => Some(found),
            Some((low, high, digits)) if self.values > 0 => {
                Some((low.max(own.0), high.max(own.1), digits.min(own.2)))
            }
            _ => Some(own),
        };
        self.values =
            values.ok_or_else(|| ReadError::malformed(Place::Whole, "counts overflow"))?;
        Ok(())
    }

    /// An empty histogram that takes all that were taken in.
    pub(crate) fn empty(&self) -> Result<Histogram<u64>, ReadError> {
        let (low, high, digits) = self.found.unwrap_or((1, 2, 1));
        coding::new_histogram(low, high, digits)
    }
}

/// The sum of two histograms of any layouts.
pub(crate) fn sum(a: &Histogram<u64>, b: &Histogram<u64>) -> Result<Histogram<u64>, ReadError> {
    let mut layout = Layout::default();
    layout.take_in(a)?;
    layout.take_in(b)?;
    let mut sum = layout.empty()?;
    for part in [a, b] {
        sum.add(part)
            .map_err(|error| ReadError::malformed(Place::Whole, error.to_string()))?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(low: u64, digits: u8, values: impl Iterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(low, 3_600_000_000_000, digits).unwrap();
        values.for_each(|value| histogram.record(value).unwrap());
        histogram
    }

    #[test]
    fn a_sum_has_the_steps_of_the_coarsest_and_the_values_of_all() {
        let values = || (1..=1_000).map(|nth| nth * 12_345);
        let all = |low, digits| histogram(low, digits, values().chain(values()));
        for (low, digits) in [(1, 3), (1_000_000, 3), (1, 1), (1_000, 2)] {
            let sum = sum(
                &histogram(1, 3, values()),
                &histogram(low, digits, values()),
            );
            assert_eq!(sum.unwrap(), all(low, digits), "{low} {digits}");
        }
        // No histogram without values makes a sum coarse.
        let none = histogram(1_000_000, 1, std::iter::empty());
        let one = histogram(1, 3, values());
        assert_eq!(sum(&none, &one).unwrap(), one);
        assert_eq!(sum(&one, &none).unwrap(), one);
        assert_eq!(sum(&none, &none).unwrap(), none);
    }

    #[test]
    fn more_values_than_can_be_counted_are_refused() {
        let mut many = histogram(1, 3, std::iter::empty());
        many.record_n(5, u64::MAX / 4).unwrap();
        assert!(sum(&many, &many).is_ok_and(|sum| sum.len() == u64::MAX / 4 * 2));
        let twice = sum(&many, &many).unwrap();
        assert!(sum(&twice, &many).is_err());
    }
}
