//! Priorities of expressions, from a file.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;

use betree::{Priorities, SubscriptionId};
use files::display;

use crate::commands::betree::snapshot::Tree;
use crate::failure::{Failure, Result};
use crate::io::open::open;
use crate::term::plain::visible;

/// What may help against a line of another form.
const FORM: &str = "write id<TAB>priority, with an integer of 64 bits";

/// Reads lines `id<TAB>priority`. An expression without a line has the priority 0.
pub(super) fn load(path: &Path, tree: &Tree) -> Result<Priorities> {
    parse(path, &read(path)?, tree)
}

/// Reads the text of a file of priorities.
pub(super) fn read(path: &Path) -> Result<String> {
    let mut text = String::new();
    open(path, OpenOptions::new().read(true))
        .and_then(|mut file| file.read_to_string(&mut text))
        .map_err(|error| Failure::io("read", path, &error))?;
    Ok(text)
}

/// Makes priorities of the text of this file.
pub(super) fn parse(path: &Path, text: &str, tree: &Tree) -> Result<Priorities> {
    let mut known: HashMap<SubscriptionId, i64> = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |why: String, help: &str| {
            let message = format!("cannot read {}: line {number}: {why}", display(path));
            Failure::new(message).help(help)
        };
        let (id, priority) = line.rsplit_once('\t').ok_or_else(|| {
            let why = "expected a tab between an id and a priority";
            wrong(why.to_owned(), FORM)
        })?;
        let priority = priority.trim().parse().map_err(|_| {
            let found = visible(priority.trim());
            let why = format!("the priority '{found}' is no integer of 64 bits");
            wrong(why, FORM)
        })?;
        let id = tree.find(id.trim()).map_err(|_| {
            let why = format!("there is no expression with id '{}'", visible(id));
            wrong(why, tree.ids_are())
        })?;
        if known.insert(id, priority).is_some() {
            let why = format!("id {} appears twice", tree.shown(id));
            return Err(wrong(why, "leave one line for each id"));
        }
    }
    Ok(tree
        .snapshot
        .priorities(|id| known.get(&id).copied().unwrap_or(0)))
}
