//! Writes an archive, tests it, and makes it appear.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal as _};
use std::path::Path;

use files::target::{self, Target};
use report::units::counted;
use zipstream::{Encryption, Password};

use crate::args::password::PasswordSource;
use crate::failure::Failure;
use crate::io::context;
use crate::term::{message, password};
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::shown;
use crate::zip_compat::zip::decide::{Plan, Step};
use crate::zip_compat::zip::flags::{Action, Line};
use crate::zip_compat::zip::held::Held;
use crate::zip_compat::zip::sources::Found;
use crate::zip_compat::zip::split::{self, Divided};
use crate::zip_compat::zip::write::{self, Done, Job};
use crate::zip_compat::zip::{apply, input, say, warnings};

/// Writes the archive, tests it, and makes it appear.
pub(super) fn make(
    line: &Line,
    found: &Found,
    plan: &Plan,
    held: Option<&Held>,
    output: &Path,
) -> Ended<u8> {
    let part_bytes = split::part_bytes(line, held, output)?;
    let to_stdout = target::is_stdout(output);
    if to_stdout && io::stdout().is_terminal() {
        return Err(Stop::new(
            code::USAGE,
            Failure::new("an archive is not written to a terminal").help("redirect it"),
        ));
    }
    if line.tests && to_stdout {
        return Err(Stop::new(
            code::USAGE,
            Failure::new("option -T cannot test standard output").help("name a file"),
        ));
    }
    let password = ask_password(line)?;
    if password.is_some() && plan.packed().next().is_some() {
        let text = "entries are encrypted with AES-256: this unzip, 7-Zip and WinZip read it, Info-ZIP's unzip does not";
        warnings::warn(line, text);
    }
    // Comments are read when all names are known, and before anything is written.
    let comments = match line.entry_comments {
        true => entry_comments(line, found, plan, held)?,
        false => HashMap::new(),
    };
    let old = held.map(|held| held.reader.directory().comment().to_vec());
    // Of an archive that is only compared with, its comment is all that is in the new one.
    let held = held.filter(|_| line.action != Action::Difference);
    let comment = match line.comment {
        true => {
            if !line.quiet {
                say::print(
                    "enter the comment of the archive; a line with a dot ends it:\n",
                    to_stdout,
                );
            }
            input::comment()?
        }
        false => old.unwrap_or_default(),
    };
    let metadata = held.map(|held| &held.metadata);
    let target = target(output, metadata)?;
    let job = Job {
        line,
        found,
        plan,
        reader: held.map(|held| &held.reader),
        comment: comment.clone(),
        encryption: password.clone().map(Encryption::new),
        comments: comments.clone(),
    };
    let done = job.write(target.writer())?;
    if to_stdout {
        if !line.quiet {
            say::print(&say::changes(line, found, plan, &done, None), true);
        }
        target
            .commit()
            .map_err(|error| Stop::new(code::WRITE, error.into()))?;
        return Ok(finish(line, found, plan, &done, held));
    }
    let (target, packed) = match comments.is_empty() {
        true => (target, None),
        false => commented(line, found, target, output, metadata, comment, comments)?,
    };
    let file = target.writer();
    let written = write::written(file.file())?;
    let divided = match part_bytes {
        Some(bytes) => Divided::of(found, &written, output, bytes)?,
        None => None,
    };
    if !line.quiet {
        say::print(
            &say::changes(line, found, plan, &done, Some(&written)),
            false,
        );
    }
    if done.entries == 0 {
        warnings::warn(line, "the archive is empty");
    }
    if line.tests {
        match (&line.tester, target.temporary_path()) {
            (Some(tester), Some(path)) => apply::test_by(tester, path)?,
            _ => apply::test(written, password)?,
        }
        if !line.quiet {
            say::print(&format!("test of {} OK\n", shown::path(output)), false);
        }
    }
    drop(packed);
    match divided {
        Some(divided) => divided.appear(line, &write::written(file.file())?, output)?,
        None => {
            let shared = has_other_names(output);
            apply::appear(target, metadata)?;
            if shared {
                let name = output.display();
                let text = format!(
                    "'{name}' had other names (hard links), which keep the archive as it was"
                );
                warnings::warn(line, &text);
            }
            if line.latest {
                apply::stamp(output)?;
            }
        }
    }
    Ok(finish(line, found, plan, &done, held))
}

