//! `unzip` without an option that says otherwise: entries become files.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;

use zipstream::EntryKind;
use zipstream::extract::{
    Destination, Existing, ExtractOptions, ExtractReport, Links, Reason, Stopped, extract_into,
};

use crate::failure::Failure;
use crate::io::context;
use crate::term::message;
use crate::zip_compat::ended::{Ended, Stop, unzip as code};
use crate::zip_compat::shown;
use crate::zip_compat::unzip::ask::{self, Answers};
use crate::zip_compat::unzip::backup::{Copies, back_up, rounds};
use crate::zip_compat::unzip::choice::{Choice, Chosen, Names, choose};
use crate::zip_compat::unzip::contents::{Tally, unreadable};
use crate::zip_compat::unzip::flags::{Exists, Line, Which};
use crate::zip_compat::unzip::open::Opened;
use crate::zip_compat::unzip::selection::{comment, exit, finish_selection, print};

/// Extracts the selected entries; returns the exit code.
pub(super) fn extract(line: &mut Line, opened: &mut Opened) -> Ended<u8> {
    let names = Names::of(line, opened)?;
    let rename = |entry: &str| names.target(entry);
    let root = names.root(line);
    let Choice {
        entries: chosen,
        matched,
        encrypted,
    } = choose(line, opened, &names)?;
    if chosen.iter().any(|one| names.has_backslashes(&one.name)) {
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
        print(&text)?;
    }
    if line.quiet == 0 && line.exists != Exists::Overwrite {
        for one in chosen.iter().filter(|one| one.over_link) {
            let name = &one.target;
            message::status(&format!("'{name}' exists and is a symbolic link"));
        }
    }
    let replaced: Vec<&Chosen> = chosen.iter().filter(|one| one.replaces()).collect();
    let answers = match line.exists {
        // What is replaced by then has another name.
        Exists::Ask if !line.backup => ask::replace(&replaced),
        _ => Answers::default(),
    };
    let taken = || chosen.iter().filter(|one| is_taken(line, one, &answers));
    let copies = match line.backup {
        true => back_up(&root, taken(), line.exists != Exists::Overwrite)?,
        false => Copies::new(),
    };
    let wanted = winners(line, taken());
    for one in chosen.iter().filter(|one| wanted.contains(&one.position)) {
        if one.name.starts_with('/') {
            let name = &one.name;
            message::remark(&format!("the leading '/' of '{name}' is left out"));
            opened.code = opened.code.max(code::WARNING);
        }
    }
    let existing = match (line.exists, line.which) {
        (Exists::Skip, _) => Existing::Skip,
        // The files that times were compared with have other names by now.
        _ if line.backup => Existing::Overwrite,
        (_, Which::All) => Existing::Overwrite,
        (_, Which::Update) => Existing::Older,
        (_, Which::Freshen) => Existing::Freshen,
    };
    let options = || {
        ExtractOptions::new()
            .exact_modes(true)
            .special_bits(line.special)
            .owners(line.owners)
            .times(line.no_times < 2)
            .directory_times(line.no_times == 0)
            .links(match line.climbs {
                true => Links::Any,
                false => Links::Inside,
            })
            .texts(|entry| line.converts(entry))
            .protect(&opened.path)
            .context(context().clone())
    };
    let whole = options()
        .existing(existing)
        .filter_entries(|entry| wanted.contains(&entry.position()))
        .rename(rename);
    // Where nothing may be made, not even the directory is.
    if line.which == Which::Freshen && !root.is_dir() {
        return Ok(exit(opened.code, finish_selection(line, matched, true)));
    }
    // Copies come first, since files change the times of their directories. Names tell entries of one run apart, and
    // several copies are of one name.
    let (mut failures, mut stopped) = (Vec::new(), None);
    for round in rounds(&chosen, &copies) {
        let copied = options()
            .existing(Existing::Overwrite)
            .filter_entries(|entry| round.has(entry.position()))
            .rename(|entry| round.copy(entry));
        let copied = extract_into(&opened.reader, Destination::Directory(&root), &copied)
            .map_err(|error| unreadable(&error))?;
        failures.extend(copied.failures);
        stopped = stopped.or(copied.stopped);
        if stopped.is_some() {
            break;
        }
    }
    let mut report = match stopped {
        None => extract_into(&opened.reader, Destination::Directory(&root), &whole)
            .map_err(|error| unreadable(&error))?,
        Some(_) => ExtractReport::default(),
    };
    report.failures.extend(failures);
    report.stopped = report.stopped.or(stopped);
    let mut tally = Tally::default();
    if answers.ended {
        tally.worse(code::WARNING);
    }
    report
        .contradictions
        .iter()
        .for_each(|error| tally.contradicted(error));
    let mut failed = HashSet::new();
    for one in &report.failures {
        match &one.reason {
            Reason::Archive(error) => tally.failed(error, line.password.is_some()),
            // Something else has the name of a directory.
            Reason::Write(error) if error.kind() == ErrorKind::NotADirectory => {
                tally.worse(code::DAMAGED);
            }
            Reason::Write(_) => tally.worse(code::DISK),
            _ => tally.worse(code::WARNING),
        }
        message::failure(&Failure::new(shown::failed(one)));
        failed.insert(one.entry.as_str());
    }
    let done = chosen.iter().filter(|one| {
        let is_wanted = wanted.contains(&one.position);
        one.kind != EntryKind::Directory && is_wanted && !failed.contains(one.name.as_str())
    });
    tally.done = done.count() as u64;
    if report.stopped == Some(Stopped::Cancelled) {
        return Err(Stop::silent(code::INTERRUPTED));
    }
    // What a full disk has left undone is not known one by one.
    if line.quiet == 0 && report.stopped.is_none() {
        say(line, &chosen, &wanted, &failed)?;
    }
    let found = finish_selection(line, matched, true);
    Ok(exit(tally.code().max(opened.code), found))
}

