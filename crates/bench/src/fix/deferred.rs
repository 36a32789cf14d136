//! Deferred work: handing a message over beside doing the work at once, and what every policy does
//! to who submits and to the messages while the handler stalls.

use std::hint::black_box;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use fixcore::Decoder;
use fixcore::deferred::{Deferred, Fate, Options, Spill, Stall};
use fixcore::spsc::Wait;
use fixcore::workload::Sample;
use latency::report::{Cell, Table, Unit};

use crate::fix::batches::{Batches, failed};
use crate::fix::plan::Plan;
use crate::{Checks, Context, Error};
use report::Outcome;

/// Messages that are timed together.
const BATCH: usize = 1_000;
/// Messages that a policy is measured over, and how often one is due.
const MESSAGES: u64 = 50_000;
const PERIOD_NS: u64 = 2_000;
/// How often the handler stalls, and for how long.
const STALL_EVERY: u64 = 10_000;
const STALL: Duration = Duration::from_millis(20);
/// Bytes of the queue: less than comes in during a stall.
const BUFFER_BYTES: usize = 1 << 18;
/// The tags that the work looks up.
const LOOKUPS: [u32; 8] = [35, 49, 56, 34, 11, 55, 54, 38];

/// Adds the tables of the part.
pub(crate) fn part(
    plan: &Plan,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    let message = Sample::NewOrder.bytes();
    outcome.tables.push(hand_over(plan, &message, checks)?);
    let columns = [
        ("policy", Unit::Text),
        ("submitted", Unit::Count),
        ("handled", Unit::Count),
        ("spilled", Unit::Count),
        ("dropped", Unit::Count),
        ("submit_p50_ns", Unit::Nanoseconds),
        ("submit_p99_ns", Unit::Nanoseconds),
        ("submit_p999_ns", Unit::Nanoseconds),
        ("submit_max_ns", Unit::Nanoseconds),
        ("end_p50_ns", Unit::Nanoseconds),
        ("end_p99_ns", Unit::Nanoseconds),
        ("end_p999_ns", Unit::Nanoseconds),
    ];
    let mut table = Table::new("a handler that stalls for 20 ms, five times", &columns);
    let dir = tempfile::tempdir().map_err(failed)?;
    let spill = |to| Stall::Spill {
        to,
        bytes_max: 1 << 28,
    };
    for (name, stall) in [
        ("block", Stall::Block),
        ("drop", Stall::Drop),
        ("spill to memory", spill(Spill::Memory)),
        (
            "spill to a file",
            spill(Spill::File(dir.path().join("spill"))),
        ),
    ] {
        context.watch.check()?;
        let row = stalled(name, stall, &message, checks)?;
        table.rows.push(row);
    }
    let messages = MESSAGES * 4 + u64::from(plan.batches) * 3 * BATCH as u64;
    outcome.ops = Some(outcome.ops.unwrap_or(0) + messages);
    outcome.tables.push(table);
    Ok(())
}

fn work(decoder: &mut Decoder, bytes: &[u8]) -> bool {
    let Ok(message) = decoder.parse(black_box(bytes)) else {
        return false;
    };
    for tag in LOOKUPS {
        black_box(message.get(tag));
    }
    true
}

