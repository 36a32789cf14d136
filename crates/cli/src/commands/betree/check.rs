//! `perfkit betree check`: every wrong expression of a file, with its place.

use std::ffi::OsString;
use std::fmt::Write as _;

use betree::{Place, Undefined};
use files::display;
use latency::report::{Cell, Table, Unit};

use crate::commands::betree::flags::CheckArgs;
use crate::commands::expressions::{self, Files, Line, Wrong, form};
use crate::commands::found::Found;
use crate::failure::Result;
use crate::term::message;
use crate::term::plain::visible;
use report::ExitStatus;
use report::units::counted;

/// The most characters that are shown on either side of a mistake.
const AROUND: usize = 60;

/// Runs the command.
pub(super) fn run(args: &CheckArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let columns = [
        ("number", Unit::Count),
        ("id", Unit::Text),
        ("row", Unit::Count),
        ("column", Unit::Count),
        ("mistake", Unit::Text),
        ("hint", Unit::Text),
    ];
    let mut found = Found::start(name, argv, &args.output, Table::new("mistakes", &columns))?;
    let files = Files {
        domains: args.domains.as_deref(),
        expressions: &args.expressions,
        form: args.expressions_form,
        constants: args.constants.as_deref(),
        undefined: Undefined::False,
    };
    let file = display(&args.expressions);
    let (mut right, mut wrong) = (0u64, 0u64);
    let progress = args.output.terminal.wants_progress();
    expressions::each(&files, progress, |line| match &line.added {
        Ok(()) => {
            right += 1;
            Ok(())
        }
        Err(why) => {
            wrong += 1;
            found.add(|| mistake(&file, &line, why), || row(&line, why))
        }
    })?;
    let all = right + wrong;
    found.summary([("expressions", all), ("right", right), ("wrong", wrong)]);
    if found.wants_lines() {
        let all = counted(all, ["expression", "expressions"]);
        message::line(&format!("{all}: {right} right, {wrong} wrong"));
    }
    found.finish(match wrong {
        0 => ExitStatus::Ok,
        _ => ExitStatus::Partial,
    })
}

/// A mistake as a row of the report: rows and columns are those of the expression, from 1.
fn row(line: &Line<'_>, wrong: &Wrong) -> Vec<Cell> {
    let place = match wrong {
        Wrong::Expression(error) => match error.place() {
            Place::Text { line, column } => Some((u64::from(line), u64::from(column))),
            _ => None,
        },
        Wrong::Line(_) => None,
    };
    vec![
        line.number.into(),
        line.name.map(form::shown).into(),
        place.map(|(row, _)| row).into(),
        place.map(|(_, column)| column).into(),
        wrong.to_string().into(),
        wrong.hint().into(),
    ]
}

/// A mistake with its place, the part of the expression around it, and what may help.
fn mistake(name: &str, line: &Line<'_>, wrong: &Wrong) -> String {
    let mut out = format!(
        "{name}: {}: {}\n",
        line.place(),
        visible(&wrong.to_string())
    );
    let Wrong::Expression(error) = wrong else {
        return out;
    };
    if let Place::Text { line: row, column } = error.place() {
        // The expression of an Erlang term may have several lines.
        let row = (row as usize).saturating_sub(1);
        let text = line.text.lines().nth(row).unwrap_or_default();
        let at = (column as usize).saturating_sub(1);
        let start = at.saturating_sub(AROUND);
        let before: String = text.chars().skip(start).take(at - start).collect();
        let after: String = text.chars().skip(at).take(AROUND).collect();
        let dots = if start > 0 { "…" } else { "" };
        let before = format!("{dots}{}", visible(&before));
        let blanks = " ".repeat(before.chars().count());
        let _ = writeln!(out, "    {before}{}\n    {blanks}^", visible(&after));
    }
    if let Some(hint) = wrong.hint() {
        let _ = writeln!(out, "    {}", visible(&hint));
    }
    out
}
