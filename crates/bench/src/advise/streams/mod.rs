//! Streams that are compressed at once in a runtime, in the ways that a program has: what they take, what they cost
//! the other tasks, and which way to choose.
//!
//! `way` is how a stream is compressed, `round` makes one measurement, `advice` judges, `table` shows.

mod advice;
mod round;
mod table;
mod way;

use std::time::{Duration, Instant};

use latency::Recording;
use serde_json::json;
use zstdkit::{EncoderOptions, PoolStats};

use self::round::{Round, Setup};
use self::way::Way;
use crate::advise::data::Data;
use crate::advise::plan::{Plan, Streams};
use crate::advise::probe::Delays;
use crate::{Checks, Context, Error, Order};
use report::Outcome;

/// Rounds, if they do not take long.
const ROUNDS: usize = 3;
/// Streams are repeated for this part of the time of a run.
const REPEATED: u32 = 4;
/// Another round starts if the ones before took no more than this many runs.
const RUNS: u32 = 4;
/// The most memory of contexts that a way without a budget may take.
const UNBOUNDED_BYTES_MAX: u64 = 1 << 30;

/// What was found of a way.
struct Found {
    way: Way,
    /// Contexts that are open at once, as estimated.
    contexts_bytes: u64,
    /// It was left out, because of these.
    left_out: bool,
    completed: u64,
    wall_ns: Vec<u64>,
    cpu_ns: Vec<u64>,
    content_bytes: u64,
    compressed_bytes: u64,
    /// From the start of all to the end of each.
    streams_ns: Vec<u64>,
    /// The most places by which a stream ended later than it began.
    overtaken: u64,
    delays: Delays,
    stats: PoolStats,
}

/// Measures the streams in every way, and adds the tables and the advice to the outcome.
pub(crate) fn part(
    plan: &Plan,
    asked: &Streams,
    data: &Data,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    let options = EncoderOptions::default().with_level(asked.level);
    options.validate()?;
    let setup = Setup::new(plan, asked, options, data.any());
    let mut found: Vec<Found> = Way::ALL.map(|way| Found::new(way, plan, &setup)).into();
    let mut order = Order::new(found.len(), 1);
    let start = Instant::now();
    for round in 0..ROUNDS {
        if round > 0 && start.elapsed() > plan.run * RUNS {
            break;
        }
        for &side in order.draw() {
            let Some(found) = found.get_mut(side).filter(|found| !found.left_out) else {
                continue;
            };
            if context.watch.is_stopped() {
                break;
            }
            found.turn(&setup, plan.run / REPEATED, context, checks)?;
        }
    }
    describe(asked, &setup, outcome);
    let shown: Vec<Shown> = found.into_iter().map(Shown::new).collect();
    outcome.tables.extend(table::tables(&shown));
    if !context.watch.is_stopped() {
        let sentence = advice::sentence(&shown, &setup);
        outcome.findings.push(sentence.clone());
        outcome.tables.push(table::advice(sentence));
    }
    Ok(())
}

fn describe(asked: &Streams, setup: &Setup, outcome: &mut Outcome) {
    let params = &mut outcome.workload.params;
    params.insert("streams".into(), json!(asked.count));
    params.insert("stream_bytes".into(), json!(setup.content_bytes()));
    params.insert("write_bytes".into(), json!(asked.write_bytes));
    params.insert("flush".into(), json!(asked.flush));
    params.insert("level".into(), json!(asked.level));
    params.insert("budget_bytes".into(), json!(asked.memory_bytes));
}

impl Found {
    fn new(way: Way, plan: &Plan, setup: &Setup) -> Self {
        let each = setup.options.memory_estimate_bytes(None);
        let all = each.saturating_mul(setup.count as u64);
        let contexts_bytes = match way {
            Way::Idle => 0,
            Way::Inline => each.saturating_mul(plan.workers as u64).min(all),
            Way::Blocking => all,
            Way::Async => all.min(setup.memory_bytes),
        };
        Self {
            way,
            contexts_bytes,
            left_out: way == Way::Blocking && contexts_bytes > UNBOUNDED_BYTES_MAX,
            completed: 0,
            wall_ns: Vec::new(),
            cpu_ns: Vec::new(),
            content_bytes: 0,
            compressed_bytes: 0,
            streams_ns: Vec::new(),
            overtaken: 0,
            delays: Delays::new(Instant::now()),
            stats: PoolStats::default(),
        }
    }

    /// Repeats the streams for about this long.
    fn turn(
        &mut self,
        setup: &Setup,
        time: Duration,
        context: Context<'_>,
        checks: &mut Checks,
    ) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            self.add(round::run(self.way, setup, time, context)?, setup, checks)?;
            if start.elapsed() >= time || context.watch.is_stopped() {
                return Ok(());
            }
        }
    }

    fn add(&mut self, round: Round, setup: &Setup, checks: &mut Checks) -> Result<(), Error> {
        self.delays.merge(round.delays)?;
        self.completed += round.ended.len() as u64;
        if round.ended.len() < setup.count {
            // Idle, or stopped.
            return Ok(());
        }
        self.wall_ns.push(round.wall_ns);
        self.cpu_ns.extend(round.cpu_ns);
        for (place, ended) in round.ended.iter().enumerate() {
            self.streams_ns.push(ended.ns);
            self.overtaken = self
                .overtaken
                .max(place.saturating_sub(ended.number) as u64);
            let content = setup.content(ended.number);
            checks.frame(&ended.compressed, &content);
            self.content_bytes += content.len() as u64;
            self.compressed_bytes += ended.compressed.len() as u64;
        }
        let (now, before) = (round.stats, self.stats);
        self.stats = now;
        self.stats.waited += before.waited;
        self.stats.longest_wait_ns = now.longest_wait_ns.max(before.longest_wait_ns);
        self.stats.beyond_budget += before.beyond_budget;
        Ok(())
    }
}

/// What is shown of a way, and judged.
struct Shown {
    found: Numbers,
    stall: Recording,
    late: Recording,
}

/// All but the distributions.
struct Numbers {
    way: Way,
    contexts_bytes: u64,
    left_out: bool,
    completed: u64,
    wall_ns: Option<u64>,
    cpu_ns: Option<u64>,
    ratio: Option<f64>,
    stream_p50_ns: Option<u64>,
    stream_max_ns: Option<u64>,
    overtaken: u64,
    stats: PoolStats,
}

impl Shown {
    fn new(mut found: Found) -> Self {
        let ratio = found.content_bytes as f64 / found.compressed_bytes.max(1) as f64;
        let measured = !found.wall_ns.is_empty();
        Self {
            found: Numbers {
                way: found.way,
                contexts_bytes: found.contexts_bytes,
                left_out: found.left_out,
                completed: found.completed,
                wall_ns: middle(&mut found.wall_ns),
                cpu_ns: middle(&mut found.cpu_ns),
                ratio: measured.then_some(ratio),
                stream_p50_ns: middle(&mut found.streams_ns),
                stream_max_ns: found.streams_ns.iter().max().copied(),
                overtaken: found.overtaken,
                stats: found.stats,
            },
            stall: found.delays.stall.finish(),
            late: found.delays.late.finish(),
        }
    }

    /// The 99th percentile of the stalls, or the longest if there are too few.
    fn stall_ns(&self) -> u64 {
        let latency = self.stall.latency();
        latency.percentile(99.0).or(latency.max_ns).unwrap_or(0)
    }
}

fn middle(values: &mut [u64]) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests;
