//! What the techniques are measured with, and those that are measured in a few lines.

use fixcore::workload::Sample;
use fixcore::{Isa, Scanner, Separators};
use latency::Recorder;
use latency::report::{Cell, Latency, Table, Unit};

use crate::fix::plan::Plan;
use crate::fix::sides::{self, Called, Pair, Turn};
use crate::{Checks, Context, Error};
use report::Outcome;

/// Columns of the techniques.
pub(super) const COLUMNS: [(&str, Unit); 9] = [
    ("technique", Unit::Text),
    ("off_ns", Unit::Nanoseconds),
    ("on_ns", Unit::Nanoseconds),
    ("change", Unit::Share),
    ("off_p99_ns", Unit::Nanoseconds),
    ("on_p99_ns", Unit::Nanoseconds),
    ("off", Unit::Text),
    ("on", Unit::Text),
    ("p99_of", Unit::Text),
];

/// Columns of the components.
pub(super) const COMPONENTS: [(&str, Unit); 5] = [
    ("component", Unit::Text),
    ("mean_ns", Unit::Nanoseconds),
    ("median_ns", Unit::Nanoseconds),
    ("p99_ns", Unit::Nanoseconds),
    ("per_s", Unit::PerSecond),
];

/// A technique: its name, and what it is measured by.
pub(super) type Technique = (&'static str, &'static str);

pub(super) const FLAGS: Technique = (
    "flags of io_uring",
    "a word is written to an eventfd, then read back, each handed over and waited for by itself",
);
pub(super) const SCANNER: Technique = (
    "vector scanner",
    "where the fields of a new order of 197 bytes end is found and kept",
);
pub(super) const SWISS: Technique = (
    "Swiss table",
    "10,000 entries by a number of 32 bits are looked up in random order, with the same hash",
);
pub(super) const ARRAY: Technique = (
    "array by number",
    "the same look-ups against the store of fixcore, whose index is an array: a whole message found",
);
pub(super) const PINNED: Technique = (
    "pinned thread",
    "the vector scanner on a thread of its own, which may run anywhere or on one processor only",
);
pub(super) const DEFERRED: Technique = (
    "deferred work",
    "what a message costs the thread that has it: decoded and copied there, or handed to a thread that does",
);
pub(super) const PRODUCERS: Technique = (
    "queue of many producers",
    "two threads push orders at the same time and one reads: what a push costs one of them, with a queue behind a \
     lock, or with a ring for each of them",
);
pub(super) const POLLED: Technique = (
    "SQPOLL",
    "a round trip of an order over TCP from a plain loop; the server's ring is entered by calls, or a thread of the \
     kernel polls for its requests",
);
pub(super) const REGISTERED: Technique = (
    "registered buffers",
    "a round trip of a message of 4,000 bytes over TCP from a plain loop; the server's ring sends copies, or from \
     memory that the kernel knows",
);
pub(super) const MULTISHOT: Technique = (
    "multishot receive",
    "a round trip of an order over TCP from a plain loop; the server's ring has a request for each receive, or one \
     for all",
);
pub(super) const HUGE: Technique = (
    "huge pages",
    "an order is copied to a random buffer of a pool of 64 MiB, in pages of 4 KiB or of 2 MiB",
);
pub(super) const LOCKED_POOL: Technique = (
    "locked pool",
    "an order is copied to each page of a new pool of 4 MiB, which gets its pages then, or got them when it was locked",
);
pub(super) const LOCKED_STORE: Technique = (
    "locked store",
    "an order is appended to a new store, whose segments get their pages then, or got them when they were locked",
);

/// All of them, in the order of the table.
pub(super) const ALL: [Technique; 13] = [
    FLAGS,
    POLLED,
    REGISTERED,
    MULTISHOT,
    SCANNER,
    SWISS,
    ARRAY,
    PINNED,
    HUGE,
    LOCKED_POOL,
    LOCKED_STORE,
    DEFERRED,
    PRODUCERS,
];

/// What the percentiles of a row are of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Samples {
    /// Each operation by itself.
    Single,
    /// Operations too short for the clock.
    Means,
}

impl Samples {
    fn name(self) -> &'static str {
        match self {
            Self::Single => "operations",
            Self::Means => "means of 100 operations",
        }
    }
}

/// How many operations a turn has: the first two of a row, one of each side, warm up.
#[derive(Debug)]
pub(super) struct Ops {
    warm: usize,
    turn: usize,
    turns: std::cell::Cell<u32>,
}

impl Ops {
    pub(super) fn of(plan: &Plan) -> Self {
        Self {
            warm: plan.warm_up.unwrap_or(plan.batch_size) as usize,
            turn: plan.batch_size as usize,
            turns: std::cell::Cell::new(0),
        }
    }

    /// The operations of the next turn of a row.
    pub(super) fn next(&self) -> usize {
        let turns = self.turns.replace(self.turns.get().saturating_add(1));
        match turns {
            0 | 1 => self.warm,
            _ => self.turn,
        }
    }
}

/// What the techniques are measured with.
pub(super) struct Bench<'a> {
    pub(super) plan: &'a Plan,
    pub(super) context: Context<'a>,
    pub(super) outcome: &'a mut Outcome,
    pub(super) checks: &'a mut Checks,
    pub(super) table: Table,
    pub(super) components: Table,
}

