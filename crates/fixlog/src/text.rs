//! Whether what stands between messages may be text.

/// Continuation bytes that a text may begin with: a log may begin within a character.
const LEADING_MAX: u8 = 3;

/// Bytes that come in pieces, and whether they may be text: lines of a log, prefixes, or nothing. The
/// answer does not depend on the pieces.
#[derive(Debug, Default)]
pub(crate) struct Text {
    is_noise: bool,
    /// Continuation bytes at the beginning; as many as there may be once something else has come.
    leading: u8,
    /// The beginning of a character whose end has not come.
    begun: Vec<u8>,
}

impl Text {
    /// Whether something came that is in no text.
    pub(crate) fn is_noise(&self) -> bool {
        self.is_noise
    }

    /// Looks at the next bytes.
    pub(crate) fn look(&mut self, bytes: &[u8]) {
        if self.is_noise || bytes.is_empty() {
            return;
        }
        if self.begun.is_empty() && is_plain(bytes) {
            self.leading = LEADING_MAX;
            return;
        }
        let mut bytes = bytes;
        while self.leading < LEADING_MAX
            && let Some((byte, rest)) = bytes.split_first()
        {
            if byte & 0xc0 != 0x80 {
                self.leading = LEADING_MAX;
                break;
            }
            self.leading += 1;
            bytes = rest;
        }
        let begun = std::mem::take(&mut self.begun);
        let joined;
        if !begun.is_empty() {
            joined = [&begun, bytes].concat();
            bytes = &joined;
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let (text, rest) = bytes.split_at(error.valid_up_to());
                self.is_noise = error.error_len().is_some();
                if !self.is_noise {
                    self.begun = rest.to_vec();
                }
                std::str::from_utf8(text).unwrap_or_default()
            }
        };
        self.is_noise |= text.chars().any(|c| c.is_control() && !is_space(c as u8));
    }
}

/// Whether bytes may be text.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    // What most messages are followed by.
    if matches!(bytes, [] | [b'\n']) || is_plain(bytes) {
        return true;
    }
    let mut text = Text::default();
    text.look(bytes);
    !text.is_noise
}

/// Whether all bytes are of ASCII and text.
fn is_plain(bytes: &[u8]) -> bool {
    let plain = |all: bool, byte: &u8| all & ((b' '..=b'~').contains(byte) | is_space(*byte));
    bytes.iter().fold(true, plain)
}

/// White space and the beginning of a colour.
fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_from_noise() {
        for text in ["", "\n", "in: \x1b[31m", "Gr\u{fc}\u{df}e \u{20ac}\r\n"] {
            assert!(is_text(text.as_bytes()), "{text}");
            // A log begins and ends anywhere.
            for at in 0..text.len() {
                assert!(is_text(&text.as_bytes()[at..]) && is_text(&text.as_bytes()[..at]));
            }
        }
        for noise in [
            &b"\0"[..],
            b"a\x01b",
            b"text\xff",
            b"\x7f",
            b"a\x80",
            b"\xc3A",
        ] {
            assert!(!is_text(noise), "{}", noise.escape_ascii());
        }
    }

    #[test]
    fn what_is_noise_does_not_depend_on_the_pieces() {
        let parts: [&[u8]; 10] = [
            b"a",
            b"\n",
            b"\x80",
            b"\xbf",
            b"\xc3",
            b"\xe2\x82",
            b"\xf0\x9f",
            b"\xff",
            b"\x01",
            b"\xe2\x82\xac",
        ];
        for case in 0..10_000 {
            let digits = [case / 1000, case / 100 % 10, case / 10 % 10, case % 10];
            let bytes = digits.map(|digit| parts[digit]).concat();
            for piece in 1..=3 {
                let mut text = Text::default();
                bytes.chunks(piece).for_each(|piece| text.look(piece));
                assert_eq!(
                    text.is_noise(),
                    !is_text(&bytes),
                    "{}",
                    bytes.escape_ascii()
                );
            }
        }
    }
}
