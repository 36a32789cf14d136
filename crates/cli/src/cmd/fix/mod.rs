//! `perfkit fix`: messages of logs and streams parsed, validated, printed and counted.
//!
//! What a message is lives in the library `fixcore`; here are files, lines and counts.

mod lines;
mod messages;
mod stats;

pub(super) use messages::collect;

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use fixcore::dict::{Dictionary, Rules, Validator, Version};
use fixcore::{DataPairs, Decoder, Isa, Message};
use latency::report::{Input, LatencyName, Table, Unit};
use latency::{Recorder, Spec};

use crate::args::fix::{FixArgs, FixCommand, MessagesArgs};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::io::source::Source;
use crate::io::target::{display, duplicate_stdout};
use crate::session::{INPUTS_LISTED, Outcome, Session, Setup};
use crate::term::{message, signal};
use messages::{Found, Stop};
use stats::Stats;

/// Output that is gathered before it is written.
const OUTPUT_BYTES: usize = 64 << 10;
/// Messages that the report of `stats` names as bad.
const BAD_NAMED: usize = 20;
/// Bytes of a dictionary's file.
const DICTIONARY_BYTES_MAX: usize = 64 << 20;

/// The built-in versions of a message's frame and body; `None` of the dictionary of a flag.
type Versions = Option<(Version, Option<Version>)>;

/// What is done with messages.
enum Job {
    Parse,
    Validate,
    Print,
    Stats(Box<Stats>),
}

/// Runs the command.
pub(crate) fn run(args: &FixArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let rows = &[LatencyName::Service];
    let (messages, setup) = match &args.command {
        FixCommand::Parse(args) | FixCommand::Validate(args) | FixCommand::Print(args) => {
            let setup = Setup::filter(name, argv, &args.report, &args.terminal, args.force);
            (&args.messages, setup)
        }
        FixCommand::Stats(args) => (&args.messages, Setup::analysis(name, argv, &args.output)),
    };
    let session = Session::start(&Setup { rows, ..setup })?;
    let recorder = |operation: &str, series: &str| {
        let spec = Spec::new(LatencyName::Service, operation).series(series);
        Recorder::new(session.spec(spec), session.run_start())
    };
    let (kind, job) = match &args.command {
        FixCommand::Parse(_) => ("fix parse", Job::Parse),
        FixCommand::Validate(_) => ("fix validate", Job::Validate),
        FixCommand::Print(_) => ("fix print", Job::Print),
        FixCommand::Stats(_) => {
            let stats = Stats::new(recorder("order", "order to execution"));
            ("fix stats", Job::Stats(Box::new(stats)))
        }
    };
    let dictionary = messages.dictionary.as_deref().map(dictionary).transpose()?;
    let decoder = decoder(messages.isa, dictionary.as_ref())?;
    let mut outcome = Outcome::new(kind);
    let params = &mut outcome.workload.params;
    params.insert("isa".to_owned(), decoder.isa().name().into());
    let mut reader = Reader {
        job,
        dictionary: dictionary.as_ref(),
        validators: Vec::new(),
        out: Output::new()?,
        good: 0,
        bad: 0,
        named: Vec::new(),
    };
    let mut pieces = recorder("piece of 256 KiB", kind);
    reader.all(messages, decoder, &mut pieces, &mut outcome);
    reader.conclude(pieces, &mut outcome);
    session.finish(outcome)
}

/// A decoder by the instruction set of the flag, of `PERFKIT_ISA`, or the best there is.
pub(super) fn decoder(isa: Option<Isa>, dictionary: Option<&Dictionary>) -> Result<Decoder> {
    let decoder = match forced(isa)? {
        None => Decoder::new(),
        Some(isa) => Decoder::with_isa(isa).ok_or_else(|| unavailable(isa))?,
    };
    let Some(dictionary) = dictionary else {
        return Ok(decoder);
    };
    let mut pairs = dictionary.data_pairs().pairs().to_vec();
    pairs.extend_from_slice(DataPairs::standard().pairs());
    Ok(decoder.with_pairs(DataPairs::new(&pairs)))
}

