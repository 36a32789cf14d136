//! Turns on a runtime. Work is only counted, not done, so that no clock decides.

use tokio::runtime::Builder;
use tokio::task::yield_now;

use super::*;

const THRESHOLD_NS: u64 = 50_000;

/// Runs tasks that keep this, one for each length of its calls; each makes ten calls. Returns the most work, in
/// nanoseconds, between two visits of the runtime to another task, and the number of visits.
fn most_between_visits(lengths_ns: &[u64], keeps: Keeps) -> (u64, u64) {
    let calls: Vec<_> = lengths_ns.iter().map(|&ns| (ns, ns)).collect();
    most_of_calls(&calls, keeps)
}

/// The same with the expected length of the calls of each task, and their length.
fn most_of_calls(calls: &[(u64, u64)], keeps: Keeps) -> (u64, u64) {
    // A thread that has seen no runtime.
    std::thread::scope(|scope| {
        let visited = scope.spawn(|| visited(calls, keeps));
        visited.join().unwrap()
    })
}

fn visited(calls: &[(u64, u64)], keeps: Keeps) -> (u64, u64) {
    let runtime = Builder::new_current_thread().build().unwrap();
    let since_ns = Arc::new(AtomicU64::new(0));
    runtime.block_on(async {
        let tasks: Vec<_> = calls
            .iter()
            .map(|&(expected_ns, ns)| {
                let since_ns = since_ns.clone();
                tokio::spawn(async move {
                    let mut turn = Turn::new();
                    for call in 0..10 {
                        let kept = match (keeps, call) {
                            (Keeps::NewContext, 1..) => Keeps::Context,
                            (kept, _) => kept,
                        };
                        turn.take(expected_ns, THRESHOLD_NS, kept).await;
                        turn.held(ns);
                        since_ns.fetch_add(ns, Relaxed);
                    }
                })
            })
            .collect();
        let (mut most_ns, mut visits) = (0, 0);
        while tasks.iter().any(|task| !task.is_finished()) {
            yield_now().await;
            most_ns = most_ns.max(since_ns.swap(0, Relaxed));
            visits += 1;
        }
        (most_ns, visits)
    })
}

#[test]
fn many_tasks_hold_their_thread_no_longer_than_one() {
    for keeps in [Keeps::Nothing, Keeps::Context, Keeps::NewContext] {
        // Calls of a millisecond have their turns alone.
        let (most_ns, visits) = most_between_visits(&[1_000_000; 32], keeps);
        assert_eq!(most_ns, 1_000_000, "{keeps:?}");
        assert!(visits >= 320, "{keeps:?}: {visits}");
        // Shorter ones share them, up to the threshold.
        let (most_ns, visits) = most_between_visits(&[10_000; 32], keeps);
        assert!(most_ns <= THRESHOLD_NS, "{keeps:?}: {most_ns}");
        assert!((64..200).contains(&visits), "{keeps:?}: {visits}");
    }
    // Long and short ones together.
    let lengths: Vec<u64> = [1_000, 400_000].repeat(16);
    let (most_ns, _) = most_between_visits(&lengths, Keeps::Nothing);
    assert!(most_ns <= 400_000, "{most_ns}");
    // One, and none.
    assert_eq!(
        most_between_visits(&[1_000_000], Keeps::Nothing).0,
        1_000_000
    );
    assert_eq!(most_between_visits(&[], Keeps::Nothing), (0, 0));
}

#[test]
fn calls_that_take_longer_than_expected_end_the_turn() {
    for keeps in [Keeps::Nothing, Keeps::Context, Keeps::NewContext] {
        for expected_ns in [0, 1, 1_000] {
            let (most_ns, _) = most_of_calls(&[(expected_ns, 1_000_000); 64], keeps);
            // The first one that was admitted, and one that did not have to wait.
            assert!(most_ns <= 2_000_000, "{keeps:?}, {expected_ns}: {most_ns}");
            // Others that take less come to their turn.
            let mut calls = vec![(expected_ns, 1_000_000); 32];
            calls.extend([(expected_ns, expected_ns); 32]);
            let (most_ns, _) = most_of_calls(&calls, keeps);
            assert!(most_ns <= 2_100_000, "{keeps:?}, {expected_ns}: {most_ns}");
        }
    }
    // No more than expected, or a little more: as many as fit.
    for ns in [10_000, 12_000] {
        let (most_ns, visits) = most_of_calls(&[(10_000, ns); 64], Keeps::Nothing);
        assert!(most_ns <= THRESHOLD_NS + 2 * ns, "{ns}: {most_ns}");
        assert!((128..400).contains(&visits), "{ns}: {visits}");
    }
}

#[test]
fn nothing_waits_outside_of_a_runtime() {
    let mut context = Context::from_waker(std::task::Waker::noop());
    let mut turn = Turn::new();
    for _ in 0..100 {
        // An executor that nothing is known of asks again at once.
        while turn
            .poll_take(&mut context, 1_000_000, THRESHOLD_NS, Keeps::Nothing)
            .is_pending()
        {
            assert!(turn.waits());
        }
        turn.held(1_000_000);
    }
}

