//! `perfkit betree lint`: expressions that never match, always match, are duplicates, or match only with another.

use std::ffi::OsString;

use betree::{Oddity, Progress};
use latency::report::{Table, Unit};
use report::ExitStatus;

use crate::commands::betree::flags::LintArgs;
use crate::commands::betree::snapshot;
use crate::commands::found::Found;
use crate::failure::Result;
use crate::term::{message, signal};

/// Expressions that are looked at between looks at signals.
const STEP: usize = 1_000;

/// Runs the command.
pub(super) fn run(args: &LintArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let columns = [
        ("id", Unit::Text),
        ("finding", Unit::Text),
        ("other", Unit::Text),
    ];
    let mut found = Found::start(name, argv, &args.output, Table::new("findings", &columns))?;
    let tree = snapshot::load(&args.tree, args.output.terminal.wants_progress())?;
    let mut lint = tree.snapshot.lint();
    while lint.step(STEP) == Progress::Yielded {
        if signal::interrupted() {
            return Ok(ExitStatus::Interrupted);
        }
    }
    let mut counts = [0u64; 4];
    for finding in lint.findings() {
        let shown = tree.shown(finding.id);
        let (kind, word, other) = match finding.oddity {
            Oddity::Never => (0, "never matches", None),
            Oddity::Always => (1, "matches every event", None),
            Oddity::Duplicate(other) => (2, "is a duplicate of", Some(tree.shown(other))),
            Oddity::Subsumed(other) => (3, "matches only with", Some(tree.shown(other))),
            _ => continue,
        };
        counts[kind] += 1;
        let line = || match (kind, &other) {
            (3, Some(other)) => format!("expression {shown} matches only when {other} does\n"),
            (_, Some(other)) => format!("expression {shown} {word} {other}\n"),
            (_, None) => format!("expression {shown} {word}\n"),
        };
        found.add(line, || {
            vec![shown.as_str().into(), word.into(), other.clone().into()]
        })?;
    }
    let [never, always, duplicates, subsumed] = counts;
    let all = u64::try_from(tree.snapshot.len()).unwrap_or(u64::MAX);
    found.summary([
        ("expressions", all),
        ("never_match", never),
        ("always_match", always),
        ("duplicates", duplicates),
        ("subsumed", subsumed),
        ("too_large", lint.too_large()),
        ("not_compared", lint.not_compared()),
    ]);
    if found.wants_lines() {
        message::line(&format!(
            "{all} expressions: {never} never match, {always} match every event, {duplicates} duplicates, {subsumed} subsumed",
        ));
        let not = [
            (lint.too_large(), "too large to look into"),
            (lint.not_compared(), "not compared with all others"),
        ];
        for (count, why) in not.into_iter().filter(|(count, _)| *count > 0) {
            message::line(&format!("{count} expressions: {why}"));
        }
    }
    found.finish(match lint.findings() {
        [] => ExitStatus::Ok,
        _ => ExitStatus::Partial,
    })
}
