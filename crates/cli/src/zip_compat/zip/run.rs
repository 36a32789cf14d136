//! The work of `zip`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use files::target;
use report::units::counted;
use zipstream::{Merge, Warning, name};

use crate::failure::Failure;
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::matching::Patterns;
use crate::zip_compat::shown;
use crate::zip_compat::zip::decide::{self, Plan};
use crate::zip_compat::zip::flags::{self, Action, Line, Walk};
use crate::zip_compat::zip::held::{Held, hold, missing};
use crate::zip_compat::zip::help::HELP;
use crate::zip_compat::zip::make::{ask_password, make};
use crate::zip_compat::zip::sources::{self, Found};
use crate::zip_compat::zip::values::Split;
use crate::zip_compat::zip::write::{self, Done};
use crate::zip_compat::zip::{apply, input, log, repair, say, split, warnings};

/// Runs a command line.
pub(in crate::zip_compat) fn run(words: &[OsString]) -> Ended<u8> {
    let mut line = flags::parse(words)?;
    let asks = line.archive.is_none() && line.action != Action::Version;
    // Lists take all words that follow them, the archive as well.
    if asks && !(line.includes.is_empty() && line.excludes.is_empty()) {
        let lacks = Failure::new("no archive is named: -x and -i take all words that follow");
        let stop = lacks.help("name the archive and the files first, or end the list with @");
        return Err(Stop::new(code::USAGE, stop));
    }
    match line.action {
        Action::Help => return help(),
        Action::Version => return version(),
        _ if asks && words.len() == 1 && words[0] == "-v" => return version(),
        // Between two pipes it packs one into the other.
        _ if asks && !io::stdin().is_terminal() && !io::stdout().is_terminal() => {
            line.archive = Some("-".into());
            line.names = vec!["-".into()];
        }
        _ if asks && line.verbose => return version(),
        _ if asks => return help(),
        _ => {}
    }
    let archive = named(line.archive.clone().unwrap_or_default());
    let output = match &line.output {
        Some(output) => named(output.clone()),
        None => archive.clone(),
    };
    log::start(&line.log, [&archive, &output], words)?;
    let ended = work(&mut line, &archive, &output);
    log::end(&ended);
    ended
}

/// Does what a command line says with an archive.
fn work(line: &mut Line, archive: &Path, output: &Path) -> Ended<u8> {
    let mut names = std::mem::take(&mut line.names);
    if line.names_from_stdin {
        names.extend(input::names()?);
    }
    split::check(line)?;
    if line.action == Action::Difference {
        let failure = match &line.output {
            None => Some("option -DF packs what differs from the archive into another one"),
            Some(_) if archive == output => Some("option -DF does not change the archive"),
            Some(_) if names.is_empty() => Some("option -DF: no file is named"),
            Some(_) => None,
        };
        if let Some(what) = failure {
            let failure = Failure::new(what).help("zip -DF ARCHIVE NAME... -O NEW");
            return Err(Stop::new(code::USAGE, failure));
        }
    }
    if line.dos_names && line.links {
        warnings::warn(
            line,
            "option -k packs what links lead to, and -y has no effect",
        );
        line.links = false;
    }
    let merges = matches!(
        line.action,
        Action::Merge(Merge::Replace | Merge::Update | Merge::Freshen)
    );
    let joins = names.is_empty() && line.action == Action::Merge(Merge::Replace);
    let joins = joins && line.split == Split::Joined;
    // Another archive, without a word of what changes, is a copy.
    let copies = names.is_empty() && merges && line.output.is_some() && !line.shows;
    let fixes = matches!(line.action, Action::Fix | Action::Recover);
    if (fixes || joins) && (line.output.is_none() || archive == output) {
        let failure = Failure::new("options -F, -FF and -s 0 write another archive");
        let failure = failure.help("name it with -O");
        return Err(Stop::new(code::USAGE, failure));
    }
    if fixes && !names.is_empty() {
        let failure = Failure::new("options -F and -FF take no names but those of the archives");
        let failure = failure.help("recover all first, and copy what you need by -U");
        return Err(Stop::new(code::USAGE, failure));
    }
    if line.action == Action::Recover {
        return repair::recover(line, archive, output);
    }
    let held = hold(archive, line)?;
    match line.action {
        Action::Adjust => return adjust(line, held.as_ref(), archive, output),
        Action::Copy | Action::Fix => return copy(line, &names, held.as_ref(), archive, output),
        _ if copies => return copy(line, &names, held.as_ref(), archive, output),
        _ => {}
    }
    let (found, plan) = decide(line, names, archive, held.as_ref())?;
    if line.shows {
        show(line, &found, &plan, held.as_ref());
        return Ok(0);
    }
    if line.action == Action::Difference {
        return make(line, &found, &plan, held.as_ref(), output);
    }
    let nothing = plan.changes() == 0;
    let alone = line.comment || line.entry_comments || line.tests || line.latest;
    if nothing && !(alone && held.is_some()) {
        return unchanged(line, &found, &plan, held.as_ref(), output);
    }
    if let Some(held) = held
        .as_ref()
        .filter(|_| nothing && !line.comment && !line.entry_comments)
    {
        return in_place(line, held, archive);
    }
    make(line, &found, &plan, held.as_ref(), output)
}

