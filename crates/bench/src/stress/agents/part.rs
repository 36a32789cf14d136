//! A plan as it goes to agents, and the part of it that each one gets.

use std::num::NonZeroU64;
use std::time::Duration;

use latency::SplitMix64;
use serde::{Deserialize, Serialize};
use stress::{DataKind, Faults, Pace, Plan as Load};

use super::AGENTS_MAX;
use crate::Error;
use crate::stress::Plan;

/// The plan of a run that agents share, as plain numbers and names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedPlan {
    codec: String,
    pool: String,
    work: String,
    uniform: bool,
    rate_per_s: f64,
    /// Which of the agents this part is of, from 0, and how many they are.
    turn: (u32, u32),
    producers: u32,
    consumers: u32,
    /// 0: one for each processor of the agent's machine.
    threads: u64,
    batch_blocks: Option<u64>,
    queue_batches: Option<u64>,
    data: String,
    bytes_min: u64,
    bytes_max: u64,
    seed: u64,
    duration_ns: u64,
    blocks_max: Option<u64>,
    corrupt_every: Option<NonZeroU64>,
    panic_every: Option<NonZeroU64>,
    consumer_pause_ns: Option<u64>,
    full_queue: bool,
    min_ratio: Option<f64>,
    late_above_ns: u64,
}

impl SharedPlan {
    /// The plan of a run by several agents; a start is late from `late_above` after it was due.
    ///
    /// # Errors
    ///
    /// [`Error::Settings`] for what several machines cannot do together: several codecs or rates, a closed loop, blocks of
    /// the caller's bytes.
    pub fn of(plan: &Plan, late_above: Duration) -> Result<Self, Error> {
        let run = &plan.run;
        let [(codec, pool)] = &plan.pairs[..] else {
            return Err(Error::settings(
                "agents share exactly one codec and one pool",
            ));
        };
        let (uniform, rate_per_s) = match run.pace {
            Pace::Uniform(rate) => (true, rate),
            Pace::Poisson(rate) => (false, rate),
            _ => {
                return Err(Error::settings(
                    "agents share one rate, in blocks per second",
                ));
            }
        };
        if !plan.rates.is_empty() {
            return Err(Error::settings(
                "agents share one rate, in blocks per second",
            ));
        }
        if matches!(run.data, DataKind::Bytes(_)) {
            return Err(Error::settings("agents do not have these files"));
        }
        Ok(Self {
            codec: codec.clone(),
            pool: pool.name().to_owned(),
            work: run.work.name().to_owned(),
            uniform,
            rate_per_s,
            turn: run.turn,
            producers: run.producers,
            consumers: run.consumers,
            threads: run.threads as u64,
            batch_blocks: run.batch_blocks.map(|blocks| blocks as u64),
            queue_batches: run.queue_batches.map(|batches| batches as u64),
            data: run.data.to_string(),
            bytes_min: run.bytes_min as u64,
            bytes_max: run.bytes_max as u64,
            seed: run.seed,
            duration_ns: nanoseconds(run.duration),
            blocks_max: run.blocks_max,
            corrupt_every: run.faults.corrupt_every,
            panic_every: run.faults.panic_every,
            consumer_pause_ns: run.faults.consumer_pause.map(nanoseconds),
            full_queue: run.faults.full_queue,
            min_ratio: plan.min_ratio,
            late_above_ns: nanoseconds(late_above),
        })
    }

    /// Whether there is something to do for each of these agents.
    ///
    /// # Errors
    ///
    /// [`Error::Settings`] if not.
    pub fn check_agents(&self, agents: u32) -> Result<(), Error> {
        if !(1..=AGENTS_MAX).contains(&agents) {
            return Err(Error::settings(format!(
                "{agents} agents: must be 1 to {AGENTS_MAX}"
            )));
        }
        match self.blocks_max {
            Some(blocks) if blocks < u64::from(agents) => Err(Error::settings(format!(
                "{blocks} blocks are too few for {agents} agents"
            ))),
            _ => Ok(()),
        }
    }

    /// The part of one of `of` agents, counted from 0: a share of the rate and of the blocks, a turn between the others, and
    /// a seed of its own; the first one has the seed of the plan. Everything else is the same for all.
    #[must_use]
    pub fn part(&self, nth: u32, of: u32) -> Self {
        let of = of.max(1);
        let until =
            |all: u64, nth: u32| (u128::from(all) * u128::from(nth) / u128::from(of)) as u64;
        let mut random = SplitMix64::new(self.seed);
        let seed = (0..nth.min(AGENTS_MAX)).fold(self.seed, |_, _| random.next());
        Self {
            rate_per_s: self.rate_per_s / f64::from(of),
            turn: (nth, of),
            blocks_max: self
                .blocks_max
                .map(|all| until(all, nth + 1) - until(all, nth)),
            seed,
            ..self.clone()
        }
    }

