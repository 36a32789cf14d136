//! The store's part of the tour: messages are appended, read, found again after closing, and verified; a
//! message that was changed on disk is refused.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use fixcore::dict::Version;
use fixcore::store::{Options, Seen, Store, StoreError, survey};
use fixcore::workload::shuffled;
use latency::report::{Table, Unit};
use report::Outcome;

use crate::commands::tour::stage::{Stage, failed};
use crate::commands::tour::words;
use crate::failure::Result;
use bench::Checks;

/// Messages that are appended.
const MESSAGES: u64 = 20_000;
/// Different messages among them.
const CONTENTS: usize = 256;

/// Adds the part to the outcome.
pub(super) fn part(stage: &Stage<'_>, outcome: &mut Outcome, checks: &mut Checks) -> Result<()> {
    let contents = shuffled(Version::Fix44, CONTENTS, stage.seed);
    let contents = contents.ok_or_else(|| failed("a dictionary cannot be read"))?;
    let content = |number: u64| &contents[number as usize % contents.len()][..];
    let dir = tempfile::tempdir().map_err(failed)?;
    let mut options = Options::default();
    // Small enough for several segments.
    options.segment_bytes = 1 << 20;

    let mut store = Store::open(dir.path(), options.clone()).map_err(failed)?;
    let append_ns = timed(
        |number| store.append(number, content(number)).is_ok(),
        checks,
    );
    let get_ns = timed(
        |number| matches!(black_box(store.get(number)), Ok(Some(_))),
        checks,
    );
    let segments = store.segments() as u64;
    drop(store);

    let start = Instant::now();
    let store = Store::open(dir.path(), options.clone()).map_err(failed)?;
    let open_ns = start.elapsed().as_nanos() as u64;
    checks.that(store.next_sender() == MESSAGES + 1);
    let same = |number| matches!(store.verified(number), Ok(Some(is)) if is == content(number));
    let verify_ns = timed(same, checks);
    drop(store);
    refused(dir.path(), options, checks)?;

    let columns = [
        ("messages", Unit::Count),
        ("segments", Unit::Count),
        ("append_ns", Unit::Nanoseconds),
        ("get_ns", Unit::Nanoseconds),
        ("verify_ns", Unit::Nanoseconds),
        ("open_ns", Unit::Nanoseconds),
    ];
    let mut table = Table::new("store of sent messages", &columns);
    table.rows.push(vec![
        MESSAGES.into(),
        segments.into(),
        append_ns.into(),
        get_ns.into(),
        verify_ns.into(),
        open_ns.into(),
    ]);
    outcome.findings.extend(words::store(&table));
    outcome.tables.push(table);
    Ok(())
}

/// Nanoseconds per call of `run`, which must succeed for each message.
fn timed(mut run: impl FnMut(u64) -> bool, checks: &mut Checks) -> f64 {
    let start = Instant::now();
    let right = (1..=MESSAGES).filter(|number| run(*number)).count();
    let ns = start.elapsed().as_nanos() as f64 / MESSAGES as f64;
    checks.that(right as u64 == MESSAGES);
    ns
}

/// Changes a byte of the first message: that message is refused, and no other.
fn refused(dir: &Path, options: Options, checks: &mut Checks) -> Result<()> {
    let mut place = None;
    let seen = survey(dir, &mut |path, seen| match seen {
        Seen::Message { offset, .. } => {
            place = Some((path.to_owned(), offset));
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    seen.map_err(failed)?;
    let (path, offset) = place.ok_or_else(|| failed("no message is seen"))?;
    let mut bytes = std::fs::read(&path).map_err(failed)?;
    let changed = bytes.get_mut(offset as usize + CHANGED_AT);
    *changed.ok_or_else(|| failed("a message is cut short"))? ^= 1;
    std::fs::write(&path, bytes).map_err(failed)?;

    let store = Store::open(dir, options).map_err(failed)?;
    let damaged = matches!(store.verified(1), Err(StoreError::Damaged { .. }));
    checks.that(damaged && matches!(store.verified(2), Ok(Some(_))));
    Ok(())
}

/// A byte of a record that belongs to the message.
const CHANGED_AT: usize = 60;
