//! The measuring itself: passes over the blocks of an input, turns of one candidate, rounds of all.
//!
//! In a round the candidates take their turns in an order drawn anew. A candidate that has used its
//! share of the time so far sits a round out, so that a slow one, too, is measured over the whole run
//! and not only at its start. Tables are made elsewhere.

use std::time::{Duration, Instant};

use latency::clock::FLOORS_MIN;
use latency::{CpuClock, Recorder, Spec};

use super::data::Block;
use crate::{Error, Order, Watch};

/// Turns that a quick candidate gets, at most.
pub const ROUNDS: u32 = 10;
/// Operations shorter than [`FLOORS_MIN`] clock floors are timed in batches of this many.
const BATCH_OPS: usize = 1000;
/// A pass takes at least this long, so that reading the processor's clock does not show.
pub(crate) const PASS_MIN: Duration = Duration::from_millis(1);

/// What timed spans came to.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    content_bytes: u64,
    wall: Duration,
    cpu: Option<Duration>,
}

impl Spent {
    fn add(&mut self, other: Self) {
        self.cpu = match self.content_bytes {
            0 => other.cpu,
            _ => self.cpu.zip(other.cpu).map(|(a, b)| a + b),
        };
        self.content_bytes += other.content_bytes;
        self.wall += other.wall;
    }
}

/// One direction of one candidate on one input.
#[derive(Debug)]
pub(crate) struct Lane {
    /// Single operations, or means of batches.
    pub(crate) service: Recorder,
    /// The calls of streams.
    pub(crate) holds: Option<Recorder>,
    specs: (Spec, Option<Spec>),
    run_start: Instant,
    clock: CpuClock,
    batch: usize,
    cycles: usize,
    turn: Spent,
    /// Content bytes a second of each round, by wall time.
    pub(crate) wall: Vec<f64>,
    /// The same by processor time.
    pub(crate) cpu: Vec<f64>,
    /// Operations measured.
    pub(crate) ops: u64,
}

impl Lane {
    pub(crate) fn new(
        service: Spec,
        holds: Option<Spec>,
        run_start: Instant,
        clock: CpuClock,
    ) -> Self {
        Self {
            service: Recorder::new(service.clone(), run_start),
            holds: holds.clone().map(|spec| Recorder::new(spec, run_start)),
            specs: (service, holds),
            run_start,
            clock,
            batch: 1,
            cycles: 1,
            turn: Spent::default(),
            wall: Vec::new(),
            cpu: Vec::new(),
            ops: 0,
        }
    }

    /// One pass: every block once, or as often as a pass of some length takes. Counts in the turn at
    /// hand, and says how long its operations took.
    pub(crate) fn pass(
        &mut self,
        (blocks, watch): (&[Block], &dyn Watch),
        describe: impl Fn(&Block) -> String,
        mut operation: impl FnMut(usize, Option<&mut Recorder>) -> Result<(), Error>,
    ) -> Result<Duration, Error> {
        let total = blocks.len() * self.cycles;
        let (mut spans, mut done, mut next) = (Duration::ZERO, 0, 0);
        let cpu = self.clock.now();
        let began = Instant::now();
        while done < total {
            watch.check()?;
            let count = self.batch.min(total - done);
            // Calls inside of a batch are too short to look at.
            let single = self.batch == 1;
            let current = next;
            let start = Instant::now();
            for _ in 0..count {
                let holds = self.holds.as_mut().filter(|_| single);
                operation(next, holds)?;
                next = if next + 1 == blocks.len() {
                    0
                } else {
                    next + 1
                };
            }
            let end = Instant::now();
            if single {
                let what = || describe(&blocks[current]);
                self.service.record_span_what(start, end, what);
            } else {
                self.service.record_batch(start, end, count as u64);
            }
            spans += end - start;
            done += count;
        }
        let wall = began.elapsed();
        let cpu = cpu.zip(self.clock.now()).map(|(from, to)| to - from);
        let content: usize = blocks.iter().map(|block| block.range.len()).sum();
        self.turn.add(Spent {
            content_bytes: (content * self.cycles) as u64,
            wall: spans,
            // What recording takes is not the operations': they get their share of the whole.
            cpu: cpu.map(|cpu| cpu.mul_f64(share(spans, wall))),
        });
        self.ops += total as u64;
        Ok(spans)
    }

    /// After a pass: sizes batches and passes by how long its operations took. Says whether one is
    /// long enough to be timed by itself.
    pub(crate) fn calibrate(&mut self, pass: Duration, blocks: usize, floor_ns: u64) -> bool {
        let ops = u32::try_from(blocks * self.cycles).unwrap_or(u32::MAX);
        let one = pass / ops.max(1);
        let floor = Duration::from_nanos(floor_ns.saturating_mul(FLOORS_MIN));
        self.batch = if one < floor { BATCH_OPS } else { 1 };
        let ops = PASS_MIN.as_nanos().div_ceil(one.as_nanos().max(1));
        let ops = usize::try_from(ops).unwrap_or(usize::MAX).max(self.batch);
        self.cycles = ops.div_ceil(blocks.max(1)).max(1);
        self.batch == 1
    }

