//! `unzip` without an option that says otherwise: entries become files.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use zipstream::extract::{
    Destination, Existing, ExtractOptions, Reason, Stopped, extract_into, local_to_utc,
};
use zipstream::{Entry, EntryKind, name};

use crate::failure::Failure;
use crate::io::context;
use crate::term::color::write_stdout_plain;
use crate::term::message;
use crate::zip_compat::ended::{Ended, Stop, unzip as code};
use crate::zip_compat::shown;
use crate::zip_compat::unzip::ask::{self, Answers};
use crate::zip_compat::unzip::contents::{Tally, unreadable, verb};
use crate::zip_compat::unzip::flags::{Exists, Line, Which};
use crate::zip_compat::unzip::open::Opened;
use crate::zip_compat::unzip::selection::{
    Selected, comment, entries, finish_selection, unwritten,
};

/// The first byte of "made by" of systems whose names have no case.
const WITHOUT_CASE: [u8; 5] = [0, 4, 6, 8, 11];

/// A selected entry.
struct Chosen {
    name: String,
    /// Its name in the directory, without what `-j` and `-L` take.
    target: String,
    kind: EntryKind,
    /// The line that is printed when it is done.
    line: String,
    /// Whether there is something of its name already.
    exists: bool,
    /// Whether times let it be extracted.
    wanted: bool,
}

/// Extracts the selected entries; returns the exit code.
pub(super) fn extract(line: &mut Line, opened: &mut Opened) -> Ended<u8> {
    let lower = lower_names(line, opened)?;
    let slashed = slashed_names(opened)?;
    let junk = line.junk;
    let rename = |entry: &str| -> Option<String> {
        let name = match slashed.contains(entry) {
            true => Cow::Owned(entry.replace('\\', "/")),
            false => Cow::Borrowed(entry),
        };
        let kept = if junk { name::file_name(&name)? } else { &name };
        Some(match lower.contains(entry) {
            true => kept.to_lowercase(),
            false => kept.to_owned(),
        })
    };
    let root = line.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let (chosen, matched, encrypted) = choose(line, opened, &rename)?;
    if chosen.iter().any(|one| slashed.contains(&one.name)) {
        let name = opened.path.display();
        message::remark(&format!(
            "'{name}' has names with backslashes, taken for '/'"
        ));
        opened.code = opened.code.max(code::WARNING);
    }
    ask::unlock(line, &mut opened.reader, encrypted)?;
    if line.quiet == 0 {
        let mut text = format!("Archive:  {}\n", shown::path(&opened.path));
        text.push_str(&comment(&opened.reader));
        write_stdout_plain(text.as_bytes()).map_err(unwritten)?;
    }
    let replaced: Vec<(String, String)> = chosen
        .iter()
        .filter(|one| one.exists && one.wanted && one.kind != EntryKind::Directory)
        .map(|one| (one.name.clone(), one.target.clone()))
        .collect();
    let answers = match line.exists {
        Exists::Ask => ask::replace(&replaced),
        _ => Answers::default(),
    };
    if line.backup {
        let kept = |(name, _): &&(String, String)| !answers.kept.contains(name);
        back_up(&root, replaced.iter().filter(kept).map(|(_, path)| path))?;
    }
    let wanted: HashSet<&str> = chosen
        .iter()
        .filter(|one| one.wanted && !answers.kept.contains(&one.name))
        // A directory that is there stays as it is.
        .filter(|one| !one.exists || one.kind != EntryKind::Directory)
        .map(|one| one.name.as_str())
        .collect();
    let existing = match (line.exists, line.which) {
        (Exists::Skip, _) => Existing::Skip,
        (_, Which::All) => Existing::Overwrite,
        (_, Which::Update) => Existing::Older,
        (_, Which::Freshen) => Existing::Freshen,
    };
    let options = ExtractOptions::new()
        .existing(existing)
        .exact_modes(true)
        .times(line.no_times < 2)
        .directory_times(line.no_times == 0)
        .filter(|name| wanted.contains(name))
        .rename(rename)
        .protect(&opened.path)
        .context(context().clone());
    // Where nothing may be made, not even the directory is.
    if line.which == Which::Freshen && !root.is_dir() {
        return Ok(finish_selection(line, matched, true).max(opened.code));
    }
    let report = extract_into(&opened.reader, Destination::Directory(&root), &options)
        .map_err(|error| unreadable(&error))?;
    let mut tally = Tally::default();
    if answers.ended {
        tally.worse(code::WARNING);
    }
    let mut failed = HashSet::new();
    for one in &report.failures {
        match &one.reason {
            Reason::Archive(error) => tally.failed(error, line.password.is_some()),
            Reason::Write(_) => tally.worse(code::DISK),
            _ => tally.worse(code::WARNING),
        }
        message::failure(&Failure::new(one.to_string()));
        failed.insert(one.entry.as_str());
    }
    let done = chosen.iter().filter(|one| {
        let name = one.name.as_str();
        one.kind != EntryKind::Directory && wanted.contains(name) && !failed.contains(name)
    });
    tally.done = done.count() as u64;
    if report.stopped == Some(Stopped::Cancelled) {
        return Err(Stop::silent(code::INTERRUPTED));
    }
    if line.quiet == 0 {
        say(line, &chosen, &wanted, &failed)?;
    }
    let found = finish_selection(line, matched, true);
    Ok(tally.code().max(found).max(opened.code))
}

