//! Archives that all are objects: the server copies what it can.

use std::path::Path;

use files::remote::Remote;
use files::url;
use zipstream::ReadOptions;
use zipstream::combine::Combination;
use zipstream::object::{self, Create, ObjectReader, Parts, UploadOptions};
use zipstream::tokio::AsyncArchiveReader;

use super::combined::{Combined, failed, finish, unreadable};
use crate::commands::transfer::Stop;
use crate::commands::zip::flags::ZipArgs;
use crate::failure::Failure;
use crate::io::cancel;
use crate::term::signal;

fn remote(path: &Path, verb: &str) -> std::result::Result<Remote, Failure> {
    let url = url::of(path).unwrap_or_default();
    Remote::new(url, cancel()).map_err(|error| Failure::io(verb, path, &error))
}

/// Combines the archives; each new one appears when it is complete.
pub(super) fn combine(args: &ZipArgs, combined: &mut Combined) -> std::result::Result<(), Stop> {
    // Everything waits on the runtime of this one.
    let first = remote(&args.output, "write")?;
    let mut combination = Combination::new(args.combine.options());
    let mut sources = Vec::new();
    for path in &args.paths {
        let source = remote(path, "read")?;
        let opened = first.wait(async {
            let reader = ObjectReader::open(source.object().clone()).await;
            let reader =
                reader.map_err(|error| Failure::io("read", path, &source.error(&error)))?;
            let size = reader.size();
            let archive = AsyncArchiveReader::open_with(reader, &ReadOptions::default()).await;
            archive
                .map(|archive| (archive, size))
                .map_err(|error| unreadable(path, &error))
        });
        let (archive, size) = opened.map_err(|_| Stop::Interrupted)??;
        combination
            .add(archive.directory())
            .map_err(|error| failed(&error))?;
        combined.source_bytes.push(size);
        sources.push(archive.into_source());
    }
    for (output, archive) in finish(combination, args, combined)? {
        let target = remote(&output, "write")?;
        let web = url::of(&output).is_some_and(url::is_web);
        let create = match args.force || web {
            true => Create::Replace,
            false => Create::IfAbsent,
        };
        if !args.force {
            let exists = first.wait(ObjectReader::open(target.object().clone()));
            if exists.map_err(|_| Stop::Interrupted)?.is_ok() {
                return Err(exists_already(&output).into());
            }
        }
        let options = UploadOptions::default().create(create);
        let mut parts = Parts::new(target.object().clone(), options);
        let ended = first.wait(object::combine(&archive, &sources, &mut parts));
        let uploaded = match ended {
            Ok(Ok(uploaded)) => uploaded,
            Ok(Err(error)) => {
                first.abort(&mut parts);
                let error = target.error(&error);
                return Err(match error.kind() {
                    _ if signal::interrupted() => Stop::Interrupted,
                    std::io::ErrorKind::AlreadyExists => exists_already(&output).into(),
                    _ => Failure::io("write", &output, &error).into(),
                });
            }
            Err(_) => {
                first.abort(&mut parts);
                return Err(Stop::Interrupted);
            }
        };
        combined.add(&archive, uploaded.sent_bytes, uploaded.copied_bytes);
    }
    Ok(())
}

fn exists_already(path: &Path) -> Failure {
    Failure::from(files::Error::Exists {
        path: path.to_owned(),
    })
}
