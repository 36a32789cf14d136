//! What one thread makes of the messages of a block: lines, statistics, or messages with pseudonyms.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fixcore::dict::Dictionary;
use fixcore::{Decoder, Isa, Message};

use crate::dictionaries::{decoder, pairs};
use crate::pseudonym::Batch;
use crate::{
    Block, Checker, Fault, Faults, Filter, Found, Lines, Messages, Part, Printer, Pseudonyms,
};

/// Faults of a block that are named where there are no lines for them.
const NAMED: usize = 20;

/// What is made of each message.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Job<'d> {
    /// A line of JSON.
    Parse,
    /// A line of JSON where it is not valid by the dictionary.
    Validate,
    /// Text with the names of fields and values.
    Print,
    /// Statistics.
    Statistics,
    /// The same message with pseudonyms, on a line.
    Anonymize(&'d Pseudonyms),
}

/// What a [`Worker`] does, and how.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Task<'d> {
    job: Job<'d>,
    names: &'d [PathBuf],
    dictionary: Option<&'d Dictionary>,
    isa: Option<Isa>,
    lines: Lines,
    filter: Option<&'d Filter>,
}

impl<'d> Task<'d> {
    /// Does `job` with the built-in dictionaries and the best instruction set.
    #[must_use]
    pub fn new(job: Job<'d>) -> Self {
        Self {
            job,
            names: &[],
            dictionary: None,
            isa: None,
            lines: Lines::new(),
            filter: None,
        }
    }

    /// Sets the names of the logs, as lines about faults have them, and lines about messages if there are
    /// several logs.
    #[must_use]
    pub fn names(mut self, names: &'d [PathBuf]) -> Self {
        self.names = names;
        self
    }

    /// Uses this dictionary in place of the built-in one of its version.
    #[must_use]
    pub fn dictionary(mut self, dictionary: Option<&'d Dictionary>) -> Self {
        self.dictionary = dictionary;
        self
    }

    /// Scans by this instruction set, or by the best one if the processor does not have it.
    #[must_use]
    pub fn isa(mut self, isa: Isa) -> Self {
        self.isa = Some(isa);
        self
    }

    /// Sets how lines are written.
    #[must_use]
    pub fn lines(mut self, lines: Lines) -> Self {
        self.lines = lines;
        self
    }

    /// Does the job with messages that this filter wants, and only counts the other ones. What is bad
    /// cannot be asked, and is always reported.
    #[must_use]
    pub fn filter(mut self, filter: Option<&'d Filter>) -> Self {
        self.filter = filter.filter(|filter| !filter.is_empty());
        self
    }
}

/// What was made of a block.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Made {
    /// Lines, or messages.
    pub out: Vec<u8>,
    /// How many messages are good, and wanted.
    pub good: u64,
    /// How many messages the filter does not want.
    pub filtered: u64,
    /// How many are bad.
    pub bad: u64,
    /// The first faults, at most 20, by byte offset, where `out` has no lines for them.
    pub named: Vec<(u64, String)>,
    /// How often each class of fault occurs.
    pub faults: Faults,
    /// The tags that no dictionary has and whose values stayed as they were, because they are numbers or
    /// codes, and how many values.
    pub left: BTreeMap<u32, u64>,
    /// The statistics, for [`Statistics::add`](crate::Statistics::add).
    pub part: Part,
}

/// Does the work of one thread.
///
/// ```
/// use fixlog::{Job, Made, Pseudonyms, Readers, Task, Worker, Workers};
///
/// # fn message(body: &str) -> Vec<u8> {
/// #     let mut all = Vec::new();
/// #     fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut all);
/// #     all
/// # }
/// let log = message("35=D|49=DESK|56=MARKET|34=1|1=FUND-0071|38=500|");
/// let pseudonyms = Pseudonyms::new(b"sixteen bytes ok")?;
/// let task = Task::new(Job::Anonymize(&pseudonyms));
/// let mut hidden = Vec::new();
/// let ended = Workers::new().run(
///     &|| false,
///     Readers::new([&log[..]]),
///     vec![Worker::new(task)],
///     |worker, block, made: &mut Made| worker.block(block, made),
///     |_, made| {
///         hidden.extend_from_slice(&made.out);
///         Ok::<(), std::io::Error>(())
///     },
/// );
/// assert!(ended.result.is_ok());
/// let text = String::from_utf8(hidden)?;
/// assert!(text.contains("\x0138=500\x01"), "quantities stay");
/// assert!(!text.contains("FUND-0071") && !text.contains("DESK"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Worker<'d> {
    task: Task<'d>,
    messages: Messages,
    decoder: Decoder,
    checker: Checker<'d>,
    printer: Printer<'d>,
    batch: Batch,
}

