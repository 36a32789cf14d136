//! The queue between two threads: what putting a message in and taking it out costs, beside the
//! channel of the standard library.

use std::hint::black_box;
use std::sync::mpsc;

use fixcore::spsc::{Wait, queue};
use fixcore::workload::Sample;
use latency::report::{Table, Unit};

use crate::fix::batches::Batches;
use crate::fix::plan::Plan;
use crate::{Checks, Context, Error};
use report::Outcome;

/// Messages that are put in before they are taken out.
const BATCH: usize = 1_000;
/// Messages that are shown to the other side together.
const STAGED: usize = 32;
const BUFFER_BYTES: usize = 1 << 19;
/// Batches that are not counted: they go round the ring, whose memory is new to them.
const WARM_UP: u32 = 40;

/// Adds the table of the part.
pub(crate) fn part(
    plan: &Plan,
    context: Context<'_>,
    outcome: &mut Outcome,
    checks: &mut Checks,
) -> Result<(), Error> {
    let columns = [
        ("of", Unit::Text),
        ("bytes", Unit::Bytes),
        ("push_ns", Unit::Nanoseconds),
        ("push_min_ns", Unit::Nanoseconds),
        ("take_ns", Unit::Nanoseconds),
        ("take_min_ns", Unit::Nanoseconds),
    ];
    let mut table = Table::new("queue, nanoseconds a message", &columns);
    let order = Sample::NewOrder.bytes();
    for message in [&[][..], &order] {
        for (name, wait, staged) in [
            ("descriptors and bytes", Wait::Spin, 1),
            ("published by 32", Wait::Spin, STAGED),
            ("reader may sleep", Wait::Park { spins: 0 }, 1),
        ] {
            context.watch.check()?;
            let (mut producer, mut consumer) = queue(BUFFER_BYTES, wait);
            let (mut pushes, mut takes) = (Batches::new(), Batches::new());
            for batch in 0..WARM_UP + plan.batches {
                if batch == WARM_UP {
                    (pushes, takes) = (Batches::new(), Batches::new());
                }
                let mut refused = 0;
                pushes.time(BATCH, || {
                    for number in 0..BATCH {
                        let pushed = producer.stage(number as u64, black_box(message));
                        refused += u64::from(pushed.is_err());
                        if number % staged == staged - 1 {
                            producer.publish();
                        }
                    }
                    producer.publish();
                });
                checks.add(BATCH as u64, refused);
                let (mut next, mut wrong) = (0, 0);
                takes.time(BATCH, || {
                    consumer.drain(BATCH, |stamp, bytes| {
                        wrong += u64::from(stamp != next || bytes.len() != message.len());
                        next += 1;
                    });
                });
                checks.that(next == BATCH as u64 && wrong == 0);
            }
            add(&mut table, name, message.len(), pushes, takes);
        }
        channel(plan, message, &mut table, checks);
    }
    let rows = table.rows.len() as u64;
    let messages = rows * u64::from(plan.batches) * BATCH as u64;
    outcome.ops = Some(outcome.ops.unwrap_or(0) + messages);
    outcome.tables.push(table);
    Ok(())
}

/// Copies through a bounded channel of the standard library.
fn channel(plan: &Plan, message: &[u8], table: &mut Table, checks: &mut Checks) {
    let (sender, receiver) = mpsc::sync_channel::<Vec<u8>>(BATCH);
    let (mut pushes, mut takes) = (Batches::new(), Batches::new());
    for _ in 0..=plan.batches {
        let mut refused = 0;
        pushes.time(BATCH, || {
            for _ in 0..BATCH {
                let sent = sender.try_send(black_box(message).to_vec());
                refused += u64::from(sent.is_err());
            }
        });
        checks.add(BATCH as u64, refused);
        let mut taken = 0;
        takes.time(BATCH, || taken = receiver.try_iter().map(black_box).count());
        checks.that(taken == BATCH);
    }
    add(table, "std channel of copies", message.len(), pushes, takes);
}

fn add(table: &mut Table, name: &str, bytes: usize, mut pushes: Batches, mut takes: Batches) {
    let mut row = vec![name.into(), (bytes as u64).into()];
    row.extend(pushes.cells());
    row.extend(takes.cells());
    table.rows.push(row);
}
