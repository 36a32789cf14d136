//! Messages of a file, whatever stands around them and between their fields, in memory that does not
//! grow with the file.

use std::path::Path;
use std::time::Instant;

use fixcore::{ErrorKind, Frame, Framer, SOH};
use latency::Recorder;

use crate::args::fix::Separator;
use crate::failure::Result;
use crate::io::is_interrupt;
use crate::io::source::Source;
use crate::term::signal;

/// What a message begins with.
const START: &[u8] = b"8=FIX";
/// Lines with messages are shorter than this.
const LINE_BYTES_MAX: usize = 4 << 20;

/// What was found at a place of a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found<'b> {
    /// A message as far as its length goes, with the byte 1 between fields.
    Message(&'b [u8]),
    /// What begins as a message and is none.
    Bad(ErrorKind),
}

/// Why reading ends early.
pub(super) enum Stop {
    /// Nobody reads on.
    Closed,
    Failed(crate::failure::Failure),
}

impl From<crate::failure::Failure> for Stop {
    fn from(failure: crate::failure::Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Takes what is found.
pub(super) type Visit<'v> = dyn FnMut(u64, Found<'_>) -> std::result::Result<(), Stop> + 'v;

/// Reads a file to its end; how many bytes it had. In `pieces` how long each piece took.
pub(super) fn each(
    path: &Path,
    separator: Separator,
    pieces: &mut Recorder,
    visit: &mut Visit<'_>,
) -> std::result::Result<u64, Stop> {
    let mut source = Source::open(path)?;
    let mut bytes = 0;
    let mut reading = None;
    let mut piece = Vec::new();
    loop {
        piece = match source.next(piece) {
            Ok(piece) => piece,
            Err(error) if is_interrupt(&error) => break,
            Err(error) => return Err(source.error(&error).into()),
        };
        bytes += piece.len() as u64;
        let start = Instant::now();
        let reading = reading.get_or_insert_with(|| Reading::new(separator, &piece));
        match piece.is_empty() {
            true => reading.end(visit)?,
            false => reading.push(&piece, visit)?,
        }
        if piece.is_empty() || signal::interrupted() {
            break;
        }
        pieces.record_span(start, Instant::now());
    }
    Ok(bytes)
}

/// How a file is read.
enum Reading {
    /// By the lengths of messages.
    Stream(Framer),
    /// By lines.
    Lines(Lines),
}

impl Reading {
    fn new(separator: Separator, first: &[u8]) -> Self {
        let is_stream = match separator {
            Separator::Soh => true,
            Separator::Pipe | Separator::Caret => false,
            Separator::Auto => position(first, START).is_none_or(|at| {
                let rest = first[at..].iter().skip(START.len());
                let mut rest =
                    rest.skip_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'.');
                !matches!(rest.next(), Some(b'|' | b'^'))
            }),
        };
        match is_stream {
            true => Self::Stream(Framer::new()),
            false => Self::Lines(Lines::default()),
        }
    }

    fn push(&mut self, piece: &[u8], visit: &mut Visit<'_>) -> std::result::Result<(), Stop> {
        match self {
            Self::Stream(framer) => {
                framer.push(piece);
                frames(framer, visit)
            }
            Self::Lines(lines) => lines.push(piece, visit),
        }
    }

    fn end(&mut self, visit: &mut Visit<'_>) -> std::result::Result<(), Stop> {
        match self {
            Self::Stream(framer) => {
                framer.end();
                frames(framer, visit)
            }
            Self::Lines(lines) => lines.end(visit),
        }
    }
}

fn frames(framer: &mut Framer, visit: &mut Visit<'_>) -> std::result::Result<(), Stop> {
    while let Some(frame) = framer.next_frame() {
        match frame {
            Frame::Message { offset, bytes } => visit(offset, Found::Message(bytes))?,
            Frame::Skipped {
                offset,
                why: Some(why),
                ..
            } => visit(offset, Found::Bad(why))?,
            // What a log has between messages.
            Frame::Skipped { why: None, .. } => {}
        }
    }
    Ok(())
}

/// Lines, of which some hold messages.
#[derive(Default)]
struct Lines {
    /// A line that has no end yet.
    line: Vec<u8>,
    /// The rest of a line that is too long is passed over.
    too_long: bool,
    offset: u64,
    /// A message with the byte 1 in place of its separators.
    message: Vec<u8>,
}

impl Lines {
    fn push(&mut self, piece: &[u8], visit: &mut Visit<'_>) -> std::result::Result<(), Stop> {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + part.len() > LINE_BYTES_MAX {
                self.too_long = true;
                self.offset += (self.line.len() + part.len()) as u64;
                self.line.clear();
            } else if self.too_long {
                self.offset += part.len() as u64;
            } else {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                self.line(visit)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, visit: &mut Visit<'_>) -> std::result::Result<(), Stop> {
        self.line(visit)
    }

    fn line(&mut self, visit: &mut Visit<'_>) -> std::result::Result<(), Stop> {
        if std::mem::take(&mut self.too_long) {
            visit(self.offset, Found::Bad(ErrorKind::TooLong))?;
        }
        let line = std::mem::take(&mut self.line);
        let mut from = 0;
        while let Some(at) = position(&line[from..], START) {
            let start = from + at;
            let next = position(&line[start + START.len()..], START);
            let end = next.map_or(line.len(), |next| start + START.len() + next);
            let offset = self.offset + start as u64;
            let found = match unified(&line[start..end], &mut self.message) {
                true => Found::Message(&self.message),
                false => Found::Bad(ErrorKind::Truncated),
            };
            visit(offset, found)?;
            from = end;
        }
        self.offset += line.len() as u64;
        self.line = line;
        self.line.clear();
        Ok(())
    }
}

/// Writes a message with the byte 1 in place of its separator, and without what stands behind it;
/// whether it has an end.
fn unified(text: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    let in_begin = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'=');
    let separator: &[u8] = match text.iter().find(|byte| !in_begin(byte)) {
        Some(b'|') => b"|",
        Some(b'^') => b"^A",
        _ => &[SOH],
    };
    let mut rest = text;
    loop {
        let at = position(rest, separator);
        let field = &rest[..at.unwrap_or(rest.len())];
        if let Some(sum) = field.strip_prefix(b"10=") {
            // Some logs leave the last separator out.
            out.extend_from_slice(b"10=");
            out.extend_from_slice(sum.trim_ascii());
            out.push(SOH);
            return true;
        }
        let Some(at) = at else {
            return false;
        };
        out.extend_from_slice(field);
        out.push(SOH);
        rest = &rest[at + separator.len()..];
    }
}

/// Where a text is first.
fn position(bytes: &[u8], text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    let mut from = 0;
    loop {
        let at = from + bytes.get(from..)?.iter().position(|byte| *byte == first)?;
        if bytes[at..].starts_with(text) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// All messages of a file, for what keeps them: at most so many.
pub(crate) fn collect(path: &Path, most: usize) -> Result<Vec<Vec<u8>>> {
    let mut messages = Vec::new();
    let spec = latency::Spec::new(latency::report::LatencyName::Service, "piece");
    let mut pieces = Recorder::new(spec, Instant::now());
    let ended = each(path, Separator::Auto, &mut pieces, &mut |_, found| {
        if let Found::Message(bytes) = found {
            messages.push(bytes.to_vec());
        }
        match messages.len() < most {
            true => Ok(()),
            false => Err(Stop::Closed),
        }
    });
    match ended {
        Err(Stop::Failed(failure)) => Err(failure),
        Err(Stop::Closed) | Ok(_) => Ok(messages),
    }
}