/// The instruction set of the flag or of `PERFKIT_ISA`.
pub(super) fn forced(isa: Option<Isa>) -> Result<Option<Isa>> {
    if let Some(isa) = isa {
        return Ok(Some(isa));
    }
    match std::env::var("PERFKIT_ISA") {
        Ok(name) if !name.is_empty() => {
            let isa = name.parse();
            isa.map(Some)
                .map_err(|error| Failure::usage(format!("PERFKIT_ISA: {error}")))
        }
        _ => Ok(None),
    }
}

pub(super) fn unavailable(isa: Isa) -> Failure {
    let there = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    let there: Vec<_> = there.map(Isa::name).collect();
    Failure::usage(format!("this processor does not have {isa}"))
        .help(format!("it has {}", there.join(", ")))
}

fn dictionary(path: &Path) -> Result<Dictionary> {
    let mut source = Source::open(path)?;
    let mut bytes = Vec::new();
    loop {
        let piece = source
            .next(Vec::new())
            .map_err(|error| source.error(&error))?;
        if piece.is_empty() {
            break;
        }
        bytes.extend(piece);
        if bytes.len() > DICTIONARY_BYTES_MAX {
            let message = format!("{} is too large for a dictionary", display(path));
            return Err(Failure::new(message));
        }
    }
    let wrong = |error: String| Failure::new(format!("cannot read {}: {error}", display(path)));
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
    Dictionary::from_xml(&text).map_err(|error| wrong(error.to_string()))
}

/// Standard output, a buffer at a time.
struct Output {
    file: File,
    buffer: Vec<u8>,
    written: u64,
}

impl Output {
    fn new() -> Result<Self> {
        let file = duplicate_stdout();
        let failed = |error| Failure::io("write", Path::new("standard output"), &error);
        Ok(Self {
            file: file.map_err(failed)?,
            buffer: Vec::new(),
            written: 0,
        })
    }

    fn flush(&mut self, at_least: usize) -> std::result::Result<(), Stop> {
        if self.buffer.len() < at_least {
            return Ok(());
        }
        match self.file.write_all(&self.buffer) {
            Ok(()) => {
                self.written += self.buffer.len() as u64;
                self.buffer.clear();
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Stop::Closed),
            Err(error) => Err(Failure::io("write", Path::new("standard output"), &error).into()),
        }
    }
}

struct Reader<'d> {
    job: Job,
    dictionary: Option<&'d Dictionary>,
    /// Of each pair of versions that was met.
    validators: Vec<(Versions, Validator<'d>)>,
    out: Output,
    good: u64,
    bad: u64,
    /// The first that are bad: file, place, what is wrong.
    named: Vec<(String, u64, String)>,
}

