//! From paths on the command line to jobs: which source becomes which target.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

use crate::{Error, Result, target, url};

/// The suffixes of what is decompressed, and what is left of the name.
const SUFFIXES: [(&str, &str); 9] = [
    ("zst", ""),
    ("tzst", "tar"),
    ("gz", ""),
    ("tgz", "tar"),
    ("xz", ""),
    ("txz", "tar"),
    ("lzma", ""),
    ("lz4", ""),
    ("tlz4", "tar"),
];

/// Where a job's output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A file of this name.
    File(PathBuf),
    /// Standard output, after what went there before.
    Stdout,
    /// The one file that all become, one behind the other.
    Joined,
    /// Nowhere: the source is only tested.
    Nowhere,
}

/// One source and its destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Path, URL, or `-` for standard input.
    pub source: PathBuf,
    /// Where its output goes.
    pub destination: Destination,
}

/// Which way the bytes go, for names and for what a walk picks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `FILE` becomes `FILE.zst`, or what the suffix is. A walk takes all files, or all that are not compressed yet.
    Compress {
        /// The suffix, without its dot.
        suffix: &'static str,
        /// Whether a walk leaves out files that have the suffix.
        exclude_compressed: bool,
    },
    /// `FILE.zst` becomes `FILE`, `FILE.tzst` becomes `FILE.tar`; in the same way `gz`, `tgz`, `xz`, `txz`, `lzma`,
    /// `lz4` and `tlz4`. A walk takes files with such a suffix.
    Decompress,
}

/// The directory of targets that have no name of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Place {
    /// That of each source.
    #[default]
    Beside,
    /// This one for all.
    Flat(PathBuf),
    /// The path of each source again, under this one.
    Mirror(PathBuf),
}

/// What was asked for on the command line.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// Paths as given.
    pub files: &'a [PathBuf],
    /// The name given with `-o`.
    pub output: Option<&'a Path>,
    /// Whether `-c` was given.
    pub stdout: bool,
    /// Whether directories are walked.
    pub recursive: bool,
    /// Whether nothing is written at all.
    pub nowhere: bool,
    /// Which way.
    pub direction: Direction,
    /// Where targets go that `output` does not name.
    pub place: Place,
    /// Whether several inputs become one target, one behind the other.
    pub join: bool,
    /// Whether a walk takes files whatever their names.
    pub any_name: bool,
}

impl<'a> Request<'a> {
    /// These files, each to a target in its own directory.
    pub fn of(files: &'a [PathBuf], direction: Direction) -> Self {
        Self {
            files,
            output: None,
            stdout: false,
            recursive: false,
            nowhere: false,
            direction,
            place: Place::Beside,
            join: false,
            any_name: false,
        }
    }
}

/// Jobs in the order of the command line, failures for paths that give none, and what a walk left
/// out on purpose.
#[derive(Debug, Default)]
pub struct Jobs {
    /// What to do.
    pub jobs: Vec<Job>,
    /// What cannot be done.
    pub failures: Vec<Error>,
    /// Files that a walk passed over because of their suffix.
    pub passed_over: u64,
    /// The file that jobs of [`Destination::Joined`] become.
    pub joined: Option<PathBuf>,
}

/// Resolves the request. Only a walk looks at the file system.
///
/// # Errors
/// One target is named for several sources that are not joined.
pub fn jobs(request: &Request<'_>) -> Result<Jobs> {
    let mut result = Jobs::default();
    let stdin = [PathBuf::from("-")];
    let files = if request.files.is_empty() {
        &stdin
    } else {
        request.files
    };
    let mut sources = Vec::new();
    for file in files {
        if request.recursive && file.as_os_str() != "-" && file.is_dir() {
            walk(file, request, &mut sources, &mut result);
        } else {
            sources.push(file.clone());
        }
    }
    if let Some(output) = request.output
        && sources.len() > 1
        && !target::is_stdout(output)
    {
        if !request.join {
            return Err(Error::OneTarget {
                sources: sources.len(),
            });
        }
        result.joined = Some(output.to_owned());
    }
    for source in sources {
        let found = match result.joined {
            Some(_) if !request.stdout && !request.nowhere => Ok(Destination::Joined),
            _ => destination(&source, request),
        };
        match found {
            Ok(destination) => result.jobs.push(Job {
                source: here(source),
                destination,
            }),
            Err(failure) => result.failures.push(failure),
        }
    }
    Ok(result)
}

