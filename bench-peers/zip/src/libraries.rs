//! The libraries that this build has, each behind the same function: pack, and say how large the
//! archive is.

use crate::{Out, Work};

/// Packs; gives the size of the archive.
pub(crate) type Pack = Box<dyn FnMut(&Work, Out<'_>) -> u64>;

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
        Work::Files(_) => panic!("trees are packed without a runtime"),
    }
}

#[cfg(feature = "own")]
mod own {
    use std::fs::File;
    use std::io::Write;

    use zipstream::tokio::AsyncArchiveWriter;
    use zipstream::{ArchiveWriter, EntryOptions};

    use super::{Out, Pack, Work, contents, runtime, size};

    fn options(content: &[u8]) -> EntryOptions {
        let mut options = EntryOptions::default();
        options.size_hint = Some(content.len() as u64);
        options
    }

    fn pack<W: Write>(sink: W, work: &Work) -> W {
        let mut writer = ArchiveWriter::new(sink);
        work.each(|name, content| {
            writer.start_entry(name, &options(content)).expect("packed");
            writer.push(content).expect("packed");
            writer.finish_entry().expect("packed");
        });
        writer.finish().expect("packed").0
    }

    pub(super) fn sync(work: &Work, out: Out<'_>) -> u64 {
        let memory = match out {
            Out::File(path) => {
                pack(File::create(path).expect("a file"), work);
                Vec::new()
            }
            Out::Memory => pack(Vec::new(), work),
        };
        size(out, &memory)
    }

    async fn pack_async<W: tokio::io::AsyncWrite + Unpin>(sink: W, work: &Work) -> W {
        let mut writer = AsyncArchiveWriter::new(sink);
        for (name, content) in contents(work) {
            let options = options(content);
            writer.start_entry(name, &options).await.expect("packed");
            writer.push(content).await.expect("packed");
            writer.finish_entry().await.expect("packed");
        }
        writer.finish().await.expect("packed").0
    }

    pub(super) fn asynchronous() -> Pack {
        let runtime = runtime();
        Box::new(move |work, out| {
            let memory = runtime.block_on(async {
                match out {
                    Out::File(path) => {
                        let file = tokio::fs::File::create(path).await.expect("a file");
                        pack_async(file, work).await;
                        Vec::new()
                    }
                    Out::Memory => pack_async(Vec::new(), work).await,
                }
            });
            size(out, &memory)
        })
    }
}

#[cfg(feature = "s-zip")]
mod s_zip {
    use std::io::Cursor;

    use s_zip::{AsyncStreamingZipWriter, StreamingZipWriter};

    use super::{Out, Pack, Work, contents, runtime, size};

    pub(super) fn sync(work: &Work, out: Out<'_>) -> u64 {
        match out {
            Out::File(path) => {
                let mut writer = StreamingZipWriter::new(path).expect("a file");
                work.each(|name, content| {
                    writer.start_entry(name).expect("packed");
                    writer.write_data(content).expect("packed");
                });
                writer.finish().expect("packed");
                size(out, &[])
            }
            Out::Memory => {
                let sink = Cursor::new(Vec::new());
                let mut writer = StreamingZipWriter::from_writer(sink).expect("memory");
                work.each(|name, content| {
                    writer.start_entry(name).expect("packed");
                    writer.write_data(content).expect("packed");
                });
                size(out, writer.finish().expect("packed").get_ref())
            }
        }
    }

    pub(super) fn asynchronous() -> Pack {
        let runtime = runtime();
        Box::new(move |work, out| {
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
        Box::new(move |work, out| {
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
    use std::io::{BufWriter, Cursor, Seek, Write};

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::{Out, Work, size};

    fn pack<W: Write + Seek>(sink: W, work: &Work) -> W {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(6));
        let mut writer = ZipWriter::new(sink);
        work.each(|name, content| {
            writer.start_file(name, options).expect("packed");
            writer.write_all(content).expect("packed");
        });
        writer.finish().expect("packed")
    }

    pub(super) fn sync(work: &Work, out: Out<'_>) -> u64 {
        let memory = match out {
            Out::File(path) => {
                let file = BufWriter::with_capacity(128 << 10, File::create(path).expect("a file"));
                pack(file, work).flush().expect("written");
                Vec::new()
            }
            Out::Memory => pack(Cursor::new(Vec::new()), work).into_inner(),
        };
        size(out, &memory)
    }
}
