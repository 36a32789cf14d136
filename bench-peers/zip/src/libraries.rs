//! The libraries that this build has, each behind the same function: pack, and say how large the
//! archive is; or read one, and say how much content it has.

use crate::{Out, Settings, Work};

/// Packs; gives the size of the archive.
pub(crate) type Pack = Box<dyn FnMut(&Work, &Settings, Out<'_>) -> u64>;

/// What reads archives, of the library of this name.
pub(crate) fn reader(name: &str) -> Pack {
    match name {
        #[cfg(feature = "own")]
        "zipstream" => Box::new(own::test),
        #[cfg(any(feature = "zip-ng", feature = "zip-rs"))]
        "zip-ng" | "zip-rs" => Box::new(zip::test),
        other => panic!("no reader of library '{other}' in this build"),
    }
}

/// The library of this name.
pub(crate) fn find(name: &str) -> Pack {
    match name {
        #[cfg(feature = "own")]
        "zipstream" => Box::new(own::sync),
        #[cfg(feature = "own")]
        "zipstream-async" => own::asynchronous(),
        #[cfg(feature = "s-zip")]
        "s-zip" => Box::new(s_zip::sync),
        #[cfg(feature = "s-zip")]
        "s-zip-async" => s_zip::asynchronous(),
        #[cfg(feature = "s-zip")]
        "async_zip" => async_zip::asynchronous(),
        #[cfg(any(feature = "zip-ng", feature = "zip-rs"))]
        "zip-ng" | "zip-rs" => Box::new(zip::sync),
        other => panic!("no library '{other}' in this build"),
    }
}

/// The size of what was written.
#[allow(dead_code, reason = "not every build writes files")]
fn size(out: Out<'_>, memory: &[u8]) -> u64 {
    match out {
        Out::File(path) => std::fs::metadata(path).expect("the archive").len(),
        Out::Memory => memory.len() as u64,
    }
}

#[cfg(any(feature = "own", feature = "s-zip"))]
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// Contents for a runtime, read where it need not be waited for.
#[cfg(any(feature = "own", feature = "s-zip"))]
fn contents(work: &Work) -> Vec<(&str, &[u8])> {
    match work {
        Work::Contents(all) => all
            .iter()
            .map(|(name, content)| (name.as_str(), content.as_slice()))
            .collect(),
        _ => panic!("trees are packed without a runtime"),
    }
}

#[cfg(feature = "own")]
mod own {
    use std::fs::File;
    use std::io::Write;

    use zipstream::tokio::AsyncArchiveWriter;
    use zipstream::{
        ArchiveOptions, ArchiveReader, ArchiveWriter, Decryption, Encryption, EntryOptions, Method,
        Password, Scratch,
    };

    use super::{Out, Pack, Settings, Work, contents, runtime, size};
    use crate::PASSWORD;

    fn entry(content: &[u8], settings: &Settings) -> EntryOptions {
        let method = match settings.level {
            0 => Method::Stored,
            _ => Method::Deflate,
        };
        let mut options = EntryOptions::new(method).level(settings.level);
        options.size_hint = Some(content.len() as u64);
        options
    }

    fn archive(settings: &Settings) -> ArchiveOptions {
        let mut options = ArchiveOptions::default();
        options.threads = settings.threads;
        let password = settings.encrypted.then(|| Password::new(PASSWORD));
        options.encryption = password.map(Encryption::new);
        options
    }

    fn pack<W: Write>(sink: W, work: &Work, settings: &Settings) -> W {
        let writer = ArchiveWriter::with_options(sink, archive(settings));
        let mut writer = writer.expect("threads");
        work.each(|name, content| {
            let entry = entry(content, settings);
            writer.start_entry(name, &entry).expect("packed");
            for part in content.chunks(settings.write_bytes) {
                writer.push(part).expect("packed");
            }
            writer.finish_entry().expect("packed");
        });
        writer.finish().expect("packed").0
    }

    pub(super) fn sync(work: &Work, settings: &Settings, out: Out<'_>) -> u64 {
        let memory = match out {
            Out::File(path) => {
                pack(File::create(path).expect("a file"), work, settings);
                Vec::new()
            }
            Out::Memory => pack(Vec::new(), work, settings),
        };
        size(out, &memory)
    }

    pub(super) fn test(work: &Work, _: &Settings, _: Out<'_>) -> u64 {
        let Work::Archive(path) = work else {
            panic!("an archive is read");
        };
        let file = File::open(path).expect("the archive");
        let mut reader = ArchiveReader::open(file).expect("an archive");
        let decryption = Decryption::new(Password::new(PASSWORD)).release_early(true);
        reader.set_decryption(Some(decryption));
        let (mut scratch, mut bytes) = (Scratch::default(), 0);
        for entry in reader.entries() {
            let entry = entry.expect("an entry");
            let mut ignore = |_: &[u8]| Ok::<_, zipstream::Error>(());
            bytes += reader.extract(&entry, &mut scratch, &mut ignore).expect("read");
        }
        bytes
    }

    async fn pack_async<W: tokio::io::AsyncWrite + Unpin>(
        sink: W,
        work: &Work,
        settings: &Settings,
    ) -> W {
        let writer = AsyncArchiveWriter::with_options(sink, archive(settings));
        let mut writer = writer.expect("threads");
        for (name, content) in contents(work) {
            let entry = entry(content, settings);
            writer.start_entry(name, &entry).await.expect("packed");
            for part in content.chunks(settings.write_bytes) {
                writer.push(part).await.expect("packed");
            }
            writer.finish_entry().await.expect("packed");
        }
        writer.finish().await.expect("packed").0
    }

    pub(super) fn asynchronous() -> Pack {
        let runtime = runtime();
        Box::new(move |work, settings, out| {
            let memory = runtime.block_on(async {
                match out {
                    Out::File(path) => {
                        let file = tokio::fs::File::create(path).await.expect("a file");
                        pack_async(file, work, settings).await;
                        Vec::new()
                    }
                    Out::Memory => pack_async(Vec::new(), work, settings).await,
                }
            });
            size(out, &memory)
        })
    }
}

#[cfg(feature = "s-zip")]
mod s_zip {
    use std::io::{Cursor, Seek, Write};

    use s_zip::{AsyncStreamingZipWriter, StreamingZipWriter};

    use super::{Out, Pack, Settings, Work, contents, runtime, size};

    fn level(settings: &Settings) -> u32 {
        u32::try_from(settings.level).expect("a level")
    }

    fn pack<W: Write + Seek>(writer: &mut StreamingZipWriter<W>, work: &Work, settings: &Settings) {
        work.each(|name, content| {
            writer.start_entry(name).expect("packed");
            for part in content.chunks(settings.write_bytes) {
                writer.write_data(part).expect("packed");
            }
        });
    }

    pub(super) fn sync(work: &Work, settings: &Settings, out: Out<'_>) -> u64 {
        let level = level(settings);
        match out {
            Out::File(path) => {
                let writer = StreamingZipWriter::with_compression(path, level);
                let mut writer = writer.expect("a file");
                pack(&mut writer, work, settings);
                writer.finish().expect("packed");
                size(out, &[])
            }
            Out::Memory => {
                let sink = Cursor::new(Vec::new());
                let mut writer = StreamingZipWriter::from_writer(sink).expect("memory");
                pack(&mut writer, work, settings);
                size(out, writer.finish().expect("packed").get_ref())
            }
        }
    }

    pub(super) fn asynchronous() -> Pack {
        let runtime = runtime();
        Box::new(move |work, _, out| {
            runtime.block_on(async {
                match out {
                    Out::File(path) => {
                        let mut writer = AsyncStreamingZipWriter::new(path).await.expect("a file");
                        for (name, content) in contents(work) {
                            writer.start_entry(name).await.expect("packed");
                            writer.write_data(content).await.expect("packed");
                        }
                        writer.finish().await.expect("packed");
                        size(out, &[])
                    }
                    Out::Memory => {
                        let sink = Cursor::new(Vec::new());
                        let mut writer = AsyncStreamingZipWriter::from_writer(sink);
                        for (name, content) in contents(work) {
                            writer.start_entry(name).await.expect("packed");
                            writer.write_data(content).await.expect("packed");
                        }
                        size(out, writer.finish().await.expect("packed").get_ref())
                    }
                }
            })
        })
    }
}

#[cfg(feature = "s-zip")]
mod async_zip {
    use async_zip::base::write::ZipFileWriter;
    use async_zip::{Compression, DeflateOption, ZipEntryBuilder};

    use super::{Out, Pack, Work, contents, runtime, size};

    async fn pack<W: tokio::io::AsyncWrite + Unpin>(sink: W, work: &Work) -> W {
        let mut writer = ZipFileWriter::with_tokio(sink);
        for (name, content) in contents(work) {
            let entry = ZipEntryBuilder::new(name.into(), Compression::Deflate)
                .deflate_option(DeflateOption::Other(6));
            writer
                .write_entry_whole(entry, content)
                .await
                .expect("packed");
        }
        writer.close().await.expect("packed").into_inner()
    }

    pub(super) fn asynchronous() -> Pack {
        let runtime = runtime();
        Box::new(move |work, _, out| {
            let memory = runtime.block_on(async {
                match out {
                    Out::File(path) => {
                        let file = tokio::fs::File::create(path).await.expect("a file");
                        let mut file = pack(file, work).await;
                        tokio::io::AsyncWriteExt::flush(&mut file)
                            .await
                            .expect("written");
                        Vec::new()
                    }
                    Out::Memory => pack(Vec::new(), work).await,
                }
            });
            size(out, &memory)
        })
    }
}

#[cfg(any(feature = "zip-ng", feature = "zip-rs"))]
mod zip {
    use std::fs::File;
    use std::io::{self, BufReader, BufWriter, Cursor, Seek, Write};

    use zip::write::SimpleFileOptions;
    use zip::{AesMode, CompressionMethod, ZipArchive, ZipWriter};

    use super::{Out, Settings, Work, size};
    use crate::PASSWORD;

    const BUFFER_BYTES: usize = 128 << 10;

    fn pack<W: Write + Seek>(sink: W, work: &Work, settings: &Settings) -> W {
        let mut options = SimpleFileOptions::default();
        options = match settings.level {
            0 => options.compression_method(CompressionMethod::Stored),
            level => options
                .compression_method(CompressionMethod::Deflated)
                .compression_level(Some(level.into())),
        };
        if settings.encrypted {
            options = options.with_aes_encryption(AesMode::Aes256, PASSWORD);
        }
        let mut writer = ZipWriter::new(sink);
        work.each(|name, content| {
            writer.start_file(name, options).expect("packed");
            for part in content.chunks(settings.write_bytes) {
                writer.write_all(part).expect("packed");
            }
        });
        writer.finish().expect("packed")
    }

    pub(super) fn sync(work: &Work, settings: &Settings, out: Out<'_>) -> u64 {
        let memory = match out {
            Out::File(path) => {
                let file = File::create(path).expect("a file");
                let file = BufWriter::with_capacity(BUFFER_BYTES, file);
                pack(file, work, settings).flush().expect("written");
                Vec::new()
            }
            Out::Memory => pack(Cursor::new(Vec::new()), work, settings).into_inner(),
        };
        size(out, &memory)
    }

    pub(super) fn test(work: &Work, _: &Settings, _: Out<'_>) -> u64 {
        let Work::Archive(path) = work else {
            panic!("an archive is read");
        };
        let file = File::open(path).expect("the archive");
        let file = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut archive = ZipArchive::new(file).expect("an archive");
        let mut bytes = 0;
        for index in 0..archive.len() {
            let encrypted = archive.by_index_raw(index).expect("an entry").encrypted();
            let entry = match encrypted {
                true => archive.by_index_decrypt(index, PASSWORD.as_bytes()),
                false => archive.by_index(index),
            };
            bytes += io::copy(&mut entry.expect("an entry"), &mut io::sink()).expect("read");
        }
        bytes
    }
}
