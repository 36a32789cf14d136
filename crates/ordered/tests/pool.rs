//! Every run is compared with what a plain loop would have done, under a time limit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use ordered::{Error, Pool};
use proptest::prelude::*;

/// Runs under a time limit: a run that never ends fails the test.
fn ended<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (say, hear) = channel();
    std::thread::spawn(move || say.send(run()));
    hear.recv_timeout(Duration::from_secs(60))
        .expect("the run ends")
}

/// Numbers below `count`, as items.
fn numbers(count: usize) -> impl FnMut(&mut usize, &ordered::Stop<'_>) -> bool + Send {
    let mut numbers = 0..count;
    move |item, _| numbers.next().map(|number| *item = number).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn results_come_in_order_and_every_worker_comes_back(
        count in 0_usize..300,
        threads in 1_usize..6,
        in_flight in 0_usize..20,
        slow in 1_usize..9,
    ) {
        let (found, workers) = ended(move || {
            let mut found = Vec::new();
            let ended = Pool::new().in_flight(in_flight).run(
                vec![0_usize; threads],
                numbers(count),
                |worked, item, result: &mut usize| {
                    *worked += 1;
                    if *item % slow == 0 {
                        std::thread::yield_now();
                    }
                    *result = *item * 3;
                },
                |item, result| {
                    found.push((*item, *result));
                    Ok::<(), ()>(())
                },
            );
            assert!(ended.result.is_ok());
            (found, ended.workers)
        });
        prop_assert_eq!(found, (0..count).map(|at| (at, at * 3)).collect::<Vec<_>>());
        prop_assert_eq!(workers.len(), threads);
        prop_assert_eq!(workers.iter().sum::<usize>(), count);
    }
}

#[test]
fn the_first_error_in_order_ends_the_run() {
    for threads in [1, 2, 5] {
        let (seen, error) = ended(move || {
            let mut seen = Vec::new();
            let ended = Pool::new().run(
                vec![(); threads],
                numbers(1000),
                |(), item, result| *result = Some(*item).filter(|item| *item >= 70),
                |item, result: &mut Option<usize>| match result {
                    Some(at) => Err(*at),
                    None => {
                        seen.push(*item);
                        Ok(())
                    }
                },
            );
            (seen, ended.result)
        });
        assert_eq!(seen, (0..70).collect::<Vec<_>>());
        assert!(matches!(error, Err(Error::Receiver(70))), "{error:?}");
    }
}

#[test]
fn no_more_items_are_fetched_than_may_be_in_flight() {
    for (threads, in_flight) in [(2, 2), (3, 4), (2, 40)] {
        ended(move || {
            let (fetched, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let mut numbers = numbers(500);
            let ended = Pool::new().in_flight(in_flight).run(
                vec![(); threads],
                |item, stop| {
                    let open = fetched.load(Ordering::SeqCst) - received.load(Ordering::SeqCst);
                    assert!(open <= in_flight, "{open} of {in_flight}");
                    fetched.fetch_add(1, Ordering::SeqCst);
                    numbers(item, stop)
                },
                |(), _, (): &mut ()| (),
                |_, ()| {
                    received.fetch_add(1, Ordering::SeqCst);
                    Ok::<(), ()>(())
                },
            );
            assert!(ended.result.is_ok(), "{:?}", ended.result);
        });
    }
}

#[test]
fn a_cancelled_run_ends_although_its_source_waits() {
    for threads in [1, 3] {
        let received = ended(move || {
            let cancelled = AtomicUsize::new(0);
            let mut received = 0;
            let mut numbers = numbers(5);
            let ended = Pool::new().run_until(
                &|| cancelled.load(Ordering::SeqCst) > 0,
                vec![(); threads],
                |item, stop| {
                    while !numbers(item, stop) {
                        if stop.is_set() {
                            return false;
                        }
                        std::thread::yield_now();
                    }
                    true
                },
                |(), _, (): &mut ()| (),
                |_, ()| {
                    received += 1;
                    cancelled.fetch_add(usize::from(received == 5), Ordering::SeqCst);
                    Ok::<(), ()>(())
                },
            );
            assert!(ended.result.is_ok());
            received
        });
        assert_eq!(received, 5);
    }
}

#[test]
fn a_panic_of_a_worker_is_an_error_with_its_payload() {
    for lost in [0, 1, 20, 39] {
        let error = ended(move || {
            let ended = Pool::new().name("tested").run(
                vec![(); 3],
                numbers(40),
                |(), item, (): &mut ()| assert!(*item != lost, "injected"),
                |item, ()| {
                    assert!(*item < lost);
                    Ok::<(), ()>(())
                },
            );
            assert_eq!(ended.workers.len(), 2);
            ended.result
        });
        let Err(Error::Panicked(payload)) = error else {
            panic!("{error:?}");
        };
        let text = payload.downcast_ref::<&str>();
        assert_eq!(text, Some(&"injected"));
    }
}

#[test]
fn a_panic_of_the_receiver_or_the_source_ends_the_run() {
    let receiver = ended(|| {
        std::panic::catch_unwind(|| {
            let receive = |item: &mut usize, (): &mut ()| {
                assert!(*item != 7, "injected");
                Ok::<(), ()>(())
            };
            Pool::new().run(vec![(); 3], numbers(40), |(), _, ()| (), receive)
        })
        .is_err()
    });
    assert!(receiver);
    let source = ended(|| {
        let mut numbers = numbers(40);
        let next = move |item: &mut usize, stop: &ordered::Stop<'_>| {
            let more = numbers(item, stop);
            assert!(*item != 7, "injected");
            more
        };
        let ended = Pool::new().run(
            vec![(); 3],
            next,
            |(), _, (): &mut ()| (),
            |_, ()| Ok::<(), ()>(()),
        );
        ended.result
    });
    assert!(matches!(source, Err(Error::Panicked(_))), "{source:?}");
}
