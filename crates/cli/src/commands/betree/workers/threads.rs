//! The threads of a worker that match: blocks go to them, lines come back.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::oneshot;
use workers::{Block, Fault, Matching, Steps};

use crate::commands::betree::lines;
use crate::commands::betree::worker::{Made, Worker};
use crate::failure::Failure;
use crate::term::message;

/// A block on its way to a thread.
pub(super) struct Task {
    bytes: Bytes,
    /// The lines of the source before it.
    before: u64,
    steps: Steps,
    reply: oneshot::Sender<Result<Answer, Fault>>,
}

/// What a thread made of a block.
struct Answer {
    bytes: Bytes,
    counts: Counts,
    refused: Vec<Failure>,
}

/// What was matched.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) events: u64,
    pub(super) matches: u64,
    /// Events that were skipped.
    pub(super) refused: u64,
}

/// The threads, as the engine sees them.
pub(super) struct Threads {
    tasks: Sender<Task>,
    counts: Mutex<Counts>,
}

/// Where threads find blocks. There are at most as many as are in flight.
pub(super) struct Queue(Mutex<Receiver<Task>>);

impl Threads {
    pub(super) fn new() -> (Self, Queue) {
        let (tasks, queue) = channel();
        let threads = Self {
            tasks,
            counts: Mutex::default(),
        };
        (threads, Queue(Mutex::new(queue)))
    }

    pub(super) fn counts(&self) -> Counts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Matching for Threads {
    async fn answer(&self, block: &Block, steps: Steps) -> Result<Bytes, Fault> {
        let (reply, answer) = oneshot::channel();
        let task = Task {
            bytes: block.bytes.clone(),
            before: block.labels.line.unwrap_or(1).saturating_sub(1),
            steps,
            reply,
        };
        let gone = || Fault::Once("a thread that matches has ended".to_owned());
        self.tasks.send(task).map_err(|_| gone())?;
        let answer = answer.await.map_err(|_| gone())??;
        answer.refused.iter().for_each(message::failure);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.events += answer.counts.events;
        counts.matches += answer.counts.matches;
        counts.refused += answer.counts.refused;
        Ok(answer.bytes)
    }
}

/// What a thread does until there is no more work.
pub(super) fn serve<'a>(mut worker: Worker<'a>, queue: &Queue) -> Worker<'a> {
    let (mut block, mut made) = (lines::Block::default(), Made::default());
    loop {
        let task = {
            let queue = queue.0.lock().unwrap_or_else(PoisonError::into_inner);
            queue.recv()
        };
        let Ok(task) = task else {
            return worker;
        };
        // Now it is being worked on.
        task.steps.step();
        worker.steps = task.steps.clone();
        block.fill(&task.bytes, task.before);
        let answer = answer(&mut worker, &block, &mut made);
        // If its waiter is gone, the process ends.
        let _ = task.reply.send(answer);
    }
}

fn answer(worker: &mut Worker<'_>, block: &lines::Block, made: &mut Made) -> Result<Answer, Fault> {
    let mut whole = Vec::new();
    let mut counts = Counts::default();
    let mut refused = Vec::new();
    made.rest = None;
    loop {
        worker.block(block, made);
        counts.events += made.events;
        counts.matches += made.matches;
        counts.refused += made.refused.len() as u64;
        refused.append(&mut made.refused);
        if let Some(failure) = made.failure.take() {
            return Err(Fault::Once(failure.message().to_owned()));
        }
        if made.rest.is_none() && whole.is_empty() {
            whole = std::mem::take(&mut made.out);
            break;
        }
        whole.extend_from_slice(&made.out);
        if made.rest.is_none() {
            break;
        }
    }
    Ok(Answer {
        bytes: Bytes::from(whole),
        counts,
        refused,
    })
}