#[test]
fn a_task_that_goes_on_elsewhere_does_not_wait_for_a_runtime_that_is_not_driven() {
    let [first, second] = [0, 1].map(|_| Builder::new_current_thread().build().unwrap());
    for elsewhere in [true, false] {
        let mut turns: Vec<Turn> = (0..4).map(|_| Turn::new()).collect();
        let mut context = Context::from_waker(std::task::Waker::noop());
        first.block_on(async {
            // The line is long enough that the runtime begins the turns.
            Turn::new().held(1_000_000);
            for turn in &mut turns {
                let mut polls = 0;
                while !turn.waits() {
                    let _ = turn.poll_take(&mut context, 1_000, THRESHOLD_NS, Keeps::Nothing);
                    turn.held(1_000_000);
                    polls += 1;
                    assert!(polls < 10);
                }
            }
        });
        let mut go_on = || {
            for turn in &mut turns {
                let mut polls = 0;
                while turn
                    .poll_take(&mut context, 1_000, THRESHOLD_NS, Keeps::Nothing)
                    .is_pending()
                {
                    polls += 1;
                    assert!(polls < 10, "it waits for the first runtime");
                }
            }
        };
        match elsewhere {
            true => second.block_on(async { go_on() }),
            false => go_on(),
        }
        assert!(!turns.iter().any(Turn::waits));
    }
}

#[test]
fn who_leaves_the_line_is_not_waited_for() {
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut first = Turn::new();
        first.take(1, THRESHOLD_NS, Keeps::Nothing).await;
        first.held(1_000_000);
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut gone: Vec<Turn> = (0..100).map(|_| Turn::new()).collect();
        for turn in &mut gone {
            let _ = turn.poll_take(&mut context, 1_000_000, THRESHOLD_NS, Keeps::Nothing);
        }
        drop(gone);
        first.take(1_000_000, THRESHOLD_NS, Keeps::Nothing).await;
        first.held(1_000_000);
        // Nor is one whose future was dropped: its place is still its own.
        let mut second = Turn::new();
        let waits = second.poll_take(&mut context, 1, THRESHOLD_NS, Keeps::Nothing);
        assert!(waits.is_pending() && second.waits());
        second.take(1, THRESHOLD_NS, Keeps::Nothing).await;
        assert!(!second.waits());
    });
}

#[test]
#[cfg(target_has_atomic = "64")]
fn a_thread_that_has_nothing_to_do_is_seen() {
    let alone = Builder::new_current_thread().build().unwrap();
    assert_eq!(parked(alone.handle()), 0);
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    // Both park, sooner or later.
    let start = Instant::now();
    while parked(runtime.handle()) < 2 {
        assert!(start.elapsed().as_secs() < 300);
        std::thread::yield_now();
    }
    let (held, holds) = std::sync::mpsc::channel();
    let ends: Vec<_> = (0..2)
        .map(|_| {
            let (end, ends) = std::sync::mpsc::channel::<()>();
            let held = held.clone();
            runtime.spawn(async move {
                held.send(()).unwrap();
                let _ = ends.recv();
            });
            end
        })
        .collect();
    for _ in &ends {
        holds.recv().unwrap();
    }
    assert_eq!(parked(runtime.handle()), 0);
    drop(ends);
}

#[test]
fn tasks_that_are_left_alone_with_a_context_or_in_line_for_one_hold_up_no_other() {
    for workers in 0..3 {
        let runtime = match workers {
            0 => Builder::new_current_thread().build().unwrap(),
            _ => Builder::new_multi_thread()
                .worker_threads(workers)
                .build()
                .unwrap(),
        };
        let main = runtime.spawn(async {
            let mut alone: Vec<Turn> = (0..20).map(|_| Turn::new()).collect();
            for turn in &mut alone {
                let mut context = Context::from_waker(std::task::Waker::noop());
                let _ = turn.poll_take(&mut context, 1_000, THRESHOLD_NS, Keeps::NewContext);
            }
            assert!(alone.iter().any(Turn::waits));
            let tasks: Vec<_> = (0..40)
                .map(|nth| {
                    tokio::spawn(async move {
                        let mut turn = Turn::new();
                        let mut keeps = Keeps::NewContext;
                        for _ in 0..5 {
                            turn.take(20_000, THRESHOLD_NS, keeps).await;
                            turn.held(20_000);
                            keeps = Keeps::Context;
                        }
                        match nth % 2 {
                            0 => turn.give_back(),
                            _ => turn.pause(),
                        }
                    })
                })
                .collect();
            // Some leave, others stay.
            alone.drain(..7);
            for task in tasks {
                task.await.unwrap();
            }
            assert!(!alone.iter().all(Turn::waits));
            drop(alone);
        });
        runtime.block_on(main).unwrap();
    }
}

#[test]
#[cfg(target_has_atomic = "64")]
fn tasks_that_meet_on_a_thread_part_while_another_has_nothing_to_do() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let threads = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let work = |nth: usize, threads: Arc<[AtomicU64; 2]>| async move {
        let mut turn = Turn::new();
        let start = Instant::now();
        while start.elapsed().as_secs() < 300 {
            turn.take(THRESHOLD_NS, THRESHOLD_NS, Keeps::Context).await;
            turn.held(THRESHOLD_NS);
            threads[nth].store(thread_number(), Relaxed);
            let other = threads[1 - nth].load(Relaxed);
            if other == PARTED || other > 0 && other != thread_number() {
                threads[nth].store(PARTED, Relaxed);
                return true;
            }
        }
        false
    };
    let main = runtime.spawn(async move {
        let tasks = [0, 1].map(|nth| tokio::spawn(work(nth, threads.clone())));
        for task in tasks {
            assert!(task.await.unwrap(), "both stay on one thread");
        }
    });
    runtime.block_on(main).unwrap();
}

const PARTED: u64 = u64::MAX;

/// A number of this thread, from 1.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static NUMBER: u64 = NEXT.fetch_add(1, Relaxed));
    NUMBER.with(|number| *number)
}
