//! Two logs message by message, whatever their shape and order, in bounded memory.
//!
//! Both logs are followed at the same pace, message by message. A message waits until its like comes in
//! the other log, or until as many wait as may: then the oldest has none (`waiting`).

use std::collections::{BTreeMap, VecDeque};

use fixcore::{Decoder, Field, Message};

use crate::diff::fields::{Difference, key, merge, numbered, place};
use crate::diff::options::{Match, Options};
use crate::diff::waiting::{Kept, Waiting};
use crate::{Accept, Block, Blocks, Error, Filter, Found, LineCounter, Logs, Messages, Separator};

/// Bytes of messages that wait on a side, however few these are.
const WAITING_BYTES_MAX: usize = 256 << 20;

/// What a comparison found.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A message that only one log has.
    Only {
        /// Which log: 0 or 1.
        log: usize,
        /// Its byte offset there.
        offset: u64,
        /// Its line there, counted from 1; of a capture, the number of the packet.
        line: Option<u64>,
        /// The message.
        message: &'e Message<'e, 'e>,
    },
    /// Two messages that belong together and differ.
    Different {
        /// Their byte offsets.
        offsets: [u64; 2],
        /// Their lines, counted from 1; of a capture, numbers of packets.
        lines: [Option<u64>; 2],
        /// The message of the first log.
        message: &'e Message<'e, 'e>,
        /// The fields that differ, by tag.
        differences: &'e [Difference<'e>],
    },
    /// A message that is not valid, and is not compared.
    Bad {
        /// Which log: 0 or 1.
        log: usize,
        /// Its byte offset there.
        offset: u64,
        /// What is wrong with it.
        error: String,
    },
    /// The end of a log.
    Ended {
        /// Which log: 0 or 1.
        log: usize,
        /// How many bytes were read.
        bytes: u64,
    },
}

/// How many messages were compared.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Pairs that are the same.
    pub same: u64,
    /// Pairs that differ.
    pub different: u64,
    /// Messages that only the first or only the second log has.
    pub only: [u64; 2],
    /// Messages that are not valid.
    pub bad: u64,
    /// Messages that are not valid but compared all the same.
    pub accepted: u64,
    /// By tag: in how many pairs it differs.
    pub tags: BTreeMap<u32, u64>,
}

/// One log.
#[derive(Debug)]
struct Side<L: Logs> {
    blocks: Blocks<L>,
    block: Block,
    messages: Messages,
    /// Messages of the last block that had no turn yet.
    ready: VecDeque<Kept>,
    ended: bool,
}

impl<L: Logs> Side<L> {
    fn new(logs: L, separator: Separator, accept: Accept) -> Self {
        Self {
            blocks: Blocks::new(logs, separator).lengths_differ(accept.length),
            block: Block::default(),
            messages: Messages::new(),
            ready: VecDeque::new(),
            ended: false,
        }
    }
}

/// A comparison of two logs, step by step.
///
/// ```
/// use fixlog::Readers;
/// use fixlog::diff::{Diff, Event, Options};
///
/// # fn message(body: &str) -> Vec<u8> {
/// #     let mut all = Vec::new();
/// #     fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut all);
/// #     all
/// # }
/// let a = message("35=D|49=DESK|56=MARKET|34=1|38=100|");
/// let b = message("35=D|49=DESK|56=MARKET|34=1|38=200|");
/// let logs = [&a, &b].map(|log| Readers::new([&log[..]]));
/// let mut diff = Diff::new(logs, &Options::new());
/// let mut found = Vec::new();
/// let mut visit = |event: Event<'_>| {
///     if let Event::Different { differences, .. } = event {
///         found.extend(differences.iter().map(|field| field.tag));
///     }
/// };
/// while diff.step(&|| false, &mut visit)? {}
/// diff.rest(&mut visit);
/// assert_eq!(found, [38]);
/// assert_eq!(diff.counts().different, 1);
/// # Ok::<(), fixlog::Error>(())
/// ```
#[derive(Debug)]
pub struct Diff<L: Logs> {
    sides: [Side<L>; 2],
    pairs: Pairs,
}

/// What is known of both logs.
#[derive(Debug)]
struct Pairs {
    by: Match,
    /// Sorted.
    ignored: Vec<u32>,
    filter: Filter,
    accept: Accept,
    decoders: [Decoder; 2],
    waiting: Waiting,
    counts: Counts,
}

impl<L: Logs> Diff<L> {
    /// A comparison of two logs. Each of the two [`Logs`] has to open one log.
    pub fn new(logs: [L; 2], options: &Options) -> Self {
        Self {
            sides: logs.map(|logs| Side::new(logs, options.separator, options.accept)),
            pairs: Pairs {
                by: options.by,
                ignored: options.sorted(),
                filter: options.filter.clone(),
                accept: options.accept,
                decoders: [Decoder::new(), Decoder::new()],
                waiting: Waiting::new(options.window, WAITING_BYTES_MAX),
                counts: Counts::default(),
            },
        }
    }