impl Reader<'_> {
    fn all(
        &mut self,
        args: &MessagesArgs,
        mut decoder: Decoder,
        pieces: &mut Recorder,
        outcome: &mut Outcome,
    ) {
        for path in &args.files {
            let name = path.display().to_string();
            let read = messages::each(path, args.separator, pieces, &mut |offset, found| {
                self.found(&name, offset, found, &mut decoder)
            });
            let read = read.and_then(|bytes| self.out.flush(1).map(|()| bytes));
            let bytes = match read {
                Ok(bytes) => bytes,
                // Who closed the pipe has seen enough.
                Err(Stop::Closed) => break,
                Err(Stop::Failed(failure)) => {
                    message::failure(&failure);
                    outcome.complete = false;
                    outcome.status = match args.files.len() {
                        1 => failure.exit_status(),
                        _ => ExitStatus::Partial,
                    };
                    continue;
                }
            };
            outcome.bytes_in += bytes;
            outcome.workload.inputs_total += 1;
            if outcome.workload.inputs.len() < INPUTS_LISTED {
                outcome.workload.inputs.push(Input {
                    path: name,
                    bytes,
                    xxh64: None,
                });
            }
            if signal::interrupted() {
                break;
            }
        }
    }

    fn found(
        &mut self,
        path: &str,
        offset: u64,
        found: Found<'_>,
        decoder: &mut Decoder,
    ) -> std::result::Result<(), Stop> {
        let bytes = match found {
            Found::Message(bytes) => bytes,
            Found::Bad(why) => {
                self.wrong(path, offset, None, why.to_string());
                return self.out.flush(OUTPUT_BYTES);
            }
        };
        match decoder.parse(bytes) {
            Ok(message) => self.message(path, offset, &message),
            Err(error) => self.wrong(path, offset, error.tag(), error.to_string()),
        }
        self.out.flush(OUTPUT_BYTES)
    }

    fn message(&mut self, path: &str, offset: u64, message: &Message<'_, '_>) {
        match &mut self.job {
            Job::Parse => lines::message(&mut self.out.buffer, offset, message),
            Job::Stats(stats) => stats.message(message),
            Job::Print => {
                let dictionaries = match (self.dictionary, Validator::versions(message)) {
                    (Some(dictionary), _) => [Some(dictionary), None],
                    (None, Some((frame, body))) => {
                        [frame.dictionary(), body.and_then(Version::dictionary)]
                    }
                    (None, None) => [None, None],
                };
                lines::named(&mut self.out.buffer, offset, message, dictionaries);
            }
            Job::Validate => {
                if let Some((tag, error)) = self.validate(message) {
                    return self.wrong(path, offset, tag, error);
                }
            }
        }
        self.good += 1;
    }

    /// What a dictionary says against a message.
    fn validate(&mut self, message: &Message<'_, '_>) -> Option<(Option<u32>, String)> {
        let versions = match self.dictionary {
            Some(_) => None,
            None => Validator::versions(message),
        };
        if versions.is_none() && self.dictionary.is_none() {
            let error = "there is no dictionary for this BeginString".to_owned();
            return Some((Some(8), error));
        }
        let known = self.validators.iter().position(|known| known.0 == versions);
        let at = match known {
            Some(at) => at,
            None => {
                let validator = match (self.dictionary, versions) {
                    (Some(dictionary), _) => Validator::new(dictionary, Rules::default()),
                    (None, versions) => Validator::of_versions(versions?, Rules::default())?,
                };
                self.validators.push((versions, validator));
                self.validators.len() - 1
            }
        };
        let error = self.validators.get_mut(at)?.1.validate(message).err()?;
        Some((error.tag(), error.to_string()))
    }

    fn wrong(&mut self, path: &str, offset: u64, tag: Option<u32>, error: String) {
        self.bad += 1;
        if !matches!(self.job, Job::Stats(_)) {
            lines::wrong(&mut self.out.buffer, path, offset, tag, &error);
        } else if self.named.len() < BAD_NAMED {
            self.named.push((path.to_owned(), offset, error));
        }
    }

    fn conclude(self, pieces: Recorder, outcome: &mut Outcome) {
        outcome.bytes_content = outcome.bytes_in;
        outcome.bytes_out = self.out.written;
        outcome.ops = Some(self.good + self.bad);
        let params = &mut outcome.workload.params;
        params.insert("messages".to_owned(), self.good.into());
        params.insert("messages_bad".to_owned(), self.bad.into());
        if let Job::Stats(stats) = self.job {
            let (tables, waits, unfollowed) = stats.finish();
            params.insert("unfollowed".to_owned(), unfollowed.into());
            outcome.tables.extend(tables);
            if !waits.is_empty() {
                outcome.add(&waits.finish());
            }
            if !self.named.is_empty() {
                let columns = [
                    ("file", Unit::Text),
                    ("offset", Unit::Count),
                    ("error", Unit::Text),
                ];
                let mut table = Table::new("bad messages", &columns);
                for (path, offset, error) in self.named {
                    table
                        .rows
                        .push(vec![path.into(), offset.into(), error.into()]);
                }
                outcome.tables.push(table);
            }
        }
        if !pieces.is_empty() {
            outcome.add(&pieces.finish());
        }
        if self.bad > 0 && outcome.status == ExitStatus::Ok {
            outcome.status = ExitStatus::Partial;
        }
        if signal::interrupted() {
            outcome.complete = false;
            outcome.status = ExitStatus::Interrupted;
        }
    }
}
