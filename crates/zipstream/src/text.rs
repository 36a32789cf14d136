//! Whether a content is a text, and texts whose line ends become those of another system while they are packed.

use std::io::{self, Read};

/// How much of a content decides whether it is a text.
const LOOK_BYTES: usize = 64 << 10;
/// Bytes per read.
const READ_BYTES: usize = 16 << 10;
/// Where a text of DOS ends.
const END_OF_FILE: u8 = 0x1a;

/// The line ends that a text gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnds {
    /// Those of DOS and Windows: CR LF in place of LF.
    Dos,
    /// Those of Unix: LF in place of CR LF. The character with which DOS ends a text (0x1A) goes if it is the last one.
    Unix,
}

/// A content whose first 64 KiB say whether it is a text, without control characters but those that texts have. A text
/// gets other line ends, if any are asked for.
///
/// ```
/// use std::io::Read as _;
/// use zipstream::{LineEnds, TextReader};
///
/// let mut reader = TextReader::new(&b"one\ntwo\n"[..], LineEnds::Dos)?;
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?;
/// assert_eq!(text, "one\r\ntwo\r\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TextReader<R> {
    inner: R,
    ends: Option<LineEnds>,
    is_binary: bool,
    is_text: bool,
    /// What was read and is not converted yet.
    read: Vec<u8>,
    /// What is converted, and how much of it is given out.
    converted: Vec<u8>,
    given: usize,
    at_end: bool,
}

impl<R: Read> TextReader<R> {
    /// Reads the start of a content, which decides whether it is a text. With `None` for `ends` its line ends stay.
    ///
    /// # Errors
    /// Reading fails.
    pub fn new(mut inner: R, ends: impl Into<Option<LineEnds>>) -> io::Result<Self> {
        let mut read = Vec::with_capacity(LOOK_BYTES);
        let mut start = (&mut inner).take(LOOK_BYTES as u64);
        start.read_to_end(&mut read)?;
        Ok(Self {
            is_binary: read.iter().copied().any(is_of_no_text),
            is_text: is_text(&read),
            at_end: read.len() < LOOK_BYTES,
            inner,
            ends: ends.into(),
            read,
            converted: Vec::new(),
            given: 0,
        })
    }

    /// Whether the content is no text, and stays as it is. An empty content is neither.
    pub fn is_binary(&self) -> bool {
        self.is_binary
    }

    /// Whether the content is a text, for [`EntryOptions::text`](crate::EntryOptions::text): it has a character, and
    /// none that texts do not have.
    pub fn is_text(&self) -> bool {
        self.is_text
    }

    /// Reads a piece.
    fn more(&mut self) -> io::Result<()> {
        let before = self.read.len();
        self.read.resize(before + READ_BYTES, 0);
        let got = loop {
            match self.inner.read(&mut self.read[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                got => break got,
            }
        };
        self.read.truncate(before + *got.as_ref().unwrap_or(&0));
        self.at_end = got? == 0;
        Ok(())
    }

    /// Converts what was read, or the next piece.
    fn convert(&mut self) -> io::Result<()> {
        // One byte may be left of what was read before.
        if self.read.len() <= 1 && !self.at_end {
            self.more()?;
        }
        self.converted.clear();
        self.given = 0;
        match self.ends.filter(|_| !self.is_binary) {
            None => std::mem::swap(&mut self.read, &mut self.converted),
            Some(LineEnds::Dos) => {
                for byte in self.read.drain(..) {
                    if byte == b'\n' {
                        self.converted.push(b'\r');
                    }
                    self.converted.push(byte);
                }
            }
            Some(LineEnds::Unix) => self.take_unix(),
        }
        Ok(())
    }

    fn take_unix(&mut self) {
        let bytes = self.read.len();
        let mut end = bytes;
        match self.read.last() {
            Some(&END_OF_FILE) if self.at_end => self.read.truncate(bytes - 1),
            // What it becomes depends on whether a byte follows.
            Some(&END_OF_FILE | b'\r') if !self.at_end => end = bytes - 1,
            _ => {}
        }
        let end = end.min(self.read.len());
        for at in 0..end {
            let (byte, next) = (self.read[at], self.read.get(at + 1));
            if byte != b'\r' || next != Some(&b'\n') {
                self.converted.push(byte);
            }
        }
        self.read.drain(..end);
    }
}

/// Whether a byte is a control character that texts do not have.
fn is_of_no_text(byte: u8) -> bool {
    matches!(byte, 0..=6 | 14..=25 | 28..=31)
}

/// Whether bytes are a text by the rule of Info-ZIP: one of them is a letter or an end of a line, and none belongs to no
/// text. What decides nothing, such as the escape character, may be there.
fn is_text(bytes: &[u8]) -> bool {
    let shown = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 32..);
    bytes.iter().any(shown) && !bytes.iter().copied().any(is_of_no_text)
}

