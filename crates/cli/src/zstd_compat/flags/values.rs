//! Values of arguments, and the errors for wrong ones.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::slice::Iter;

use crate::failure::{Failure, Result};

/// The usage line.
pub(crate) const USAGE: &str = "usage: zstd [OPTIONS...] [INPUT... | -] [-o OUTPUT]; -h lists them";

/// A file, even if it is called `-`.
pub(super) fn named(word: &OsString) -> PathBuf {
    match word.to_str() {
        Some("-") => "./-".into(),
        _ => word.into(),
    }
}

/// The next argument, which must not be a flag.
pub(super) fn next(key: &str, line: &mut Iter<'_, OsString>) -> Result<PathBuf> {
    match line.next() {
        Some(word) if word.is_empty() || word.as_encoded_bytes().starts_with(b"-") => Err(
            Failure::new(format!("{key} and its value are separated by another flag"))
                .help("write a value that starts with a dash after `=`, or as ./-NAME"),
        ),
        Some(word) => Ok(word.into()),
        None => Err(missing(key)),
    }
}

pub(super) fn missing(key: &str) -> Failure {
    Failure::new(format!("{key} needs a value")).help(USAGE)
}

/// A number with an optional unit.
pub(super) fn sized(key: &str, value: &Path) -> Result<u64> {
    let text = value.to_str().unwrap_or_default();
    let mut rest = text;
    match number(&mut rest) {
        Some(size) if rest.is_empty() && text.starts_with(|c: char| c.is_ascii_digit()) => Ok(size),
        _ => Err(
            Failure::new(format!("{key} needs a number, not '{}'", value.display()))
                .help("use digits, then optionally K, KiB, M, MiB, G or GiB"),
        ),
    }
}

/// Takes digits and a unit off `rest`; no digits mean 0. `None` if the number is too large.
pub(super) fn number(rest: &mut &str) -> Option<u64> {
    let end = rest.find(|c: char| !c.is_ascii_digit());
    let (digits, after) = rest.split_at(end.unwrap_or(rest.len()));
    *rest = after;
    if digits.is_empty() {
        return Some(0);
    }
    let shift = match rest.chars().next() {
        Some('K') => 10,
        Some('M') => 20,
        Some('G') => 30,
        _ => 0,
    };
    if shift > 0 {
        *rest = &rest[1..];
        *rest = rest.strip_prefix('i').unwrap_or(rest);
        *rest = rest.strip_prefix('B').unwrap_or(rest);
    }
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

pub(super) fn incorrect(word: &str) -> Failure {
    Failure::new(format!("Incorrect parameter: {word}")).help(USAGE)
}

/// A number with an optional unit, and nothing else.
pub(super) fn whole(text: &str) -> Option<u32> {
    let mut rest = text;
    let value = number(&mut rest).filter(|_| rest.is_empty() && !text.is_empty())?;
    u32::try_from(value).ok()
}

/// A whole number with an optional sign.
pub(super) fn signed(text: &str) -> Option<i32> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}