/// Tests an archive, or gives it another time; its bytes stay as they are.
fn in_place(line: &Line, held: &Held, archive: &Path) -> Ended<u8> {
    if line.tests {
        let file = File::open(archive)
            .map_err(|error| Stop::new(code::READ, Failure::io("read", archive, &error)))?;
        match &line.tester {
            Some(tester) => apply::test_by(tester, archive)?,
            None => apply::test(write::written(&file)?, ask_password(line)?)?,
        }
        if !line.quiet {
            say::print(&format!("test of {} OK\n", shown::path(archive)), false);
        }
    }
    if line.latest && !held.reader.is_empty() {
        apply::stamp(archive)?;
    }
    Ok(0)
}

/// The name of an archive, with its suffix.
fn named(path: PathBuf) -> PathBuf {
    let last = path.file_name().map(|name| name.as_encoded_bytes());
    let dotted = last.is_none_or(|name| name.contains(&b'.'));
    if dotted || target::is_stdout(&path) {
        return path;
    }
    let mut name = path.into_os_string();
    name.push(".zip");
    PathBuf::from(name)
}

fn help() -> Ended<u8> {
    say::print(HELP, false);
    Ok(0)
}

fn version() -> Ended<u8> {
    let own = env!("CARGO_PKG_VERSION");
    say::print(&format!("zip, by perfkit {own}\n"), false);
    Ok(0)
}

/// Corrects offsets that count from behind a program before the archive.
fn adjust(line: &mut Line, held: Option<&Held>, archive: &Path, output: &Path) -> Ended<u8> {
    let Some(held) = held else {
        return Err(nothing(archive));
    };
    let mut warnings = held.reader.directory().warnings().iter();
    if !warnings.any(|found| matches!(found, Warning::Prefix { .. })) {
        if !line.quiet {
            say::print("The offsets of the archive are right.\n", false);
        }
        return Ok(0);
    }
    let plan = decide::delete(&mut Patterns::default(), line, &held.reader)?;
    make(line, &Found::default(), &plan, Some(held), output)
}

/// Copies entries as they are into another archive.
fn copy(
    line: &mut Line,
    names: &[OsString],
    held: Option<&Held>,
    archive: &Path,
    output: &Path,
) -> Ended<u8> {
    if line.output.is_none() {
        let failure = Failure::new("option -U copies into another archive");
        let failure = failure.help("name it with -O");
        return Err(Stop::new(code::USAGE, failure));
    }
    let Some(held) = held else {
        return Err(missing(archive));
    };
    let mut patterns = line.patterns();
    for name in names {
        let added = patterns.add(&flags::stripped(name));
        added.map_err(|failure| Stop::new(code::USAGE, failure))?;
    }
    let plan = decide::copy(&mut patterns, line, &held.reader)?;
    for name in patterns.unmet() {
        warnings::warn(line, &format!("no entry matches '{name}'"));
    }
    if plan.steps.is_empty() {
        return Err(nothing(archive));
    }
    make(line, &Found::default(), &plan, Some(held), output)
}

fn nothing(archive: &Path) -> Stop {
    let name = archive.display();
    Stop::new(
        code::NOTHING,
        Failure::new(format!("there is nothing to do for '{name}'"))
            .help("name files that exist, or entries of the archive with -d"),
    )
}

