//! The line, without a runtime.

use super::*;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn wish(stream: u64, next_ns: u64, keeps: Keeps) -> Wish {
    Wish {
        stream,
        next_ns,
        turn_ns: 50_000,
        keeps,
    }
}

/// Admits turn after turn, and returns the streams in order. Each works as long as it said, and joins
/// again as an open stream until it has worked `calls` times.
fn order(wishes: &[Wish], calls: usize) -> Vec<Vec<u64>> {
    let gate = Gate::default();
    let waker = Waker::noop();
    let mut tickets: Vec<_> = wishes
        .iter()
        .map(|&wish| (gate.join(wish, waker, None).0, wish, calls))
        .collect();
    let mut turns = Vec::new();
    while gate.begin() {
        let mut turn = Vec::new();
        let mut again = Vec::new();
        tickets.retain(|&(ticket, wish, calls)| {
            if gate.waits(ticket, waker) {
                return true;
            }
            turn.push(wish.stream);
            gate.held(wish.stream, wish.next_ns);
            let keeps = match wish.keeps {
                Keeps::NewContext => Keeps::Context,
                kept => kept,
            };
            again.push((Wish { keeps, ..wish }, calls - 1));
            false
        });
        for (wish, calls) in again {
            if calls > 0 {
                tickets.push((gate.join(wish, waker, None).0, wish, calls));
            }
        }
        turns.push(turn);
    }
    assert!(tickets.is_empty());
    turns
}

#[test]
fn short_calls_share_a_turn_and_long_ones_have_it_alone() {
    let short: Vec<_> = (1..=7)
        .map(|stream| wish(stream, 20_000, Keeps::Context))
        .collect();
    assert_eq!(
        order(&short, 1),
        [vec![1, 2], vec![3, 4], vec![5, 6], vec![7]]
    );
    let long: Vec<_> = (1..=3)
        .map(|stream| wish(stream, 90_000, Keeps::Context))
        .collect();
    assert_eq!(order(&long, 1), [[1], [2], [3]]);
    let free: Vec<_> = (1..=3)
        .map(|stream| wish(stream, 0, Keeps::Context))
        .collect();
    assert_eq!(order(&free, 1), [[1, 2, 3]]);
}

#[test]
fn a_stream_goes_on_until_its_lease_ends_and_then_the_next() {
    let streams = [1, 2].map(|stream| wish(stream, 100_000, Keeps::Context));
    let turns: Vec<u64> = order(&streams, 200).concat();
    let runs: Vec<usize> = turns.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
    assert_eq!(runs, [80, 80, 80, 80, 40, 40]);
    // Calls without a context wait less.
    let streams = [
        wish(1, 100_000, Keeps::Context),
        wish(2, 100_000, Keeps::Nothing),
    ];
    let turns: Vec<u64> = order(&streams, 25).concat();
    let runs: Vec<usize> = turns.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
    assert_eq!(runs, [10, 10, 10, 10, 5, 5]);
}

#[test]
fn only_a_few_open_contexts_wait_at_a_time_but_nobody_waits_for_ever() {
    let closed: Vec<_> = (1..=20)
        .map(|stream| wish(stream, 100_000, Keeps::NewContext))
        .collect();
    // Longer than a lease.
    let turns: Vec<u64> = order(&closed, 100).concat();
    let (mut open, mut most) = (std::collections::BTreeMap::new(), 0);
    for stream in turns {
        *open.entry(stream).or_insert(0) += 1;
        most = most.max(open.values().filter(|&&calls| calls < 100).count());
    }
    assert_eq!(most, WARM_MAX);
    assert!(open.len() == 20 && open.values().all(|&calls| calls == 100));
    // Four streams that never end.
    let mut endless: Vec<_> = (1..=4)
        .map(|stream| wish(stream, 100_000, Keeps::Context))
        .collect();
    endless.push(wish(5, 100_000, Keeps::NewContext));
    let turns = order(&endless, 2 * PATIENCE as usize / 4).concat();
    let first = turns.iter().position(|&stream| stream == 5);
    assert_eq!(first, Some(PATIENCE as usize));
}

#[test]
fn the_line_may_be_left_and_is_opened_when_nobody_begins_turns() {
    let gate = Gate::default();
    let woken = Arc::<Woken>::default();
    let waker = Waker::from(woken.clone());
    let (first, conductor) = gate.join(wish(1, 1, Keeps::Context), &waker, None);
    assert_eq!(conductor, Conductor::Itself);
    let (second, conductor) = gate.join(wish(2, 1, Keeps::Context), &waker, None);
    assert_eq!(conductor, Conductor::Wanted);
    let (third, conductor) = gate.join(wish(3, 1, Keeps::Context), &waker, None);
    assert_eq!(conductor, Conductor::Another);
    gate.leave(first);
    gate.leave(first);
    assert!(gate.waits(second, &waker) && !gate.waits(first, &waker));
    gate.open();
    assert!(!gate.waits(second, &waker) && !gate.waits(third, &waker));
    assert_eq!(woken.0.load(Relaxed), 2);
    assert_eq!(
        gate.join(wish(4, 1, Keeps::Context), &waker, None).1,
        Conductor::Itself
    );
    assert!(gate.begin() && !gate.begin());
    assert_eq!(woken.0.load(Relaxed), 3);
}

