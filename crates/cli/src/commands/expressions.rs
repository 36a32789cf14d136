//! Files of expressions, domains, constants and events, read whole.

pub(crate) mod form;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;

use betree::{
    BeTree, Constants, Domain, ErlangTerms, Error, ErrorKind, Expression, Name, Names,
    SubscriptionId, Undefined,
};
use files::display;
use report::ExitStatus;

use crate::args::expressions::ExpressionsForm;
use crate::commands::expressions::form::{Form, shown};
use crate::failure::{Failure, Result};
use crate::io::open::open;
use crate::term::plain;
use crate::term::progress::Progress;
use crate::term::signal;

/// What a tree is made of.
pub(crate) struct Files<'a> {
    pub(crate) domains: Option<&'a Path>,
    pub(crate) expressions: &'a Path,
    pub(crate) form: ExpressionsForm,
    pub(crate) constants: Option<&'a Path>,
    pub(crate) undefined: Undefined,
}

/// The tree of files. Its ids are the numbers of lines.
pub(crate) struct Built {
    pub(crate) tree: BeTree,
    /// The ids that the file gives to expressions; none if it gives none.
    pub(crate) names: Names,
    /// The greatest id that the tree may have.
    pub(crate) lines: u64,
}

/// One expression of a file, and whether the tree took it.
pub(crate) struct Line<'a> {
    /// From 1, with empty lines.
    pub(crate) number: u64,
    /// The id that the line gives to the expression.
    pub(crate) name: Option<Name<'a>>,
    /// The expression; the whole line if it has none.
    pub(crate) text: &'a str,
    /// The ids that its frequency caps count by.
    #[cfg_attr(
        not(feature = "serve"),
        expect(dead_code, reason = "for `betree serve`")
    )]
    pub(crate) constants: Constants,
    /// What the number counts: lines, or the expressions of Erlang terms.
    what: &'static str,
    pub(crate) added: std::result::Result<(), Wrong>,
}

/// What is wrong with a line.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// It does not hold an id and an expression, or the id is taken.
    Line(String),
    Expression(Error),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self::Expression(error)
    }
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(message) => f.write_str(message),
            Self::Expression(error) => error.fmt(f),
        }
    }
}

impl Wrong {
    /// What may help.
    pub(crate) fn hint(&self) -> Option<String> {
        let Self::Expression(error) = self else {
            return None;
        };
        Some(match (error.kind(), error.hint()) {
            (ErrorKind::UnknownAttribute, None) => "declare it in --domains".to_owned(),
            (ErrorKind::UnknownAttribute, Some(hint)) if hint.ends_with('?') => {
                format!("{hint} if not, declare it in --domains")
            }
            (_, Some(hint)) => hint.to_owned(),
            (ErrorKind::Constants, None) => "give its id in --constants".to_owned(),
            (ErrorKind::Bounds, None) => "change the value, or the bounds in --domains".to_owned(),
            (_, None) => return None,
        })
    }
}

impl Line<'_> {
    /// Where the line is: its number, and its id if it has one.
    pub(crate) fn place(&self) -> String {
        let (what, number) = (self.what, self.number);
        match self.name {
            Some(name) => format!("{what} {number} (id {})", shown(name)),
            None => format!("{what} {number}"),
        }
    }
}

/// The tree of files.
pub(crate) fn tree(files: &Files<'_>, progress: bool) -> Result<Built> {
    each(files, progress, |line| match &line.added {
        Ok(()) => Ok(()),
        Err(wrong) => Err(refused(files.expressions, &line, wrong)),
    })
}

/// The failure of a line, with what may help.
pub(crate) fn refused(path: &Path, line: &Line<'_>, wrong: &Wrong) -> Failure {
    let (name, place) = (display(path), line.place());
    let hint = wrong.hint();
    let hint = hint.unwrap_or_else(|| "correct the expression, or leave its line empty".to_owned());
    Failure::new(format!("cannot read {name}: {place}: {wrong}"))
        .help(format!("{hint}; `perfkit betree check` lists all mistakes"))
}

/// The constants of subscriptions, by what identifies them.
enum ByConstants {
    Line(HashMap<SubscriptionId, Constants>),
    Name(HashMap<String, Constants>),
}

impl ByConstants {
    fn read(path: Option<&Path>, form: Form) -> Result<Self> {
        let Some(path) = path else {
            return Ok(Self::Line(HashMap::new()));
        };
        let text = text(path)?;
        let found = match form {
            Form::Plain => Constants::parse(&text).map(Self::Line),
            Form::Tab | Form::Json => Constants::parse_named(&text).map(Self::Name),
        };
        found.map_err(|error| failed(path, &error))
    }

    fn get(&self, id: SubscriptionId, name: Option<Name<'_>>) -> Constants {
        let found = match (self, name) {
            (Self::Line(all), _) => all.get(&id),
            (Self::Name(all), Some(name)) => all.get(name.as_str()),
            (Self::Name(_), None) => None,
        };
        found.copied().unwrap_or_default()
    }

