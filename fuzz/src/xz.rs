//! The target over the structure of xz files: any bytes, and streams with an index of any records.

use formats::xz::{XzError, XzIndex, XzStream, XzStreams};

use crate::plan::Plan;

fn summed(bytes: &[u8]) -> Vec<u8> {
    [bytes, &crc32fast::hash(bytes).to_le_bytes()].concat()
}

/// A stream whose index, and room for blocks, are the plan's. All checksums are right.
fn stream(plan: &mut Plan<'_>) -> Vec<u8> {
    let (check, blocks, bytes) = (plan.below(17) as u8, plan.below(64), plan.below(64));
    let index = plan.take(bytes * 4 + 4);
    let index = summed(
        &[
            index,
            &vec![0; index.len().next_multiple_of(4) - index.len()],
        ]
        .concat(),
    );
    let footer = (index.len() as u32 / 4 - 1).to_le_bytes();
    let footer = [&footer[..], &[0, check]].concat();
    [
        &b"\xfd7zXZ\0"[..],
        &summed(&[0, check]),
        &vec![b'#'; blocks * 4],
        &index,
        &crc32fast::hash(&footer).to_le_bytes(),
        &footer,
        b"YZ",
        &vec![0; plan.below(9)],
    ]
    .concat()
}

/// The streams of a file, the last first.
fn read(file: &[u8]) -> Result<Vec<XzStream>, XzError> {
    let mut streams = XzStreams::new(file.len() as u64)?;
    let (mut found, mut steps) = (Vec::new(), 0);
    while let Some(wanted) = streams.wanted() {
        steps += 1;
        assert!(steps <= 8 + file.len(), "it stands still");
        found.extend(streams.give(&file[wanted.start as usize..wanted.end as usize])?);
    }
    Ok(found)
}

/// Streams that are found fill the file, and their blocks fill them; an error names a byte of the file.
pub fn xz_streams(data: &[u8]) {
    let mut plan = Plan::new(data);
    let file = match plan.below(2) {
        0 => [stream(&mut plan), stream(&mut plan)].concat(),
        _ => plan.rest().to_vec(),
    };
    let cut = plan.size(64);
    let streams = match read(&file) {
        Ok(streams) => streams,
        Err(error) => {
            assert!(error.offset() <= file.len() as u64, "{error}");
            return;
        }
    };
    let mut end = file.len() as u64;
    for stream in &streams {
        assert_eq!(stream.offset + stream.bytes + stream.padding_bytes, end);
        end = stream.offset;
        let part = &file[stream.index.start as usize..stream.index.end as usize];
        let mut index = XzIndex::new(part.len() as u64);
        let (mut blocks, mut bytes, mut content) = (0, 0, 0);
        for part in part.chunks(cut) {
            let pushed = index.push(part, &mut |block| {
                blocks += 1;
                bytes += block.total_bytes();
                content += block.content_bytes;
            });
            pushed.expect("it was read before");
        }
        index.finish().expect("it was complete before");
        assert_eq!((blocks, content), (stream.blocks, stream.content_bytes));
        assert_eq!(stream.index.start - stream.offset, 12 + bytes);
    }
    assert_eq!(end, 0, "the streams do not begin at the file's first byte");
}
