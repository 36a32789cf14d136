//! Files of expressions, domains, constants and events, read whole.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;

use betree::{
    BeTree, Constants, Domain, ErlangTerms, Error, Expression, SubscriptionId, Undefined,
};
use report::ExitStatus;

use crate::failure::{Failure, Result};
use crate::io::open::open;
use crate::io::target::display;
use crate::term::progress::Progress;
use crate::term::signal;

/// What a tree is made of.
pub(crate) struct Files<'a> {
    pub(crate) domains: Option<&'a Path>,
    pub(crate) expressions: &'a Path,
    pub(crate) constants: Option<&'a Path>,
    pub(crate) undefined: Undefined,
}

/// One expression of a file, and whether the tree took it.
pub(crate) struct Line<'a> {
    /// From 1, with empty lines.
    pub(crate) number: u64,
    pub(crate) text: &'a str,
    /// What the number counts: lines, or the expressions of Erlang terms.
    pub(crate) what: &'static str,
    pub(crate) added: betree::Result<()>,
    pub(crate) domain: &'a Domain,
}

/// The tree of files, and the greatest id that it may have.
pub(crate) fn tree(files: &Files<'_>, progress: bool) -> Result<(BeTree, u64)> {
    each(files, progress, |line| {
        line.added.map_err(|error| {
            let (name, what, number) = (display(files.expressions), line.what, line.number);
            Failure::new(format!("cannot read {name}: {what} {number}: {error}"))
                .help("correct the expression, or leave its line empty; `perfkit betree check` lists all mistakes")
        })
    })
}

/// Adds the expressions of files to a tree and gives each of them to `take`. Returns the tree and the greatest id
/// that it may have.
pub(crate) fn each(
    files: &Files<'_>,
    progress: bool,
    mut take: impl FnMut(Line<'_>) -> Result<()>,
) -> Result<(BeTree, u64)> {
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
            return Err(Failure::usage(message).help("state its attributes with --domains"));
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
        let added =
            Expression::parse(line).and_then(|expression| tree.insert(id, &expression, &constants));
        take(Line {
            number,
            text: line,
            what,
            added,
            domain: tree.domain(),
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

/// An error of a file, with its name.
pub(crate) fn failed(path: &Path, error: &Error) -> Failure {
    Failure::new(format!("cannot read {}: {error}", display(path)))
}
