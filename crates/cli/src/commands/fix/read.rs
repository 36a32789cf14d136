//! Messages of logs parsed, validated, printed and counted by all threads, and the report of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use files::INLINE_BYTES;
use files::output::Output;
use fixlog::{
    Accept, AllFaults, Block, Clock, Error, GroupKey, Made, Merge, Piece, Selection, Sorter,
    Statistics, Task, Timed as _, Worker, Workers,
};
use latency::Recorder;
use latency::report::{FloorKind, RowFloor};
use report::{ExitStatus, Outcome};

use crate::commands::fix::conclude::{
    BAD_NAMED, advice, conclude_bad, ended_file, in_several_logs, left_values, named_some,
    no_match, no_messages, ungrouped, untimed, write_out,
};
use crate::commands::fix::fills::Ledger;
use crate::commands::fix::health::Sessions;
use crate::commands::fix::one_log::OneLogArgs;
use crate::commands::fix::several;
use crate::commands::fix::tables::{self, Shown};
use crate::commands::fix_logs::{self, Inputs};
use crate::commands::stop::{Stop, of_threads, stopped};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::progress::Progress;
use crate::term::{message, signal};

/// Text that is gathered before it is written.
const TEXT_BYTES: usize = 64 << 10;
/// Messages that wait for earlier ones.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// Which logs, and what is done with them.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) separator: fixlog::Separator,
    pub(super) threads: u32,
    pub(super) task: Task<'a>,
    /// Whether noise is a fault.
    pub(super) counts_noise: bool,
    /// Whether some messages are not wanted.
    pub(super) filters: bool,
    /// Whether those that are wanted are all of a session.
    pub(super) leaves_whole: bool,
    pub(super) warns: bool,
    /// Whether several logs are read in the order of time.
    pub(super) by_time: bool,
    /// Which logs are one.
    pub(super) pieces: OneLogArgs,
    /// What statistics count messages by.
    pub(super) by: &'a [(String, GroupKey)],
    pub(super) clock: Clock,
    pub(super) follows: bool,
    /// The text that messages have to contain to be looked at.
    pub(super) text: Option<&'a str>,
    /// Whether progress may be shown.
    pub(super) shows_progress: bool,
}

/// What was made of a block, and when.
#[derive(Debug, Default)]
struct Timed {
    made: Made,
    span: Option<(Instant, Instant)>,
}

