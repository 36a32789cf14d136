//! Tables of what was found.

use latency::report::{Cell, Table, Unit};

use super::{Cliff, Row};

/// One row per case, the worst ratio against the fastest rival first.
#[must_use]
pub fn shapes(rows: &[Row], rivals: &[&str]) -> Table {
    let mut columns = vec![
        ("shape".to_owned(), Unit::Text),
        ("expressions".to_owned(), Unit::Count),
        ("matched".to_owned(), Unit::Share),
    ];
    let mut ns = |name: String| columns.push((format!("{name}_ns"), Unit::Nanoseconds));
    for side in std::iter::once(&"betree").chain(rivals) {
        ns(format!("{side}_p50"));
        ns(format!("{side}_p99"));
    }
    columns.push(("ratio".to_owned(), Unit::Ratio));
    columns.push(("build_ns".to_owned(), Unit::Nanoseconds));
    columns.push(("expression_bytes".to_owned(), Unit::Bytes));
    for name in ["insert_p50", "insert_max", "delete_p50", "hold_p999"] {
        columns.push((format!("{name}_ns"), Unit::Nanoseconds));
    }
    let columns: Vec<(&str, Unit)> = columns.iter().map(|(key, unit)| (&**key, *unit)).collect();
    let mut table = Table::new("shapes", &columns);
    let mut order: Vec<&Row> = rows.iter().collect();
    let ratio = |row: &Row| row.worst_ratio().unwrap_or(0.0);
    order.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    table.rows = order.into_iter().map(cells).collect();
    table
}

fn cells(row: &Row) -> Vec<Cell> {
    let count = f64::from(row.expressions.max(1));
    let mut out: Vec<Cell> = vec![
        row.shape.clone().into(),
        u64::from(row.expressions).into(),
        (row.matched / count).into(),
        row.betree.p50_ns.into(),
        row.betree.p99_ns.into(),
    ];
    for times in &row.rivals {
        out.push(times.and_then(|times| times.p50_ns).into());
        out.push(times.and_then(|times| times.p99_ns).into());
    }
    out.push(row.worst_ratio().into());
    out.push(row.build_ns.into());
    out.push((row.bytes as f64 / count).round().into());
    out.push(row.changes.insert.p50_ns.into());
    out.push(row.changes.insert.max_ns.into());
    out.push(row.changes.delete.p50_ns.into());
    out.push(row.hold.p999_ns.into());
    out
}

/// One row per number of expressions: how many shapes there were, and how betree did in the median and at worst.
#[must_use]
pub fn sizes(rows: &[Row]) -> Table {
    let columns = [
        ("expressions", Unit::Count),
        ("shapes", Unit::Count),
        ("slower_than_simple", Unit::Count),
        ("ratio_p50", Unit::Ratio),
        ("ratio_max", Unit::Ratio),
        ("slowest", Unit::Text),
        ("hold_p999_max_ns", Unit::Nanoseconds),
        ("insert_max_ns", Unit::Nanoseconds),
    ];
    let mut table = Table::new("sizes", &columns);
    let mut sizes: Vec<u32> = rows.iter().map(|row| row.expressions).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes {
        let of_size = || rows.iter().filter(|row| row.expressions == size);
        let mut ratios: Vec<(f64, &str)> = of_size()
            .filter_map(|row| Some((row.worst_ratio()?, &*row.shape)))
            .collect();
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let middle = ratios.get(ratios.len() / 2).map(|(ratio, _)| *ratio);
        let slower = ratios.iter().filter(|(ratio, _)| *ratio > 1.0).count();
        table.rows.push(vec![
            u64::from(size).into(),
            (of_size().count() as u64).into(),
            (slower as u64).into(),
            middle.into(),
            ratios.last().map(|(ratio, _)| *ratio).into(),
            ratios.last().map(|(_, name)| *name).into(),
            of_size().filter_map(|row| row.hold.p999_ns).max().into(),
            of_size()
                .filter_map(|row| row.changes.insert.max_ns)
                .max()
                .into(),
        ]);
    }
    table
}

/// Neighbours of sweeps, the farthest apart first.
#[must_use]
pub fn neighbours(cliffs: &[Cliff]) -> Table {
    let columns = [
        ("neighbours", Unit::Text),
        ("expressions", Unit::Count),
        ("first_p50_ns", Unit::Nanoseconds),
        ("second_p50_ns", Unit::Nanoseconds),
        ("first_per_match_ns", Unit::Nanoseconds),
        ("second_per_match_ns", Unit::Nanoseconds),
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
                u64::from(cliff.expressions).into(),
                cliff.p50_ns[0].into(),
                cliff.p50_ns[1].into(),
                cliff.cost_ns[0].into(),
                cliff.cost_ns[1].into(),
                cliff.factor.into(),
                if cliff.is_cliff() { "yes" } else { "no" }.into(),
            ]
        })
        .collect();
    table
}
