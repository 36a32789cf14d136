//! Line ends of other systems.

/// Where a text of DOS ends.
const END_OF_FILE: u8 = 0x1a;

/// Turns the line ends of a text into those of Unix, as `unzip -a` does: CR LF and a CR alone become LF, and the
/// character with which DOS ends a text (0x1A) is left out. The text may come in pieces.
///
/// ```
/// use zipstream::extract::UnixLines;
///
/// let (mut lines, mut text) = (UnixLines::default(), Vec::new());
/// for piece in [&b"one\r"[..], b"\ntwo\rthree\n\x1a"] {
///     lines.convert(piece, &mut text);
/// }
/// assert_eq!(text, b"one\ntwo\nthree\n");
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct UnixLines {
    after_cr: bool,
}

impl UnixLines {
    /// Appends a piece of the text with its new line ends.
    pub fn convert(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        for byte in piece {
            match byte {
                // The end of a CR LF that is there already.
                b'\n' if self.after_cr => {}
                b'\r' => out.push(b'\n'),
                &END_OF_FILE => {}
                other => out.push(*other),
            }
            self.after_cr = *byte == b'\r';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(text: &[u8], cut: usize) -> Vec<u8> {
        let (mut lines, mut out) = (UnixLines::default(), Vec::new());
        text.chunks(cut)
            .for_each(|piece| lines.convert(piece, &mut out));
        out
    }

    #[test]
    fn line_ends_become_those_of_unix_wherever_pieces_are_cut() {
        for (text, unix) in [
            (&b"a\r\nb\r\n"[..], &b"a\nb\n"[..]),
            (b"a\rb\rc", b"a\nb\nc"),
            (b"a\nb\n", b"a\nb\n"),
            (b"a\r\rb\n\r\nc\r", b"a\n\nb\n\nc\n"),
            (b"a\r\n\x1ab\r\n\x1a", b"a\nb\n"),
            (b"\r", b"\n"),
            (b"", b""),
        ] {
            for cut in 1..=text.len().max(1) {
                assert_eq!(converted(text, cut), unix, "{text:?} by {cut}");
            }
        }
    }
}
