//! What goes into an archive: paths to entries, in the order in which they are packed.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;
use zipstream::Kind;

use crate::args::zip::{Symlinks, ZipPlan};
use crate::failure::{Failure, Result};

/// One entry to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// Where it is; `-` is standard input.
    pub(super) path: PathBuf,
    /// Its name in the archive.
    pub(super) name: String,
    /// What it is.
    pub(super) kind: Kind,
}

/// The sources, and what could not be one.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) sources: Vec<Source>,
    pub(super) failures: Vec<Failure>,
    /// What was left out because it is neither file, directory nor link.
    pub(super) special: u64,
}

/// Looks for everything that `paths` name. `output` is never among it.
pub(super) fn find(paths: &[PathBuf], plan: &ZipPlan, output: &Path) -> Sources {
    let mut found = Sources::default();
    let output = std::fs::canonicalize(output).ok();
    for path in paths {
        if path.as_os_str() == "-" {
            found.sources.push(Source {
                path: path.clone(),
                name: "-".to_owned(),
                kind: Kind::File,
            });
            continue;
        }
        walk(path, plan, output.as_deref(), &mut found);
    }
    found.refuse_twins();
    found
}

fn walk(path: &Path, plan: &ZipPlan, output: Option<&Path>, found: &mut Sources) {
    let follow = plan.symlinks == Symlinks::Follow;
    let depth = if plan.recursive { usize::MAX } else { 0 };
    let walk = WalkDir::new(path)
        .follow_links(follow)
        .follow_root_links(follow)
        .max_depth(depth)
        .sort_by_file_name();
    for step in walk {
        let entry = match step {
            Ok(entry) => entry,
            Err(error) => {
                found.failures.push(unreadable(path, error));
                continue;
            }
        };
        let kind = entry.file_type();
        let kind = if kind.is_file() {
            Kind::File
        } else if kind.is_dir() {
            if !plan.recursive {
                let name = entry.path().display();
                found.failures.push(
                    Failure::new(format!("'{name}' is a directory"))
                        .help("add -r to pack what is in it"),
                );
                continue;
            }
            Kind::Directory
        } else if kind.is_symlink() {
            Kind::Symlink
        } else {
            found.special += 1;
            continue;
        };
        found.add(entry.into_path(), kind, plan, output);
    }
}

impl Sources {
    fn add(&mut self, path: PathBuf, kind: Kind, plan: &ZipPlan, output: Option<&Path>) {
        let wanted = match kind {
            Kind::Directory => plan.directories,
            Kind::Symlink => plan.symlinks == Symlinks::Store,
            Kind::File => true,
        };
        if !wanted {
            return;
        }
        let name = match name(&path) {
            Ok(Some(name)) => name,
            // The directory that all names are in.
            Ok(None) => return,
            Err(failure) => return self.failures.push(failure),
        };
        if !plan.selection.takes(&name) {
            return;
        }
        let is_output = output.is_some_and(|output| {
            kind == Kind::File
                && output.file_name() == path.file_name()
                && std::fs::canonicalize(&path).is_ok_and(|path| path == output)
        });
        if !is_output {
            self.sources.push(Source { path, name, kind });
        }
    }

    /// Takes out what would have the name of another entry.
    fn refuse_twins(&mut self) {
        let mut names: HashMap<String, PathBuf> = HashMap::with_capacity(self.sources.len());
        let failures = &mut self.failures;
        self.sources.retain(|source| {
            let Some(first) = names.get(&source.name) else {
                names.insert(source.name.clone(), source.path.clone());
                return true;
            };
            // One path that is named twice is packed once.
            if *first != source.path {
                let (name, path) = (&source.name, source.path.display());
                failures.push(
                    Failure::new(format!(
                        "'{path}' and '{}' would both be entry '{name}'",
                        first.display()
                    ))
                    .help("pack them from a directory that holds both"),
                );
            }
            false
        });
    }
}

/// The name of a path in an archive: without what only says where it starts. `None` where nothing
/// is left.
fn name(path: &Path) -> Result<Option<String>> {
    let mut name = String::new();
    for part in path.components() {
        match part {
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            Component::ParentDir => {
                return Err(Failure::new(format!(
                    "'{}' leads out of the current directory, which a name cannot",
                    path.display()
                ))
                .help("change to a directory above it first"));
            }
            Component::Normal(part) => {
                let Some(part) = part.to_str() else {
                    let path = path.display();
                    return Err(Failure::new(format!("the name of '{path}' is not UTF-8"))
                        .help("rename it, or leave it out with -x"));
                };
                if !name.is_empty() {
                    name.push('/');
                }
                name.push_str(part);
            }
        }
    }
    Ok((!name.is_empty()).then_some(name))
}

fn unreadable(root: &Path, error: walkdir::Error) -> Failure {
    let path = error.path().unwrap_or(root).to_owned();
    if error.loop_ancestor().is_some() {
        return Failure::new(format!(
            "'{}' leads back to a directory above it",
            path.display()
        ))
        .help("links are stored without --symlinks follow");
    }
    match error.into_io_error() {
        Some(error) => Failure::io("read", &path, &error),
        None => Failure::new(format!("cannot read '{}'", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_say_where_they_start() {
        let name = |path: &str| name(Path::new(path)).unwrap();
        assert_eq!(name("./a//b/"), Some("a/b".to_owned()));
        assert_eq!(name("/etc/passwd"), Some("etc/passwd".to_owned()));
        assert_eq!(name("."), None);
        assert!(super::name(Path::new("a/../b")).is_err());
    }
}
