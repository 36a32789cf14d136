//! The offload threads: results, panics, the order of jobs, futures that are dropped or kept.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use zstdkit::schedule::{Offload, OffloadError, OffloadFuture};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park_timeout(Duration::from_secs(10)),
        }
    }
}

fn poll<T>(future: &mut OffloadFuture<T>, waker: &Waker) -> Poll<Result<T, OffloadError>> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// An offload of one thread that is kept busy until the sender is used or dropped.
fn busy() -> (Offload, mpsc::Sender<()>, OffloadFuture<()>) {
    let offload = Offload::new(1).unwrap();
    let (release, wait) = mpsc::channel::<()>();
    let started = Arc::new(Barrier::new(2));
    let inside = started.clone();
    let mut first = offload.run(move || {
        inside.wait();
        let _ = wait.recv();
    });
    assert!(poll(&mut first, Waker::noop()).is_pending());
    started.wait();
    (offload, release, first)
}

#[test]
fn results_and_panics_come_back_and_the_thread_goes_on() {
    let offload = Offload::new(1).unwrap();
    assert_eq!(block_on(offload.run(|| 1 + 1)), Ok(2));
    for _ in 0..3 {
        let broken = offload.run(|| -> u8 { panic!("at {}", 7) });
        assert_eq!(block_on(broken), Err(OffloadError::Panicked("at 7".into())));
    }
    assert_eq!(block_on(offload.run(|| "still here")), Ok("still here"));
}

#[test]
fn many_futures_share_few_threads() {
    let offload = Arc::new(Offload::new(2).unwrap());
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let threads: Vec<_> = (0..16_usize)
        .map(|n| {
            let (offload, running, most) = (offload.clone(), running.clone(), most.clone());
            thread::spawn(move || {
                for round in 0..50 {
                    let (running, most) = (running.clone(), most.clone());
                    let job = offload.run(move || {
                        most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                        thread::yield_now();
                        running.fetch_sub(1, SeqCst);
                        n * 1000 + round
                    });
                    assert!(offload.queued() <= 16);
                    assert_eq!(block_on(job), Ok(n * 1000 + round));
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    assert!(most.load(SeqCst) <= 2);
}

#[test]
fn jobs_run_in_the_order_of_their_first_polls() {
    let (offload, release, first) = busy();
    let order = Arc::new(Mutex::new(Vec::new()));
    let job = |n| {
        let order = order.clone();
        offload.run(move || order.lock().unwrap().push(n))
    };
    let mut jobs: Vec<_> = (0..5).map(job).collect();
    for nth in [3, 1, 4, 0, 1, 3] {
        // Polling again does not queue it twice.
        assert!(poll(&mut jobs[nth], Waker::noop()).is_pending());
    }
    assert_eq!(offload.queued(), 4);
    drop(release);
    assert_eq!(block_on(first), Ok(()));
    for job in jobs {
        assert_eq!(block_on(job), Ok(()));
    }
    assert_eq!(*order.lock().unwrap(), [3, 1, 4, 0, 2]);
}

#[test]
fn a_dropped_future_takes_its_job_out() {
    let (offload, release, first) = busy();
    let ran = Arc::new(AtomicUsize::new(0));
    let job = || {
        let ran = ran.clone();
        move || ran.fetch_add(1, SeqCst)
    };
    let mut queued = offload.run(job());
    assert!(poll(&mut queued, Waker::noop()).is_pending());
    let mut behind = offload.run(job());
    assert!(poll(&mut behind, Waker::noop()).is_pending());
    drop(queued);
    assert_eq!(offload.queued(), 1);
    drop(behind);
    drop(offload.run(job()));
    drop(release);
    assert_eq!(block_on(first), Ok(()));
    assert_eq!(block_on(offload.run(|| ())), Ok(()));
    assert_eq!(ran.load(SeqCst), 0);
    assert_eq!(
        Arc::strong_count(&ran),
        1,
        "jobs that hold on to their data"
    );
}

#[test]
fn futures_that_are_kept_hold_up_nobody_and_their_jobs_run() {
    let (offload, release, first) = busy();
    let (tell, told) = mpsc::channel();
    let mut kept: Vec<_> = (0..20)
        .map(|n| {
            let tell = tell.clone();
            offload.run(move || tell.send(n).unwrap())
        })
        .collect();
    for future in &mut kept {
        assert!(poll(future, Waker::noop()).is_pending());
    }
    drop((release, tell));
    assert_eq!(block_on(offload.run(|| 4)), Ok(4));
    // None of them was polled again.
    let ran: Vec<_> = told.try_iter().collect();
    assert_eq!(ran, (0..20).collect::<Vec<_>>());
    assert_eq!(block_on(first), Ok(()));
    for future in kept {
        assert_eq!(block_on(future), Ok(()));
    }
}

#[test]
fn dropping_ends_what_runs_and_refuses_the_rest() {
    let (offload, release, first) = busy();
    let mut queued = offload.run(|| 2);
    let mut behind = offload.run(|| 3);
    let late = offload.run(|| 4);
    assert!(poll(&mut queued, Waker::noop()).is_pending());
    assert!(poll(&mut behind, Waker::noop()).is_pending());
    let dropping = thread::spawn(move || drop(offload));
    assert_eq!(block_on(queued), Err(OffloadError::Stopped));
    assert_eq!(block_on(behind), Err(OffloadError::Stopped));
    assert_eq!(block_on(late), Err(OffloadError::Stopped));
    drop(release);
    dropping.join().unwrap();
    assert_eq!(block_on(first), Ok(()));
}

#[test]
fn the_last_handle_may_go_in_a_job() {
    let offload = Arc::new(Offload::new(1).unwrap());
    let inside = offload.clone();
    let (release, released) = mpsc::channel::<()>();
    let mut job = offload.run(move || {
        let _ = released.recv();
        drop(inside);
    });
    assert!(poll(&mut job, Waker::noop()).is_pending());
    drop(offload);
    drop(release);
    assert_eq!(block_on(job), Ok(()));
}

#[test]
fn threads_are_set_up_before_they_work_and_work_even_if_that_fails() {
    let set_up = Arc::new(AtomicUsize::new(0));
    let numbers = set_up.clone();
    let offload = Offload::with_setup(1, move |nth| {
        numbers.fetch_add(10 + nth, SeqCst);
        panic!("refused");
    })
    .unwrap();
    let seen = block_on(offload.run(move || set_up.load(SeqCst)));
    assert_eq!(seen, Ok(10));
}
