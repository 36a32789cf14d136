//! Which file becomes which, and which are left out, as gzip has it.

use std::ffi::{OsStr, OsString};
use std::fs::{Metadata, OpenOptions};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use files::plan::{Destination, Job, Jobs};
use walkdir::WalkDir;
use zipstream::gzip::{GzipDecoder, GzipMember};

use super::ended::Code;
use super::flags::{GzipPlan, suffixes};
use crate::failure::Failure;
use crate::io::open::open;
use crate::term::{message, question};

/// The most of a file that is read for its header.
const HEADER_BYTES_MAX: u64 = 1 << 20;

/// What is to be done, and what already went wrong.
#[derive(Debug, Default)]
pub(super) struct Planned {
    pub(super) jobs: Jobs,
    /// The times that the targets get; `None`: those of their sources.
    pub(super) times: Vec<(PathBuf, SystemTime)>,
    /// Whether the user agreed to replace some target.
    pub(super) agreed: bool,
    pub(super) code: Code,
}

/// Resolves the files of a command line.
pub(super) fn planned(plan: &GzipPlan) -> Planned {
    let mut planned = Planned::default();
    if plan.files.is_empty() {
        planned.stdin(plan);
    }
    for file in &plan.files {
        match file.as_os_str() == "-" {
            true => planned.stdin(plan),
            false => planned.file(plan, file, false),
        }
    }
    planned
}

impl Planned {
    fn stdin(&mut self, plan: &GzipPlan) {
        self.jobs.jobs.push(Job {
            source: "-".into(),
            destination: match plan.test || plan.list {
                true => Destination::Nowhere,
                false => Destination::Stdout,
            },
        });
    }

    fn warn(&mut self, plan: &GzipPlan, text: &str) {
        if !plan.quiet {
            message::status(&format!("gzip: {text}"));
        }
        self.code.warn();
    }

    fn fail(&mut self, path: &Path, error: &io::Error) {
        message::failure(&Failure::io("read", path, error));
        self.code.fail();
    }

    fn file(&mut self, plan: &GzipPlan, named: &Path, walked: bool) {
        let (path, metadata) = match found(plan, named) {
            Ok(found) => found,
            Err((path, error)) => return self.fail(&path, &error),
        };
        let name = path.display();
        if metadata.is_dir() {
            match plan.recursive {
                true => self.walk(plan, &path),
                false => self.warn(plan, &format!("{name} is a directory -- ignored")),
            }
            return;
        }
        if !plan.stdout
            && let Some(why) = unfit(plan, &metadata)
        {
            return self.warn(plan, &format!("{name} {why}"));
        }
        // Only names with a suffix are looked at in a walk.
        if plan.stdout && !((plan.list || plan.test) && plan.recursive) {
            let destination = match plan.test || plan.list {
                true => Destination::Nowhere,
                false => Destination::Stdout,
            };
            return self.add(path, destination);
        }
        match target(plan, &path) {
            Target::Named(target) if !plan.stdout => self.replace_by(plan, path, target),
            Target::Named(_) => self.add(path, Destination::Nowhere),
            Target::NoSuffix => {
                if plan.verbose > 0 || !(walked || plan.recursive) {
                    self.warn(plan, &format!("{name}: unknown suffix -- ignored"));
                }
            }
            Target::HasSuffix(suffix) => {
                // This is no warning for the exit code.
                if plan.verbose > 0 || !(plan.recursive || plan.quiet) {
                    message::status(&format!(
                        "gzip: {name} already has {} suffix -- unchanged",
                        suffix.display()
                    ));
                }
            }
        }
    }

    fn replace_by(&mut self, plan: &GzipPlan, path: PathBuf, mut target: PathBuf) {
        if plan.decompress && (plan.names() || plan.times()) {
            match member(&path) {
                Ok(Some(member)) => {
                    let base = member.name.as_deref().and_then(base_name);
                    if let (true, Some(name)) = (plan.names(), base) {
                        target.set_file_name(name);
                    }
                    if plan.times() && member.modified != 0 {
                        let since = Duration::from_secs(member.modified.into());
                        self.times.push((target.clone(), UNIX_EPOCH + since));
                    }
                }
                // Whoever decompresses it says what is wrong.
                Ok(None) => {}
                Err(error) => return self.fail(&path, &error),
            }
        }
        // What is no gzip file is refused whether there is a target or not.
        let readable = || !plan.decompress || matches!(member(&path), Ok(Some(_)));
        if !plan.force && target.symlink_metadata().is_ok() && readable() {
            if io::stdin().is_terminal() && question::overwrite(&target) {
                self.agreed = true;
            } else {
                message::status(&format!(
                    "gzip: {} already exists; not overwritten",
                    target.display()
                ));
                return self.code.warn();
            }
        }
        self.add(path, Destination::File(target));
    }

    fn add(&mut self, source: PathBuf, destination: Destination) {
        // A file may be called `-`.
        let source = match source.as_os_str() == "-" {
            true => Path::new(".").join(source),
            false => source,
        };
        self.jobs.jobs.push(Job {
            source,
            destination,
        });
    }

    /// Takes the files of a directory, in the order of their names. Links are not followed, and what is no file is
    /// left out.
    fn walk(&mut self, plan: &GzipPlan, root: &Path) {
        for entry in WalkDir::new(root).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_file() => self.file(plan, entry.path(), true),
                Ok(_) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(root).to_owned();
                    let reason = error.into_io_error();
                    let reason = reason.unwrap_or_else(|| io::Error::other("a loop of links"));
                    self.fail(&path, &reason);
                }
            }
        }
    }
}