/// What came of all blocks so far.
pub(super) struct Reading<'a> {
    plan: Plan<'a>,
    stats: Option<(Statistics, Recorder)>,
    blocks: Recorder,
    out: Output,
    written: u64,
    good: u64,
    filtered: u64,
    bad: u64,
    accepted: u64,
    warned: u64,
    /// The first that are bad: file, place, what is wrong.
    named: Vec<(usize, u64, String)>,
    faults: AllFaults,
    /// Of tags that no dictionary has: values that stayed as they were.
    left: BTreeMap<u32, u64>,
    /// Messages of each file that is being read, whatever they are like.
    seen: BTreeMap<usize, u64>,
    /// Which messages are passed on, if not all of those that pass the filter, and their text.
    selection: Option<(Selection, Vec<u8>)>,
    /// What became of sessions, if that is asked.
    sessions: Option<Sessions<'a>>,
    /// What was traded, if that is asked.
    ledger: Option<Ledger<'a>>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(plan: Plan<'a>, waits: Option<Recorder>, blocks: Recorder) -> Result<Self> {
        let failed = |error| Failure::io("write", Path::new("standard output"), &error);
        Ok(Self {
            plan,
            stats: waits.map(|waits| (Statistics::new(), waits)),
            blocks,
            out: Output::stdout(context()).map_err(failed)?,
            written: 0,
            good: 0,
            filtered: 0,
            bad: 0,
            accepted: 0,
            warned: 0,
            named: Vec::new(),
            faults: AllFaults::default(),
            left: BTreeMap::new(),
            seen: BTreeMap::new(),
            selection: None,
            sessions: None,
            ledger: None,
        })
    }

    /// Follows sessions.
    pub(super) fn sessions(mut self, sessions: Option<Sessions<'a>>) -> Self {
        self.sessions = sessions;
        self
    }

    /// Adds up what was traded.
    pub(super) fn ledger(mut self, ledger: Option<Ledger<'a>>) -> Self {
        self.ledger = ledger;
        self
    }

    /// Passes on this selection of messages.
    pub(super) fn select(mut self, selection: Option<Selection>) -> Self {
        self.selection = selection.map(|selection| (selection, Vec::new()));
        self
    }

    /// Writes `head`, reads all files, and says what came of it.
    pub(super) fn run(mut self, head: &str, outcome: &mut Outcome) {
        let plan = self.plan;
        match write_out(&mut self.out, head.as_bytes()) {
            Ok(bytes) => self.written += bytes,
            Err(stop) => return stopped(stop, outcome),
        }
        let shows = plan.shows_progress && !plan.follows;
        let progress = Progress::late(shows, fix_logs::bytes_of(plan.files));
        let result = match plan.by_time {
            true => self.all_by_time(&progress, outcome),
            false => self.all(&progress, outcome),
        };
        progress.finish();
        if let Err(stop) = result {
            stopped(stop, outcome);
        }
        self.conclude(outcome);
    }

    /// Reads the logs one after the other.
    fn all(&mut self, progress: &Progress, outcome: &mut Outcome) -> std::result::Result<(), Stop> {
        let plan = self.plan;
        let threads = match is_small(plan.files) && !plan.follows {
            true => 1,
            false => plan.threads.max(1),
        };
        let states = (0..threads).map(|_| Worker::new(plan.task)).collect();
        let work = |worker: &mut Worker<'_>, block: &Block, timed: &mut Timed| {
            let start = Instant::now();
            worker.block(block, &mut timed.made);
            timed.span = Some((start, Instant::now()));
        };
        let lengths_differ = plan.task.accepted().length;
        let workers = Workers::new()
            .separator(plan.separator)
            .lengths_differ(lengths_differ)
            .with_text(plan.text);
        let inputs = Inputs::new(plan.files)
            .follow(plan.follows)
            .count(progress.counter());
        let ended = workers.run(
            &signal::interrupted,
            inputs,
            states,
            work,
            |block, timed| {
                self.take(block, timed)?;
                if let Some(ended) = block.take_ended() {
                    self.end(block.log(), ended.bytes, ended.error, outcome);
                }
                Ok(())
            },
        );
        let role = "a thread that reads blocks of the log";
        ended.result.map_err(|error| of_threads(error, role))
    }

    /// Reads the logs at once.
    fn all_by_time(
        &mut self,
        progress: &Progress,
        outcome: &mut Outcome,
    ) -> std::result::Result<(), Stop> {
        let plan = several::Plan {
            files: self.plan.files,
            separator: self.plan.separator,
            threads: self.plan.threads,
            task: self.plan.task,
            follows: false,
            read: progress.counter(),
        };
        let mut by_time = ByTime::new(self, outcome);
        several::in_order(plan, &mut by_time)?;
        by_time.rest()
    }

    /// A log has ended.
    fn end(&mut self, log: usize, bytes: u64, error: Option<Error>, outcome: &mut Outcome) {
        let seen = self.seen.remove(&log).unwrap_or(0);
        if seen == 0 && error.is_none() && self.plan.text.is_none() {
            no_messages(self.plan.files, log, bytes, self.plan.warns, outcome);
        }
        ended_file(self.plan.files, log, bytes, error, outcome);
    }

    /// Counts what was made of a block.
    fn count(&mut self, log: usize, made: &Made) {
        self.good += made.good;
        self.bad += made.bad;
        self.accepted += made.accepted;
        self.warned += made.warned;
        self.filtered += made.filtered;
        *self.seen.entry(log).or_default() += made.good + made.filtered + made.bad;
        self.faults.add(log, &made.faults);
        for (tag, values) in &made.left {
            *self.left.entry(*tag).or_default() += values;
        }
        for (offset, error) in &made.named {
            if self.named.len() < BAD_NAMED {
                self.named.push((log, *offset, error.clone()));
            }
        }
    }

    /// Appends what is wanted of a piece; whether that was all.
    fn pass(&mut self, piece: Piece, text: &[u8], out: &mut Vec<u8>) -> bool {
        match &mut self.selection {
            Some((selection, _)) => selection.piece(piece, text, out),
            None => {
                out.extend_from_slice(text);
                false
            }
        }
    }

    /// Writes text to standard output.
    fn write(&mut self, text: &[u8]) -> std::result::Result<(), Stop> {
        if !text.is_empty() {
            self.written += write_out(&mut self.out, text)?;
        }
        Ok(())
    }

    fn take(&mut self, block: &Block, timed: &Timed) -> std::result::Result<(), Stop> {
        let made = &timed.made;
        self.count(block.log(), made);
        if let Some((stats, waits)) = &mut self.stats {
            let (log, part) = (block.log(), &made.part);
            stats.add(log, self.plan.pieces.group(log), part, |ns| {
                waits.record_ns(ns)
            });
        }
        if let Some((start, end)) = timed.span
            && !block.bytes().is_empty()
        {
            self.blocks.record_span(start, end);
        }
        if let Some(sessions) = &mut self.sessions {
            let text = sessions.take(block.log(), made);
            self.written += write_out(&mut self.out, text)?;
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.take(block.log(), made);
        }
        if let Some((selection, text)) = &mut self.selection {
            text.clear();
            let is_enough = selection.take(made, text);
            self.written += write_out(&mut self.out, text)?;
            return match is_enough {
                true => Err(Stop::Enough),
                false => Ok(()),
            };
        }
        if made.out.is_empty() {
            return Ok(());
        }
        self.written += write_out(&mut self.out, &made.out)?;
        Ok(())
    }

    fn conclude(mut self, outcome: &mut Outcome) {
        if let Some(sessions) = &mut self.sessions {
            match write_out(&mut self.out, sessions.finish()) {
                Ok(bytes) => self.written += bytes,
                Err(stop) => stopped(stop, outcome),
            }
        }
        outcome.bytes_content = outcome.bytes_in;
        outcome.bytes_out = self.written;
        // Behind the last one that is wanted, more were read.
        let selected = self.selection.as_ref();
        let good = selected.map_or(self.good, |(selection, _)| selection.wanted());
        outcome.ops = Some(good + self.bad);
        let params = &mut outcome.workload.params;
        params.insert("messages".to_owned(), good.into());
        params.insert("messages_bad".to_owned(), self.bad.into());
        if self.plan.task.accepted() != Accept::default() {
            params.insert("messages_accepted".to_owned(), self.accepted.into());
        }
        if self.plan.counts_noise {
            params.insert("messages_checked".to_owned(), (good + self.bad).into());
            params.insert("messages_warned".to_owned(), self.warned.into());
        }
        if let Some(text) = self.plan.text
            && self.good + self.filtered + self.bad == 0
            && self.plan.warns
        {
            message::note(
                &format!("no message contains '{}'", text.escape_debug()),
                "upper and lower case differ",
            );
        }
        if self.plan.filters {
            params.insert("messages_filtered".to_owned(), self.filtered.into());
            if self.good == 0 && self.filtered > 0 && self.plan.warns {
                no_match(self.filtered);
            }
        }
        let sums_up = self.stats.is_some() || self.sessions.is_some() || self.ledger.is_some();
        if self.plan.warns && sums_up {
            let all = self.good + self.filtered + self.bad;
            advice(&self.faults, all, self.plan.task.accepted());
        }
        let files = self.plan.files;
        if let Some((stats, waits)) = self.stats {
            params.insert("unfollowed".to_owned(), stats.unfollowed().into());
            params.insert("untimed".to_owned(), stats.untimed().into());
            if self.plan.warns {
                untimed(&stats, self.plan.clock);
                ungrouped(&stats);
                let gaps = stats.sessions().iter().map(|session| session.gaps).sum();
                let help = "the table of sessions counts all";
                match self.plan.leaves_whole {
                    true => named_some(stats.gaps().len(), gaps, "gaps", help),
                    false => message::note(
                        "gaps and duplicates are not counted: the filters leave numbers out",
                        "--session, --since and --until leave sessions whole",
                    ),
                }
                in_several_logs(&stats);
                named_some(
                    self.named.len(),
                    self.bad,
                    "bad messages",
                    "perfkit fix validate writes all",
                );
            }
            outcome.tables.extend(tables::statistics(
                &stats,
                files,
                Shown {
                    logs: files.len() > 1 && !self.plan.pieces.one_log,
                    gaps: self.plan.leaves_whole,
                    by: self.plan.by,
                },
            ));
            if !waits.is_empty() {
                outcome.add(&waits.finish());
                // The clocks are those of the log, not this machine's.
                if let Some(row) = outcome.latencies.last_mut() {
                    let kind = FloorKind::Clock;
                    row.floors.push(RowFloor { kind, ns: 0 });
                    row.floors.extend(stats.step_ns().map(|ns| RowFloor {
                        kind: FloorKind::Stamp,
                        ns,
                    }));
                }
            }
        }
        if let Some(sessions) = self.sessions {
            sessions.conclude(self.plan.warns, outcome);
            if self.plan.warns {
                let help = "perfkit fix validate writes all";
                named_some(self.named.len(), self.bad, "bad messages", help);
            }
        }
        let mut not_counted = 0;
        if let Some(ledger) = self.ledger {
            if self.plan.warns {
                let help = "perfkit fix validate writes all";
                named_some(self.named.len(), self.bad, "bad messages", help);
            }
            not_counted = ledger.conclude(self.plan.warns, &mut self.named, outcome);
        }
        if !self.blocks.is_empty() {
            outcome.add(&self.blocks.finish());
        }
        // Who validates wants to know of all that should not be there.
        let noise = match self.plan.counts_noise {
            true => self.faults.noise_places(),
            false => 0,
        };
        tables::faults(&self.faults, files, outcome);
        tables::reasons(&self.faults, outcome);
        if !self.left.is_empty() {
            outcome.tables.push(tables::left(&self.left));
            if self.plan.warns {
                left_values(&self.left);
            }
        }
        conclude_bad(self.bad + noise + not_counted, self.named, files, outcome);
        if signal::interrupted() {
            outcome.complete = false;
            outcome.status = ExitStatus::Interrupted;
        }
    }
}

