//! What `perfkit zip` refuses before it opens or replaces anything.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use files::{target, url};
use zipstream::ArchiveReader;

use crate::commands::zip::flags::ZipArgs;
use crate::commands::zip::listed::{Listed, Source};
use crate::commands::zip::plan::ZipPlan;
use crate::failure::{Failure, Result};
use crate::io::open;

/// The same with the path of an archive on this machine that a URL names. An archive in an object store is
/// written as a whole: changing it would need all of it here.
pub(super) fn here(args: &ZipArgs, changes: bool) -> Result<ZipArgs> {
    let mut args = args.clone();
    let Some(url) = url::of(&args.output) else {
        return Ok(args);
    };
    match url::local(url) {
        Some(path) => args.output = path,
        None if changes => {
            return Err(Failure::usage(format!(
                "'{url}' is in an object store and cannot be changed in place"
            ))
            .help(
                "copy it to a file (aws s3 cp, gcloud storage cp, azcopy cp), change that and copy it \
                 back; or pack all of it again with --force",
            ));
        }
        None => {}
    }
    Ok(args)
}

/// Refuses what can only end badly, before anything is opened.
pub(super) fn badly_ending(args: &ZipArgs) -> Result<()> {
    let dashes = args.paths.iter().chain(&args.from_file);
    let dashes = dashes.filter(|path| path.as_os_str() == "-").count();
    if dashes + usize::from(args.read_comment) > 1 {
        return Err(Failure::usage("standard input is named twice")
            .help("it is one of: PATH -, --from-file -, -z"));
    }
    if dashes > 0 && !args.force && std::io::stdin().is_terminal() {
        return Err(Failure::usage("standard input is a terminal")
            .help("name a file, or pipe data in; see --help"));
    }
    let to_stdout = target::is_stdout(&args.output);
    let terminal = if to_stdout {
        std::io::stdout().is_terminal()
    } else {
        target::is_terminal(&args.output)
    };
    if terminal && !args.force {
        return Err(Failure::usage("an archive is not written to a terminal")
            .help("redirect it, name a file, or add --force"));
    }
    Ok(())
}

/// Refuses to replace a file that is not an archive, whatever the flags: a file that was meant to be
/// packed, but is named first, would be lost.
pub(super) fn other_files(args: &ZipArgs, plan: &ZipPlan) -> Result<()> {
    let path = match args.repair {
        true => &args.paths[0],
        false => &args.output,
    };
    if plan.edit.is_some() || target::is_stdout(path) || url::of(path).is_some() {
        return Ok(());
    }
    let (file, metadata) = match open::regular(path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(Failure::io("read", path, &error));
        }
        // The target reports what does not exist or is not a file.
        Err(_) => return Ok(()),
    };
    if metadata.len() == 0 || is_archive(file) {
        return Ok(());
    }
    let name = path.display();
    Err(Failure::usage(format!(
        "'{name}' is not a ZIP archive, and an archive would replace it"
    ))
    .help("the first name is the archive: perfkit zip OUT PATH...; to use this name, move the file away first"))
}

/// Whether a file is an archive, or the start of one.
fn is_archive(file: File) -> bool {
    let mut start = [0; 4];
    let read = zipstream::ReadAt::read_at(&file, &mut start, 0);
    let starts = matches!(&start, b"PK\x03\x04" | b"PK\x05\x06" | b"PK\x07\x08");
    (starts && read.is_ok_and(|bytes| bytes == start.len())) || ArchiveReader::open(file).is_ok()
}

/// Refuses to compare times of objects with those of entries, and to remove objects.
pub(super) fn objects(args: &ZipArgs, sources: &Listed) -> Result<()> {
    let flags = [
        (args.moves, "--move"),
        (args.update, "--update"),
        (args.freshen, "--freshen"),
        (args.filesync, "--filesync"),
    ];
    let Some((_, flag)) = flags.into_iter().find(|(is_set, _)| *is_set) else {
        return Ok(());
    };
    match sources.iter().find(Source::is_object) {
        Some(object) => {
            let name = object.path.display();
            Err(
                Failure::usage(format!("{flag} is for files, and '{name}' is an object"))
                    .help("make a new archive, or add objects to this one with --append"),
            )
        }
        None => Ok(()),
    }
}

/// An archive of nothing is no use to anybody, and mostly a sign of a mistake.
pub(super) fn nothing(plan: &ZipPlan) -> Failure {
    let selection = &plan.selection;
    if selection.include.is_empty() && selection.exclude.is_empty() {
        return Failure::new("there is nothing to pack, so no archive is made")
            .help("name files, or directories with -r");
    }
    Failure::new("-i and -x leave nothing to pack, so no archive is made")
        .help("patterns are compared with whole names, as perfkit unzip -1 lists them")
}

/// A list of files without a name.
pub(super) fn empty_list(list: &Path) -> Failure {
    let name = match list.as_os_str() == "-" {
        true => "standard input".to_owned(),
        false => format!("'{}'", list.display()),
    };
    Failure::new(format!("{name} names no file, so nothing is packed"))
        .help("--from-file reads one path per line; see what makes the list")
}

/// The archive would replace its only source.
pub(super) fn only_itself(archive: &Path) -> Failure {
    let name = match target::is_stdout(archive) {
        true => "standard output goes to a file that".to_owned(),
        false => format!("'{}'", archive.display()),
    };
    Failure::usage(format!("{name} is both the archive and its only source"))
        .help("the first name is the archive, sources follow: perfkit zip OUT PATH...")
}
