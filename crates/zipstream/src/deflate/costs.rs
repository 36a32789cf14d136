//! What each symbol costs with its extra bits, as the frequencies of a parse say.

use super::block::Lengths;
use super::sequences::Freqs;
use super::split::{self, FRACTION_BITS};
use super::symbols::{
    DISTANCES, DISTANCES_USED, END, LITLENS_USED, MATCH_MAX, MATCH_MIN, distance_extra,
    length_extra, length_slot,
};

/// Costs are in fractions of a bit.
const COST_BITS: u32 = 8;
const BIT: u32 = 1 << COST_BITS;

/// The cost of each literal, length and distance.
#[derive(Debug, Clone)]
pub(super) struct Costs {
    pub(super) literals: [u32; 256],
    /// By length; the first ones have none.
    pub(super) lengths: [u32; MATCH_MAX + 1],
    /// By slot.
    pub(super) distances: [u32; DISTANCES],
}

/// The cost of each symbol; one that did not occur costs a bit more than one that occurred once.
fn symbols(freqs: &[u32], costs: &mut [u32]) {
    let log = |freq: u32| split::log2(freq) >> (FRACTION_BITS - COST_BITS);
    let all = log(freqs.iter().sum::<u32>().max(1));
    for (cost, &freq) in costs.iter_mut().zip(freqs) {
        *cost = match freq {
            0 => all + BIT,
            _ => (all - log(freq).min(all)).max(BIT / 16),
        };
    }
}

/// The same in whole bits, as a code has them.
fn coded(lengths: &[u8], costs: &mut [u32]) {
    let most = u32::from(lengths.iter().copied().max().unwrap_or(0));
    for (cost, &length) in costs.iter_mut().zip(lengths) {
        *cost = BIT
            * if length == 0 {
                most.max(10) + 1
            } else {
                u32::from(length)
            };
    }
}

impl Costs {
    /// By the entropy.
    pub(super) fn of(freqs: &Freqs) -> Self {
        let mut litlens = [0; LITLENS_USED];
        symbols(&freqs.litlens[..LITLENS_USED], &mut litlens);
        let mut distances = [0; DISTANCES];
        symbols(
            &freqs.distances[..DISTANCES_USED],
            &mut distances[..DISTANCES_USED],
        );
        Self::with(&litlens, distances)
    }

    /// As this code has them.
    pub(super) fn of_code(lengths: &Lengths) -> Self {
        let mut litlens = [0; LITLENS_USED];
        coded(&lengths.litlens[..LITLENS_USED], &mut litlens);
        let mut distances = [0; DISTANCES];
        coded(
            &lengths.distances[..DISTANCES_USED],
            &mut distances[..DISTANCES_USED],
        );
        Self::with(&litlens, distances)
    }

    fn with(litlens: &[u32; LITLENS_USED], mut distances: [u32; DISTANCES]) -> Self {
        let mut costs = Self {
            literals: [0; 256],
            lengths: [0; MATCH_MAX + 1],
            distances: [0; DISTANCES],
        };
        costs.literals.copy_from_slice(&litlens[..END]);
        for length in MATCH_MIN..=MATCH_MAX {
            let slot = length_slot(length);
            costs.lengths[length] = litlens[END + 1 + slot] + BIT * length_extra(slot);
        }
        for (slot, cost) in distances.iter_mut().enumerate() {
            *cost += BIT * distance_extra(slot);
        }
        costs.distances = distances;
        costs
    }
}
