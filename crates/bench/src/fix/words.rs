//! What the parts of the benchmark came to, in a sentence each. The numbers are those of the tables; two ways that
//! took turns are told apart by their comparison, everything else only by intervals that do not meet.

use latency::report::{Cell, Table};
use report::units::{count, duration};
use report::{Outcome, verdicts};

use crate::fix::batches::Cost;

/// The operations that say most of a codec, the first that was measured.
const CODEC: [&str; 3] = ["parse", "index", "scan"];

/// The sample that is spoken of, where it was measured: a new order.
const ORDER: &str = "nos ";

/// What a table comes to, if it has the rows that are spoken of.
type Said = fn(&Table) -> Option<String>;

/// The sentences, in the order in which parts are measured.
pub(super) fn findings(costs: &[Cost], outcome: &Outcome) -> Vec<String> {
    let mut findings: Vec<String> = codec(costs).into_iter().chain(encode(costs)).collect();
    let parts: [(&str, Said); 3] = [
        ("store, ", store),
        ("queue, ", queue),
        ("work at once and deferred, ", deferred),
    ];
    for (name, said) in parts {
        let table = outcome
            .tables
            .iter()
            .find(|table| table.name.starts_with(name));
        findings.extend(table.and_then(said));
    }
    findings.extend(verdicts::findings(&outcome.comparisons));
    findings
}

/// The instruction sets on one message: the fastest, those that it is not told from, and the slowest.
fn codec(costs: &[Cost]) -> Option<String> {
    let of = CODEC
        .into_iter()
        .find(|of| costs.iter().any(|cost| cost.of == *of))?;
    let mut measured = costs.iter().filter(|cost| cost.of == of);
    let order = measured
        .clone()
        .find(|cost| cost.message.starts_with(ORDER));
    let first = order.or_else(|| measured.next())?;
    let alike = costs
        .iter()
        .filter(|cost| cost.of == of && cost.message == first.message);
    let mut alike: Vec<&Cost> = alike.collect();
    alike.sort_by(|a, b| a.median_ns.total_cmp(&b.median_ns));
    let (fastest, others) = alike.split_first()?;
    let (equal, slower): (Vec<&Cost>, Vec<&Cost>) = others
        .iter()
        .copied()
        .partition(|other| !fastest.is_below(other));
    let mut said = format!(
        "{of}: {} takes {} by {}",
        fastest.message,
        fastest.time(),
        fastest.isa
    );
    if !equal.is_empty() {
        let equal: Vec<&str> = equal.iter().map(|cost| cost.isa).collect();
        said += &format!("; not told apart from it: {}", equal.join(", "));
    }
    if let Some(slowest) = slower.last() {
        said += &format!("; slowest by {}, {}", slowest.isa, slowest.time());
    }
    Some(said + ".")
}

fn encode(costs: &[Cost]) -> Option<String> {
    let cost = costs.iter().find(|cost| cost.of == "encode")?;
    Some(format!(
        "encode: {} takes {} by its template.",
        cost.message,
        cost.time()
    ))
}

/// Kept by, messages, append, its least, get, get at random.
fn store(table: &Table) -> Option<String> {
    let of = |name| last(table, name);
    let (store, map) = (of("store")?, of("std map, copies")?);
    Some(format!(
        "store: of {} messages on disk, one is appended in {} and read in {} (medians); a map in memory that copies \
         takes {} and {}.",
        count(number(store, 1)? as u64),
        duration(number(store, 2)?),
        duration(number(store, 4)?),
        duration(number(map, 2)?),
        duration(number(map, 4)?),
    ))
}

/// By, bytes, push, its least, take, its least.
fn queue(table: &Table) -> Option<String> {
    let of = |name| last(table, name);
    let (ours, channel) = (of("descriptors and bytes")?, of("std channel of copies")?);
    Some(format!(
        "queue: a message of {} bytes is put in in {} and taken out in {} (medians); by a channel of the standard \
         library in {} and {}.",
        count(number(ours, 1)? as u64),
        duration(number(ours, 2)?),
        duration(number(ours, 4)?),
        duration(number(channel, 2)?),
        duration(number(channel, 4)?),
    ))
}

/// Of, median, least.
fn deferred(table: &Table) -> Option<String> {
    let (inline, submit) = (last(table, "at once")?, last(table, "submit")?);
    Some(format!(
        "deferred: handing a message over takes {}, doing its work at once {} (medians).",
        duration(number(submit, 1)?),
        duration(number(inline, 1)?),
    ))
}

/// The last row of this name: that of the largest size.
fn last<'t>(table: &'t Table, name: &str) -> Option<&'t [Cell]> {
    let is_wanted = |row: &&Vec<Cell>| row.first() == Some(&Cell::Text(name.to_owned()));
    table.rows.iter().rev().find(is_wanted).map(Vec::as_slice)
}

fn number(row: &[Cell], column: usize) -> Option<f64> {
    match row.get(column)? {
        Cell::Integer(value) => Some(*value as f64),
        Cell::Number(value) => Some(*value),
        Cell::Null | Cell::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(of: &'static str, isa: &'static str, median_ns: f64, ends: Option<[f64; 2]>) -> Cost {
        Cost {
            of: of.to_owned(),
            message: "nos 197 B".to_owned(),
            isa,
            median_ns,
            interval_ns: ends,
        }
    }

    #[test]
    fn instruction_sets_are_told_apart_only_by_intervals_that_do_not_meet() {
        let costs = [
            cost("scan", "scalar", 90.0, Some([80.0, 99.0])),
            cost("parse", "scalar", 300.0, Some([290.0, 310.0])),
            cost("parse", "avx2", 100.0, Some([95.0, 104.0])),
            cost("parse", "avx512", 98.0, Some([96.0, 101.0])),
            cost("parse", "sse", 250.0, None),
        ];
        assert_eq!(
            codec(&costs).as_deref(),
            Some(
                "parse: nos 197 B takes 98 ns (95 % interval 96 ns to 101 ns) by avx512; not told apart from it: \
                 avx2, sse; slowest by scalar, 300 ns (95 % interval 290 ns to 310 ns)."
            )
        );
        let one = [cost("scan", "scalar", 90.0, None)];
        assert_eq!(
            codec(&one).as_deref(),
            Some("scan: nos 197 B takes 90 ns by scalar.")
        );
        assert_eq!((codec(&[]), encode(&[])), (None, None));
    }

    #[test]
    fn a_table_without_the_rows_says_nothing() {
        let mut table = Table::new("work at once and deferred, nanoseconds a message", &[]);
        assert_eq!(deferred(&table), None);
        for (name, ns) in [("at once", 150.0), ("submit", 30.0)] {
            table.rows.push(vec![name.into(), ns.into(), ns.into()]);
        }
        assert_eq!(
            deferred(&table).as_deref(),
            Some(
                "deferred: handing a message over takes 30 ns, doing its work at once 150 ns (medians)."
            )
        );
        table.rows[1][1] = Cell::Null;
        assert_eq!(deferred(&table), None);
        assert_eq!((store(&table), queue(&table)), (None, None));
    }
}
