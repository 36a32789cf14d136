//! What the tour says of each component, in sentences. The numbers are those of its tables.

use latency::report::{Cell, Comparison, LatencyName, Table};
use report::Outcome;
use report::units::{bytes, count, duration, percent, rate};

/// What may run on the thread of an event loop without being noticed.
const UNNOTICED_NS: u64 = 1_000_000;

/// The row of a table whose cells begin with these.
fn row<'a>(table: &'a Table, begins: &[Cell]) -> Option<&'a [Cell]> {
    let rows = table.rows.iter().map(Vec::as_slice);
    rows.into_iter().find(|row| row.starts_with(begins))
}

/// A number of a row.
fn number(row: &[Cell], column: usize) -> Option<f64> {
    match row.get(column)? {
        Cell::Integer(value) => Some(*value as f64),
        Cell::Number(value) => Some(*value),
        Cell::Null | Cell::Text(_) => None,
    }
}

/// Of the table of zstd: data, level, size, ratio, compression, decompression.
pub(super) fn zstd(table: &Table) -> Option<String> {
    let of = |level: i64, column| {
        let row = row(table, &["json".into(), Cell::Integer(level)])?;
        number(row, column)
    };
    let uuid = row(table, &["uuid".into(), Cell::Integer(3)])?;
    let slower = of(1, 4)? / of(19, 4)?;
    Some(format!(
        "zstd: level 3 makes JSON {:.1} times smaller at {}, and reads it back at {}; text of \
         random UUIDs only {:.1} times. Level 19 takes {slower:.0} times as long as level 1: \
         `perfkit compress-bench` shows what it saves on your data.",
        of(3, 3)?,
        rate(of(3, 4)?),
        rate(of(3, 5)?),
        number(uuid, 3)?,
    ))
}

/// Of the comparison of a fresh context with a reused one.
pub(super) fn contexts(found: &Comparison) -> Option<String> {
    let difference = found.difference.as_ref()?;
    Some(match difference.median_ci95 {
        Some([_, high]) if high < 0.0 => format!(
            "contexts: small messages take {} less time with one reused context than with a fresh one each: \
             keep contexts.",
            percent(-difference.median)
        ),
        _ => "contexts: a fresh context for each small message cost nothing that shows here."
            .to_owned(),
    })
}

/// Of the ranking of codecs and pools: rank, codec, pool, verdict, ratio, speed.
pub(super) fn codecs(table: &Table) -> Option<String> {
    let text = |row: &[Cell], column: usize| match row.get(column) {
        Some(Cell::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let first = table.rows.iter().find(|row| row[0] == Cell::Integer(1))?;
    let leaks = table.rows.iter().filter(|row| text(row, 3) == "leaks");
    let leaks: Vec<String> = leaks.map(|row| text(row, 2)).collect();
    let unranked = table
        .rows
        .iter()
        .filter(|row| text(row, 3).contains("ratio"));
    let mut unranked: Vec<String> = unranked.map(|row| text(row, 1)).collect();
    unranked.dedup();
    let mut said = format!(
        "codecs: {} in the {} pool does most for a CPU-second ({}, ratio {:.2})",
        text(first, 1),
        text(first, 2),
        bytes(number(first, 5).or(number(first, 7))?),
        number(first, 4)?,
    );
    if !unranked.is_empty() {
        let are = match unranked.len() {
            1 => "is not ranked: its ratio is",
            _ => "are not ranked: their ratios are",
        };
        said += &format!("; {} {are} below 1.1", unranked.join(" and "));
    }
    match leaks.as_slice() {
        [] => {}
        [one] => said += &format!(". The pool that was built to leak ({one}) was found out"),
        several => said += &format!(". LEAKS: {}", several.join(", ")),
    }
    Some(said + ".")
}

/// Of the table of ZIP: method, entries, size, ratio, packing, reading.
pub(super) fn zip(table: &Table) -> Option<String> {
    let deflate = row(table, &["deflate".into()])?;
    let zstd = row(table, &["zstd".into()])?;
    Some(format!(
        "zip: {} entries packed with deflate at {} (ratio {:.2}), with zstd at {} ({:.2}); two threads made the \
         same bytes as one.",
        count(number(deflate, 1)? as u64),
        rate(number(deflate, 4)?),
        number(deflate, 3)?,
        rate(number(zstd, 4)?),
        number(zstd, 3)?,
    ))
}

/// Of the table of betree: expressions, count, build, search, matches.
pub(super) fn betree(table: &Table) -> Option<String> {
    let ads = row(table, &["advertisements".into()])?;
    Some(format!(
        "betree: an event is matched against {} advertisements in {} (median); their index is \
         built in {}.",
        count(number(ads, 1)? as u64),
        duration(number(ads, 3)?),
        duration(number(ads, 2)?),
    ))
}

/// Of the table of FIX: messages, count, bytes, parse, validate.
pub(super) fn fix(table: &Table) -> Option<String> {
    let all = table.rows.last()?;
    let Some(Cell::Text(name)) = all.first() else {
        return None;
    };
    Some(format!(
        "fix: messages of {name} are parsed in {} each and validated against the dictionary in {}.",
        duration(number(all, 3)?),
        duration(number(all, 4)?),
    ))
}

/// Of the table of the store: messages, segments, append, get, verify, open.
pub(super) fn store(table: &Table) -> Option<String> {
    let only = table.rows.first()?;
    Some(format!(
        "store: a message is appended in {} and read in {}; {} were opened again in {}, and one that was changed \
         on disk was refused.",
        duration(number(only, 2)?),
        duration(number(only, 3)?),
        count(number(only, 0)? as u64),
        duration(number(only, 5)?),
    ))
}

/// What holds its thread for how long (99 times in 100), and what that means: the first thing to know.
pub(super) fn promise(outcome: &mut Outcome) {
    let holds = outcome.latencies.iter();
    let mut holds: Vec<(u64, String)> = holds
        .filter(|row| row.name == LatencyName::Hold)
        .filter_map(|row| {
            let ns = row.percentile(99.0).or(row.max_ns)?;
            Some((ns, row.series.clone()?))
        })
        .collect();
    holds.sort_by_key(|(ns, _)| *ns);
    let named = |(ns, name): &(u64, String)| {
        let name = name.split(',').next().unwrap_or(name);
        format!("{name} ({})", duration(*ns as f64))
    };
    let (short, long): (Vec<_>, Vec<_>) = holds.iter().partition(|(ns, _)| *ns <= UNNOTICED_NS);
    let list =
        |holds: Vec<&(u64, String)>| -> Vec<String> { holds.into_iter().map(named).collect() };
    let (short, long) = (list(short), list(long));
    let mut said = match short.is_empty() {
        false => format!(
            "hold: 99 of 100 calls end within 1 ms: {}",
            short.join(", ")
        ),
        true => "hold: no kind of call ends within 1 ms 99 times in 100".to_owned(),
    };
    if !long.is_empty() {
        said += &format!(
            ". Longer take {}: call these on another thread, or see `perfkit advise`",
            long.join(", ")
        );
    }
    outcome.findings.insert(0, said + ".");
}
