//! `perfkit fix-bench`: nanoseconds a message, by every instruction set, beside what was reached
//! before; every answer compared with that of plain code first.

use std::ffi::OsString;
use std::hint::black_box;
use std::time::Instant;

use fixcore::workload::Sample;
use fixcore::{Decimal, Decoder, Index, Isa, Scanner, Separators, Slot, Template};
use latency::report::{Cell, Table, Unit};

use super::checks::Checks;
use super::fix::{collect, forced, unavailable};
use crate::args::fix::{FixBenchArgs, FixBenchPart};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::session::{Outcome, Session, Setup};
use crate::term::signal;

/// Messages of a file that are kept.
const MESSAGES_MAX: usize = 4096;
/// The tags that a parse with look-ups asks for.
const LOOKUPS: [u32; 8] = [35, 49, 56, 34, 11, 55, 54, 38];

/// What a prototype reached on an EPYC of the fourth generation, in nanoseconds: a row for each
/// thing that is measured, a column for each of the four messages.
const REACHED: [(&str, [Option<f64>; 4]); 5] = [
    ("scan", [Some(6.8), Some(5.8), Some(7.1), Some(40.0)]),
    ("index", [None, Some(34.6), Some(43.1), Some(296.0)]),
    ("parse", [None, Some(38.0), Some(48.0), Some(303.0)]),
    ("parse, 8 gets", [None, Some(62.0), Some(70.0), Some(326.0)]),
    ("encode", [None, Some(25.0), None, None]),
];

/// Messages that are measured together.
struct Set {
    name: String,
    messages: Vec<Vec<u8>>,
    /// Which of the four it is.
    column: Option<usize>,
}

/// Runs the command.
pub(crate) fn run(
    args: &FixBenchArgs,
    name: &'static str,
    argv: &[OsString],
) -> Result<ExitStatus> {
    let session = Session::start(&Setup::analysis(name, argv, &args.output))?;
    let mut outcome = Outcome::new("fix-bench");
    let mut checks = Checks::default();
    let isas = match forced(args.isa)? {
        Some(isa) if !isa.is_available() => return Err(unavailable(isa)),
        Some(isa) => vec![isa],
        None => Isa::ALL
            .into_iter()
            .filter(|isa| isa.is_available())
            .collect(),
    };
    let sets = sets(args)?;
    for set in &sets {
        check(set, &mut checks)?;
    }
    let columns = [
        ("of", Unit::Text),
        ("message", Unit::Text),
        ("isa", Unit::Text),
        ("median_ns", Unit::Nanoseconds),
        ("min_ns", Unit::Nanoseconds),
        ("reach_ns", Unit::Nanoseconds),
    ];
    let mut bench = Bench {
        args,
        table: Table::new("nanoseconds a message", &columns),
        messages: 0,
    };
    for set in &sets {
        for isa in &isas {
            bench.set(set, *isa)?;
        }
    }
    if matches!(args.part, FixBenchPart::Encode | FixBenchPart::All) {
        bench.encode(&mut checks)?;
    }
    outcome.ops = Some(bench.messages);
    outcome.tables.push(bench.table);
    checks.conclude("every instruction set beside plain code", &mut outcome);
    session.finish(outcome)
}

fn sets(args: &FixBenchArgs) -> Result<Vec<Set>> {
    let Some(path) = &args.messages else {
        let four = Sample::ALL.into_iter().enumerate();
        return Ok(four
            .map(|(column, sample)| Set {
                name: format!("{} {} B", sample.name(), sample.bytes().len()),
                messages: vec![sample.bytes()],
                column: Some(column),
            })
            .collect());
    };
    let messages = collect(path, MESSAGES_MAX)?;
    if messages.is_empty() {
        let message = format!("there are no messages in '{}'", path.display());
        return Err(Failure::new(message));
    }
    let bytes: usize = messages.iter().map(Vec::len).sum();
    Ok(vec![Set {
        name: format!("{} of {} B", messages.len(), bytes / messages.len()),
        messages,
        column: None,
    }])
}

/// Every instruction set has to find what the scalar path finds.
fn check(set: &Set, checks: &mut Checks) -> Result<()> {
    let of = |isa| Scanner::with_isa(isa).zip(Decoder::with_isa(isa));
    let Some((plain, mut right)) = of(Isa::Scalar) else {
        return Ok(());
    };
    let (mut wanted, mut found) = (Separators::new(), Separators::new());
    for (scanner, mut decoder) in Isa::ALL.into_iter().filter_map(of) {
        for bytes in &set.messages {
            plain.separators(bytes, &mut wanted).map_err(failed)?;
            scanner.separators(bytes, &mut found).map_err(failed)?;
            checks.that(found.equals() == wanted.equals() && found.sum() == wanted.sum());
            scanner.positions(bytes, &mut found).map_err(failed)?;
            checks.that(found.soh() == wanted.soh());
            checks.that(match (right.parse(bytes), decoder.parse(bytes)) {
                (Ok(right), Ok(message)) => right.fields().eq(message.fields()),
                (right, message) => right.err() == message.err(),
            });
        }
    }
    Ok(())
}