/// What becomes of files and entries.
fn decide(
    line: &mut Line,
    names: Vec<OsString>,
    archive: &Path,
    held: Option<&Held>,
) -> Ended<(Found, Plan)> {
    let reader = held.map(|held| &held.reader);
    if line.action == Action::Delete {
        let mut patterns = line.patterns();
        for name in &names {
            // The name of a directory that is there is that of its entry.
            let mut name = flags::stripped(name);
            if Path::new(&name).is_dir() && !name.as_encoded_bytes().ends_with(b"/") {
                name.push("/");
            }
            patterns
                .add(&name)
                .map_err(|failure| Stop::new(code::USAGE, failure))?;
        }
        let plan = match reader {
            Some(reader) => decide::delete(&mut patterns, line, reader)?,
            None => Plan::default(),
        };
        for name in patterns.unmet() {
            warnings::warn(line, &format!("no entry matches '{name}'"));
        }
        return Ok((Found::default(), plan));
    }
    let merge = match line.action {
        Action::Merge(merge) => merge,
        // What replaces an entry because it differs is all that is packed.
        Action::Difference => Merge::Sync,
        _ => return Ok((Found::default(), Plan::default())),
    };
    let held_names: Vec<String> = match reader {
        Some(reader) => {
            let entries = reader.entries().flatten();
            entries
                .map(|entry| entry.name_lossy().into_owned())
                .collect()
        }
        None => Vec::new(),
    };
    // Without names, all entries are meant.
    let all = names.is_empty() && matches!(merge, Merge::Freshen | Merge::Update);
    let names = match all {
        true => {
            // Nothing else, whatever is in their directories now.
            line.walk = Walk::No;
            let paths = held_names.iter().map(|name| name::system_path(name));
            let files = paths.filter(|path| path.exists());
            files.map(|path| path.into_owned().into()).collect()
        }
        false => names,
    };
    if names.is_empty() && merge == Merge::Sync {
        return Err(nothing(archive));
    }
    let found = sources::find(line, &names, archive, &held_names)?;
    let syncs = line.action == Action::Merge(Merge::Sync);
    if syncs && found.items.is_empty() {
        // A slip of the fingers, and not a wish for an empty archive.
        return Err(nothing(archive));
    }
    let mut plan = decide::merge(merge, &found, reader)?;
    if line.action == Action::Difference {
        return Ok((found, plan.difference()));
    }
    if plan.spared > 0 {
        let entries = counted(plan.spared, ["entry", "entries"]);
        let text = format!(
            "kept for files that may be there and are left out: {entries}; -d deletes entries"
        );
        warnings::warn(line, &text);
    }
    if names.is_empty() {
        // Only comments, a test or a time are asked for.
        plan.deleted.clear();
    }
    Ok((found, plan))
}

/// Nothing is packed and nothing deleted.
fn unchanged(
    line: &Line,
    found: &Found,
    plan: &Plan,
    held: Option<&Held>,
    output: &Path,
) -> Ended<u8> {
    if line.moves {
        // What the archive has already is moved, too.
        apply::remove(found, plan, &Done::default(), held);
    }
    match line.action {
        Action::Merge(Merge::Sync) if held.is_some() => {
            if !line.quiet {
                let is_all = plan.spared == 0 && found.left.is_empty() && found.code() == 0;
                let text = match is_all {
                    true => "The archive is as the files are.\n",
                    false => "Nothing else differs from the files: the archive stays.\n",
                };
                say::print(text, false);
            }
            Ok(found.code())
        }
        Action::Merge(Merge::Update | Merge::Freshen)
            if held.is_some() || !found.items.is_empty() =>
        {
            Err(Stop::silent(code::NOTHING))
        }
        Action::Merge(Merge::Freshen) => Err(Stop::silent(code::NOTHING)),
        // Patterns that leave nothing make an empty archive.
        Action::Merge(Merge::Replace) if held.is_none() && !line.includes.is_empty() => {
            warnings::warn(line, "the archive is empty");
            make(line, found, &Plan::default(), held, output)
        }
        _ => Err(nothing(output)),
    }
}

/// What `-sf` shows.
fn show(line: &Line, found: &Found, plan: &Plan, held: Option<&Held>) {
    let text = match (line.action, held) {
        (Action::Delete, _) => say::shown(
            "Would Delete:",
            plan.deleted.iter().map(|name| (name.as_str(), 0)),
        ),
        (_, Some(held)) if found.items.is_empty() => {
            let entries: Vec<_> = held.reader.entries().flatten().collect();
            let names: Vec<_> = entries
                .iter()
                .map(|entry| (entry.name_lossy().into_owned(), entry.content_bytes()))
                .collect();
            let names = names.iter().map(|(name, bytes)| (name.as_str(), *bytes));
            say::shown("Archive contains:", names)
        }
        _ => {
            let items = plan.packed().map(|(item, _)| &found.items[item]);
            let bytes = |item: &sources::Item| match item.version.directory {
                true => 0,
                false => item.version.bytes,
            };
            say::shown(
                "Would Add/Update:",
                items.map(|item| (item.name.as_str(), bytes(item))),
            )
        }
    };
    say::print(&text, false);
}
