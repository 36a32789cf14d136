//! What one thread does with a block of events: reads them, searches, and makes their lines.

use std::ops::Range;
use std::time::Instant;

use betree::{Batch, Budget, Buffers, Event, Priorities, Progress, Snapshot, SubscriptionId};
use latency::{MergeError, Recorder};

use crate::commands::betree::flags::MatchArgs;
use crate::commands::betree::lines::{Block, Place, refused_event, too_long};
use crate::commands::betree::print::Form;
use crate::failure::Failure;
use crate::term::signal;

/// Output of a block after which its other lines have to wait.
const OUTPUT_BYTES_MAX: usize = 4 << 20;
/// What a message counts as output.
const MESSAGE_BYTES: usize = 256;

/// What all threads do.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) args: &'a MatchArgs,
    pub(super) snapshot: &'a Snapshot,
    pub(super) form: Form<'a>,
    /// For `--top`.
    pub(super) priorities: Option<&'a Priorities>,
    /// Whether events are searched many at a time.
    pub(super) batches: bool,
    /// What messages call the source of the events.
    pub(super) origin: &'a str,
    /// Whether to leave a block when the user asks to stop.
    pub(super) ends_early: bool,
}

impl Job<'_> {
    fn is_stopped(&self) -> bool {
        self.ends_early && signal::interrupted()
    }
}

/// The distributions of a thread.
pub(super) struct Times {
    pub(super) searches: Recorder,
    pub(super) reads: Recorder,
    pub(super) holds: Recorder,
}

impl Times {
    pub(super) fn merge(&mut self, other: Self) -> Result<(), MergeError> {
        self.searches.merge(other.searches)?;
        self.reads.merge(other.reads)?;
        self.holds.merge(other.holds)
    }
}

/// An event that was passed over.
#[derive(Debug)]
pub(super) struct Refused {
    /// The number of its line.
    #[cfg_attr(
        not(feature = "workers"),
        expect(dead_code, reason = "workers name it")
    )]
    pub(super) number: u64,
    /// Why, without its place.
    #[cfg_attr(
        not(feature = "workers"),
        expect(dead_code, reason = "workers name it")
    )]
    pub(super) reason: String,
    /// The same with its place, and what may help.
    pub(super) failure: Failure,
}

/// What was made of the lines of a block.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) out: Vec<u8>,
    pub(super) events: u64,
    pub(super) matches: u64,
    /// Events that were passed over, and why.
    pub(super) refused: Vec<Refused>,
    /// Why the lines after the last one are not looked at.
    pub(super) failure: Option<Failure>,
    /// Where to go on, if the output became too long or somebody interrupted.
    pub(super) rest: Option<Place>,
}

impl Made {
    fn begin(&mut self, block: &Block) -> Place {
        self.out.clear();
        if self.out.capacity() > 2 * OUTPUT_BYTES_MAX {
            self.out = Vec::new();
        }
        self.refused.clear();
        self.failure = None;
        (self.events, self.matches) = (0, 0);
        self.rest.take().unwrap_or_else(|| block.start())
    }

    fn is_full(&self) -> bool {
        self.out.len() + MESSAGE_BYTES * self.refused.len() >= OUTPUT_BYTES_MAX
    }
}

/// An event of a batch, or why it is none.
struct Waiting {
    place: Place,
    id: Range<usize>,
    event: Result<usize, Refused>,
}

/// A thread that matches.
pub(super) struct Worker<'a> {
    job: Job<'a>,
    buffers: Buffers,
    batch: Option<Batch>,
    events: Vec<Event>,
    /// Events whose memory can be used again.
    spare: Vec<Event>,
    waiting: Vec<Waiting>,
    /// The ids of events, as JSON.
    event_ids: Vec<u8>,
    ids: Vec<SubscriptionId>,
    pub(super) times: Times,
    /// Counted at each step, for those who report to a broker that the work goes on.
    #[cfg(feature = "workers")]
    pub(super) steps: workers::Steps,
}