impl<'d> Worker<'d> {
    /// A worker; each thread has its own.
    #[must_use]
    pub fn new(task: Task<'d>) -> Self {
        Self {
            messages: Messages::with_pairs(pairs(task.dictionary)),
            decoder: decoder(task.isa, task.dictionary).unwrap_or_default(),
            checker: Checker::new(task.dictionary),
            printer: Printer::new(task.lines),
            batch: Batch::new(pairs(task.dictionary)),
            task,
        }
    }

    /// Does the job with each message of a block. `made` is replaced.
    pub fn block(&mut self, block: &Block, made: &mut Made) {
        made.out.clear();
        made.named.clear();
        made.faults.clear();
        (made.good, made.filtered, made.bad) = (0, 0, 0);
        if matches!(self.task.job, Job::Statistics) {
            made.part.clear();
        }
        let (task, checker) = (self.task, &mut self.checker);
        let (decoder, batch) = (&mut self.decoder, &mut self.batch);
        let printer = &mut self.printer;
        let name = task
            .names
            .get(block.log())
            .map_or(Path::new(""), PathBuf::as_path);
        self.messages.each(block, &mut |offset, found| {
            let fault = match found {
                Found::Between(bytes) => return made.faults.between(bytes),
                Found::Noise(bytes) => return task.noise(name, offset, bytes, made),
                Found::Bad(why) => Some(Fault::of_kind(why)),
                Found::Message(bytes, separator) => match decoder.parse(bytes) {
                    Ok(message) if task.filter.is_some_and(|filter| !filter.matches(&message)) => {
                        made.filtered += 1;
                        return;
                    }
                    Ok(message) => match task.job {
                        Job::Anonymize(pseudonyms) => {
                            let at = offset.saturating_sub(block.offset()) as usize;
                            let text = block.bytes().get(at..).unwrap_or(&[]);
                            let logged = (text, separator);
                            batch.message(pseudonyms, &message, logged, &mut made.out);
                            None
                        }
                        Job::Print => {
                            let names = checker.names(&message);
                            printer.message(&mut made.out, offset, &message, names);
                            None
                        }
                        _ => task.message(checker, (name, offset), &message, separator, made),
                    },
                    Err(error) => Some(Fault::of(&error, bytes, separator)),
                },
            };
            match fault {
                None => made.good += 1,
                Some(fault) => task.fault(name, offset, fault, made),
            }
        });
        if let Job::Anonymize(pseudonyms) = task.job {
            batch.finish(pseudonyms, &mut made.out);
            made.left = batch.take_left();
        }
    }
}

impl Task<'_> {
    /// Does the job with a message; what is wrong with it.
    fn message(
        &self,
        checker: &mut Checker<'_>,
        (path, offset): (&Path, u64),
        message: &Message<'_, '_>,
        separator: &[u8],
        made: &mut Made,
    ) -> Option<Fault> {
        match self.job {
            Job::Parse if self.names.len() > 1 => {
                self.lines.message_of(&mut made.out, path, offset, message);
            }
            Job::Parse => self.lines.message(&mut made.out, offset, message),
            Job::Statistics => made.part.message(offset, message),
            Job::Validate => return checker.check(message, separator),
            // These are done above.
            Job::Print | Job::Anonymize(_) => {}
        }
        None
    }

    fn fault(&self, path: &Path, offset: u64, fault: Fault, made: &mut Made) {
        made.bad += 1;
        made.faults.add(fault.class, offset);
        if !matches!(self.job, Job::Statistics | Job::Anonymize(_)) {
            self.lines.fault(&mut made.out, path, offset, &fault);
        } else if made.named.len() < NAMED {
            made.named.push((offset, fault.to_string()));
        }
    }

    fn noise(&self, path: &Path, offset: u64, bytes: u64, made: &mut Made) {
        made.faults.noise(offset, bytes);
        if matches!(self.job, Job::Validate) {
            let text = format!("{bytes} bytes between messages are no text");
            self.lines.wrong(&mut made.out, path, offset, None, &text);
        }
    }
}