/// Prints what was extracted, in the order of the archive.
fn say(
    line: &Line,
    chosen: &[Chosen],
    wanted: &HashSet<&str>,
    failed: &HashSet<&str>,
) -> Ended<()> {
    let mut text = String::new();
    for one in chosen {
        let kept = match one.kind {
            EntryKind::Directory => one.exists,
            _ => one.exists && line.exists == Exists::Skip,
        };
        let name = one.name.as_str();
        if wanted.contains(name) && !failed.contains(name) && !kept {
            text.push_str(&one.line);
        }
    }
    write_stdout_plain(text.as_bytes()).map_err(unwritten)
}

/// Names that get lower case.
fn lower_names(line: &Line, opened: &Opened) -> Ended<HashSet<String>> {
    let mut lower = HashSet::new();
    if line.lower > 0 {
        for entry in entries(&opened.reader)? {
            let [_, system] = entry.made_by().to_le_bytes();
            if line.lower > 1 || WITHOUT_CASE.contains(&system) {
                lower.insert(entry.name_lossy().into_owned());
            }
        }
    }
    Ok(lower)
}

/// Names in which backslashes stand for `/`: those of DOS that have none.
fn slashed_names(opened: &Opened) -> Ended<HashSet<String>> {
    let mut slashed = HashSet::new();
    for entry in entries(&opened.reader)? {
        let [_, system] = entry.made_by().to_le_bytes();
        // As it reads: in some character sets the byte of a backslash is half of another character.
        let name = entry.name_lossy();
        if system == 0 && name.contains('\\') && !name.contains('/') {
            slashed.insert(name.into_owned());
        }
    }
    Ok(slashed)
}

/// The selected entries, how many names matched, and whether one is encrypted.
fn choose(
    line: &mut Line,
    opened: &Opened,
    rename: &dyn Fn(&str) -> Option<String>,
) -> Ended<(Vec<Chosen>, u64, bool)> {
    let directory = line.directory.clone();
    let root = directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let which = line.which;
    let (mut chosen, mut matched, mut encrypted) = (Vec::new(), 0, false);
    // One entry of each name is extracted; what others say is no question.
    let mut seen = HashMap::new();
    let mut selected = Selected::new(line);
    for entry in entries(&opened.reader)? {
        let name = entry.name_lossy().into_owned();
        if !selected.takes(&name) {
            continue;
        }
        matched += 1;
        encrypted |= entry.is_encrypted();
        let Some(target) = rename(&name) else {
            continue;
        };
        if seen.insert(name.clone(), ()).is_some() {
            continue;
        }
        let found = match name::check(&target) {
            Ok(()) => std::fs::symlink_metadata(root.join(&target)).ok(),
            Err(_) => None,
        };
        let shown = match &directory {
            Some(directory) => shown::path(&directory.join(&target)),
            None => shown::name(&target).into_owned(),
        };
        let text = match entry.kind() {
            EntryKind::Directory => format!("   creating: {shown}\n"),
            EntryKind::Symlink => format!("    linking: {shown:<22}  \n"),
            EntryKind::File => format!("{}: {shown:<22}  \n", verb(entry.method())),
        };
        chosen.push(Chosen {
            wanted: wants(which, &entry, found.as_ref()),
            kind: entry.kind(),
            exists: found.is_some(),
            line: text,
            name,
            target,
        });
    }
    Ok((chosen, matched, encrypted))
}

/// Whether the times of entry and file let it be extracted.
fn wants(which: Which, entry: &Entry<'_>, found: Option<&std::fs::Metadata>) -> bool {
    let Some(found) = found else {
        return which != Which::Freshen;
    };
    if which == Which::All || entry.kind() == EntryKind::Directory {
        return which != Which::Freshen;
    }
    let held = found
        .modified()
        .ok()
        .and_then(|at| jiff::Timestamp::try_from(at).ok());
    let stated = entry.time().seconds_utc(local_to_utc);
    held.is_none_or(|held| stated > held.as_second())
}

/// Whether a directory of a path is a link, which may lead out of the root: nothing is written there.
fn leads_through_link(root: &Path, path: &str) -> bool {
    let slashes = path.match_indices('/').map(|(at, _)| &path[..at]);
    slashes
        .filter(|above| !above.is_empty())
        .any(|above| root.join(above).is_symlink())
}

/// Gives files that will be replaced another name: theirs with `~` behind it.
fn back_up<'a>(root: &Path, paths: impl Iterator<Item = &'a String>) -> Ended<()> {
    for path in paths {
        if name::check(path).is_err() || leads_through_link(root, path) {
            continue;
        }
        let from = root.join(path);
        let mut to = from.clone().into_os_string();
        to.push("~");
        std::fs::rename(&from, &to)
            .map_err(|error| Stop::new(code::DISK, Failure::io("write", Path::new(&to), &error)))?;
    }
    Ok(())
}
