//! What a command that checks something finds: a line each as it is found, or the rows of a report.

use std::ffi::OsString;

use latency::report::{Cell, Table, Unit};
use report::{ExitStatus, Outcome};

use crate::args::output::OutputArgs;
use crate::failure::Result;
use crate::session::{Session, Setup};
use crate::term::message;

/// Findings on their way to whoever asked for them.
///
/// Without `--report` each is a line of standard output. With it the report is there in their place.
pub(crate) struct Found {
    session: Session,
    outcome: Outcome,
    table: Table,
    /// Whether the report stands on standard output.
    reports: bool,
    /// Whether rows are kept: for a report, a file, or a limit.
    keeps: bool,
    quiet: bool,
}

impl Found {
    /// Opens the files of the report, before any work is done. `table` has no rows yet.
    pub(crate) fn start(
        name: &'static str,
        argv: &[OsString],
        args: &OutputArgs,
        table: Table,
    ) -> Result<Self> {
        let setup = Setup {
            measures: false,
            ..Setup::analysis(name, argv, args)
        };
        let reports = args.report.report.is_some();
        let is_exported = args.report.exported().next().is_some();
        Ok(Self {
            session: Session::start(&setup)?,
            outcome: Outcome::new(name),
            table,
            reports,
            keeps: reports || is_exported || !args.report.slo.is_empty(),
            quiet: !args.terminal.wants_report(),
        })
    }

    /// One more finding.
    pub(crate) fn add(
        &mut self,
        line: impl FnOnce() -> String,
        row: impl FnOnce() -> Vec<Cell>,
    ) -> Result<()> {
        if self.keeps {
            self.table.rows.push(row());
        }
        match self.reports {
            true => Ok(()),
            false => message::output(line().as_bytes()),
        }
    }

    /// Whether standard output has text for people, and no report.
    pub(crate) fn wants_text(&self) -> bool {
        !self.reports
    }

    /// Whether a line on standard error closes the lines of the findings.
    pub(crate) fn wants_lines(&self) -> bool {
        !self.reports && !self.quiet
    }

    /// What was counted, for the report.
    pub(crate) fn summary<const N: usize>(&mut self, counts: [(&str, u64); N]) {
        let columns = counts.map(|(key, _)| (key, Unit::Count));
        let mut table = Table::new("summary", &columns);
        let row = counts.map(|(_, count)| Cell::from(count));
        table.rows.push(row.to_vec());
        self.outcome.tables.push(table);
    }

    /// Ends the run, by this status unless a limit of the report was missed.
    pub(crate) fn finish(mut self, status: ExitStatus) -> Result<ExitStatus> {
        self.outcome.status = status;
        self.outcome.tables.push(self.table);
        match self.reports {
            true => self.session.finish(self.outcome),
            false => self.session.finish_printed(self.outcome),
        }
    }
}
