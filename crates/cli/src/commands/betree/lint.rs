//! `perfkit betree lint`: expressions that never match, always match, are duplicates, or match only with another.

use betree::{Oddity, Progress};
use report::ExitStatus;

use crate::commands::betree::flags::LintArgs;
use crate::commands::betree::snapshot;
use crate::failure::Result;
use crate::term::{message, signal};

/// Expressions that are looked at between looks at signals.
const STEP: usize = 1_000;

/// Runs the command.
pub(super) fn run(args: &LintArgs) -> Result<ExitStatus> {
    let tree = snapshot::load(&args.tree, args.terminal.wants_progress())?;
    let mut lint = tree.snapshot.lint();
    while lint.step(STEP) == Progress::Yielded {
        if signal::interrupted() {
            return Ok(ExitStatus::Interrupted);
        }
    }
    let mut counts = [0u64; 4];
    for found in lint.findings() {
        let shown = tree.shown(found.id);
        let (kind, line) = match found.oddity {
            Oddity::Never => (0, format!("expression {shown} never matches")),
            Oddity::Always => (1, format!("expression {shown} matches every event")),
            Oddity::Duplicate(other) => {
                let other = tree.shown(other);
                (2, format!("expression {shown} is a duplicate of {other}"))
            }
            Oddity::Subsumed(other) => {
                let other = tree.shown(other);
                (
                    3,
                    format!("expression {shown} matches only when {other} does"),
                )
            }
            _ => continue,
        };
        counts[kind] += 1;
        message::output(format!("{line}\n").as_bytes())?;
    }
    if args.terminal.wants_report() {
        let [never, always, duplicates, subsumed] = counts;
        message::line(&format!(
            "{} expressions: {never} never match, {always} match every event, {duplicates} duplicates, {subsumed} subsumed",
            tree.snapshot.len()
        ));
        let not = [
            (lint.too_large(), "too large to look into"),
            (lint.not_compared(), "not compared with all others"),
        ];
        for (count, why) in not.into_iter().filter(|(count, _)| *count > 0) {
            message::line(&format!("{count} expressions: {why}"));
        }
    }
    Ok(match lint.findings() {
        [] => ExitStatus::Ok,
        _ => ExitStatus::Partial,
    })
}
