//! Pairs of random logs, beside a comparison that keeps plain lists.

use std::collections::BTreeSet;

use crate::diff::waiting::*;
use crate::random::Random;

/// A session, a number in it, and which message of the test it is.
type Message = (u8, u64, usize);

/// Pairs, and messages without a like, by what they are in their logs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    pairs: BTreeSet<(usize, usize)>,
    alone: BTreeSet<(usize, usize)>,
}

fn kept(message: Message) -> Kept {
    let (session, number, id) = message;
    Kept {
        key: Key::new((u128::from(session) << 64) | u128::from(number), false),
        place: Some(Place {
            session: session.into(),
            number,
        }),
        offset: id as u64,
        line: None,
        bytes: vec![0; 10],
    }
}

fn found(logs: [&[Message]; 2], window: usize) -> Found {
    let mut found = Found::default();
    let mut waiting = Waiting::new(window, usize::MAX);
    let alone = &mut found.alone;
    let mut alone = |at, kept: Kept| assert!(alone.insert((at, kept.offset as usize)));
    for turn in 0..logs[0].len().max(logs[1].len()) {
        for at in 0..2 {
            let Some(message) = logs[at].get(turn) else {
                continue;
            };
            if let Some((one, other)) = waiting.place(at, kept(*message), &mut alone) {
                let pair = [one.offset as usize, other.offset as usize];
                found.pairs.insert((pair[at], pair[1 - at]));
            }
        }
        waiting.trim(&mut |at, kept, _| alone(at, kept));
    }
    waiting.rest(&mut |at, kept, _| alone(at, kept));
    found
}

/// The same by plain lists of what waits in each log, where numbers never begin anew.
fn plain(logs: [&[Message]; 2], window: usize) -> Found {
    let mut found = Found::default();
    let mut lists: [Vec<Message>; 2] = Default::default();
    for row in 0..logs[0].len() + logs[1].len() {
        for at in 0..2 {
            let Some(message) = logs[at].get(row).copied() else {
                continue;
            };
            let is_like = |other: &Message| (other.0, other.1) == (message.0, message.1);
            let Some(place) = lists[1 - at].iter().position(is_like) else {
                lists[at].push(message);
                continue;
            };
            let ids = [message.2, lists[1 - at].remove(place).2];
            found.pairs.insert((ids[at], ids[1 - at]));
        }
        for (at, list) in lists.iter_mut().enumerate() {
            let beyond = list.len().saturating_sub(window);
            let beyond = list.drain(..beyond);
            found.alone.extend(beyond.map(|other| (at, other.2)));
        }
    }
    for (at, list) in lists.iter().enumerate() {
        found.alone.extend(list.iter().map(|other| (at, other.2)));
    }
    found
}

/// A log of some sessions whose numbers begin anew at some time after this one.
fn log(random: &mut Random, messages: usize, day: u64) -> Vec<Message> {
    let mut next = [1; 3];
    let mut log = Vec::new();
    for id in 0..messages {
        let session = random.below(3);
        if next[session] > day && random.below(20) == 0 {
            next[session] = 1;
        }
        log.push((session as u8, next[session], id));
        next[session] += 1;
    }
    log
}

/// Leaves messages out, says some twice and swaps some that are near each other.
fn spoil(random: &mut Random, log: &[Message]) -> Vec<Message> {
    let mut spoiled = Vec::new();
    for message in log {
        match random.below(30) {
            0 => {}
            1 => spoiled.extend([(message.0, message.1, message.2 + 100_000), *message]),
            _ => spoiled.push(*message),
        }
    }
    for at in 1..spoiled.len() {
        if random.below(10) == 0 {
            let other = at - random.below(at.min(5));
            spoiled.swap(at, other);
        }
    }
    spoiled
}

#[test]
fn random_logs_pair_as_plain_lists_do() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for case in 0..1000 {
        let messages = 1 + random.below(120);
        let a = log(&mut random, messages, u64::MAX);
        let b = spoil(&mut random, &a);
        let window = 1 + random.below(12);
        for logs in [[&a[..], &b[..]], [&b[..], &a[..]], [&a[..], &a[..]]] {
            assert_eq!(
                found(logs, window),
                plain(logs, window),
                "case {case}, window {window}"
            );
        }
    }
}

#[test]
fn a_log_is_paired_with_itself_in_the_least_window() {
    let mut random = Random(7);
    for messages in [0, 1, 2, 3, 1000] {
        let log = log(&mut random, messages, 1);
        let found = found([&log, &log], 1);
        assert_eq!((found.pairs.len(), found.alone.len()), (messages, 0));
    }
}

