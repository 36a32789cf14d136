//! Questions before files are replaced, and before encrypted entries are read.

use std::collections::HashSet;
use std::io::{self, BufRead as _, Read as _};

use zipstream::{ArchiveReader, Decryption, Password, ReadAt};

use crate::term::{message, password};
use crate::zip_compat::ended::{Ended, Stop, unzip as code};
use crate::zip_compat::unzip::choice::Chosen;
use crate::zip_compat::unzip::flags::Line;
use crate::zip_compat::unzip::selection::shorten;

/// The longest answer that is read.
const ANSWER_BYTES_MAX: u64 = 1024;

/// What the user wants of files that exist.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Entries that are left out, by the positions of their records.
    pub(super) kept: HashSet<u64>,
    /// Whether the answers ended before the questions.
    pub(super) ended: bool,
}

/// Asks for each of these entries, which have a file, whether it is replaced.
pub(super) fn replace(existing: &[&Chosen]) -> Answers {
    let mut answers = Answers::default();
    let mut stdin = io::stdin().lock();
    for (at, one) in existing.iter().enumerate() {
        let wants = loop {
            message::ask(&format!(
                "replace '{}' (y: yes, n: no, A: all, N: none)?",
                shorten(&one.target)
            ));
            let mut answer = Vec::new();
            let read = stdin
                .by_ref()
                .take(ANSWER_BYTES_MAX)
                .read_until(b'\n', &mut answer);
            if !read.is_ok_and(|bytes| bytes > 0) {
                message::status("no answer: files that exist are kept");
                answers.ended = true;
                answers.keep(&existing[at..]);
                return answers;
            }
            match answer.first() {
                Some(b'y' | b'Y') => break true,
                Some(b'n') => break false,
                Some(b'A') => return answers,
                Some(b'N') => {
                    answers.keep(&existing[at..]);
                    return answers;
                }
                _ => message::status("other names are not served: extract elsewhere with -d"),
            }
        };
        if !wants {
            answers.keep(&existing[at..=at]);
        }
    }
    answers
}

impl Answers {
    fn keep(&mut self, existing: &[&Chosen]) {
        self.kept.extend(existing.iter().map(|one| one.position));
    }
}

/// Gives the reader the password of the command line, or asks for one.
pub(super) fn unlock<R: ReadAt>(
    line: &Line,
    reader: &mut ArchiveReader<R>,
    encrypted: bool,
) -> Ended<()> {
    if !encrypted {
        return Ok(());
    }
    let password = match &line.password {
        Some(bytes) => Some(Password::new(bytes.clone())),
        None => password::ask("password of the archive:")
            .map_err(|failure| Stop::new(code::NO_PASSWORD, failure))?,
    };
    reader.set_decryption(password.map(Decryption::new));
    Ok(())
}