/// The file of this name, or, to decompress, of this name and a suffix.
fn found(plan: &GzipPlan, named: &Path) -> Result<(PathBuf, Metadata), (PathBuf, io::Error)> {
    let follow = plan.stdout || plan.force;
    let look = |path: &Path| {
        let metadata = path.symlink_metadata()?;
        match metadata.is_symlink() {
            false => Ok(metadata),
            true if follow => path.metadata(),
            true => Err(io::Error::other("it is a symbolic link (-f follows it)")),
        }
    };
    match look(named) {
        Ok(metadata) => return Ok((named.to_owned(), metadata)),
        Err(error) if !plan.decompress || error.kind() != io::ErrorKind::NotFound => {
            return Err((named.to_owned(), error));
        }
        Err(error) if suffix_of(plan, named).is_some() => return Err((named.to_owned(), error)),
        Err(_) => {}
    }
    let with = |suffix: &OsString| {
        let mut path = OsString::from(named);
        path.push(suffix);
        PathBuf::from(path)
    };
    let mut all = vec![plan.suffix.clone()];
    all.extend([".gz", ".z", "-z", ".Z"].map(OsString::from));
    for path in all.iter().map(with) {
        if let Ok(metadata) = look(&path) {
            return Ok((path, metadata));
        }
    }
    let first = with(&plan.suffix);
    let error = io::Error::from(io::ErrorKind::NotFound);
    Err((first, error))
}

/// Why a file is not replaced by another.
#[cfg(unix)]
fn unfit(plan: &GzipPlan, metadata: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    if !metadata.is_file() {
        return Some("is not a directory or a regular file - ignored".to_owned());
    }
    let mode = metadata.mode();
    if mode & 0o4000 != 0 {
        return Some("is set-user-ID on execution - ignored".to_owned());
    }
    if mode & 0o2000 != 0 {
        return Some("is set-group-ID on execution - ignored".to_owned());
    }
    if plan.force {
        return None;
    }
    if mode & 0o1000 != 0 {
        return Some("has the sticky bit set - file ignored".to_owned());
    }
    match metadata.nlink() {
        0 | 1 => None,
        links => {
            let s = if links == 2 { ' ' } else { 's' };
            Some(format!("has {} other link{s} -- file ignored", links - 1))
        }
    }
}

#[cfg(not(unix))]
fn unfit(_: &GzipPlan, metadata: &Metadata) -> Option<String> {
    (!metadata.is_file()).then(|| "is not a directory or a regular file - ignored".to_owned())
}

/// The name of a target.
enum Target {
    Named(PathBuf),
    /// It is to be decompressed and has no suffix.
    NoSuffix,
    /// It is to be compressed and has a suffix already.
    HasSuffix(OsString),
}

fn target(plan: &GzipPlan, path: &Path) -> Target {
    let suffix = suffix_of(plan, path);
    if !plan.decompress {
        return match suffix.filter(|_| !plan.force) {
            Some((suffix, _)) => Target::HasSuffix(suffix),
            None => {
                let mut name = OsString::from(path);
                name.push(&plan.suffix);
                Target::Named(name.into())
            }
        };
    }
    let Some((suffix, stem)) = suffix else {
        return Target::NoSuffix;
    };
    let mut name = stem;
    if suffix == ".tgz" || suffix == ".taz" {
        name.push(".tar");
    }
    Target::Named(path.with_file_name(name))
}

/// The suffix of a name, in lower case, and what is before it.
fn suffix_of(plan: &GzipPlan, path: &Path) -> Option<(OsString, OsString)> {
    let name = path.file_name()?;
    suffixes(&plan.suffix).into_iter().find_map(|suffix| {
        let text = suffix.to_str().filter(|text| !text.is_empty())?;
        let stem = stem(name, text).filter(|stem| !stem.is_empty())?;
        Some((text.to_ascii_lowercase().into(), stem))
    })
}

/// What is before a suffix, whatever its case. The name need not be UTF-8.
fn stem(name: &OsStr, suffix: &str) -> Option<OsString> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        let (stem, end) = name
            .as_bytes()
            .split_at_checked(name.len().checked_sub(suffix.len())?)?;
        end.eq_ignore_ascii_case(suffix.as_bytes())
            .then(|| OsStr::from_bytes(stem).to_owned())
    }
    #[cfg(not(unix))]
    {
        let name = name.to_str()?;
        let (stem, end) = name.split_at_checked(name.len().checked_sub(suffix.len())?)?;
        end.eq_ignore_ascii_case(suffix).then(|| stem.into())
    }
}

/// The path without its suffix, if it has one.
pub(super) fn without_suffix(plan: &GzipPlan, path: &Path) -> PathBuf {
    match target(plan, path) {
        Target::Named(target) => target,
        _ => path.to_owned(),
    }
}

/// What the header of a file's first member says, if it is a gzip file.
pub(super) fn member(path: &Path) -> io::Result<Option<GzipMember>> {
    let mut file = open(path, OpenOptions::new().read(true))?.take(HEADER_BYTES_MAX);
    let mut decoder = GzipDecoder::new();
    let mut buffer = [0; 4096];
    loop {
        let bytes = file.read(&mut buffer)?;
        let read = decoder.read(&buffer[..bytes], &mut []);
        if bytes == 0 || read.is_err() || decoder.member().is_some() {
            return Ok(decoder.member().cloned());
        }
    }
}

/// The part of a stated name behind its directories: no more of it may lead anywhere.
pub(super) fn base_name(stated: &[u8]) -> Option<OsString> {
    let base = stated.rsplit(|byte| *byte == b'/').next()?;
    match base {
        b"" | b"." | b".." => None,
        #[cfg(unix)]
        base => {
            let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(base);
            Some(name.to_owned())
        }
        #[cfg(not(unix))]
        base => Some(String::from_utf8_lossy(base).into_owned().into()),
    }
}
