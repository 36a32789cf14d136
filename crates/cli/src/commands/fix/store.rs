//! `perfkit fix store`: what a store of sent messages holds, and which parts are bad.

use std::ffi::OsString;
use std::io::{ErrorKind, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

use files::display;
use files::target::Target;
use fixcore::store::{self, Seen, Survey};
use latency::report::{Cell, Input, Table, Unit};
use report::{ExitStatus, Outcome, names};

use crate::commands::fix::conclude::lines;
use crate::commands::fix::store_exchange;
use crate::commands::fix::store_flags::{StoreArgs, StoreCommand};
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::session::{Session, Setup};
use crate::term::signal;

/// What is gathered before it is written.
const OUTPUT_BYTES: usize = 1 << 20;

/// What is written of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    Dump { raw: bool },
    Verify,
    Stats,
}

/// Runs the command.
pub(super) fn run(args: &StoreArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let (kind, job, dir, setup) = match &args.command {
        StoreCommand::Import(args) => return store_exchange::run_import(args),
        StoreCommand::Export(args) => return store_exchange::run_export(args),
        StoreCommand::Dump(args) => {
            let (raw, args) = (args.raw, &args.filter);
            let setup = Setup::filter_of(name, argv, &args.output);
            ("fix store dump", Job::Dump { raw }, &args.dir, setup)
        }
        StoreCommand::Verify(args) => {
            let setup = Setup::filter_of(name, argv, &args.output);
            ("fix store verify", Job::Verify, &args.dir, setup)
        }
        StoreCommand::Stats(args) => {
            let setup = Setup::analysis(name, argv, &args.output);
            ("fix store stats", Job::Stats, &args.dir, setup)
        }
    };
    let session = Session::start(&setup)?;
    let mut outcome = Outcome::new(kind);
    if !store::is_store(dir).map_err(|error| failed(dir, &error))? {
        let help = "a store is a directory with files `….segment`";
        return Err(Failure::new(format!("there is no store in {}", display(dir))).help(help));
    }
    let mut writer = Writer {
        job,
        target: Target::stdout(context())?,
        out: Vec::new(),
        written: 0,
        end: None,
    };
    let survey = store::survey(dir, &mut |path, seen| writer.seen(path, seen));
    let survey = survey.map_err(|error| failed(dir, &error))?;
    if writer.end.is_none() {
        writer.flush(1);
    }
    outcome.bytes_out = writer.written;
    conclude(dir, &survey, job, &mut outcome);
    match writer.end {
        // Who closed the pipe has seen enough.
        Some(Ok(())) => outcome.status = ExitStatus::Ok,
        Some(Err(failure)) => return Err(failure),
        None if signal::interrupted() => {
            outcome.complete = false;
            outcome.status = ExitStatus::Interrupted;
        }
        None => {}
    }
    session.finish(outcome)
}

fn failed(dir: &Path, error: &store::StoreError) -> Failure {
    if let store::StoreError::Io { path, source, .. } = error
        && path == dir
    {
        return Failure::io("read", dir, source);
    }
    let cause = std::error::Error::source(error);
    let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
    Failure::new(format!(
        "cannot read the store {}: {error}{cause}",
        display(dir)
    ))
}

struct Writer {
    job: Job,
    target: Target,
    out: Vec<u8>,
    written: u64,
    /// Why nothing more is written.
    end: Option<Result<()>>,
}

impl Writer {
    fn seen(&mut self, path: &Path, seen: Seen<'_>) -> ControlFlow<()> {
        let out = &mut self.out;
        match (seen, self.job) {
            (_, Job::Stats) => {}
            (Seen::Message { bytes, .. }, Job::Dump { raw: true }) => out.extend_from_slice(bytes),
            (
                Seen::Message {
                    offset,
                    number,
                    bytes,
                },
                Job::Dump { .. },
            ) => lines().stored(out, path, offset, number, bytes),
            (Seen::Damaged { offset, damage, .. }, Job::Verify) => {
                lines().wrong(out, place(path, offset), None, &damage.to_string());
            }
            (Seen::Torn { offset, bytes }, Job::Verify) => {
                let why = format!("{bytes} bytes are torn: opening the store cuts them off");
                lines().wrong(out, place(path, offset), None, &why);
            }
            _ => {}
        }
        if signal::interrupted() {
            return ControlFlow::Break(());
        }
        self.flush(OUTPUT_BYTES);
        match self.end {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    }

    /// Writes what was gathered if it is so much.
    fn flush(&mut self, at_least: usize) {
        if self.out.len() < at_least {
            return;
        }
        match self.target.writer().write_all(&self.out) {
            Ok(()) => self.written += self.out.len() as u64,
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.end = Some(Ok(())),
            Err(error) => self.end = Some(Err(self.target.error(error).into())),
        }
        self.out.clear();
    }
}

/// The report: how much there is, and whether all of it is good.
fn conclude(dir: &Path, survey: &Survey, job: Job, outcome: &mut Outcome) {
    outcome.bytes_in = survey.file_bytes;
    outcome.bytes_content = survey.message_bytes;
    outcome.ops = Some(survey.messages);
    outcome.workload.inputs_total = 1;
    outcome.workload.inputs.push(Input {
        path: names::path(dir),
        bytes: survey.file_bytes,
        xxh64: None,
    });
    let params = &mut outcome.workload.params;
    let counts = [
        ("messages", survey.messages),
        ("damaged", survey.damaged),
        ("torn_bytes", survey.torn_bytes),
        ("next_sender", survey.next_sender),
        ("next_target", survey.next_target),
    ];
    params.extend(counts.map(|(name, count)| (name.to_owned(), count.into())));
    if survey.damaged > 0 || survey.torn_bytes > 0 {
        outcome.status = ExitStatus::Partial;
    }
    if job != Job::Stats {
        return;
    }
    let columns = [
        ("messages", Unit::Count),
        ("message_bytes", Unit::Bytes),
        ("first", Unit::Count),
        ("last", Unit::Count),
        ("next_sender", Unit::Count),
        ("next_target", Unit::Count),
        ("segments", Unit::Count),
        ("file_bytes", Unit::Bytes),
        ("damaged", Unit::Count),
        ("torn_bytes", Unit::Bytes),
    ];
    let mut table = Table::new("store", &columns);
    let number = |number: Option<u64>| number.map_or(Cell::Null, Cell::from);
    table.rows.push(vec![
        survey.messages.into(),
        survey.message_bytes.into(),
        number(survey.numbers.map(|(first, _)| first)),
        number(survey.numbers.map(|(_, last)| last)),
        survey.next_sender.into(),
        survey.next_target.into(),
        survey.segments.into(),
        survey.file_bytes.into(),
        survey.damaged.into(),
        survey.torn_bytes.into(),
    ]);
    outcome.tables.push(table);
}

/// A byte of a file of a store.
fn place(path: &Path, offset: u64) -> fixlog::Place<'_> {
    fixlog::Place {
        path: Some(path),
        offset,
        line: None,
        origin: None,
    }
}
