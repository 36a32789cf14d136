//! How much of the content a step touches.

use super::*;

/// Fills content of this many bytes, `pace` at a time, and checks each step.
fn filled(capacity: usize, bytes: usize, pace: usize) -> Content {
    let mut content = Content::with_capacity(capacity);
    let mut next = 0_u8;
    while content.total() < bytes {
        let (parts, length, start) = (
            content.full.len(),
            content.part.len(),
            content.part.as_ptr(),
        );
        let left = bytes - content.total();
        let room = content.room().unwrap();
        assert!(!room.is_empty() && room.len() <= ROOM_BYTES);
        let count = room.len().min(pace).min(left);
        for byte in &mut room[..count] {
            *byte = next;
            next = next.wrapping_add(1);
        }
        content.keep(count);
        let cleared = match content.full.len() == parts && content.part.as_ptr() == start {
            true => content.part.len() - length,
            // Another part, and nothing was copied to it.
            false => content.part.len(),
        };
        assert!(cleared <= ROOM_BYTES, "{cleared}");
    }
    content
}

fn expected(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| at as u8).collect()
}

#[test]
fn a_step_clears_a_block_and_copies_nothing() {
    for (capacity, bytes, pace) in [
        (3 << 20, 3 << 20, usize::MAX),
        (3 << 20, 3 << 20, 1_000),
        (1_000_000, 999_999, 77_777),
        (5, 5, 5),
    ] {
        let content = filled(capacity, bytes, pace);
        assert!(content.full.is_empty());
        // It is handed out where it was decoded, also if more was reserved.
        let start = content.part.as_ptr();
        let whole = content.whole().unwrap().ok().unwrap();
        assert!(whole == expected(bytes));
        assert!(whole.capacity() == bytes && (capacity > bytes || whole.as_ptr() == start));
    }
}

#[test]
fn parts_are_joined_and_freed_a_block_at_a_time() {
    for (capacity, bytes) in [
        (0, 3_000_001),
        (2_500_000, 7 << 20),
        (1 << 20, (1 << 20) + 1),
    ] {
        let content = filled(capacity, bytes, usize::MAX);
        assert!(!content.full.is_empty());
        let mut join = content.whole().unwrap().err().unwrap();
        let start = join.whole.as_ptr();
        loop {
            let (copied, held) = (join.whole.len(), held(&join.parts));
            let done = join.step();
            let copied = join.whole.len() - copied;
            let freed = held - self::held(&join.parts);
            assert!(
                copied <= STEP_BYTES && freed <= FREED_BYTES,
                "{copied} {freed}"
            );
            assert!(done || copied + freed > 0);
            if done {
                break;
            }
        }
        assert_eq!(join.whole.as_ptr(), start);
        assert!(join.into_whole() == expected(bytes));
    }
}

/// What is held that was touched.
fn held(parts: &[Vec<u8>]) -> usize {
    parts.iter().map(Vec::len).sum()
}

#[test]
fn a_part_that_has_no_content_is_no_reason_to_join() {
    let mut content = filled(1 << 20, 1 << 20, usize::MAX);
    content.room().unwrap();
    assert_eq!(content.full.len(), 1);
    let start = content.full[0].as_ptr();
    let whole = content.whole().unwrap().ok().unwrap();
    assert!(whole.as_ptr() == start && whole == expected(1 << 20));
    assert!(Content::default().whole().unwrap().ok().unwrap().is_empty());
}

#[test]
fn what_is_not_wanted_is_freed_step_by_step() {
    let mut refuse = filled(4 << 20, 6 << 20, usize::MAX).refuse();
    let held = |refuse: &Refuse| refuse.part.len() + held(&refuse.parts);
    let mut steps = 0;
    while {
        let before = held(&refuse);
        let done = refuse.step();
        assert!(before - held(&refuse) <= FREED_BYTES);
        !done
    } {
        steps += 1;
    }
    assert!(steps >= 5 && held(&refuse) == 0);
    // What does not fit is not reserved, and nothing fails.
    assert_eq!(Content::with_capacity(usize::MAX).part.capacity(), 0);
}
