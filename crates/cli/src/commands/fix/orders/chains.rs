//! Orders over several sessions, put together from their lives on each.

use std::collections::{BTreeMap, VecDeque};

use fixlog::orders::Life;

/// Lives that wait for those of other sessions. When there are more, the oldest go on without them.
const HELD_MAX: usize = 1 << 20;

/// Holds lives until those of all sessions have come.
#[derive(Default)]
pub(super) struct Chains {
    held: BTreeMap<u64, Life>,
    /// In the order in which they came.
    order: VecDeque<u64>,
}

impl Chains {
    /// Takes a life; the whole order if nothing of it is missing now, the first session first.
    pub(super) fn add(&mut self, life: &Life) -> Option<Vec<Life>> {
        self.held.insert(life.number, life.clone());
        self.order.push_back(life.number);
        if let Some(whole) = self.whole(life.number) {
            return Some(self.take(&whole));
        }
        // Numbers of lives that are gone do not pile up.
        while let Some(number) = self.order.front()
            && (!self.held.contains_key(number) || self.held.len() > HELD_MAX)
        {
            let number = *number;
            self.order.pop_front();
            if let Some(life) = self.held.remove(&number) {
                return Some(vec![life]);
            }
        }
        None
    }

    /// An order of which something is missing, at the end.
    pub(super) fn rest(&mut self) -> Option<Vec<Life>> {
        let first = self.held.values().find(|life| {
            let above = life.upstream;
            above.is_none_or(|above| !self.held.contains_key(&above))
        });
        let mut numbers = vec![first.map(|life| life.number).or_else(|| self.any())?];
        while let Some(below) = self.below(&numbers) {
            numbers.push(below);
        }
        Some(self.take(&numbers))
    }

    fn any(&self) -> Option<u64> {
        self.held.keys().next().copied()
    }

    fn take(&mut self, numbers: &[u64]) -> Vec<Life> {
        let lives = numbers.iter().filter_map(|number| self.held.remove(number));
        lives.collect()
    }

    /// What is held below the last of some lives.
    fn below(&self, numbers: &[u64]) -> Option<u64> {
        let last = self.held.get(numbers.last()?)?;
        let below = last.downstream?;
        (self.held.contains_key(&below) && !numbers.contains(&below)).then_some(below)
    }

    /// The lives of an order from the first session to the last, if all are held.
    fn whole(&self, number: u64) -> Option<Vec<u64>> {
        let mut first = self.held.get(&number)?;
        let mut passed = 0;
        while let Some(above) = first.upstream {
            first = self.held.get(&above)?;
            passed += 1;
            // Ids that go round in a circle are no order.
            if passed > self.held.len() {
                return None;
            }
        }
        let mut numbers = vec![first.number];
        let mut last = first;
        while let Some(below) = last.downstream {
            last = self.held.get(&below)?;
            if numbers.contains(&below) {
                return None;
            }
            numbers.push(below);
        }
        Some(numbers)
    }
}

#[cfg(test)]
mod tests {
    use fixlog::orders::State;

    use super::*;

    fn life(number: u64, upstream: Option<u64>, downstream: Option<u64>) -> Life {
        let mut life = Life::default();
        (life.number, life.upstream, life.downstream) = (number, upstream, downstream);
        life.state = State::Open;
        life
    }

    fn numbers(lives: Option<Vec<Life>>) -> Option<Vec<u64>> {
        lives.map(|lives| lives.iter().map(|life| life.number).collect())
    }

    #[test]
    fn an_order_is_whole_when_all_its_sessions_have_come_in_any_order() {
        let all = [
            life(0, None, Some(1)),
            life(1, Some(0), Some(2)),
            life(2, Some(1), None),
        ];
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
            let mut chains = Chains::default();
            for (at, which) in order.into_iter().enumerate() {
                let expected = (at == 2).then(|| vec![0, 1, 2]);
                assert_eq!(numbers(chains.add(&all[which])), expected, "{order:?}");
            }
            assert!(chains.rest().is_none());
        }
    }

    #[test]
    fn what_is_left_is_given_out_and_circles_end() {
        let mut chains = Chains::default();
        assert_eq!(numbers(chains.add(&life(7, None, None))), Some(vec![7]));
        assert_eq!(numbers(chains.add(&life(3, Some(2), Some(4)))), None);
        assert_eq!(numbers(chains.add(&life(4, Some(3), Some(5)))), None);
        assert_eq!(numbers(chains.add(&life(8, Some(9), Some(9)))), None);
        assert_eq!(numbers(chains.add(&life(9, Some(8), Some(8)))), None);
        assert_eq!(numbers(chains.rest()), Some(vec![3, 4]));
        assert_eq!(numbers(chains.rest()), Some(vec![8, 9]));
        assert_eq!(numbers(chains.rest()), None);
    }
}
