//! The target over zipstream's indexes of deflate streams: any bytes as an index, and indexes of any stream.

use std::ops::Range;

use zipstream::deflate::{Compressor, Inflater};
use zipstream::{DeflateIndex, Error, ErrorKind, IndexBuilder, IndexedReader, ReadAt as _};

use crate::plan::Plan;

/// The most content of one input.
const CONTENT_BYTES_MAX: u64 = 1 << 20;
/// The distance of the points in the sample.
const SPACING_BYTES: u64 = 4 << 10;

/// A content and its deflate stream, which the indexes among the seeds belong to.
#[doc(hidden)]
pub fn indexed_sample() -> (Vec<u8>, Vec<u8>) {
    let lines = (0..700_u32).map(|n| format!("line {} of the sample\n", n * n % 97));
    let content: Vec<u8> = lines.flat_map(String::into_bytes).collect();
    let (mut stream, mut compressor) = (Vec::new(), Compressor::new(6));
    for start in (0..content.len()).step_by(3000) {
        let end = content.len().min(start + 3000);
        compressor.compress(&content[..end], start, end == content.len(), &mut stream);
    }
    (content, stream)
}

/// The index of a stream; `None` if it is invalid, does not end, or has more content than a test decodes.
#[doc(hidden)]
pub fn index_of(stream: &[u8], spacing: u64, cut: usize) -> Option<(DeflateIndex, Vec<u8>)> {
    let mut builder = IndexBuilder::new(spacing);
    let (mut at, mut content) = (0, Vec::new());
    while !builder.is_done() {
        let part = &stream[at..stream.len().min(at + cut)];
        let piece = builder.push(part).ok()?;
        at += piece.consumed;
        content.extend_from_slice(piece.content);
        let idle = piece.consumed == 0 && piece.content.is_empty() && !piece.done;
        if idle && at == stream.len() {
            let error = builder.finish(0).expect_err("it has not ended");
            assert_eq!(error.kind(), ErrorKind::Truncated);
            return None;
        }
        if builder.content_bytes() > CONTENT_BYTES_MAX {
            return None;
        }
    }
    let index = builder.finish(0).expect("it has ended");
    assert_eq!(index.compressed_bytes(), at as u64);
    Some((index, content))
}

/// Reads a range in both ways, which have to agree.
fn read(reader: &IndexedReader<'_, Vec<u8>, &[u8]>, range: Range<u64>) -> Result<Vec<u8>, Error> {
    let mut found = Vec::new();
    let read = reader.read_range(range.clone(), &mut |piece: &[u8]| {
        found.extend_from_slice(piece);
        Ok::<_, Error>(())
    });
    let mut room = [0; 100];
    match (read, reader.read_at(&mut room, range.start)) {
        (Ok(bytes), Ok(got)) => {
            assert_eq!(bytes, found.len() as u64);
            let both = got.min(found.len());
            assert!(room[..both] == found[..both], "two contents of one range");
            Ok(found)
        }
        (Err(error), _) => Err(error),
        // The part after the first byte of the range is not needed for an empty one.
        (Ok(_), Err(error)) => {
            assert!(found.is_empty(), "it was read before");
            Err(Error::from_io(&error))
        }
    }
}

fn slice<'a>(content: &'a [u8], range: &Range<u64>) -> &'a [u8] {
    let end = (range.end as usize).min(content.len());
    &content[(range.start as usize).min(end)..end]
}

/// Bytes as the index of a sample: it is refused, or says so where it is wrong, or returns what the stream
/// decodes to. Bytes as a stream: its index, if it ends, reads any range as decoding all of it does.
pub fn deflate_index(data: &[u8]) {
    let mut plan = Plan::new(data);
    let (is_index, cut) = (plan.bit(), plan.size(1 << 17));
    let spacing = plan.size(1 << 17) as u64;
    let start = plan.size(1 << 17) as u64 - 1;
    let range = start..start + plan.size(1 << 17) as u64 - 1;
    if is_index {
        let (content, stream) = indexed_sample();
        let index = match DeflateIndex::open(plan.rest()) {
            Ok(index) => index,
            Err(error) => return assert_eq!(error.kind(), ErrorKind::Index),
        };
        let Ok(reader) = IndexedReader::new(&stream, &index) else {
            return;
        };
        let known = index_of(&stream, SPACING_BYTES, stream.len());
        let (known, _) = known.expect("the sample is valid");
        let own = (index.start(), index.crc32(), index.content_bytes())
            == (0, known.crc32(), known.content_bytes());
        if let (Ok(found), true) = (read(&reader, range.clone()), own) {
            assert!(found == slice(&content, &range), "another content");
        }
        return;
    }
    let stream = plan.rest().to_vec();
    let Some((index, content)) = index_of(&stream, spacing, cut) else {
        return;
    };
    let mut whole = vec![0; content.len()];
    let did = Inflater::new().whole(&stream, &mut whole, content.len());
    assert_eq!(did.map(|did| did.produced), Ok(content.len()));
    assert!(whole == content, "another content than in one piece");
    let index = DeflateIndex::open(&index.source()[..]).expect("it was just made");
    let reader = IndexedReader::new(&stream, &index).expect("the stream is whole");
    let found = read(&reader, range.clone()).expect("the content is whole");
    assert!(found == slice(&content, &range), "another range");
    let all = read(&reader, 0..u64::MAX).expect("the content is whole");
    assert!(all == content, "another content in parts");
}
