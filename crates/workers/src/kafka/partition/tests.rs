//! Blocks and answers of one partition, without a server.

use std::time::Duration;

use super::*;

fn block(text: &'static str) -> Block {
    Block {
        bytes: text.into(),
        ..Block::default()
    }
}

fn partition(offsets: &[i64]) -> Partition {
    let mut partition = Partition::new(1);
    for offset in offsets {
        partition.push(*offset, block("a\n"));
    }
    partition
}

fn offsets(partition: &Partition) -> Vec<i64> {
    partition.ready().iter().map(|item| item.offset).collect()
}

#[test]
fn answers_are_stored_in_the_order_of_blocks() {
    let now = Instant::now();
    // Offsets have gaps where transactions ended; what was read before is no news.
    let mut partition = partition(&[3, 5, 6, 5]);
    for offset in [3, 5, 6] {
        assert_eq!(partition.give(now, true), Some((offset, block("a\n"), 1)));
    }
    assert_eq!(partition.give(now, true), None);
    let mut last = partition.publish(6, To::Answers, block("6\n")).unwrap();
    assert!(offsets(&partition).is_empty());
    let mut first = partition.publish(3, To::DeadLetters, block("3\n")).unwrap();
    assert_eq!(offsets(&partition), [3]);
    partition.done(4, Published::Stored);
    assert_eq!(first.try_recv(), Ok(Ok(Published::Stored)));
    assert!(partition.publish(3, To::Answers, block("3\n")).is_none());
    partition.publish(5, To::Answers, block("5\n")).unwrap();
    assert_eq!(offsets(&partition), [5, 6]);
    // Another worker had them.
    partition.done(7, Published::Duplicate);
    assert_eq!(last.try_recv(), Ok(Ok(Published::Duplicate)));
    assert!(!partition.is_busy() && !partition.has_waiting());
}

#[test]
fn a_block_that_failed_comes_again_before_others() {
    let now = Instant::now();
    let later = now + Duration::from_secs(1);
    let mut partition = partition(&[0, 1, 2]);
    partition.give(now, true);
    partition.give(now, true);
    partition.fail(0, later);
    assert_eq!(partition.due(), Some(later));
    assert_eq!(
        partition.give(now, true),
        None,
        "not before its time, and no other"
    );
    assert_eq!(partition.give(later, false), Some((0, block("a\n"), 2)));
    assert_eq!(partition.give(later, false), None, "nothing new");
    assert_eq!(partition.give(later, true), Some((2, block("a\n"), 1)));
    partition.is_closing = true;
    partition.fail(0, now);
    assert_eq!(partition.give(later, true), None);
}

#[test]
fn what_does_not_fit_is_told_to_who_waits() {
    let now = Instant::now();
    let mut partition = partition(&[0]);
    partition.give(now, true);
    let mut wait = partition.publish(0, To::Answers, block("0\n")).unwrap();
    let error = Error::TooLong {
        bytes: 2,
        bytes_max: 1,
    };
    partition.refuse(0, &error);
    assert_eq!(wait.try_recv(), Ok(Err(error)));
    assert!(offsets(&partition).is_empty());
    partition.publish(0, To::DeadLetters, block("0\n")).unwrap();
    assert_eq!(offsets(&partition), [0]);
}

#[test]
fn reading_pauses_when_enough_waits() {
    let mut partition = Partition::new(1);
    let long = "a".repeat(1 << 20);
    let mut offset = 0;
    while partition.toggle().is_none() {
        let bytes = long.clone().into();
        partition.push(
            offset,
            Block {
                bytes,
                ..Block::default()
            },
        );
        offset += 1;
    }
    assert_eq!(offset, 3);
    let mut toggled = Vec::new();
    while partition.give(Instant::now(), true).is_some() {
        toggled.extend(partition.toggle());
    }
    assert_eq!(toggled, [false]);
}

#[test]
fn what_is_gone_is_skipped_and_the_group_learns_it_when_nothing_else_is_stored() {
    let now = Instant::now();
    let mut partition = Partition::new(1);
    partition.start(4);
    assert_eq!((partition.gap(4), partition.gap(7)), (None, Some(4)));
    partition.skip(7);
    assert_eq!((partition.idle(), partition.floor()), (Some(7), Some(7)));
    // What was on its way counts as gone.
    partition.push(6, block("a\n"));
    assert!(!partition.has_waiting());
    partition.push(7, block("b\n"));
    assert_eq!((partition.idle(), partition.floor()), (None, None));
    partition.give(now, true);
    assert_eq!(partition.floor(), None, "it is stored with the answer");
    partition.done(8, Published::Stored);
    assert_eq!((partition.idle(), partition.floor()), (Some(8), None));
    partition.skip(9);
    partition.done(9, Published::Stored);
    assert_eq!(partition.floor(), None);
}