/// A validated parse with eight look-ups, done at once and handed over.
fn hand_over(plan: &Plan, message: &[u8], checks: &mut Checks) -> Result<Table, Error> {
    let columns = [
        ("of", Unit::Text),
        ("median_ns", Unit::Nanoseconds),
        ("min_ns", Unit::Nanoseconds),
    ];
    let mut table = Table::new("work at once and deferred, nanoseconds a message", &columns);
    let mut decoder = Decoder::new();
    let mut inline = Batches::new();
    for _ in 0..=plan.batches {
        let mut good = 0;
        inline.time(BATCH, || {
            for _ in 0..BATCH {
                good += usize::from(work(&mut decoder, message));
            }
        });
        checks.that(good == BATCH);
    }
    let mut rows = vec![("at once", inline)];
    for (name, wait) in [
        ("submit", Wait::Spin),
        ("submit, handler may sleep", Wait::Park { spins: 1000 }),
    ] {
        let (done, batch) = mpsc::channel();
        let (mut handled, mut good) = (0, 0);
        let handler = move |_, bytes: &[u8]| {
            good += usize::from(work(&mut decoder, bytes));
            handled += 1;
            if handled % BATCH == 0 {
                let _ = done.send(good);
            }
        };
        decoder = Decoder::new();
        let mut options = Options::default();
        options.wait = wait;
        let mut deferred = Deferred::start(&options, handler).map_err(failed)?;
        let mut submits = Batches::new();
        for number in 0..=plan.batches as usize {
            let mut queued = 0;
            submits.time(BATCH, || {
                for stamp in 0..BATCH as u64 {
                    let fate = deferred.submit(stamp, black_box(message));
                    queued += usize::from(fate == Ok(Fate::Queued));
                }
            });
            // The next batch finds an empty queue.
            let good = batch.recv().unwrap_or(0);
            checks.that(queued == BATCH && good == (number + 1) * BATCH);
        }
        checks.that(deferred.finish().handled == (plan.batches as u64 + 1) * BATCH as u64);
        rows.push((name, submits));
    }
    for (name, mut batches) in rows {
        let [median, min] = batches.cells();
        table.rows.push(vec![name.into(), median, min]);
    }
    Ok(table)
}

/// A message every two microseconds to a handler that stalls now and then.
fn stalled(
    name: &str,
    stall: Stall,
    message: &[u8],
    checks: &mut Checks,
) -> Result<Vec<Cell>, Error> {
    let is_lossless = stall != Stall::Drop;
    let mut options = Options::default();
    options.buffer_bytes = BUFFER_BYTES;
    options.stall = stall;
    let start = Instant::now();
    let now_ns = move || u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let (sender, ends) = mpsc::channel();
    let (mut ends_ns, mut last, mut in_order) = (Vec::with_capacity(MESSAGES as usize), 0, true);
    let mut decoder = Decoder::new();
    let handler = move |stamp, bytes: &[u8]| {
        if !bytes.is_empty() {
            work(&mut decoder, bytes);
            if ends_ns.len() as u64 % STALL_EVERY == STALL_EVERY / 2 {
                thread::sleep(STALL);
            }
            in_order &= stamp >= last;
            last = stamp;
            ends_ns.push(now_ns() - stamp);
        } else {
            let _ = sender.send((std::mem::take(&mut ends_ns), in_order));
        }
    };
    let mut deferred = Deferred::start(&options, handler).map_err(failed)?;
    let mut submits_ns = Vec::with_capacity(MESSAGES as usize);
    let mut due_ns = now_ns();
    for _ in 0..MESSAGES {
        let mut stamp = now_ns();
        while stamp < due_ns {
            std::hint::spin_loop();
            stamp = now_ns();
        }
        due_ns = due_ns.max(stamp) + PERIOD_NS;
        let _ = black_box(deferred.submit(stamp, message).map_err(failed)?);
        submits_ns.push(now_ns() - stamp);
    }
    let (dropped, spilled) = (deferred.dropped(), deferred.spilled());
    // The last one, which asks for what was recorded, has to get through.
    let mut asked = deferred.submit(u64::MAX, &[]).map_err(failed)?;
    while asked == Fate::Dropped {
        thread::yield_now();
        asked = deferred.submit(u64::MAX, &[]).map_err(failed)?;
    }
    let (mut ends_ns, in_order) = ends.recv().map_err(failed)?;
    drop(deferred);
    checks.that(in_order && ends_ns.len() as u64 + dropped == MESSAGES);
    checks.that(!is_lossless || dropped == 0);
    submits_ns.sort_unstable();
    ends_ns.sort_unstable();
    let mut row: Vec<Cell> = vec![
        name.into(),
        MESSAGES.into(),
        (ends_ns.len() as u64).into(),
        spilled.into(),
        dropped.into(),
    ];
    row.extend([500, 990, 999, 1000].map(|share| permille(&submits_ns, share)));
    row.extend([500, 990, 999].map(|share| permille(&ends_ns, share)));
    Ok(row)
}

/// The value that so many thousandths of a sorted sample do not exceed.
fn permille(sorted: &[u64], share: usize) -> Cell {
    let at = (sorted.len() * share).div_ceil(1000).saturating_sub(1);
    sorted.get(at).copied().map_or(Cell::Null, Cell::from)
}
