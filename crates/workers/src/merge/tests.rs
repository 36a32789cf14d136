//! Answers, dead letters and blocks that are gone, in whichever order they come.

use super::*;

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

#[test]
fn answers_come_in_the_order_of_their_blocks() {
    let mut merge = Merge::new(2, 1, 100);
    merge.settle();
    merge.push(2, 0, bytes("b0")).unwrap();
    assert_eq!(merge.missing(), [0, 1]);
    merge.push(1, 1, bytes("a1")).unwrap();
    assert_eq!(merge.missing(), [0]);
    assert_eq!(merge.pop(), None);
    merge.push(2, 1, bytes("b1")).unwrap();
    assert_eq!(merge.pop(), None);
    merge.push(1, 0, bytes("a0")).unwrap();
    let both = |one, other| Merged::Answers(vec![bytes(one), bytes(other)]);
    assert_eq!(merge.pop(), Some((1, both("a0", "a1"))));
    assert_eq!(merge.pop(), Some((2, both("b0", "b1"))));
    merge.bury(3, 0);
    assert_eq!(merge.pop(), Some((3, Merged::Dead)));
    assert_eq!((merge.pop(), merge.bytes), (None, 0));
    // What another shard answers to it later is no second answer; what its own does is late.
    assert_eq!(merge.push(3, 1, bytes("c1")), Ok(Pushed::Left));
    assert_eq!(merge.push(3, 0, bytes("c0")), Ok(Pushed::Late));
    assert_eq!(merge.bytes, 0);
}

#[test]
fn an_answer_wins_over_a_dead_letter_in_whichever_order_they_come() {
    let steps: [fn(&mut Merge); 3] = [
        |merge| merge.bury(1, 0),
        |merge| assert_eq!(merge.push(1, 0, bytes("a0")), Ok(Pushed::New)),
        |merge| assert_eq!(merge.push(1, 1, bytes("a1")), Ok(Pushed::New)),
    ];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let mut merge = Merge::new(2, 1, 100);
        for at in order {
            steps[at](&mut merge);
        }
        // Before all answers are known, too.
        let answers = Merged::Answers(vec![bytes("a0"), bytes("a1")]);
        assert_eq!(merge.pop(), Some((1, answers)), "{order:?}");
        merge.bury(1, 0);
        merge.settle();
        assert_eq!(merge.pop(), None, "{order:?}");
    }
    let mut merge = Merge::new(2, 1, 100);
    merge.bury(1, 1);
    merge.push(1, 0, bytes("a0")).unwrap();
    assert_eq!(merge.pop(), None);
    merge.settle();
    assert_eq!(merge.pop(), Some((1, Merged::Dead)));
}

#[test]
fn a_dead_letter_holds_no_more_back_than_may_wait() {
    let mut merge = Merge::new(1, 1, 3);
    merge.bury(1, 0);
    for sequence in 2..=5 {
        assert_eq!(merge.push(sequence, 0, bytes("a")), Ok(Pushed::New));
        let is_first = sequence == 5;
        assert_eq!(merge.pop().is_some(), is_first, "{sequence}");
    }
    for sequence in 2..=5 {
        let answers = Merged::Answers(vec![bytes("a")]);
        assert_eq!(merge.pop(), Some((sequence, answers)));
    }
    assert_eq!(merge.push(1, 0, bytes("a")), Ok(Pushed::Late));
    assert_eq!((merge.pop(), merge.bytes), (None, 0));
}

#[test]
fn blocks_that_are_gone_are_lost_unless_they_have_answers() {
    let mut merge = Merge::new(1, 1, 100);
    merge.lose_below(4);
    merge.lose(6);
    merge.push(2, 0, bytes("b")).unwrap();
    merge.bury(3, 0);
    // An answer may still be read.
    assert_eq!(merge.pop(), None);
    merge.push(6, 0, bytes("f")).unwrap();
    merge.settle();
    let answers = |text| Merged::Answers(vec![bytes(text)]);
    assert_eq!(merge.pop(), Some((1, Merged::Lost)));
    assert_eq!(merge.pop(), Some((2, answers("b"))));
    assert_eq!(merge.pop(), Some((3, Merged::Dead)));
    assert_eq!(merge.pop(), None);
    merge.lose(4);
    merge.lose(5);
    assert_eq!(merge.pop(), Some((4, Merged::Lost)));
    assert_eq!(merge.pop(), Some((5, Merged::Lost)));
    assert_eq!(merge.pop(), Some((6, answers("f"))));
    assert_eq!(merge.lost(), [(1, 1), (4, 5)]);
    // Somebody had it after all.
    assert_eq!(merge.push(5, 0, bytes("e")), Ok(Pushed::Late));
    assert_eq!(merge.push(2, 0, bytes("b")), Ok(Pushed::Repeated));
    assert_eq!((merge.pop(), merge.bytes), (None, 0));
}

#[test]
fn the_same_answer_again_is_passed_over_and_another_one_is_an_error() {
    let mut merge = Merge::new(1, 1, 3);
    merge.remembered = 2;
    merge.push(2, 0, bytes("bb")).unwrap();
    assert_eq!(merge.push(2, 0, bytes("bb")), Ok(Pushed::Repeated));
    let differs = |sequence| MergeError::Differs { sequence, shard: 0 };
    assert_eq!(merge.push(2, 0, bytes("b")), Err(differs(2)));
    let error = merge.push(3, 0, bytes("cc")).unwrap_err();
    assert!(matches!(
        error,
        MergeError::TooMuch {
            sequence: 1,
            bytes: 4,
            ..
        }
    ));
    merge.push(1, 0, bytes("aaaa")).unwrap();
    for sequence in 1..=3 {
        assert_eq!(merge.pop().map(|(sequence, _)| sequence), Some(sequence));
    }
    // Of the first block nothing is known any more.
    let twice = MergeError::Twice {
        sequence: 1,
        shard: 0,
    };
    assert_eq!(merge.push(1, 0, bytes("aaaa")), Err(twice));
    assert_eq!(merge.push(2, 0, bytes("bb")), Ok(Pushed::Repeated));
    assert_eq!(merge.push(3, 0, bytes("cc")), Ok(Pushed::Repeated));
    assert_eq!(merge.push(3, 0, bytes("c")), Err(differs(3)));
    assert_eq!(merge.bytes, 0);
}
