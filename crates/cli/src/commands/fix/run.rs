//! `perfkit fix`: messages of logs and streams parsed, validated, printed and counted.
//!
//! What a message is lives in the library `fixcore`, what a log is in `fixlog`; here are flags, files and
//! reports.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use fixcore::dict::Dictionary;
use fixcore::{DataPairs, Decoder, Isa};
use fixlog::{
    Accept, Checks, Clock, Job, KeyError, Pseudonyms, RowForm, Rows, Selection, Task, tag_of,
};
use latency::report::LatencyName;
use latency::{Recorder, Spec};
use report::{ExitStatus, Outcome};

use crate::args::output::TerminalArgs;
use crate::args::threads;
use crate::commands::fix::by_time;
use crate::commands::fix::conclude::lines;
use crate::commands::fix::fills::Ledger;
use crate::commands::fix::flags::{
    AnonymizeArgs, DiffArgs, FilterArgs, FixArgs, FixCommand, ReplayArgs,
};
use crate::commands::fix::health::Sessions;
use crate::commands::fix::message_flags::MessagesArgs;
use crate::commands::fix::one_log::OneLogArgs;
use crate::commands::fix::read::{Plan, Reading};
use crate::commands::fix::row_flags::RowsArgs;
#[cfg(target_os = "linux")]
use crate::commands::fix::{acceptor, initiator};
use crate::commands::fix::{
    certify, dictionaries, diff, generate, orders, replay, settings, store,
};
use crate::commands::fix_logs::{forced, unavailable};
use crate::failure::{Failure, Result};
use crate::io::open::open;
use crate::session::{Session, Setup};

/// Bytes of a key's file.
const KEY_BYTES_MAX: u64 = 1 << 20;