#[test]
fn logs_that_are_shifted_need_a_window_of_that_many() {
    let whole: Vec<Message> = (0..400).map(|id| (0, id as u64 + 1, id)).collect();
    for shift in [1, 2, 10, 63] {
        let late = &whole[shift..];
        for window in [shift - 1, shift, shift + 1, 3 * shift] {
            for logs in [[&whole[..], late], [late, &whole[..]]] {
                let found = found(logs, window);
                let pairs = found.pairs.len();
                // A few find each other at the end, where one log has no more.
                let as_it_should = match window < shift {
                    true => pairs <= shift,
                    false => pairs == late.len(),
                };
                assert!(as_it_should, "shift {shift}, window {window}: {pairs}");
                assert!(found.pairs.iter().all(|(a, b)| a == b));
            }
        }
    }
}

#[test]
fn what_is_lost_before_a_restart_is_not_paired_behind_it() {
    let day = |first: usize| (0..100).map(move |at| (0, at as u64 + 1, first + at));
    let whole: Vec<Message> = day(0).chain(day(100)).chain(day(200)).collect();
    for first in 0..300 {
        for lost in [1, 2, 5, 30] {
            let mut short = whole.clone();
            short.retain(|message| !(first..first + lost).contains(&message.2));
            for logs in [[&whole[..], &short[..]], [&short[..], &whole[..]]] {
                let found = found(logs, 1000);
                assert!(found.pairs.iter().all(|(a, b)| a == b), "{first} {lost}");
                assert_eq!(found.pairs.len(), short.len(), "{first} {lost}");
            }
        }
    }
}

#[test]
fn messages_that_both_logs_have_are_paired_whatever_else_is_lost() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for case in 0..200 {
        let messages = 1 + random.below(3000);
        let whole = log(&mut random, messages, 100);
        let mut logs = [whole.clone(), whole.clone()];
        for log in &mut logs {
            log.retain(|_| random.below(25) > 0);
        }
        let ids = logs
            .each_ref()
            .map(|log| log.iter().map(|m| m.2).collect::<BTreeSet<_>>());
        let found = found([&logs[0], &logs[1]], 1000);
        let both: Vec<_> = ids[0].intersection(&ids[1]).map(|id| (*id, *id)).collect();
        assert_eq!(
            found.pairs.into_iter().collect::<Vec<_>>(),
            both,
            "case {case}"
        );
    }
}

#[test]
fn what_is_said_twice_is_no_restart() {
    let whole: Vec<Message> = (0..200).map(|id| (0, id as u64 + 1, id)).collect();
    for (from, to, at) in [
        (0, 1, 50),
        (0, 50, 50),
        (0, 100, 100),
        (40, 45, 60),
        (199, 200, 200),
    ] {
        let mut twice = whole.clone();
        let again = whole[from..to]
            .iter()
            .map(|message| (0, message.1, message.2 + 1000));
        twice.splice(at..at, again);
        for logs in [[&whole[..], &twice[..]], [&twice[..], &whole[..]]] {
            let found = found(logs, 1000);
            assert_eq!(found.pairs.len(), 200, "{from}..{to} at {at}");
        }
    }
}

#[test]
fn what_is_sent_again_is_paired_with_an_original_only_if_nothing_else_is() {
    // Whether a message is a copy, and which it is.
    let pairs = |logs: [&[(bool, usize)]; 2]| {
        let mut pairs = Vec::new();
        let mut alone = Vec::new();
        let mut waiting = Waiting::new(1000, usize::MAX);
        for turn in 0..logs[0].len().max(logs[1].len()) {
            for (at, log) in logs.iter().enumerate() {
                let Some((is_copy, id)) = log.get(turn) else {
                    continue;
                };
                let mut kept = kept((0, 5, *id));
                kept.key = Key::new(5, *is_copy);
                let found = waiting.place(at, kept, &mut |_, _| {});
                pairs.extend(found.map(|(one, other)| [one, other].map(|kept| kept.offset)));
            }
        }
        let mut second = Vec::new();
        waiting.rest(&mut |at, kept, other| match other {
            Some(other) => second.push([kept.offset, other.offset]),
            None => alone.push((at, kept.offset)),
        });
        pairs.iter_mut().for_each(|pair| pair.sort_unstable());
        (pairs, second, alone)
    };
    let (original, copy) = ((false, 1), (true, 2));
    let others = [(false, 3), (true, 4)];
    assert_eq!(
        pairs([&[copy], &others]),
        (vec![[2, 4]], vec![], vec![(1, 3)])
    );
    assert_eq!(
        pairs([&[original], &others]),
        (vec![[1, 3]], vec![], vec![(1, 4)])
    );
    assert_eq!(
        pairs([&[copy, original], &others]),
        (vec![[1, 3], [2, 4]], vec![], vec![])
    );
    assert_eq!(
        pairs([&[copy], &others[..1]]),
        (vec![], vec![[2, 3]], vec![])
    );
}
