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
/// again until it has worked `calls` times.
fn order(wishes: &[Wish], calls: usize) -> Vec<Vec<u64>> {
    let gate = Gate::default();
    let waker = Waker::noop();
    let mut tickets: Vec<_> = wishes
        .iter()
        .map(|&wish| (gate.join(None, wish, None, waker).0, wish, calls))
        .collect();
    let mut turns = Vec::new();
    while gate.begin(0) {
        let mut turn = Vec::new();
        let mut again = Vec::new();
        tickets.retain(|&(ticket, wish, calls)| {
            if gate.waits(ticket, waker) {
                return true;
            }
            turn.push(wish.stream);
            gate.held(wish.stream, wish.next_ns);
            again.push((wish, calls - 1));
            false
        });
        for (wish, calls) in again {
            if calls > 0 {
                tickets.push((gate.join(None, wish, None, waker).0, wish, calls));
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
fn the_line_may_be_left_and_is_opened_when_its_conductor_is_gone() {
    let gate = Gate::default();
    let woken = Arc::<Woken>::default();
    let waker = Waker::from(woken.clone());
    let (first, conductor) = gate.join(None, wish(1, 1, Keeps::Context), None, &waker);
    assert_eq!(conductor, Conductor::Itself);
    let (second, conductor) = gate.join(None, wish(2, 1, Keeps::Context), None, &waker);
    assert_eq!(conductor, Conductor::Wanted);
    let (third, conductor) = gate.join(None, wish(3, 1, Keeps::Context), None, &waker);
    assert_eq!(conductor, Conductor::Another);
    gate.leave(first);
    gate.leave(first);
    assert!(gate.waits(second, &waker) && !gate.waits(first, &waker));
    gate.open();
    assert!(!gate.waits(second, &waker) && !gate.waits(third, &waker));
    assert_eq!(woken.0.load(Relaxed), 2);
    assert_eq!(
        gate.join(None, wish(4, 1, Keeps::Context), None, &waker).1,
        Conductor::Itself
    );
    assert!(gate.begin(0) && !gate.begin(0));
    assert_eq!(woken.0.load(Relaxed), 3);
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
        gate.join(None, wish(stream, 5_000, Keeps::Context), None, waker)
            .0
    };
    // The first turn is shared: none of them has worked yet.
    let first: Vec<u64> = (1..=3).map(join).collect();
    assert!(gate.begin(0));
    assert!(first.iter().all(|&ticket| !gate.waits(ticket, waker)));
    gate.held(1, 50_000);
    let next: Vec<u64> = (1..=3).map(join).collect();
    assert!(gate.begin(0));
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
    assert!(gate.begin(0));
    assert!(!gate.waits(next[1], waker));
}

#[test]
fn a_turn_is_made_longer_up_to_four_times_while_the_line_is_empty() {
    let gate = Gate::default();
    for _ in 0..2 {
        // Three times more, whether in short calls or in long ones.
        for _ in 0..3 {
            gate.held(1, 50_000);
            assert!(gate.is_over(wish(1, 1, Keeps::Context)));
            assert!(!gate.stretch(wish(1, 200_001, Keeps::Context)));
            assert!(gate.stretch(wish(1, 50_000, Keeps::Context)));
            assert!(!gate.is_over(wish(1, 50_000, Keeps::Context)));
        }
        gate.held(1, 50_000);
        assert!(gate.is_over(wish(1, 1, Keeps::Context)));
        assert!(!gate.stretch(wish(1, 1, Keeps::Context)));
        gate.clear();
        gate.held(1, 150_000);
        assert!(!gate.stretch(wish(1, 50_001, Keeps::Context)));
        gate.clear();
    }
    let _ = gate.join(None, wish(2, 1, Keeps::Nothing), None, Waker::noop());
    assert!(!gate.stretch(wish(1, 1, Keeps::Context)));
}

#[test]
fn who_waits_for_a_turn_shows_a_sign_of_life() {
    let gate = Gate::default();
    let waker = Waker::noop();
    let seats = [0, 1].map(|_| Arc::<Seat>::default());
    let [first, second] = [0, 1].map(|nth: usize| {
        let wish = wish(nth as u64, 50_000, Keeps::Context);
        gate.join(None, wish, Some(seats[nth].clone()), waker).0
    });
    assert!(seats.iter().all(|seat| seat.is_in_line()));
    assert!(gate.begin(0));
    assert!(!seats[0].is_in_line() && seats[1].is_in_line());
    gate.leave(first);
    gate.leave(second);
    assert!(!seats[1].is_in_line());
}

#[test]
fn threads_that_have_nothing_to_do_get_those_who_wait() {
    let gate = Gate::default();
    let waker = Waker::noop();
    let join = |stream| {
        gate.join(None, wish(stream, 50_000, Keeps::Context), None, waker)
            .0
    };
    let waits = |tickets: &[u64]| -> Vec<bool> {
        let waits = tickets.iter().map(|&ticket| gate.waits(ticket, waker));
        waits.collect()
    };
    // The first has the turn of this thread, the second that of the other one.
    let tickets: Vec<u64> = (1..=3).map(join).collect();
    assert!(gate.begin(1));
    assert_eq!(waits(&tickets), [false, false, true]);
    // One that goes on keeps its thread, although others came before.
    gate.arrived(50_000);
    gate.arrived(50_000);
    gate.held(1, 50_000);
    let tickets = [tickets[2], join(4), join(1)];
    assert!(gate.begin(1));
    assert_eq!(waits(&tickets), [false, true, false]);
    gate.leave(tickets[1]);
    assert!(!gate.begin(1));
    // However many threads there are: should they come too late, the turn is four times as long, and no longer.
    let tickets: Vec<u64> = (5..=14).map(join).collect();
    assert!(gate.begin(100));
    let admitted = waits(&tickets).iter().filter(|&&waits| !waits).count();
    assert_eq!(admitted, 4);
}

/// Who is woken, in order.
#[derive(Default)]
struct Log(Mutex<Vec<u64>>);

struct Logged(Arc<Log>, u64);

impl Wake for Logged {
    fn wake(self: Arc<Self>) {
        self.0.0.lock().unwrap().push(self.1);
    }
}

#[test]
fn who_has_the_turn_is_woken_last_and_so_stays_on_its_thread() {
    let gate = Gate::default();
    let log = Arc::<Log>::default();
    for stream in 1..=2 {
        let waker = Waker::from(Arc::new(Logged(log.clone(), stream)));
        gate.join(None, wish(stream, 50_000, Keeps::Context), None, &waker);
    }
    assert!(gate.begin(1));
    assert_eq!(*log.0.lock().unwrap(), [2, 1]);
}
