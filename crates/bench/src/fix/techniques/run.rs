//! The techniques, one after the other, and their tables.

use latency::report::{Table, Unit};
use report::Outcome;

use crate::fix::plan::Plan;
use crate::fix::techniques::bench::{Bench, COLUMNS, COMPONENTS, MEASURED};
use crate::fix::techniques::{defer, table};
use crate::{Checks, Context, Error};

/// Runs the part.
pub(crate) fn run(
    plan: &Plan,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    let mut bench = Bench {
        plan,
        context,
        outcome,
        checks,
        table: Table::new("techniques, off and on", &COLUMNS),
        components: Table::new("components", &COMPONENTS),
    };
    bench.flags()?;
    bench.scanner()?;
    table::rows(&mut bench)?;
    bench.pinning()?;
    defer::rows(&mut bench)?;
    let Bench {
        outcome,
        table,
        components,
        ..
    } = bench;
    let columns = [("technique", Unit::Text), ("measured", Unit::Text)];
    let mut measured = Table::new("what a technique is measured by", &columns);
    for (technique, by) in MEASURED {
        measured.rows.push(vec![technique.into(), by.into()]);
    }
    outcome.tables.extend([table, components, measured]);
    Ok(())
}
