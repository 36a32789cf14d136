//! Passwords: from a file, or typed on the terminal without echo.
//!
//! `rpassword` would do for the terminal, but a password here is bytes, not UTF-8 text, of bounded length, and
//! standard input is asked first if it is a terminal.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use zipstream::Password;

use crate::args::password::PasswordSource;
use crate::failure::{Failure, Result};

/// The longest password.
const PASSWORD_BYTES_MAX: u64 = 1024;

/// The password of a new archive: from its file, or typed twice.
pub(crate) fn new(source: &PasswordSource) -> Result<Password> {
    if let PasswordSource::File(path) = source {
        return read(path);
    }
    let none = || {
        Failure::usage("cannot ask for the password: there is no terminal")
            .help("put the password in a file: --password-file FILE")
    };
    let one = terminal::ask("password:")?.ok_or_else(none)?;
    if one.is_empty() {
        return Err(empty());
    }
    let other = terminal::ask("the same again:")?.ok_or_else(none)?;
    if one != other {
        return Err(Failure::usage("the two passwords differ"));
    }
    Ok(Password::new(one))
}

/// Asks for the password of an existing archive; `None` without a terminal.
pub(crate) fn ask(question: &str) -> Result<Option<Password>> {
    Ok(terminal::ask(question)?.map(Password::new))
}

/// The password in a file: its only line, without the line end.
pub(crate) fn read(path: &Path) -> Result<Password> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(PASSWORD_BYTES_MAX + 3).read_to_end(&mut bytes))
        .map_err(|error| Failure::io("read", path, &error))?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
    if bytes.is_empty() {
        return Err(empty());
    }
    if bytes.len() as u64 > PASSWORD_BYTES_MAX || bytes.contains(&b'\n') {
        let name = path.display();
        return Err(Failure::usage(format!(
            "'{name}' is not a password file: it has more than one line of up to {PASSWORD_BYTES_MAX} bytes"
        ))
        .help("the file must contain only the password"));
    }
    Ok(Password::new(bytes))
}

fn empty() -> Failure {
    Failure::usage("the password is empty")
}

#[cfg(unix)]
mod terminal {
    use std::fs::{File, OpenOptions};
    use std::io::{self, IsTerminal as _, Read as _};
    use std::os::fd::AsFd as _;
    use std::path::Path;

    use rustix::termios::{
        LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
    };

    use super::PASSWORD_BYTES_MAX;
    use crate::failure::{Failure, Result};
    use crate::term::message;
    use report::ExitStatus;

    const INTERRUPT: u8 = 3;
    const END: u8 = 4;
    const BACKSPACE: u8 = 8;
    const KILL: u8 = 21;
    const DELETE: u8 = 127;

    /// A terminal with echo off, until it is dropped.
    struct Silent {
        file: File,
        before: Termios,
    }

    impl Silent {
        /// Standard input if it is a terminal, else the terminal of the process if it has one.
        fn open() -> io::Result<Option<Self>> {
            let stdin = io::stdin();
            let file = if stdin.is_terminal() {
                File::from(stdin.as_fd().try_clone_to_owned()?)
            } else {
                match OpenOptions::new().read(true).open("/dev/tty") {
                    Ok(file) => file,
                    Err(_) => return Ok(None),
                }
            };
            let before = tcgetattr(&file)?;
            let mut silent = before.clone();
            // No signals from keys: one that ended the process would leave echo off.
            silent
                .local_modes
                .remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
            silent.special_codes[SpecialCodeIndex::VMIN] = 1;
            silent.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(&file, OptionalActions::Flush, &silent)?;
            Ok(Some(Self { file, before }))
        }

        /// Reads a line; `None` if the user pressed Ctrl-C.
        fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
            let mut line = Vec::new();
            let mut byte = [0];
            loop {
                if self.file.read(&mut byte)? == 0 {
                    return Ok(Some(line));
                }
                match byte[0] {
                    b'\r' | b'\n' | END => return Ok(Some(line)),
                    INTERRUPT => return Ok(None),
                    KILL => line.clear(),
                    BACKSPACE | DELETE => {
                        // A character may have several bytes.
                        while line.pop().is_some_and(|last| last & 0xc0 == 0x80) {}
                    }
                    other if (line.len() as u64) < PASSWORD_BYTES_MAX => line.push(other),
                    _ => {}
                }
            }
        }
    }

    impl Drop for Silent {
        fn drop(&mut self) {
            let _ = tcsetattr(&self.file, OptionalActions::Flush, &self.before);
        }
    }

    /// Asks; `None` without a terminal.
    pub(super) fn ask(question: &str) -> Result<Option<Vec<u8>>> {
        let failed = |error: io::Error| Failure::io("read", Path::new("/dev/tty"), &error);
        let Some(mut silent) = Silent::open().map_err(failed)? else {
            return Ok(None);
        };
        message::ask(question);
        let line = silent.line().map_err(failed)?;
        message::status("");
        line.map(Some)
            .ok_or_else(|| Failure::new("interrupted").status(ExitStatus::Interrupted))
    }
}

#[cfg(not(unix))]
mod terminal {
    use crate::failure::Result;

    /// Not supported on this system.
    pub(super) fn ask(_: &str) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_file_has_one_line() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("password");
        let check = |content: &[u8], right: bool| {
            std::fs::write(&path, content).expect("written");
            assert_eq!(read(&path).is_ok(), right, "{content:?}");
        };
        for right in [&b"p"[..], b"p\n", b"p w\r\n", &[b'x'; 1024]] {
            check(right, true);
        }
        for wrong in [&b""[..], b"\n", b"two\nlines\n", &[b'x'; 1025]] {
            check(wrong, false);
        }
    }
}
