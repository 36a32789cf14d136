//! The work of `unzip` and `zipinfo`.

use std::ffi::OsString;
use std::path::Path;

use crate::failure::Failure;
use crate::term::message;
use crate::zip_compat::ended::{Ended, Stop, unzip as code};
use crate::zip_compat::newest::newest;
use crate::zip_compat::shown;
use crate::zip_compat::unzip::flags::{Line, Mode};
use crate::zip_compat::unzip::selection::{comment, print};
use crate::zip_compat::unzip::{archives, contents, extract, flags, info, list, open};

pub(crate) const HELP: &str = "\
perfkit under the name of unzip: list, test and extract ZIP archives.

Usage: unzip [OPTIONS] ARCHIVE[.zip] [NAME...] [-x NAME...] [-d DIR]
       unzip -Z [OPTIONS of zipinfo] ARCHIVE[.zip] [NAME...] [-x NAME...]

A NAME is that of an entry, or a pattern with *, ? and [a-z], which match `/` too.
ARCHIVE may be a pattern as well: '*.zip'.

  -d DIR   extract into DIR             -o  overwrite without a question
  -n       keep files that exist        -u  new files, and those older than their entry
  -f       only files that are older    -j  without directories
  -x NAME  leave out                    -B  keep a copy of overwritten files: FILE~
  -W       * does not match '/', and ** does
  -C       compare names without case   -L  names of systems without case in lower case
  -P WORD  password (others can see it)
  -l  list    -v  list all    -t  test    -z  comment    -Z1  names only
  -p  contents to standard output         -c  the same with names
  -a  line ends of texts as here          -aa of all files
  -T  set the time of the archive         -q  quiet, -qq quieter
  -X  owners as stated                    -^  control characters stay in names of files
  -K  set-user-ID bits as stated          -:  names and links may lead out of DIR

zipinfo: -1 -2 names  -s short  -m medium  -l long  -v all  -h header  -t totals  -z comment
         -T sortable times

What differs from Info-ZIP: docs/zip.md. The command with all features is `perfkit unzip`.
";

/// Runs a command line; `info`: as `zipinfo`.
pub(in crate::zip_compat) fn run(words: &[OsString], info_program: bool) -> Ended<u8> {
    let mut line = flags::parse(words, info_program)?;
    if line.mode == Mode::Help {
        print(HELP)?;
        return Ok(0);
    }
    if line.directory.is_some() && line.mode != Mode::Extract && line.quiet == 0 {
        message::remark("nothing is extracted: option -d has no effect");
    }
    archives::each(&mut line, one)
}

/// Does what the line says with one archive.
fn one(line: &mut Line, archive: &Path) -> Ended<u8> {
    let mut opened = open::open(archive, &line.read_options())?;
    match line.mode {
        Mode::List | Mode::Verbose => list::list(line, &opened),
        Mode::Info => info::info(line, &opened),
        Mode::Comment => {
            let mut text = String::new();
            if line.quiet == 0 {
                text = format!("Archive:  {}\n", shown::path(&opened.path));
            }
            text.push_str(&comment(&opened.reader));
            print(&text)?;
            Ok(opened.code)
        }
        Mode::Stamp => stamp(line, &opened),
        Mode::Test | Mode::Pipe | Mode::Show => contents::contents(line, &mut opened),
        Mode::Extract | Mode::Help => extract::extract(line, &mut opened),
    }
}

/// Gives the archive the time of its newest entry that is no directory.
fn stamp(line: &Line, opened: &open::Opened) -> Ended<u8> {
    let Some(newest) = newest(&opened.reader) else {
        return Ok(code::NO_MATCH.max(opened.code));
    };
    let stamped = std::fs::OpenOptions::new().write(true).open(&opened.path);
    let stamped = stamped.and_then(|file| file.set_modified(newest));
    if let Err(error) = stamped {
        let failure = Failure::io("change", &opened.path, &error);
        return Err(Stop::new(code::DISK, failure));
    }
    if line.quiet == 0 {
        let text = format!("Updated time stamp for {}.\n", shown::path(&opened.path));
        print(&text)?;
    }
    Ok(opened.code)
}
