//! The line, without a keeper: ticks come by hand.

use super::*;
use std::sync::atomic::AtomicBool;
use std::task::Wake;

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

struct Person {
    woken: Arc<Woken>,
    waker: Waker,
    ticket: u64,
}

impl Person {
    fn joins(line: &Arc<Line>) -> Self {
        let woken = Arc::<Woken>::default();
        let waker = Waker::from(woken.clone());
        let ticket = line.join(&waker);
        Self {
            woken,
            waker,
            ticket,
        }
    }

    fn woken(&self) -> usize {
        self.woken.0.load(Relaxed)
    }

    fn place(&self, line: &Line) -> Place {
        line.place(self.ticket, &self.waker)
    }
}

fn line() -> Arc<Line> {
    let line = Arc::<Line>::default();
    line.by_hand();
    line
}

fn ticks(line: &Line, count: u64) {
    line.ticks(count);
}

/// Waits for what another thread does.
fn until(what: &str, done: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !done() {
        assert!(Instant::now() < end, "never: {what}");
        thread::yield_now();
    }
}

/// A stream whose context lies idle since a tick.
struct Idle {
    since: u64,
    gave: AtomicBool,
}

impl Rests for Idle {
    fn rested(&self) -> Option<u64> {
        (!self.gave.load(Relaxed)).then_some(self.since)
    }

    fn give_back(&self) {
        self.gave.store(true, Relaxed);
    }
}

#[test]
fn memory_is_given_in_order_of_arrival() {
    let line = line();
    let people: Vec<_> = (0..5).map(|_| Person::joins(&line)).collect();
    assert!(!line.is_empty());
    for first in 0..people.len() {
        line.released();
        line.released();
        for (nth, person) in people.iter().enumerate().skip(first) {
            assert_eq!(person.woken() > 0, nth == first, "{nth} of {first}");
        }
        assert_eq!(people[first].woken(), 1);
        let places: Vec<_> = people[first..].iter().map(|one| one.place(&line)).collect();
        assert_eq!(places[0], Place::First);
        assert!(places[1..].iter().all(|&place| place == Place::Wait));
        // Who leaves calls the next. That one is called once.
        line.leave(people[first].ticket);
        if let Some(next) = people.get(first + 1) {
            assert_eq!(next.woken(), 1);
        }
    }
    assert!(line.is_empty());
    let waits = line.waits();
    assert_eq!((waits.waiting, waits.waited), (0, 5));
    assert!(waits.longest_ns > 0);
}

#[test]
fn a_task_that_leaves_the_line_holds_up_no_other() {
    let line = line();
    let people: Vec<_> = (0..4).map(|_| Person::joins(&line)).collect();
    line.leave(people[2].ticket);
    line.leave(people[0].ticket);
    line.leave(people[0].ticket);
    assert_eq!(people[1].woken(), 1);
    assert_eq!(people[1].place(&line), Place::First);
    assert_eq!(people[3].place(&line), Place::Wait);
    line.leave(people[1].ticket);
    assert_eq!(people[3].woken(), 1);
    assert_eq!(line.waits().waiting, 1);
}

#[test]
fn what_an_attempt_gives_back_calls_none_and_is_no_progress() {
    let line = line();
    let people: Vec<_> = (0..2).map(|_| Person::joins(&line)).collect();
    let busy = |count| {
        for _ in 0..count {
            ticks(&line, 1);
            assert_ne!(people[0].place(&line), Place::Wait);
            Line::attempt(|| line.released());
        }
    };
    busy(STILL_TICKS - 1);
    assert_eq!((people[0].woken(), people[1].woken()), (0, 0));
    assert_eq!(people[0].place(&line), Place::First);
    busy(1);
    assert_eq!(people[0].place(&line), Place::Beyond);
    // An attempt that panics has ended.
    let line = self::line();
    let person = Person::joins(&line);
    let panics = || Line::attempt(|| panic!("injected"));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    line.released();
    assert_eq!(person.woken(), 1);
}