    /// Forgets what was measured.
    pub(crate) fn reset(&mut self) {
        let (service, holds) = self.specs.clone();
        self.service = Recorder::new(service, self.run_start);
        self.holds = holds.map(|spec| Recorder::new(spec, self.run_start));
        self.turn = Spent::default();
        self.ops = 0;
    }

    /// Ends a turn: what it came to is one round.
    pub(crate) fn end_turn(&mut self) {
        let turn = std::mem::take(&mut self.turn);
        if turn.content_bytes == 0 {
            return;
        }
        let rate = |time: Duration| turn.content_bytes as f64 / time.as_secs_f64();
        self.wall.push(rate(turn.wall));
        self.cpu.extend(turn.cpu.map(rate));
    }
}

fn share(part: Duration, whole: Duration) -> f64 {
    match whole.is_zero() {
        true => 1.0,
        false => (part.as_secs_f64() / whole.as_secs_f64()).min(1.0),
    }
}

/// What takes turns.
pub(crate) trait Contender {
    /// Measures until at least `due` was spent in all; at least once.
    fn turn(&mut self, due: Duration) -> Result<(), Error>;
    /// What was spent so far.
    fn spent(&self) -> Duration;
    /// Whether it was measured at all.
    fn measured(&self) -> bool;
    /// Whether its answers were wrong, so that it is not worth a turn.
    fn out(&self) -> bool;
}

/// Lets all take turns until each has spent `time`, in an order drawn for each round.
pub(crate) fn rounds<C: Contender>(
    contenders: &mut [C],
    time: Duration,
    seed: u64,
    mut after_turn: impl FnMut(),
) -> Result<(), Error> {
    let mut order = Order::new(contenders.len(), seed);
    for round in 1..=ROUNDS {
        let due = time * round / ROUNDS;
        for index in order.draw() {
            let contender = &mut contenders[*index];
            let wanted = contender.spent() < due || !contender.measured();
            if wanted && !contender.out() {
                contender.turn(due)?;
            }
            after_turn();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency::LatencyName;

    struct Fake {
        cost: Duration,
        spent: Duration,
        turns: u32,
        out: bool,
    }

    impl Contender for Fake {
        fn turn(&mut self, due: Duration) -> Result<(), Error> {
            self.turns += 1;
            loop {
                self.spent += self.cost;
                if self.spent >= due {
                    return Ok(());
                }
            }
        }

        fn spent(&self) -> Duration {
            self.spent
        }

        fn measured(&self) -> bool {
            self.turns > 0
        }

        fn out(&self) -> bool {
            self.out
        }
    }

    #[test]
    fn the_slow_sit_rounds_out_and_everyone_is_measured_once() {
        let fake = |ms, out| Fake {
            cost: Duration::from_millis(ms),
            spent: Duration::ZERO,
            turns: 0,
            out,
        };
        let mut fakes = [
            fake(1, false),
            fake(30, false),
            fake(500, false),
            fake(1, true),
        ];
        let mut turns = 0;
        rounds(&mut fakes, Duration::from_millis(100), 1, || {
            turns += 1;
        })
        .expect("nothing fails");
        let took: Vec<u32> = fakes.iter().map(|fake| fake.turns).collect();
        assert_eq!(took, [10, 4, 1, 0]);
        assert_eq!(turns, 40);
        let mut quick = [fake(5, false)];
        rounds(&mut quick, Duration::ZERO, 1, || {}).expect("nothing fails");
        assert_eq!(quick[0].turns, 1);
    }

    #[test]
    fn short_operations_are_timed_in_batches_and_long_ones_by_themselves() {
        let spec = Spec::new(LatencyName::Service, "block");
        let mut lane = Lane::new(spec, None, Instant::now(), CpuClock::Thread);
        let blocks = [Block::test(0..10), Block::test(10..20)];
        assert!(!lane.calibrate(Duration::from_nanos(400), 2, 20));
        let mut ran = 0;
        lane.pass(
            (&blocks, &()),
            |_| String::new(),
            |_, holds| {
                assert!(holds.is_none());
                ran += 1;
                Ok(())
            },
        )
        .expect("a pass");
        assert_eq!((ran, lane.service.n(), lane.ops), (5_000, 5, 5_000));
        lane.end_turn();
        assert_eq!(lane.wall.len(), 1);
        lane.reset();
        assert!(lane.service.is_empty());
        assert!(lane.calibrate(Duration::from_millis(4), 2, 20));
        assert_eq!((lane.batch, lane.cycles), (1, 625));
    }
}
