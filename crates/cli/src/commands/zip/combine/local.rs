//! Archives that go through this machine: files, and objects that are read or written as files are.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

#[cfg(feature = "cloud")]
use files::remote::Spans;
use files::rights::Rights;
use files::target::Target;
use files::url;
use zipstream::combine::Combination;
use zipstream::{ArchiveReader, ReadAt};

use super::combined::{Combined, failed, finish, unreadable};
use super::stale;
use crate::commands::transfer::Stop;
use crate::commands::zip::flags::ZipArgs;
use crate::failure::Failure;
use crate::io::context;
use crate::term::signal;

/// One of the archives.
enum Held {
    File(File),
    #[cfg(feature = "cloud")]
    Remote(Box<Spans>),
}

impl ReadAt for Held {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read_at(buffer, offset),
            #[cfg(feature = "cloud")]
            Self::Remote(spans) => spans.read_at(buffer, offset),
        }
    }

    fn size(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => file.size(),
            #[cfg(feature = "cloud")]
            Self::Remote(spans) => Ok(spans.size()),
        }
    }
}

/// A sink that an interrupt ends.
struct Sink<W>(W);

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match signal::interrupted() {
            true => Err(io::Error::other("interrupted")),
            false => self.0.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn open(path: &Path, rights: &mut Rights) -> std::result::Result<Held, Failure> {
    let unread = |error: io::Error| Failure::io("read", path, &error);
    let local = match url::of(path) {
        None => None,
        Some(url) => match url::local(url) {
            Some(local) => Some(local),
            #[cfg(feature = "cloud")]
            None => {
                let spans = Spans::open(url, crate::io::cancel());
                return Ok(Held::Remote(Box::new(spans.map_err(unread)?)));
            }
            #[cfg(not(feature = "cloud"))]
            None => return Err(url::unsupported(files::Operation::Read, url).into()),
        },
    };
    let file = File::open(local.as_deref().unwrap_or(path)).map_err(unread)?;
    let metadata = file.metadata().map_err(unread)?;
    if metadata.is_dir() {
        let name = path.display();
        return Err(Failure::new(format!("'{name}' is a directory"))
            .help("--merge takes archives: name those in it"));
    }
    rights.narrow(&metadata);
    Ok(Held::File(file))
}

/// Combines the archives; each new one appears when it is complete.
pub(super) fn combine(args: &ZipArgs, combined: &mut Combined) -> std::result::Result<(), Stop> {
    let mut combination = Combination::new(args.combine.options());
    let mut rights = Rights::default();
    let mut readers = Vec::new();
    for path in &args.paths {
        let reader = ArchiveReader::open(open(path, &mut rights)?);
        let reader = reader.map_err(|error| unreadable(path, &error))?;
        combination
            .add(reader.shared_directory())
            .map_err(|error| failed(&error))?;
        combined
            .source_bytes
            .push(reader.source().size().unwrap_or(0));
        readers.push(reader);
    }
    let sources: Vec<&Held> = readers.iter().map(ArchiveReader::source).collect();
    let archives = finish(combination, args, combined)?;
    let stale = match args.combine.splits() {
        true => stale::parts(&args.output, archives.len()),
        false => Vec::new(),
    };
    let written = archives.iter().map(|(output, _)| output);
    let written = written.filter(|_| args.combine.splits());
    stale::check(written, &stale, &args.paths, args.force)?;
    for (output, archive) in archives {
        let target = Target::create_private(&output, args.force, context());
        let target = target.map_err(Failure::from)?;
        let written = archive.write_to(&sources, &mut Sink(target.writer()));
        written.map_err(|error| match error.kind() {
            _ if signal::interrupted() => Stop::Interrupted,
            zipstream::ErrorKind::Io(kind) => target.error(kind.into()).into(),
            _ => Stop::Failed(failed(&error)),
        })?;
        target.settle_rights(None, &rights);
        target
            .commit()
            .map_err(|error| match signal::interrupted() {
                true => Stop::Interrupted,
                false => Stop::Failed(error.into()),
            })?;
        combined.add(&archive, archive.totals().archive_bytes, 0);
    }
    Ok(stale::remove(&stale)?)
}
