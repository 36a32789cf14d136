//! What one thread makes of the messages of a block: lines, statistics, or messages with pseudonyms.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use fixcore::dict::Dictionary;
use fixcore::{Decoder, Isa, Timestamp};
use memchr::memmem;

use crate::clock::{Clock, TradeTime};
use crate::dictionaries::pairs;
use crate::inside;
use crate::pseudonym::Batch;
use crate::{
    Accept, Block, Checker, Checks, Dictionaries, Fault, Filter, Found, GroupKey, LineCounter,
    Lines, Made, Messages, Piece, Place, Printer, Pseudonyms, RowForm, RowWriter, Rows,
};

/// Faults of a block that are named where there are no lines for them.
const NAMED: usize = 20;
/// What is missing in captures, as a class of faults.
const CAPTURE: &str = "gap in the capture";

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
    /// The lives of orders.
    Orders,
    /// What became of sessions.
    Health,
    /// Quantities and prices of what was traded.
    Fills,
    /// The same message with pseudonyms, on a line.
    Anonymize(&'d Pseudonyms),
}

/// What a [`Worker`] does, and how.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Task<'d> {
    job: Job<'d>,
    names: &'d [PathBuf],
    checks: Checks<'d>,
    isa: Option<Isa>,
    lines: Lines,
    filter: Option<&'d Filter>,
    rows: Option<&'d Rows>,
    pieces: bool,
    times: bool,
    others: bool,
    accept: Accept,
    by: &'d [GroupKey],
    clock: Clock,
    text: Option<&'d str>,
}

impl<'d> Task<'d> {
    /// Does `job` with the built-in dictionaries and the best instruction set.
    #[must_use]
    pub fn new(job: Job<'d>) -> Self {
        Self {
            job,
            names: &[],
            checks: Checks::new(),
            isa: None,
            lines: Lines::new(),
            filter: None,
            rows: None,
            pieces: false,
            times: false,
            others: false,
            accept: Accept::default(),
            by: &[],
            clock: Clock::Sending,
            text: None,
        }
    }

    /// Sets the names of the logs, as lines about faults have them, and lines about messages if there are
    /// several logs.
    #[must_use]
    pub fn names(mut self, names: &'d [PathBuf]) -> Self {
        self.names = names;
        self
    }

    /// Uses these dictionaries in place of the built-in ones of their versions: one, or a slice of them.
    #[must_use]
    pub fn dictionary(mut self, dictionary: impl Into<Dictionaries<'d>>) -> Self {
        self.checks = self.checks.dictionary(dictionary);
        self
    }