struct Bench<'a> {
    args: &'a FixBenchArgs,
    table: Table,
    messages: u64,
}

impl Bench<'_> {
    fn set(&mut self, set: &Set, isa: Isa) -> Result<()> {
        let Some((scanner, mut decoder)) = Scanner::with_isa(isa).zip(Decoder::with_isa(isa))
        else {
            return Ok(());
        };
        if matches!(self.args.part, FixBenchPart::Scan | FixBenchPart::All) {
            let (mut separators, mut index) = (Separators::new(), Index::new());
            self.row("scan", set, isa, |bytes| {
                let _ = scanner.positions(black_box(bytes), &mut separators);
                black_box(separators.soh());
            })?;
            self.row("index", set, isa, |bytes| {
                let _ = scanner.index(black_box(bytes), &mut index);
                black_box(index.tags());
            })?;
        }
        if matches!(self.args.part, FixBenchPart::Parse | FixBenchPart::All) {
            self.row("parse", set, isa, |bytes| {
                black_box(decoder.parse(black_box(bytes)).is_ok());
            })?;
            self.row("parse, 8 gets", set, isa, |bytes| {
                if let Ok(message) = decoder.parse(black_box(bytes)) {
                    for tag in LOOKUPS {
                        black_box(message.get(tag));
                    }
                }
            })?;
        }
        Ok(())
    }

    fn row(&mut self, of: &str, set: &Set, isa: Isa, mut run: impl FnMut(&[u8])) -> Result<()> {
        let size = self.args.batch_size as usize;
        let mut times = Vec::new();
        for batch in 0..=self.args.batches {
            if signal::interrupted() {
                return Err(Failure::new("interrupted").status(ExitStatus::Interrupted));
            }
            let start = Instant::now();
            for bytes in set.messages.iter().cycle().take(size) {
                run(bytes);
            }
            let ns = start.elapsed().as_nanos() as f64 / size as f64;
            // The first one warms up.
            if batch > 0 {
                times.push(ns);
            }
            self.messages += size as u64;
        }
        times.sort_by(f64::total_cmp);
        let reached = REACHED.iter().find(|row| row.0 == of);
        let reached = reached
            .zip(set.column)
            .and_then(|(row, column)| row.1[column]);
        self.table.rows.push(vec![
            of.into(),
            set.name.as_str().into(),
            isa.name().into(),
            times[times.len() / 2].into(),
            times[0].into(),
            reached.map_or(Cell::Null, Cell::from),
        ]);
        Ok(())
    }

    /// A new order by a template, which has to be the sample.
    fn encode(&mut self, checks: &mut Checks) -> Result<()> {
        let time = b"20260305-14:15:16.789";
        let price = Decimal {
            mantissa: 41_275,
            scale: 2,
        };
        let mut template = new_order();
        let values = [
            Slot::Unsigned(31_415),
            Slot::Bytes(time),
            Slot::Bytes(b"ORD00000271828"),
            Slot::Bytes(b"MSFT"),
            Slot::Bytes(time),
            Slot::Unsigned(2500),
            Slot::Decimal(price),
        ];
        let order = Sample::NewOrder.bytes();
        checks.that(template.encode(&values).is_ok_and(|bytes| bytes == order));
        let set = Set {
            name: format!("nos {} B", order.len()),
            messages: vec![order],
            column: Some(1),
        };
        self.row("encode", &set, Isa::detect(), |_| {
            black_box(template.encode(black_box(&values)).is_ok());
        })
    }
}

fn new_order() -> Template {
    Template::builder("FIX.4.4", "D")
        .constant(49, b"ALPHADESK")
        .constant(56, b"MARKET01")
        .slot(34)
        .slot(52)
        .slot(11)
        .constant(1, b"FUND-0071")
        .constant(21, b"1")
        .slot(55)
        .constant(54, b"1")
        .slot(60)
        .slot(38)
        .constant(40, b"2")
        .slot(44)
        .constant(59, b"0")
        .constant(207, b"XNYS")
        .build()
}

fn failed(error: fixcore::Error) -> Failure {
    Failure::new(format!("the benchmark failed: {error}"))
}
