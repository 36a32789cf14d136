//! Names of files and words of the command line as a report has them: text that two names never
//! share, whatever their bytes. Messages for people do not come through here.

use std::ffi::OsStr;
use std::path::Path;

/// The first byte of `\xNN` and of `\\`.
const ESCAPE: u8 = b'\\';

/// A path as a report has it: see [`text`].
pub fn path(path: &Path) -> String {
    word(path.as_os_str())
}

/// A word of the command line as a report has it: see [`text`].
pub fn word(word: &OsStr) -> String {
    text(word.as_encoded_bytes())
}

/// Bytes as a report has them. UTF-8 stands as it is. What is not is `\xNN` a byte (two lowercase
/// hexadecimal digits, from 80 up), and every backslash beside it `\\`. UTF-8 that holds such a `\xNN`
/// itself has its backslashes doubled too, so that a reader can tell: text with a `\xNN` from 80 up
/// is escaped, any other is the name.
pub fn text(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes)
        && !looks_escaped(bytes)
    {
        return text.to_owned();
    }
    let mut out = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        out.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// The bytes of a name as a report has it: the reverse of [`text`].
pub fn bytes(text: &str) -> Vec<u8> {
    if !looks_escaped(text.as_bytes()) {
        return text.as_bytes().to_vec();
    }
    let mut name = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after
            .strip_prefix(b"x")
            .and_then(|digits| digits.first_chunk::<2>());
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let (taken, byte) = match (*first, after.first(), byte) {
            (ESCAPE, Some(&ESCAPE), _) => (2, ESCAPE),
            (ESCAPE, Some(b'x'), Some(byte)) => (4, byte),
            _ => (1, *first),
        };
        name.push(byte);
        rest = rest.get(taken..).unwrap_or_default();
    }
    name
}

fn looks_escaped(bytes: &[u8]) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    bytes.windows(4).any(|part| match *part {
        [ESCAPE, b'x', high @ (b'8' | b'9' | b'a'..=b'f'), low] => is_digit(high) && is_digit(low),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The name of a text, by what the documentation says of it.
    fn read(text: &str) -> Vec<u8> {
        let hex = |part: &str| {
            let digits = part.strip_prefix("\\x")?.get(..2)?;
            let lower = digits.chars().all(|c| "0123456789abcdef".contains(c));
            let byte = u8::from_str_radix(digits, 16).ok()?;
            (lower && byte >= 0x80).then_some(byte)
        };
        let starts = || text.char_indices().map(|(at, _)| &text[at..]);
        if !starts().any(|part| hex(part).is_some()) {
            return text.as_bytes().to_vec();
        }
        let (mut name, mut rest) = (Vec::new(), text);
        while let Some(letter) = rest.chars().next() {
            let taken = if rest.starts_with("\\\\") {
                name.push(b'\\');
                2
            } else if let Some(byte) = hex(rest) {
                name.push(byte);
                4
            } else {
                assert_ne!(letter, '\\', "{text}");
                name.extend_from_slice(letter.to_string().as_bytes());
                letter.len_utf8()
            };
            rest = &rest[taken..];
        }
        name
    }

    #[test]
    fn a_name_comes_back_from_json_whatever_its_bytes() {
        let mut names: Vec<Vec<u8>> = (1..=u8::MAX).map(|byte| vec![byte]).collect();
        names.extend((1..=u8::MAX).map(|byte| vec![b'a', byte, b'b']));
        names.push((1..=u8::MAX).collect());
        // All strings of five of these.
        let letters: [&[u8]; 7] = [b"\\", b"x", b"f", b"8", b"7", b"\xff", "é".as_bytes()];
        for number in 0..letters.len().pow(5) {
            let digits = (0..5).map(|digit| number / letters.len().pow(digit) % letters.len());
            names.push(digits.flat_map(|digit| letters[digit]).copied().collect());
        }
        let mut seen = HashSet::new();
        for name in &names {
            let json = serde_json::to_string(&text(name)).unwrap();
            let back: String = serde_json::from_str(&json).unwrap();
            assert_eq!(&read(&back), name, "{back}");
            assert_eq!(&bytes(&back), name, "{back}");
            seen.insert(back);
        }
        let different: HashSet<_> = names.iter().collect();
        assert_eq!(seen.len(), different.len());
    }

    #[test]
    fn usual_names_stand_as_they_are() {
        for name in ["-", "a b", "日本.zst", "C:\\x\\y", "\\x7f", "\\xFF", "a\nb"] {
            assert_eq!(text(name.as_bytes()), name);
        }
        assert_eq!(text(b"a\xff.log"), "a\\xff.log");
        assert_eq!(text(b"a\\xff.log"), "a\\\\xff.log");
        assert_eq!(text(b"\\\xe2\x82"), "\\\\\\xe2\\x82");
    }
}
