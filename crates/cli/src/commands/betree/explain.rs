//! `perfkit betree explain`: what an expression makes of events, test by test.

use std::fmt::Write as _;

use betree::{Budget, SubscriptionId};
use files::display;
use report::ExitStatus;

use crate::commands::betree::flags::ExplainArgs;
use crate::commands::betree::lines::{Lines, Next};
use crate::commands::betree::snapshot::{self, Tree};
use crate::failure::{Failure, Result};
use crate::term::message;
use crate::term::plain::visible;

/// Runs the command.
pub(super) fn run(args: &ExplainArgs) -> Result<ExitStatus> {
    let tree = snapshot::load(&args.tree, false)?;
    let id = tree.find(&args.id)?;
    let mut lines = Lines::open(&args.events)?;
    loop {
        let line = match lines.next(true)? {
            Next::Line(line) => line,
            Next::Idle => continue,
            Next::End => return Ok(ExitStatus::Ok),
        };
        let json = lines.get(line);
        if json.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let number = lines.number();
        let text = explain(&tree, id, json, args.ignore_unknown).map_err(|error| {
            let name = display(&args.events);
            Failure::new(format!("cannot explain {name}: line {number}: {error}"))
        })?;
        message::output(format!("event {number}: {text}").as_bytes())?;
    }
}

fn explain(
    tree: &Tree,
    id: SubscriptionId,
    json: &[u8],
    ignore_unknown: bool,
) -> betree::Result<String> {
    let json = crate::commands::expressions::event_json(tree.snapshot.domain(), json)?;
    let mut reader = tree.snapshot.event_reader(&json, ignore_unknown);
    reader.step(Budget::UNLIMITED)?;
    let event = reader.finish()?;
    let found = tree.snapshot.explain(&event, id)?;
    let mut text = match found.matched {
        true => format!("expression {} matches\n", tree.shown(id)),
        false => format!("expression {} does not match\n", tree.shown(id)),
    };
    if let Some(reason) = &found.last_reason {
        let _ = writeln!(text, "  last reason: {reason}");
    }
    for test in &found.tests {
        let outcome = match test.outcome {
            Some(true) => "true",
            Some(false) => "false",
            None => "undefined",
        };
        let decisive = if test.failing { "  <- fails" } else { "" };
        let _ = writeln!(text, "  {outcome:<9}  {}{decisive}", visible(&test.text));
    }
    Ok(text)
}
