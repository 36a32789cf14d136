//! What the profiles make of an archive, from a file and from a pipe.

use zipstream::{ArchiveReader, Error, PipeReader, ReadOptions, name};

fn checked(name: &str) -> Result<(), String> {
    name::check(name).map_err(|fault| fault.to_string())
}

fn text(error: &Error) -> String {
    format!("{:?}: {error}", error.kind())
}

/// Names and checksums of an archive read from a file, or why not.
pub(crate) fn by_file(archive: &[u8], options: &ReadOptions) -> Result<Vec<(String, u32)>, String> {
    let run = || -> Result<_, Error> {
        let reader = ArchiveReader::open_with(archive, options)?;
        reader.check()?;
        let mut found = Vec::new();
        for entry in reader.entries() {
            let entry = entry?;
            let content = reader.read(&entry)?;
            found.push((entry.name()?.into_owned(), crate::fields::crc32(&content)));
        }
        Ok(found)
    };
    let mut found = run().map_err(|error| text(&error))?;
    found.iter().try_for_each(|(name, _)| checked(name))?;
    found.sort();
    Ok(found)
}

/// The same from a pipe.
pub(crate) fn by_pipe(archive: &[u8], options: &ReadOptions) -> Result<Vec<(String, u32)>, String> {
    let run = || -> Result<_, Error> {
        let mut pipe = PipeReader::new(archive, options);
        let mut found = Vec::new();
        while let Some(entry) = pipe.next_entry()? {
            let name = entry.name.clone();
            let mut content = Vec::new();
            pipe.content(&mut |piece: &[u8]| {
                content.extend_from_slice(piece);
                Ok::<_, Error>(())
            })?;
            found.push((name, crate::fields::crc32(&content)));
        }
        while pipe.next_record()?.is_some() {}
        Ok(found)
    };
    let mut found = run().map_err(|error| text(&error))?;
    found.iter().try_for_each(|(name, _)| checked(name))?;
    found.sort();
    Ok(found)
}