/// Runs the command.
pub(crate) fn run(args: &FixArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let (messages, setup, kind) = match &args.command {
        FixCommand::Parse(args) => (
            &args.filter.messages,
            filter(&args.filter, name, argv),
            "fix parse",
        ),
        FixCommand::Validate(args) => (
            &args.messages,
            Setup::filter_of(name, argv, &args.output),
            "fix validate",
        ),
        FixCommand::Print(args) => (
            &args.filter.messages,
            filter(&args.filter, name, argv),
            "fix print",
        ),
        FixCommand::Stats(args) => {
            let setup = Setup::analysis(name, argv, &args.output);
            (&args.messages, setup, "fix stats")
        }
        FixCommand::Anonymize(args) => {
            let setup = Setup::filter_of(name, argv, &args.output);
            (&args.messages, setup, "fix anonymize")
        }
        FixCommand::Fills(args) => {
            let setup = Setup::analysis(name, argv, &args.output);
            (&args.messages, setup, "fix fills")
        }
        FixCommand::Health(args) => {
            let setup = match args.list.is_empty() {
                true => Setup::analysis(name, argv, &args.output),
                false => Setup::filter_of(name, argv, &args.output),
            };
            (&args.messages, setup, "fix health")
        }
        FixCommand::Orders(args) => {
            one_log_to_follow(&args.messages)?;
            let dictionaries = dictionaries::read(&args.messages.dictionaries)?;
            let isa = decoder(args.messages.isa, dictionaries.all())?.isa();
            return orders::run(args, &dictionaries, isa, name, argv);
        }
        FixCommand::Diff(args) => return compare(args, name, argv),
        FixCommand::Replay(args) => return send(args, name, argv),
        FixCommand::Generate(args) => return generate::run(args),
        FixCommand::Store(args) => return store::run(args, name, argv),
        #[cfg(target_os = "linux")]
        FixCommand::Acceptor(args) => return acceptor::run(args, name, argv),
        #[cfg(target_os = "linux")]
        FixCommand::Initiator(args) => {
            return initiator::run(args, decoder(None, &[])?, name, argv);
        }
        FixCommand::Settings(args) => return settings::run(args, name, argv),
        FixCommand::Certify(args) => return certify::run(args, name, argv),
    };
    let terminal = match &args.command {
        FixCommand::Parse(args) => Some(&args.filter.output.terminal),
        FixCommand::Print(args) => Some(&args.filter.output.terminal),
        FixCommand::Validate(args) => Some(&args.output.terminal),
        FixCommand::Stats(args) => Some(&args.output.terminal),
        FixCommand::Anonymize(args) => Some(&args.output.terminal),
        FixCommand::Fills(args) => Some(&args.output.terminal),
        FixCommand::Health(args) => Some(&args.output.terminal),
        _ => None,
    };
    let dictionaries = dictionaries::read(&messages.dictionaries)?;
    let names = dictionaries.all();
    let checks = match &args.command {
        FixCommand::Validate(args) => args.checks(),
        _ => Checks::new(),
    };
    let checks = dictionaries.checks(checks);
    let pseudonyms = match &args.command {
        FixCommand::Anonymize(args) => Some(pseudonyms(args, names)?),
        _ => None,
    };
    let job = match &args.command {
        FixCommand::Validate(_) => Job::Validate,
        FixCommand::Print(_) => Job::Print,
        FixCommand::Stats(_) => Job::Statistics,
        FixCommand::Fills(_) => Job::Fills,
        FixCommand::Health(_) => Job::Health,
        _ => pseudonyms.as_ref().map_or(Job::Parse, Job::Anonymize),
    };
    let stats = match &args.command {
        FixCommand::Stats(args) => Some(args),
        _ => None,
    };
    let by = match &args.command {
        FixCommand::Stats(args) => args.keys(names)?,
        FixCommand::Fills(args) => args.keys(names)?,
        _ => Vec::new(),
    };
    let keys: Vec<_> = by.iter().map(|(_, key)| *key).collect();
    let clock = stats.map_or(Clock::Sending, |args| args.clock());
    let filter = messages.wanted.filter(names)?;
    let wanted = match &args.command {
        FixCommand::Parse(args) => Some((&args.rows, args.format.into())),
        FixCommand::Print(args) => Some((&args.rows, RowForm::Json)),
        _ => None,
    };
    let text = wanted.and_then(|(args, _)| args.find.as_deref());
    let chosen = wanted
        .map(|(args, form)| rows(args, form, names))
        .transpose()?;
    one_log_to_follow(messages)?;
    if messages.by_time && !matches!(job, Job::Parse | Job::Print | Job::Statistics) {
        return Err(Failure::usage("--by-time is for parse, print and stats")
            .help("leave it out: the logs are read one after the other"));
    }
    if matches!(job, Job::Anonymize(_)) && messages.accepted() != Accept::default() {
        return Err(Failure::usage("--accept is not for anonymize")
            .help("leave it out: invalid messages may have anything in them"));
    }
    let pieces = match &args.command {
        FixCommand::Stats(args) if args.messages.by_time => {
            by_time::can_look(&args.messages.files)?;
            OneLogArgs { one_log: true }
        }
        FixCommand::Stats(args) => args.pieces,
        FixCommand::Health(args) => args.pieces,
        _ => OneLogArgs::default(),
    };
    let files = &by_time::ordered(pieces, &messages.files)?;
    let rows = &[LatencyName::Service];
    let session = Session::start(&Setup { rows, ..setup })?;
    let recorder = |operation: &str, series: &str| {
        let spec = Spec::new(LatencyName::Service, operation).series(series);
        Recorder::new(session.spec(spec), session.run_start())
    };
    let isa = decoder(messages.isa, names)?.isa();
    let threads = threads(messages.threads)?;
    let mut outcome = Outcome::new(kind);
    let params = &mut outcome.workload.params;
    params.insert("isa".to_owned(), isa.name().into());
    params.insert("threads".to_owned(), threads.into());
    let task = Task::new(job)
        .names(files)
        .isa(isa)
        .lines(lines())
        .filter(Some(&filter))
        .accept(messages.accepted())
        .by(&keys)
        .clock(clock)
        .with_text(text)
        .rows(chosen.as_ref());
    let selected = wanted.filter(|(args, _)| args.limit.is_some() || args.context > 0);
    let (task, selection) = match selected {
        None => (task, None),
        Some((args, _)) => (
            task.pieces(args.context > 0),
            Some(Selection::new(args.limit, args.context as usize)),
        ),
    };
    let is_merged = messages.by_time && wanted.is_some();
    let task = match is_merged {
        true => task
            .pieces(selection.is_some() && wanted.is_some_and(|(args, _)| args.context > 0))
            .times(true),
        false => task,
    };
    let plan = Plan {
        files,
        separator: messages.separator.into(),
        threads,
        task: task.checks(checks),
        counts_noise: matches!(job, Job::Validate),
        filters: !filter.is_empty(),
        leaves_whole: messages.wanted.leaves_sessions_whole(),
        warns: terminal.is_some_and(TerminalArgs::wants_warnings),
        by_time: is_merged,
        pieces,
        by: &by,
        clock,
        follows: messages.follow,
        text,
        shows_progress: terminal.is_some_and(TerminalArgs::wants_progress)
            && (matches!(job, Job::Statistics) || !std::io::stdout().is_terminal()),
    };
    let blocks = recorder("block of up to 128 KiB", kind);
    let waits = stats.map(|args| recorder("order", args.series()));
    let sessions = match &args.command {
        FixCommand::Health(args) => Some(Sessions::new(args, files, &recorder)),
        _ => None,
    };
    let ledger = matches!(job, Job::Fills).then(|| Ledger::new(&by));
    let reading = Reading::new(plan, waits, blocks)?;
    let reading = reading.select(selection).sessions(sessions).ledger(ledger);
    reading.run(
        &chosen.as_ref().map_or_else(String::new, Rows::head),
        &mut outcome,
    );
    session.finish(outcome)
}