    /// Sets what messages are held to, dictionaries included.
    #[must_use]
    pub fn checks(mut self, checks: Checks<'d>) -> Self {
        self.checks = checks;
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

    /// [`Job::Parse`] writes these rows in place of whole messages as JSON, and [`Job::Print`] only their
    /// fields.
    #[must_use]
    pub fn rows(mut self, rows: Option<&'d Rows>) -> Self {
        self.rows = rows;
        self
    }

    /// Says in [`Made::pieces`] where each message and each fault ends, for a [`Selection`](crate::Selection);
    /// with `others`, messages that the filter does not want are written too.
    #[must_use]
    pub fn pieces(mut self, others: bool) -> Self {
        (self.pieces, self.others) = (true, others);
        self
    }

    /// Does the job also with messages of which nothing else is wrong than this. Where lengths may be wrong, logs are to
    /// be read with [`Workers::lengths_differ`](crate::Workers::lengths_differ).
    #[must_use]
    pub fn accept(mut self, accept: Accept) -> Self {
        self.accept = accept;
        self
    }

    /// What may be wrong with messages.
    #[must_use]
    pub fn accepted(&self) -> Accept {
        self.accept
    }

    /// [`Job::Statistics`] also counts messages by these values; [`Job::Fills`] has a row for each.
    #[must_use]
    pub fn by(mut self, by: &'d [GroupKey]) -> Self {
        self.by = by;
        self
    }

    /// Sets which time latencies of [`Job::Statistics`] are between.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Does the job only with messages that contain this text, as part of a field: others are not looked at, and neither
    /// checked nor counted. That is much faster. A text with a line break is in no message.
    #[must_use]
    pub fn with_text(mut self, text: Option<&'d str>) -> Self {
        self.text = text.filter(|text| !text.is_empty());
        self
    }

    /// Says in [`Made::times_ns`] when each piece was sent (52), for a [`Merge`](crate::Merge).
    #[must_use]
    pub fn times(mut self, times: bool) -> Self {
        self.times = times;
        self
    }
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
    row_writer: RowWriter,
    prefix: Vec<u8>,
    faults: Vec<Fault>,
    text: Option<memmem::Finder<'d>>,
}

impl<'d> Worker<'d> {
    /// A worker; each thread has its own.
    #[must_use]
    pub fn new(task: Task<'d>) -> Self {
        let pairs = pairs(task.checks.all());
        let decoder = match task.isa {
            None => None,
            Some(isa) => Decoder::with_isa(isa),
        };
        Self {
            messages: Messages::with_pairs(pairs.clone()),
            decoder: match task.checks.all().next() {
                None => decoder.unwrap_or_default(),
                Some(_) => decoder.unwrap_or_default().with_pairs(pairs.clone()),
            },
            checker: Checker::new(task.checks),
            printer: Printer::new(task.lines).tags(task.rows.into_iter().flat_map(Rows::tags)),
            batch: Batch::new(pairs.clone()),
            row_writer: RowWriter::new(Some(pairs)),
            prefix: Vec::new(),
            faults: Vec::new(),
            text: task.text.map(memmem::Finder::new),
            task,
        }
    }

    /// Does the job with each message of a block. `made` is replaced.
    pub fn block(&mut self, block: &Block, made: &mut Made) {
        self.block_of(block.log(), block, made);
    }

