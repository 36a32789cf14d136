//! The tree that a command works with: built from files of expressions, or loaded from a snapshot.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;

use betree::{Names, Snapshot, SubscriptionId, Undefined};

use crate::args::expressions::UndefinedMode;
use crate::commands::betree::flags::TreeArgs;
use crate::commands::expressions::{self, Files, failed, form};
use crate::failure::{Failure, Result};
use crate::io::open::open;

/// The tree of a command.
pub(super) struct Tree {
    pub(super) snapshot: Snapshot,
    /// The ids that people gave to expressions; without them, ids are numbers of lines.
    pub(super) names: Names,
    /// How many lines the expressions have: of a snapshot, the greatest id.
    pub(super) lines: u64,
}

impl Tree {
    /// The expression that people know by this id.
    pub(super) fn find(&self, id: &str) -> Result<SubscriptionId> {
        let found = match self.names.is_empty() {
            true => id.parse().ok().map(SubscriptionId),
            false => self.names.find(id),
        };
        let found = found.filter(|id| self.snapshot.ids().binary_search(id).is_ok());
        found.ok_or_else(|| {
            Failure::new(format!("there is no expression with id '{id}'")).help(self.ids_are())
        })
    }

    /// What ids of expressions are here.
    pub(super) fn ids_are(&self) -> &'static str {
        match self.names.is_empty() {
            true => "the id of an expression is the number of its line",
            false => "ids are those of the expressions file",
        }
    }

    /// The id of an expression as messages have it.
    pub(super) fn shown(&self, id: SubscriptionId) -> String {
        self.names
            .get(id)
            .map_or_else(|| id.0.to_string(), form::shown)
    }
}

/// The tree of a snapshot's bytes.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Tree> {
    let (snapshot, names) = Snapshot::load_named(bytes).map_err(|error| {
        failed(path, &error).help("create it again with `perfkit betree build`")
    })?;
    Ok(Tree {
        lines: snapshot.ids().last().map_or(0, |id| id.0),
        snapshot,
        names,
    })
}

/// The tree of the files or of the snapshot.
pub(super) fn load(args: &TreeArgs, progress: bool) -> Result<Tree> {
    match (&args.snapshot, &args.domains, &args.expressions) {
        (Some(path), _, _) => {
            let mut bytes = Vec::new();
            open(path, OpenOptions::new().read(true))
                .and_then(|mut file| file.read_to_end(&mut bytes))
                .map_err(|error| Failure::io("read", path, &error))?;
            parse(path, &bytes)
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
                form: args.expressions_form,
                constants,
                undefined,
            };
            let mut built = expressions::tree(&files, progress)?;
            Ok(Tree {
                snapshot: built.tree.snapshot(),
                names: built.names,
                lines: built.lines,
            })
        }
        // The parser of the arguments asks for them.
        _ => Err(Failure::new("there are no expressions")),
    }
}
