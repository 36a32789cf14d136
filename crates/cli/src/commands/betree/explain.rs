//! `perfkit betree explain`: what an expression makes of events, part by part, or why each match is one.

use std::fmt::Write as _;

use betree::{Budget, Event, ExplainedKind, SubscriptionId};
use files::display;
use report::ExitStatus;

use crate::commands::betree::flags::ExplainArgs;
use crate::commands::betree::lines::{Block, Limit, Lines, refused_event, too_long};
use crate::commands::betree::snapshot::{self, Tree};
use crate::failure::Result;
use crate::term::plain::visible;
use crate::term::{message, signal};

const INDENT: &str = "  ";
/// Deeper parts are not indented further.
const DEPTH_MAX: usize = 40;
/// Each event is explained as it comes.
const ONE_LINE: Limit = Limit {
    lines: 1,
    bytes: 0,
    waits: false,
};

/// Runs the command.
pub(super) fn run(args: &ExplainArgs) -> Result<ExitStatus> {
    let tree = snapshot::load(&args.tree, args.terminal.wants_progress())?;
    let id = match &args.id {
        Some(id) => Some(tree.find(id)?),
        None => None,
    };
    let mut lines = Lines::open(&args.events)?;
    let mut block = Block::default();
    let (mut explained, mut refused) = (0u64, 0u64);
    while lines.block(&mut block, ONE_LINE, &signal::interrupted) {
        let mut place = block.start();
        while let Some(line) = block.line(&mut place) {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let number = place.number;
            let text = event(&tree, line, args.ignore_unknown).and_then(|event| match id {
                Some(id) => one(&tree, &event, id, number),
                None => all(&tree, &event, number),
            });
            match text {
                Ok(text) => {
                    explained += 1;
                    message::output(text.as_bytes())?;
                }
                Err(error) => {
                    let name = display(&args.events);
                    let why = format!("cannot explain {name}: line {number}: {error}");
                    let failure = refused_event(why, &error, args.keep_going);
                    if !args.keep_going {
                        return Err(failure);
                    }
                    refused += 1;
                    message::failure(&failure);
                }
            }
        }
        if let Some(number) = block.too_long {
            let origin = display(&args.events).to_string();
            let failure = too_long(&origin, number, args.keep_going);
            if !args.keep_going {
                return Err(failure);
            }
            refused += 1;
            message::failure(&failure);
        }
        if let Some(failure) = block.error.take() {
            return Err(failure);
        }
    }
    Ok(match (explained, refused) {
        (_, 0) => ExitStatus::Ok,
        (0, _) => ExitStatus::Failure,
        _ => ExitStatus::Partial,
    })
}

fn event(tree: &Tree, json: &[u8], ignore_unknown: bool) -> betree::Result<Event> {
    let json = crate::commands::expressions::event_json(tree.snapshot.domain(), json)?;
    let mut reader = tree.snapshot.event_reader(&json, ignore_unknown);
    reader.step(Budget::UNLIMITED)?;
    reader.finish()
}

/// A line for each expression that matches, with the tests that make it match.
fn all(tree: &Tree, event: &Event, number: u64) -> betree::Result<String> {
    let mut text = String::new();
    for id in tree.snapshot.search(event)? {
        let found = tree.snapshot.explain(event, id)?;
        let tests: Vec<_> = found.because().map(|test| visible(&test.text)).collect();
        let because = match tests.is_empty() {
            true => "always".to_owned(),
            false => tests.join(" and "),
        };
        let _ = writeln!(
            text,
            "event {number}: expression {} matches: {because}",
            tree.shown(id)
        );
    }
    if text.is_empty() {
        let _ = writeln!(text, "event {number}: no expression matches");
    }
    Ok(text)
}

/// The structure of an expression, with what each part of it comes to.
fn one(tree: &Tree, event: &Event, id: SubscriptionId, number: u64) -> betree::Result<String> {
    let found = tree.snapshot.explain(event, id)?;
    let verdict = match found.matched {
        true => "matches",
        false => "does not match",
    };
    let mut text = format!("event {number}: expression {} {verdict}\n", tree.shown(id));
    if let Some(reason) = &found.last_reason {
        let _ = writeln!(text, "  last reason: {}", visible(reason));
    }
    for node in &found.nodes {
        let value = if node.value { "true" } else { "false" };
        let (outcome, what, mark) = match node.kind {
            ExplainedKind::And => (value, "all of".into(), String::new()),
            ExplainedKind::Or => (value, "any of".into(), String::new()),
            ExplainedKind::Constant => (value, value.into(), String::new()),
            ExplainedKind::Test(at) => {
                let Some(test) = found.tests.get(at) else {
                    continue;
                };
                let outcome = match test.outcome {
                    Some(_) => value,
                    None => "undefined",
                };
                let mark = match (test.failing, test.outcome) {
                    (true, _) => format!("  <- fails ({})", visible(&test.event)),
                    (false, None) if node.value => "  (counts as true)".to_owned(),
                    _ => String::new(),
                };
                (outcome, visible(&test.text), mark)
            }
        };
        let depth = INDENT.repeat(node.depth.min(DEPTH_MAX));
        let _ = writeln!(text, "  {outcome:<9}  {depth}{what}{mark}");
    }
    Ok(text)
}
