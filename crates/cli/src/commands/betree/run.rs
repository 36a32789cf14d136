//! `perfkit betree`: expressions from files, events from a file or a pipe, matches as they come.
//!
//! What matching is lives in the library `betree`; here are files, lines and numbers of lines.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;

use betree::Undefined;
use betree::workload::Kind;
use betree::{BeTree, Constants, Domain, ErlangTerms, Error, Expression, Snapshot, SubscriptionId};

use crate::commands::betree::flags::{
    BetreeArgs, BetreeCommand, TreeArgs, UndefinedMode, WorkloadArgs, WorkloadKind,
};
use crate::commands::betree::{build, explain, generate, matching};
use crate::exit::ExitStatus;
use crate::failure::{Failure, Result};
use crate::io::open::open;
use crate::io::target::display;
use crate::term::progress::Progress;
use crate::term::signal;

/// Runs the command.
pub(crate) fn run(args: &BetreeArgs, name: &'static str, argv: &[OsString]) -> Result<ExitStatus> {
    match &args.command {
        BetreeCommand::Generate(args) => generate::run(args),
        BetreeCommand::Match(args) => matching::run(args, name, argv),
        BetreeCommand::Build(args) => build::run(args),
        BetreeCommand::Explain(args) => explain::run(args),
    }
}

/// The workload that flags ask for.
pub(crate) fn kind(kind: WorkloadKind, size: &WorkloadArgs) -> Kind {
    match kind {
        WorkloadKind::Bool => Kind::Bool(size.attributes),
        WorkloadKind::Ad => Kind::Ad,
    }
}

/// The tree of the files or of the snapshot, and how many lines the expressions have: of a snapshot,
/// the greatest id.
pub(crate) fn snapshot(args: &TreeArgs, progress: bool) -> Result<(Snapshot, u64)> {
    match (&args.snapshot, &args.domains, &args.expressions) {
        (Some(path), _, _) => {
            let mut bytes = Vec::new();
            open(path, OpenOptions::new().read(true))
                .and_then(|mut file| file.read_to_end(&mut bytes))
                .map_err(|error| Failure::io("read", path, &error))?;
            let snapshot = Snapshot::load(&bytes).map_err(|error| {
                failed(path, &error).help("make it again with `perfkit betree build`")
            })?;
            let greatest = snapshot.ids().last().map_or(0, |id| id.0);
            Ok((snapshot, greatest))
        }
        (None, domains, Some(expressions)) => {
            let undefined = match args.undefined {
                UndefinedMode::False => Undefined::False,
                UndefinedMode::ThreeValued => Undefined::Unknown,
            };
            let constants = args.constants.as_deref();
            let files = Files {
                domains: domains.as_deref(),
                expressions,
                constants,
                undefined,
            };
            let (mut tree, lines) = tree(&files, progress)?;
            Ok((tree.snapshot(), lines))
        }
        // The parser of the arguments asks for them.
        _ => Err(Failure::new("there are no expressions")),
    }
}

/// What a tree is made of.
pub(crate) struct Files<'a> {
    pub(crate) domains: Option<&'a Path>,
    pub(crate) expressions: &'a Path,
    pub(crate) constants: Option<&'a Path>,
    pub(crate) undefined: Undefined,
}

/// The tree of files, and the greatest id that it may have.
pub(crate) fn tree(files: &Files<'_>, progress: bool) -> Result<(BeTree, u64)> {
    let path = files.expressions;
    let content = text(path)?;
    let constants = match files.constants {
        Some(path) => Constants::parse(&text(path)?).map_err(|error| failed(path, &error))?,
        None => std::collections::HashMap::new(),
    };
    let terms = match ErlangTerms::begins(&content) {
        true => Some(ErlangTerms::parse(&content).map_err(|error| failed(path, &error))?),
        false => None,
    };
    let domain = match (files.domains, &terms) {
        (Some(path), _) => Domain::parse(&text(path)?).map_err(|error| failed(path, &error))?,
        (None, Some(terms)) => terms.domain.clone(),
        (None, None) => {
            let message = format!("{} brings no domain", display(path));
            return Err(Failure::usage(message).help("name its attributes by --domains"));
        }
    };
    let lines: Box<dyn Iterator<Item = &str>> = match &terms {
        Some(terms) => Box::new(terms.expressions.iter().map(|text| &**text)),
        None => Box::new(content.lines()),
    };
    let what = if terms.is_some() {
        "expression"
    } else {
        "line"
    };
    let mut tree = BeTree::new(domain, files.undefined);
    let progress = Progress::start(progress, Some(content.len() as u64));
    let mut number = 0;
    for line in lines {
        if signal::interrupted() {
            return Err(Failure::new("interrupted").status(ExitStatus::Interrupted));
        }
        number += 1;
        progress.add(line.len() as u64 + 1);
        if line.trim().is_empty() {
            continue;
        }
        let id = SubscriptionId(number);
        let constants = constants.get(&id).copied().unwrap_or_default();
        Expression::parse(line)
            .and_then(|expression| tree.insert(id, &expression, &constants))
            .map_err(|error| {
                let name = display(path);
                Failure::new(format!("cannot read {name}: {what} {number}: {error}"))
                    .help("correct the expression, or empty its line")
            })?;
    }
    progress.finish();
    Ok((tree, number))
}

/// An event as JSON: as it is, or a list of values as Erlang writes them.
pub(crate) fn event_json<'l>(domain: &Domain, line: &'l [u8]) -> betree::Result<Cow<'l, [u8]>> {
    let start = line.iter().find(|byte| !byte.is_ascii_whitespace());
    match (start, std::str::from_utf8(line)) {
        (Some(b'[' | b'0' | b'1'), Ok(text)) => {
            ErlangTerms::event(domain, text).map(|json| Cow::Owned(json.into_bytes()))
        }
        _ => Ok(Cow::Borrowed(line)),
    }
}

/// What a text may begin with to say that it is UTF-8.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A whole file of text, without the mark that it may begin with.
pub(crate) fn text(path: &Path) -> Result<String> {
    let mut text = String::new();
    open(path, OpenOptions::new().read(true))
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(|error| Failure::io("read", path, &error))?;
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(text)
}

fn failed(path: &Path, error: &Error) -> Failure {
    Failure::new(format!("cannot read {}: {error}", display(path)))
}