impl<'a> Worker<'a> {
    pub(super) fn new(job: Job<'a>, times: Times) -> Self {
        Self {
            buffers: Buffers::new(),
            batch: job.batches.then(|| job.snapshot.batch()),
            events: Vec::new(),
            spare: Vec::new(),
            waiting: Vec::new(),
            event_ids: Vec::new(),
            ids: Vec::new(),
            job,
            times,
            #[cfg(feature = "workers")]
            steps: workers::Steps::default(),
        }
    }

    /// Tests that were not evaluated again for the same event, where events are searched one by one.
    pub(super) fn memoised(&self) -> u64 {
        self.buffers.memoised()
    }

    /// Matches the events of a block, from where `made` says on.
    pub(super) fn block(&mut self, block: &Block, made: &mut Made) {
        let place = made.begin(block);
        if let Some(number) = block.too_long {
            let keep_going = self.job.args.keep_going;
            let failure = too_long(self.job.origin, number, keep_going);
            if keep_going {
                self.job.form.refused(&[], &mut made.out);
                let reason = "it is too long".to_owned();
                made.refused.push(Refused {
                    number,
                    reason,
                    failure,
                });
            } else {
                made.failure = Some(failure);
            }
            return;
        }
        match self.batch.take() {
            Some(mut batch) => {
                self.at_once(&mut batch, block, place, made);
                self.batch = Some(batch);
            }
            None => self.one_by_one(block, place, made),
        }
    }

    fn one_by_one(&mut self, block: &Block, mut place: Place, made: &mut Made) {
        while !made.is_full() && !self.job.is_stopped() {
            let Some(line) = block.line(&mut place) else {
                return;
            };
            if is_blank(line) {
                continue;
            }
            self.event_ids.clear();
            let number = place.number;
            let (_, event) = self.read(line, number);
            let searched = event.and_then(|event| {
                let searched = self.search(&event, number, made);
                self.spare.push(event);
                searched
            });
            if let Err(error) = searched {
                let refused = self.refused(number, &error);
                if !self.job.args.keep_going {
                    made.failure = Some(refused.failure);
                    return;
                }
                self.job.form.refused(&self.event_ids, &mut made.out);
                made.refused.push(refused);
            }
        }
        made.rest = (!block.is_end(place)).then_some(place);
    }

    /// Searches all events of a block at once.
    fn at_once(&mut self, batch: &mut Batch, block: &Block, start: Place, made: &mut Made) {
        self.spare.append(&mut self.events);
        self.waiting.clear();
        self.event_ids.clear();
        let mut place = start;
        let mut failure = None;
        while self.events.len() < Batch::EVENTS_MAX
            && !self.job.is_stopped()
            && let Some(line) = block.line(&mut place)
        {
            if is_blank(line) {
                continue;
            }
            let (id, event) = self.read(line, place.number);
            let event = match event {
                Ok(event) => {
                    self.events.push(event);
                    Ok(self.events.len() - 1)
                }
                Err(error) => {
                    let refused = self.refused(place.number, &error);
                    if !self.job.args.keep_going {
                        failure = Some(refused.failure);
                        break;
                    }
                    Err(refused)
                }
            };
            self.waiting.push(Waiting { place, id, event });
        }
        if let Err(error) = self.search_batch(batch, start) {
            made.failure = Some(Failure::new(error.to_string()));
            return;
        }
        let form = &self.job.form;
        for waiting in self.waiting.drain(..) {
            if made.is_full() {
                return;
            }
            let id = &self.event_ids[waiting.id];
            match waiting.event {
                Ok(event) => {
                    self.ids.clear();
                    batch.ids(event, &mut self.ids);
                    made.events += 1;
                    made.matches += self.ids.len() as u64;
                    form.matches(waiting.place.number, id, &self.ids, &mut made.out);
                }
                Err(refused) => {
                    form.refused(id, &mut made.out);
                    made.refused.push(refused);
                }
            }
            made.rest = Some(waiting.place);
        }
        made.rest = (failure.is_none() && !block.is_end(place)).then_some(place);
        made.failure = failure;
    }