/// Whether a file has several names, which are hard links.
fn has_other_names(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.nlink() > 1)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Where the archive is written. One that exists and is protected from writing stays, as with Info-ZIP, although another
/// file could take its name.
fn target(output: &Path, metadata: Option<&Metadata>) -> Ended<Target> {
    let exists = !target::is_stdout(output) && output.is_file();
    if exists && let Err(error) = File::options().write(true).open(output) {
        let failure = Failure::io("write", output, &error);
        return Err(Stop::new(code::CREATE, failure));
    }
    let exit = if exists {
        code::TEMPORARY
    } else {
        code::CREATE
    };
    Target::create(output, true, metadata, context()).map_err(|error| Stop::new(exit, error.into()))
}

/// Removes what moved, and gives the exit code.
fn finish(line: &Line, found: &Found, plan: &Plan, done: &Done, held: Option<&Held>) -> u8 {
    if line.moves {
        apply::remove(found, plan, done, held);
    }
    if !done.unread.is_empty() {
        let files = counted(done.unread.len() as u64, ["file", "files"]);
        message::remark(&format!("{files} could not be read"));
    }
    match done.unread.is_empty() {
        true => found.code(),
        false => code::OPEN,
    }
}

/// The password for new entries.
pub(super) fn ask_password(line: &Line) -> Ended<Option<Password>> {
    match &line.password {
        Some(bytes) if bytes.is_empty() => Err(Stop::new(
            code::USAGE,
            Failure::new("option -P: the password is empty").help("write it behind -P"),
        )),
        Some(bytes) => Ok(Some(Password::new(bytes.clone()))),
        None if line.encrypts => password::new(&PasswordSource::Terminal)
            .map(Some)
            .map_err(|failure| Stop::new(code::USAGE, failure)),
        None => Ok(None),
    }
}

/// A comment for each entry that is packed, or for every entry where none is, from standard input.
fn entry_comments(
    line: &Line,
    found: &Found,
    plan: &Plan,
    held: Option<&Held>,
) -> Ended<HashMap<String, Vec<u8>>> {
    let mut names: Vec<String> = plan
        .packed()
        .map(|(item, _)| found.items[item].name.clone())
        .collect();
    if let Some(held) = held.as_ref().filter(|_| names.is_empty()) {
        let entries = held.reader.entries().flatten();
        names = entries
            .map(|entry| entry.name_lossy().into_owned())
            .collect();
    }
    let mut comments = HashMap::new();
    for name in names {
        if !line.quiet {
            say::print(
                &format!("enter the comment of {}:\n", shown::name(&name)),
                false,
            );
        }
        match input::line()? {
            Some(comment) => comments.insert(name, comment),
            None => break,
        };
    }
    Ok(comments)
}

/// Writes the archive once more, with the comments of its entries.
fn commented(
    line: &Line,
    found: &Found,
    target: Target,
    output: &Path,
    metadata: Option<&Metadata>,
    comment: Vec<u8>,
    comments: HashMap<String, Vec<u8>>,
) -> Ended<(Target, Option<Target>)> {
    let file = target.writer();
    let reader = write::written(file.file())?;
    let entries = reader.entries().flatten();
    let plan = Plan {
        steps: entries.map(|entry| Step::Keep(entry.position())).collect(),
        ..Plan::default()
    };
    let second = Target::create(output, true, metadata, context())
        .map_err(|error| Stop::new(code::CREATE, error.into()))?;
    let job = Job {
        line,
        found,
        plan: &plan,
        reader: Some(&reader),
        comment,
        encryption: None,
        comments,
    };
    job.write(second.writer())?;
    Ok((second, Some(target)))
}
