//! Which file becomes which, and which are left out, as xz has it.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use files::plan::{Destination, Job, Jobs};

use super::flags::{Mode, XzPlan};
use crate::commands::formats::Format;
use crate::failure::Failure;
use crate::gzip_compat::Code;
use crate::term::message;

/// What is to be done, and what already went wrong.
#[derive(Debug, Default)]
pub(super) struct Planned {
    pub(super) jobs: Jobs,
    pub(super) code: Code,
}

/// Says why a file is left out.
pub(super) fn skip(plan: &XzPlan, path: &Path, why: &str, code: &mut Code) {
    if plan.quiet == 0 {
        message::status(&format!("xz: {}: {why}, skipping", path.display()));
    }
    code.warn();
}

/// Resolves the files of a command line.
pub(super) fn planned(plan: &XzPlan) -> Planned {
    let mut planned = Planned::default();
    if plan.files.is_empty() && plan.list.is_none() {
        planned.stdin(plan);
    }
    for file in &plan.files {
        match file.as_os_str() == "-" {
            true => planned.stdin(plan),
            false => planned.file(plan, file),
        }
    }
    planned
}

impl Planned {
    fn stdin(&mut self, plan: &XzPlan) {
        self.jobs.jobs.push(Job {
            source: "-".into(),
            destination: match plan.mode {
                Mode::Test => Destination::Nowhere,
                _ => Destination::Stdout,
            },
        });
    }

    fn warn(&mut self, plan: &XzPlan, path: &Path, text: &str) {
        skip(plan, path, text, &mut self.code);
    }

    fn file(&mut self, plan: &XzPlan, path: &Path) {
        let keeps = plan.stdout || plan.mode == Mode::Test || plan.keep;
        let stdout = plan.stdout || plan.mode == Mode::Test;
        let follows = keeps || plan.force;
        let found = path
            .symlink_metadata()
            .and_then(|own| match own.is_symlink() {
                true if follows => path.metadata(),
                _ => Ok(own),
            });
        let metadata = match found {
            Ok(metadata) => metadata,
            Err(error) => {
                message::failure(&Failure::io("read", path, &error));
                return self.code.fail();
            }
        };
        if metadata.is_symlink() {
            return self.warn(plan, path, "Is a symbolic link");
        }
        if metadata.is_dir() {
            return self.warn(plan, path, "Is a directory");
        }
        if !stdout && !metadata.is_file() {
            return self.warn(plan, path, "Not a regular file");
        }
        if !follows && let Some(why) = unfit(&metadata) {
            return self.warn(plan, path, why);
        }
        let destination = match (plan.mode, plan.stdout) {
            (Mode::Test, _) => Destination::Nowhere,
            (_, true) => Destination::Stdout,
            (Mode::Compress, _) => match compressed(plan, path) {
                Ok(target) => Destination::File(target),
                Err(why) => return self.warn(plan, path, &why),
            },
            (Mode::Decompress | Mode::List, _) => match decompressed(plan, path) {
                Some(target) => Destination::File(target),
                // What is of no known format is an error, whatever its name.
                None if is_known(plan, path) => {
                    return self.warn(plan, path, "Filename has an unknown suffix");
                }
                None => Destination::Nowhere,
            },
        };
        self.jobs.jobs.push(Job {
            source: path.to_owned(),
            destination,
        });
    }
}

/// Why a file is not replaced by another.
#[cfg(unix)]
fn unfit(metadata: &Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt as _;
    match metadata.mode() {
        mode if mode & 0o6000 != 0 => Some("File has setuid or setgid bit set"),
        mode if mode & 0o1000 != 0 => Some("File has sticky bit set"),
        _ if metadata.nlink() > 1 => Some("Input file has more than one hard link"),
        _ => None,
    }
}

#[cfg(not(unix))]
fn unfit(_: &Metadata) -> Option<&'static str> {
    None
}

/// Whether the file starts as one of a format that is read here.
fn is_known(plan: &XzPlan, path: &Path) -> bool {
    let mut first = Vec::new();
    let read = File::open(path).and_then(|file| file.take(6).read_to_end(&mut first));
    let found = Format::other(|magic| Ok::<_, ()>(first.starts_with(magic)));
    let (Ok(_), Ok(Some(found))) = (read, found) else {
        return false;
    };
    match plan.format {
        Some(format) => found == format,
        None => matches!(found, Format::Xz | Format::Lzma),
    }
}

fn compressed(plan: &XzPlan, path: &Path) -> Result<PathBuf, String> {
    let known = match plan.format {
        Some(Format::Lzma) => [".lzma", ".tlz"],
        _ => [".xz", ".txz"],
    };
    let mut has = known.map(OsString::from).to_vec();
    has.extend(plan.suffix.clone());
    if let Some(suffix) = has.iter().find(|suffix| stem(path, suffix).is_some()) {
        return Err(format!("File already has `{}' suffix", suffix.display()));
    }
    let mut name = path.as_os_str().to_owned();
    name.push(plan.suffix.as_deref().unwrap_or(known[0].as_ref()));
    Ok(name.into())
}

fn decompressed(plan: &XzPlan, path: &Path) -> Option<PathBuf> {
    let known = [
        (".xz", ""),
        (".txz", ".tar"),
        (".lzma", ""),
        (".tlz", ".tar"),
    ];
    let known = known.into_iter().find_map(|(suffix, new)| {
        let mut name = stem(path, suffix.as_ref())?;
        name.push(new);
        Some(name)
    });
    let own = || stem(path, plan.suffix.as_deref()?);
    Some(path.with_file_name(known.or_else(own)?))
}

/// The name before a suffix, if it has it.
fn stem(path: &Path, suffix: &std::ffi::OsStr) -> Option<OsString> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(suffix.to_str()?)?;
    (!stem.is_empty()).then(|| stem.into())
}
