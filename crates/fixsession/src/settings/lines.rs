//! A settings file as lines: sections, keys with their values, comments. What keys mean is in `keys`.

/// What a line is, without the white space around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Nothing, or white space.
    Blank,
    /// `# …`.
    Comment,
    /// `[NAME]`.
    Section(&'a str),
    /// `key=value`.
    Pair { key: &'a str, value: &'a str },
    /// Anything else.
    Other(&'a str),
    /// Bytes that are not UTF-8.
    Bytes,
}

/// The lines of a file, from 1. A line ends with `\n`, `\r\n` or `\r`.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (u32, Line<'_>)> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut rest = Some(text);
    let lines = std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            rest = None;
            return (!text.is_empty()).then_some(text);
        };
        let (line, after) = text.split_at(end);
        rest = Some(after.strip_prefix(b"\r\n").unwrap_or(&after[1..]));
        Some(line)
    });
    (1..).zip(lines.map(line))
}

fn line(bytes: &[u8]) -> Line<'_> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return match bytes.trim_ascii_start().first() {
            Some(b'#') => Line::Comment,
            _ => Line::Bytes,
        };
    };
    let text = text.trim();
    if text.is_empty() {
        return Line::Blank;
    }
    if text.starts_with('#') {
        return Line::Comment;
    }
    let section = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    if let Some(name) = section {
        return Line::Section(name.trim());
    }
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Line::Pair {
            key: key.trim(),
            value: value.trim(),
        },
        _ => Line::Other(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        let text =
            b"\xef\xbb\xbf# one\r\n\r\n[ Default ]\n  Key = a=b # c \rstray\n=x\n\xff=1\n# \xff";
        let found: Vec<_> = lines(text).collect();
        let wanted = [
            (1, Line::Comment),
            (2, Line::Blank),
            (3, Line::Section("Default")),
            (
                4,
                Line::Pair {
                    key: "Key",
                    value: "a=b # c",
                },
            ),
            (5, Line::Other("stray")),
            (6, Line::Other("=x")),
            (7, Line::Bytes),
            (8, Line::Comment),
        ];
        assert_eq!(found, wanted);
    }
}
