//! From paths on the command line to jobs: which source becomes which target.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

use super::url;
use crate::failure::{Failure, Result};

/// Suffix of zstd files.
const SUFFIX: &str = "zst";
/// Suffix of tar archives in zstd.
const SUFFIX_TAR: &str = "tzst";

/// Where a job's output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
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
pub(crate) struct Job {
    /// Path, URL, or `-` for standard input.
    pub(crate) source: PathBuf,
    /// Where its output goes.
    pub(crate) destination: Destination,
}

/// Which way the bytes go, for names and for what a walk picks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// `FILE` becomes `FILE.zst`. A walk takes all files, or all that are not compressed yet.
    Compress {
        /// Whether a walk leaves out files that have the suffix.
        exclude_compressed: bool,
    },
    /// `FILE.zst` becomes `FILE`. A walk takes files with the suffix.
    Decompress,
}

/// The directory of targets that have no name of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Place {
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
pub(crate) struct Request<'a> {
    /// Paths as given.
    pub(crate) files: &'a [PathBuf],
    /// The name given with `-o`.
    pub(crate) output: Option<&'a Path>,
    /// Whether `-c` was given.
    pub(crate) stdout: bool,
    /// Whether directories are walked.
    pub(crate) recursive: bool,
    /// Whether nothing is written at all.
    pub(crate) nowhere: bool,
    /// Which way.
    pub(crate) direction: Direction,
    /// Where targets go that `output` does not name.
    pub(crate) place: Place,
    /// Whether several inputs become one target, one behind the other.
    pub(crate) join: bool,
    /// Whether a walk takes files whatever their names.
    pub(crate) any_name: bool,
}