    /// The plan that it stands for. It may come from another machine: names and sizes are checked.
    ///
    /// # Errors
    ///
    /// [`Error::Settings`] for a name that this build does not know, and for sizes that cannot be.
    pub fn plan(&self) -> Result<Plan, Error> {
        let wrong = |what: &str, error: &dyn std::fmt::Display| {
            Error::settings(format!("the plan's {what}: {error}"))
        };
        let size = |what, bytes: u64| {
            usize::try_from(bytes).map_err(|_| wrong(what, &format!("{bytes} is too large")))
        };
        let sizes = |what, value: Option<u64>| value.map(|value| size(what, value)).transpose();
        stress::codec::by_name(&self.codec).map_err(|error| wrong("codec", &error))?;
        let pool = self.pool.parse().map_err(|error| wrong("pool", &error))?;
        let data: DataKind = self.data.parse().map_err(|error| wrong("data", &error))?;
        let mut faults = Faults::default().full_queue(self.full_queue);
        faults.corrupt_every = self.corrupt_every;
        faults.panic_every = self.panic_every;
        faults.consumer_pause = self.consumer_pause_ns.map(Duration::from_nanos);
        let run = Load::default()
            .work(self.work.parse().map_err(|error| wrong("loop", &error))?)
            .pace(match self.uniform {
                true => Pace::Uniform(self.rate_per_s),
                false => Pace::Poisson(self.rate_per_s),
            })
            .turn(self.turn)
            .producers(self.producers)
            .consumers(self.consumers)
            .threads(size("threads", self.threads)?)
            .batch_blocks(sizes("batch", self.batch_blocks)?)
            .queue_batches(sizes("queue", self.queue_batches)?)
            .data(data)
            .block_bytes(
                size("blocks", self.bytes_min)?,
                size("blocks", self.bytes_max)?,
            )
            .seed(self.seed)
            .duration(Duration::from_nanos(self.duration_ns))
            .blocks_max(self.blocks_max)
            .faults(faults)
            .late_above(Some(self.late_above()));
        let mut plan = Plan::new(vec![(self.codec.clone(), pool)], run);
        plan.min_ratio = self.min_ratio;
        plan.uniform = self.uniform;
        Ok(plan)
    }

    /// From how long after it was due a start is late.
    #[must_use]
    pub fn late_above(&self) -> Duration {
        Duration::from_nanos(self.late_above_ns)
    }

    /// Blocks per second.
    #[must_use]
    pub fn rate_per_s(&self) -> f64 {
        self.rate_per_s
    }

    /// Whether its blocks are compressed anew each time, not repeated.
    pub(super) fn is_honest(&self) -> bool {
        self.work == stress::Loop::Honest.name()
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use stress::PoolKind;

    use super::*;

    fn plan(run: Load) -> Plan {
        Plan::new(vec![("zstd:1".to_owned(), PoolKind::Mutex)], run)
    }

    #[test]
    fn parts_are_the_whole() {
        let run = Load::default()
            .pace(Pace::Poisson(10_000.0))
            .blocks_max(Some(1_003))
            .seed(7);
        let whole = SharedPlan::of(&plan(run), Duration::from_millis(10)).unwrap();
        let parts: Vec<_> = (0..4).map(|nth| whole.part(nth, 4)).collect();
        let rate: f64 = parts.iter().map(|part| part.rate_per_s).sum();
        let blocks: Vec<_> = parts.iter().flat_map(|part| part.blocks_max).collect();
        assert!((rate - 10_000.0).abs() < 1e-9);
        assert_eq!(blocks, [250, 251, 251, 251]);
        let turns: Vec<_> = parts.iter().map(|part| part.turn).collect();
        assert_eq!(turns, [(0, 4), (1, 4), (2, 4), (3, 4)]);
        let mut seeds: Vec<_> = parts.iter().map(|part| part.seed).collect();
        assert_eq!(seeds[0], 7);
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 4);
        assert_eq!(whole.part(0, 1), whole);
    }

    #[test]
    fn a_plan_comes_back_as_it_was() {
        let run = Load::default()
            .pace(Pace::Uniform(5.5))
            .threads(3)
            .block_bytes(10, 90)
            .batch_blocks(Some(4))
            .seed(u64::MAX)
            .data("json".parse().unwrap())
            .faults(Faults::default().corrupt_every(9).full_queue(true));
        let mut plan = plan(run);
        (plan.min_ratio, plan.uniform) = (Some(1.5), true);
        let late = Duration::from_millis(3);
        let shared = SharedPlan::of(&plan, late).unwrap();
        let text = serde_json::to_string(&shared).unwrap();
        let back: SharedPlan = serde_json::from_str(&text).unwrap();
        plan.run.late_above = Some(late);
        // A counter of bytes is its own.
        let mut read = back.plan().unwrap();
        read.run.held_outside = plan.run.held_outside.clone();
        assert_eq!(read, plan);
    }

    #[test]
    fn what_cannot_be_shared_is_refused() {
        let open = || Load::default().pace(Pace::Poisson(5.0));
        let late = Duration::ZERO;
        assert!(SharedPlan::of(&plan(Load::default()), late).is_err());
        let files = open().data(DataKind::Bytes(vec![1].into()));
        assert!(SharedPlan::of(&plan(files), late).is_err());
        let mut several = plan(open());
        several.pairs.push(("lz4".to_owned(), PoolKind::Mutex));
        assert!(SharedPlan::of(&several, late).is_err());
        let few = SharedPlan::of(&plan(open().blocks_max(Some(3))), late).unwrap();
        assert!(few.check_agents(3).is_ok() && few.check_agents(4).is_err());
        assert!(few.check_agents(0).is_err());
        for (from, to) in [("zstd:1", "zap"), ("mutex", "pond"), ("uuid", "sand")] {
            let text = serde_json::to_string(&few).unwrap().replace(from, to);
            let read: SharedPlan = serde_json::from_str(&text).unwrap();
            assert!(read.plan().is_err(), "{to}");
        }
    }
}
