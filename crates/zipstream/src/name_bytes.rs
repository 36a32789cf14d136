//! Names of any bytes as text, and back. A system such as Unix takes names that are no UTF-8; all that judges, compares
//! and shows names here has them as text. A byte that belongs to no UTF-8 is the letter U+10FF00 and its value: of the
//! last 128 letters that there are, which no script uses. Where a name has one of them by itself, the four bytes
//! of that letter are kept one by one, so that no two names become one text.

use std::borrow::Cow;
use std::path::Path;

/// The letter of byte 0; those of 0x80 to 0xff occur.
const KEPT: u32 = 0x0010_ff00;
/// The first byte of such a letter.
const FIRST: u8 = 0xf4;

/// The bytes of a name as text. Bytes from 0x80 on that are no UTF-8 become letters from U+10FF80 to U+10FFFF; what is
/// ASCII, such as `/`, stays what it is.
///
/// ```
/// use zipstream::name;
///
/// assert_eq!(name::of_bytes("é.txt".as_bytes()), "é.txt");
/// let text = name::of_bytes(b"\xe9.txt");
/// assert_eq!(text, "\u{10ffe9}.txt");
/// assert_eq!(*name::to_bytes(&text), *b"\xe9.txt");
/// ```
pub fn of_bytes(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !has_kept(text) => Cow::Borrowed(text),
        _ => Cow::Owned(kept(bytes)),
    }
}

fn kept(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 4);
    let keep = |text: &mut String, bytes: &[u8]| {
        let letters = bytes.iter().map(|byte| KEPT | u32::from(*byte));
        text.extend(letters.filter_map(char::from_u32));
    };
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match byte_of(letter) {
                Some(_) => keep(&mut text, letter.encode_utf8(&mut [0; 4]).as_bytes()),
                None => text.push(letter),
            }
        }
        keep(&mut text, chunk.invalid());
    }
    text
}

/// The bytes that [`of_bytes`] has made a text of.
pub fn to_bytes(text: &str) -> Cow<'_, [u8]> {
    if !has_kept(text) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match byte_of(letter) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// The path that a name means on this system: on Unix of the bytes that [`of_bytes`] was given, elsewhere of its letters.
pub fn system_path(name: &str) -> Cow<'_, Path> {
    #[cfg(unix)]
    {
        use std::ffi::{OsStr, OsString};
        use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
        match to_bytes(name) {
            Cow::Borrowed(bytes) => Cow::Borrowed(Path::new(OsStr::from_bytes(bytes))),
            Cow::Owned(bytes) => Cow::Owned(OsString::from_vec(bytes).into()),
        }
    }
    #[cfg(not(unix))]
    Cow::Borrowed(Path::new(name))
}

/// A text in which such letters stand for themselves, as `of_bytes` has it.
pub(crate) fn escaped(text: Cow<'_, str>) -> Cow<'_, str> {
    match has_kept(&text) {
        true => Cow::Owned(kept(text.as_bytes())),
        false => text,
    }
}

fn has_kept(text: &str) -> bool {
    text.as_bytes().contains(&FIRST) && text.chars().any(|letter| byte_of(letter).is_some())
}

/// The byte that a letter stands for.
fn byte_of(letter: char) -> Option<u8> {
    let byte = u32::from(letter).checked_sub(KEPT)?;
    u8::try_from(byte).ok().filter(|byte| *byte >= 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back_and_no_two_are_one_text() {
        let names = [
            &b""[..],
            b"plain/name",
            "naïve 日本 \u{10ff7f}".as_bytes(),
            b"caf\xe9",
            b"\xff\x80/\xc3",
            b"\xf4\x8f\xbe\x80",
            b"\xf4\x8f\xbf\xbf",
            b"\xf4\x8f\xbe",
            b"\xe2\x82",
            b"a\xf4\x8f\xbe\x80\x80z",
        ];
        let mut texts = std::collections::HashSet::new();
        for name in names {
            let text = of_bytes(name);
            assert_eq!(*to_bytes(&text), *name, "{name:?}");
            assert!(texts.insert(text.into_owned()), "{name:?}");
        }
        for byte in 0x80..=0xff_u8 {
            let text = of_bytes(std::slice::from_ref(&byte)).into_owned();
            assert_eq!((text.chars().count(), &*to_bytes(&text)), (1, &[byte][..]));
            assert!(!text.contains(['/', '\\', '.', '\0']));
        }
        assert_eq!(
            escaped("\u{10ff80}".into()),
            of_bytes("\u{10ff80}".as_bytes())
        );
        assert_eq!(escaped("é".into()), "é");
    }

    #[cfg(unix)]
    #[test]
    fn paths_have_the_bytes() {
        use std::os::unix::ffi::OsStrExt as _;
        let path = system_path("d/\u{10ffe9}").into_owned();
        assert_eq!(path.as_os_str().as_bytes(), b"d/\xe9");
    }
}
