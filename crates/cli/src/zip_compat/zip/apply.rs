//! What happens after the archive is written: its test, its name, its time, and files that move into it.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;
use std::process::Command;

use files::rights::Rights;
use files::splice::Undo;
use files::steady::State;
use files::target::Target;
use zipstream::extract::{self, ExtractOptions};
use zipstream::{ArchiveReader, Crc32, Decryption, EntryKind, Password};

use crate::failure::Failure;
use crate::io::{context, open};
use crate::term::message;
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::newest::newest;
use crate::zip_compat::shown;
use crate::zip_compat::zip::decide::Plan;
use crate::zip_compat::zip::held::Held;
use crate::zip_compat::zip::sources::{Found, Item};
use crate::zip_compat::zip::write::Done;

/// Bytes per read of a file that is compared with its entry.
const READ_BYTES: usize = 128 << 10;

/// Reads every entry back; a failure leaves the old archive as it was.
pub(super) fn test(mut reader: ArchiveReader<&File>, password: Option<Password>) -> Ended<()> {
    reader.set_decryption(password.map(Decryption::new));
    if reader.is_empty() {
        return Err(untested("it has no entry"));
    }
    let options = ExtractOptions::new().context(context().clone());
    let tested = extract::verify(&reader, &options);
    match tested.failures.first() {
        None => Ok(()),
        Some(failure) => Err(untested(shown::failed(failure))),
    }
}

/// The test of an archive failed.
fn untested(why: impl Display) -> Stop {
    let failure = Failure::new(format!("the test of the archive failed: {why}"));
    let failure = failure.help("the archive that was there is unchanged");
    Stop::new(code::TEST, failure)
}

/// Has a command test the archive at `path`, which stands for `{}` in it or follows it. A failure leaves the old archive
/// as it was.
pub(super) fn test_by(command: &str, path: &Path) -> Ended<()> {
    let quoted = format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"));
    let whole = match command.contains("{}") {
        true => command.replace("{}", &quoted),
        false => format!("{command} {quoted}"),
    };
    match Command::new("sh").arg("-c").arg(&whole).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(untested(format!("'{command}' ended with {status}"))),
        Err(error) => Err(untested(format!(
            "sh cannot be run: {}",
            files::reason(&error)
        ))),
    }
}

/// Makes the archive appear, with the rights of the one that it replaces.
pub(super) fn appear(target: Target, replaced: Option<&Metadata>) -> Ended<()> {
    // Whoever uses this name expects the rights of any new file.
    target.settle_rights(replaced, &Rights::default());
    let path = match &target {
        Target::File { path, .. } => Some(path.clone()),
        _ => None,
    };
    target
        .commit()
        .map_err(|error| Stop::new(code::CREATE, error.into()))?;
    if let Some(path) = path {
        Undo::forget(&path);
    }
    Ok(())
}

/// Gives an archive the time of its newest entry that is no directory.
pub(super) fn stamp(path: &Path) -> Ended<()> {
    let failed = |error| Stop::new(code::WRITE, Failure::io("change", path, &error));
    let file = File::options()
        .read(true)
        .write(true)
        .open(path)
        .map_err(failed)?;
    let reader = ArchiveReader::open(&file)
        .map_err(|error| Stop::new(code::STRUCTURE, Failure::new(shown::error(&error))))?;
    match newest(&reader) {
        Some(newest) => file.set_modified(newest).map_err(failed),
        None => Ok(()),
    }
}

/// Removes what was packed, and what the archive `held` has already: files that are as they were read, and directories
/// that are empty now. A file goes only if its content is certainly in the archive.
pub(super) fn remove(found: &Found, plan: &Plan, done: &Done, held: Option<&Held>) {
    let (mut files, mut directories): (Vec<&Item>, Vec<&Item>) = Default::default();
    let sums = sums(found, plan, held);
    let packed = plan.packed().map(|(at, _)| at);
    for at in packed.chain(plan.current.iter().copied()) {
        let item = &found.items[at];
        if done.unread.contains(&at) || item.path.as_os_str() == "-" || item.pipe {
            continue;
        }
        // All are looked at before the first goes: a link is as good as what it leads to.
        let is_there = match sums.get(&at) {
            Some(sum) => has_sum(item, *sum),
            None => is_unchanged(item, done.states.get(&at)),
        };
        if item.kind == EntryKind::Directory {
            directories.push(item);
        } else if is_there {
            files.push(item);
        } else {
            let (name, what) = (
                item.path.display(),
                match sums.contains_key(&at) {
                    true => "is not certainly what the archive has",
                    false => "changed while it was packed",
                },
            );
            message::remark(&format!("'{name}' {what}, and is not removed"));
        }
    }
    for item in files {
        match std::fs::remove_file(&item.path) {
            // It went by another name, through a link to its directory.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => message::failure(&Failure::io("remove", &item.path, &error)),
            Ok(()) => {}
        }
    }
    directories.sort_by_key(|item| std::cmp::Reverse(item.name.len()));
    for item in directories {
        // One that holds what was not packed stays.
        let _ = std::fs::remove_dir(&item.path);
    }
}

/// The checksums of the entries of items that are not packed because the archive has them by time and size; `None` where
/// an entry states none.
fn sums(found: &Found, plan: &Plan, held: Option<&Held>) -> HashMap<usize, Option<u32>> {
    let mut sums: HashMap<_, _> = plan.current.iter().map(|at| (*at, None)).collect();
    let entries = held.into_iter().flat_map(|held| held.reader.entries());
    for entry in entries.flatten().filter(|_| !plan.current.is_empty()) {
        let item = found.by_name.get(entry.name_lossy().as_ref());
        // The last of several counts.
        if let Some(sum) = item.and_then(|item| sums.get_mut(item)) {
            let states = !entry.is_encrypted() || entry.crc32() != 0;
            *sum = states.then(|| entry.crc32());
        }
    }
    sums
}

/// Whether a file, or where a link leads, has this checksum.
fn has_sum(item: &Item, wanted: Option<u32>) -> bool {
    let found = match item.kind {
        EntryKind::Symlink => files::link_target(&item.path).map(|target| {
            let mut sum = Crc32::new();
            sum.update(&target);
            sum.sum()
        }),
        _ => sum_of(&item.path),
    };
    wanted.is_some() && found.ok() == wanted
}

/// The checksum of a file.
fn sum_of(path: &Path) -> io::Result<u32> {
    let (mut file, _) = open::regular(path)?;
    let (mut sum, mut buffer) = (Crc32::new(), vec![0; READ_BYTES]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(sum.sum()),
            Ok(bytes) => sum.update(&buffer[..bytes]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether a file is what it was when its reading began, and a link as it was found.
fn is_unchanged(item: &Item, state: Option<&State>) -> bool {
    if item.kind == EntryKind::File {
        let now = item.path.metadata().ok().as_ref().and_then(State::of);
        return state.is_some_and(|state| now == Some(*state));
    }
    item.path.symlink_metadata().is_ok_and(|now| {
        let modified = now.modified().ok();
        let modified = modified.and_then(|at| jiff::Timestamp::try_from(at).ok());
        now.len() == item.version.bytes
            && modified.is_some_and(|at| at.as_second() == item.version.modified)
    })
}
