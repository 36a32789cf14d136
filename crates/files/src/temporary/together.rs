//! Temporary files that get their names together: all of them, or none.
//!
//! A file system has no one step for this. What can fail is tried with a way back: a file that is
//! replaced keeps a second name until the last one has its own. A signal that ends the process waits
//! meanwhile; only a process that is killed by force, or a machine that stops, can end it half way.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::{SUFFIX, Temporary, all};
use crate::output::Output;

/// What second names begin with. No run takes them for leftovers: one that was killed in between may
/// have left the only copy of a file there.
const OLD_PREFIX: &str = ".perfkit-old-";

/// A file that is written, and the name that it gets.
#[derive(Debug)]
pub(crate) struct Named {
    pub file: Output,
    pub temporary: Temporary,
    pub path: PathBuf,
    /// Whether an existing file of that name is replaced.
    pub replace: bool,
}

/// A name that a file has got, and the file that had it before.
struct Done {
    path: PathBuf,
    old: Option<TempPath>,
}

/// Gives every file its name. When one cannot get it, all names are as they were.
///
/// # Errors
/// The name that a file did not get, and why.
pub(crate) fn persist(files: Vec<Named>) -> Result<(), (PathBuf, io::Error)> {
    let mut listed = all();
    let mut done: Vec<Done> = Vec::with_capacity(files.len());
    let mut files = files.into_iter();
    let failed = files.find_map(|mut named| {
        if let Some(path) = &named.temporary.path {
            listed.retain(|other| other.as_path() != &**path);
        }
        match name(&mut named) {
            Ok(old) => {
                done.push(Done {
                    path: named.path,
                    old,
                });
                None
            }
            Err(error) => Some((named.path, error)),
        }
    });
    let Some(failed) = failed else {
        // The old files go with their second names, while no signal ends the process.
        drop(done);
        return Ok(());
    };
    for one in done.into_iter().rev() {
        // Where even this fails, the old file keeps its second name rather than none.
        let _ = match one.old {
            Some(old) => old.persist(&one.path).map_err(|error| {
                let _ = error.path.keep();
                error.error
            }),
            None => std::fs::remove_file(&one.path),
        };
    }
    // Those that are left take themselves off the list.
    drop(listed);
    drop(files);
    Err(failed)
}

/// Gives one file its name; the file that had it before, under another.
fn name(named: &mut Named) -> io::Result<Option<TempPath>> {
    let Some(path) = named.temporary.path.take() else {
        super::unnamed::persist(named.file.file(), &named.path)?;
        return Ok(None);
    };
    if !named.replace {
        path.persist_noclobber(&named.path)
            .map_err(|error| error.error)?;
        return Ok(None);
    }
    let old = second_name(&named.path)?;
    match path.persist(&named.path) {
        Ok(()) => Ok(old),
        Err(error) => {
            // The name may be gone where it had to be moved.
            if let Some(old) = old.filter(|_| named.path.symlink_metadata().is_err()) {
                let _ = old.persist(&named.path);
            }
            Err(error.error)
        }
    }
}

/// Another name for a file that is there: `None` where there is nothing.
fn second_name(path: &Path) -> io::Result<Option<TempPath>> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(OLD_PREFIX).suffix(SUFFIX);
    // Where a file has but one name, it is moved: it is missing for a moment then.
    builder
        .make_in(directory, |other| std::fs::hard_link(path, other))
        .or_else(|_| builder.make_in(directory, |other| std::fs::rename(path, other)))
        .map(|made| Some(made.into_temp_path()))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).expect("listed");
        let name = |entry: io::Result<std::fs::DirEntry>| {
            let name = entry.expect("an entry").file_name();
            name.into_string().expect("a name")
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort_unstable();
        names
    }

    fn new(directory: &Path, name: &str, replace: bool) -> Named {
        let (file, temporary) =
            Temporary::create(directory, 0o600, &crate::Context::default()).expect("made");
        (&file).write_all(b"new").expect("written");
        Named {
            file: Output::new(file),
            temporary,
            path: directory.join(name),
            replace,
        }
    }

    #[test]
    fn all_files_get_their_names_and_old_ones_are_gone() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path();
        std::fs::write(directory.join("b"), b"old").expect("written");
        let set = ["a", "b", "c"].map(|name| new(directory, name, true));
        persist(set.into()).expect("named");
        assert_eq!(names(directory), ["a", "b", "c"]);
        for name in ["a", "b", "c"] {
            assert_eq!(std::fs::read(directory.join(name)).expect("read"), b"new");
        }
    }

    #[test]
    fn where_one_name_cannot_be_had_all_are_as_they_were() {
        let directory = tempfile::tempdir().expect("a directory");
        let directory = directory.path();
        std::fs::write(directory.join("b"), b"old").expect("written");
        for (at, replace) in [(0, true), (1, true), (2, true), (2, false)] {
            let mut set: Vec<Named> = ["a", "b", "c"]
                .map(|name| new(directory, name, true))
                .into();
            // In its place there is what no file replaces.
            let path = directory.join("taken");
            match replace {
                true => std::fs::create_dir(&path).expect("made"),
                false => std::fs::write(&path, b"theirs").expect("written"),
            }
            set.insert(at, new(directory, "taken", replace));
            let (failed, _) = persist(set).expect_err("it is taken");
            assert_eq!(failed, path);
            assert_eq!(names(directory), ["b", "taken"], "{at}");
            assert_eq!(std::fs::read(directory.join("b")).expect("read"), b"old");
            match replace {
                true => std::fs::remove_dir(&path).expect("removed"),
                false => std::fs::remove_file(&path).expect("removed"),
            }
        }
        let listed = all();
        assert!(!listed.iter().any(|path| path.starts_with(directory)));
    }
}
