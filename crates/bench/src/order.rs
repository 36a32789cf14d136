//! The order in which sides take their turns: drawn anew for each round.
//!
//! An order that only rotates is not enough: with three sides, the control follows the target in two
//! rounds of three, and what the target leaves in caches counts against the control.

use latency::SplitMix64;

/// Random orders of a fixed number of sides, the same ones for the same seed.
///
/// ```
/// let mut order = perfkit_bench::Order::new(3, 1);
/// let mut first = order.draw().to_vec();
/// first.sort_unstable();
/// assert_eq!(first, [0, 1, 2]);
/// ```
#[derive(Debug, Clone)]
pub struct Order {
    random: SplitMix64,
    sides: Vec<usize>,
}

impl Order {
    /// Orders of the sides from 0 to `sides` - 1.
    #[must_use]
    pub fn new(sides: usize, seed: u64) -> Self {
        Self {
            random: SplitMix64::new(seed),
            sides: (0..sides).collect(),
        }
    }

    /// The order of the next round: each side once, and every order equally likely.
    pub fn draw(&mut self) -> &[usize] {
        for last in (1..self.sides.len()).rev() {
            let other = self.random.below(last as u64 + 1) as usize;
            self.sides.swap(last, other);
        }
        &self.sides
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_each_side_once_and_all_orders_are_about_as_frequent() {
        let mut order = Order::new(3, 1);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let drawn = order.draw().to_vec();
            let mut sorted = drawn.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
            *seen.entry(drawn).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(
            seen.values().all(|count| (850..1150).contains(count)),
            "{seen:?}"
        );
    }

    /// What a rotation gets wrong: each side must follow each other side about as often.
    #[test]
    fn no_side_follows_another_more_often_than_the_rest() {
        let mut order = Order::new(3, 7);
        let mut follows = [[0; 3]; 3];
        for _ in 0..6000 {
            for pair in order.draw().windows(2) {
                follows[pair[0]][pair[1]] += 1;
            }
        }
        for (side, counts) in follows.iter().enumerate() {
            for (next, count) in counts.iter().enumerate().filter(|(next, _)| *next != side) {
                assert!((1800..2200).contains(count), "{next} after {side}: {count}");
            }
        }
    }

    #[test]
    fn a_seed_repeats_and_no_sides_are_no_order() {
        let draw = |seed| {
            let mut order = Order::new(5, seed);
            (0..10).map(|_| order.draw().to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!(Order::new(0, 1).draw().is_empty());
        assert_eq!(Order::new(1, 1).draw(), [0]);
    }
}