/// A `file:` URL as the path that it is about, where URLs are read at all.
fn here(source: PathBuf) -> PathBuf {
    let local = url::of(&source).and_then(url::local);
    local.filter(|_| cfg!(feature = "web")).unwrap_or(source)
}

fn destination(source: &Path, request: &Request<'_>) -> Result<Destination> {
    if request.nowhere {
        return Ok(Destination::Nowhere);
    }
    let to_stdout = request.output.is_some_and(target::is_stdout);
    if request.stdout || to_stdout {
        return Ok(Destination::Stdout);
    }
    if let Some(output) = request.output {
        return Ok(Destination::File(output.to_owned()));
    }
    if source.as_os_str() == "-" {
        return Ok(Destination::Stdout);
    }
    let named = match (url::of(source), &request.place) {
        (Some(url), Place::Mirror(_)) => Some(url::file_path(url)?),
        (Some(url), _) => Some(url::file_name(url)?),
        (None, _) => None,
    };
    let source = named.as_deref().unwrap_or(source);
    let place = |name| place(source, name, &request.place).map(Destination::File);
    match request.direction {
        Direction::Compress { suffix, .. } => {
            let mut name = OsString::from(source);
            name.push(".");
            name.push(suffix);
            place(name.into())
        }
        Direction::Decompress => match suffix_of(source) {
            Some((_, left)) => place(source.with_extension(left)),
            _ if is_suffix_alone(source) => Err(Error::OnlySuffix {
                path: source.to_owned(),
            }),
            _ => Err(Error::NoSuffix {
                path: source.to_owned(),
            }),
        },
    }
}

/// A target's path, from the path that it would have in the directory of its source.
fn place(source: &Path, beside: PathBuf, place: &Place) -> Result<PathBuf> {
    match (place, beside.file_name()) {
        (Place::Flat(directory), Some(name)) => Ok(below(directory, Path::new(name))),
        (Place::Mirror(directory), _) => {
            let part = |component| match component {
                Component::Normal(name) => Some(Ok(name)),
                Component::ParentDir => Some(Err(())),
                _ => None,
            };
            let path: std::result::Result<PathBuf, ()> =
                beside.components().filter_map(part).collect();
            path.map(|path| below(directory, &path))
                .map_err(|()| Error::LeadsUp {
                    path: source.to_owned(),
                })
        }
        _ => Ok(beside),
    }
}

/// A path below a directory, or below a URL, in which some letters are escaped.
fn below(directory: &Path, path: &Path) -> PathBuf {
    match url::of(directory).zip(path.to_str()) {
        Some((url, path)) => url::below(url, path).into(),
        None => directory.join(path),
    }
}

/// The suffix of what is decompressed, and what is left of it.
fn suffix_of(path: &Path) -> Option<(&'static str, &'static str)> {
    let found = path.extension()?.to_str()?;
    SUFFIXES.into_iter().find(|(suffix, _)| *suffix == found)
}

/// Whether the name is a suffix, such as `.zst`, and no more.
fn is_suffix_alone(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let found = name.and_then(|name| name.strip_prefix('.'));
    SUFFIXES.iter().any(|(suffix, _)| found == Some(*suffix))
}

fn walk(root: &Path, request: &Request<'_>, sources: &mut Vec<PathBuf>, result: &mut Jobs) {
    // Sorted, so that two runs do the same in the same order; the names are gathered before any
    // target is written, so that a walk never meets its own output.
    for entry in WalkDir::new(root).follow_links(false).sort_by_file_name() {
        match entry {
            Ok(entry) if entry.file_type().is_file() => {
                let suffix = suffix_of(entry.path()).map(|(suffix, _)| suffix);
                let wanted = match request.direction {
                    _ if request.any_name => true,
                    Direction::Compress {
                        suffix: own,
                        exclude_compressed,
                    } => {
                        let is_own =
                            |found: &str| found == own || found.strip_prefix('t') == Some(own);
                        !(exclude_compressed && suffix.is_some_and(is_own))
                    }
                    Direction::Decompress => suffix.is_some(),
                };
                if wanted {
                    sources.push(entry.into_path());
                } else {
                    result.passed_over += 1;
                }
            }
            Ok(_) => {}
            Err(error) => {
                let path = error.path().unwrap_or(root).to_owned();
                let reason = error.into_io_error();
                result.failures.push(Error::Walk { path, reason });
            }
        }
    }
}

#[cfg(test)]
mod tests;