impl Bench<'_> {
    /// Operations of the turns of one row.
    pub(super) fn ops(&self) -> Ops {
        Ops::of(self.plan)
    }

    /// Measures a technique off and on, and adds its row.
    pub(super) fn technique(
        &mut self,
        technique: Technique,
        samples: Samples,
        called: Called<'_>,
        turns: (Turn<'_>, Turn<'_>),
    ) -> Result<Pair, Error> {
        let pair = sides::measure(self.context, self.plan.batches, called, turns, self.outcome)?;
        self.row(technique, samples, called, &pair);
        Ok(pair)
    }

    /// Adds the row of a technique that this system, or this process, may not use.
    pub(super) fn refused(&mut self, technique: Technique, why: &str) {
        let mut row = vec![technique.0.into()];
        row.extend(std::iter::repeat_n(Cell::Null, COLUMNS.len() - 3));
        row.push(format!("refused: {why}").into());
        row.push(Cell::Null);
        self.table.rows.push(row);
    }

    fn row(&mut self, technique: Technique, samples: Samples, called: Called<'_>, pair: &Pair) {
        self.table.rows.push(vec![
            technique.0.into(),
            pair.base_ns.into(),
            pair.target_ns.into(),
            (pair.target_ns / pair.base_ns - 1.0).into(),
            sides::percentile(&pair.base, 99.0),
            sides::percentile(&pair.target, 99.0),
            called.base.into(),
            called.target.into(),
            samples.name().into(),
        ]);
    }

    pub(super) fn component(&mut self, name: &str, row: &Latency) {
        let mean = row.mean_ns.unwrap_or(f64::NAN);
        self.components.rows.push(vec![
            name.into(),
            mean.into(),
            sides::percentile(row, 50.0),
            sides::percentile(row, 99.0),
            (1e9 / mean).into(),
        ]);
    }

    #[cfg(target_os = "linux")]
    pub(super) fn flags(&mut self) -> Result<(), Error> {
        use fixcore::io::Setup;
        let called = Called {
            operation: "a word through an eventfd",
            base: Setup::Plain.name(),
            target: Setup::Deferred.name(),
        };
        // Where there is no ring with flags, there is nothing to be off or on.
        if let Err(error) = fixcore::io::measure::Requests::open(Setup::Deferred) {
            self.refused(FLAGS, &format!("io_uring with these flags: {error}"));
            return Ok(());
        }
        let ops = self.ops();
        let (context, rounds) = (self.context, self.plan.batches);
        let pair = crate::fix::transport::flags(
            &|| ops.next(),
            rounds,
            context,
            self.outcome,
            self.checks,
        )?;
        self.row(FLAGS, Samples::Means, called, &pair);
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unnecessary_wraps, reason = "as where there are rings")]
    pub(super) fn flags(&mut self) -> Result<(), Error> {
        Ok(())
    }

    pub(super) fn scanner(&mut self) -> Result<(), Error> {
        let isa = Isa::detect();
        let [mut plain, mut vector] = [scan(Isa::Scalar)?, scan(isa)?];
        let order = Sample::NewOrder.bytes();
        self.checks.that(plain(&order) == vector(&order));
        let ops = self.ops();
        let called = Called {
            operation: "scan",
            base: Isa::Scalar.name(),
            target: isa.name(),
        };
        let turns: (Turn<'_>, Turn<'_>) = (
            &mut |recorder| Ok(scans(recorder, ops.next(), &order, &mut plain)),
            &mut |recorder| Ok(scans(recorder, ops.next(), &order, &mut vector)),
        );
        let pair = self.technique(SCANNER, Samples::Means, called, turns)?;
        self.component("scanner, 197 bytes", &pair.target);
        Ok(())
    }

    pub(super) fn pinning(&mut self) -> Result<(), Error> {
        let cpu = self.plan.cpus.first().copied();
        let Some(cpu) = cpu.or_else(|| latency::pin::available().last().copied()) else {
            return Ok(());
        };
        let target = format!("processor {cpu}");
        let called = Called {
            operation: "scan on a thread",
            base: "anywhere",
            target: &target,
        };
        let ops = self.ops();
        let turns: (Turn<'_>, Turn<'_>) = (
            &mut |recorder| on_thread(None, ops.next(), recorder),
            &mut |recorder| on_thread(Some(cpu), ops.next(), recorder),
        );
        self.technique(PINNED, Samples::Means, called, turns)
            .map(drop)
    }
}

/// A scan by an instruction set: how many fields there are.
fn scan(isa: Isa) -> Result<impl FnMut(&[u8]) -> usize, Error> {
    let scanner = Scanner::with_isa(isa);
    let scanner = scanner.ok_or_else(|| Error::new("this CPU has no vector scanner"))?;
    let mut separators = Separators::new();
    Ok(move |bytes: &[u8]| {
        let _ = scanner.positions(std::hint::black_box(bytes), &mut separators);
        std::hint::black_box(separators.soh()).len()
    })
}

fn scans(
    recorder: &mut Recorder,
    ops: usize,
    message: &[u8],
    scan: &mut impl FnMut(&[u8]) -> usize,
) -> f64 {
    sides::spans(recorder, ops, |_| {
        std::hint::black_box(scan(message));
    })
}

fn on_thread(cpu: Option<u32>, ops: usize, recorder: &mut Recorder) -> Result<f64, Error> {
    let order = Sample::NewOrder.bytes();
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if let Some(cpu) = cpu {
                let pinned = latency::pin::pin(&[cpu]);
                pinned.map_err(|error| Error::new(format!("cannot pin a thread: {error}")))?;
            }
            let mut scan = scan(Isa::detect())?;
            Ok(scans(recorder, ops, &order, &mut scan))
        });
        let joined = thread.join();
        joined.map_err(|_| Error::new("a thread of the benchmark failed"))?
    })
}
