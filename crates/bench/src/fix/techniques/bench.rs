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
pub(super) const COLUMNS: [(&str, Unit); 8] = [
    ("technique", Unit::Text),
    ("off_ns", Unit::Nanoseconds),
    ("on_ns", Unit::Nanoseconds),
    ("change", Unit::Share),
    ("off_p99_ns", Unit::Nanoseconds),
    ("on_p99_ns", Unit::Nanoseconds),
    ("off", Unit::Text),
    ("on", Unit::Text),
];

/// Columns of the components.
pub(super) const COMPONENTS: [(&str, Unit); 5] = [
    ("component", Unit::Text),
    ("mean_ns", Unit::Nanoseconds),
    ("median_ns", Unit::Nanoseconds),
    ("p99_ns", Unit::Nanoseconds),
    ("per_s", Unit::PerSecond),
];

/// What each technique is measured by.
pub(super) const MEASURED: [(&str, &str); 6] = [
    (
        "flags of io_uring",
        "a word is written to an eventfd, then read back, each handed over and waited for by itself",
    ),
    (
        "vector scanner",
        "where the fields of a new order of 197 bytes end is found and kept",
    ),
    (
        "Swiss table",
        "10,000 entries by a number of 32 bits are looked up in random order, with the same hash",
    ),
    (
        "array by number",
        "the same look-ups against the store of fixcore, whose index is an array: a whole message found",
    ),
    (
        "pinned thread",
        "the vector scanner on a thread of its own, which may run anywhere or on one processor only",
    ),
    (
        "deferred work",
        "what a message costs the thread that has it: decoded and copied there, or handed to a thread that does",
    ),
];

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
    /// Operations of a turn.
    pub(super) fn ops(&self) -> usize {
        self.plan.batch_size as usize
    }

    /// Measures a technique off and on, and adds its row.
    pub(super) fn technique(
        &mut self,
        at: usize,
        called: Called<'_>,
        turns: (Turn<'_>, Turn<'_>),
    ) -> Result<Pair, Error> {
        let pair = sides::measure(self.context, self.plan.batches, called, turns, self.outcome)?;
        self.row(at, called, &pair);
        Ok(pair)
    }

    fn row(&mut self, at: usize, called: Called<'_>, pair: &Pair) {
        self.table.rows.push(vec![
            MEASURED[at].0.into(),
            pair.base_ns.into(),
            pair.target_ns.into(),
            (pair.target_ns / pair.base_ns - 1.0).into(),
            sides::percentile(&pair.base, 99.0),
            sides::percentile(&pair.target, 99.0),
            called.base.into(),
            called.target.into(),
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
        if fixcore::io::measure::Requests::open(Setup::Deferred).is_err() {
            let mut row = vec![MEASURED[0].0.into()];
            row.extend(std::iter::repeat_n(Cell::Null, COLUMNS.len() - 2));
            row.push("the system refuses io_uring".into());
            self.table.rows.push(row);
            return Ok(());
        }
        let pair =
            crate::fix::transport::flags(self.plan, self.context, self.outcome, self.checks)?;
        self.row(0, called, &pair);
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
            &mut |recorder| Ok(scans(recorder, ops, &order, &mut plain)),
            &mut |recorder| Ok(scans(recorder, ops, &order, &mut vector)),
        );
        let pair = self.technique(1, called, turns)?;
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
            &mut |recorder| on_thread(None, ops, recorder),
            &mut |recorder| on_thread(Some(cpu), ops, recorder),
        );
        self.technique(4, called, turns).map(drop)
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
