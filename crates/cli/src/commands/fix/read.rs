//! Messages of logs parsed, validated, printed and counted by all threads, and the report of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use files::INLINE_BYTES;
use files::output::Output;
use fixlog::{AllFaults, Block, Made, Selection, Statistics, Task, Worker, Workers};
use latency::Recorder;
use latency::report::{FloorKind, RowFloor};
use report::{ExitStatus, Outcome};

use crate::commands::fix::conclude::{
    BAD_NAMED, conclude_bad, ended_file, left_values, named_some, no_match, no_messages, write_out,
};
use crate::commands::fix::health::Sessions;
use crate::commands::fix::tables;
use crate::commands::fix_logs::Inputs;
use crate::commands::stop::{Stop, of_threads, stopped};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::signal;

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
    pub(super) warns: bool,
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
    pieces: Recorder,
    out: Output,
    written: u64,
    good: u64,
    filtered: u64,
    bad: u64,
    warned: u64,
    /// The first that are bad: file, place, what is wrong.
    named: Vec<(usize, u64, String)>,
    faults: AllFaults,
    /// Of tags that no dictionary has: values that stayed as they were.
    left: BTreeMap<u32, u64>,
    /// Messages of the file that is being read, whatever they are like.
    seen: u64,
    /// Which messages are passed on, if not all of those that pass the filter, and their text.
    selection: Option<(Selection, Vec<u8>)>,
    /// What became of sessions, if that is asked.
    sessions: Option<Sessions<'a>>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(plan: Plan<'a>, waits: Option<Recorder>, pieces: Recorder) -> Result<Self> {
        let failed = |error| Failure::io("write", Path::new("standard output"), &error);
        Ok(Self {
            plan,
            stats: waits.map(|waits| (Statistics::new(), waits)),
            pieces,
            out: Output::stdout(context()).map_err(failed)?,
            written: 0,
            good: 0,
            filtered: 0,
            bad: 0,
            warned: 0,
            named: Vec::new(),
            faults: AllFaults::default(),
            left: BTreeMap::new(),
            seen: 0,
            selection: None,
            sessions: None,
        })
    }

    /// Follows sessions.
    pub(super) fn sessions(mut self, sessions: Option<Sessions<'a>>) -> Self {
        self.sessions = sessions;
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
        let threads = match is_small(plan.files) {
            true => 1,
            false => plan.threads.max(1),
        };
        let states = (0..threads).map(|_| Worker::new(plan.task)).collect();
        let work = |worker: &mut Worker<'_>, block: &Block, timed: &mut Timed| {
            let start = Instant::now();
            worker.block(block, &mut timed.made);
            timed.span = Some((start, Instant::now()));
        };
        let workers = Workers::new().separator(plan.separator);
        let inputs = Inputs(plan.files);
        let ended = workers.run(
            &signal::interrupted,
            inputs,
            states,
            work,
            |block, timed| {
                self.take(block, timed)?;
                if let Some(ended) = block.take_ended() {
                    let seen = std::mem::take(&mut self.seen);
                    let none = seen == 0 && ended.bytes > 0 && ended.error.is_none();
                    if none && plan.warns {
                        no_messages(plan.files, block.log());
                    }
                    if none && outcome.status == ExitStatus::Ok {
                        outcome.status = ExitStatus::Partial;
                    }
                    ended_file(plan.files, block.log(), ended.bytes, ended.error, outcome);
                }
                Ok(())
            },
        );
        if let Err(error) = ended.result {
            stopped(
                of_threads(error, "a thread that reads blocks of the log"),
                outcome,
            );
        }
        self.conclude(outcome);
    }

    fn take(&mut self, block: &Block, timed: &Timed) -> std::result::Result<(), Stop> {
        let made = &timed.made;
        self.good += made.good;
        self.bad += made.bad;
        self.warned += made.warned;
        self.filtered += made.filtered;
        self.seen += made.good + made.filtered + made.bad;
        self.faults.add(block.log(), &made.faults);
        for (tag, values) in &made.left {
            *self.left.entry(*tag).or_default() += values;
        }
        for (offset, error) in &made.named {
            if self.named.len() < BAD_NAMED {
                self.named.push((block.log(), *offset, error.clone()));
            }
        }
        if let Some((stats, waits)) = &mut self.stats {
            stats.add(block.log(), &made.part, |ns| waits.record_ns(ns));
        }
        if let Some((start, end)) = timed.span
            && !block.bytes().is_empty()
        {
            self.pieces.record_span(start, end);
        }
        if let Some(sessions) = &mut self.sessions {
            let text = sessions.take(block.log(), made);
            self.written += write_out(&mut self.out, text)?;
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
        if self.plan.counts_noise {
            params.insert("messages_checked".to_owned(), (good + self.bad).into());
            params.insert("messages_warned".to_owned(), self.warned.into());
        }
        if self.plan.filters {
            params.insert("messages_filtered".to_owned(), self.filtered.into());
            if self.good == 0 && self.filtered > 0 && self.plan.warns {
                no_match(self.filtered);
            }
        }
        let files = self.plan.files;
        if let Some((stats, waits)) = self.stats {
            params.insert("unfollowed".to_owned(), stats.unfollowed().into());
            if self.plan.warns {
                let gaps = stats.sessions().iter().map(|session| session.gaps).sum();
                named_some(
                    stats.gaps().len(),
                    gaps,
                    "gaps",
                    "the table of sessions counts all",
                );
                named_some(
                    self.named.len(),
                    self.bad,
                    "bad messages",
                    "perfkit fix validate writes all",
                );
            }
            outcome.tables.extend(tables::statistics(&stats, files));
            if !waits.is_empty() {
                outcome.add(&waits.finish());
                // The clocks are those of the log, not this machine's.
                if let Some(row) = outcome.latencies.last_mut() {
                    let kind = FloorKind::Clock;
                    row.floors.push(RowFloor { kind, ns: 0 });
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
        if !self.pieces.is_empty() {
            outcome.add(&self.pieces.finish());
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
        conclude_bad(self.bad + noise, self.named, files, outcome);
        if signal::interrupted() {
            outcome.complete = false;
            outcome.status = ExitStatus::Interrupted;
        }
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
