//! Tests of how orders and executions are matched, beside a list that is searched from its start.

use crate::statistics::Statistics;
use crate::statistics::part::Trade;

/// The waits in order, how many orders were not followed, and how many executions are stamped before
/// their order, by the plain rule: an order that comes while as many as the limit wait for an execution
/// is let go, unless one of its name waits.
fn oracle(trades: &[(u64, i64, bool)], limit: usize) -> (Vec<u64>, u64, u64) {
    let (mut open, mut waits, mut lost) = (Vec::<(u64, i64)>::new(), Vec::new(), 0);
    let mut early = 0;
    for &(name, at, is_order) in trades {
        let found = open.iter().position(|(other, _)| *other == name);
        match (is_order, found) {
            (false, Some(place)) => {
                let (_, sent) = open.swap_remove(place);
                match u64::try_from(at - sent) {
                    Ok(wait) => waits.push(wait),
                    Err(_) => early += 1,
                }
            }
            (true, None) if open.len() < limit => open.push((name, at)),
            (true, None) => lost += 1,
            _ => {}
        }
    }
    waits.sort_unstable();
    (waits, lost, early)
}

fn check(trades: &[(u64, i64, bool)], limit: usize, what: &str) {
    let mut stats = Statistics::new();
    stats.orders_max = limit;
    let mut found = Vec::new();
    for &(name, sent_ns, is_order) in trades {
        found.extend(stats.trade(&Trade {
            id: u128::from(name),
            sent_ns,
            at_ns: Some(sent_ns),
            is_order,
            names: 0,
        }));
    }
    found.sort_unstable();
    let (waits, lost, early) = oracle(trades, limit);
    assert_eq!(stats.unfollowed, lost, "{what}");
    assert_eq!(stats.early().executions, early, "{what}");
    assert_eq!(found, waits, "{what}");
}

#[test]
fn orders_at_the_limit_are_matched_as_a_list_would() {
    const LIMIT: usize = 8;
    for count in [0, 1, LIMIT - 1, LIMIT, LIMIT + 1, 3 * LIMIT] {
        let count = count as u64;
        let orders = |at: i64| (0..count).map(move |name| (name, at + name as i64, true));
        let answers = |at: i64| (0..count).map(move |name| (name, at + 3 * name as i64, false));
        let all = |parts: &[Vec<(u64, i64, bool)>]| parts.concat();
        let (first, then): (Vec<_>, Vec<_>) = (orders(0).collect(), answers(1000).collect());
        let shifted: Vec<_> = orders(50).zip(answers(900)).map(|(a, b)| [a, b]).collect();
        let backwards: Vec<_> = then.iter().rev().copied().collect();
        for (what, trades) in [
            ("all orders first", all(&[first.clone(), then.clone()])),
            ("answers backwards", all(&[first.clone(), backwards])),
            ("in turns", shifted.concat()),
            (
                "orders twice",
                all(&[first.clone(), first.clone(), then.clone()]),
            ),
            (
                "answers twice",
                all(&[first.clone(), then.clone(), then.clone()]),
            ),
            ("answers first", all(&[then.clone(), first.clone()])),
            (
                "the log twice",
                all(&[first.clone(), then.clone(), first.clone(), then.clone()]),
            ),
            (
                "orders never answered",
                all(&[first.clone(), orders(7).collect()]),
            ),
        ] {
            check(&trades, LIMIT, &format!("{count}: {what}"));
        }
    }
}

#[test]
fn an_execution_stamped_before_its_order_is_no_wait() {
    let mut stats = Statistics::new();
    let mut trade = |id, sent_ns, is_order| {
        stats.trade(&Trade {
            id,
            sent_ns,
            at_ns: Some(sent_ns),
            is_order,
            names: 0,
        })
    };
    for (id, sent_ns) in [(1, 100), (2, 100), (3, 100), (4, i64::MAX)] {
        assert_eq!(trade(id, sent_ns, true), None);
    }
    assert_eq!(trade(1, 100, false), Some(0));
    assert_eq!(trade(2, 60, false), None);
    assert_eq!(trade(3, 99, false), None);
    let early = stats.early();
    assert_eq!((early.executions, early.most_ns), (2, 40));
    let last = Trade {
        id: 4,
        sent_ns: i64::MIN,
        at_ns: Some(i64::MIN),
        is_order: false,
        names: 0,
    };
    assert_eq!(stats.trade(&last), None);
    assert_eq!(stats.early().most_ns, u64::MAX);
}

#[test]
fn any_mix_of_orders_and_executions_is_matched_as_a_list_would() {
    let mut random = 5_u64;
    let mut below = move |limit: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % limit
    };
    for round in 0..2000 {
        let names = 1 + below(24);
        let trades: Vec<_> = (0..200)
            .map(|at| (below(names), at * 7 + below(40) as i64, below(5) < 3))
            .collect();
        check(&trades, 8, &format!("round {round}"));
    }
}

/// The naive rule: an execution answers the first order of the same id that the other way round has the same parties.
#[test]
fn ids_are_those_of_a_session_and_direction() {
    let parties = ["A", "AB", "B", "C"];
    let mut random = 9_u64;
    let mut below = move |limit: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as usize % limit
    };
    for _ in 0..200 {
        let (mut open, mut expected) = (Vec::new(), Vec::new());
        let (mut stats, mut found) = (Statistics::new(), Vec::new());
        let mut decoder = fixcore::Decoder::new();
        let mut part = crate::Part::default();
        for at in 0..60 {
            let (from, to) = (parties[below(4)], parties[below(4)]);
            let (is_order, id) = (below(2) == 0, below(3));
            let kind = if is_order { "D" } else { "8" };
            // A message without a number has parties as well.
            let number = if below(5) == 0 {
                String::new()
            } else {
                format!("34={}|", at + 1)
            };
            let body = format!(
                "35={kind}|49={from}|56={to}|{number}52=20260305-14:15:{at:02}.000|11=o{id}|"
            );
            let mut bytes = Vec::new();
            fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut bytes);
            part.message(at, &decoder.parse(&bytes).expect("valid"));
            let order = open
                .iter()
                .position(|(one, other, name, _)| match is_order {
                    true => (*one, *other, *name) == (from, to, id),
                    false => (*one, *other, *name) == (to, from, id),
                });
            match (is_order, order) {
                (true, None) => open.push((from, to, id, at)),
                (false, Some(order)) => expected.push((at - open.remove(order).3) * 1_000_000_000),
                _ => {}
            }
        }
        stats.add(0, 0, &part, |ns| found.push(ns));
        assert_eq!(found, expected);
    }
}
