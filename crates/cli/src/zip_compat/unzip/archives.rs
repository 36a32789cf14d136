//! The archives that a name means: one, or all that match a pattern, each opened and worked on, and their summary.

use std::path::{Path, PathBuf};

use crate::args::glob::Glob;
use crate::term::message;
use crate::zip_compat::ended::{Ended, Stop, unzip as code};
use crate::zip_compat::unzip::flags::{Line, Mode};
use crate::zip_compat::unzip::selection::print;

/// What is done with an archive: its exit code.
type Work = fn(&mut Line, &Path) -> Ended<u8>;

/// The quietness from which on there is no summary.
const QUIETEST: u8 = 3;

/// Works on the archives that the line names; returns the largest of their exit codes.
pub(super) fn each(line: &mut Line, work: Work) -> Ended<u8> {
    let pattern = line.archive.clone();
    let Some(glob) = pattern_of(&pattern) else {
        return work(line, &pattern);
    };
    let mut found = matching(&pattern, &glob);
    if found.is_empty() {
        // A file may have this very name.
        found.push(pattern);
    }
    let (mut tally, mut worst, mut before) = (Tally::default(), 0, 0);
    for path in found {
        if path.is_dir() {
            tally.directories += 1;
            continue;
        }
        let separated = line.quiet == 0 && !matches!(line.mode, Mode::Stamp | Mode::Pipe);
        if separated && before != code::NOT_FOUND && tally.archives() > 0 {
            print("\n")?;
        }
        line.members.forget();
        line.excludes.forget();
        let ended = match work(line, &path) {
            Ok(ended) => ended,
            Err(stop) if ends_all(&stop) => return Err(stop),
            Err(stop) => {
                if let Some(failure) = &stop.failure {
                    message::failure(failure);
                }
                stop.code
            }
        };
        tally.count(ended);
        worst = worst.max(ended);
        before = ended;
    }
    tally.say(line)?;
    Ok(worst)
}

/// Whether there is no use in further archives: the user stopped, nobody reads, or the disk is full.
fn ends_all(stop: &Stop) -> bool {
    stop.failure.is_none() || matches!(stop.code, code::INTERRUPTED | code::DISK)
}

/// The pattern in the last part of a path, if that is one.
fn pattern_of(path: &Path) -> Option<Glob> {
    let last = path.file_name()?.to_str()?;
    match last.contains(['*', '?', '[']) {
        true => last.parse().ok(),
        false => None,
    }
}

/// What is in the directory of a pattern and matches it, in the order of names. What starts with a dot is found by
/// patterns that do.
fn matching(pattern: &Path, glob: &Glob) -> Vec<PathBuf> {
    let parent = pattern.parent().unwrap_or(Path::new(""));
    let directory = match parent.as_os_str().is_empty() {
        true => Path::new("."),
        false => parent,
    };
    let asks_hidden = pattern
        .file_name()
        .is_some_and(|last| last.as_encoded_bytes().starts_with(b"."));
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| asks_hidden || !name.starts_with('.'))
        .filter(|name| glob.matches(name))
        .collect();
    names.sort_unstable();
    names.iter().map(|name| parent.join(name)).collect()
}

/// What came of archives.
#[derive(Debug, Default)]
struct Tally {
    whole: u64,
    warned: u64,
    failed: u64,
    missing: u64,
    directories: u64,
}

impl Tally {
    fn count(&mut self, ended: u8) {
        let kind = match ended {
            0 => &mut self.whole,
            code::WARNING => &mut self.warned,
            code::NOT_FOUND => &mut self.missing,
            _ => &mut self.failed,
        };
        *kind += 1;
    }

    /// Those that are no directories.
    fn archives(&self) -> u64 {
        self.whole + self.warned + self.failed + self.missing
    }

    /// Prints what came of all: nothing if there is one, and it is whole.
    fn say(&self, line: &Line) -> Ended<()> {
        let stamps = line.mode == Mode::Stamp;
        if line.quiet >= QUIETEST || line.mode == Mode::Pipe || (stamps && line.quiet > 1) {
            return Ok(());
        }
        let summary = self.summary();
        if summary.is_empty() {
            return Ok(());
        }
        let tests = line.mode == Mode::Test;
        let odd = self.archives() > self.whole || self.whole != 1;
        let apart = odd && !(stamps && line.quiet > 0) && !(tests && line.quiet > 1);
        let text = match apart {
            true => format!("\n{summary}"),
            false => summary,
        };
        match tests {
            true => print(&text),
            false => {
                text.lines().for_each(message::status);
                Ok(())
            }
        }
    }

    fn summary(&self) -> String {
        let plural = |count: u64, one: &'static str, more: &'static str| match count {
            1 => one,
            _ => more,
        };
        let others = self.archives() - self.whole + self.directories;
        let mut text = String::new();
        if self.whole > 1 || (self.whole == 1 && others > 0) {
            let were = plural(self.whole, " was", "s were");
            text.push_str(&format!(
                "{} archive{were} successfully processed.\n",
                self.whole
            ));
        }
        for (count, what) in [
            (self.warned, "had warnings but no fatal errors"),
            (self.failed, "had fatal errors"),
        ] {
            if count > 0 {
                text.push_str(&format!(
                    "{count} archive{} {what}.\n",
                    plural(count, "", "s")
                ));
            }
        }
        if self.missing > 0 {
            let files = plural(self.missing, "file", "files");
            text.push_str(&format!(
                "{} {files} had no zipfile directory.\n",
                self.missing
            ));
        }
        match self.directories {
            0 => {}
            1 => text.push_str("1 \"zipfile\" was a directory.\n"),
            count => text.push_str(&format!("{count} \"zipfiles\" were directories.\n")),
        }
        if self.archives() == self.missing {
            text.push_str("No zipfiles found.\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_files_of_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.zip", "a.zip", ".c.zip", "d.txt", "a1.zip"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let found = |pattern: &str| -> Vec<String> {
            let path = dir.path().join(pattern);
            let glob = pattern_of(&path).expect("a pattern");
            let found = matching(&path, &glob);
            let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
            found.iter().map(name).collect()
        };
        assert_eq!(found("*.zip"), ["a.zip", "a1.zip", "b.zip"]);
        assert_eq!(found(".*"), [".c.zip"]);
        assert_eq!(found("a?.zip"), ["a1.zip"]);
        assert_eq!(found("[ab].zip"), ["a.zip", "b.zip"]);
        assert_eq!(found("x*"), [""; 0]);
        assert!(pattern_of(Path::new("a.zip")).is_none());
        assert!(pattern_of(Path::new("a*/b.zip")).is_none());
    }

    #[test]
    fn the_summary_is_that_of_unzip() {
        let said = |codes: &[u8], directories: u64| {
            let mut tally = Tally::default();
            codes.iter().for_each(|code| tally.count(*code));
            tally.directories = directories;
            tally.summary()
        };
        assert_eq!(said(&[0], 0), "");
        assert_eq!(
            said(&[0, 0], 0),
            "2 archives were successfully processed.\n"
        );
        assert_eq!(
            said(&[0, 1, 2, 11, 9], 2),
            "1 archive was successfully processed.\n1 archive had warnings but no fatal errors.\n\
             2 archives had fatal errors.\n1 file had no zipfile directory.\n\
             2 \"zipfiles\" were directories.\n"
        );
        assert_eq!(
            said(&[9], 0),
            "1 file had no zipfile directory.\nNo zipfiles found.\n"
        );
        assert_eq!(
            said(&[], 1),
            "1 \"zipfile\" was a directory.\nNo zipfiles found.\n"
        );
    }
}
