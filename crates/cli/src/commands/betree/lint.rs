//! `perfkit betree lint`: expressions that never match, always match, are duplicates, or match only with another.

use std::ffi::OsString;

use betree::{Oddity, Progress, SubscriptionId};
use latency::report::{Table, Unit};
use report::ExitStatus;
use report::units::counted;

use crate::commands::betree::flags::{LintArgs, LintKind};
use crate::commands::betree::snapshot::{self, Tree};
use crate::commands::found::Found;
use crate::failure::Result;
use crate::term::{message, signal};

/// Expressions that are looked at between looks at signals.
const STEP: usize = 1_000;
/// Most skipped expressions that are named below the findings.
const SHOWN_MAX: usize = 10;
const EXPRESSIONS: [&str; 2] = ["expression", "expressions"];
const TOO_LARGE: &str = "too large to look into";
const NOT_COMPARED: &str = "not compared with all others";

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
    let wants = |kind| match args.only.as_slice() {
        [] => !matches!(kind, LintKind::TooLarge | LintKind::NotCompared),
        only => only.contains(&kind),
    };
    let mut listed = 0u64;
    let mut add = |kind, id, word: &str, other: Option<SubscriptionId>| {
        if !wants(kind) {
            return Ok(());
        }
        listed += 1;
        let (shown, other) = (tree.shown(id), other.map(|other| tree.shown(other)));
        let line = || match (kind, &other) {
            (LintKind::Subsumed, Some(other)) => {
                format!("expression {shown} matches only when {other} does\n")
            }
            (_, Some(other)) => format!("expression {shown} {word} {other}\n"),
            (_, None) => format!("expression {shown} {word}\n"),
        };
        let row = || vec![shown.as_str().into(), word.into(), other.clone().into()];
        found.add(line, row)
    };
    for finding in lint.findings() {
        let (at, kind, word, other) = match finding.oddity {
            Oddity::Never => (0, LintKind::Never, "never matches", None),
            Oddity::Always => (1, LintKind::Always, "matches every event", None),
            Oddity::Duplicate(other) => (2, LintKind::Duplicate, "is a duplicate of", Some(other)),
            Oddity::Subsumed(other) => (3, LintKind::Subsumed, "matches only with", Some(other)),
            _ => continue,
        };
        counts[at] += 1;
        add(kind, finding.id, word, other)?;
    }
    let skipped = [
        (LintKind::TooLarge, lint.too_large(), TOO_LARGE),
        (LintKind::NotCompared, lint.not_compared(), NOT_COMPARED),
    ];
    for (kind, ids, why) in skipped {
        for id in ids {
            add(kind, *id, &format!("is {why}"), None)?;
        }
    }
    let [never, always, duplicates, subsumed] = counts;
    let all = tree.snapshot.len() as u64;
    found.summary([
        ("expressions", all),
        ("never_match", never),
        ("always_match", always),
        ("duplicates", duplicates),
        ("subsumed", subsumed),
        ("too_large", lint.too_large().len() as u64),
        ("not_compared", lint.not_compared().len() as u64),
    ]);
    if found.wants_lines() {
        message::line(&format!(
            "{}: {}, {}, {}, {subsumed} subsumed",
            counted(all, EXPRESSIONS),
            counted(never, ["never matches", "never match"]),
            counted(always, ["matches every event", "match every event"]),
            counted(duplicates, ["duplicate", "duplicates"]),
        ));
        for (kind, ids, why) in skipped {
            if !ids.is_empty() && !wants(kind) {
                message::line(&skipped_line(&tree, ids, why));
            }
        }
    }
    found.finish(match listed {
        0 => ExitStatus::Ok,
        _ => ExitStatus::Partial,
    })
}

/// Names the first expressions that were skipped.
fn skipped_line(tree: &Tree, ids: &[SubscriptionId], why: &str) -> String {
    let shown: Vec<String> = ids
        .iter()
        .take(SHOWN_MAX)
        .map(|id| tree.shown(*id))
        .collect();
    let rest = match ids.len().saturating_sub(SHOWN_MAX) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    format!(
        "{}: {why}: {}{rest}",
        counted(ids.len() as u64, EXPRESSIONS),
        shown.join(", ")
    )
}
