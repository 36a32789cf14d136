//! The state that a server begins with: from a snapshot, or from files of expressions.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;

use betree::{BeTree, Constants, Domain, Expression, Name, Snapshot, SubscriptionId, Undefined};
use matcher::{Change, First, Put, Texts};

use crate::args::expressions::UndefinedMode;
use crate::commands::betree::serve::flags::ServeArgs;
use crate::commands::expressions::{self, Files, failed};
use crate::failure::{Failure, Result};
use crate::io::open::open;
use files::display;

/// What is said about ids that are no integers.
const IDS: &str = "give expressions integers from 0 to 18446744073709551615 as ids, or none";

/// The state of the flags.
pub(super) fn first(args: &ServeArgs) -> Result<First> {
    let undefined = match args.undefined {
        UndefinedMode::False => Undefined::False,
        UndefinedMode::ThreeValued => Undefined::Unknown,
    };
    match (&args.snapshot, &args.domains, &args.expressions) {
        (Some(path), ..) => snapshot(path),
        (None, _, Some(path)) => files(args, path, undefined),
        (None, Some(path), None) => {
            let text = expressions::text(path)?;
            let domain = Domain::parse(&text).map_err(|error| failed(path, &error))?;
            Ok(First {
                tree: BeTree::new(domain, undefined),
                texts: Texts::default(),
            })
        }
        (None, None, None) => {
            let message = match &args.log {
                Some(directory) => format!("{} has no state yet", display(directory)),
                None => "there is nothing to serve".to_owned(),
            };
            let help = "state a --snapshot, or --domains and perhaps --expressions";
            Err(Failure::usage(message).help(help))
        }
    }
}

fn snapshot(path: &Path) -> Result<First> {
    let mut bytes = Vec::new();
    open(path, OpenOptions::new().read(true))
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|error| Failure::io("read", path, &error))?;
    let (snapshot, names) = Snapshot::load_named(&bytes).map_err(|error| {
        failed(path, &error).help("create it again with `perfkit betree build`")
    })?;
    if let Some((_, name)) = names.iter().find(|(id, name)| integer(*name) != Some(*id)) {
        let message = format!(
            "{} has ids of its own, such as '{}'",
            display(path),
            name.as_str()
        );
        let help = "serve the expressions themselves, with --domains and --expressions; their ids must be integers";
        return Err(Failure::new(message).help(help));
    }
    Ok(First {
        tree: BeTree::from_snapshot(&snapshot),
        texts: Texts::default(),
    })
}

/// A name that can be an id of the tree.
fn integer(name: Name<'_>) -> Option<SubscriptionId> {
    let integer = name.is_integer().then(|| name.as_str().parse().ok());
    integer.flatten().map(SubscriptionId)
}

fn files(args: &ServeArgs, path: &Path, undefined: Undefined) -> Result<First> {
    let files = Files {
        domains: args.domains.as_deref(),
        expressions: path,
        form: args.expressions_form,
        constants: args.constants.as_deref(),
        undefined,
    };
    let mut texts = Texts::default();
    let mut named: Vec<(SubscriptionId, String, Constants)> = Vec::new();
    let progress = args.output.terminal.wants_progress();
    let built = expressions::each(&files, progress, |line| {
        if let Err(wrong) = &line.added {
            return Err(expressions::refused(path, &line, wrong));
        }
        match line.name {
            None => {
                let put = Put {
                    expression: line.text.into(),
                    constants: line.constants,
                    priority: 0,
                };
                texts.note(&Change::Put(SubscriptionId(line.number), put));
            }
            Some(name) => {
                let Some(id) = integer(name) else {
                    let (file, place) = (display(path), line.place());
                    let message = format!("cannot serve {file}: {place}: the id is no integer");
                    return Err(Failure::new(message).help(IDS));
                };
                named.push((id, line.text.to_owned(), line.constants));
            }
        }
        Ok(())
    })?;
    if named.is_empty() {
        return Ok(First {
            tree: built.tree,
            texts,
        });
    }
    // The tree of the files knows lines by their numbers.
    let mut tree = BeTree::new(built.tree.domain().clone(), undefined);
    for (id, text, constants) in named {
        Expression::parse(&text)
            .and_then(|expression| tree.insert(id, &expression, &constants))
            .map_err(|error| failed(path, &error))?;
        let put = Put {
            expression: text.into(),
            constants,
            priority: 0,
        };
        texts.note(&Change::Put(id, put));
    }
    Ok(First { tree, texts })
}
