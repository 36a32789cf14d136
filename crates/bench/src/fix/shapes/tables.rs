//! Tables of what was found.

use latency::compare;
use latency::report::{Cell, Table, Unit};

use super::{Cliff, Row};

/// One row per shape, operation and instruction set, the worst ratio against the first rival first.
#[must_use]
pub fn shapes(rows: &[Row], rivals: &[&str]) -> Table {
    let mut columns = vec![
        ("shape".to_owned(), Unit::Text),
        ("of".to_owned(), Unit::Text),
        ("isa".to_owned(), Unit::Text),
        ("fields".to_owned(), Unit::Count),
        ("message_bytes".to_owned(), Unit::Bytes),
        ("fixcore_ns".to_owned(), Unit::Nanoseconds),
    ];
    for rival in rivals {
        columns.push((format!("{rival}_ns"), Unit::Nanoseconds));
    }
    columns.push(("ratio".to_owned(), Unit::Ratio));
    columns.push(("control".to_owned(), Unit::Ratio));
    let columns: Vec<(&str, Unit)> = columns.iter().map(|(key, unit)| (&**key, *unit)).collect();
    let mut table = Table::new("shapes", &columns);
    let mut order: Vec<&Row> = rows.iter().collect();
    let ratio = |row: &Row| row.ratio.unwrap_or(0.0);
    order.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    table.rows = order.into_iter().map(cells).collect();
    table
}

fn cells(row: &Row) -> Vec<Cell> {
    let mut out: Vec<Cell> = vec![
        row.shape.clone().into(),
        row.operation.name().into(),
        row.isa.name().into(),
        (row.fields.round() as u64).into(),
        (row.bytes.round() as u64).into(),
        row.fixcore_ns.into(),
    ];
    out.extend(row.rivals_ns.iter().map(|ns| Cell::from(*ns)));
    out.push(row.ratio.into());
    out.push(row.control.into());
    out
}

/// One row per instruction set and operation: how many shapes there were, and how fixcore did in the median and at
/// worst.
#[must_use]
pub fn sets(rows: &[Row]) -> Table {
    let columns = [
        ("isa", Unit::Text),
        ("of", Unit::Text),
        ("shapes", Unit::Count),
        ("slower_than_naive", Unit::Count),
        ("ratio_p50", Unit::Ratio),
        ("ratio_max", Unit::Ratio),
        ("slowest", Unit::Text),
    ];
    let mut table = Table::new("instruction sets", &columns);
    let mut keys: Vec<_> = rows.iter().map(|row| (row.isa, row.operation)).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let of_key = rows.iter().filter(|row| (row.isa, row.operation) == key);
        let mut ratios: Vec<(f64, &str)> = of_key
            .clone()
            .filter_map(|row| Some((row.ratio?, &*row.shape)))
            .collect();
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all: Vec<f64> = ratios.iter().map(|(ratio, _)| *ratio).collect();
        let slower = all.iter().filter(|ratio| **ratio > 1.0).count();
        table.rows.push(vec![
            key.0.name().into(),
            key.1.name().into(),
            (of_key.count() as u64).into(),
            (slower as u64).into(),
            compare::median(&all).into(),
            all.last().copied().into(),
            ratios.last().map(|(_, name)| *name).into(),
        ]);
    }
    table
}

/// Neighbours of sweeps, the farthest apart first.
#[must_use]
pub fn neighbours(cliffs: &[Cliff]) -> Table {
    let columns = [
        ("neighbours", Unit::Text),
        ("of", Unit::Text),
        ("isa", Unit::Text),
        ("first_ns", Unit::Nanoseconds),
        ("second_ns", Unit::Nanoseconds),
        ("first_byte_ns", Unit::Nanoseconds),
        ("second_byte_ns", Unit::Nanoseconds),
        ("factor", Unit::Ratio),
        ("cliff", Unit::Text),
    ];
    let mut table = Table::new("neighbours", &columns);
    table.rows = cliffs
        .iter()
        .map(|cliff| {
            let [first, second] = &cliff.shapes;
            vec![
                format!("{first} | {second}").into(),
                cliff.operation.name().into(),
                cliff.isa.name().into(),
                cliff.message_ns[0].into(),
                cliff.message_ns[1].into(),
                cliff.byte_ns[0].into(),
                cliff.byte_ns[1].into(),
                cliff.factor.into(),
                if cliff.is_cliff() { "yes" } else { "no" }.into(),
            ]
        })
        .collect();
    table
}
