//! The fills of logs as tables of a report.

use fixlog::fills::{FillCounts, FillRow, Fills};
use fixlog::{GroupKey, Made, value_name_of};
use latency::report::{Cell, Table, Unit};
use report::Outcome;

use crate::commands::fix::conclude::{BAD_NAMED, named_some};
use crate::commands::fix::tables::text;
use crate::term::message;

/// Adds up fills.
pub(in crate::commands::fix) struct Ledger<'a> {
    fills: Fills,
    by: &'a [(String, GroupKey)],
}

impl<'a> Ledger<'a> {
    pub(in crate::commands::fix) fn new(by: &'a [(String, GroupKey)]) -> Self {
        Self {
            fills: Fills::new(),
            by,
        }
    }

    /// Adds what was made of a block.
    pub(in crate::commands::fix) fn take(&mut self, log: usize, made: &Made) {
        self.fills.add(log, &made.fills);
    }

    /// Puts everything into the report, and executions that are not counted among what is `named` as bad; how many these are.
    pub(in crate::commands::fix) fn conclude(
        mut self,
        warns: bool,
        named: &mut Vec<(usize, u64, String)>,
        outcome: &mut Outcome,
    ) -> u64 {
        let keys: Vec<_> = self.by.iter().map(|(_, key)| *key).collect();
        let rows = self.fills.rows(&keys);
        let counts = self.fills.counts();
        let room = BAD_NAMED.saturating_sub(named.len());
        let not_counted = self.fills.not_counted().iter().take(room);
        named.extend(not_counted.map(|one| (one.log, one.offset, one.fault.to_string())));
        let fills: u64 = rows.iter().map(|row| row.executions).sum();
        let params = &mut outcome.workload.params;
        for (name, count) in [
            ("fills", fills),
            ("duplicates", counts.duplicates),
            ("corrections", counts.corrections),
            ("busts", counts.busts),
            ("unknown", counts.unknown),
            ("contradictions", counts.contradictions),
            ("not_counted", counts.not_counted),
            ("unfollowed", counts.unfollowed),
        ] {
            params.insert(name.to_owned(), count.into());
        }
        if warns {
            self.notes(&keys, &rows, counts);
        }
        outcome.tables.push(self.table(&keys, rows));
        let executions = executions(counts);
        if !executions.rows.is_empty() {
            outcome.tables.push(executions);
        }
        counts.not_counted
    }

    fn table(&self, keys: &[GroupKey], rows: Vec<FillRow>) -> Table {
        let names = self.by.iter().map(|(name, _)| (&name[..], Unit::Text));
        let columns = names.chain([
            ("executions", Unit::Count),
            ("quantity", Unit::Text),
            ("average_price", Unit::Text),
            ("least_price", Unit::Text),
            ("greatest_price", Unit::Text),
            ("notional", Unit::Text),
            ("corrected", Unit::Count),
            ("busted", Unit::Count),
        ]);
        let columns: Vec<_> = columns.collect();
        let mut table = Table::new("fills", &columns);
        table.asked_for = true;
        for row in rows {
            let scale = row.price_scale();
            let average = row.average().map(|average| average.text(scale));
            let prices = [row.least, row.greatest].map(|price| price.map(|one| one.to_string()));
            let [least, greatest] = prices.map(Cell::from);
            let values = keys.iter().zip(row.values);
            let mut cells: Vec<_> = values.map(|(key, value)| shown(*key, value)).collect();
            cells.extend([
                row.executions.into(),
                row.quantity.text(0).into(),
                average.into(),
                least,
                greatest,
                row.notional.text(0).into(),
                row.corrected.into(),
                row.busted.into(),
            ]);
            table.rows.push(cells);
        }
        table
    }

    /// What a reader of the sums should know.
    fn notes(&self, keys: &[GroupKey], rows: &[FillRow], counts: FillCounts) {
        if rows.is_empty() {
            message::note(
                "there are no fills",
                "fills are ExecutionReports (8) with ExecType F, 1 or 2",
            );
        }
        for (count, what, help) in [
            (
                counts.unknown,
                "trades that were corrected or cancelled are not in the logs",
                "corrections of them count; read the logs that have the trades, too",
            ),
            (
                counts.contradictions,
                "executions have the ExecID (17) of another one of the same order, and another quantity or price",
                "both count; perfkit fix stats --group-by ExecID finds them",
            ),
            (
                counts.unfollowed,
                "executions are not counted: there are too many",
                "read fewer logs at once, or filter the messages",
            ),
        ] {
            if count > 0 {
                message::note(&format!("{count} {what}"), help);
            }
        }
        let all: u64 = counts.not_counted;
        let named = self.fills.not_counted().len();
        let help = "perfkit fix parse --where … finds the others";
        named_some(named, all, "executions that are not counted", help);
        let has = |tag| keys.contains(&GroupKey::Field(tag));
        let tells_sessions = keys.contains(&GroupKey::Session) || (has(49) && has(56));
        let passed_on = self.fills.passed_on().filter(|_| !tells_sessions);
        if let Some([one, other]) = passed_on {
            let name = |[from, to]: &[Vec<u8>; 2]| {
                format!("{} → {}", from.escape_ascii(), to.escape_ascii())
            };
            let text = format!(
                "fills of {} and {} are in the same rows: one that was passed on counts on each session",
                name(one),
                name(other)
            );
            message::note(
                &text,
                "--session names one, --group-by session tells them apart",
            );
        }
    }
}

/// A value of a row; a side has its name.
fn shown(key: GroupKey, value: Option<Vec<u8>>) -> Cell {
    let Some(value) = value else {
        return Cell::Null;
    };
    match (key, value_name_of(54, &value)) {
        (GroupKey::Field(54), Some(name)) => name.to_lowercase().replace('_', " ").into(),
        _ => text(value).into(),
    }
}

/// What became of executions that are no fill of their own.
fn executions(counts: FillCounts) -> Table {
    let columns = [("which", Unit::Text), ("executions", Unit::Count)];
    let mut table = Table::new("executions", &columns);
    for (which, count) in [
        ("sent again, or in several logs", counts.duplicates),
        ("corrections", counts.corrections),
        ("cancels", counts.busts),
        ("trades that are not in the logs", counts.unknown),
        ("with the ExecID of another one", counts.contradictions),
        ("not counted", counts.not_counted),
        ("beyond the limits", counts.unfollowed),
    ] {
        if count > 0 {
            table.rows.push(vec![which.into(), count.into()]);
        }
    }
    table
}