impl<R: Read> Read for TextReader<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while self.given == self.converted.len() {
            if self.at_end && self.read.is_empty() {
                return Ok(0);
            }
            // What stays as it is goes the short way.
            if self.read.is_empty() && (self.is_binary || self.ends.is_none()) {
                return self.inner.read(room);
            }
            self.convert()?;
        }
        let rest = &self.converted[self.given..];
        let bytes = rest.len().min(room.len());
        room[..bytes].copy_from_slice(&rest[..bytes]);
        self.given += bytes;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that gives out few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let bytes = self.1.min(room.len()).min(self.0.len());
            room[..bytes].copy_from_slice(&self.0[..bytes]);
            self.0 = &self.0[bytes..];
            Ok(bytes)
        }
    }

    fn read(content: &[u8], ends: impl Into<Option<LineEnds>>, cut: usize) -> Vec<u8> {
        let mut reader = TextReader::new(Slow(content, cut), ends).expect("read");
        let mut out = Vec::new();
        reader.read_to_end(&mut out).expect("read");
        out
    }

    #[test]
    fn line_ends_become_those_of_another_system() {
        for (content, dos, unix) in [
            (&b"a\nb\n"[..], &b"a\r\nb\r\n"[..], &b"a\nb\n"[..]),
            (b"a\r\nb\r\n", b"a\r\r\nb\r\r\n", b"a\nb\n"),
            (b"a\r\r\nb\rc\n\r", b"a\r\r\r\nb\rc\r\n\r", b"a\r\nb\rc\n\r"),
            (b"a\n\x1a", b"a\r\n\x1a", b"a\n"),
            (b"a\x1ab\n", b"a\x1ab\r\n", b"a\x1ab\n"),
            (b"", b"", b""),
            (b"\x1a", b"\x1a", b""),
        ] {
            assert_eq!(read(content, LineEnds::Dos, 1 << 20), dos, "{content:?}");
            assert_eq!(read(content, LineEnds::Unix, 1 << 20), unix, "{content:?}");
        }
    }

    #[test]
    fn what_is_no_text_stays() {
        for content in [&b"a\n\0\n"[..], b"\x01\x02\n", b"a\r\n\x1f"] {
            for ends in [LineEnds::Dos, LineEnds::Unix] {
                assert_eq!(read(content, ends, 3), content);
            }
        }
    }

    #[test]
    fn a_text_is_what_it_is_to_info_zip() {
        for (content, text) in [
            (&b"hello\n"[..], true),
            (b"\t", true),
            (b"\x1b[1m", true),
            (b"\xff\xfe", true),
            (b"\x7f", true),
            (b"", false),
            (b"\x1b", false),
            (b"\x1a", false),
            (b"\x07", false),
            (b"a\0b", false),
        ] {
            let reader = TextReader::new(content, None).expect("read");
            assert_eq!(reader.is_text(), text, "{content:?}");
        }
        let long = b"line\n\r\n".repeat(40_000);
        for cut in [7, 4096, 1 << 20] {
            assert!(read(&long, None, cut) == long, "{cut}");
        }
    }

    #[test]
    fn cuts_of_reads_change_nothing() {
        // Beyond what decides, with pairs and ends at every place of a read.
        let text = b"ab\r\ncd\r\r\n\x1ae\r".repeat(12_000);
        let text = [&text[..], b"end\r\n\x1a"].concat();
        for ends in [LineEnds::Dos, LineEnds::Unix] {
            let at_once = read(&text, ends, 1 << 20);
            for cut in [1, 2, 3, 7, 4096, 16_383] {
                assert!(read(&text, ends, cut) == at_once, "{cut}");
            }
        }
    }
}
