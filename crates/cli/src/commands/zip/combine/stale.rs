//! Parts that an earlier, longer run of `--split` has left, which would look like parts of this one.

use std::fs::File;
use std::path::{Path, PathBuf};

use files::{conflicts, url};
use zipstream::ArchiveReader;

use super::flags::padded;
use crate::failure::{Failure, Result};

/// More digits than the number of any part has.
const DIGITS_MAX: usize = 9;

/// The parts of `output` that exist and are none of a run of `count`: they follow its last one, or have
/// numbers of another length and start with the first.
pub(super) fn parts(output: &Path, count: usize) -> Vec<PathBuf> {
    let local = match url::of(output) {
        Some(url) => url::local(url),
        None => Some(output.to_owned()),
    };
    // What an object store has is not listed.
    let Some(output) = local else {
        return Vec::new();
    };
    let own = count.to_string().len();
    let mut found = Vec::new();
    for digits in 1..=DIGITS_MAX {
        let first = if digits == own { count + 1 } else { 1 };
        let numbers = (first..).take_while(|number| number.to_string().len() <= digits);
        let paths = numbers.map(|number| padded(&output, number, digits));
        found.extend(paths.take_while(|path| is_file(path)));
    }
    found
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// Refuses old parts that nothing allows to remove, and to write or remove what is read.
pub(super) fn check<'a>(
    written: impl Iterator<Item = &'a PathBuf>,
    stale: &'a [PathBuf],
    sources: &[PathBuf],
    force: bool,
) -> Result<()> {
    for path in written.chain(stale) {
        let Some(target) = conflicts::written(path) else {
            continue;
        };
        if sources.iter().any(|source| target.is(source)) {
            let name = path.display();
            return Err(Failure::usage(format!(
                "'{name}' is an archive that is read and a part that is written"
            ))
            .help("name another OUT: its parts get numbers"));
        }
    }
    match stale.first().filter(|_| !force) {
        None => Ok(()),
        Some(path) => {
            let name = path.display();
            Err(Failure::new(format!(
                "'{name}' exists already and would look like a part of this run"
            ))
            .help("add --force to remove parts of earlier runs, or name another OUT"))
        }
    }
}

/// Removes old parts, when the new ones are complete.
pub(super) fn remove(stale: &[PathBuf]) -> Result<()> {
    for path in stale {
        let failed = |error: std::io::Error| Failure::io("remove", path, &error);
        if ArchiveReader::open(File::open(path).map_err(failed)?).is_err() {
            let name = path.display();
            return Err(Failure::new(format!(
                "'{name}' has the name of a part, but is not a ZIP archive, and stays"
            ))
            .help("the new parts are complete; move that file away"));
        }
        std::fs::remove_file(path).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_parts_follow_the_last_one_or_have_numbers_of_another_length() {
        let directory = tempfile::tempdir().expect("a directory");
        for name in [
            "e-1.zip",
            "e-2.zip",
            "e-3.zip",
            "e-5.zip",
            "e-01.zip",
            "e-02.zip",
            "e-2026.zip",
            "f-4.zip",
        ] {
            std::fs::write(directory.path().join(name), b"").expect("written");
        }
        let found = parts(&directory.path().join("e.zip"), 2);
        let names: Vec<_> = found
            .iter()
            .filter_map(|path| path.file_name()?.to_str())
            .collect();
        assert_eq!(names, ["e-3.zip", "e-01.zip", "e-02.zip"]);
        let found = parts(&directory.path().join("e.zip"), 12);
        assert_eq!(found.len(), 3);
    }
}
