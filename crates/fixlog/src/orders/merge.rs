//! Several logs in the order of time.

use std::collections::VecDeque;

use super::event::OrderPart;

/// What a block of a log says about orders, on its way to a [`Book`](super::Book).
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) log: usize,
    pub(super) part: OrderPart,
    /// By the place of a session in the part: the parties.
    pub(super) parties: Vec<[u32; 2]>,
    at: usize,
}

impl Batch {
    /// A part of a log.
    #[must_use]
    pub fn new(log: usize, part: OrderPart) -> Self {
        Self {
            log,
            part,
            ..Self::default()
        }
    }
}

/// What is known of a log.
#[derive(Debug, Default)]
struct Queue {
    batches: VecDeque<Batch>,
    ended: bool,
    /// The latest time so far: a log is in the order in which it was written, whatever its times are.
    now_ns: i64,
}

/// Brings the messages of several logs into the order of their times. The messages of one log stay in
/// their order.
///
/// It asks for the next part of a log where it needs one, and holds one part of each.
#[derive(Debug, Default)]
pub struct Merge {
    queues: Vec<Queue>,
}

impl Merge {
    /// As many logs.
    #[must_use]
    pub fn new(logs: usize) -> Self {
        let mut queues = Vec::new();
        queues.resize_with(logs, Queue::default);
        for queue in &mut queues {
            queue.now_ns = i64::MIN;
        }
        Self { queues }
    }

    /// A log of which the next part, or its end, is needed before anything else can be given out.
    #[must_use]
    pub fn needs(&self) -> Option<usize> {
        let lacks = |queue: &Queue| !queue.ended && queue.batches.is_empty();
        self.queues.iter().position(lacks)
    }

    /// Adds the next part of a log.
    pub fn push(&mut self, batch: Batch) {
        if let Some(queue) = self.queues.get_mut(batch.log)
            && !batch.part.events.is_empty()
        {
            queue.batches.push_back(batch);
        }
    }

    /// Says that a log has no more parts.
    pub fn end(&mut self, log: usize) {
        if let Some(queue) = self.queues.get_mut(log) {
            queue.ended = true;
        }
    }

    /// The next message in the order of time: its batch and its place there; `None` at the end, or if
    /// [`needs`](Self::needs) names a log.
    pub(super) fn next(&mut self) -> Option<(&mut Batch, usize)> {
        if self.needs().is_some() {
            return None;
        }
        let mut first = None;
        for (at, queue) in self.queues.iter().enumerate() {
            let Some(batch) = queue.batches.front() else {
                continue;
            };
            let sent = batch
                .part
                .events
                .get(batch.at)
                .and_then(|event| event.sent_ns);
            let time = sent.map_or(queue.now_ns, |sent| sent.max(queue.now_ns));
            if first.is_none_or(|(least, _)| time < least) {
                first = Some((time, at));
            }
        }
        let (time, at) = first?;
        let queue = self.queues.get_mut(at)?;
        queue.now_ns = time;
        let batch = queue.batches.front_mut()?;
        batch.at += 1;
        let place = batch.at - 1;
        Some((batch, place))
    }

    /// Lets batches go that were given out.
    pub(super) fn sweep(&mut self) {
        for queue in &mut self.queues {
            while queue
                .batches
                .front()
                .is_some_and(|batch| batch.at >= batch.part.events.len())
            {
                queue.batches.pop_front();
            }
        }
    }
}
