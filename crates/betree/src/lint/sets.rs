//! Sets of 64-bit values: sorted ranges that do not touch.

/// A set of values. Integers, numbers of strings and booleans are as they are, floats by [`float`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Set {
    /// Both bounds inclusive.
    ranges: Vec<(i64, i64)>,
}

/// The position of a float in the order of all floats, where both zeros are one.
pub(super) fn float(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    match bits < 0 {
        // The further from zero, the less.
        true => -(bits & i64::MAX),
        false => bits,
    }
}

impl Set {
    pub(super) fn all() -> Self {
        Self::range(i64::MIN, i64::MAX)
    }

    /// The values between two, both inclusive; empty when the first is greater.
    pub(super) fn range(low: i64, high: i64) -> Self {
        Self {
            ranges: (low <= high).then_some((low, high)).into_iter().collect(),
        }
    }

    pub(super) fn points(values: impl IntoIterator<Item = i64>) -> Self {
        let mut values: Vec<i64> = values.into_iter().collect();
        values.sort_unstable();
        values.dedup();
        let mut set = Self::default();
        for value in values {
            set.push(value, value);
        }
        set
    }

    /// Adds a range that does not begin before the last.
    fn push(&mut self, low: i64, high: i64) {
        match self.ranges.last_mut() {
            Some((_, last)) if low <= last.saturating_add(1) => *last = high.max(*last),
            _ => self.ranges.push((low, high)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(super) fn complement(&self) -> Self {
        let mut out = Self::default();
        let mut from = Some(i64::MIN);
        for (low, high) in &self.ranges {
            if let (Some(from), Some(before)) = (from, low.checked_sub(1))
                && from <= before
            {
                out.ranges.push((from, before));
            }
            from = high.checked_add(1);
        }
        if let Some(from) = from {
            out.ranges.push((from, i64::MAX));
        }
        out
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let mut out = Self::default();
        let (mut a, mut b) = (
            self.ranges.iter().peekable(),
            other.ranges.iter().peekable(),
        );
        while let (Some((low_a, high_a)), Some((low_b, high_b))) = (a.peek(), b.peek()) {
            let (low, high) = (low_a.max(low_b), high_a.min(high_b));
            if low <= high {
                out.ranges.push((*low, *high));
            }
            match high_a < high_b {
                true => a.next(),
                false => b.next(),
            };
        }
        out
    }

    pub(super) fn is_subset(&self, other: &Self) -> bool {
        self.intersection(other) == *self
    }

    /// The least and the greatest value.
    pub(super) fn hull(&self) -> Option<(i64, i64)> {
        let (low, _) = self.ranges.first()?;
        let (_, high) = self.ranges.last()?;
        Some((*low, *high))
    }

    /// The values, if they are not more than this many.
    pub(super) fn few(&self, most: usize) -> Option<Vec<i64>> {
        let mut values = Vec::new();
        for (low, high) in &self.ranges {
            let count = i128::from(*high) - i128::from(*low) + 1;
            if count > (most - values.len().min(most)) as i128 {
                return None;
            }
            values.extend(*low..=*high);
        }
        Some(values)
    }
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn sets_are_what_plain_sets_are() {
        // Bits of a number are the set of 6 values at the ends and in the middle.
        let values = [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX - 1, i64::MAX];
        let set = |bits: usize| {
            let chosen = values.iter().enumerate();
            let chosen = chosen.filter(|(at, _)| bits >> at & 1 == 1);
            Set::points(chosen.map(|(_, value)| *value))
        };
        let has = |set: &Set, value: i64| !set.intersection(&Set::range(value, value)).is_empty();
        for a in 0..64 {
            let (one, not) = (set(a), set(a).complement());
            assert_eq!(not.complement(), one);
            assert_eq!(
                one.few(6).map(|all| all.len()),
                Some(a.count_ones() as usize)
            );
            for b in 0..64 {
                let other = set(b);
                assert_eq!(one.intersection(&other), set(a & b));
                assert_eq!(one.is_subset(&other), a & !b == 0);
                for (at, value) in values.iter().enumerate() {
                    assert_eq!(has(&one, *value), a >> at & 1 == 1);
                    assert_eq!(has(&not, *value), a >> at & 1 == 0);
                }
            }
        }
        assert!(Set::all().complement().is_empty());
        assert!(Set::range(3, 2).is_empty());
    }

    #[test]
    fn floats_keep_their_order() {
        let values = [
            f64::NEG_INFINITY,
            -1.5,
            -f64::MIN_POSITIVE,
            0.0,
            f64::MIN_POSITIVE,
            1.5,
            f64::INFINITY,
        ];
        assert!(values.map(float).is_sorted());
        assert_eq!(float(-0.0), float(0.0));
    }
}