/// Whether an entry becomes a file, if only until a later one of its path does.
fn is_taken(line: &Line, one: &Chosen, answers: &Answers) -> bool {
    let is_left = match one.kind {
        // A directory that is there stays as it is.
        EntryKind::Directory => one.exists,
        // What the first has made exists, and has another name by then with `-B`.
        _ => line.exists == Exists::Skip && one.repeats && !line.backup,
    };
    one.wanted && !is_left && !answers.kept.contains(&one.position)
}

/// The positions of the entries that stay files: of several of one path the last one that becomes one.
fn winners<'a>(line: &Line, taken: impl Iterator<Item = &'a Chosen>) -> HashSet<u64> {
    let wanted: Vec<&Chosen> = taken.collect();
    let last: HashMap<&str, u64> = wanted
        .iter()
        .map(|one| (one.target.as_str(), one.position))
        .collect();
    let superseded = wanted.len() - last.len();
    if let Some(one) = wanted
        .iter()
        .find(|one| last[one.target.as_str()] != one.position)
        && line.quiet == 0
        && !line.backup
    {
        let name = &one.name;
        message::remark(&match superseded {
            1 => format!("an entry '{name}' is not extracted: a later one has the same path"),
            count => format!(
                "{count} entries are not extracted, as '{name}': later ones have the same paths"
            ),
        });
    }
    last.into_values().collect()
}

/// Prints what was extracted, in the order of the archive.
fn say(line: &Line, chosen: &[Chosen], wanted: &HashSet<u64>, failed: &HashSet<&str>) -> Ended<()> {
    let mut text = String::new();
    for one in chosen {
        let kept = match one.kind {
            EntryKind::Directory => one.exists,
            _ => one.exists && line.exists == Exists::Skip,
        };
        if wanted.contains(&one.position) && !failed.contains(one.name.as_str()) && !kept {
            text.push_str(&one.line);
        }
    }
    print(&text)
}
