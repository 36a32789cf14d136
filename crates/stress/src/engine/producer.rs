//! A logical producer: generates, compresses and sends one batch per turn.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::desk::Desk;
use crate::batch::{Batch, Content, Frozen, Origin};
use crate::counts::add;
use crate::error::CodecError;
use crate::fault::corrupt;
use crate::plan::Loop;

/// One of many producers.
pub(super) struct Producer {
    id: u32,
    /// Number of its next block.
    next: u64,
    /// The one block of the seed loop.
    frozen: Option<Arc<Frozen>>,
    /// A batch that found the queue full.
    held: Option<Batch>,
}

/// The outcome of a call of the codec.
enum Call {
    /// Done; when it started.
    Done(Instant),
    Refused,
    Panicked,
}

impl Producer {
    pub(super) fn new(id: u32) -> Self {
        Self {
            id,
            next: 0,
            frozen: None,
            held: None,
        }
    }

    /// Whether it holds no batch.
    pub(super) fn idle(&self) -> bool {
        self.held.is_none()
    }

    /// Its turn. Returns false when there was nothing to do.
    pub(super) fn turn(&mut self, desk: &mut Desk<'_>) -> bool {
        if let Some(batch) = self.held.take() {
            return self.send(desk, batch, true);
        }
        let mut batch = None;
        let now = Instant::now();
        for _ in 0..desk.shared.plan.batch() {
            let Some(from) = begin(desk, now) else {
                break;
            };
            add(&desk.tally.begun, 1);
            let batch = batch.get_or_insert_with(|| {
                let spare = desk.shared.spare.pop();
                spare.unwrap_or_else(|| Batch::new(from))
            });
            match desk.shared.plan.work {
                Loop::Honest => self.honest(desk, from, batch),
                Loop::Seed => self.seed(desk, from, batch),
            }
        }
        match batch {
            None => false,
            Some(batch) if batch.items.is_empty() => {
                drop(desk.shared.spare.push(batch));
                true
            }
            Some(batch) => {
                self.send(desk, batch, false);
                true
            }
        }
    }

    /// Sends a batch, or keeps it when the queue is full. Returns false when the queue is full.
    fn send(&mut self, desk: &mut Desk<'_>, mut batch: Batch, again: bool) -> bool {
        let blocks = batch.items.len() as u64;
        let bytes: usize = batch.items.iter().map(|item| batch.block(item).len()).sum();
        if !again {
            batch.sent = Instant::now();
        }
        match desk.shared.queue.push(batch) {
            Ok(()) => {
                add(&desk.tally.sent, blocks);
                add(&desk.tally.sent_bytes, bytes as u64);
                desk.shared.notifier.notify();
                true
            }
            Err(batch) => {
                self.held = Some(batch);
                if !again {
                    add(&desk.tally.queue_full, 1);
                }
                false
            }
        }
    }

    /// One new block of the honest loop.
    fn honest(&mut self, desk: &mut Desk<'_>, from: Instant, batch: &mut Batch) {
        let nth = self.next;
        self.next += 1;
        desk.shared.data.fill(self.id, nth, &mut desk.content);
        match self.compress(desk, nth) {
            Call::Done(start) => {
                // In a closed loop, generating the content does not count.
                let from = desk.pacer.as_ref().map_or(start, |_| from);
                let content = Content::of(&desk.content);
                self.add(desk, batch, nth, from, content);
            }
            Call::Refused => add(&desk.tally.failed, 1),
            Call::Panicked => add(&desk.tally.panicked_compress, 1),
        }
    }

    /// The one block of the seed loop.
    fn seed(&mut self, desk: &mut Desk<'_>, from: Instant, batch: &mut Batch) {
        let frozen = match &self.frozen {
            Some(frozen) => frozen.clone(),
            None => {
                desk.shared.data.fill(self.id, 0, &mut desk.content);
                match self.compress(desk, 0) {
                    Call::Done(_) => {}
                    Call::Refused => return add(&desk.tally.failed, 1),
                    Call::Panicked => return add(&desk.tally.panicked_compress, 1),
                }
                let frozen = Arc::new(Frozen {
                    content: desk.content.clone(),
                    block: desk.block.clone(),
                });
                self.frozen = Some(frozen.clone());
                frozen
            }
        };
        let nth = self.next;
        self.next += 1;
        let origin = self.origin(nth, from);
        let flip = (desk.shared.corrupt.now()).then_some(|block: &mut [u8]| {
            corrupt(block, origin.producer, nth);
        });
        if flip.is_some() {
            add(&desk.tally.corrupted, 1);
        }
        batch.push(origin, Content::Frozen(frozen.clone()), &frozen.block, flip);
    }

    fn add(&self, desk: &Desk<'_>, batch: &mut Batch, nth: u64, from: Instant, content: Content) {
        let origin = self.origin(nth, from);
        let flip = (desk.shared.corrupt.now()).then_some(|block: &mut [u8]| {
            corrupt(block, origin.producer, nth);
        });
        if flip.is_some() {
            add(&desk.tally.corrupted, 1);
        }
        batch.push(origin, content, &desk.block, flip);
    }

    fn origin(&self, nth: u64, from: Instant) -> Origin {
        Origin {
            producer: self.id,
            nth,
            from,
        }
    }

    /// Compresses the current content into the current block.
    fn compress(&self, desk: &mut Desk<'_>, nth: u64) -> Call {
        let (content, block) = (&desk.content, &mut desk.block);
        let (pool, seat) = (&desk.shared.compressors, &mut desk.compressor);
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| -> Result<(), CodecError> {
            pool.with(seat, |compressor| compressor.compress(content, block))
        }));
        let end = Instant::now();
        match result {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Call::Refused,
            Err(_) => return Call::Panicked,
        }
        let id = self.id;
        let what = || format!("producer {id}, block {nth}");
        desk.recorders.compress.span(start, end, what);
        add(&desk.tally.compressions, 1);
        add(&desk.tally.content_bytes, desk.content.len() as u64);
        add(&desk.tally.block_bytes, desk.block.len() as u64);
        Call::Done(start)
    }
}

/// Begins a block in the turn that started at `turn`, if one may begin. Returns since when it was due.
fn begin(desk: &mut Desk<'_>, turn: Instant) -> Option<Instant> {
    if desk.shared.ending() {
        return None;
    }
    match &mut desk.pacer {
        None => (desk.shared.tickets(1) == 1).then_some(turn),
        Some(pacer) => {
            let now = Instant::now();
            let begun = pacer.next_due() <= now && desk.shared.tickets(1) == 1;
            begun.then(|| pacer.start(now))
        }
    }
}
