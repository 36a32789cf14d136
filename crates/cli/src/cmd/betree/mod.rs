//! `perfkit betree`: expressions from files, events from a file or a pipe, matches as they come.
//!
//! What matching is lives in the library `betree`; here are files, lines and numbers of lines.

mod build;
mod explain;
mod generate;
mod lines;
mod matching;

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;

use betree::workload::Kind;
use betree::{BeTree, Constants, Domain, Error, Expression, Snapshot, SubscriptionId, Undefined};

use crate::args::betree::{
    BetreeArgs, BetreeCommand, TreeArgs, UndefinedMode, WorkloadArgs, WorkloadKind,
};
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
pub(super) fn kind(kind: WorkloadKind, size: &WorkloadArgs) -> Kind {
    match kind {
        WorkloadKind::Bool => Kind::Bool(size.attributes),
        WorkloadKind::Ad => Kind::Ad,
    }
}

/// The tree of the files or of the snapshot, and how many lines the expressions have: of a snapshot,
/// the greatest id.
fn snapshot(args: &TreeArgs, progress: bool) -> Result<(Snapshot, u64)> {
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
        (None, Some(domains), Some(expressions)) => {
            let (mut tree, lines) = tree(args, domains, expressions, progress)?;
            Ok((tree.snapshot(), lines))
        }
        // The parser of the arguments asks for both.
        _ => Err(Failure::new("there are no expressions")),
    }
}

fn tree(
    args: &TreeArgs,
    domains: &Path,
    expressions: &Path,
    progress: bool,
) -> Result<(BeTree, u64)> {
    let domain = Domain::parse(&text(domains)?).map_err(|error| failed(domains, &error))?;
    let undefined = match args.undefined {
        UndefinedMode::False => Undefined::False,
        UndefinedMode::ThreeValued => Undefined::Unknown,
    };
    let constants = match &args.constants {
        Some(path) => Constants::parse(&text(path)?).map_err(|error| failed(path, &error))?,
        None => std::collections::HashMap::new(),
    };
    let content = text(expressions)?;
    let mut tree = BeTree::new(domain, undefined);
    let progress = Progress::start(progress, Some(content.len() as u64));
    let mut lines = 0;
    for line in content.lines() {
        if signal::interrupted() {
            return Err(Failure::new("interrupted").status(ExitStatus::Interrupted));
        }
        lines += 1;
        progress.add(line.len() as u64 + 1);
        if line.trim().is_empty() {
            continue;
        }
        let id = SubscriptionId(lines);
        let constants = constants.get(&id).copied().unwrap_or_default();
        Expression::parse(line)
            .and_then(|expression| tree.insert(id, &expression, &constants))
            .map_err(|error| {
                let name = display(expressions);
                Failure::new(format!("cannot read {name}: line {lines}: {error}"))
                    .help("correct the expression, or empty its line")
            })?;
    }
    progress.finish();
    Ok((tree, lines))
}

/// A whole file of text.
fn text(path: &Path) -> Result<String> {
    let mut text = String::new();
    open(path, OpenOptions::new().read(true))
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(|error| Failure::io("read", path, &error))?;
    Ok(text)
}

fn failed(path: &Path, error: &Error) -> Failure {
    Failure::new(format!("cannot read {}: {error}", display(path)))
}
