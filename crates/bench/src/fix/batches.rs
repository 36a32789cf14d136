//! Batches of operations that are timed together, and rows of a table of them.

use std::time::Instant;

use fixcore::Isa;
use latency::compare::CONFIDENCE;
use latency::percentile::order_statistic_ranks;
use latency::report::{Cell, Table, Unit};
use report::units::duration;

use crate::fix::plan::Plan;
use crate::{Context, Error};

/// Messages that are measured together.
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) messages: Vec<Vec<u8>>,
}

impl Set {
    /// Of several messages, each as long as the others in the mean only.
    pub(crate) fn of(what: &str, messages: Vec<Vec<u8>>) -> Self {
        let bytes: usize = messages.iter().map(Vec::len).sum();
        Self {
            name: format!("{} {what} of {} B", messages.len(), bytes / messages.len()),
            messages,
        }
    }
}

pub(crate) struct Bench<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) context: Context<'a>,
    pub(crate) table: Table,
    /// The same as the table, with intervals.
    pub(crate) costs: Vec<Cost>,
    pub(crate) messages: u64,
}

/// What a message costs by an instruction set.
#[derive(Debug)]
pub(crate) struct Cost {
    pub(crate) of: String,
    pub(crate) message: String,
    pub(crate) isa: &'static str,
    pub(crate) median_ns: f64,
    /// The interval of the median, with enough batches.
    pub(crate) interval_ns: Option<[f64; 2]>,
}

impl Cost {
    /// Whether the intervals of both do not meet, and this is the lower one.
    pub(crate) fn is_below(&self, other: &Self) -> bool {
        match (self.interval_ns, other.interval_ns) {
            (Some([_, high]), Some([low, _])) => high < low,
            _ => false,
        }
    }

    /// `84 ns (95 % interval 83 ns to 86 ns)`.
    pub(crate) fn time(&self) -> String {
        let median = duration(self.median_ns);
        match self.interval_ns {
            Some([low, high]) => {
                let (low, high) = (duration(low), duration(high));
                format!("{median} (95 % interval {low} to {high})")
            }
            None => median,
        }
    }
}

impl<'a> Bench<'a> {
    pub(crate) fn new(plan: &'a Plan, context: Context<'a>) -> Self {
        let columns = [
            ("of", Unit::Text),
            ("message", Unit::Text),
            ("isa", Unit::Text),
            ("median_ns", Unit::Nanoseconds),
            ("min_ns", Unit::Nanoseconds),
            ("floor_ns", Unit::Nanoseconds),
        ];
        Self {
            plan,
            context,
            table: Table::new("nanoseconds a message, without the floor", &columns),
            costs: Vec::new(),
            messages: 0,
        }
    }

    /// Times a batch after the other of a set's messages, whatever they were made into, and adds a row.
    ///
    /// Each batch stands beside one of the same loop with nothing in it. The median of those is the
    /// floor, what the loop and the clock cost, and it is taken off.
    pub(crate) fn row<M>(
        &mut self,
        of: &str,
        set: &Set,
        isa: Isa,
        messages: &[M],
        mut run: impl FnMut(&M),
    ) -> Result<(), Error> {
        let size = self.plan.batch_size as usize;
        let (mut times, mut floors) = (Batches::new(), Batches::new());
        for batch in 0..=self.plan.batches {
            self.context.watch.check()?;
            // The first ones warm up.
            if batch == 1 {
                (times, floors) = (Batches::new(), Batches::new());
            }
            floors.time(size, || {
                each(messages, size, |message| {
                    std::hint::black_box(message);
                });
            });
            times.time(size, || each(messages, size, &mut run));
            self.messages += size as u64;
        }
        let floor_ns = floors.median().unwrap_or(0.0);
        times.take_off(floor_ns);
        let [median, least] = times.cells();
        self.costs.extend(times.median().map(|median_ns| Cost {
            of: of.to_owned(),
            message: set.name.clone(),
            isa: isa.name(),
            median_ns,
            interval_ns: times.interval(),
        }));
        self.table.rows.push(vec![
            of.into(),
            set.name.as_str().into(),
            isa.name().into(),
            median,
            least,
            floor_ns.into(),
        ]);
        Ok(())
    }
}

/// Passes `size` messages to `run`, starting over at the end of `messages`. The loop is the same for a
/// batch and for its floor, so that it cancels.
#[inline(always)]
fn each<M>(messages: &[M], size: usize, mut run: impl FnMut(&M)) {
    for message in messages.iter().cycle().take(size) {
        run(message);
    }
}

/// Nanoseconds an operation, of batches.
pub(crate) struct Batches {
    ns: Vec<f64>,
}

impl Batches {
    pub(crate) fn new() -> Self {
        Self { ns: Vec::new() }
    }

    /// Times a batch of this number of operations.
    pub(crate) fn time(&mut self, operations: usize, run: impl FnOnce()) {
        let start = Instant::now();
        run();
        let ns = start.elapsed().as_nanos() as f64;
        self.ns.push(ns / operations.max(1) as f64);
    }

    /// Takes what the same loop costs without its operations off every batch, down to nothing.
    fn take_off(&mut self, floor_ns: f64) {
        for ns in &mut self.ns {
            *ns = (*ns - floor_ns).max(0.0);
        }
    }

    fn median(&mut self) -> Option<f64> {
        self.ns.sort_by(f64::total_cmp);
        self.ns.get(self.ns.len() / 2).copied()
    }

    /// The interval of the median, where there are enough batches.
    fn interval(&mut self) -> Option<[f64; 2]> {
        self.ns.sort_by(f64::total_cmp);
        let ranks = order_statistic_ranks(self.ns.len() as u64, 50.0, CONFIDENCE);
        let at = |rank: u64| self.ns.get(usize::try_from(rank - 1).ok()?).copied();
        ranks.and_then(|(low, high)| Some([at(low)?, at(high)?]))
    }

    /// The median and the least, as cells.
    pub(crate) fn cells(&mut self) -> [Cell; 2] {
        let median = self.median();
        let least = self.ns.first().copied();
        [median, least].map(|ns| ns.map_or(Cell::Null, Cell::from))
    }
}

pub(crate) fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(format!("the benchmark failed: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_taken_off_every_batch_and_none_goes_below_nothing() {
        let mut batches = Batches {
            ns: vec![9.0, 3.0, 7.0, 1.5],
        };
        batches.take_off(2.0);
        assert_eq!(batches.median(), Some(5.0));
        assert_eq!(batches.ns, [0.0, 1.0, 5.0, 7.0]);
    }

    #[test]
    fn the_interval_of_a_median_needs_six_batches() {
        let mut batches = Batches {
            ns: (1..=5).rev().map(f64::from).collect(),
        };
        assert_eq!(batches.interval(), None);
        batches.ns.push(6.0);
        assert_eq!(batches.interval(), Some([1.0, 6.0]));
        batches.ns = (1..=31).map(f64::from).collect();
        let [low, high] = batches.interval().expect("enough");
        assert!(
            low > 5.0 && low < 16.0 && high > 16.0 && high < 27.0,
            "{low} {high}"
        );
    }

    #[test]
    fn a_loop_goes_round_its_messages() {
        let mut seen = Vec::new();
        each(&[1, 2, 3], 7, |message| seen.push(*message));
        assert_eq!(seen, [1, 2, 3, 1, 2, 3, 1]);
    }
}