    /// The event of a line, and where its id is.
    fn read(&mut self, line: &[u8], number: u64) -> (Range<usize>, betree::Result<Event>) {
        let start = Instant::now();
        let ids_start = self.event_ids.len();
        let event = self.event(line);
        if event.is_ok() {
            let what = || format!("line {number}");
            self.times
                .reads
                .record_span_what(start, Instant::now(), what);
        }
        (ids_start..self.event_ids.len(), event)
    }

    fn event(&mut self, line: &[u8]) -> betree::Result<Event> {
        let Job { snapshot, args, .. } = self.job;
        let json = crate::commands::expressions::event_json(snapshot.domain(), line)?;
        let mut reader = match self.spare.pop() {
            Some(old) => snapshot.event_reader_reusing(&json, args.ignore_unknown, old),
            None => snapshot.event_reader(&json, args.ignore_unknown),
        };
        if let Some(name) = &args.event_id {
            reader.take_id(name);
        }
        let read = reader.step(Budget::UNLIMITED);
        if let Some(id) = reader.id() {
            self.event_ids.extend_from_slice(id.as_json().as_bytes());
        }
        read?;
        reader.finish()
    }

    fn refused(&self, number: u64, error: &betree::Error) -> Refused {
        let name = self.job.origin;
        let why = format!("cannot read {name}: line {number}: {error}");
        Refused {
            number,
            reason: error.to_string(),
            failure: refused_event(why, error, self.job.args.keep_going),
        }
    }

    /// Searches the only event of `event_ids`, and writes its line.
    fn search(&mut self, event: &Event, number: u64, made: &mut Made) -> betree::Result<()> {
        let budget = Budget::reductions(self.job.args.budget);
        let what = || format!("line {number}");
        let times = &mut self.times;
        let begun = Instant::now();
        let mut start = begun;
        let Job { snapshot, args, .. } = self.job;
        let buffers = &mut self.buffers;
        let mut search = match (self.job.priorities, args.top, args.first) {
            (Some(priorities), Some(count), _) => {
                snapshot.top_k(event, count, priorities, buffers)?
            }
            (_, _, Some(count)) => snapshot.first_n(event, count, buffers)?,
            _ => snapshot.search_iterator(event, buffers)?,
        };
        let ended = loop {
            let progress = search.step(budget);
            let end = Instant::now();
            times.holds.record_span_what(start, end, what);
            #[cfg(feature = "workers")]
            self.steps.step();
            if progress == Progress::Done {
                break end;
            }
            start = end;
        };
        times.searches.record_span_what(begun, ended, what);
        let ids = search.ids();
        made.events += 1;
        made.matches += ids.len() as u64;
        let form = &self.job.form;
        form.matches(number, &self.event_ids, ids, &mut made.out);
        Ok(())
    }

    /// Searches the events that were read.
    fn search_batch(&mut self, batch: &mut Batch, place: Place) -> betree::Result<()> {
        if self.events.is_empty() {
            return Ok(());
        }
        let budget = Budget::reductions(self.job.args.budget);
        let what = || format!("a batch from line {}", place.number + 1);
        let times = &mut self.times;
        let begun = Instant::now();
        let mut start = begun;
        let mut search = batch.search(&self.events)?;
        loop {
            let progress = search.step(budget);
            let end = Instant::now();
            times.holds.record_span_what(start, end, what);
            #[cfg(feature = "workers")]
            self.steps.step();
            start = end;
            if progress == Progress::Done {
                break;
            }
        }
        times.searches.record_span_what(begun, start, what);
        Ok(())
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}
