//! `xz -l`: streams, blocks, sizes and checks of xz files, as tables, or with `--robot` as lines with tabs. They are read
//! from the indexes at the ends of streams; nothing is decompressed.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use formats::xz::{XzBlock, XzFlaw, XzIndex, XzStream, XzStreams};

use super::flags::XzPlan;
use super::plan::skip;
use super::table::{BlockRow, StreamRow, Table, Totals};
use crate::commands::formats::Format;
use crate::failure::{Failure, Result};
use crate::gzip_compat::Code;
use crate::term::message;
use crate::term::plain::visible;
use crate::term::signal;

/// Memory for the streams of a file that are listed one by one, unless the command line says something else.
const STREAMS_BYTES_MAX: u64 = 256 << 20;
/// Bytes of a stream before its first block.
const HEADER_BYTES: u64 = 12;
/// Part of an index that is read at once, to list blocks.
const READ_BYTES: u64 = 32 << 10;

/// Lists the files of a command line; returns the code, or `None` if the user interrupted it.
pub(super) fn list(plan: &XzPlan) -> Result<Option<Code>> {
    if plan.format == Some(Format::Lzma) {
        return Err(Failure::new(
            "--list works only on .xz files (--format=xz or --format=auto)",
        ));
    }
    if plan.files.is_empty() && plan.list.is_none() {
        return Err(no_stdin());
    }
    let mut code = Code::default();
    // Escapes what a terminal would obey. Scripts get names as they are.
    let raw = plan.robot && !io::stdout().is_terminal();
    let mut table = Table::new(plan.robot, plan.verbose > 0);
    for (at, path) in plan.files.iter().enumerate() {
        if signal::interrupted() {
            table.flush()?;
            return Ok(None);
        }
        let name = match path.as_os_str() == "-" {
            true => b"(stdin)".to_vec(),
            false if raw => path.as_os_str().as_encoded_bytes().to_vec(),
            false => visible(&path.display().to_string()).into_owned().into(),
        };
        let of = plan.list.is_none().then_some(plan.files.len());
        table.name(&name, at + 1, of);
        if let Err(failure) = file(plan, path, &name, &mut table, &mut code) {
            // So that a terminal shows both in order.
            table.flush()?;
            message::failure(&failure);
            code.fail();
        }
    }
    table.finish();
    table.flush()?;
    Ok(Some(code))
}

fn no_stdin() -> Failure {
    Failure::new("--list does not support reading from standard input")
}

/// Lists a file.
fn file(plan: &XzPlan, path: &Path, name: &[u8], table: &mut Table, code: &mut Code) -> Result<()> {
    if path.as_os_str() == "-" {
        return Err(no_stdin());
    }
    let failed = |error: &io::Error| Failure::io("read", path, error);
    let metadata = path.metadata().map_err(|error| failed(&error))?;
    let unfit = match () {
        () if metadata.is_dir() => Some("Is a directory"),
        () if !metadata.is_file() => Some("Not a regular file"),
        () => None,
    };
    if let Some(why) = unfit {
        table.flush()?;
        skip(plan, path, why, code);
        return Ok(());
    }
    let mut listed = Listed {
        file: File::open(path).map_err(|error| failed(&error))?,
        path,
        buffer: Vec::new(),
    };
    let limit = plan.limit_decompress.unwrap_or(STREAMS_BYTES_MAX);
    let (totals, streams) = listed.streams(metadata.len(), plan.verbose > 0, limit)?;
    table.file(name, &totals);
    let mut content_offset = 0;
    for (at, stream) in streams.iter().rev().enumerate() {
        table.stream(&StreamRow {
            number: at + 1,
            stream,
            content_offset,
        });
        content_offset += stream.content_bytes;
    }
    if totals.blocks > 0 {
        table.blocks();
        let (mut number, mut content_offset) = (0, 0);
        for (at, stream) in streams.iter().rev().enumerate() {
            let mut row = BlockRow {
                stream: at + 1,
                check: stream.check,
                in_stream: 0,
                in_file: number,
                offset: stream.offset + HEADER_BYTES,
                content_offset,
            };
            listed.blocks(stream, &mut |block| {
                row.in_stream += 1;
                row.in_file += 1;
                table.block(&row, block)?;
                row.offset = row.offset.saturating_add(block.total_bytes());
                row.content_offset = row.content_offset.saturating_add(block.content_bytes);
                Ok(())
            })?;
            number = row.in_file;
            content_offset += stream.content_bytes;
        }
    }
    Ok(())
}

/// A file that is being listed.
struct Listed<'a> {
    file: File,
    path: &'a Path,
    buffer: Vec<u8>,
}

impl Listed<'_> {
    fn read(&mut self, part: Range<u64>) -> Result<()> {
        self.buffer.resize((part.end - part.start) as usize, 0);
        self.file
            .seek(SeekFrom::Start(part.start))
            .and_then(|_| self.file.read_exact(&mut self.buffer))
            .map_err(|error| Failure::io("read", self.path, &error))
    }

    /// What the file comes to, and its streams, the last first, if they are wanted.
    fn streams(&mut self, bytes: u64, keep: bool, limit: u64) -> Result<(Totals, Vec<XzStream>)> {
        let mut streams =
            XzStreams::new(bytes).map_err(|error| self.refused(error.flaw(), error.offset()))?;
        let mut totals = Totals {
            stored: bytes,
            ..Totals::default()
        };
        let mut kept = Vec::new();
        let most = limit / size_of::<XzStream>() as u64;
        while let Some(part) = streams.wanted() {
            self.read(part)?;
            let stream = streams
                .give(&self.buffer)
                .map_err(|error| self.refused(error.flaw(), error.offset()))?;
            let Some(stream) = stream else { continue };
            totals.add_stream(&stream);
            if keep && kept.len() as u64 >= most {
                return Err(Failure::new(format!(
                    "{}: Memory usage limit reached: more than {most} streams",
                    self.path.display()
                )));
            }
            if keep {
                kept.push(stream);
            }
        }
        Ok((totals, kept))
    }

    /// The blocks of a stream, in order.
    fn blocks(
        &mut self,
        stream: &XzStream,
        each: &mut dyn FnMut(&XzBlock) -> Result<()>,
    ) -> Result<()> {
        let Range { mut start, end } = stream.index.clone();
        let mut index = XzIndex::new(end - start);
        let mut shown = Ok(());
        while start < end {
            let part = start..end.min(start + READ_BYTES);
            self.read(part.clone())?;
            index
                .push(&self.buffer, &mut |block| {
                    if shown.is_ok() {
                        shown = each(&block);
                    }
                })
                .map_err(|flaw| self.refused(flaw, start))?;
            start = part.end;
        }
        shown?;
        index.finish().map_err(|flaw| self.refused(flaw, start))
    }

    fn refused(&self, flaw: XzFlaw, offset: u64) -> Failure {
        let name = self.path.display();
        Failure::new(match flaw {
            XzFlaw::Empty => format!("{name}: File is empty"),
            XzFlaw::TooSmall => format!("{name}: Too small to be a valid .xz file"),
            XzFlaw::NotXz => format!("{name}: File format not recognized"),
            XzFlaw::Flags { .. } => format!("{name}: Unsupported options: byte {offset}: {flaw}"),
            _ => format!("{name}: Compressed data is corrupt: byte {offset}: {flaw}"),
        })
    }
}