#[test]
fn as_many_idle_ones_give_back_in_a_tick_as_wait() {
    let line = line();
    let idle: Vec<_> = (0..50)
        .map(|since| {
            let gave = AtomicBool::new(false);
            Arc::new(Idle { since, gave })
        })
        .collect();
    for stream in &idle {
        let stream: Weak<Idle> = Arc::downgrade(stream);
        line.list(stream);
    }
    let gave = || idle.iter().filter(|one| one.gave.load(Relaxed)).count();
    line.tick.store(100, Relaxed);
    let three: Vec<_> = (0..3).map(|_| Person::joins(&line)).collect();
    ticks(&line, REST_TICKS);
    assert_eq!(gave(), 3);
    assert!(idle[..3].iter().all(|one| one.gave.load(Relaxed)));
    let _more: Vec<_> = (0..100).map(|_| Person::joins(&line)).collect();
    ticks(&line, 1);
    assert_eq!(gave(), 3 + RESTS_PER_TICK_MAX);
    drop(three);
}

#[test]
fn who_is_called_and_does_not_come_is_passed_over_until_it_does() {
    let line = line();
    let people: Vec<_> = (0..3).map(|_| Person::joins(&line)).collect();
    line.released();
    ticks(&line, ABSENT_TICKS - 1);
    assert_eq!(people[1].woken(), 0);
    ticks(&line, 1);
    assert_eq!(people[1].woken(), 1);
    assert_eq!(people[1].place(&line), Place::First);
    assert_eq!(people[2].place(&line), Place::Wait);
    // It has kept its place.
    assert_eq!(people[0].place(&line), Place::First);
    assert_eq!(people[1].place(&line), Place::Wait);
    // All may be absent. Then none is called, and the next to come is first.
    for person in &people {
        line.released();
        ticks(&line, ABSENT_TICKS);
        assert_eq!(person.woken(), 1 + usize::from(person.ticket < 2));
    }
    assert!(line.lock().waiting.iter().all(|waiter| waiter.absent));
    line.released();
    assert_eq!(people[2].place(&line), Place::First);
}

#[test]
fn the_longest_idle_gives_its_context_back_while_others_wait() {
    let line = line();
    let idle = [1, 0, 5].map(|since| {
        let gave = AtomicBool::new(false);
        Arc::new(Idle { since, gave })
    });
    let numbers = [0, 1, 2].map(|nth| {
        let stream: Weak<Idle> = Arc::downgrade(&idle[nth]);
        line.list(stream)
    });
    let gave = || [0, 1, 2].map(|nth: usize| idle[nth].gave.load(Relaxed));
    let _person = Person::joins(&line);
    ticks(&line, REST_TICKS - 1);
    assert_eq!(gave(), [false; 3]);
    ticks(&line, 1);
    assert_eq!(gave(), [false, true, false]);
    // What comes back is waited for.
    line.released();
    ticks(&line, REST_TICKS - 1);
    assert_eq!(gave(), [false, true, false]);
    ticks(&line, 1);
    assert_eq!(gave(), [true, true, false]);
    line.unlist(numbers[2]);
    ticks(&line, 20);
    assert_eq!(gave(), [true, true, false]);
}

#[test]
fn where_nothing_comes_back_the_first_is_served_beyond_the_budget() {
    let line = line();
    let people: Vec<_> = (0..2).map(|_| Person::joins(&line)).collect();
    ticks(&line, STILL_TICKS - 1);
    assert_eq!(people[0].place(&line), Place::First);
    line.released();
    assert_eq!(people[0].place(&line), Place::First);
    ticks(&line, STILL_TICKS);
    assert_eq!(people[0].place(&line), Place::Beyond);
    assert_eq!(people[1].place(&line), Place::Wait);
    line.leave(people[0].ticket);
    assert_eq!(people[1].place(&line), Place::First);
}

