//! `zip -FF`: the intact entries of an archive, whatever is left of it, in another one.

use std::fs::{File, Metadata};
use std::io::{self, Write as _};
use std::path::Path;

use files::target::Target;
use zipstream::{
    ArchiveOptions, ArchiveReader, ArchiveWriter, Decryption, Limits, Password, ReadAt,
    ReadOptions, Salvage, salvage,
};

use crate::failure::Failure;
use crate::io::context;
use crate::io::parts::{self, Unopened};
use crate::zip_compat::ended::{Ended, Stop, zip as code};
use crate::zip_compat::shown;
use crate::zip_compat::zip::flags::Line;
use crate::zip_compat::zip::write::failed;
use crate::zip_compat::zip::{apply, say, warnings};

/// Bytes per read while copying.
const READ_BYTES: usize = 128 << 10;

/// Recovers what is intact of `archive` into `output`; returns the exit code.
pub(super) fn recover(line: &Line, archive: &Path, output: &Path) -> Ended<u8> {
    let unreadable = |error: io::Error| Stop::new(code::OPEN, Failure::io("read", archive, &error));
    let file = File::open(archive).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(unrecoverable(archive, "it is no regular file"));
    }
    let shared = file.try_clone().map_err(unreadable)?;
    let whole = match parts::open(shared, archive, &ReadOptions::default()) {
        Ok(reader) if reader.source().is_split() => {
            return rebuild(line, reader.source(), &metadata, archive, output);
        }
        Err(Unopened::Part(failure)) => return Err(Stop::new(code::OPEN, failure)),
        _ => file,
    };
    rebuild(line, &whole, &metadata, archive, output)
}

fn unrecoverable(archive: &Path, why: &str) -> Stop {
    let name = archive.display();
    let failure = Failure::new(format!("nothing in '{name}' can be recovered: {why}"));
    Stop::new(
        code::STRUCTURE,
        failure.help("download or copy it again, if possible"),
    )
}

/// Writes what is intact of `source`, which is `archive`, to `output`.
fn rebuild<R: ReadAt>(
    line: &Line,
    source: &R,
    metadata: &Metadata,
    archive: &Path,
    output: &Path,
) -> Ended<u8> {
    let cannot = |why: &str| unrecoverable(archive, why);
    let password = line.password.clone().map(Password::new);
    let saved = salvage(source, &Limits::default(), password.map(Decryption::new));
    let saved = saved.map_err(|error| cannot(&shown::error(&error)))?;
    if saved.entries.is_empty() {
        return Err(cannot("no entry of it is whole"));
    }
    let target = Target::create(output, true, Some(metadata), context())
        .map_err(|error| Stop::new(code::CREATE, error.into()))?;
    write(source, &saved, &target)?;
    if !line.quiet {
        let mut text = String::new();
        for entry in &saved.entries {
            let name = String::from_utf8_lossy(entry.raw.name_bytes());
            text.push_str(&format!(" copying: {}\n", shown::name(&name)));
        }
        say::print(&text, false);
    }
    apply::appear(target, Some(metadata))?;
    Ok(lost(line, &saved))
}

/// Writes the recovered entries.
fn write<R: ReadAt>(source: &R, saved: &Salvage, target: &Target) -> Ended<()> {
    let mut output = target.writer();
    let mut buffer = vec![0; READ_BYTES];
    let mut pieces = |range: std::ops::Range<u64>, sink: &mut dyn FnMut(&[u8]) -> Ended<()>| {
        let mut at = range.start;
        while at < range.end {
            let left = usize::try_from(range.end - at).unwrap_or(READ_BYTES);
            let read = source.read_at(&mut buffer[..left.min(READ_BYTES)], at);
            let bytes = match read {
                Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
                read => read,
            };
            let bytes = bytes.map_err(|error| {
                let archive = Path::new("the archive");
                Stop::new(code::READ, Failure::io("read", archive, &error))
            })?;
            sink(&buffer[..bytes])?;
            at += bytes as u64;
        }
        Ok(())
    };
    pieces(0..saved.preceding_bytes, &mut |bytes| {
        let written = output.write_all(bytes);
        written.map_err(|error| {
            let archive = Path::new("the archive");
            Stop::new(code::WRITE, Failure::io("write", archive, &error))
        })
    })?;
    // The comment stands at the end, which may be gone.
    let comment = match ArchiveReader::open(source) {
        Ok(reader) => reader.directory().comment().to_vec(),
        Err(_) => Vec::new(),
    };
    let mut options = ArchiveOptions::new().comment(comment);
    options.preceding_bytes = saved.preceding_bytes;
    options.repeated_names = true;
    let mut writer =
        ArchiveWriter::with_options(output, options).map_err(|error| failed(&error))?;
    for entry in &saved.entries {
        let started = writer.start_raw(entry.raw.clone());
        started.map_err(|error| failed(&error))?;
        pieces(entry.range.clone(), &mut |bytes| {
            writer.push_raw(bytes).map_err(|error| failed(&error))
        })?;
        writer.finish_raw().map_err(|error| failed(&error))?;
    }
    writer.finish().map_err(|error| failed(&error))?;
    Ok(())
}

/// Says what is lost; returns the exit code.
fn lost(line: &Line, saved: &Salvage) -> u8 {
    let unverified = saved.entries.iter().filter(|entry| !entry.verified).count();
    if unverified > 0 {
        warnings::warn(
            line,
            &format!(
                "{unverified} entries could not be verified: they are encrypted (-P states the password), or their \
                 method is not read"
            ),
        );
    }
    if saved.lost_entries + saved.lost_bytes == 0 {
        return 0;
    }
    let (entries, bytes) = (saved.lost_entries, saved.lost_bytes);
    warnings::warn(
        line,
        &format!("entries lost: {entries}; bytes that belong to none: {bytes}"),
    );
    code::STRUCTURE
}
