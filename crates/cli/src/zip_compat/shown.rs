//! Names and comments of archives in all that is printed and logged: characters that steer a terminal are shown as
//! Info-ZIP shows them, `^[` for the escape character.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use zipstream::Error;
use zipstream::extract::{Failed, Reason};

use crate::term::plain::{cut, is_unfit};

/// A name in a line with other words.
pub(super) fn name(text: &str) -> Cow<'_, str> {
    escaped(text, is_unfit)
}

/// A name in a list that programs read: letters that a terminal only sorts or hides stay, as they do in the lists
/// of Info-ZIP. At a terminal they are escaped like all output.
pub(super) fn listed(text: &str) -> Cow<'_, str> {
    escaped(text, char::is_control)
}

/// A comment, whose lines and tabs stay.
pub(super) fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| {
        is_unfit(letter) && !matches!(letter, '\n' | '\t')
    })
}

/// A message, of a length that leaves what is said around a long name on the screen.
pub(super) fn message(text: &str) -> String {
    name(&cut(text)).into_owned()
}

/// An error in an archive, with the name as it is: it is a message that shows it.
pub(super) fn error(error: &Error) -> String {
    let detail = error.detail();
    match error.entry_name() {
        Some(name) => format!("entry '{name}': {detail}"),
        None => detail.into_owned(),
    }
}

/// The same of an entry that was not extracted.
pub(super) fn failed(failed: &Failed) -> String {
    match &failed.reason {
        Reason::Archive(of_archive) => error(of_archive),
        _ => failed.to_string(),
    }
}

/// A path of this system.
pub(super) fn path(path: &Path) -> String {
    name(&path.to_string_lossy()).into_owned()
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if !is_escaped(letter) {
            out.push(letter);
            continue;
        }
        // Writing to a string cannot fail.
        let _ = match u32::from(letter) {
            code @ 0..=0x1f => write!(out, "^{}", char::from(b'@' + code as u8)),
            0x7f => write!(out, "^?"),
            code @ ..=0xffff => write!(out, "#U{code:04x}"),
            code => write!(out, "#L{code:06x}"),
        };
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown() {
        for (text, shown, listed_as) in [
            ("a\u{1b}[31m", "a^[[31m", "a^[[31m"),
            ("\0\t\n\r\u{1f}", "^@^I^J^M^_", "^@^I^J^M^_"),
            ("\u{7f}\u{80}\u{9b}x", "^?#U0080#U009bx", "^?#U0080#U009bx"),
            ("gpj.\u{202e}exe", "gpj.#U202eexe", "gpj.\u{202e}exe"),
            ("\u{e0041}", "#L0e0041", "\u{e0041}"),
            (
                "naïve 日本語 C:\\x",
                "naïve 日本語 C:\\x",
                "naïve 日本語 C:\\x",
            ),
            ("", "", ""),
        ] {
            assert_eq!(name(text), shown);
            assert_eq!(listed(text), listed_as);
        }
        assert_eq!(
            lines("one\n\ttwo\u{7}\u{1b}[1m\u{9b}"),
            "one\n\ttwo^G^[[1m#U009b"
        );
        assert_eq!(path(Path::new("a\u{1b}c")), "a^[c");
        assert_eq!(message("no 'a\u{1}\n'"), "no 'a^A^J'");
    }
}
