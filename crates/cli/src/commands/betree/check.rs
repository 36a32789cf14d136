//! `perfkit betree check`: every wrong expression of a file, with its place.

use std::fmt::Write as _;

use betree::{Domain, Error, ErrorKind, Place, Undefined};
use files::display;

use crate::commands::betree::flags::CheckArgs;
use crate::commands::expressions::{self, Files, Line, Wrong};
use crate::failure::Result;
use crate::term::message;
use crate::term::plain::visible;
use report::ExitStatus;

/// The most characters that are shown on either side of a mistake.
const AROUND: usize = 60;

/// Runs the command.
pub(super) fn run(args: &CheckArgs) -> Result<ExitStatus> {
    let files = Files {
        domains: args.domains.as_deref(),
        expressions: &args.expressions,
        form: args.expressions_form,
        constants: args.constants.as_deref(),
        undefined: Undefined::False,
    };
    let name = display(&args.expressions);
    let (mut right, mut wrong) = (0u64, 0u64);
    expressions::each(&files, args.terminal.wants_progress(), |line| {
        match &line.added {
            Ok(()) => right += 1,
            Err(why) => {
                wrong += 1;
                message::output(mistake(&name, &line, why).as_bytes())?;
            }
        }
        Ok(())
    })?;
    if args.terminal.wants_report() {
        message::line(&format!(
            "{} expressions: {right} right, {wrong} wrong",
            right + wrong
        ));
    }
    Ok(match wrong {
        0 => ExitStatus::Ok,
        _ => ExitStatus::Partial,
    })
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
    if let Some(hint) = hint(line.domain, error) {
        let _ = writeln!(out, "    {hint}");
    }
    out
}

/// What may help against an error.
fn hint(domain: &Domain, error: &Error) -> Option<String> {
    let text = error.to_string();
    let named = text.split('\'').nth(1).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownAttribute => {
            let names = domain.attributes().iter().map(betree::Attribute::name);
            let like = |name: &&str| strsim::damerau_levenshtein(name, named);
            let nearest = names.min_by_key(like)?;
            Some(match like(&nearest) * 3 <= named.len().max(3) {
                true => format!(
                    "did you mean '{}'? if not, declare it in --domains",
                    visible(nearest)
                ),
                false => "declare it in --domains".to_owned(),
            })
        }
        ErrorKind::Constants => Some("give its id in --constants".to_owned()),
        ErrorKind::Bounds => Some("change the value, or the bounds in --domains".to_owned()),
        _ => None,
    }
}