#[test]
fn who_has_waited_as_long_as_one_that_failed_waits_no_longer() {
    let line = line();
    let people: Vec<_> = (0..3).map(|_| Person::joins(&line)).collect();
    ticks(&line, STILL_TICKS / 2);
    let late = Person::joins(&line);
    ticks(&line, STILL_TICKS / 2);
    assert_eq!(people[0].place(&line), Place::Beyond);
    // There was nothing beyond the budget either.
    line.exhausted();
    line.leave(people[0].ticket);
    for person in &people[1..] {
        assert_eq!(person.woken(), 1);
        assert_eq!(person.place(&line), Place::Beyond);
        line.leave(person.ticket);
    }
    assert_eq!(late.place(&line), Place::First);
    assert_eq!(line.waits().exhausted, 1);
    line.leave(late.ticket);
}

#[test]
fn memory_that_others_take_and_give_back_all_the_time_keeps_none_waiting() {
    let line = line();
    let (since, gave) = (0, AtomicBool::new(false));
    let idle = Arc::new(Idle { since, gave });
    let stream: Weak<Idle> = Arc::downgrade(&idle);
    line.list(stream);
    let people: Vec<_> = (0..2).map(|_| Person::joins(&line)).collect();
    // A call that does not wait here gives memory back in each tick.
    let busy = |count| {
        for _ in 0..count {
            ticks(&line, 1);
            line.released();
            assert_ne!(people[0].place(&line), Place::Wait);
        }
    };
    busy(UNSERVED_REST_TICKS - 1);
    assert!(!idle.gave.load(Relaxed));
    busy(1);
    assert!(idle.gave.load(Relaxed));
    busy(UNSERVED_TICKS - UNSERVED_REST_TICKS - 1);
    assert_eq!(people[0].place(&line), Place::First);
    busy(1);
    assert_eq!(people[0].place(&line), Place::Beyond);
    line.served();
    line.leave(people[0].ticket);
    // The next one begins to wait anew.
    ticks(&line, UNSERVED_REST_TICKS - 1);
    assert_eq!(line.lock().unserved, UNSERVED_REST_TICKS - 1);
    assert_eq!(people[1].place(&line), Place::First);
}

#[test]
fn none_waits_without_a_keeper() {
    let line = line();
    let people: Vec<_> = (0..2).map(|_| Person::joins(&line)).collect();
    line.lock().kept = false;
    assert!(people.iter().all(|one| one.place(&line) == Place::Beyond));
}

#[test]
fn a_waker_that_panics_does_not_end_the_keeper() {
    struct Panics(AtomicUsize);
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
            panic!("injected");
        }
    }
    let line = Arc::<Line>::default();
    let panics = Arc::new(Panics(AtomicUsize::new(0)));
    let first = line.join(&Waker::from(panics.clone()));
    let second = Person::joins(&line);
    // The keeper calls the first, which panics; and then the second, which comes in its place.
    line.lock().unserved = UNSERVED_TICKS - 1;
    until("the first is called", || panics.0.load(Relaxed) > 0);
    until("the second is called", || second.woken() > 0);
    assert_eq!(second.place(&line), Place::First);
    line.leave(first);
    line.leave(second.ticket);
}

#[test]
fn those_who_come_all_the_time_do_not_put_off_the_tick() {
    let line = Arc::<Line>::default();
    let first = Person::joins(&line);
    until("ticks", || {
        line.leave(Person::joins(&line).ticket);
        line.now() >= 5
    });
    line.leave(first.ticket);
}

#[test]
fn the_keeper_ends_when_the_line_is_empty() {
    for _ in 0..3 {
        let line = Arc::<Line>::default();
        let people = [0, 1].map(|_| Person::joins(&line));
        assert!(line.lock().kept);
        people.iter().for_each(|person| line.leave(person.ticket));
        // It holds the line until it ends.
        until("the keeper ends", || Arc::strong_count(&line) == 1);
        assert!(!line.lock().kept);
    }
}
