//! One thread: its producers and consumers in turn, a batch at a time, until there is nothing left to do.

use std::time::{Duration, Instant};

use latency::{Pacer, Recorder, Schedule};

use super::consumer::Consumer;
use super::desk::{Desk, Rows};
use super::notifier::SLEEP_MAX;
use super::producer::Producer;
use super::shared::Shared;
use crate::counts::add;
use crate::plan::Pace;
use crate::pool::Seat;

/// A block due sooner than this is waited for by spinning, because a sleep would overshoot.
const SPIN_BELOW: Duration = Duration::from_micros(60);

/// The result of a thread.
pub(super) struct Ended {
    pub(super) recorders: Rows<Recorder>,
    pub(super) pacer: Option<Pacer>,
    /// From the start of the run to the end of its last block.
    pub(super) last_end: Duration,
}

/// Which of `count` workers are on the thread `index` of `threads`.
fn own(count: u32, index: usize, threads: usize) -> impl Iterator<Item = u32> {
    (0..count).skip(index).step_by(threads)
}

/// The loop of one thread.
pub(super) fn run(shared: &Shared<'_>, index: usize, schedule: Option<Schedule>) -> Ended {
    let plan = shared.plan;
    let threads = shared.tallies.len();
    let mut producers: Vec<Producer> = own(plan.producers, index, threads)
        .map(Producer::new)
        .collect();
    let mut consumers: Vec<Consumer> = own(plan.consumers, index, threads)
        .map(|_| Consumer::default())
        .collect();
    let mut desk = Desk {
        shared,
        tally: &shared.tallies[index],
        compressor: Seat::new(index),
        decompressor: Seat::new(index),
        recorders: Rows::new(plan, plan.pace != Pace::Closed, shared.start)
            .tracked(shared.live_tallies.get(index)),
        pacer: schedule.map(|schedule| {
            let pacer = Pacer::new(schedule, shared.start);
            match plan.late_above {
                Some(late) => pacer.late_above(late),
                None => pacer,
            }
        }),
        content: Vec::with_capacity(shared.data.block_bytes_max()),
        block: Vec::new(),
        last_end: shared.start,
    };
    let mut producing = true;
    for round in 0usize.. {
        let now = Instant::now();
        if let Some(pacer) = &mut desk.pacer
            && !shared.ending()
        {
            pacer.observe(now);
        }
        let mut worked = turns(&mut desk, round, now, &mut producers, &mut consumers);
        if producing && shared.ending() && producers.iter().all(Producer::idle) {
            producing = false;
            worked = true;
            shared
                .producing
                .fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
            shared.notifier.notify();
        }
        if !worked && !producing && finished(shared) {
            break;
        }
        if !worked {
            wait(&mut desk, &producers, &consumers);
        }
    }
    Ended {
        last_end: desk.last_end - shared.start,
        recorders: desk.recorders.exact(),
        pacer: desk.pacer,
    }
}

/// Whether the queue is empty and stays so.
fn finished(shared: &Shared<'_>) -> bool {
    shared.producing.load(std::sync::atomic::Ordering::SeqCst) == 0 && shared.queue.is_empty()
}

/// A turn for every worker, producers and consumers alternating, starting with another worker each round.
fn turns(
    desk: &mut Desk<'_>,
    round: usize,
    now: Instant,
    producers: &mut [Producer],
    consumers: &mut [Consumer],
) -> bool {
    let mut worked = false;
    for nth in 0..producers.len().max(consumers.len()) {
        if nth < producers.len() {
            let at = (round + nth) % producers.len();
            worked |= producers[at].turn(desk);
        }
        if nth < consumers.len() {
            let at = (round + nth) % consumers.len();
            worked |= consumers[at].turn(desk, now);
        }
    }
    worked
}

/// Sleeps until a block is due on this thread, or another thread makes progress.
///
/// A due block is no reason to spin while every producer holds a batch that the full queue cannot take: a loop
/// that cannot keep up is always behind and must not waste a processor on that.
fn wait(desk: &mut Desk<'_>, producers: &[Producer], consumers: &[Consumer]) {
    let shared = desk.shared;
    let now = Instant::now();
    let left = |when: Instant| when.saturating_duration_since(now);
    let mut time = SLEEP_MAX;
    if let Some(pacer) = &mut desk.pacer
        && !shared.ending()
        && producers.iter().any(Producer::idle)
    {
        pacer.awaited(now);
        let due = left(pacer.next_due());
        if due < SPIN_BELOW {
            add(&desk.tally.spun, 1);
            std::hint::spin_loop();
            return;
        }
        time = time.min(due - SPIN_BELOW / 2);
    }
    let paused = consumers.iter().filter_map(Consumer::ready_at);
    let all_paused = paused.clone().count() == consumers.len();
    // An injected pause is not measured: a sleep that overshoots does no harm.
    time = time.min(paused.min().map_or(SLEEP_MAX, left));
    let holds = !producers.iter().all(Producer::idle);
    let takes = !all_paused && !shared.plan.faults.full_queue;
    let something = || (takes && !shared.queue.is_empty()) || (holds && !shared.queue.is_full());
    add(&desk.tally.slept, 1);
    shared.notifier.wait(time, something);
}
