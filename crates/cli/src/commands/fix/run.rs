//! `perfkit fix`: messages of logs and streams parsed, validated, printed and counted.
//!
//! What a message is lives in the library `fixcore`; here are files, lines and counts.

use std::ffi::OsString;
use std::path::Path;

use fixcore::dict::Dictionary;
use fixcore::{DataPairs, Decoder, Isa};
use latency::report::LatencyName;
use latency::{Recorder, Spec};

use crate::args::output::TerminalArgs;
use crate::args::threads;
use crate::commands::fix::blocks::{Block, Blocks};
use crate::commands::fix::flags::{
    DiffArgs, FilterArgs, FixArgs, FixCommand, ReplayArgs, Separator,
};
use crate::commands::fix::read::{Job, Reading, Task};
use crate::commands::fix::stats::Stats;
use crate::commands::fix::texts::{Found, Texts};
use crate::commands::fix::veil::{self, Veil};
use crate::commands::fix::{diff, generate, replay, store};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::io::source::Source;
use crate::io::target::display;
use crate::session::{Outcome, Session, Setup};

/// Bytes of a dictionary's file.
const DICTIONARY_BYTES_MAX: usize = 64 << 20;

/// Runs the command.
pub(crate) fn run(args: &FixArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let (messages, setup, job) = match &args.command {
        FixCommand::Parse(args) => (&args.messages, filter(args, name, argv), Job::Parse),
        FixCommand::Validate(args) => (&args.messages, filter(args, name, argv), Job::Validate),
        FixCommand::Print(args) => (&args.messages, filter(args, name, argv), Job::Print),
        FixCommand::Stats(args) => {
            let setup = Setup::analysis(name, argv, &args.output);
            (&args.messages, setup, Job::Stats)
        }
        FixCommand::Anonymize(args) => {
            let setup = Setup::filter_of(name, argv, &args.output);
            (&args.messages, setup, Job::Anonymize)
        }
        FixCommand::Diff(args) => return compare(args, name, argv),
        FixCommand::Replay(args) => return send(args, name, argv),
        FixCommand::Generate(args) => return generate::run(args),
        FixCommand::Store(args) => return store::run(args, name, argv),
    };
    let terminal = match &args.command {
        FixCommand::Parse(args) | FixCommand::Validate(args) | FixCommand::Print(args) => {
            Some(&args.output.terminal)
        }
        FixCommand::Stats(args) => Some(&args.output.terminal),
        FixCommand::Anonymize(args) => Some(&args.output.terminal),
        _ => None,
    };
    let veil = match &args.command {
        FixCommand::Anonymize(args) => {
            let mut tags = args.tags.clone().unwrap_or_else(|| veil::TAGS.to_vec());
            tags.extend(&args.also);
            Some(Veil::new(args.key_file.as_deref(), tags)?)
        }
        _ => None,
    };
    let kind = job.name();
    let rows = &[LatencyName::Service];
    let session = Session::start(&Setup { rows, ..setup })?;
    let recorder = |operation: &str, series: &str| {
        let spec = Spec::new(LatencyName::Service, operation).series(series);
        Recorder::new(session.spec(spec), session.run_start())
    };
    let dictionary = messages.dictionary.as_deref().map(dictionary).transpose()?;
    let isa = decoder(messages.isa, dictionary.as_ref())?.isa();
    let threads = threads(messages.threads)?;
    let mut outcome = Outcome::new(kind);
    let params = &mut outcome.workload.params;
    params.insert("isa".to_owned(), isa.name().into());
    params.insert("threads".to_owned(), threads.into());
    let task = Task {
        job,
        messages,
        dictionary: dictionary.as_ref(),
        isa,
        veil: veil.as_ref(),
        warns: terminal.is_some_and(TerminalArgs::wants_warnings),
    };
    let pieces = recorder("block of up to 512 KiB", kind);
    let stats = (job == Job::Stats).then(|| Stats::new(recorder("order", "order to execution")));
    Reading::new(task, stats, pieces)?.run(threads, &mut outcome);
    session.finish(outcome)
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
    let session = Session::start(&setup)?;
    let mut outcome = Outcome::new("fix diff");
    let decoders = [decoder(None, None)?, decoder(None, None)?];
    diff::run(args, decoders, &mut outcome);
    session.finish(outcome)
}

fn send(args: &ReplayArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    let rows = &[LatencyName::Response, LatencyName::Service];
    let setup = Setup::filter_of(name, argv, &args.output);
    let session = Session::start(&Setup { rows, ..setup })?;
    let mut outcome = Outcome::new("fix replay");
    let recorder = |spec: Spec| Recorder::new(session.spec(spec), session.run_start());
    replay::run(args, decoder(None, None)?, &recorder, &mut outcome)?;
    session.finish(outcome)
}

fn filter<'a>(args: &'a FilterArgs, name: &'static str, argv: &'a [OsString]) -> Setup<'a> {
    Setup::filter_of(name, argv, &args.output)
}

/// A decoder by the instruction set of the flag, of `PERFKIT_ISA`, or the best there is.
pub(crate) fn decoder(isa: Option<Isa>, dictionary: Option<&Dictionary>) -> Result<Decoder> {
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
pub(crate) fn forced(isa: Option<Isa>) -> Result<Option<Isa>> {
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

pub(crate) fn unavailable(isa: Isa) -> Failure {
    let there = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    let there: Vec<_> = there.map(Isa::name).collect();
    Failure::usage(format!("this processor does not have {isa}"))
        .help(format!("it has {}", there.join(", ")))
}

fn dictionary(path: &Path) -> Result<Dictionary> {
    let mut source = Source::open(path, context())?;
    let mut bytes = Vec::new();
    loop {
        let piece = source.next_buffer().map_err(|error| source.error(error))?;
        if piece.is_empty() {
            break;
        }
        bytes.extend_from_slice(&piece);
        if bytes.len() > DICTIONARY_BYTES_MAX {
            let message = format!("{} is too large for a dictionary", display(path));
            return Err(Failure::new(message));
        }
    }
    let wrong = |error: String| Failure::new(format!("cannot read {}: {error}", display(path)));
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
    Dictionary::from_xml(&text).map_err(|error| wrong(error.to_string()))
}

/// All messages of a file, for what keeps them: at most so many.
pub(crate) fn collect(path: &Path, most: usize) -> Result<Vec<Vec<u8>>> {
    let files = [path.to_owned()];
    let mut blocks = Blocks::new(&files, Separator::Auto, &|| false);
    let (mut block, mut texts, mut messages) = (Block::default(), Texts::new(), Vec::new());
    while messages.len() < most && blocks.next(&mut block) {
        texts.each(&block, &mut |_, found| {
            if let Found::Message(bytes, _) = found
                && messages.len() < most
            {
                messages.push(bytes.to_vec());
            }
        });
        if let Some(failure) = block.ended.take().and_then(|ended| ended.failure) {
            return Err(failure);
        }
    }
    Ok(messages)
}