/// Writes messages in the order of time.
struct ByTime<'r, 'a> {
    reading: &'r mut Reading<'a>,
    outcome: &'r mut Outcome,
    sorter: Sorter<(Piece, Box<[u8]>)>,
    /// Of each log, the time of the last message that has one: what has none stays behind it.
    now_ns: Vec<i64>,
    text: Vec<u8>,
}

impl<'r, 'a> ByTime<'r, 'a> {
    fn new(reading: &'r mut Reading<'a>, outcome: &'r mut Outcome) -> Self {
        Self {
            sorter: Sorter::new(WAITING_BYTES_MAX),
            now_ns: vec![i64::MIN; reading.plan.files.len()],
            reading,
            outcome,
            text: Vec::new(),
        }
    }

    /// Writes a piece that is the next by time.
    fn pass(&mut self, (piece, text): (Piece, Box<[u8]>)) -> std::result::Result<(), Stop> {
        let is_enough = self.reading.pass(piece, &text, &mut self.text);
        if is_enough || self.text.len() >= TEXT_BYTES {
            self.write()?;
        }
        match is_enough {
            true => Err(Stop::Enough),
            false => Ok(()),
        }
    }

    fn write(&mut self) -> std::result::Result<(), Stop> {
        let result = self.reading.write(&self.text);
        self.text.clear();
        result
    }

