//! What is measured: files, directories as one, standard input or generated data, wholly in memory.

use std::path::{Path, PathBuf};

use bench::compress::{Data, PART_BYTES, decode_frame};
use files::plan::{self, Direction, Request};
use files::source::Source;
use latency::report::{Input, Workload};
use report::{INPUTS_LISTED, names};
use twox_hash::XxHash64;
use zstdkit::workload::{self, Kind};
use zstdkit::{Decoder, DecoderOptions, frame};

use crate::commands::codec::codec_failure;
use crate::failure::{Failure, Result};
use crate::io::context;
use crate::term::{message, signal};

/// Kinds of generated data, without the two that cannot tell candidates apart.
const KINDS: [Kind; 6] = [
    Kind::JsonLines,
    Kind::Log,
    Kind::Html,
    Kind::Source,
    Kind::Binary,
    Kind::UuidText,
];
/// Longest name in a table.
const NAME_CHARS: usize = 12;

/// How to read inputs.
pub(super) struct Reading<'a> {
    pub(super) recursive: bool,
    /// Whether zstd is taken as it is.
    pub(super) stored: bool,
    pub(super) decoder: &'a DecoderOptions,
    /// Whether a report will want hashes.
    pub(super) hash: bool,
    /// Bytes that all inputs may have.
    pub(super) room_bytes: u64,
}

impl Reading<'_> {
    /// Reads everything that can be read. What cannot is told on standard error and counted; when
    /// that is all, the last failure is the answer.
    pub(super) fn read(
        mut self,
        paths: &[PathBuf],
        workload: &mut Workload,
    ) -> Result<(Vec<Data>, u64)> {
        let mut all: Vec<Data> = Vec::new();
        let mut failures: Vec<Failure> = Vec::new();
        for path in paths {
            if signal::interrupted() {
                break;
            }
            match self.one(path, workload, &mut failures) {
                Ok(mut data) => {
                    data.name = unique(&data.name, &all);
                    all.push(data);
                }
                Err(_) if signal::interrupted() => break,
                Err(failure) => failures.push(failure),
            }
        }
        let failed = failures.len() as u64;
        if all.is_empty()
            && let Some(last) = failures.pop()
        {
            failures.iter().for_each(message::failure);
            return Err(last);
        }
        failures.iter().for_each(message::failure);
        Ok((all, failed))
    }

    fn one(
        &mut self,
        path: &Path,
        workload: &mut Workload,
        failures: &mut Vec<Failure>,
    ) -> Result<Data> {
        let paths = [path.to_owned()];
        let direction = Direction::Compress {
            suffix: "zst",
            exclude_compressed: !self.stored,
        };
        let found = plan::jobs(&Request {
            recursive: self.recursive,
            nowhere: true,
            ..Request::of(&paths, direction)
        })?;
        failures.extend(found.failures.iter().map(Failure::from));
        let mut data = Data::new(short(path));
        let mut plain = false;
        for job in found.jobs {
            let bytes = self.file(&job.source)?;
            self.take(PART_BYTES, &job.source)?;
            list(workload, names::path(&job.source), &bytes, self.hash);
            if bytes.is_empty() {
                continue;
            }
            let name = files::display(&job.source);
            if self.stored && bytes.starts_with(&zstdkit::frame::MAGIC) {
                self.frames(&name, &bytes, &mut data)?;
            } else {
                plain = true;
                data.push(name, &bytes);
            }
        }
        if plain && data.is_frames() {
            return Err(Failure::new(format!(
                "'{}' holds files that are zstd and files that are not",
                path.display()
            ))
            .help("measure them one by one"));
        }
        if data.is_empty() {
            return Err(Failure::new(format!("{} is empty", files::display(path)))
                .help("name something with content to measure"));
        }
        Ok(data)
    }

    fn file(&mut self, path: &Path) -> Result<Vec<u8>> {
        let mut source = Source::open(path, context()).map_err(|error| match path.is_dir() {
            true => Failure::from(error).help("add -r to walk it"),
            false => error.into(),
        })?;
        let mut bytes = Vec::new();
        loop {
            let piece = source
                .next_buffer()
                .map_err(|error| Failure::io("read", path, &error))?;
            if piece.is_empty() {
                return Ok(bytes);
            }
            self.take(piece.len(), path)?;
            bytes.extend_from_slice(&piece);
        }
    }

    /// Takes bytes off what inputs may still hold.
    fn take(&mut self, bytes: usize, path: &Path) -> Result<()> {
        match self.room_bytes.checked_sub(bytes as u64) {
            Some(rest) => self.room_bytes = rest,
            None => {
                return Err(Failure::new(format!(
                    "{} is too large: inputs are measured in memory",
                    files::display(path)
                ))
                .help("measure a part of it, as head -c 100M gives"));
            }
        }
        Ok(())
    }

    /// Decodes each frame of `stream` by itself, block by block: the answers that are compared later.
    fn frames(&mut self, name: &str, stream: &[u8], data: &mut Data) -> Result<()> {
        let failed = |error: zstdkit::Error| codec_failure("decompress", name, &error);
        let mut decoder = self.decoder.clone();
        decoder.output_limit = Some(self.room_bytes);
        let mut decoder = Decoder::new(&decoder).map_err(failed)?;
        for info in frame::frames(stream) {
            let info = info.map_err(failed)?;
            let end = info.offset + info.compressed_bytes;
            let bytes = &stream[info.offset as usize..end as usize];
            let content = decode_frame(&mut decoder, bytes).map_err(failed)?;
            if content.is_empty() {
                continue;
            }
            self.take(
                content.len() + PART_BYTES,
                Path::new(name.trim_matches('\'')),
            )?;
            let part = format!("{name}, frame at byte {}", info.offset);
            data.push_frame(part, bytes, &content);
        }
        Ok(())
    }
}

