//! The techniques, one after the other, and their tables.

use latency::report::{Table, Unit};
use report::Outcome;

use crate::fix::plan::Plan;
use crate::fix::techniques::bench::{ALL, Bench, COLUMNS, COMPONENTS};
#[cfg(target_os = "linux")]
use crate::fix::techniques::trips;
use crate::fix::techniques::{defer, pages, producers, table};
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
    #[cfg(target_os = "linux")]
    trips::rows(&mut bench)?;
    bench.scanner()?;
    table::rows(&mut bench)?;
    bench.pinning()?;
    pages::rows(&mut bench)?;
    defer::rows(&mut bench)?;
    producers::row(&mut bench)?;
    let Bench {
        outcome,
        table,
        components,
        ..
    } = bench;
    let columns = [("technique", Unit::Text), ("measured", Unit::Text)];
    let mut measured = Table::new("what a technique is measured by", &columns);
    for (technique, by) in ALL {
        measured.rows.push(vec![technique.into(), by.into()]);
    }
    outcome.tables.extend([table, components, measured]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use latency::report::Cell;
    use report::{Run, RunOptions};

    use super::*;
    use crate::fix::Part;

    #[test]
    #[ignore = "long: cargo xtask ci runs it"]
    fn every_technique_has_times_or_a_reason() {
        let mut plan = Plan::new(vec![Part::Techniques]);
        (plan.batches, plan.batch_size, plan.warm_up) = (2, 200, Some(50));
        let run_of = Run::start(RunOptions::new("test", "0", "fix-bench")).unwrap();
        let context = Context {
            run: &run_of,
            watch: &(),
        };
        let mut outcome = Outcome::new("fix-bench");
        let mut checks = Checks::default();
        run(&plan, context, &mut outcome, &mut checks).unwrap();
        checks.conclude("answers", &mut outcome, false);
        let validation = outcome.validation.as_ref().unwrap();
        assert!(validation.ok, "{validation:?}");
        let table = &outcome.tables[0];
        let names: Vec<Cell> = ALL.iter().map(|technique| technique.0.into()).collect();
        for row in &table.rows {
            assert_eq!(row.len(), COLUMNS.len(), "{row:?}");
            assert!(names.contains(&row[0]), "{row:?}");
            let has_times = matches!((&row[1], &row[2]), (Cell::Number(_), Cell::Number(_)));
            let is_refused = matches!(&row[7], Cell::Text(text) if text.starts_with("refused: "));
            assert!(has_times != is_refused, "{row:?}");
        }
        let has = |name: &str| table.rows.iter().any(|row| row[0] == Cell::from(name));
        assert!(ALL.iter().skip(4).all(|technique| has(technique.0)));
        #[cfg(target_os = "linux")]
        assert_eq!(table.rows.len(), ALL.len());
    }
}
