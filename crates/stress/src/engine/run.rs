//! Starts the threads of a run, watches them and ends them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crossbeam_queue::ArrayQueue;
use latency::{CpuClock, Schedule, environment};

use super::conclude::{Watched, conclude};
use super::notifier::Notifier;
use super::shared::Shared;
use super::thread::{self, Ended};
use crate::census::Census;
use crate::codec::Codec;
use crate::counts::Tally;
use crate::data::Data;
use crate::error::Error;
use crate::fault::{Every, Panicking};
use crate::finding::{Finding, Progress};
use crate::live::LiveTally;
use crate::plan::{Pace, Plan};
use crate::pool::Pool;
use crate::samples::{Sample, Samples};

/// How often the callback gets the progress.
const WATCH_EVERY: Duration = Duration::from_millis(100);

/// Runs a plan with a codec. Calls `watch` with the progress ten times per second, on the calling thread. When
/// `watch` returns false, producers stop; what they sent is still consumed.
///
/// # Errors
/// When the plan cannot be carried out, or the codec cannot make a context.
pub fn run(
    plan: &Plan,
    codec: Arc<dyn Codec>,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Finding, Error> {
    plan.validate()?;
    let data = Data::new(plan.data.clone(), plan.seed, plan.bytes_min, plan.bytes_max)?;
    let bytes_max = data.block_bytes_max();
    // One context of each direction before anything runs, so that a codec that cannot work fails here.
    drop((codec.compressor(bytes_max)?, codec.decompressor(bytes_max)?));
    let schedules = schedules(plan)?;
    let name = codec.name().to_owned();
    let codec: Arc<dyn Codec> = match plan.faults.panic_every {
        Some(every) => Arc::new(Panicking::new(codec, every)),
        None => codec,
    };
    let census: [Arc<Census>; 2] = Default::default();
    let threads = plan.threads_used();
    let decoder = codec.clone();
    let shared = Shared {
        plan,
        data,
        compressors: Pool::new(plan.pool, threads, census[0].clone(), move || {
            codec.compressor(bytes_max)
        }),
        decompressors: Pool::new(plan.pool, threads, census[1].clone(), move || {
            decoder.decompressor(bytes_max)
        }),
        queue: ArrayQueue::new(plan.queue()),
        spare: ArrayQueue::new(plan.queue()),
        notifier: Notifier::default(),
        stop: AtomicBool::new(false),
        producing: AtomicUsize::new(threads),
        live: AtomicUsize::new(threads),
        tickets: AtomicU64::new(plan.blocks_max.unwrap_or(u64::MAX)),
        corrupt: Every::new(plan.faults.corrupt_every),
        tallies: (0..threads).map(|_| Tally::default()).collect(),
        live_tallies: (0..if plan.live { threads } else { 0 })
            .map(|_| LiveTally::default())
            .collect(),
        start: plan.start_at.unwrap_or_else(Instant::now),
    };
    let cpu = CpuClock::Process.now();
    let mut watched = Watched {
        samples: Samples::new(shared.start),
        stopped: false,
    };
    let ended = on_threads(&shared, schedules, &census, &mut watched, watch)?;
    let cpu = cpu
        .zip(CpuClock::Process.now())
        .map(|(from, to)| to.saturating_sub(from));
    let counts = shared.counts();
    drop(shared);
    conclude(plan, name, counts, cpu, ended, &census, watched)
}

/// A schedule for each thread with a producer; together they have the rate, and at a uniform pace they take turns. None in a closed loop.
fn schedules(plan: &Plan) -> Result<Vec<Option<Schedule>>, Error> {
    let threads = plan.threads_used();
    let producing = threads.min(plan.producers as usize);
    let schedules = match plan.pace {
        Pace::Closed => Vec::new(),
        Pace::Uniform(rate) => {
            let (turn, of) = plan.turn;
            let after = f64::from(turn) / f64::from(of.max(1));
            Schedule::uniform_turns_within(rate, producing, after)?
        }
        Pace::Poisson(rate) => (0..producing as u64)
            .map(|thread| {
                let seed = plan.seed.wrapping_mul(1_000_003).wrapping_add(thread);
                Schedule::poisson(rate / producing as f64, seed)
            })
            .collect::<Result<_, _>>()?,
    };
    let schedules = schedules
        .into_iter()
        .map(Some)
        .chain(std::iter::repeat(None));
    Ok(schedules.take(threads).collect())
}

fn on_threads(
    shared: &Shared<'_>,
    schedules: Vec<Option<Schedule>>,
    census: &[Arc<Census>; 2],
    watched: &mut Watched,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Vec<Ended>, Error> {
    let watcher = std::thread::current();
    std::thread::scope(|scope| {
        let mut handles = Vec::with_capacity(schedules.len());
        for (index, schedule) in schedules.into_iter().enumerate() {
            let watcher = watcher.clone();
            let spawned = std::thread::Builder::new()
                .name(format!("stress {index}"))
                .spawn_scoped(scope, move || {
                    let ended = thread::run(shared, index, schedule);
                    shared.live.fetch_sub(1, SeqCst);
                    watcher.unpark();
                    ended
                });
            match spawned {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    // Running threads must not wait for threads that never start.
                    shared.stop.store(true, SeqCst);
                    shared
                        .producing
                        .fetch_sub(shared.tallies.len() - index, SeqCst);
                    return Err(error.into());
                }
            }
        }
        observe(shared, census, watched, watch, || {
            handles.iter().any(|handle| !handle.is_finished())
        });
        let join = |(index, handle): (usize, std::thread::ScopedJoinHandle<'_, _>)| {
            handle.join().map_err(|_| Error::Panicked(index))
        };
        handles.into_iter().enumerate().map(join).collect()
    })
}

/// Takes samples and reports progress until the threads have ended.
fn observe(
    shared: &Shared<'_>,
    census: &[Arc<Census>; 2],
    watched: &mut Watched,
    watch: &mut dyn FnMut(&Progress) -> bool,
    any_runs: impl Fn() -> bool,
) {
    let deadline = shared.start.checked_add(shared.plan.duration);
    let mut next_watch = shared.start + WATCH_EVERY;
    while shared.live.load(SeqCst) > 0 && any_runs() {
        let now = Instant::now();
        if deadline.is_some_and(|deadline| now >= deadline) {
            shared.stop.store(true, Relaxed);
        }
        if now >= watched.samples.next() {
            watched.samples.push(sample(shared, census), now);
        }
        if now >= next_watch {
            next_watch = now + WATCH_EVERY;
            let progress = Progress {
                elapsed: now - shared.start,
                counts: shared.counts(),
                held: sample(shared, census),
                queued_batches: shared.queue.len(),
                live: shared.live_now(),
            };
            if !watch(&progress) && !shared.stop.swap(true, Relaxed) {
                watched.stopped = true;
            }
        }
        let mut until = watched.samples.next().min(next_watch);
        if let Some(deadline) = deadline.filter(|deadline| *deadline > now) {
            until = until.min(deadline);
        }
        std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
    }
    // The pools still hold contexts now.
    let last = sample(shared, census);
    watched.samples.push(last, Instant::now());
}

fn sample(shared: &Shared<'_>, census: &[Arc<Census>; 2]) -> Sample {
    let process = environment::process();
    Sample {
        at: shared.start.elapsed(),
        codec_bytes: census.iter().map(|census| census.bytes()).sum(),
        contexts: census.iter().map(|census| census.alive()).sum(),
        threads: process.map(|process| process.threads),
        rss_bytes: process.map(|process| process.rss_bytes),
        own_bytes: shared.plan.own_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_shared_by_the_threads_that_have_a_producer() {
        for (producers, consumers, threads, producing) in [(1, 4, 4, 1), (3, 9, 4, 3), (9, 1, 4, 4)]
        {
            for pace in [Pace::Uniform(1_200.0), Pace::Poisson(1_200.0)] {
                let plan = Plan {
                    producers,
                    consumers,
                    threads,
                    pace,
                    ..Plan::default()
                };
                let all = schedules(&plan).expect("a rate");
                let rates: Vec<f64> = all.iter().flatten().map(Schedule::rate_per_s).collect();
                assert_eq!((all.len(), rates.len()), (threads, producing), "{plan:?}");
                assert!(
                    (rates.iter().sum::<f64>() - 1_200.0).abs() < 1e-6,
                    "{rates:?}"
                );
            }
        }
    }
}
