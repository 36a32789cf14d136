//! `zip -s`: an archive that is written in parts.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use files::rights::Rights;
use files::target::{self, Target};
use files::targets::Targets;
use files::{conflicts, output::Output};
use zipstream::ArchiveReader;
use zipstream::combine::{Parts, SplitArchive, part_path};

use crate::failure::Failure;
use crate::io::context;
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::newest::newest;
use crate::zip_compat::zip::flags::{Action, Line};
use crate::zip_compat::zip::held::Held;
use crate::zip_compat::zip::sources::Found;
use crate::zip_compat::zip::values::{Split, refuse};
use crate::zip_compat::zip::write::failed;

/// More parts than these are not held open until the last one is complete.
const TOGETHER_MAX: usize = 256;

/// Refuses what cannot be done in parts.
pub(super) fn check(line: &Line) -> Ended<()> {
    if !matches!(line.split, Split::Parts(_)) {
        return Ok(());
    }
    let not_with = match line.action {
        Action::Adjust => "-A",
        Action::Fix => "-F",
        Action::Recover => "-FF",
        _ if line.grows => "-g",
        _ => return Ok(()),
    };
    Err(refuse(
        &format!("options -s and {not_with} do not go together"),
        "split the archive afterwards: zip -s SIZE ARCHIVE -O NEW",
    ))
}

/// The most bytes of a part, if the archive is written in parts.
pub(super) fn part_bytes(line: &Line, held: Option<&Held>, output: &Path) -> Ended<Option<u64>> {
    let bytes = match line.split {
        Split::Parts(bytes) => Some(bytes),
        Split::AsItIs if line.action != Action::Fix => {
            held.and_then(|held| held.reader.source().part_bytes())
        }
        _ => None,
    };
    if bytes.is_none() {
        return Ok(None);
    }
    if target::is_stdout(output) {
        return Err(refuse(
            "option -s: standard output has no parts",
            "name an archive",
        ));
    }
    let suffix = output.extension();
    if !suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case("zip")) {
        return Err(refuse(
            &format!("'{}' cannot be split", output.display()),
            "name an archive that ends with .zip: its parts end with .z01 and so on",
        ));
    }
    Ok(bytes)
}

/// An archive that was written as a whole, and the parts that it will appear in.
pub(super) struct Divided {
    split: SplitArchive,
    paths: Vec<PathBuf>,
}

impl Divided {
    /// Divides the archive, if it does not fit into one part. Refuses what cannot appear, before anything is said of
    /// the archive.
    pub(super) fn of(
        found: &Found,
        reader: &ArchiveReader<&File>,
        output: &Path,
        bytes: u64,
    ) -> Ended<Option<Self>> {
        let split = SplitArchive::of(reader, bytes).map_err(|error| failed(&error))?;
        if split.parts() < 2 {
            return Ok(None);
        }
        let paths = paths(output, split.parts());
        check_sources(found, &paths)?;
        if paths.len() > TOGETHER_MAX {
            check_places(&paths)?;
        }
        Ok(Some(Self { split, paths }))
    }

    /// Makes the parts appear.
    pub(super) fn appear(
        &self,
        line: &Line,
        reader: &ArchiveReader<&File>,
        output: &Path,
    ) -> Ended<()> {
        let Self { split, paths } = self;
        let stale = stale(output, split.parts());
        let newest = line.latest.then(|| newest(reader)).flatten();
        match paths.len() > TOGETHER_MAX {
            true => in_turn(reader, split, paths, newest)?,
            false => together(reader, split, paths, newest)?,
        }
        for path in stale {
            // They are parts of the archive that was replaced.
            let _ = std::fs::remove_file(path);
        }
        Ok(())
    }
}

/// The paths of all parts.
fn paths(output: &Path, parts: usize) -> Vec<PathBuf> {
    let others = (1..parts).map(|number| {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        part_path(output, number)
    });
    others.chain([output.to_owned()]).collect()
}

/// Refuses to write a part over a file that is packed.
fn check_sources(found: &Found, paths: &[PathBuf]) -> Ended<()> {
    for written in paths.iter().filter_map(|path| conflicts::written(path)) {
        if let Some(item) = found.items.iter().find(|item| written.is(&item.path)) {
            let name = item.path.display();
            return Err(refuse(
                &format!("'{name}' is packed, and a part of the archive would replace it"),
                "name another archive, or leave the file out with -x",
            ));
        }
    }
    Ok(())
}

/// Refuses parts that are written one after the other over files that exist.
fn check_places(paths: &[PathBuf]) -> Ended<()> {
    let exists = |path: &&PathBuf| path.symlink_metadata().is_ok();
    let Some(path) = paths.iter().find(exists) else {
        return Ok(());
    };
    let name = path.display();
    Err(refuse(
        &format!("'{name}' exists, and more than {TOGETHER_MAX} parts replace no file"),
        "remove it, name another archive, or make larger parts",
    ))
}

/// Parts of the split archive at `output` that a new one of fewer parts does not replace.
fn stale(output: &Path, parts: usize) -> Vec<PathBuf> {
    let old = File::open(output).ok();
    let old = old.and_then(|old| Parts::count(&old).ok()).unwrap_or(0);
    let first = u32::try_from(parts).unwrap_or(u32::MAX);
    (first..old)
        .map(|number| part_path(output, number))
        .collect()
}

/// Writes one part.
fn write(
    reader: &ArchiveReader<&File>,
    split: &SplitArchive,
    number: usize,
    target: &Target,
    newest: Option<SystemTime>,
) -> Ended<()> {
    let mut output: Output = target.writer();
    let done = split.write_part(number, reader.source(), &mut output);
    done.map_err(|error| failed(&error))?;
    target.settle_rights(None, &Rights::default());
    // As Info-ZIP has it, the last part alone has the time of the archive.
    if let Some(newest) = newest.filter(|_| number + 1 == split.parts()) {
        let set = output.file().set_modified(newest);
        set.map_err(|error| Stop::new(code::WRITE, Failure::from(target.error(error))))?;
    }
    Ok(())
}

/// Writes all parts before the first one appears.
fn together(
    reader: &ArchiveReader<&File>,
    split: &SplitArchive,
    paths: &[PathBuf],
    newest: Option<SystemTime>,
) -> Ended<()> {
    let failed = |error: files::Error| Stop::new(code::CREATE, error.into());
    let targets = Targets::create(paths, true, context()).map_err(failed)?;
    for (number, target) in targets.iter().enumerate() {
        write(reader, split, number, target, newest)?;
    }
    targets.commit().map_err(failed)
}

/// Writes part after part. The archive is complete when its last one appears.
fn in_turn(
    reader: &ArchiveReader<&File>,
    split: &SplitArchive,
    paths: &[PathBuf],
    newest: Option<SystemTime>,
) -> Ended<()> {
    let mut made = Made::default();
    for (number, path) in paths.iter().enumerate() {
        let failed = |error: files::Error| Stop::new(code::CREATE, error.into());
        let target = Target::create(path, false, None, context()).map_err(failed)?;
        write(reader, split, number, &target, newest)?;
        target.commit().map_err(failed)?;
        made.0.push(path);
    }
    made.0.clear();
    Ok(())
}

/// Parts of an archive that is not complete; removed on drop.
#[derive(Default)]
struct Made<'a>(Vec<&'a Path>);

impl Drop for Made<'_> {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}
