//! Where messages stand: log, byte, line, and what their line has before them.

use std::path::Path;

use memchr::{memchr_iter, memrchr};

use crate::{Block, Origin};

/// Bytes of a line before a message that are looked at.
const PREFIX_BYTES_MAX: usize = 256;

/// Where a message or a fault stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Place<'p> {
    /// The name of its log, where it is to be told.
    pub path: Option<&'p Path>,
    /// Its byte in the log, counted from 0.
    pub offset: u64,
    /// Its line in the log, counted from 1, where it is known. Of a capture, the number of the packet.
    pub line: Option<u64>,
    /// Where in a capture it stands; then `offset` is that of the capture.
    pub origin: Option<&'p Origin>,
}

impl<'p> Place<'p> {
    /// The place of something in a capture.
    #[must_use]
    pub fn of(path: Option<&'p Path>, origin: &'p Origin) -> Self {
        Self {
            path,
            offset: origin.offset,
            line: Some(origin.packet),
            origin: Some(origin),
        }
    }
}

/// Finds the lines of places of one block. It is fast where each place is behind the last one.
#[derive(Debug, Default, Clone, Copy)]
pub struct LineCounter {
    at: usize,
    lines: u64,
}

impl LineCounter {
    /// The line of a byte of the log, counted from 1; `None` if the block begins behind it. Of a capture, the
    /// number of the packet.
    pub fn line(&mut self, block: &Block, offset: u64) -> Option<u64> {
        if let Some(origin) = block.origin(offset) {
            return Some(origin.packet);
        }
        let at = usize::try_from(offset.checked_sub(block.offset())?).ok()?;
        if at < self.at {
            *self = Self::default();
        }
        self.lines += memchr_iter(b'\n', block.bytes().get(self.at..at)?).count() as u64;
        self.at = at;
        Some(block.lines_before + self.lines + 1)
    }
}

impl Block {
    /// What stands in a line before the message at this byte of the log, from `behind` on, where the
    /// message before it ended: often a time and a direction. At most the last 256 bytes of it.
    pub(crate) fn prefix(&self, offset: u64, behind: u64, out: &mut Vec<u8>) {
        out.clear();
        let Some(at) = offset.checked_sub(self.offset()) else {
            return;
        };
        let from = behind.saturating_sub(self.offset()) as usize;
        let text = self.bytes().get(from..at as usize).unwrap_or(&[]);
        let text = &text[text.len().saturating_sub(PREFIX_BYTES_MAX)..];
        match memrchr(b'\n', text) {
            Some(end) => out.extend_from_slice(&text[end + 1..]),
            None => {
                if behind <= self.offset() {
                    let kept = PREFIX_BYTES_MAX - text.len();
                    out.extend_from_slice(&self.head[self.head.len().saturating_sub(kept)..]);
                }
                out.extend_from_slice(text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::{Blocks, Form, Found, Generator, Got, Logs, Messages, Separator, Source};

    /// A log that comes in reads of some size.
    struct Pieces<'l>(&'l [u8], usize);

    impl Source for Pieces<'_> {
        fn read(&mut self, room: &mut [u8], _: &dyn Fn() -> bool) -> std::io::Result<Got> {
            let most = self.1.min(room.len());
            let count = self.0.read(&mut room[..most])?;
            Ok(match count {
                0 => Got::End,
                count => Got::Bytes(count),
            })
        }
    }

    struct One<'l>(Option<Pieces<'l>>);

    impl<'l> Logs for One<'l> {
        type Log = Pieces<'l>;

        fn open(&mut self, _: usize) -> Option<std::io::Result<Pieces<'l>>> {
            self.0.take().map(Ok)
        }
    }

    #[test]
    fn lines_and_what_they_begin_with_do_not_depend_on_blocks() {
        for separator in [Separator::Soh, Separator::Pipe] {
            let mut log = b"first\n".to_vec();
            let mut generator = Generator::new(3).form(Form::Prefixed).separator(separator);
            for number in 0..1500 {
                if number % 7 == 0 {
                    log.extend_from_slice(format!("note {number}\n").as_bytes());
                }
                if number % 100 == 0 {
                    log.resize(log.len() + 300, b'p');
                }
                generator.message(&mut log).expect("written");
            }
            for size in [1 << 20, 100_000, 4096, 517] {
                let mut blocks = Blocks::new(One(Some(Pieces(&log, size))), Separator::Auto);
                let (mut block, mut messages) = (Block::default(), Messages::new());
                let (mut count, mut prefix) = (0, Vec::new());
                while blocks.next(&mut block, &|| false) {
                    let mut lines = LineCounter::default();
                    let mut behind = 0;
                    messages.each(&block, &mut |offset, found| {
                        let Found::Message(bytes, _) = found else {
                            return true;
                        };
                        let before = &log[..offset as usize];
                        let line = memchr_iter(b'\n', before).count() as u64 + 1;
                        assert_eq!(lines.line(&block, offset), Some(line), "{size}");
                        block.prefix(offset, behind, &mut prefix);
                        behind = offset + bytes.len() as u64;
                        let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
                        let start = start.max(before.len().saturating_sub(PREFIX_BYTES_MAX));
                        let text = prefix.escape_ascii().to_string();
                        assert_eq!(text, before[start..].escape_ascii().to_string(), "{size}");
                        count += 1;
                        true
                    });
                }
                assert_eq!(count, 1500, "{size}");
            }
        }
    }
}