    /// Writes what waits at the end.
    fn rest(&mut self) -> std::result::Result<(), Stop> {
        while let Some(next) = self.sorter.rest() {
            self.pass(next)?;
        }
        self.write()?;
        let late = self.sorter.late();
        if late > 0 && self.reading.plan.warns {
            message::note(
                &format!(
                    "{late} messages stand behind later ones: at most {} MiB wait for earlier messages",
                    WAITING_BYTES_MAX >> 20
                ),
                "filter the messages, by --since and --until for example",
            );
        }
        Ok(())
    }
}

impl several::InOrder for ByTime<'_, '_> {
    type Part = several::Piece;

    fn part(&mut self, mut piece: several::Piece) -> several::Piece {
        self.reading.count(piece.log, &piece.made);
        if let Some(ended) = piece.ended.take() {
            // Each log is the only one of its threads.
            let error = ended.error.map(|error| error.of_log(piece.log));
            self.reading
                .end(piece.log, ended.bytes, error, self.outcome);
        }
        piece
    }

    fn take(&mut self, merge: &mut Merge<several::Piece>) -> std::result::Result<(), Stop> {
        while let Some((part, at)) = merge.next() {
            let is_last = at + 1 == part.items();
            let (piece, text) = part.made.piece(at);
            let sent_ns = part.time_ns(at);
            let time_ns = match self.now_ns.get_mut(part.log) {
                Some(now_ns) => {
                    *now_ns = sent_ns.unwrap_or(*now_ns);
                    *now_ns
                }
                None => sent_ns.unwrap_or(i64::MIN),
            };
            self.sorter.push(time_ns, text.len(), (piece, text.into()));
            if is_last {
                merge.sweep();
            }
            while let Some(next) = self.sorter.next() {
                self.pass(next)?;
            }
        }
        Ok(())
    }
}

/// Whether threads would not pay.
fn is_small(files: &[PathBuf]) -> bool {
    let bytes = |path: &PathBuf| match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => metadata.len(),
        _ => INLINE_BYTES + 1,
    };
    files.iter().map(bytes).sum::<u64>() <= INLINE_BYTES
}
