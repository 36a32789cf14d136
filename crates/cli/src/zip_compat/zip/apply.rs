//! What happens after the archive is written: its test, its name, its time, and files that move into it.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use files::rights::Rights;
use files::splice::Undo;
use files::target::Target;
use zipstream::extract::{self, ExtractOptions, local_to_utc};
use zipstream::{ArchiveReader, Decryption, EntryKind, Password};

use crate::failure::Failure;
use crate::io::context;
use crate::term::message;
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::zip::decide::Plan;
use crate::zip_compat::zip::sources::{Found, Item};
use crate::zip_compat::zip::write::Done;

/// Reads every entry back; a failure leaves the old archive as it was.
pub(super) fn test(mut reader: ArchiveReader<&File>, password: Option<Password>) -> Ended<()> {
    reader.set_decryption(password.map(Decryption::new));
    let options = ExtractOptions::new().context(context().clone());
    let tested = extract::verify(&reader, &options);
    match tested.failures.first() {
        None => Ok(()),
        Some(failure) => Err(Stop::new(
            code::TEST,
            Failure::new(format!("the test of the archive failed: {failure}"))
                .help("the archive that was there is unchanged"),
        )),
    }
}

/// Has a command test the archive at `path`, which stands for `{}` in it or follows it. A failure leaves the old archive
/// as it was.
pub(super) fn test_by(command: &str, path: &Path) -> Ended<()> {
    let quoted = format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"));
    let whole = match command.contains("{}") {
        true => command.replace("{}", &quoted),
        false => format!("{command} {quoted}"),
    };
    let failed = |why: &str| {
        let failure = Failure::new(format!("the test of the archive failed: {why}"));
        let failure = failure.help("the archive that was there is unchanged");
        Err(Stop::new(code::TEST, failure))
    };
    match Command::new("sh").arg("-c").arg(&whole).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => failed(&format!("'{command}' ended with {status}")),
        Err(error) => failed(&format!("sh cannot be run: {}", files::reason(&error))),
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

/// Gives an archive the time of its newest entry.
pub(super) fn stamp(path: &Path) -> Ended<()> {
    let failed = |error| Stop::new(code::WRITE, Failure::io("change", path, &error));
    let file = File::options()
        .read(true)
        .write(true)
        .open(path)
        .map_err(failed)?;
    let reader = ArchiveReader::open(&file)
        .map_err(|error| Stop::new(code::STRUCTURE, Failure::new(error.to_string())))?;
    match newest(&reader) {
        Some(newest) => file.set_modified(newest).map_err(failed),
        None => Ok(()),
    }
}

/// The time of the newest entry.
pub(super) fn newest(reader: &ArchiveReader<&File>) -> Option<SystemTime> {
    let entries = reader.entries().flatten();
    let newest = entries.map(|entry| entry.time().seconds_utc(local_to_utc));
    let newest = u64::try_from(newest.max()?).ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(newest))
}

/// Removes what was packed, and what the archive has already: files that are as they were found, and
/// directories that are empty now.
pub(super) fn remove(found: &Found, plan: &Plan, done: &Done) {
    let (mut files, mut directories): (Vec<&Item>, Vec<&Item>) = Default::default();
    let packed = plan.packed().map(|(at, _)| at);
    for at in packed.chain(plan.current.iter().copied()) {
        let item = &found.items[at];
        if done.unread.contains(&at) || item.path.as_os_str() == "-" {
            continue;
        }
        // All are looked at before the first goes: a link is as good as what it leads to.
        if item.kind == EntryKind::Directory {
            directories.push(item);
        } else if is_unchanged(item) {
            files.push(item);
        } else {
            message::remark(&format!(
                "'{}' changed while it was packed, and is not removed",
                item.path.display()
            ));
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

/// Whether a file has the size and the time that it was found with.
fn is_unchanged(item: &Item) -> bool {
    let now = match item.kind {
        EntryKind::Symlink => item.path.symlink_metadata(),
        _ => item.path.metadata(),
    };
    now.is_ok_and(|now| {
        let modified = now.modified().ok();
        let modified = modified.and_then(|at| jiff::Timestamp::try_from(at).ok());
        now.len() == item.version.bytes
            && modified.is_some_and(|at| at.as_second() == item.version.modified)
    })
}
