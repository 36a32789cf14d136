//! Where the content of entries goes: files below a directory, standard output, or nowhere.
//!
//! Which entries may go there is decided here: names that lead elsewhere and names that two entries
//! have are refused.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::Path;

use zipstream::{Entry, EntryKind, name};

use crate::commands::unzip::extract::Ended;
use crate::commands::unzip::flags::Existing;
use crate::failure::{Failure, Result, reason};
use crate::io::beneath::{Attributes, Beneath, Placed, leads_out};
use crate::io::output::Output;

/// Longer than any path that a system takes.
pub(super) const LINK_BYTES_MAX: u64 = 4096;
/// Content up to this comes in one piece and is written at once.
const WHOLE_BYTES_MAX: u64 = 1 << 20;

/// Where contents go, for one thread.
pub(super) enum Place {
    Nowhere,
    Stdout(Output),
    Root { root: Beneath, existing: Existing },
}

impl Place {
    /// The same place for another thread; `None` where only one can write.
    pub(super) fn another(&self) -> Option<Self> {
        match self {
            Self::Nowhere => Some(Self::Nowhere),
            Self::Stdout { .. } => None,
            Self::Root { root, existing } => Some(Self::Root {
                root: root.another(),
                existing: *existing,
            }),
        }
    }
}

/// The path of an entry below the target: its name without what leads nowhere.
pub(super) fn path(name: &str) -> Result<String> {
    if let Err(fault) = name::check(name) {
        return Err(
            Failure::new(format!("entry '{name}' is not extracted: {fault}"))
                .help("list the archive with -l; whoever made it may mean harm"),
        );
    }
    let mut path = String::with_capacity(name.len());
    for part in name::parts(name) {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(part);
    }
    Ok(path)
}

/// The paths that were given out, to refuse one for two entries: hashes of them, under a key of this
/// run.
#[derive(Debug, Default)]
pub(super) struct Taken {
    hasher: RandomState,
    paths: HashSet<u64>,
    folded: HashSet<u64>,
    /// Paths that are another's but for the case of their letters.
    pub(super) alike: u64,
}

impl Taken {
    /// Gives out the path of an entry.
    pub(super) fn path(&mut self, name: &str, kind: EntryKind, strict: bool) -> Result<String> {
        let path = path(name)?;
        let hash = |path: &str| self.hasher.hash_one(path);
        let (exact, folded) = (hash(&path), hash(&path.to_lowercase()));
        let directory = kind == EntryKind::Directory;
        // Directories may be told of twice.
        let again = !self.paths.insert(exact) && !directory;
        if again {
            return Err(Failure::new(format!(
                "entry '{name}' is not extracted: another entry has the same path"
            ))
            .help("extract them one by one, with patterns and -p"));
        }
        if !self.folded.insert(folded) && !directory {
            if strict {
                return Err(Failure::new(format!(
                    "entry '{name}' is not extracted: another path differs from it in case only"
                )));
            }
            self.alike += 1;
        }
        Ok(path)
    }
}

/// A file in the making.
pub(super) enum Writing<'a> {
    Nowhere,
    Stdout(&'a mut Output),
    /// Its content comes at once.
    Whole {
        root: &'a mut Beneath,
        path: &'a str,
        attributes: Attributes,
        placed: Option<Placed>,
    },
    /// It comes in pieces.
    Pieces(Box<Pieces<'a>>),
}

pub(super) struct Pieces<'a> {
    #[cfg(unix)]
    part: crate::io::beneath::Part<'a>,
    #[cfg(not(unix))]
    part: crate::io::beneath::Part,
    attributes: Attributes,
    path: &'a str,
}

impl Place {
    /// Starts a file at `path` for content of about `bytes`.
    pub(super) fn start<'a>(
        &'a mut self,
        path: &'a str,
        bytes: Option<u64>,
        attributes: Attributes,
    ) -> Result<Writing<'a>> {
        match self {
            Self::Nowhere => Ok(Writing::Nowhere),
            Self::Stdout(output) => Ok(Writing::Stdout(output)),
            Self::Root { root, .. } => {
                if bytes.is_some_and(|bytes| bytes <= WHOLE_BYTES_MAX) {
                    return Ok(Writing::Whole {
                        root,
                        path,
                        attributes,
                        placed: None,
                    });
                }
                let part = root
                    .part(path)
                    .map_err(|error| cannot_write(path, &error))?;
                Ok(Writing::Pieces(Box::new(Pieces {
                    part,
                    attributes,
                    path,
                })))
            }
        }
    }
}

impl Writing<'_> {
    /// Takes the next piece of content.
    pub(super) fn take(&mut self, piece: &[u8]) -> std::result::Result<(), Ended> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Stdout(output) => {
                let written = output.write_all(piece);
                written.map_err(|error| match error.kind() {
                    io::ErrorKind::BrokenPipe => Ended::PipeClosed,
                    _ => {
                        let name = Path::new("standard output");
                        Ended::Undelivered(Failure::io("write", name, &error))
                    }
                })
            }
            Self::Whole {
                root,
                path,
                attributes,
                placed,
            } => {
                let written = root.file(path, piece, *attributes);
                *placed = Some(written.map_err(|error| cannot_write(path, &error))?);
                Ok(())
            }
            Self::Pieces(pieces) => pieces
                .part
                .file
                .write_all(piece)
                .map_err(|error| cannot_write(pieces.path, &error).into()),
        }
    }

    /// Ends a file whose content is complete and verified.
    pub(super) fn finish(self) -> Result<Placed> {
        match self {
            Self::Nowhere | Self::Stdout(..) => Ok(Placed::Done),
            Self::Whole { placed, .. } => Ok(placed.unwrap_or(Placed::Done)),
            Self::Pieces(pieces) => {
                let Pieces {
                    part,
                    attributes,
                    path,
                } = *pieces;
                part.finish(attributes)
                    .map_err(|error| cannot_write(path, &error))
            }
        }
    }
}

/// What of an entry its file gets.
pub(super) fn attributes(entry: &Entry<'_>) -> Attributes {
    Attributes {
        mode: entry.mode(),
        modified: Some(entry.modified()),
    }
}

/// Makes a symbolic link, if it stays below the root.
pub(super) fn link(root: &mut Beneath, path: &str, content: &[u8]) -> Result<Placed> {
    let refused = |why: &str| {
        let help = "see where it leads: perfkit unzip -p IN NAME";
        Err(Failure::new(format!("link '{path}' is not made: {why}")).help(help))
    };
    let Ok(target) = std::str::from_utf8(content) else {
        return refused("where it leads is not UTF-8");
    };
    if let Some(why) = leads_out(path, target, |path| root.is_directory(path)) {
        return refused(&why);
    }
    root.link(path, target)
        .map_err(|error| cannot_write(path, &error))
}

pub(super) fn cannot_write(path: &str, error: &io::Error) -> Failure {
    let failure = Failure::new(format!("cannot write '{path}': {}", reason(error)));
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            failure.help("free some space, or write elsewhere")
        }
        io::ErrorKind::NotADirectory => {
            failure.help("nothing is written through links: extract into an empty directory")
        }
        _ => failure,
    }
}
