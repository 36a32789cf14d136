//! Any division into steps finds the same order, and no step does much more than its budget.

use super::super::directory::{Count, record};
use super::super::options::ReadOptions;
use super::*;

const ENTRIES: u32 = 5000;

/// A directory whose entries are at these offsets.
fn directory(offsets: impl Iterator<Item = u32>) -> Directory {
    let records: Vec<u8> = offsets.flat_map(|offset| record(offset, &[0; 3])).collect();
    let directory = Directory::new(records, 1 << 30, 0, ENTRIES.into(), Vec::new(), Vec::new());
    let mut count = Count::new(directory);
    let options = ReadOptions::default();
    let mut all = Budget::bytes(u64::MAX);
    assert!(count.run(&options, &mut all).unwrap());
    count.finish(&options).unwrap()
}

/// The offsets in order, and the number of steps.
fn sorted(directory: &Directory, cost: u64, steps: bool) -> (Vec<u64>, u64) {
    let mut order = Order::of(directory, steps);
    let (mut offsets, mut ended) = (Vec::new(), 1);
    let mut budget = Budget::bytes(cost);
    loop {
        match order.next(directory, &mut budget).unwrap() {
            Next::Entry(entry) => offsets.push(entry.offset()),
            Next::End => return (offsets, ended),
            Next::Spent => {
                ended += 1;
                budget = Budget::bytes(cost);
            }
        }
    }
}

#[test]
fn entries_come_by_their_offsets_in_any_steps() {
    let spread = |number: u32| number.wrapping_mul(0x9e37_79b1) >> 4;
    let directories = [
        directory((0..ENTRIES).map(|number| number * 100)),
        directory((0..ENTRIES).rev().map(|number| number * 100)),
        directory((0..ENTRIES).map(spread)),
        directory((0..ENTRIES).map(|number| number % 2)),
    ];
    for directory in directories {
        let mut expected: Vec<u64> = directory
            .iter()
            .map(|entry| entry.unwrap().offset())
            .collect();
        expected.sort_unstable();
        for steps in [false, true] {
            for cost in [1, 10_000, u64::MAX] {
                let (offsets, ended) = sorted(&directory, cost, steps);
                assert!(offsets == expected, "{steps} {cost}");
                // Each entry is looked at once at least.
                let least = u64::from(ENTRIES) * RECORD_COST / cost.max(200);
                assert!(ended > least, "{ended} steps of {cost}");
            }
        }
    }
}
