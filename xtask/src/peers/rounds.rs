//! Rounds: an order by chance for each, and what numbers of rounds come to. Runs nothing.

/// What the orders of a measurement begin with.
pub(super) const SEED: u64 = 0x9e37_79b9;

/// All numbers below `count` in an order by chance.
pub(super) fn shuffled(count: usize, random: &mut u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..order.len()).rev() {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        order.swap(last, (*random % (last as u64 + 1)) as usize);
    }
    order
}

/// Numbers, one a round: the middle one, and the least and the greatest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) range: [f64; 2],
}

impl Spread {
    /// NaN if there are no numbers.
    pub(super) fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let mut all: Vec<f64> = numbers.collect();
        all.sort_by(f64::total_cmp);
        let at = |index: usize| all.get(index).copied().unwrap_or(f64::NAN);
        Self {
            median: at(all.len() / 2),
            range: [at(0), at(all.len().wrapping_sub(1))],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_everything_once() {
        let mut random = SEED;
        let orders: Vec<_> = (0..20).map(|_| shuffled(5, &mut random)).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4]);
        }
        assert!(orders.iter().any(|order| *order != orders[0]));
    }

    #[test]
    fn a_spread_is_a_median_between_extremes() {
        let spread = Spread::of([3.0, 1.0, 2.0].into_iter());
        assert_eq!((spread.median, spread.range), (2.0, [1.0, 3.0]));
        assert!(Spread::of(std::iter::empty()).median.is_nan());
    }
}