/// Generated data of every kind.
pub(super) fn generated(bytes: u64, seed: u64, hash: bool, workload: &mut Workload) -> Vec<Data> {
    let kind = |kind: Kind| {
        let name = kind.name().to_owned();
        let part = format!("generated {name}");
        let bytes = workload::generate(kind, seed, bytes as usize);
        list(workload, format!("generated:{name}"), &bytes, hash);
        let mut data = Data::new(name);
        data.push(part, &bytes);
        data
    };
    KINDS.into_iter().map(kind).collect()
}

fn list(workload: &mut Workload, path: String, bytes: &[u8], hash: bool) {
    workload.inputs_total += 1;
    if workload.inputs.len() < INPUTS_LISTED {
        workload.inputs.push(Input {
            path,
            bytes: bytes.len() as u64,
            xxh64: hash.then(|| format!("{:016x}", XxHash64::oneshot(0, bytes))),
        });
    }
}

/// The last part of a path, cut in its middle where it is long.
fn short(path: &Path) -> String {
    let name = match path.file_name() {
        _ if path.as_os_str() == "-" => "stdin".to_owned(),
        Some(name) => names::word(name),
        None => names::path(path),
    };
    let chars: Vec<char> = name.chars().collect();
    if chars.len() <= NAME_CHARS {
        return name;
    }
    let kept = NAME_CHARS - 1;
    let (head, tail) = (&chars[..kept / 2], &chars[chars.len() - kept.div_ceil(2)..]);
    head.iter().chain(&['…']).chain(tail).collect()
}

/// The name, numbered when another input has it.
fn unique(name: &str, others: &[Data]) -> String {
    let taken = |name: &str| others.iter().any(|other| other.name == name);
    if !taken(name) {
        return name.to_owned();
    }
    (2..)
        .map(|n| format!("{name} #{n}"))
        .find(|numbered| !taken(numbered))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_differ() {
        assert_eq!(short(Path::new("/a/b.log")), "b.log");
        assert_eq!(short(Path::new("-")), "stdin");
        let long = short(Path::new("a-very-long-name-indeed.json"));
        assert_eq!(long, "a-ver…d.json");
        let first = Data::new("x");
        assert_eq!(unique("x", &[first]), "x #2");
    }
}