    /// Does the same with a block of a log whose name is that of log `log`: where logs are read one by one, each is
    /// the first of its threads.
    pub fn block_of(&mut self, log: usize, block: &Block, made: &mut Made) {
        made.out.clear();
        made.pieces.clear();
        made.times_ns.clear();
        made.named.clear();
        made.faults.clear();
        (made.good, made.filtered, made.bad, made.warned) = (0, 0, 0, 0);
        made.accepted = 0;
        if matches!(self.task.job, Job::Statistics) {
            made.part.clear();
        }
        made.orders.clear();
        made.health.clear();
        made.fills.clear();
        let (task, checker) = (self.task, &mut self.checker);
        let (decoder, batch) = (&mut self.decoder, &mut self.batch);
        let (row_writer, prefix) = (&mut self.row_writer, &mut self.prefix);
        let (printer, all) = (&mut self.printer, &mut self.faults);
        let name = task.names.get(log).map_or(Path::new(""), PathBuf::as_path);
        // Of one log, only faults name it.
        let told = (task.names.len() > 1
            || task.rows.is_some_and(|rows| rows.form() == RowForm::Csv))
        .then_some(name);
        // Rows of other forms have no room for faults.
        let of_rows = matches!(task.job, Job::Parse | Job::Validate | Job::Print);
        let names_faults = !of_rows || task.rows.is_some_and(|rows| rows.form() != RowForm::Json);
        let mut lines = LineCounter::default();
        let behind = Cell::new(0);
        let mut visit = |at: u64, found: Found<'_>| {
            let origin = block.origin(at);
            let origin = origin.as_ref();
            // Whoever reads this has the capture, and not its text.
            let offset = origin.map_or(at, |origin| origin.offset);
            let mut place = |path| match origin {
                Some(origin) => Place::of(path, origin),
                None => Place {
                    path,
                    offset,
                    line: lines.line(block, at),
                    origin: None,
                },
            };
            let (mut piece, mut sent_ns) = (Piece::Wanted, None);
            let mut is_message = true;
            let fault = match found {
                Found::Between(bytes) => {
                    made.faults.between(bytes);
                    return true;
                }
                Found::Lost(lost) => {
                    let (offset, text) = (lost.origin.offset, &lost.text);
                    made.bad += 1;
                    made.faults.add(CAPTURE, offset);
                    if !names_faults {
                        let place = Place::of(Some(name), &lost.origin);
                        task.lines.wrong(&mut made.out, place, None, text);
                        task.piece(Piece::Fault, None, made);
                    } else if made.named.len() < NAMED {
                        made.named.push((offset, text.clone()));
                    }
                    return true;
                }
                Found::Noise(bytes) => {
                    made.faults.noise(offset, bytes);
                    if !matches!(task.job, Job::Validate) {
                        return true;
                    }
                    let text = format!("{bytes} bytes between messages are no text");
                    task.lines
                        .wrong(&mut made.out, place(Some(name)), None, &text);
                    task.piece(Piece::Fault, None, made);
                    return true;
                }
                Found::Bad(why) => {
                    let start = at.checked_sub(block.offset());
                    let text = start.and_then(|start| block.bytes().get(start as usize..));
                    Some(Fault::of_start(why, text.unwrap_or(&[])))
                }
                Found::Message(bytes, separator) => {
                    let parsed = match decoder.parse(bytes) {
                        Err(error) if task.accept.may_have(&error) => {
                            let accepted = task.accept.parse(decoder, bytes, error);
                            made.accepted += u64::from(accepted.is_ok());
                            accepted
                        }
                        Ok(message)
                            if inside::may_be_two(&message)
                                && inside::second(&message).is_some() =>
                        {
                            inside::parse(decoder, bytes)
                        }
                        parsed => parsed,
                    };
                    match parsed {
                        Ok(message) => {
                            if task.filter.is_some_and(|filter| !filter.matches(&message)) {
                                made.filtered += 1;
                                piece = Piece::Other;
                            }
                            let end = at + bytes.len() as u64;
                            let before = behind.replace(end);
                            if piece == Piece::Other && !task.others {
                                return true;
                            }
                            if task.times {
                                let time = message.get(52).and_then(Timestamp::parse);
                                sent_ns = time.map(|time| time.0);
                            }
                            match task.job {
                                Job::Anonymize(pseudonyms) => {
                                    let start = at.saturating_sub(block.offset()) as usize;
                                    let text = block.bytes().get(start..).unwrap_or(&[]);
                                    let logged = (text, separator);
                                    batch.message(pseudonyms, &message, logged, &mut made.out);
                                    None
                                }
                                Job::Print => {
                                    let names = checker.names(&message);
                                    let place = place(told);
                                    printer.message(&mut made.out, place, &message, names);
                                    None
                                }
                                Job::Parse => {
                                    let Some(rows) = task.rows else {
                                        task.lines.message(&mut made.out, place(told), &message);
                                        task.done(piece, sent_ns, made);
                                        return true;
                                    };
                                    if rows.form() == RowForm::Raw {
                                        block.prefix(at, before, prefix);
                                    }
                                    let (logged, place) = ((&message, separator), place(told));
                                    row_writer.message(rows, &mut made.out, place, logged, prefix);
                                    None
                                }
                                Job::Statistics => {
                                    // Only orders and executions have latencies.
                                    let is_timed = matches!(message.msg_type(), b"D" | b"8");
                                    if task.clock == Clock::Log && is_timed {
                                        block.prefix(at, before, prefix);
                                    }
                                    let time = TradeTime::of(task.clock, prefix, origin);
                                    made.part.message_at(offset, &message, time);
                                    if !task.by.is_empty() {
                                        made.part.group(task.by, &message);
                                    }
                                    None
                                }
                                Job::Orders => {
                                    let line = place(None).line;
                                    made.orders.message(offset, line, &message);
                                    None
                                }
                                Job::Health => {
                                    block.prefix(at, before, prefix);
                                    let line = place(None).line;
                                    let came =
                                        origin.map(|origin| (origin.time_ns, origin.connection));
                                    let (arrived_ns, connection) = came.unzip();
                                    made.health.came(arrived_ns.flatten(), connection);
                                    made.health.message((offset, line), prefix, &message);
                                    None
                                }
                                Job::Fills => {
                                    made.fills.message(offset, task.by, &message);
                                    None
                                }
                                Job::Validate => {
                                    all.clear();
                                    if checker.faults(&message, separator, all) {
                                        task.done(piece, sent_ns, made);
                                        return true;
                                    }
                                    let names = checker.names(&message);
                                    let of = (message.msg_type(), names);
                                    let piece = (piece, sent_ns);
                                    task.faulty(place(Some(name)), of, all, piece, made);
                                    return true;
                                }
                            }
                        }
                        Err(error) if matches!(task.job, Job::Validate) => {
                            all.clear();
                            checker.faults_of_undecoded(decoder, bytes, &error, separator, all);
                            let names = [None, None];
                            let piece = (piece, sent_ns);
                            task.faulty(place(Some(name)), (&[], names), all, piece, made);
                            return false;
                        }
                        Err(error) => {
                            is_message = false;
                            Some(Fault::of_damaged(&error, bytes, separator))
                        }
                    }
                }
            };
            match fault {
                None => task.done(piece, sent_ns, made),
                Some(fault) => {
                    made.bad += 1;
                    made.faults.add(fault.class, offset);
                    if matches!(task.job, Job::Validate) {
                        let of = (&[][..], [None, None]);
                        let line = place(Some(name));
                        task.lines.faults(&mut made.out, line, of, &[fault]);
                        task.piece(Piece::Fault, None, made);
                    } else if !names_faults {
                        task.lines.fault(&mut made.out, place(Some(name)), &fault);
                        task.piece(Piece::Fault, None, made);
                    } else if made.named.len() < NAMED {
                        made.named.push((offset, fault.to_string()));
                    }
                }
            }
            is_message
        };
        match &self.text {
            None => self.messages.each(block, &mut visit),
            Some(text) => self.messages.each_with(block, text, &behind, &mut visit),
        }
        if let Job::Anonymize(pseudonyms) = task.job {
            batch.finish(pseudonyms, &mut made.out);
            made.left = batch.take_left();
        }
    }
}

