//! The threads of a worker that match: blocks go to them, lines come back.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::oneshot;
use workers::{Answer, Block, Fault, Matching, Place, Reason, Steps};

use crate::commands::betree::flags::MatchArgs;
use crate::commands::betree::lines;
use crate::commands::betree::worker::{Made, Refused, Times, Worker};
use crate::commands::betree::workers::epochs::Current;
use crate::commands::betree::workers::refusals;

/// How often a thread without work looks whether its expressions were replaced, to free them.
const LOOK: Duration = Duration::from_millis(500);

/// A block on its way to a thread.
pub(super) struct Task {
    bytes: Bytes,
    /// The lines of the source before it.
    before: u64,
    steps: Steps,
    reply: oneshot::Sender<Result<Lines, Fault>>,
}

/// What a thread made of a block.
struct Lines {
    bytes: Bytes,
    /// Which state of the expressions it had.
    epoch: Arc<str>,
    counts: Counts,
    refused: Vec<Refused>,
    took: Duration,
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
pub(super) struct Threads<'a> {
    tasks: Sender<Task>,
    counts: Mutex<Counts>,
    current: &'a Current,
}

/// Where threads find blocks. There are at most as many as are in flight.
pub(super) struct Queue(Mutex<Receiver<Task>>);

/// What a thread does next.
enum Next {
    Task(Task),
    /// There was none for a while.
    Nothing,
    /// There will be none.
    End,
}

impl Queue {
    fn next(&self) -> Next {
        let queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match queue.recv_timeout(LOOK) {
            Ok(task) => Next::Task(task),
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        }
    }
}

impl<'a> Threads<'a> {
    pub(super) fn new(current: &'a Current) -> (Self, Queue) {
        let (tasks, queue) = channel();
        let threads = Self {
            tasks,
            counts: Mutex::default(),
            current,
        };
        (threads, Queue(Mutex::new(queue)))
    }

    pub(super) fn counts(&self) -> Counts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Matching for Threads<'_> {
    fn epoch(&self) -> Arc<str> {
        self.current.get().epoch.clone()
    }

    async fn answer(&self, block: &Block, place: &Place, steps: Steps) -> Result<Answer, Fault> {
        let (reply, answer) = oneshot::channel();
        let task = Task {
            bytes: block.bytes.clone(),
            before: block.labels.line.unwrap_or(1).saturating_sub(1),
            steps,
            reply,
        };
        let gone = || Fault::Once("a thread that matches has ended".to_owned().into());
        self.tasks.send(task).map_err(|_| gone())?;
        let answer = answer.await.map_err(|_| gone())??;
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        refusals::tell(place, &answer.refused, counts.refused);
        counts.events += answer.counts.events;
        counts.matches += answer.counts.matches;
        counts.refused += answer.counts.refused;
        Ok(Answer {
            bytes: answer.bytes,
            epoch: answer.epoch,
            took: answer.took,
            refused: answer.counts.refused,
            refusals: refusals::listed(&answer.refused),
        })
    }
}

/// What a thread does until there is no more work. A block is answered by the expressions that are there when it is taken.
pub(super) fn serve(
    args: &MatchArgs,
    (current, batches): (&Current, bool),
    mut times: Times,
    queue: &Queue,
) -> Times {
    let (mut block, mut made) = (lines::Block::default(), Made::default());
    // What was taken when there were newer expressions.
    let mut taken = None;
    loop {
        let state = current.get();
        let mut worker = Worker::new(state.job(args, batches), times);
        loop {
            let next = taken.take().map_or_else(|| queue.next(), Next::Task);
            let is_old = !current.is(&state);
            match next {
                Next::End => return worker.times,
                Next::Nothing if is_old => break,
                Next::Nothing => {}
                Next::Task(task) if is_old => {
                    taken = Some(task);
                    break;
                }
                Next::Task(task) => {
                    // Now it is being worked on.
                    task.steps.step();
                    worker.steps = task.steps.clone();
                    block.fill(&task.bytes, task.before);
                    let lines = answer(&mut worker, &state.epoch, &block, &mut made);
                    // If its waiter is gone, the process ends.
                    let _ = task.reply.send(lines);
                }
            }
        }
        times = worker.times;
    }
}

fn answer(
    worker: &mut Worker<'_>,
    epoch: &Arc<str>,
    block: &lines::Block,
    made: &mut Made,
) -> Result<Lines, Fault> {
    let started = Instant::now();
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
            return Err(Fault::Once(Reason {
                text: failure.message().to_owned(),
                help: failure.help_text().map(str::to_owned),
            }));
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
    Ok(Lines {
        bytes: Bytes::from(whole),
        epoch: epoch.clone(),
        counts,
        refused,
        took: started.elapsed(),
    })
}