#[test]
fn a_stream_without_a_context_waits_for_work_elsewhere() {
    let gate = Arc::<Gate>::default();
    let woken = Arc::<Woken>::default();
    let waker = Waker::from(woken.clone());
    let mut away: Vec<_> = (0..Census::most()).map(|_| gate.away()).collect();
    assert!(gate.is_crowded());
    let (ticket, conductor) = gate.join(wish(1, 0, Keeps::NewContext), &waker, None);
    assert_eq!(conductor, Conductor::Wanted);
    // Nobody can be admitted, and nobody is asked again and again.
    assert!(!gate.begin());
    assert!(gate.waits(ticket, &waker));
    // Without a runtime the end of the work admits all.
    away[0].ended();
    assert!(!gate.waits(ticket, &waker));
    assert_eq!(woken.0.load(Relaxed), 1);
    assert!(gate.is_crowded());
    away.pop();
    assert!(!gate.is_crowded());
    away.clear();
    let line = gate.line();
    assert_eq!((line.away, line.back), (0, 0));
}

#[test]
fn the_first_call_of_a_turn_is_admitted_however_long() {
    let gate = Gate::default();
    assert!(!gate.is_over(wish(1, u64::MAX, Keeps::Context)));
    gate.held(1, 1);
    assert!(
        gate.is_over(wish(1, 50_000, Keeps::Context))
            && !gate.is_over(wish(1, 49_999, Keeps::Context))
    );
    gate.held(1, u64::MAX);
    assert!(gate.is_over(wish(1, 0, Keeps::Context)));
    gate.clear();
    assert!(!gate.is_over(wish(1, 0, Keeps::Context)));
}

#[test]
fn threads_of_a_runtime_share_a_census() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let id = Some(runtime.handle().id());
    let gates = [0, 1].map(|_| Arc::new(Gate::of(id)));
    let waker = Waker::noop();
    let _ = gates[0].join(wish(1, 1, Keeps::Context), waker, None);
    let away: Vec<_> = (2..Census::most()).map(|_| gates[1].away()).collect();
    assert!(!gates[0].is_crowded() && !gates[1].is_crowded());
    let last = gates[1].away();
    assert!(gates[0].is_crowded() && gates[1].is_crowded());
    drop(last);
    assert!(!gates[0].is_crowded() && !gates[1].is_crowded());
    drop(away);
    // A thread without any may open one, whatever others have.
    let [first, second] = gates;
    second.open();
    for stream in 7..11 {
        let _ = first.join(wish(stream, 1, Keeps::Context), waker, None);
    }
    assert!(first.is_crowded() && !second.is_crowded());
    drop(first);
    let third = Gate::of(id);
    let _ = third.join(wish(12, 1, Keeps::Context), waker, None);
    assert!(!third.is_crowded());
}

#[test]
fn who_keeps_no_context_is_neither_counted_nor_held_back() {
    let gate = Gate::default();
    let waker = Waker::noop();
    for stream in 0..20 {
        let _ = gate.join(wish(stream, 1, Keeps::Nothing), waker, None);
    }
    assert!(!gate.is_crowded());
    for stream in 20..24 {
        let _ = gate.join(wish(stream, 1, Keeps::Context), waker, None);
    }
    assert!(gate.is_crowded());
    let mut wishes: Vec<_> = (1..=4)
        .map(|stream| wish(stream, 100_000, Keeps::Context))
        .collect();
    wishes.push(wish(5, 100_000, Keeps::NewContext));
    wishes.push(wish(6, 100_000, Keeps::Nothing));
    let turns = order(&wishes, 30).concat();
    let first = |stream| turns.iter().position(|&other| other == stream).unwrap();
    // It comes after the leases of those that came before it; the new context when so many have ended that few are at work.
    assert_eq!(first(6), 40);
    let ended = (1..=4).filter(|stream| !turns[first(5)..].contains(stream));
    assert_eq!(ended.count(), 4 - (WARM_MAX - 1));
}

#[test]
fn a_call_without_a_context_is_leased_its_turns_as_well() {
    let streams = [1, 2].map(|stream| wish(stream, 100_000, Keeps::Nothing));
    let turns: Vec<u64> = order(&streams, 15).concat();
    let runs: Vec<usize> = turns.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
    assert_eq!(runs, [10, 10, 5, 5]);
}

#[test]
fn a_stream_that_goes_on_has_the_turn_alone() {
    let gate = Gate::default();
    let waker = Waker::noop();
    let join = |stream| {
        gate.join(wish(stream, 5_000, Keeps::Context), waker, None)
            .0
    };
    // The first turn is shared, as nobody has worked yet.
    let first: Vec<u64> = (1..=3).map(join).collect();
    assert!(gate.begin());
    assert!(first.iter().all(|&ticket| !gate.waits(ticket, waker)));
    gate.held(1, 50_000);
    let next: Vec<u64> = (1..=3).map(join).collect();
    assert!(gate.begin());
    let waits: Vec<bool> = next
        .iter()
        .map(|&ticket| gate.waits(ticket, waker))
        .collect();
    assert_eq!(waits, [false, true, true]);
    // Only its own call is due: it may go on with others, up to the end of the turn.
    gate.arrived(5_000);
    gate.held(1, 5_000);
    assert!(!gate.is_over(wish(1, 45_000, Keeps::Context)));
    // Its lease ends, and the others have their turn.
    gate.held(1, LEASE_NS);
    let _ = join(1);
    assert!(gate.begin());
    assert!(!gate.waits(next[1], waker));
}

#[test]
fn a_turn_is_made_longer_a_few_times_while_nobody_waits() {
    let gate = Gate::default();
    for _ in 0..2 {
        for _ in 0..STRETCHES {
            gate.held(1, 50_000);
            assert!(gate.is_over(wish(1, 1, Keeps::Context)) && gate.stretch());
            assert!(!gate.is_over(wish(1, 50_000, Keeps::Context)));
        }
        gate.held(1, 50_000);
        assert!(!gate.stretch() && gate.is_over(wish(1, 1, Keeps::Context)));
        gate.clear();
    }
    let _ = gate.join(wish(2, 1, Keeps::Nothing), Waker::noop(), None);
    assert!(!gate.stretch());
}
