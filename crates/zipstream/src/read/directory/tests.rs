//! A directory is counted in steps, each within its budget.

use super::*;

fn directory(records: Vec<u8>, entries: u64) -> Directory {
    Directory::new(records, 1 << 30, 0, entries, Vec::new(), Vec::new())
}

#[test]
fn a_step_counts_no_more_than_its_budget_and_one_record() {
    let most = usize::from(u16::MAX);
    // Usual names, none, and the longest.
    let lengths = [9, 0, 7, most, 20, most, most, 0, 0, 5];
    let records: Vec<u8> = (0..3000)
        .flat_map(|number| record(number * 70_000, &vec![b'a'; lengths[number as usize % 10]]))
        .collect();
    let options = ReadOptions::default();
    for cost in [1, 500, 100_000] {
        let mut count = Count::new(directory(records.clone(), 3000));
        let mut steps = 0_u64;
        loop {
            let (position, found) = (count.position, count.counted.entries);
            let done = count.run(&options, &mut Budget::bytes(cost)).unwrap();
            let record = (CENTRAL_BYTES + most) as u64;
            let costs = count.position - position;
            let costs = costs + RECORD_COST * (count.counted.entries - found);
            assert!(costs <= cost + record + RECORD_COST, "{costs} of {cost}");
            steps += 1;
            if done {
                break;
            }
        }
        assert!(steps >= (records.len() as u64) / (cost + 70_000), "{steps}");
        let counted = count.finish(&options).unwrap();
        assert_eq!(counted.entries(), 3000);
        assert!(counted.is_in_order() && counted.warnings().is_empty());
    }
}

#[test]
fn the_limit_of_entries_says_what_to_do() {
    let records: Vec<u8> = (0..10)
        .flat_map(|number| record(number * 100, b"a"))
        .collect();
    let mut options = ReadOptions::default();
    options.limits.entries = 9;
    let mut count = Count::new(directory(records, 10));
    let error = count
        .run(&options, &mut Budget::bytes(u64::MAX))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(
        error
            .help_text()
            .is_some_and(|help| help.contains("Limits::entries"))
    );
}
