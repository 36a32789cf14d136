//! The libraries, each at one level, behind one face.

use flate2::{Compress, Compression, FlushCompress, Status};
use rustix::time::{ClockId, clock_gettime};
use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions, Method, Scratch};

/// What compresses the pieces into streams.
type Pack = Box<dyn FnMut(&[&[u8]], &mut Streams)>;

/// Raw deflate streams, one for each piece, or an archive.
#[derive(Default)]
pub(crate) struct Streams {
    raw: Vec<Vec<u8>>,
    archive: Vec<u8>,
}

impl Streams {
    /// The compressed bytes; the headers of an archive do not count.
    fn bytes(&self) -> u64 {
        if !self.raw.is_empty() {
            return self.raw.iter().map(|stream| stream.len() as u64).sum();
        }
        let reader = ArchiveReader::open(self.archive.as_slice()).expect("an archive");
        let entries = reader.entries();
        let sizes = entries.map(|entry| entry.expect("an entry").compressed_bytes());
        sizes.sum()
    }
}

/// A library at a level.
pub(crate) struct Library {
    pub(crate) name: &'static str,
    pub(crate) level: i32,
    pack: Pack,
    streams: Streams,
}

/// Processor time of this process, in nanoseconds.
pub(crate) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Library {
    fn new(name: &'static str, level: i32, pack: Pack) -> Self {
        Self {
            name,
            level,
            pack,
            streams: Streams::default(),
        }
    }

    /// Compresses; returns the compressed bytes, and the nanoseconds.
    pub(crate) fn run(&mut self, pieces: &[&[u8]]) -> (u64, u64) {
        let begin = now_ns();
        (self.pack)(pieces, &mut self.streams);
        let ns = now_ns() - begin;
        (self.streams.bytes(), ns)
    }

    /// Reads what the last run wrote.
    pub(crate) fn check(&self, pieces: &[&[u8]]) {
        let what = format!("{} at {}", self.name, self.level);
        let mut reader = libdeflater::Decompressor::new();
        for (stream, piece) in self.streams.raw.iter().zip(pieces) {
            let mut out = vec![0; piece.len()];
            let read = reader.deflate_decompress(stream, &mut out);
            assert_eq!(read.expect(&what), piece.len(), "{what}");
            assert!(out == *piece, "{what}: other bytes");
        }
        if self.streams.raw.is_empty() {
            let archive = ArchiveReader::open(self.streams.archive.as_slice()).expect(&what);
            let mut scratch = Scratch::default();
            for (entry, piece) in archive.entries().zip(pieces) {
                let (entry, mut out) = (entry.expect(&what), Vec::new());
                let mut take = |bytes: &[u8]| {
                    out.extend_from_slice(bytes);
                    Ok::<_, zipstream::Error>(())
                };
                archive
                    .extract(&entry, &mut scratch, &mut take)
                    .expect(&what);
                assert!(out == *piece, "{what}: other bytes");
            }
        }
    }
}

/// Everything that is compared. The first ones are zipstream.
pub(crate) fn all(levels: &[i32]) -> Vec<Library> {
    let mut all: Vec<Library> = levels.iter().map(|level| own(*level)).collect();
    all.extend((1..=9).map(libdeflate));
    all.extend((1..=9).map(zlib_ng));
    #[cfg(feature = "isal")]
    all.extend([0, 1, 3].map(igzip));
    all
}

/// Entries of one archive in memory, as a program that packs would make them.
fn own(level: i32) -> Library {
    let pack: Pack = Box::new(move |pieces, streams| {
        let mut sink = std::mem::take(&mut streams.archive);
        sink.clear();
        let mut writer = ArchiveWriter::new(sink);
        for (at, piece) in pieces.iter().enumerate() {
            let options = EntryOptions::new(Method::Deflate).level(level);
            let options = options.size_hint(piece.len() as u64);
            writer
                .start_entry(&at.to_string(), &options)
                .expect("an entry");
            writer.push(piece).expect("content");
            writer.finish_entry().expect("content");
        }
        let (archive, _) = writer.finish().expect("an archive");
        streams.archive = archive;
    });
    Library::new("zipstream", level, pack)
}

/// One buffer for each piece, large enough for whatever comes.
fn rooms<'a>(streams: &'a mut Streams, pieces: &[&[u8]]) -> &'a mut [Vec<u8>] {
    streams.raw.resize_with(pieces.len(), Vec::new);
    for (room, piece) in streams.raw.iter_mut().zip(pieces) {
        let bytes = piece.len() + piece.len() / 8 + 1024;
        room.resize(bytes.max(room.capacity()), 0);
    }
    &mut streams.raw
}

fn libdeflate(level: i32) -> Library {
    let of = libdeflater::CompressionLvl::new(level).expect("a level");
    let mut context = libdeflater::Compressor::new(of);
    let pack: Pack = Box::new(move |pieces, streams| {
        for (room, piece) in rooms(streams, pieces).iter_mut().zip(pieces) {
            let bytes = context
                .deflate_compress(piece, room)
                .expect("there is room");
            room.truncate(bytes);
            // As an archive and gzip have it.
            std::hint::black_box(libdeflater::crc32(piece));
        }
    });
    Library::new("libdeflate", level, pack)
}

fn zlib_ng(level: i32) -> Library {
    let mut context = Compress::new(Compression::new(level as u32), false);
    let pack: Pack = Box::new(move |pieces, streams| {
        for (room, piece) in rooms(streams, pieces).iter_mut().zip(pieces) {
            context.reset();
            let status = context.compress(piece, room, FlushCompress::Finish);
            assert_eq!(status.expect("compressed"), Status::StreamEnd);
            room.truncate(context.total_out() as usize);
            std::hint::black_box(libdeflater::crc32(piece));
        }
    });
    Library::new("zlib-ng", level, pack)
}

#[cfg(feature = "isal")]
fn igzip(level: i32) -> Library {
    use isal::{Codec, CompressionLevel};
    let of = move || match level {
        0 => CompressionLevel::Zero,
        1 => CompressionLevel::One,
        _ => CompressionLevel::Three,
    };
    let pack: Pack = Box::new(move |pieces, streams| {
        for (room, piece) in rooms(streams, pieces).iter_mut().zip(pieces) {
            let bytes = isal::compress_into(piece, room, of(), Codec::Deflate);
            let bytes = bytes.expect("there is room");
            room.truncate(bytes);
            std::hint::black_box(libdeflater::crc32(piece));
        }
    });
    Library::new("igzip", level, pack)
}