impl Task<'_> {
    /// Counts a message that was written.
    fn done(&self, piece: Piece, sent_ns: Option<i64>, made: &mut Made) {
        made.good += u64::from(piece == Piece::Wanted);
        self.piece(piece, sent_ns, made);
    }

    /// Counts the faults of a message, and writes a line for them.
    #[cold]
    fn faulty(
        &self,
        place: Place<'_>,
        of: (&[u8], [Option<&Dictionary>; 2]),
        faults: &[Fault],
        (piece, sent_ns): (Piece, Option<i64>),
        made: &mut Made,
    ) {
        let is_good = faults.iter().all(Fault::is_warning);
        let piece = match is_good {
            true => {
                made.warned += 1;
                made.good += u64::from(piece == Piece::Wanted);
                piece
            }
            false => {
                made.bad += 1;
                Piece::Fault
            }
        };
        for fault in faults {
            made.faults.add(fault.class, place.offset);
            if let Some(reason) = fault.reject_reason() {
                made.faults.reason(reason);
            }
        }
        self.lines.faults(&mut made.out, place, of, faults);
        self.piece(piece, sent_ns, made);
    }

    fn piece(&self, piece: Piece, sent_ns: Option<i64>, made: &mut Made) {
        if self.pieces {
            made.pieces.push((made.out.len(), piece));
        }
        if self.times {
            made.times_ns.push(sent_ns);
        }
    }
}
