//! A logical consumer: takes one batch per turn, decompresses its blocks and compares their content.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::desk::Desk;
use crate::batch::{Batch, Item};
use crate::counts::add;

/// One of many consumers.
#[derive(Default)]
pub(super) struct Consumer {
    /// Until when it does nothing, by an injected fault.
    ready_at: Option<Instant>,
}

impl Consumer {
    /// Until when it does nothing, by an injected fault.
    pub(super) fn ready_at(&self) -> Option<Instant> {
        self.ready_at
    }

    /// Its turn at about `now`. Returns false when there was nothing to do.
    pub(super) fn turn(&mut self, desk: &mut Desk<'_>, now: Instant) -> bool {
        let (shared, faults) = (desk.shared, &desk.shared.plan.faults);
        let draining = shared.draining();
        if self.ready_at.is_some_and(|ready| now < ready) && !draining {
            return false;
        }
        self.ready_at = None;
        if faults.full_queue && !shared.queue.is_full() && !draining {
            return false;
        }
        let was_full = shared.queue.is_full();
        let Some(mut batch) = shared.queue.pop() else {
            return false;
        };
        if was_full {
            // Producers that hold a batch sleep until there is room.
            shared.notifier.notify();
        }
        let came = Instant::now();
        let blocks = batch.items.len();
        let what = || format!("a batch of {blocks}");
        let queue = &mut desk.recorders.queue;
        queue.span(batch.sent, came, what);
        for item in &batch.items {
            take(desk, &batch, item);
        }
        batch.clear();
        drop(shared.spare.push(batch));
        if let Some(pause) = faults.consumer_pause.filter(|_| !draining) {
            self.ready_at = desk.last_end.checked_add(pause);
        }
        true
    }
}

/// Decompresses one block and counts its fate in exactly one counter.
fn take(desk: &mut Desk<'_>, batch: &Batch, item: &Item) {
    let tally = desk.tally;
    add(&tally.received, 1);
    let (block, content) = (batch.block(item), &mut desk.content);
    let (pool, seat) = (&desk.shared.decompressors, &mut desk.decompressor);
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| {
        pool.with(seat, |decompressor| decompressor.decompress(block, content))
    }));
    let end = Instant::now();
    desk.last_end = end;
    let right = match result {
        Err(_) => return add(&tally.panicked_decompress, 1),
        Ok(Err(_)) => {
            add(&tally.refused, 1);
            false
        }
        Ok(Ok(())) => {
            let what = || format!("producer {}, block {}", item.producer, item.nth);
            desk.recorders.decompress.span(start, end, what);
            desk.recorders.end_to_end.span(item.from, end, what);
            add(&tally.decompressed_bytes, desk.content.len() as u64);
            let right = item.content.is(&desk.content);
            add(
                if right {
                    &tally.verified
                } else {
                    &tally.mismatched
                },
                1,
            );
            right
        }
    };
    match (right, item.corrupted) {
        (false, false) => add(&tally.wrong, 1),
        (true, true) => add(&tally.corrupted_harmless, 1),
        _ => {}
    }
}