impl<'a> Request<'a> {
    /// These files, each to a target beside it.
    pub(crate) fn of(files: &'a [PathBuf], direction: Direction) -> Self {
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
pub(crate) struct Jobs {
    /// What to do.
    pub(crate) jobs: Vec<Job>,
    /// What cannot be done.
    pub(crate) failures: Vec<Failure>,
    /// Files that a walk passed over because of their suffix.
    pub(crate) passed_over: u64,
    /// The file that jobs of [`Destination::Joined`] become.
    pub(crate) joined: Option<PathBuf>,
}

/// Resolves the request. Only a walk looks at the file system.
pub(crate) fn jobs(request: &Request<'_>) -> Result<Jobs> {
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
        && !super::target::is_stdout(output)
    {
        if !request.join {
            return Err(
                Failure::usage(format!("-o names one file for {} inputs", sources.len()))
                    .help("leave -o out to give each its own target, or use -c to join them"),
            );
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
    local.filter(|_| cfg!(feature = "cloud")).unwrap_or(source)
}

fn destination(source: &Path, request: &Request<'_>) -> Result<Destination> {
    if request.nowhere {
        return Ok(Destination::Nowhere);
    }
    let to_stdout = request.output.is_some_and(super::target::is_stdout);
    if request.stdout || to_stdout {
        return Ok(Destination::Stdout);
    }
    if let Some(output) = request.output {
        return Ok(Destination::File(output.to_owned()));
    }
    if source.as_os_str() == "-" {
        return Ok(Destination::Stdout);
    }
    let named = url::of(source).map(url::file_name).transpose()?;
    let source = named.as_deref().unwrap_or(source);
    let place = |name| place(source, name, &request.place).map(Destination::File);
    match request.direction {
        Direction::Compress { .. } => {
            let mut name = OsString::from(source);
            name.push(".");
            name.push(SUFFIX);
            place(name.into())
        }
        Direction::Decompress => match source.extension().and_then(|e| e.to_str()) {
            Some(SUFFIX) => place(source.with_extension("")),
            Some(SUFFIX_TAR) => place(source.with_extension("tar")),
            _ if is_suffix_alone(source) => Err(Failure::new(format!(
                "'{}' is nothing but a suffix, so its target has no name",
                source.display()
            ))
            .help("name the target with -o, or use -c")),
            _ => Err(Failure::new(format!(
                "'{}' does not end in .{SUFFIX}, so its target has no name",
                source.display()
            ))
            .help("name the target with -o, or use -c")),
        },
    }
}

/// A target's path, of the path that it would have beside its source.
fn place(source: &Path, beside: PathBuf, place: &Place) -> Result<PathBuf> {
    match (place, beside.file_name()) {
        (Place::Flat(directory), Some(name)) => Ok(directory.join(name)),
        (Place::Mirror(directory), _) => {
            let part = |component| match component {
                Component::Normal(name) => Some(Ok(name)),
                Component::ParentDir => Some(Err(())),
                _ => None,
            };
            let path: std::result::Result<PathBuf, ()> =
                beside.components().filter_map(part).collect();
            path.map(|path| directory.join(path)).map_err(|()| {
                Failure::new(format!(
                    "'{}' cannot be mirrored: its path leads upwards",
                    source.display()
                ))
                .help("name it without '..'")
            })
        }
        _ => Ok(beside),
    }
}

/// Whether the name says zstd.
fn is_compressed(path: &Path) -> bool {
    let suffix = path.extension().and_then(|suffix| suffix.to_str());
    matches!(suffix, Some(SUFFIX | SUFFIX_TAR))
}

/// Whether the name is `.zst` or `.tzst` and no more.
fn is_suffix_alone(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    matches!(
        name.and_then(|name| name.strip_prefix('.')),
        Some(SUFFIX | SUFFIX_TAR)
    )
}

fn walk(root: &Path, request: &Request<'_>, sources: &mut Vec<PathBuf>, result: &mut Jobs) {
    // Sorted, so that two runs do the same in the same order; the names are gathered before any
    // target is written, so that a walk never meets its own output.
    for entry in WalkDir::new(root).follow_links(false).sort_by_file_name() {
        match entry {
            Ok(entry) if entry.file_type().is_file() => {
                let compressed = is_compressed(entry.path());
                let wanted = match request.direction {
                    _ if request.any_name => true,
                    Direction::Compress { exclude_compressed } => {
                        !(compressed && exclude_compressed)
                    }
                    Direction::Decompress => compressed,
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
                let reason = error
                    .io_error()
                    .map_or_else(|| "it cannot be walked".to_owned(), crate::failure::reason);
                result.failures.push(Failure::new(format!(
                    "cannot read '{}': {reason}",
                    path.display()
                )));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPRESS: Direction = Direction::Compress {
        exclude_compressed: true,
    };

    #[test]
    fn names_follow_the_suffix_both_ways() {
        let files = ["a.txt".into(), "-".into()];
        let found = jobs(&Request::of(&files, COMPRESS)).expect("jobs").jobs;
        assert_eq!(found[0].destination, Destination::File("a.txt.zst".into()));
        assert_eq!(found[1].destination, Destination::Stdout);
        let files = ["d/a.txt.zst".into(), "b.tzst".into(), "c.gz".into()];
        let found = jobs(&Request::of(&files, Direction::Decompress)).expect("jobs");
        assert_eq!(
            found.jobs[0].destination,
            Destination::File("d/a.txt".into())
        );
        assert_eq!(found.jobs[1].destination, Destination::File("b.tar".into()));
        assert_eq!(found.failures.len(), 1);
    }

    #[test]
    fn what_a_url_names_becomes_a_file_in_the_current_directory() {
        let files = [
            "https://h/d/a%20b.txt?x=/y".into(),
            "s3://bucket/".into(),
            "file:///d/e".into(),
        ];
        let found = jobs(&Request::of(&files, COMPRESS)).expect("jobs");
        let target = |name: &str| Destination::File(name.into());
        assert_eq!(found.jobs[0].destination, target("a b.txt.zst"));
        assert_eq!(found.jobs[0].source, files[0]);
        assert_eq!(found.jobs[1].destination, target("e.zst"));
        let local = found.jobs[1].source.to_str();
        assert_eq!(local == Some("/d/e"), cfg!(feature = "cloud"));
        assert_eq!(found.failures.len(), 1);
        let files = ["gs://b/d/a.zst".into()];
        let found = jobs(&Request::of(&files, Direction::Decompress)).expect("jobs");
        assert_eq!(found.jobs[0].destination, target("a"));
    }

    #[test]
    fn one_name_for_two_inputs_is_a_usage_error() {
        let files = ["a".into(), "b".into()];
        let request = Request {
            output: Some(Path::new("o")),
            ..Request::of(&files, COMPRESS)
        };
        assert!(jobs(&request).is_err());
    }

    #[test]
    fn targets_go_to_one_directory_or_to_their_paths_under_it() {
        let files = ["/d/./a".into(), "../b".into(), "c".into()];
        let found = |place| {
            let request = Request {
                place,
                ..Request::of(&files, COMPRESS)
            };
            let found = jobs(&request).expect("jobs");
            let targets = found.jobs.into_iter().map(|job| match job.destination {
                Destination::File(path) => path.display().to_string(),
                other => format!("{other:?}"),
            });
            (targets.collect::<Vec<_>>(), found.failures.len())
        };
        let (flat, failures) = found(Place::Flat("o".into()));
        assert_eq!(
            (flat, failures),
            (
                vec!["o/a.zst".into(), "o/b.zst".into(), "o/c.zst".into()],
                0
            )
        );
        let (mirrored, failures) = found(Place::Mirror("o".into()));
        assert_eq!(
            (mirrored, failures),
            (vec!["o/d/a.zst".into(), "o/c.zst".into()], 1)
        );
    }

    #[test]
    fn several_inputs_become_one_target_only_where_that_is_asked_for() {
        let files = ["a".into(), "b".into()];
        let request = Request {
            output: Some(Path::new("o")),
            join: true,
            ..Request::of(&files, COMPRESS)
        };
        let found = jobs(&request).expect("jobs");
        assert_eq!(found.joined.as_deref(), Some(Path::new("o")));
        assert!(
            found
                .jobs
                .iter()
                .all(|job| job.destination == Destination::Joined)
        );
    }

    #[test]
    fn a_walk_is_sorted_and_passes_over_what_is_compressed() {
        let root = tempfile::tempdir().expect("a directory");
        for name in ["b", "a", "a.zst"] {
            std::fs::write(root.path().join(name), name).expect("written");
        }
        let files = [root.path().to_owned()];
        let request = Request {
            recursive: true,
            ..Request::of(&files, COMPRESS)
        };
        let found = jobs(&request).expect("jobs");
        let names: Vec<_> = found
            .jobs
            .iter()
            .filter_map(|j| j.source.file_name())
            .collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(found.passed_over, 1);
    }
}