    /// Refuses ids that no line has. A line that is empty may have constants.
    fn check(&self, path: Option<&Path>, lines: u64, names: &Names) -> Result<()> {
        let unknown: Option<String> = match self {
            Self::Line(all) => {
                let ids = all.keys().map(|id| id.0);
                let unknown = ids.filter(|id| !(1..=lines).contains(id)).min();
                unknown.map(|id| id.to_string())
            }
            Self::Name(all) => {
                let unknown = all.keys().filter(|name| names.find(name).is_none());
                unknown.min().cloned()
            }
        };
        let (Some(id), Some(path)) = (unknown, path) else {
            return Ok(());
        };
        let message = format!(
            "cannot read {}: there is no expression with id '{}'",
            display(path),
            plain::visible(&id)
        );
        Err(Failure::new(message).help(match self {
            Self::Line(_) => "the id of an expression is the number of its line",
            Self::Name(_) => "ids are those of the expressions file",
        }))
    }
}

/// Adds the expressions of files to a tree and gives each of them to `take`.
pub(crate) fn each(
    files: &Files<'_>,
    progress: bool,
    mut take: impl FnMut(Line<'_>) -> Result<()>,
) -> Result<Built> {
    let path = files.expressions;
    let content = bytes(path)?;
    let odd = lines_not_utf8(&content);
    let content = String::from_utf8_lossy(&content);
    let is_erlang = match files.form {
        ExpressionsForm::Auto => ErlangTerms::begins(&content),
        form => form == ExpressionsForm::Erlang,
    };
    if let (true, Some((number, byte))) = (is_erlang, odd.iter().min()) {
        return Err(not_text(path, *number, *byte));
    }
    let terms = match is_erlang {
        true => Some(ErlangTerms::parse(&content).map_err(|error| failed(path, &error))?),
        false => None,
    };
    let form = match terms {
        Some(_) => Form::Plain,
        None => form::of(files.form, &content),
    };
    let constants = ByConstants::read(files.constants, form)?;
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
    let mut names = Names::new();
    let progress = Progress::start(progress, Some(content.len() as u64));
    let mut number = 0;
    let mut is_whole = true;
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
        let parts = match odd.get(&number) {
            Some(byte) => Err(not_utf8(*byte)),
            None => form::parts(form, line),
        };
        let (given, text, parts) = match parts {
            Ok((given, text)) => (given, text, Ok(())),
            Err(why) => (None, Cow::Borrowed(line), Err(Wrong::Line(why))),
        };
        is_whole &= parts.is_ok();
        let name = given.as_ref().map(form::Id::name);
        let constants = constants.get(id, name);
        let added = parts
            .and_then(|()| name.map_or(Ok(()), |name| named(&mut names, id, name)))
            .and_then(|()| {
                let added = Expression::parse(&text);
                Ok(added.and_then(|expression| tree.insert(id, &expression, &constants))?)
            });
        take(Line {
            number,
            name,
            text: &text,
            constants,
            what,
            added,
        })?;
    }
    progress.finish();
    // The id of a line that could not be read may be any.
    if is_whole {
        constants.check(files.constants, number, &names)?;
    }
    Ok(Built {
        tree,
        names,
        lines: number,
    })
}

/// Gives a line its id.
fn named(names: &mut Names, id: SubscriptionId, name: Name<'_>) -> std::result::Result<(), Wrong> {
    match names.find(name.as_str()) {
        Some(first) => Err(Wrong::Line(format!("line {} has the same id", first.0))),
        None => Ok(names.push(id, name)?),
    }
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
    let bytes = bytes(path)?;
    match lines_not_utf8(&bytes).into_iter().min() {
        Some((number, byte)) => Err(not_text(path, number, byte)),
        None => Ok(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// A whole file, without the mark that it may begin with.
fn bytes(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, OpenOptions::new().read(true))
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|error| Failure::io("read", path, &error))?;
    if bytes.starts_with(BYTE_ORDER_MARK.as_bytes()) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(bytes)
}

/// Lines that are not UTF-8, by their numbers, with the first byte that is wrong, from 1.
fn lines_not_utf8(content: &[u8]) -> HashMap<u64, usize> {
    if std::str::from_utf8(content).is_ok() {
        return HashMap::new();
    }
    let lines = (1..).zip(content.split(|byte| *byte == b'\n'));
    let odd = lines.filter_map(|(number, line)| {
        let error = std::str::from_utf8(line).err()?;
        Some((number, error.valid_up_to() + 1))
    });
    odd.collect()
}

fn not_utf8(byte: usize) -> String {
    format!("byte {byte} of the line is not UTF-8")
}

fn not_text(path: &Path, number: u64, byte: usize) -> Failure {
    let (name, why) = (display(path), not_utf8(byte));
    Failure::new(format!("cannot read {name}: line {number}: {why}")).help("save it as UTF-8")
}

/// An error of a file, with its name.
pub(crate) fn failed(path: &Path, error: &Error) -> Failure {
    let failure = Failure::new(format!("cannot read {}: {error}", display(path)));
    match error.hint() {
        Some(hint) => failure.help(hint),
        None => failure,
    }
}