    /// Takes the next message of each log; whether there was one. A log that waits looks at `stopped`.
    ///
    /// # Errors
    /// Those of opening and reading: nothing can be said of the other log then.
    pub fn step(
        &mut self,
        stopped: &dyn Fn() -> bool,
        visit: &mut dyn FnMut(Event<'_>),
    ) -> Result<bool, Error> {
        for (at, side) in self.sides.iter_mut().enumerate() {
            while side.ready.is_empty() && !side.ended {
                self.pairs.read(at, side, stopped, visit)?;
            }
        }
        if self.sides.iter().all(|side| side.ready.is_empty()) {
            return Ok(false);
        }
        for (at, side) in self.sides.iter_mut().enumerate() {
            if let Some(kept) = side.ready.pop_front() {
                self.pairs.place(at, kept, visit);
            }
        }
        self.pairs.given_out(visit, Waiting::trim);
        Ok(true)
    }

    /// Gives out the messages that still wait for their like. To be called once, after the last step.
    pub fn rest(&mut self, visit: &mut dyn FnMut(Event<'_>)) {
        self.pairs.given_out(visit, Waiting::rest);
    }

    /// What was counted so far.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.pairs.counts
    }
}

impl Pairs {
    /// Reads the next block of a log.
    fn read<L: Logs>(
        &mut self,
        at: usize,
        side: &mut Side<L>,
        stopped: &dyn Fn() -> bool,
        visit: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), Error> {
        if !side.blocks.next(&mut side.block, stopped) {
            side.ended = true;
            return Ok(());
        }
        let (decoder, ready) = (&mut self.decoders[at], &mut side.ready);
        let (counts, by, ignored) = (&mut self.counts, self.by, &self.ignored);
        let (filter, accept) = (&self.filter, self.accept);
        let mut lines = LineCounter::default();
        let block = &side.block;
        side.messages.each(block, &mut |at_text, found| {
            let (offset, mut is_message) = (block.file_offset(at_text), true);
            let error = match found {
                Found::Lost(lost) => lost.text.clone(),
                Found::Noise(_) | Found::Between(_) => return true,
                Found::Bad(why) => why.to_string(),
                Found::Message(bytes, _) => match accept.message(decoder, bytes) {
                    Ok((message, _)) if !filter.matches(&message) => return true,
                    Ok((message, is_valid)) => {
                        counts.accepted += u64::from(!is_valid);
                        ready.push_back(Kept {
                            key: key(&message, by, ignored),
                            place: place(&message, by),
                            offset,
                            line: lines.line(block, at_text),
                            bytes: bytes.to_vec(),
                        });
                        return true;
                    }
                    Err(error) => {
                        is_message = false;
                        error.to_string()
                    }
                },
            };
            counts.bad += 1;
            let log = at;
            visit(Event::Bad { log, offset, error });
            is_message
        });
        if let Some(ended) = side.block.take_ended() {
            side.ended = true;
            // What was not read is not missing.
            if let Some(error) = ended.error {
                return Err(error.of_log(at));
            }
            let (log, bytes) = (at, ended.bytes);
            visit(Event::Ended { log, bytes });
        }
        Ok(())
    }

    /// A message finds its like, or waits for it.
    fn place(&mut self, at: usize, kept: Kept, visit: &mut dyn FnMut(Event<'_>)) {
        let mut pair = None;
        self.given_out(visit, |waiting, out| {
            pair = waiting.place(at, kept, &mut |at, kept| out(at, kept, None));
        });
        if let Some((kept, other)) = pair {
            self.compare_of(at, &kept, &other, visit);
        }
    }

    /// Visits the messages that turn out to have no like, and compares those that have only their second choice.
    fn given_out(
        &mut self,
        visit: &mut dyn FnMut(Event<'_>),
        turn: impl FnOnce(&mut Waiting, &mut dyn FnMut(usize, Kept, Option<Kept>)),
    ) {
        let (only, decoders) = (&mut self.counts.only, &mut self.decoders);
        let accept = self.accept;
        let mut second = Vec::new();
        turn(&mut self.waiting, &mut |at, kept, other| {
            if let Some(other) = other {
                second.push((at, kept, other));
                return;
            }
            only[at] += 1;
            // It was parsed before.
            if let Ok((message, _)) = accept.message(&mut decoders[at], &kept.bytes) {
                visit(Event::Only {
                    log: at,
                    offset: kept.offset,
                    line: kept.line,
                    message: &message,
                });
            }
        });
        for (at, kept, other) in second {
            self.compare_of(at, &kept, &other, visit);
        }
    }

    /// Compares a message of log `at` with one of the other log.
    fn compare_of(
        &mut self,
        at: usize,
        kept: &Kept,
        other: &Kept,
        visit: &mut dyn FnMut(Event<'_>),
    ) {
        match at {
            0 => self.compare(kept, other, visit),
            _ => self.compare(other, kept, visit),
        }
    }

    fn compare(&mut self, a: &Kept, b: &Kept, visit: &mut dyn FnMut(Event<'_>)) {
        let [first, second] = &mut self.decoders;
        // Both were parsed before.
        let accept = self.accept;
        let (Ok((one, _)), Ok((two, _))) = (
            accept.message(first, &a.bytes),
            accept.message(second, &b.bytes),
        ) else {
            return;
        };
        let kept = |field: &Field<'_>| self.ignored.binary_search(&field.tag).is_err();
        let fields = |message: &Message<'_, '_>| message.fields().filter(kept).count();
        if fields(&one) == fields(&two)
            && one
                .fields()
                .filter(kept)
                .zip(two.fields().filter(kept))
                .all(|(a, b)| (a.tag, a.value) == (b.tag, b.value))
        {
            self.counts.same += 1;
            return;
        }
        self.counts.different += 1;
        let tags = &mut self.counts.tags;
        let differences = merge(numbered(&one, &kept), numbered(&two, &kept));
        let mut last = 0;
        for difference in &differences {
            if last != difference.tag {
                *tags.entry(difference.tag).or_insert(0) += 1;
                last = difference.tag;
            }
        }
        visit(Event::Different {
            offsets: [a.offset, b.offset],
            lines: [a.line, b.line],
            message: &one,
            differences: &differences,
        });
    }
}
