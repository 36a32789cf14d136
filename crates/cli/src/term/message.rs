//! Errors and warnings on standard error, and messages of the argument parser.
//!
//! All of them may contain file names and arguments, so all of them go through [`plain::message`], or what a program
//! whose name is served has in its place.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use report::ExitStatus;

use super::color::{BAD, FAINT, WARN, write_stderr, write_stdout};
use super::plain;
use crate::args::Answer;
use crate::failure::Failure;

/// The name that messages start with, and whether failures are printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Voice {
    /// The name that a message starts with.
    pub(crate) name: &'static str,
    /// Whether failures are printed.
    pub(crate) failures: bool,
}

static VOICE: Mutex<Voice> = Mutex::new(Voice {
    name: "perfkit",
    failures: true,
});

/// Sets the voice for the rest of the process.
pub(crate) fn set_voice(voice: Voice) {
    *VOICE.lock().unwrap_or_else(PoisonError::into_inner) = voice;
}

/// How text is shown: control characters as signs.
type Notation = fn(&str) -> String;

static NOTATION: Mutex<Notation> = Mutex::new(plain::message);

/// Sets how text is shown for the rest of the process, for the names of programs that have a notation of their own.
pub(crate) fn set_notation(notation: Notation) {
    *NOTATION.lock().unwrap_or_else(PoisonError::into_inner) = notation;
}

fn shown(text: &str) -> String {
    let notation = *NOTATION.lock().unwrap_or_else(PoisonError::into_inner);
    notation(text)
}

/// The code of the last failure.
static CODE: AtomicU8 = AtomicU8::new(1);

/// The exit code of the last failure that was printed, for the names of programs that have codes of their own.
pub(crate) fn last_code() -> u8 {
    CODE.load(Ordering::Relaxed)
}

/// Hears errors and warnings as plain text.
type Listener = fn(&str);

static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

/// Sets who hears errors and warnings besides standard error.
pub(crate) fn set_listener(listener: Option<Listener>) {
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = listener;
}

fn heard(text: &str) {
    let listener = *LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(listener) = listener {
        listener(text);
    }
}

fn voice() -> Voice {
    *VOICE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints failures, with a `help:` line behind the last of those in a row that have the same.
pub(crate) fn failures(failures: &[Failure]) {
    for group in failures.chunk_by(|one, next| one.help_text() == next.help_text()) {
        for (at, one) in group.iter().enumerate() {
            print(one, at + 1 == group.len());
        }
    }
}

/// Prints `perfkit: MESSAGE` and, if there is one, a `help:` line.
pub(crate) fn failure(failure: &Failure) {
    print(failure, true);
}

fn print(failure: &Failure, helps: bool) {
    let Voice { name, failures } = voice();
    CODE.store(failure.named_code(), Ordering::Relaxed);
    if !failures {
        return;
    }
    let message = shown(failure.message());
    heard(&format!("{message}\n"));
    let mut text = format!("{BAD}{name}:{BAD:#} {message}\n");
    if let Some(help) = failure.help_text().filter(|_| helps) {
        text.push_str(&format!("{FAINT}help:{FAINT:#} {}\n", shown(help)));
    }
    // Nothing can be done when standard error itself is gone.
    let _ = write_stderr(text.as_bytes());
}

/// Prints a warning with its next step.
pub(crate) fn note(message: &str, help: &str) {
    let (message, help) = (shown(message), shown(help));
    let text = format!("{WARN}warning:{WARN:#} {message} {FAINT}({help}){FAINT:#}\n");
    let _ = write_stderr(text.as_bytes());
}

/// Prints the help or the error of the argument parser, and returns the exit status.
pub(crate) fn answer(answer: &Answer) -> ExitStatus {
    match answer {
        Answer::Mistake(text) => {
            let _ = write_stderr(text.as_bytes());
            ExitStatus::Usage
        }
        Answer::Asked(text) => match output(text.as_bytes()) {
            Ok(()) => ExitStatus::Ok,
            Err(error) => {
                failure(&error);
                error.exit_status()
            }
        },
    }
}

/// Writes the output of a command to standard output. A closed pipe, as with `| head`, is not an error.
pub(crate) fn output(bytes: &[u8]) -> crate::failure::Result<()> {
    match write_stdout(bytes) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::io("write", Path::new("standard output"), &error))
        }
        _ => Ok(()),
    }
}

/// Prints a warning that needs no next step.
pub(crate) fn remark(message: &str) {
    let message = shown(message);
    heard(&format!("warning: {message}\n"));
    let text = format!("{WARN}warning:{WARN:#} {message}\n");
    let _ = write_stderr(text.as_bytes());
}

/// Prints a line about what was done.
pub(crate) fn status(line: &str) {
    let _ = write_stderr(format!("{}\n", shown(line)).as_bytes());
}

/// Prints a line of parts with tabs between them. Empty parts are left out.
pub(crate) fn tabbed(parts: &[String]) {
    let parts = parts.iter().filter(|part| !part.is_empty());
    let parts: Vec<_> = parts.map(|part| shown(part)).collect();
    let _ = write_stderr(format!("{}\n", parts.join("\t")).as_bytes());
}

/// Prints a question without a line end.
pub(crate) fn ask(question: &str) {
    let text = format!("{}: {} ", voice().name, shown(question));
    let _ = write_stderr(text.as_bytes());
}

/// Prints a plain line about what will happen.
pub(crate) fn line(text: &str) {
    let _ = write_stderr(format!("{FAINT}{}{FAINT:#}\n", shown(text)).as_bytes());
}
