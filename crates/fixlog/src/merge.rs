//! Several logs in the order of time.

use std::collections::VecDeque;

/// A part of a log whose items have times.
pub trait Timed {
    /// Which log it is of, counted from 0.
    fn log(&self) -> usize;

    /// How many items it has.
    fn items(&self) -> usize;

    /// The time of an item, in nanoseconds since 1970; one without a time stays with the one before it.
    fn time_ns(&self, at: usize) -> Option<i64>;
}

/// A part of a log, as far as it was given out.
#[derive(Debug)]
struct Part<B> {
    batch: B,
    at: usize,
}

/// What is known of a log.
#[derive(Debug)]
struct Queue<B> {
    parts: VecDeque<Part<B>>,
    ended: bool,
    /// The latest time so far: a log is in the order in which it was written, whatever its times are.
    now_ns: i64,
}

/// Brings the messages of several logs into the order of their times. The messages of one log stay in
/// their order; of equal times, the first log comes first.
///
/// It asks for the next part of a log where it needs one, and holds one part of each.
///
/// ```
/// use fixlog::{Merge, Timed};
///
/// struct Part(usize, Vec<i64>);
///
/// impl Timed for Part {
///     fn log(&self) -> usize {
///         self.0
///     }
///     fn items(&self) -> usize {
///         self.1.len()
///     }
///     fn time_ns(&self, at: usize) -> Option<i64> {
///         self.1.get(at).copied()
///     }
/// }
///
/// let mut merge = Merge::new(2);
/// merge.push(Part(0, vec![1, 5]));
/// merge.push(Part(1, vec![3]));
/// merge.end(1);
/// let mut order = Vec::new();
/// while merge.needs().is_none() && let Some((part, at)) = merge.next() {
///     order.push(part.1[at]);
///     merge.sweep();
/// }
/// assert_eq!((order, merge.needs()), (vec![1, 3, 5], Some(0)));
/// ```
#[derive(Debug)]
pub struct Merge<B> {
    queues: Vec<Queue<B>>,
}

impl<B: Timed> Merge<B> {
    /// As many logs.
    #[must_use]
    pub fn new(logs: usize) -> Self {
        let queue = || Queue {
            parts: VecDeque::new(),
            ended: false,
            now_ns: i64::MIN,
        };
        Self {
            queues: (0..logs).map(|_| queue()).collect(),
        }
    }

    /// A log of which the next part, or its end, is needed before anything else can be given out.
    #[must_use]
    pub fn needs(&self) -> Option<usize> {
        let lacks = |queue: &Queue<B>| !queue.ended && queue.parts.is_empty();
        self.queues.iter().position(lacks)
    }

    /// Adds the next part of a log.
    pub fn push(&mut self, batch: B) {
        if batch.items() > 0
            && let Some(queue) = self.queues.get_mut(batch.log())
        {
            queue.parts.push_back(Part { batch, at: 0 });
        }
    }

    /// Says that a log has no more parts.
    pub fn end(&mut self, log: usize) {
        if let Some(queue) = self.queues.get_mut(log) {
            queue.ended = true;
        }
    }

    /// The next item in the order of time: its part and its place there; `None` at the end, or if
    /// [`needs`](Self::needs) names a log. After the last item of a part, [`sweep`](Self::sweep) is to be called.
    #[expect(
        clippy::should_implement_trait,
        reason = "what it returns borrows from it"
    )]
    pub fn next(&mut self) -> Option<(&mut B, usize)> {
        let mut first = None;
        for (at, queue) in self.queues.iter().enumerate() {
            let Some(part) = queue.parts.front() else {
                if !queue.ended {
                    return None;
                }
                continue;
            };
            let sent = part.batch.time_ns(part.at);
            let time = sent.map_or(queue.now_ns, |sent| sent.max(queue.now_ns));
            if first.is_none_or(|(least, _)| time < least) {
                first = Some((time, at));
            }
        }
        let (time, at) = first?;
        let queue = self.queues.get_mut(at)?;
        queue.now_ns = time;
        let part = queue.parts.front_mut()?;
        part.at += 1;
        Some((&mut part.batch, part.at - 1))
    }

    /// Lets parts go that were given out.
    pub fn sweep(&mut self) {
        for queue in &mut self.queues {
            while queue
                .parts
                .front()
                .is_some_and(|part| part.at >= part.batch.items())
            {
                queue.parts.pop_front();
            }
        }
    }
}