/// A log that is followed never ends, so there is one.
fn one_log_to_follow(messages: &MessagesArgs) -> Result<()> {
    match messages.follow && messages.files.len() > 1 {
        true => Err(Failure::usage("--follow is for one log")
            .help("tail -qF A.log B.log | perfkit fix … follows several")),
        false => Ok(()),
    }
}

fn compare(args: &DiffArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let setup = Setup::filter_of(name, argv, &args.output);
    if [&args.first, &args.second]
        .iter()
        .all(|path| **path == Path::new("-"))
    {
        let message = "standard input cannot be both logs";
        return Err(Failure::usage(message).help("name a file for one of them"));
    }
    let filter = args.wanted.filter(&[])?;
    let session = Session::start(&setup)?;
    let mut outcome = Outcome::new("fix diff");
    // A wrong `PERFKIT_ISA` is an error here too.
    decoder(None, &[])?;
    diff::run(args, filter, &mut outcome);
    session.finish(outcome)
}

fn send(args: &ReplayArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let rows = &[LatencyName::Response, LatencyName::Service];
    let setup = Setup::filter_of(name, argv, &args.output);
    let filter = args.wanted.filter(&[])?;
    let session = Session::start(&Setup { rows, ..setup })?;
    let mut outcome = Outcome::new("fix replay");
    let recorder = |spec: Spec| Recorder::new(session.spec(spec), session.run_start());
    replay::run(args, filter, decoder(None, &[])?, &recorder, &mut outcome)?;
    session.finish(outcome)
}

fn filter<'a>(args: &'a FilterArgs, name: &'static str, argv: &'a [OsString]) -> Setup<'a> {
    Setup::filter_of(name, argv, &args.output)
}

/// A decoder by the instruction set of the flag, of `PERFKIT_ISA`, or the best there is.
fn decoder(isa: Option<Isa>, dictionaries: &[Dictionary]) -> Result<Decoder> {
    let isa = forced(isa)?;
    fixlog::decoder(isa, dictionaries).ok_or_else(|| unavailable(isa.unwrap_or(Isa::Scalar)))
}

/// Pseudonyms by the flags. What a dictionary declares as data may be anything, and is hidden too.
fn pseudonyms(args: &AnonymizeArgs, dictionaries: &[Dictionary]) -> Result<Pseudonyms> {
    let mut pseudonyms = match &args.key_file {
        Some(path) => key(path)?,
        None => Pseudonyms::random().map_err(|error| Failure::new(error.to_string()))?,
    };
    for dictionary in dictionaries {
        pseudonyms = pseudonyms.dictionary(dictionary);
    }
    if let Some(names) = &args.tags {
        pseudonyms = pseudonyms.tags(&tags("--tags", names, dictionaries)?);
    }
    Ok(pseudonyms.also(&tags("--also", &args.also, dictionaries)?))
}

/// The tags of fields that are named, or stated as numbers.
fn tags(flag: &str, names: &[String], dictionaries: &[Dictionary]) -> Result<Vec<u32>> {
    let standard = DataPairs::standard();
    let own = dictionaries.iter().map(Dictionary::data_pairs);
    let own: Vec<DataPairs> = own.collect();
    let pairs = || {
        standard
            .pairs()
            .iter()
            .chain(own.iter().flat_map(DataPairs::pairs))
    };
    let tag = |name: &String| {
        let name = name.trim();
        let Some(tag) = tag_of(name, dictionaries) else {
            let message = format!(
                "{flag}: no dictionary has the field '{}'",
                name.escape_debug()
            );
            return Err(Failure::usage(message).help("state its tag, or its name in the standard"));
        };
        let is_frame = FRAME_TAGS.contains(&tag) || pairs().any(|pair| pair.0 == tag);
        if is_frame {
            let message = format!("{flag}: '{name}' is not replaced");
            return Err(Failure::usage(message).help(
                "without BeginString, lengths, MsgType and CheckSum a message cannot be read",
            ));
        }
        Ok(tag)
    };
    names.iter().map(tag).collect()
}

/// What is written of each message.
fn rows(args: &RowsArgs, form: RowForm, dictionaries: &[Dictionary]) -> Result<Rows> {
    if form == RowForm::Raw && !args.fields.is_empty() {
        return Err(Failure::usage("--format raw has all fields")
            .help("leave --fields out, or write --format csv"));
    }
    let mut fields = Vec::new();
    for name in &args.fields {
        let name = name.trim();
        let tag = tag_of(name, dictionaries).ok_or_else(|| {
            let message = format!(
                "--fields: no dictionary has the field '{}'",
                name.escape_debug()
            );
            Failure::usage(message).help("state its tag, or its name in the standard")
        })?;
        fields.push((name.to_owned(), tag));
    }
    Ok(Rows::new(form, lines()).fields(fields))
}

/// Fields that say where a message begins and ends, and what it is.
const FRAME_TAGS: [u32; 4] = [8, 9, 10, 35];

/// Pseudonyms under the bytes of a file.
fn key(path: &Path) -> Result<Pseudonyms> {
    let failed = |error| Failure::io("read", path, &error);
    let mut bytes = Vec::new();
    // A pipe or a device states no size, and may never end.
    open(path, OpenOptions::new().read(true))
        .and_then(|file| file.take(KEY_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > KEY_BYTES_MAX {
        let message = format!("'{}' is too large for a key", path.display());
        return Err(Failure::new(message).help("name a file of 16 bytes to 1 MiB"));
    }
    Pseudonyms::new(&bytes).map_err(|error| match error {
        KeyError::TooShort { .. } => {
            let message = format!("'{}' is too short for a key", path.display());
            Failure::new(message)
                .help("a key has 16 bytes at least: head -c 32 /dev/urandom > FILE")
        }
        other => Failure::new(other.to_string()),
    })
}
